"""Curves of learners with bands over refits, and the confusion matrix of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from ..style import theme
from ..style.theme import cut

WIDTH, HEIGHT, CELL = 360, 300, 90
MOST_NUMBERS = 20
"""With more classes, a confusion matrix is drawn without numbers."""


def curves_with_bands(
    rows: Sequence[theme.Row],
    labels: Sequence[str],
    across: str,
    up: str,
    title: str,
    *sentences: str,
    diagonal: bool = True,
) -> alt.LayerChart:
    """Draw a line for each learner, with a band around it. Rows have `label`, `x`, `y`, `low` and `high`."""
    base = theme.chart_of(rows)
    unit = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("x:Q", title=across, scale=unit, axis=alt.Axis(format="~g", tickCount=6))
    y = alt.Y("y:Q", title=up, scale=unit, axis=alt.Axis(format="~g", tickCount=6))
    colour = theme.colour(labels, theme.legend_below(labels, lines=True))
    layers: list[Any] = []
    if diagonal:
        ends = theme.chart_of([{"x": 0, "y": 0}, {"x": 1, "y": 1}])
        layers.append(ends.mark_line(style="reference", strokeDash=[4, 3], clip=True).encode(x=x, y=y))
    banded = base.transform_filter("datum.low != null")
    layers += [
        banded.mark_area(opacity=0.16, clip=True).encode(x=x, y=alt.Y("low:Q", scale=unit), y2="high:Q", color=colour),
        base.mark_line(strokeWidth=2, clip=True).encode(x=x, y=y, color=colour),
    ]
    return theme.finished(layers, WIDTH, HEIGHT, theme.titled(title, *sentences, width=WIDTH))


def confusion_of_rows(counts: ArrayLike, classes: Sequence[str], title: str, *sentences: str) -> alt.LayerChart:
    """Draw rows by class (down) and prediction (across); shades are shares of the class."""
    table = np.asarray(counts)
    names = [cut(name, 16) for name in classes]
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    rows = [
        {
            "label": names[a],
            "prediction": names[b],
            "count": int(table[a, b]),
            "share": float(shares[a, b]),
            "dark": bool(shares[a, b] > 0.55),
            "text": f"{shares[a, b]:.1%} of the class",
        }
        for a in range(len(names))
        for b in range(len(names))
    ]
    base = theme.chart_of(rows)
    x = alt.X("prediction:N", title="prediction", sort=names, axis=alt.Axis(labelAngle=0 if len(names) < 5 else -45))
    y = alt.Y("label:N", title="class", sort=names)
    shade = alt.Color("share:Q", scale=alt.Scale(domain=[0, 1], range=["#f2f6fa", "#0b5c9c"]), legend=None)
    tooltips = theme.tooltips(label="class", prediction="prediction", count="rows", text="share")
    layers: list[Any] = [base.mark_rect().encode(x=x, y=y, color=shade, tooltip=tooltips)]
    if len(names) <= MOST_NUMBERS:
        ink = alt.condition("datum.dark", alt.value("#ffffff"), alt.value("#1f2933"))
        layers.append(base.mark_text(fontSize=12).encode(x=x, y=y, text=alt.Text("count:Q", format=","), color=ink))
    side = alt.Step(max(min(CELL, WIDTH // max(len(names), 1)), 10))
    return theme.finished(layers, side, side, theme.titled(title, *sentences, width=WIDTH))
