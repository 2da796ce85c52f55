"""`classay network`: was a network trained well, and which of many deserve testing? Without any data."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .. import expect
from . import console

if TYPE_CHECKING:
    from ..engine.store import Store
    from ..intervals import Estimate
    from ..network.labelled import Labelled
    from ..network.quality import NetworkQuality
    from ..network.record import Prototypes
    from ..network.split import Split

EXAMPLES = """
**Examples**

    classay network model.safetensors --arch timm:resnet18 --input 3x32x32 --mean .49,.48,.45 --std .25,.24,.26

    classay network checkpoints/*.pt --builder mymodels:make_net --allow-import --input 3x32x32 --store runs/

    classay network checkpoints/*.pt --arch timm:resnet18 --input 3x32x32 --test-set test.npz --charts charts/

    classay network weights.safetensors --weights-only
"""
FRESH_STARTS, FRESH_ORIGINS, FRESH_SHARE = 2, 3, 0.3
"""A fresh initialisation is compared by a sample of walks, within this share of the time of the network itself."""


@dataclass(frozen=True, eq=False)
class Assayed:
    """One network of the command: where it is from, how it was split, its record and quality, its true accuracy."""

    path: Path
    split: Split
    record: Prototypes
    quality: NetworkQuality
    accuracy: Estimate | None
    notes: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Wishes:
    """What the user asked for, checked."""

    arch: str | None
    allow_import: bool
    trust_pickle: bool
    input_shape: tuple[int, ...]
    normalize: tuple[tuple[float, ...], tuple[float, ...]] | None
    head: str | None
    class_names: tuple[str, ...] | None
    walks: dict[str, Any]
    fresh: bool
    test_set: Labelled | None
    store: Store | None
    quiet: bool


def command(
    files: list[str] = typer.Argument(
        ...,
        metavar="FILE...",
        help="Weights: torch (a state dict), safetensors; with --weights-only also ONNX and npz.",
    ),
    arch: str = typer.Option(None, help="The architecture: timm:NAME or torchvision:NAME, arguments in brackets."),
    builder: str = typer.Option(None, help="module:function that returns the network. Needs --allow-import."),
    input: str = typer.Option(None, "--input", help="Shape of one input, as 3x32x32."),
    mean: str = typer.Option(None, help="Mean of each channel by which inputs are scaled, with commas between."),
    std: str = typer.Option(None, help="Spread of each channel by which inputs are scaled."),
    head: str = typer.Option(None, help="Name of the last linear layer, where it should not be searched."),
    class_names: str = typer.Option(None, help="Names of the classes in order, with commas between."),
    weights_only: bool = typer.Option(
        False, "--weights-only", help="The head alone, from the weights; nothing is run."
    ),
    starts: int = typer.Option(5, help="Draws of random inputs to walk from."),
    step: float = typer.Option(None, help="Length of a step. Default: found by a short search."),
    origins: int = typer.Option(None, help="Walks to each class from so many others. Default: all up to 100 classes."),
    box: bool = typer.Option(False, "--box", help="Keep inputs within images of 0..1 (needs --mean and --std)."),
    budget: str = typer.Option("60s", help="Time for each network, as 60s or 10min; `none` for no limit."),
    fresh: bool = typer.Option(
        None, "--fresh/--no-fresh", help="Compare with the architecture freshly initialised. Default: for one network."
    ),
    test_set: Path = typer.Option(None, help="npz with x (inputs) and y (classes from 0), for true accuracies."),
    store: Path = typer.Option(None, help="Folder of records; what is there is not walked again."),
    seed: int = typer.Option(0, "--seed", "-s", help="The same seed gives the same walks."),
    charts: Path = typer.Option(None, help="Folder to save charts to, as SVG and PNG."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON on stdout instead of tables."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress and no remarks on stderr."),
    allow_import: bool = typer.Option(False, help="Allow --builder and --arch module:name, which run that code."),
    trust_pickle: bool = typer.Option(False, help="Read torch files that hold more than weights, which can run code."),
    debug: bool = typer.Option(False, help="Show the traceback of an error."),
) -> None:
    """Tell how well networks were trained, from architecture and weights alone, and rank many of them."""
    from ..engine.store import Store
    from . import network_view as view

    if charts is not None:
        console.writable_folder(charts, "--charts")
    paths = _named(files)
    if weights_only:
        heads, failed = _heads(paths, head, trust_pickle)
        view.show_heads(heads, failed, as_json)
        _end(failed, charts, view.head_charts(heads) if charts is not None else {}, False, quiet)
        return
    if arch and builder:
        raise expect.InputError("--arch and --builder are both given; one names the architecture.")
    if not input:
        raise expect.InputError(
            "--input is missing: the shape of one input, as 3x32x32. For the head alone: --weights-only."
        )
    wishes = Wishes(
        arch=arch or builder,
        allow_import=allow_import,
        trust_pickle=trust_pickle,
        input_shape=read_shape(input),
        normalize=_normalize(mean, std),
        head=head,
        class_names=None if class_names is None else tuple(name.strip() for name in class_names.split(",")),
        walks={"starts": starts, "step": step, "origins": origins, "box": box, "budget": read_time(budget)}
        | {"random_state": seed},
        fresh=len(paths) == 1 if fresh is None else fresh,
        test_set=_test_set(test_set),
        store=None if store is None else Store(store),
        quiet=quiet,
    )
    found, failed, interrupted = _assay_all(paths, wishes)
    ranking = view.ranked(found)
    if as_json:
        console.write_json(view.as_json(found, ranking, failed, interrupted))
    else:
        view.show(found, ranking)
    _end(
        failed,
        charts,
        view.charts_of(found, ranking, wishes.class_names) if charts is not None else {},
        interrupted,
        quiet,
    )


def _end(failed: dict[str, str], folder: Path | None, drawn: dict[str, Any], interrupted: bool, quiet: bool) -> None:
    """Save charts, say what went wrong, and leave with the code for a part if it is one."""
    for name, why in failed.items():
        console.error(f"{name} gave no figures. {why}")
    if folder is not None:
        from .. import charts

        for name, chart in drawn.items():
            for suffix in ("svg", "png"):
                console.say(f"Saved {charts.save(chart, folder / f'{name}.{suffix}')}", quiet)
    if interrupted:
        console.error("Interrupted: the figures above are of what was done by then.")
    if failed or interrupted:
        raise typer.Exit(console.PARTIAL)


def _named(files: list[str]) -> dict[str, Path]:
    """Paths by a short name: the file's, or the whole path where two files are called alike."""
    paths = list(dict.fromkeys(Path(file) for file in files))
    stems = [path.stem for path in paths]
    named = {path.stem if stems.count(path.stem) == 1 else str(path): path for path in paths}
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise expect.InputError(f"There is no file {expect.shown(missing)}. Is the path right?")
    return named


def _heads(paths: dict[str, Path], head: str | None, trust_pickle: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """The heads of all files, with their quality; what cannot be read does not stop the others."""
    from ..network.head import head_quality
    from ..network.named_head import read_head

    found: dict[str, Any] = {}
    failed: dict[str, str] = {}
    for name, path in paths.items():
        try:
            read = read_head(path, head, trust_pickle)
            found[name] = read, head_quality(read.weight, read.bias)
        except expect.InputError as mistake:
            failed[name] = str(mistake)
    if not found:
        raise expect.InputError(next(iter(failed.values())))
    return found, failed


def _assay_all(paths: dict[str, Path], wishes: Wishes) -> tuple[dict[str, Assayed], dict[str, str], bool]:
    """Measure every network. One that cannot be does not stop the others; if none can, that is an error."""
    found: dict[str, Assayed] = {}
    failed: dict[str, str] = {}
    interrupted = False
    for place, (name, path) in enumerate(paths.items()):
        if len(paths) > 1:
            console.say(f"{place + 1} of {len(paths)}: {name}", wishes.quiet)
        try:
            found[name] = _assay(name, path, wishes)
            interrupted = found[name].record.interrupted
        except expect.InputError as mistake:
            failed[name] = str(mistake)
        except MemoryError:
            failed[name] = f"Memory does not suffice for {path}."
        except KeyboardInterrupt:
            interrupted = True
        if interrupted:
            break
    if not found:
        if interrupted:
            raise console.NothingDone
        raise expect.InputError(next(iter(failed.values())))
    return found, failed, interrupted


def _assay(name: str, path: Path, wishes: Wishes) -> Assayed:
    """Load one network, walk, and measure it."""
    from ..network.figures import figures
    from ..network.labelled import true_accuracy
    from ..network.loading import load_network
    from ..network.probing import reset
    from ..network.quality import network_quality
    from ..network.split import split

    began = time.monotonic()
    loaded = load_network(
        path,
        wishes.arch,
        input_shape=wishes.input_shape,
        allow_import=wishes.allow_import,
        trust_pickle=wishes.trust_pickle,
    )
    for note in loaded.notes:
        console.say(f"{name}: {note}", wishes.quiet)
    found = split(loaded.network, wishes.input_shape, wishes.head)
    console.say(f"{name}: {found}", wishes.quiet)
    given = wishes.class_names
    if given is not None and len(given) != found.classes:
        raise expect.InputError(
            f"--class-names has {len(given)} names, and the network {found.classes} classes. Give one name a class."
        )
    # Before the walks, as a test set that does not fit is a mistake to be told at once.
    accuracy = None if wishes.test_set is None else true_accuracy(found, wishes.test_set, wishes.normalize)
    record = _record(name, found, wishes, wishes.walks)
    quality = network_quality(record, class_names=wishes.class_names)
    if wishes.fresh and not record.interrupted:
        copied, _ = reset(found.network, record.settings["seed"])
        budget = wishes.walks["budget"]
        few = {"starts": min(FRESH_STARTS, wishes.walks["starts"]), "step": None}
        few |= {"origins": min(FRESH_ORIGINS, record.settings["origins"]), "sensitivity": False}
        few |= {"budget": None if budget is None else FRESH_SHARE * budget}
        again = split(copied, wishes.input_shape, found.name, found.call)
        quality = replace(
            quality, fresh=figures(_record("freshly initialised", again, wishes, {**wishes.walks, **few}))
        )
    return Assayed(path, found, record, quality, accuracy, loaded.notes, time.monotonic() - began)


def _record(name: str, found: Split, wishes: Wishes, walks: dict[str, Any]) -> Prototypes:
    """The prototypes of a network, out of the store if they are there."""
    from ..network.prototypes import fingerprint, prototypes
    from ..network.record import Prototypes

    options = {**walks, "normalize": wishes.normalize}
    if wishes.store is None:
        return prototypes(found, **options, progress=not wishes.quiet, name=name)
    about = {"network": fingerprint(found.network), "head": found.name, "input": list(found.input_shape), **options}
    key = wishes.store.key({"record": about})
    if key in wishes.store:
        console.say(f"{name}: taken from the store.", wishes.quiet)
        kept = Prototypes.load(wishes.store.path(key))
        return replace(kept, about={**kept.about, "network": name})
    record = prototypes(found, **options, store=wishes.store, progress=not wishes.quiet, name=name)
    if not record.interrupted:
        record.save(wishes.store.path(key))
    return record


def read_shape(text: str) -> tuple[int, ...]:
    """The shape of one input, as written on the command line.

    >>> read_shape("3x32x32"), read_shape("128")
    ((3, 32, 32), (128,))
    """
    if not re.fullmatch(r"\s*\d+(\s*[x×X,]\s*\d+)*\s*", text):
        raise expect.InputError(f"--input is {text!r}; the shape of one input is expected, as 3x32x32.")
    shape = tuple(int(side) for side in re.findall(r"\d+", text))
    if 0 in shape:
        raise expect.InputError(f"--input is {text!r}; every side must be at least 1.")
    return shape


def read_time(text: str) -> float | None:
    """Seconds, as written on the command line.

    >>> read_time("60s"), read_time("1.5 min"), read_time("90"), read_time("none")
    (60.0, 90.0, 90.0, None)
    """
    if text.strip().lower() == "none":
        return None
    matched = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(s|sec|min|m|h)?\s*", text.lower())
    if matched is None or not float(matched[1]):
        raise expect.InputError(f"--budget is {text!r}; a time is expected, as 60s, 10min or 1h, or none.")
    return float(matched[1]) * {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}[matched[2] or "s"]


def _normalize(mean: str | None, std: str | None) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    if mean is None and std is None:
        return None
    if mean is None or std is None:
        raise expect.InputError("--mean and --std belong together; give both, or neither.")
    try:
        first, second = (tuple(float(part) for part in text.split(",")) for text in (mean, std))
    except ValueError:
        raise expect.InputError(
            f"--mean is {mean!r} and --std {std!r}; numbers with commas between are expected, as .49,.48,.45."
        ) from None
    return first, second


def _test_set(path: Path | None) -> Labelled | None:
    if path is None:
        return None
    from ..network.labelled import read_labelled

    return read_labelled(path)
