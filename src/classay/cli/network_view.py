"""What `classay network` shows: words and tables, JSON and charts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import __version__, expect
from ..result import plain
from . import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..network.head import HeadQuality
    from ..network.named_head import HeadWeights
    from ..network.ranking import Ranking
    from .network_assay import Assayed

MOST_PAIRS, MOST_FIGURES = 8, 12


def ranked(found: dict[str, Assayed]) -> Ranking | None:
    """The networks ranked, if there are several."""
    if len(found) < 2:
        return None
    from ..network.ranking import rank_networks

    known = {name: each.accuracy.value for name, each in found.items() if each.accuracy is not None}
    return rank_networks({name: each.quality for name, each in found.items()}, known or None)


def show(found: dict[str, Assayed], ranking: Ranking | None) -> None:
    """Print words first, then tables."""
    if ranking is None:
        _show_one(next(iter(found.values())))
    else:
        _show_many(found, ranking)


def _show_one(assayed: Assayed) -> None:
    from ..network.figures import FIGURES

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
            "Classes that the network takes for alike",
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
            "What weights and walks tell",
            ["figure", "value", *(["fresh"] if quality.fresh else [])],
            [
                [f"{name.replace('_', ' ')}: {FIGURES[name].words}", _number(value)]
                + ([_number(quality.fresh.get(name))] if quality.fresh else [])
                for name, value in quality.figures.items()
            ],
            "Fresh: the same architecture, untrained." if quality.fresh else "",
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
                "1: the same order as the truth; 0: none; −1: the reverse. In brackets: 95% interval.",
            )
        )
        out.print(
            f"The paper's bounds hold {ranking.enclosed:.0%} of the true accuracies"
            + ("." if math.isnan(ranking.estimate_enclosed)
               else f", the estimate's interval {ranking.estimate_enclosed:.0%}."),
            markup=False,
        )  # fmt: skip


def _strongest(correlations: dict[str, Any]) -> list[tuple[str, Any]]:
    """The main figures, then those that go with accuracy most closely, either way."""
    from ..network.ranking import MAIN

    main = [(name, correlations[name]) for name in MAIN if name in correlations]
    others = [(name, each) for name, each in correlations.items() if name not in MAIN and each.known]
    return [*main, *sorted(others, key=lambda pair: -abs(pair[1].value))[:MOST_FIGURES]]


def show_heads(heads: dict[str, tuple[HeadWeights, HeadQuality]], failed: dict[str, str], as_json: bool) -> None:
    """Print what heads alone tell."""
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
                ["figure", "value", "fresh rows"],
                [
                    [str(row["figure"]).replace("_", " "), _number(row["value"]), _range(row)]
                    for _, row in quality.to_frame().iterrows()
                ],
                "Fresh rows: the range over fresh initialisations of this shape.",
            )
        )
    if len(heads) > 1:
        first = next(iter(heads.values()))[1]
        out.print(f"{expect.counted(len(heads), 'head')}. This tells how heads are formed, not how accurate they are.")
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
                f"for {first.classes} classes), to which softmax training drives them.",
            )
        )  # fmt: skip


def as_json(
    found: dict[str, Assayed], ranking: Ranking | None, failed: dict[str, str], interrupted: bool
) -> dict[str, Any]:
    """Everything as plain JSON values."""
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
    """Charts by name: of one network all, of many their accuracies."""
    from .. import charts

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
    from .. import charts

    several = len(heads) > 1
    return {
        f"head_cosines_{place}" if several else "head_cosines": charts.head_cosines(quality)
        for place, (_, quality) in enumerate(heads.values(), start=1)
    }


def _number(value: Any) -> str:
    return "" if value is None or not math.isfinite(value) else f"{value:.4g}"


def _range(row: Any) -> str:
    return "" if math.isnan(row["fresh_low"]) else f"{_number(row['fresh_low'])} to {_number(row['fresh_high'])}"
