"""`classay network`: was a network trained well, and which of several should be tested? No data needed."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ... import __version__, expect
from ...result import plain
from .. import console, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...network.files.head_search import HeadWeights
    from ...network.quality.head import HeadQuality
    from ...network.quality.rank_networks import LabelledRows, Ranking
    from ..network_assay import Assayed

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
        help="Weights: torch (a state dict) or safetensors; with --weights-only also ONNX and npz.",
    ),
    arch: str = typer.Option(None, help="Architecture: timm:NAME or torchvision:NAME, with arguments in parentheses."),
    builder: str = typer.Option(
        None, help="Function that returns the network, as module:function. Needs --allow-import."
    ),
    input: str = typer.Option(
        None, "--input", help="Shape of one input, such as 3x32x32. Default: inferred from the network."
    ),
    mean: str = typer.Option(None, help="Mean of each channel for scaling inputs, comma-separated."),
    std: str = typer.Option(None, help="Standard deviation of each channel for scaling inputs, comma-separated."),
    head: str = typer.Option(None, help="Name of the last linear layer. Default: found automatically."),
    class_names: str = typer.Option(None, help="Names of the classes in order, comma-separated."),
    weights_only: bool = typer.Option(
        False, "--weights-only", help="Measure only the head, from the weights; nothing is run."
    ),
    starts: int = typer.Option(5, help="Number of random draws of inputs to start walks from."),
    step: float = typer.Option(None, help="Step length. Default: found by a short search."),
    origins: int = typer.Option(
        None, help="Number of other classes to walk from to each class. Default: all, up to 100 classes."
    ),
    box: bool = typer.Option(
        False, "--box", help="Keep inputs within the range of images, 0 to 1 (needs --mean and --std)."
    ),
    budget: str = typer.Option("60s", help="Time per network, such as 60s, 10m or 1h; `none` for no limit."),
    fresh: bool = typer.Option(
        None,
        "--fresh/--no-fresh",
        help="Compare with a freshly initialised network. Default: only for a single network.",
    ),
    test_set: Path = typer.Option(
        None, help="npz file with x (inputs) and y (classes from 0), to measure true accuracies."
    ),
    store: Path = typer.Option(None, help="Folder of records; walks found there are reused."),
    seed: options.Seed = 0,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: bool = typer.Option(
        False, "--allow-import", help="Allow --builder and --arch module:name, which run that code."
    ),
    trust_pickle: bool = typer.Option(
        False, "--trust-pickle", help="Read torch files that contain more than weights, which can run code."
    ),
    debug: options.Debug = False,
) -> None:
    """Estimate how well networks were trained, from architecture and weights alone, and rank several of them."""
    from ...engine.store import Store
    from ..network_assay import Wishes, assay_all, heads_of

    if charts is not None:
        console.writable_folder(charts, "--charts")
    paths = named(files)
    if weights_only:
        heads, failed = heads_of(paths, head, trust_pickle)
        show_heads(heads, failed, as_json)
        _end(failed, charts, head_charts(heads) if charts is not None else {}, False, quiet)
        return
    if arch and builder:
        raise expect.InputError("--arch and --builder are both given; expected one of them.")
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
    ranking = ranked(found)
    if as_json:
        console.write_json(json_document(found, ranking, failed, interrupted))
    else:
        show(found, ranking)
    _end(
        failed,
        charts,
        charts_of(found, ranking, wishes.class_names) if charts is not None else {},
        interrupted,
        quiet,
    )


def _end(failed: dict[str, str], folder: Path | None, drawn: dict[str, Any], interrupted: bool, quiet: bool) -> None:
    """Save charts, print errors, and exit with code 3 if only part of the work was done."""
    for name, why in failed.items():
        console.error(f"{name}: no results. {why}")
    if folder is not None:
        from ... import charts

        for name, chart in drawn.items():
            for suffix in ("svg", "png"):
                console.say(f"Saved {charts.save(chart, folder / f'{name}.{suffix}')}", quiet)
    if interrupted:
        console.error("Interrupted: the results above cover only what had finished.")
    if failed or interrupted:
        raise typer.Exit(console.PARTIAL)


def named(files: list[str]) -> dict[str, Path]:
    """Paths by a short name: that of the file, or the whole path where two files have the same name."""
    paths = list(dict.fromkeys(Path(file) for file in files))
    stems = [path.stem for path in paths]
    alike = len(set(stems)) < len(stems)
    names = [path.stem if stems.count(path.stem) == 1 else str(path) for path in paths] if alike else short_names(stems)
    named = dict(zip(names, paths))
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise expect.InputError(f"File not found: {expect.shown(missing)}. Is the path right?")
    return named


def short_names(stems: list[str]) -> list[str]:
    """Names of checkpoints without the beginning that they share: what differs is at the end.

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
        raise expect.InputError(f"--input is {text!r}; expected the shape of one input, such as 3x32x32.")
    shape = tuple(int(side) for side in re.findall(r"\d+", text))
    if 0 in shape:
        raise expect.InputError(f"--input is {text!r}; expected sides of at least 1.")
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
        raise expect.InputError(f"--budget is {text!r}; expected a time such as 60s, 10min or 1h, or none.")
    return float(matched[1]) * {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}[matched[2] or "s"]


