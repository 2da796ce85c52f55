"""`classay network`: was a network trained well, and which of several should be tested? No data needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from ... import __version__, charts
from ...engine.store import Store
from ...network.quality.figures import DECISIVE, FIGURES
from ...network.quality.labelled_rows import read_labelled_rows
from ...network.quality.quality import CONVERGED, NetworkQuality
from ...network.quality.rank_networks import MAIN_FIGURES, Ranking, rank_networks
from ...result import plain
from .. import console, options
from ..network_assay import NetworkAssay, assay_all
from ..network_head import draw_heads, heads_as_json, read_heads, show_heads
from ..network_options import AssayOptions, named_paths, one_architecture, read_normalization, read_shape

EXAMPLES = """
**Examples**

    classay network model.safetensors --arch timm:resnet18 --input 3x32x32 --mean .49,.48,.45 --std .25,.24,.26

    classay network checkpoints/*.pt --builder mymodels:make_net --allow-import --input 3x32x32 --store runs/

    classay network checkpoints/*.pt --arch timm:resnet18 --input 3x32x32 --test-set test.npz --charts charts/

    classay network weights.safetensors --weights-only
"""
MOST_PAIRS, MOST_FIGURES, MOST_CLASSES = 8, 12, 40
SHORT = {"within": "M_in", "between": "M_bt", "converged": "walks arrived", "row_spread": "spread of head's rows"}


def command(
    files: list[str] = typer.Argument(
        ...,
        metavar="FILE",
        help="Weights: torch (a state dict), safetensors, or ONNX (with onnx2torch); with --weights-only also npz.",
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
    delta: float = typer.Option(0.01, help="Cross-entropy at which a walk has arrived."),
    max_steps: int = typer.Option(300, help="Steps after which a walk that has not arrived ends."),
    walks: int = typer.Option(
        1000,
        help="Maximum number of walks per network. With fewer than all: fewer origins, then starts, then classes. The "
        "same number and seed give the same figures, however busy the machine is.",
    ),
    threads: int = typer.Option(1, help="Threads of torch. More are faster for large networks and change last digits."),
    fresh: bool = typer.Option(
        None,
        "--fresh/--no-fresh",
        help="Compare with a freshly initialised network. Default: only for a single network.",
    ),
    test_set: Path = typer.Option(
        None, help="npz file with x (inputs) and y (classes from 0), to measure true accuracies."
    ),
    store: Path = typer.Option(None, help="Folder of records; walks found there are reused."),
    all_figures: bool = typer.Option(False, "--all-figures", help="Show every figure, layer and class, not only six."),
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
    """Describe networks from architecture and weights alone; with a test set, estimate accuracies and rank them."""
    console.writable_folder(charts, "--charts")
    paths = named_paths(files)
    if weights_only:
        heads, failed = read_heads(paths, head, trust_pickle)
        if as_json:
            console.write_json(heads_as_json(heads, failed))
        else:
            show_heads(heads)
        console.report_failures(failed)
        if charts is not None:
            console.save_charts(charts, draw_heads(heads), quiet)
        console.exit_if_partial(failed, interrupted=False)
        return
    assay_options = AssayOptions(
        arch=one_architecture(arch, builder),
        allow_import=allow_import,
        trust_pickle=trust_pickle,
        input_shape=read_shape(input) if input else None,
        normalize=read_normalization(mean, std),
        head=head,
        class_names=None if class_names is None else tuple(name.strip() for name in class_names.split(",")),
        walks={"starts": starts, "step": step, "origins": origins, "box": box}
        | {"delta": delta, "max_steps": max_steps, "walks": walks, "threads": threads, "random_state": seed},
        fresh=len(paths) == 1 if fresh is None else fresh,
        test_set=None if test_set is None else read_labelled_rows(test_set),
        store=None if store is None else Store(store),
        quiet=quiet,
    )
    assays, failed, interrupted = assay_all(paths, assay_options)
    ranking = _ranking(assays)
    if as_json:
        console.write_json(_as_json(assays, ranking, failed, interrupted))
    elif ranking is None:
        _show_one(next(iter(assays.values())), all_figures)
    else:
        _show_several(assays, ranking)
    console.report_failures(failed)
    if charts is not None:
        console.save_charts(charts, _draw(assays, ranking, assay_options.class_names), quiet)
    console.exit_if_partial(failed, interrupted)


def _ranking(assays: dict[str, NetworkAssay]) -> Ranking | None:
    """The ranking of the networks, if there are several."""
    if len(assays) < 2:
        return None
    accuracies = {name: each.accuracy.value for name, each in assays.items() if each.accuracy is not None}
    return rank_networks({name: each.quality for name, each in assays.items()}, accuracies or None)


def _show_one(assay: NetworkAssay, everything: bool) -> None:
    out, quality = console.out(), assay.quality
    out.print(str(quality), markup=False)
    if assay.accuracy is not None:
        out.print(f"Accuracy on the test set: {assay.accuracy:.3f}.", markup=False)
    out.print()
    out.print(_decisive_table(quality))
    out.print()
    pairs = quality.per_pair.sort_values("rows", ascending=False, kind="stable").head(MOST_PAIRS)
    out.print(
        console.table(
            "Classes that the network finds similar, by its head",
            ["class", "other", "cosine of the\nhead's rows", "cosine of\nmean features"],
            [
                [str(pair["first"]), str(pair["second"]), f"{pair['rows']:.3f}", f"{pair['cosine']:.3f}"]
                for _, pair in pairs.iterrows()
            ],
        )
    )
    out.print()
    if not everything:
        out.print(f"{len(quality.figures) - 4} more figures, layers and the head: --all-figures, or --json.")
        return
    out.print(str(quality.head), markup=False)
    out.print()
    out.print(
        console.table(
            "Figures from weights and walks",
            ["figure", "value", *(["untrained"] if quality.fresh else [])],
            [
                [f"{name.replace('_', ' ')}: {FIGURES[name].words}", console.number(value)]
                + ([console.number(quality.fresh.get(name))] if quality.fresh else [])
                for name, value in quality.figures.items()
            ],
            "Untrained: the same architecture, freshly initialised." if quality.fresh else "",
        )
    )
    out.print()
    out.print(
        console.table(
            "Layers",
            ["layer", "structure", "looks random"],
            [
                [str(layer["layer"]), f"{layer['structure']:.3f}", "yes" if layer["random"] else "no"]
                for _, layer in quality.layers.iterrows()
            ],
            "Structure: log of the weight's largest singular value over that of the same numbers shuffled.",
        )
    )
    out.print()
    out.print(
        console.table(
            "M_bt by the paper's three ways to count",
            ["cosines of", "M_bt", "spread", "lower bound"],
            [
                [str(row["counted"]), *(f"{row[name]:.3f}" for name in ("between", "spread", "lower_bound"))]
                for _, row in quality.separations.iterrows()
            ],
        )
    )
    out.print()
    out.print(
        console.table(
            "Definition 1 of the paper: is the head well trained for a class?",
            ["class", "largest margin", "largest other", "condition 2", "condition 3", "cosine of row\nand feature"],
            [
                [str(row["class"]), f"{row['margin']:.2f}", f"{row['largest_other']:.2f}"]
                + ["yes" if row[name] else "no" for name in ("condition_2", "condition_3")]
                + [f"{row['row_cosine']:.3f}"]
                for _, row in quality.per_class.head(MOST_CLASSES).iterrows()
            ],
            "Condition 2: a prototype whose score is 100 times that of any other class, after the exponential. "
            "Condition 3: one where, besides, no other class scores above 0.",
        )
    )


def _decisive_table(quality: NetworkQuality) -> Any:
    """The figures to look at first, with their directions."""
    accuracy = "unknown" if quality.labelled is None else console.figure(quality.labelled)
    rows = [
        [
            "accuracy",
            accuracy,
            "",
            f"by labelled rows ({quality.labelled.kind})" if quality.labelled else "needs labelled rows",
        ]
    ]
    for name, words in DECISIVE.items():
        value = quality.converged.value if name == "converged" else quality.figures.get(name, math.nan)
        text = f"{value:.0%}" if name == "converged" else console.number(value)
        rows.append([SHORT.get(name, name.replace("_", " ")), text, console.number(quality.fresh.get(name)), words])
    if not quality.fresh:
        rows = [[name, value, words] for name, value, _, words in rows]
    return console.table(
        "The figures that decide",
        ["figure", "value", *(["untrained"] if quality.fresh else []), "direction"],
        rows,
        "Untrained: the same architecture, freshly initialised." if quality.fresh else "",
    )


def _show_several(assays: dict[str, NetworkAssay], ranking: Ranking) -> None:
    out = console.out()
    out.print(str(ranking), markup=False)
    out.print()
    out.print(_ranking_table(assays, ranking))
    if not ranking.correlations:
        return
    out.print()
    out.print(
        console.table(
            "Rank correlation of each figure with true accuracy",
            ["figure", "Spearman's rho"],
            [[name.replace("_", " "), f"{each:.2f}"] for name, each in _strongest(ranking.correlations)],
            "1: the same order as true accuracy; 0: no relation; −1: the reverse order. In brackets: 95% interval.",
        )
    )
    out.print(f"The paper's bounds contain {ranking.enclosed:.0%} of the true accuracies.", markup=False)


def _ranking_table(assays: dict[str, NetworkAssay], ranking: Ranking) -> Any:
    columns = ["group", "network", "accuracy", "structure", "walks\narrived", "M_in", "M_bt", "the paper's\nbounds"]
    rows = []
    for number, group in enumerate(ranking.groups, start=1):
        for name in group:
            quality = assays[name].quality
            rows.append(
                [
                    str(number),
                    name,
                    "unknown" if quality.labelled is None else console.figure(quality.labelled),
                    console.number(quality.figures.get("structure", math.nan)),
                    f"{quality.converged.value:.0%}",
                    f"{quality.within.value:.3f}",
                    f"{quality.between.value:.3f}",
                    f"{quality.accuracy_bounds[0]:.2f} to {quality.accuracy_bounds[1]:.2f}",
                ]
            )
    if ranking.accuracy:
        columns.insert(2, "on the\ntest set")
        for row in rows:
            accuracy_on_test = assays[row[1]].accuracy
            row.insert(2, "unknown" if accuracy_on_test is None else console.figure(accuracy_on_test, 3))
    one = len(ranking.groups) == 1
    return console.table(
        "Networks, not ranked" if one else f"Networks in groups, best first by {ranking.by}",
        columns,
        rows,
        "Networks of one group are ties: nothing separates them.",
    )


def _strongest(correlations: dict[str, Any]) -> list[tuple[str, Any]]:
    """The main figures, then those with the strongest correlation with accuracy, positive or negative."""
    main = [(name, correlations[name]) for name in MAIN_FIGURES if name in correlations]
    others = [(name, each) for name, each in correlations.items() if name not in MAIN_FIGURES and each.known]
    return [*main, *sorted(others, key=lambda pair: -abs(pair[1].value))[:MOST_FIGURES]]


def _as_json(
    assays: dict[str, NetworkAssay], ranking: Ranking | None, failed: dict[str, str], interrupted: bool
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
            for name, each in assays.items()
        },
        "ranking": None if ranking is None else ranking.to_dict(),
        "failed": failed,
        "interrupted": interrupted,
    }


def _draw(assays: dict[str, NetworkAssay], ranking: Ranking | None, names: Sequence[str] | None) -> dict[str, Any]:
    """All charts for one network, only the accuracies for several."""
    if ranking is not None:
        return {"accuracy_bounds": charts.accuracy_bounds(ranking)}
    assay = next(iter(assays.values()))
    by_name: dict[str, Any] = {
        "class_cosines": charts.class_cosines(assay.quality),
        "within_between": charts.within_between(assay.quality),
        "head_cosines": charts.head_cosines(assay.quality.head),
        "head_pairs": charts.class_cosines(assay.quality, of="rows"),
        "accuracy_bounds": charts.accuracy_bounds(assay.quality),
    }
    inputs = assay.record.inputs
    arrived = assay.quality.converged.value >= CONVERGED
    if inputs is not None and inputs.ndim == 4 and inputs.shape[1] in (1, 3) and arrived:
        by_name["prototypes"] = charts.prototype_gallery(assay.record, names)
    return by_name
