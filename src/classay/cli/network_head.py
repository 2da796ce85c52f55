"""`classay network --weights-only`: what the last layer alone shows. Nothing is run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__, charts, expect
from ..network.files.head_search import HeadWeights, read_head
from ..network.quality.head import HeadQuality, head_quality
from . import console


class Head(NamedTuple):
    """The weights of a last layer, and their quality."""

    weights: HeadWeights
    quality: HeadQuality


def read_heads(paths: dict[str, Path], layer: str | None, trust_pickle: bool) -> tuple[dict[str, Head], dict[str, str]]:
    """The heads of all files, with their quality; a file that cannot be read does not stop the others."""
    heads: dict[str, Head] = {}
    failed: dict[str, str] = {}
    for name, path in paths.items():
        try:
            weights = read_head(path, layer, trust_pickle)
            heads[name] = Head(weights, head_quality(weights.weight, weights.bias))
        except expect.InputError as mistake:
            failed[name] = str(mistake)
    if not heads:
        raise expect.InputError(next(iter(failed.values())))
    return heads, failed


def show_heads(heads: dict[str, Head]) -> None:
    """Print one head with all its figures, or several in one table."""
    out = console.out()
    if len(heads) == 1:
        name, (weights, quality) = next(iter(heads.items()))
        out.print(" ".join([f"{name}, layer {weights.name!r}. {quality}", *weights.notes]), markup=False)
        out.print()
        out.print(_figure_table(quality))
    else:
        out.print(
            f"{expect.counted(len(heads), 'head')}. This shows how the heads are shaped, not how accurate they are."
        )
        out.print()
        out.print(_comparison_table(heads))


def _figure_table(quality: HeadQuality) -> Any:
    rows = []
    for _, row in quality.to_frame().iterrows():
        untrained = [console.number(row[end]) for end in ("fresh_low", "fresh_high")]
        known = not math.isnan(row["fresh_low"])
        figure = str(row["figure"]).replace("_", " ")
        rows.append([figure, console.number(row["value"]), " to ".join(untrained) if known else ""])
    return console.table(
        "Figures of the head",
        ["figure", "value", "untrained"],
        rows,
        "Untrained: the range over freshly initialised heads of this shape.",
    )


def _comparison_table(heads: dict[str, Head]) -> Any:
    first = next(iter(heads.values())).quality
    return console.table(
        "Rows of the heads",
        ["file", "layer", "classes", "features", "H_w", "mean angle", "angles", "spread of\ncosines",
         "distance to\nsimplex", "effective\nrank", "norm"],
        [
            [
                name, weights.name, str(q.classes), str(q.feature_size), f"{q.classifier_quality:.4f}",
                f"{q.mean_angle:.1f}°", f"{q.min_angle:.0f}° to {q.max_angle:.0f}°", f"{q.cosine_std:.3f}",
                f"{q.simplex_distance:.3f}", f"{q.effective_rank:.1f}", f"{q.norm:.3g}",
            ]
            for name, (weights, q) in heads.items()
        ],
        f"H_w: 1 for random rows, 1 + 1/(classes − 1) for the simplex ({1 - first.references['simplex']:.4f} "
        f"for {first.classes} classes), towards which softmax training moves them.",
    )  # fmt: skip


def heads_as_json(heads: dict[str, Head], failed: dict[str, str]) -> dict[str, Any]:
    """Every head, and why others failed."""
    return {
        "classay": __version__,
        "heads": {
            name: {
                "file": str(weights.path),
                "layer": weights.name,
                "notes": list(weights.notes),
                **quality.to_dict(),
            }
            for name, (weights, quality) in heads.items()
        },
        "failed": failed,
    }


def draw_heads(heads: dict[str, Head]) -> dict[str, Any]:
    """The chart of each head, numbered if there are several."""
    several = len(heads) > 1
    return {
        f"head_cosines_{number}" if several else "head_cosines": charts.head_cosines(head.quality)
        for number, head in enumerate(heads.values(), start=1)
    }