def _normalize(mean: str | None, std: str | None) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    if mean is None and std is None:
        return None
    if mean is None or std is None:
        raise expect.InputError("Only one of --mean and --std is given; expected both or neither.")
    try:
        first, second = (tuple(float(part) for part in text.split(",")) for text in (mean, std))
    except ValueError:
        raise expect.InputError(
            f"--mean is {mean!r} and --std is {std!r}; expected comma-separated numbers, such as .49,.48,.45."
        ) from None
    return first, second


def _test_set(path: Path | None) -> LabelledRows | None:
    if path is None:
        return None
    from ...network.quality.rank_networks import read_labelled_rows

    return read_labelled_rows(path)


# The output of `classay network`: text and tables, JSON and charts.


MOST_PAIRS, MOST_FIGURES = 8, 12


def ranked(found: dict[str, Assayed]) -> Ranking | None:
    """The ranking of the networks, if there are several."""
    if len(found) < 2:
        return None
    from ...network.quality.rank_networks import rank_networks

    known = {name: each.accuracy.value for name, each in found.items() if each.accuracy is not None}
    return rank_networks({name: each.quality for name, each in found.items()}, known or None)


def show(found: dict[str, Assayed], ranking: Ranking | None) -> None:
    """Print text first, then tables."""
    if ranking is None:
        _show_one(next(iter(found.values())))
    else:
        _show_many(found, ranking)


def _show_one(assayed: Assayed) -> None:
    from ...network.quality.figures import FIGURES

    out, quality = console.out(), assayed.quality
    out.print(str(quality), markup=False)
    if assayed.accuracy is not None:
        out.print(f"True accuracy on the test set: {assayed.accuracy:.3f}.", markup=False)
    out.print()
    out.print(str(quality.head), markup=False)
    out.print()
    pairs = quality.per_pair.head(MOST_PAIRS)
    out.print(
        console.table(
            "Classes that the network finds similar",
            ["class", "other", "cosine of\nmean features", "cosine of the\nhead's rows"],
            [
                [str(row["first"]), str(row["second"]), f"{row['cosine']:.3f}", f"{row['rows']:.3f}"]
                for _, row in pairs.iterrows()
            ],
        )
    )
    out.print()
    out.print(
        console.table(
            "Figures from weights and walks",
            ["figure", "value", *(["untrained"] if quality.fresh else [])],
            [
                [f"{name.replace('_', ' ')}: {FIGURES[name].words}", _number(value)]
                + ([_number(quality.fresh.get(name))] if quality.fresh else [])
                for name, value in quality.figures.items()
            ],
            "Untrained: the same architecture, freshly initialised." if quality.fresh else "",
        )
    )


def _show_many(found: dict[str, Assayed], ranking: Ranking) -> None:
    out = console.out()
    out.print(str(ranking), markup=False)
    out.print()
    heads = ["network", "estimated\naccuracy", "the paper's\nbounds", "H_w", "M_in", "M_bt", "walks\narrived"]
    known = bool(ranking.accuracy)
    rows = []
    for name in ranking.names:
        quality, true = found[name].quality, found[name].accuracy
        row = [
            name,
            console.figure(quality.estimate),
            f"{quality.accuracy_bounds[0]:.2f} to {quality.accuracy_bounds[1]:.2f}",
            f"{quality.classifier_quality:.3f}",
            f"{quality.within.value:.3f}",
            f"{quality.between.value:.3f}",
            f"{quality.converged.value:.0%}",
        ]
        rows.append([row[0], "unknown" if true is None else console.figure(true, 3), *row[1:]] if known else row)
    if known:
        heads.insert(1, "true\naccuracy")
    out.print(console.table(f"Networks, best first by {ranking.by}", heads, rows))
    if ranking.correlations:
        out.print()
        out.print(
            console.table(
                "Rank correlation of each figure with true accuracy",
                ["figure", "Spearman's rho"],
                [[name.replace("_", " "), f"{each:.2f}"] for name, each in _strongest(ranking.correlations)],
                "1: the same order as true accuracy; 0: no relation; −1: the reverse order. In brackets: 95% interval.",
            )
        )
        out.print(
            f"The paper's bounds contain {ranking.enclosed:.0%} of the true accuracies"
            + ("." if math.isnan(ranking.estimate_enclosed)
               else f", the estimate's interval {ranking.estimate_enclosed:.0%}."),
            markup=False,
        )  # fmt: skip


