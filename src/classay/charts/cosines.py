"""Which classes a network takes for alike: cosines of the class means of features."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from ..network.feature_quality import FeatureQuality
from ..network.quality import NetworkQuality
from . import theme
from .words import cut, figure, labels, printable

MOST_VALUES, MOST_CLASSES = 14, 30
"""With more classes, values are in tooltips only; with still more, only those of the closest pairs are drawn."""
RANGE = ["#f1f5f9", "#9fbfdc", "#3d7ab5", "#08306b"]


def class_cosines(quality: NetworkQuality | FeatureQuality) -> alt.LayerChart:
    """Draw the cosine of every two classes' mean features, classes that are alike next to each other."""
    names = [str(name) for name in quality.per_class["class"]]
    chosen = _chosen(quality)
    matrix = quality.cosines[np.ix_(chosen, chosen)]
    full = [printable(names[place]) for place in chosen]
    short = labels([names[place] for place in chosen])
    scale = alt.Scale(domain=[short[place] for place in _order(matrix)])
    least = min(0.0, float(np.floor(matrix.min() * 10) / 10))
    step = min(48, max(16, 440 // len(short)))
    fill = alt.Color(
        "value:Q",
        scale=alt.Scale(domain=[least, 1], range=RANGE),
        legend=alt.Legend(title=None, gradientLength=min(step * len(short), 180), tickCount=5),
    )
    x = alt.X("second:N", title=None, scale=scale, axis=alt.Axis(domain=False, ticks=False, labelAngle=-40))
    y = alt.Y("first:N", title=None, scale=scale, axis=alt.Axis(domain=False, ticks=False))
    cells = [
        {"first": short[a], "second": short[b], "one": full[a], "other": full[b], "value": float(matrix[a, b])}
        | {"figure": figure(float(matrix[a, b]), ".3f"), "text": figure(float(matrix[a, b]), ".2f")}
        | {"dark": float(matrix[a, b]) > least + 0.55 * (1 - least)}
        for a in range(len(short))
        for b in range(len(short))
    ]
    seen = theme.tooltips(one="class", other="other", figure="cosine")
    layers: list[Any] = [
        theme.chart_of(cells).mark_rect(stroke="white", strokeWidth=1).encode(x=x, y=y, color=fill, tooltip=seen)
    ]
    if len(short) <= MOST_VALUES:
        # The ink is fixed because the cells beneath it are, on a dark page too.
        ink = alt.condition("datum.dark", alt.value("white"), alt.value("#1f2933"))
        pairs = theme.chart_of([cell for cell in cells if cell["first"] != cell["second"]])
        layers.append(pairs.mark_text(fontSize=11).encode(x=x, y=y, text="text:N", color=ink))
    nearest = quality.per_pair.iloc[0]
    some = f" Of {len(names)} classes, those of the closest pairs." if len(chosen) < len(names) else ""
    return theme.finished(
        layers,
        alt.Step(step),
        alt.Step(step),
        theme.titled(
            f"Most alike: “{cut(str(nearest['first']))}” and “{cut(str(nearest['second']))}”",
            "Cosine of the mean features of every two classes: 1 they point one way, 0 at right angles. Classes that "
            f"are alike stand next to each other.{some}",
            width=max(step * len(short) + 120, 380),
        ),
    )


def _chosen(quality: NetworkQuality | FeatureQuality) -> NDArray[np.int64]:
    """The classes to draw: all, or those of the closest pairs."""
    matrix = quality.cosines
    if len(matrix) <= MOST_CLASSES:
        return np.arange(len(matrix))
    first, second = np.triu_indices(len(matrix), 1)
    order = np.argsort(-matrix[first, second], kind="stable")
    found = dict.fromkeys(int(place) for pair in zip(first[order], second[order]) for place in pair)
    return np.array(sorted(list(found)[:MOST_CLASSES]))


def _order(matrix: NDArray[np.float64]) -> list[int]:
    """Places of classes, those alike next to each other."""
    if len(matrix) < 3:
        return list(range(len(matrix)))
    apart = np.clip(1 - (matrix + matrix.T) / 2, 0, None)
    np.fill_diagonal(apart, 0)
    tree = hierarchy.linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    order: list[int] = hierarchy.leaves_list(tree).tolist()
    return order
