"""`classay network`: was a network trained well, and which of several should be tested? No data needed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ... import charts as drawing
from ... import expect
from ...engine.store import Store
from ...intervals import Estimate, of_proportion
from ...network.files.checkpoint import load_network
from ...network.files.head_search import HeadWeights, read_head
from ...network.prototypes.prototypes import KIND, Prototypes, prototypes
from ...network.prototypes.runner import identity
from ...network.prototypes.split import Split, split, split_by_likely_shape
from ...network.quality.figures import DECISIVE, figures
from ...network.quality.head import HeadQuality, head_quality, rows_of
from ...network.quality.labelled_rows import LabelledRows, accuracy_by_rows, count_right, read_labelled_rows
from ...network.quality.quality import CONVERGED, NetworkQuality, network_quality, record_with_fresh
from ...network.quality.rank_networks import MAIN_FIGURES, Ranking, rank_networks
from .. import console, options
from ..inputs import Normalization, named_paths, read_normalization, read_shape
from ..runner import Done, Outcome, each, estimates_table, figures_table, rows_table

if TYPE_CHECKING:
    from torch import nn

EXAMPLES = """
**Examples**

    classay network model.safetensors --arch timm:resnet18 --input 3x32x32 --mean .49,.48,.45 --std .25,.24,.26

    classay network checkpoints/*.pt --builder mymodels:make_net --allow-import --input 3x32x32 --store runs/

    classay network checkpoints/*.pt --arch timm:resnet18 --input 3x32x32 --test-set test.npz --charts charts/

    classay network weights.safetensors --weights-only
"""
MOST_PAIRS, MOST_FIGURES = 8, 12
SHORT = {"within": "M_in", "between": "M_bt", "converged": "walks arrived", "row_spread": "spread of head's rows"}
UNTRAINED = "Untrained: the same architecture, freshly initialised."


@dataclass(frozen=True, kw_only=True)
class Architecture(options.Group):
    """What a network is."""

    panel: ClassVar[str] = "Networks"
    arch: Annotated[
        str | None,
        typer.Option(help="Architecture of the network: timm:NAME or torchvision:NAME, with arguments in parentheses."),
    ] = None
    builder: Annotated[
        str | None, typer.Option(help="Function that returns the network, as module:function. Needs --allow-import.")
    ] = None
    input: Annotated[
        str | None, typer.Option(help="Shape of one input of the network, such as 3x32x32. Default: inferred.")
    ] = None

    def expect_network(self, files: list[Path] | None) -> None:
        """Refuse options of a network where there is none."""
        given = [f"--{name}" for name, value in vars(self).items() if value]
        if given and not files:
            raise expect.InputError(
                f"{given[0]} describes a network, but there is no --network. Add its file, or drop {given[0]}."
            )

    def load(self, allow_import: bool, trust_pickle: bool = False) -> dict[str, Any]:
        """The keywords of `load_network`."""
        if self.arch and self.builder:
            raise expect.InputError("--arch and --builder are both given; expected one of them.")
        return {
            "arch": self.arch or self.builder,
            "input_shape": read_shape(self.input) if self.input else None,
            "allow_import": allow_import,
            "trust_pickle": trust_pickle,
        }


@dataclass(frozen=True)
class Measurement:
    """How networks are loaded, walked in and measured."""

    load: dict[str, Any]
    walks: dict[str, Any]
    output: options.Output
    normalize: Normalization | None = None
    head: str | None = None
    class_names: tuple[str, ...] | None = None
    fresh: bool = False
    test_set: LabelledRows | None = None
    store: Store | None = None


@dataclass(frozen=True, eq=False)
class Measured:
    """One network: its file, how it was split, its record and quality, and its true accuracy."""

    path: Path
    split: Split
    record: Prototypes
    quality: NetworkQuality
    accuracy: Estimate | None
    notes: tuple[str, ...]
    seconds: float

    @property
    def interrupted(self) -> bool:
        """Whether not all walks were done."""
        return self.record.interrupted

    def as_json(self) -> dict[str, Any]:
        """All but the prototypes."""
        return {
            "file": str(self.path), "head": self.split.name, "features": self.split.feature_size,
            "output": self.split.output, "notes": [*self.notes, *self.split.notes], "settings": self.record.settings,
            "seconds": self.seconds, "accuracy": self.accuracy, "quality": self.quality,
        }  # fmt: skip


def command(
    architecture: Architecture,
    output: options.Charts,
    files: list[str] = typer.Argument(
        ...,
        metavar="FILE",
        help="Weights: torch (a state dict), safetensors, or ONNX (with onnx2torch); with --weights-only also npz.",
    ),
    weights_only: bool = typer.Option(
        False, "--weights-only", help="Measure only the head, from the weights; nothing is run."
    ),
    test_set: Path = typer.Option(
        None, help="npz file with x (inputs) and y (classes from 0), to measure true accuracies."
    ),
    fresh: bool = typer.Option(
        None,
        "--fresh/--no-fresh",
        help="Compare with a freshly initialised network. Default: only for a single network.",
    ),
    all_figures: bool = typer.Option(False, "--all-figures", help="Show every figure, layer and class, not only six."),
    mean: str = typer.Option(None, help="Mean of each channel for scaling inputs, comma-separated."),
    std: str = typer.Option(None, help="Standard deviation of each channel for scaling inputs, comma-separated."),
    head: str = typer.Option(None, help="Name of the last linear layer. Default: found automatically."),
    class_names: str = typer.Option(None, help="Names of the classes in order, comma-separated."),
    walks: int = typer.Option(
        1000,
        help="Maximum number of walks per network. With fewer than all: fewer origins, then starts, then classes. The "
        "same number and seed give the same figures, however busy the machine is.",
    ),
    starts: int = options.advanced(5, "Number of random draws of inputs to start walks from."),
    step: float = options.advanced(None, "Step length. Default: found by a short search."),
    origins: int = options.advanced(
        None, "Number of other classes to walk from to each class. Default: all, up to 100 classes."
    ),
    box: bool = options.advanced(
        False, "Keep inputs within the range of images, 0 to 1 (needs --mean and --std).", "--box"
    ),
    delta: float = options.advanced(0.01, "Cross-entropy at which a walk has arrived."),
    max_steps: int = options.advanced(300, "Steps after which a walk that has not arrived ends."),
    threads: int = options.advanced(1, "Threads of torch. More are faster for large networks and change last digits."),
    store: Path = typer.Option(None, help="Folder of records; walks found there are reused."),
    seed: options.Seed = 0,
    allow_import: bool = typer.Option(
        False, "--allow-import", help="Allow --builder and --arch module:name, which run that code."
    ),
    trust_pickle: bool = typer.Option(
        False, "--trust-pickle", help="Read torch files that contain more than weights, which can run code."
    ),
) -> Outcome:
    """Describe networks from architecture and weights alone; with a test set, estimate accuracies and rank them."""
    paths = named_paths(files)
    if weights_only:
        return _heads(paths, head, trust_pickle)
    how = Measurement(
        load=architecture.load(allow_import, trust_pickle),
        walks={"starts": starts, "step": step, "origins": origins, "box": box}
        | {"delta": delta, "max_steps": max_steps, "walks": walks, "threads": threads, "random_state": seed},
        output=output,
        normalize=read_normalization(mean, std),
        head=head,
        class_names=None if class_names is None else tuple(name.strip() for name in class_names.split(",")),
        fresh=len(paths) == 1 if fresh is None else fresh,
        test_set=None if test_set is None else read_labelled_rows(test_set),
        store=None if store is None else Store(store),
    )
    done = _measure_all(paths, how)
    networks: dict[str, Measured] = done.results
    ranking = None
    if len(networks) > 1:
        accuracies = {name: one.accuracy.value for name, one in networks.items() if one.accuracy is not None}
        ranking = rank_networks({name: one.quality for name, one in networks.items()}, accuracies or None)
    (first, *_) = networks.values()
    return Outcome(
        {"networks": {name: one.as_json() for name, one in networks.items()}, "ranking": ranking},
        data={"files": files},
        text=_of_one(first, all_figures) if ranking is None else _of_several(networks, ranking),
        charts=lambda: _draw(first, how.class_names) if ranking is None else {"accuracy_bounds": ranking.plot()},
        failed=done.failed,
        interrupted=done.interrupted,
    )


def measure_networks(
    files: list[Path], load: dict[str, Any], walks: dict[str, Any], output: options.Output
) -> dict[str, NetworkQuality]:
    """The quality of each network of a report, before anything is fitted, so that errors are reported early."""
    done = _measure_all(named_paths([str(file) for file in files]), Measurement(load, walks, output))
    for name, why in done.failed.items():
        console.error(f"{name}: no results. {why}")
    return {name: one.quality for name, one in done.results.items()}


def _measure_all(paths: dict[str, Path], how: Measurement) -> Done:
    names = list(paths)

    def measure(name: str, path: Path) -> Measured:
        if len(paths) > 1:
            how.output.say(f"{names.index(name) + 1} of {len(paths)}: {name}")
        try:
            return _measure(name, path, how)
        except (MemoryError, RuntimeError) as error:
            # Not every device has its own exception class in torch.
            if not isinstance(error, MemoryError) and "memory" not in str(error).lower():
                raise
            raise expect.InputError(f"Not enough memory for {path}, even with one input at a time.") from None

    return each(paths, measure)


def _measure(name: str, path: Path, how: Measurement) -> Measured:
    """Load one network, walk, and measure it."""
    began = time.monotonic()
    loaded = load_network(path, how.load["arch"], **{key: how.load[key] for key in how.load if key != "arch"})
    for note in loaded.notes:
        how.output.say(f"{name}: {note}")
    parts = _split(name, loaded.network, how)
    how.output.say(f"{name}: {parts}")
    names = how.class_names
    if names is None and len(loaded.labels) == parts.classes and len(set(loaded.labels)) == parts.classes:
        names = loaded.labels
        how.output.say(f"{name}: names of classes are those of its config.json.")
    if how.class_names is not None and len(how.class_names) != parts.classes:
        raise expect.InputError(
            f"--class-names has {len(how.class_names)} names but the network has {parts.classes} classes; they must "
            "match."
        )
    # Before the walks, so that a head without direction or a test set that does not fit is reported at once.
    rows_of(parts.weight)
    accuracy, right = None, 0
    if how.test_set is not None:
        right = count_right(parts, how.test_set, how.normalize)
        accuracy = of_proportion(right, len(how.test_set))
    record, fresh, remarks = record_with_fresh(parts, {**how.walks, "name": name}, partial(_record, how=how), how.fresh)
    quality = network_quality(record, class_names=names)
    if how.test_set is not None:
        quality = replace(quality, labelled=accuracy_by_rows(right, len(how.test_set)))
    if how.fresh:
        fresh_figures = {} if fresh is None else figures(fresh)
        quality = replace(quality, fresh=fresh_figures, notes=(*quality.notes, *remarks))
    return Measured(path, parts, record, quality, accuracy, loaded.notes, time.monotonic() - began)


def _split(name: str, network: nn.Module, how: Measurement) -> Split:
    if how.load["input_shape"] is not None:
        return split(network, how.load["input_shape"], how.head)
    parts, remark = split_by_likely_shape(network, how.head)
    how.output.say(f"{name}: {remark}")
    return parts


def _record(parts: Split, *, how: Measurement, name: str, **walks: Any) -> Prototypes:
    """The prototypes of a network, from the store if they are there."""
    settings = {**walks, "normalize": how.normalize}
    if how.store is None:
        return prototypes(parts, **settings, progress=not how.output.quiet, name=name)
    key = how.store.key({"record": identity(parts), **settings})
    if how.store.get(key, KIND) is not None:  # a damaged one counts as missing
        how.output.say(f"{name}: reused from the store.")
        saved = Prototypes.load(how.store.path(key))
        return replace(saved, about={**saved.about, "network": name})
    record = prototypes(parts, **settings, store=how.store, progress=not how.output.quiet, name=name)
    if not record.interrupted:
        how.store.put(key, KIND, *record.to_file())
    return record


def _of_one(network: Measured, everything: bool) -> Iterator[Any]:
    quality = network.quality
    yield str(quality)
    if network.accuracy is not None:
        yield f"Accuracy on the test set: {network.accuracy:.3f}."
    accuracy = quality.labelled or "unknown"
    by = f"by labelled rows ({quality.labelled.kind})" if quality.labelled else "needs labelled rows"
    rows: dict[str, dict[str, Any]] = {"accuracy": {"value": accuracy, "words": by}}
    for name, words in DECISIVE.items():
        value: Any = quality.figures.get(name)
        value = f"{quality.converged.value:.0%}" if name == "converged" else value
        rows[SHORT.get(name, name.replace("_", " "))] = {
            "value": value, "fresh": quality.fresh.get(name), "words": words,
        }  # fmt: skip
    headings = {"value": "value", "fresh": "untrained"}
    yield figures_table(
        "The figures that decide", rows, headings | {"words": "direction"}, UNTRAINED * bool(quality.fresh), "figure"
    )
    pairs = {
        "first": "class",
        "second": "other",
        "rows": "cosine of the\nhead's rows",
        "cosine": "cosine of\nmean features",
    }
    closest = quality.per_pair.sort_values("rows", ascending=False, kind="stable").head(MOST_PAIRS)
    yield rows_table("Classes that the network finds similar, by its head", closest, pairs)
    if not everything:
        yield f"{len(quality.figures) - 4} more figures, layers and the head: --all-figures, or --json."
        return
    yield str(quality.head)
    frame = quality.to_frame()
    columns = {"figure": "figure", "value": "value", "low": "low", "high": "high", "fresh": "untrained"}
    yield rows_table("All figures", frame, columns, UNTRAINED, len(frame))
    for title, part in (("Layers", quality.layers), ("M_bt by the paper's three ways to count", quality.separations)):
        yield rows_table(title, part, {name: str(name).replace("_", " ") for name in part})
    classes = {name: str(name).replace("_", " ") for name in quality.per_class}
    yield rows_table("Definition 1 of the paper: is the head well trained for a class?", quality.per_class, classes)


def _of_several(networks: dict[str, Measured], ranking: Ranking) -> Iterator[Any]:
    yield str(ranking)
    rows = {}
    for number, group in enumerate(ranking.groups, start=1):
        for name in group:
            quality = networks[name].quality
            rows[name] = {
                "group": number, "test": networks[name].accuracy,
                "accuracy": quality.labelled or "unknown",
                "structure": quality.figures.get("structure"), "converged": f"{quality.converged.value:.0%}",
                "within": quality.within.value, "between": quality.between.value,
                "bounds": "{:.2f} to {:.2f}".format(*quality.accuracy_bounds),
            }  # fmt: skip
    one = len(ranking.groups) == 1
    headings = {"group": "group", "test": "on the\ntest set", "accuracy": "accuracy", "structure": "structure"}
    headings |= {"converged": "walks\narrived", "within": "M_in", "between": "M_bt", "bounds": "the paper's\nbounds"}
    yield figures_table(
        "Networks, not ranked" if one else f"Networks in groups, best first by {ranking.by}",
        rows,
        headings,
        "Networks of one group are ties: nothing separates them.",
        "network",
    )
    if not ranking.correlations:
        return
    main = {name: ranking.correlations[name] for name in MAIN_FIGURES if name in ranking.correlations}
    others = [(name, rho) for name, rho in ranking.correlations.items() if name not in main and rho.known]
    strongest = dict(sorted(others, key=lambda pair: -abs(pair[1].value))[:MOST_FIGURES])
    yield estimates_table(
        "Rank correlation (Spearman's rho) of each figure with true accuracy",
        {**main, **strongest},
        "1: the same order as true accuracy; 0: no relation; −1: the reverse order. In brackets: 95% interval.",
    )
    yield f"The paper's bounds contain {ranking.enclosed:.0%} of the true accuracies."


def _draw(network: Measured, names: tuple[str, ...] | None) -> dict[str, Any]:
    quality = network.quality
    by_name: dict[str, Any] = {
        "class_cosines": drawing.class_cosines(quality),
        "within_between": drawing.within_between(quality),
        "head_cosines": drawing.head_cosines(quality.head),
        "head_pairs": drawing.class_cosines(quality, of="rows"),
        "accuracy_bounds": drawing.accuracy_bounds(quality),
    }
    inputs = network.record.inputs
    pictures = inputs is not None and inputs.ndim == 4 and inputs.shape[1] in (1, 3)
    if pictures and quality.converged.value >= CONVERGED:
        by_name["prototypes"] = drawing.prototype_gallery(network.record, names)
    return by_name


# The head alone: what the last layer shows. Nothing is run.


def _heads(paths: dict[str, Path], layer: str | None, trust_pickle: bool) -> Outcome:
    def measure(name: str, path: Path) -> tuple[HeadWeights, HeadQuality]:
        weights = read_head(path, layer, trust_pickle)
        return weights, head_quality(weights.weight, weights.bias)

    done = each(paths, measure)
    heads: dict[str, tuple[HeadWeights, HeadQuality]] = done.results
    several = len(heads) > 1
    return Outcome(
        {
            "heads": {
                name: {"file": str(head.path), "layer": head.name, "notes": head.notes, **quality.to_dict()}
                for name, (head, quality) in heads.items()
            }
        },
        data={"files": list(map(str, paths.values()))},
        text=_of_heads(heads) if several else _of_head(*heads.items()),
        charts=lambda: {
            f"head_cosines_{number}" if several else "head_cosines": quality.plot()
            for number, (_, quality) in enumerate(heads.values(), start=1)
        },
        failed=done.failed,
    )


def _of_head(item: tuple[str, tuple[HeadWeights, HeadQuality]]) -> Iterator[Any]:
    name, (head, quality) = item
    yield " ".join([f"{name}, layer {head.name!r}. {quality}", *head.notes])
    yield rows_table(
        "Figures of the head",
        quality.to_frame(),
        {"figure": "figure", "value": "value", "fresh_low": "untrained:\nfrom", "fresh_high": "to"},
        "Untrained: the range over freshly initialised heads of this shape.",
    )


def _of_heads(heads: dict[str, tuple[HeadWeights, HeadQuality]]) -> Iterator[Any]:
    yield f"{expect.counted(len(heads), 'head')}. This shows how the heads are shaped, not how accurate they are."
    rows = {name: {"layer": head.name, **vars(quality)} for name, (head, quality) in heads.items()}
    _, first = next(iter(heads.values()))
    headings = {
        "layer": "layer", "classes": "classes", "feature_size": "features", "classifier_quality": "H_w",
        "mean_angle": "mean angle", "min_angle": "least", "max_angle": "most", "cosine_std": "spread of\ncosines",
        "simplex_distance": "distance to\nsimplex", "effective_rank": "effective\nrank", "norm": "norm",
    }  # fmt: skip
    yield figures_table(
        "Rows of the heads",
        rows,
        headings,
        f"H_w: 1 for random rows, 1 + 1/(classes − 1) for the simplex ({1 - first.references['simplex']:.4f} for "
        f"{first.classes} classes), towards which softmax training moves them. Angles in degrees.",
        "file",
    )