def _strongest(correlations: dict[str, Any]) -> list[tuple[str, Any]]:
    """The main figures, then those with the strongest correlation with accuracy, positive or negative."""
    from ...network.quality.rank_networks import MAIN_FIGURES

    main = [(name, correlations[name]) for name in MAIN_FIGURES if name in correlations]
    others = [(name, each) for name, each in correlations.items() if name not in MAIN_FIGURES and each.known]
    return [*main, *sorted(others, key=lambda pair: -abs(pair[1].value))[:MOST_FIGURES]]


def show_heads(heads: dict[str, tuple[HeadWeights, HeadQuality]], failed: dict[str, str], as_json: bool) -> None:
    """Print what can be measured from heads alone."""
    if as_json:
        told = {
            name: {"file": str(read.path), "layer": read.name, "notes": list(read.notes), **quality.to_dict()}
            for name, (read, quality) in heads.items()
        }
        console.write_json({"classay": __version__, "heads": told, "failed": failed})
        return
    out = console.out()
    for name, (read, quality) in heads.items() if len(heads) == 1 else ():
        out.print(" ".join([f"{name}, layer {read.name!r}. {quality}", *read.notes]), markup=False)
        out.print()
        out.print(
            console.table(
                "Figures of the head",
                ["figure", "value", "untrained"],
                [
                    [str(row["figure"]).replace("_", " "), _number(row["value"]), _range(row)]
                    for _, row in quality.to_frame().iterrows()
                ],
                "Untrained: the range over freshly initialised heads of this shape.",
            )
        )
    if len(heads) > 1:
        first = next(iter(heads.values()))[1]
        out.print(
            f"{expect.counted(len(heads), 'head')}. This shows how the heads are shaped, not how accurate they are."
        )
        out.print()
        out.print(
            console.table(
                "Rows of the heads",
                ["file", "layer", "classes", "features", "H_w", "mean angle", "angles", "spread of\ncosines",
                 "distance to\nsimplex", "effective\nrank", "norm"],
                [
                    [
                        name, read.name, str(q.classes), str(q.feature_size), f"{q.classifier_quality:.4f}",
                        f"{q.mean_angle:.1f}°", f"{q.min_angle:.0f}° to {q.max_angle:.0f}°", f"{q.cosine_std:.3f}",
                        f"{q.simplex_distance:.3f}", f"{q.effective_rank:.1f}", f"{q.norm:.3g}",
                    ]
                    for name, (read, q) in heads.items()
                ],
                f"H_w: 1 for random rows, 1 + 1/(classes − 1) for the simplex ({1 - first.references['simplex']:.4f} "
                f"for {first.classes} classes), towards which softmax training moves them.",
            )
        )  # fmt: skip


def json_document(
    found: dict[str, Assayed], ranking: Ranking | None, failed: dict[str, str], interrupted: bool
) -> dict[str, Any]:
    """Everything as JSON values."""
    return {
        "classay": __version__,
        "networks": {
            name: {
                "file": str(each.path),
                "head": each.split.name,
                "features": each.split.feature_size,
                "output": each.split.output,
                "notes": [*each.notes, *each.split.notes],
                "settings": plain(each.record.settings),
                "seconds": plain(each.seconds),
                "accuracy": plain(each.accuracy),
                "quality": each.quality.to_dict(),
            }
            for name, each in found.items()
        },
        "ranking": None if ranking is None else ranking.to_dict(),
        "failed": failed,
        "interrupted": interrupted,
    }


def charts_of(found: dict[str, Assayed], ranking: Ranking | None, names: Sequence[str] | None) -> dict[str, Any]:
    """Charts by name: all charts for one network, only the accuracies for several."""
    from ... import charts

    if ranking is not None:
        return {"accuracy_bounds": charts.accuracy_bounds(ranking)}
    one = next(iter(found.values()))
    drawn: dict[str, Any] = {
        "class_cosines": charts.class_cosines(one.quality),
        "within_between": charts.within_between(one.quality),
        "head_cosines": charts.head_cosines(one.quality.head),
        "accuracy_bounds": charts.accuracy_bounds(one.quality),
    }
    inputs = one.record.inputs
    if inputs is not None and inputs.ndim == 4 and inputs.shape[1] in (1, 3):
        drawn["prototypes"] = charts.prototype_gallery(one.record, names)
    return drawn


def head_charts(heads: dict[str, tuple[HeadWeights, HeadQuality]]) -> dict[str, Any]:
    """The chart of each head, by name."""
    from ... import charts

    several = len(heads) > 1
    return {
        f"head_cosines_{place}" if several else "head_cosines": charts.head_cosines(quality)
        for place, (_, quality) in enumerate(heads.values(), start=1)
    }


def _number(value: Any) -> str:
    return "" if value is None or not math.isfinite(value) else f"{value:.4g}"


def _range(row: Any) -> str:
    return "" if math.isnan(row["fresh_low"]) else f"{_number(row['fresh_low'])} to {_number(row['fresh_high'])}"
