"""How a figure is spread over points."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from . import theme
from .words import figure

WIDTH, HEIGHT = 300, 190
BARS = 20


def histogram(
    values: NDArray[np.float64], span: tuple[float, float], unit: str, mean: float, title: str, *sentences: str
) -> alt.LayerChart:
    """Draw bars for the share of points in each twentieth of `span`, and a line at `mean`; `unit` is the axis."""
    low, high = span
    edges = np.linspace(low, high, BARS + 1)
    # The last bar takes all that is beyond.
    counts = np.histogram(values.clip(low, high), edges)[0]
    rows = [
        {
            "from": float(left),
            "to": float(right),
            "none": 0.0,
            "share": count / values.size,
            "range": f"{figure(float(left))} to {figure(float(right))}",
            "told": f"{count:,} of {values.size:,} ({count / values.size:.1%})",
        }
        for left, right, count in zip(edges, edges[1:], counts.tolist())
        if count
    ]

    def across(field: str) -> alt.X:
        scale = alt.Scale(domain=[low, high], nice=False, zero=False)
        return alt.X(f"{field}:Q", title=unit, scale=scale, axis=alt.Axis(tickCount=6))

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="share of points", axis=alt.Axis(format="%", tickCount=5))

    line = theme.chart_of([{"mean": float(np.clip(mean, low, high)), "text": f"mean {figure(mean)}"}])
    layers: list[Any] = [
        theme.chart_of(rows)
        .mark_rect(color=theme.COLOURS[0], opacity=0.75, x2Offset=-0.8)
        .encode(
            x=across("from"),
            x2="to:Q",
            y=up("share"),
            y2="none:Q",
            tooltip=theme.tooltips(range=unit, told="points"),
        ),
        line.mark_rule(style="reference", strokeDash=[4, 3]).encode(x=across("mean")),
        line.mark_text(style="note", align="center").encode(x=across("mean"), y=alt.value(-7), text="text:N"),
    ]
    return theme.finished(layers, WIDTH, HEIGHT, theme.titled(title, *sentences, width=WIDTH + 40))
