"""`classay network`: was a network trained well, and which of many deserve testing? Without any data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .. import expect
from . import console, options

if TYPE_CHECKING:
    from ..network.labelled import Labelled

EXAMPLES = """
**Examples**

    classay network model.safetensors --arch timm:resnet18 --input 3x32x32 --mean .49,.48,.45 --std .25,.24,.26

    classay network checkpoints/*.pt --builder mymodels:make_net --allow-import --input 3x32x32 --store runs/

    classay network checkpoints/*.pt --arch timm:resnet18 --input 3x32x32 --test-set test.npz --charts charts/

    classay network weights.safetensors --weights-only
"""


def command(
    files: list[str] = typer.Argument(
        ...,
        metavar="FILE",
        help="Weights: torch (a state dict), safetensors; with --weights-only also ONNX and npz.",
    ),
    arch: str = typer.Option(None, help="The architecture: timm:NAME or torchvision:NAME, arguments in brackets."),
    builder: str = typer.Option(None, help="module:function that returns the network. Needs --allow-import."),
    input: str = typer.Option(None, "--input", help="Shape of one input, as 3x32x32. Default: as the network tells."),
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
    budget: str = typer.Option("60s", help="Time for each network, as 60s, 10m or 1h; `none` for no limit."),
    fresh: bool = typer.Option(
        None, "--fresh/--no-fresh", help="Compare with the architecture freshly initialised. Default: for one network."
    ),
    test_set: Path = typer.Option(None, help="npz with x (inputs) and y (classes from 0), for true accuracies."),
    store: Path = typer.Option(None, help="Folder of records; what is there is not walked again."),
    seed: options.Seed = 0,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: bool = typer.Option(
        False, "--allow-import", help="Allow --builder and --arch module:name, which run that code."
    ),
    trust_pickle: bool = typer.Option(
        False, "--trust-pickle", help="Read torch files that hold more than weights, which can run code."
    ),
    debug: options.Debug = False,
) -> None:
    """Tell how well networks were trained, from architecture and weights alone, and rank many of them."""
    from ..engine.store import Store
    from . import network_view as view
    from .network_assay import Wishes, assay_all, heads_of

    if charts is not None:
        console.writable_folder(charts, "--charts")
    paths = named(files)
    if weights_only:
        heads, failed = heads_of(paths, head, trust_pickle)
        view.show_heads(heads, failed, as_json)
        _end(failed, charts, view.head_charts(heads) if charts is not None else {}, False, quiet)
        return
    if arch and builder:
        raise expect.InputError("--arch and --builder are both given; one names the architecture.")
    wishes = Wishes(
        arch=arch or builder,
        allow_import=allow_import,
        trust_pickle=trust_pickle,
        input_shape=read_shape(input) if input else None,
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
    found, failed, interrupted = assay_all(paths, wishes)
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


def named(files: list[str]) -> dict[str, Path]:
    """Paths by a short name: the file's, or the whole path where two files are called alike."""
    paths = list(dict.fromkeys(Path(file) for file in files))
    stems = [path.stem for path in paths]
    alike = len(set(stems)) < len(stems)
    names = [path.stem if stems.count(path.stem) == 1 else str(path) for path in paths] if alike else short_names(stems)
    named = dict(zip(names, paths))
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise expect.InputError(f"There is no file {expect.shown(missing)}. Is the path right?")
    return named


def short_names(stems: list[str]) -> list[str]:
    """Names of checkpoints without the words with which all of them begin: what differs is at the end.

    >>> short_names(["net_lr1_epoch9", "net_lr1_epoch10"]), short_names(["a", "b"])
    (['epoch9', 'epoch10'], ['a', 'b'])
    """
    if len(stems) < 2:
        return stems
    first = stems[0]
    same = next((place for place, letters in enumerate(zip(*stems)) if len(set(letters)) > 1), min(map(len, stems)))
    begin = max(first[:same].rfind(sign) for sign in "_-. ") + 1
    return [stem[begin:] for stem in stems] if all(stem[begin:] for stem in stems) else stems


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
