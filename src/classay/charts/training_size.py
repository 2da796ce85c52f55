"""Stability, kappa and accuracy against the number of training rows."""

from __future__ import annotations

from typing import Any

import altair as alt

from ..learner.training_size import FIGURES, StabilityBySize
from . import theme
from .words import cut, told, within

WIDTH, HEIGHT = 400, 280


def stability_by_size_chart(found: StabilityBySize) -> alt.LayerChart:
    """Draw each figure as a line over training rows, on a logarithmic axis, with its interval as a band."""
    rows: list[theme.Row] = []
    for name in FIGURES:
        for size, estimate in zip(found.sizes, getattr(found, name)):
            low, high = within(estimate, 0.0, 1.0)
            value = estimate.value if estimate.known else None
            rows.append({"label": name, "size": size, "value": value, "low": low, "high": high, "told": told(estimate)})
    least = min(row["low"] for row in rows if row["value"] is not None)

    def across(field: str) -> alt.X:
        scale = alt.Scale(type="log", domain=[found.sizes[0] * 0.93, found.sizes[-1] * 1.07], nice=False)
        axis = alt.Axis(values=list(found.sizes), format=",d", labelOverlap=True)
        return alt.X(f"{field}:Q", title="training rows (logarithmic)", scale=scale, axis=axis)

    def up(field: str) -> alt.Y:
        scale = alt.Scale(domain=[max(min(least, 1.0) - 0.03, 0.0), 1.0], nice=False, zero=False)
        return alt.Y(f"{field}:Q", title="agreement, accuracy", scale=scale, axis=alt.Axis(tickCount=6))

    known = theme.chart_of([row for row in rows if row["value"] is not None])
    names, legend = list(FIGURES), theme.legend_below(FIGURES)
    colour = theme.colour(names, legend)
    layers: list[Any] = [
        known.mark_area(opacity=0.15, clip=True).encode(x=across("size"), y=up("low"), y2="high:Q", color=colour),
        known.mark_line(strokeWidth=2).encode(x=across("size"), y=up("value"), color=colour),
        known.mark_point(size=55, filled=True, opacity=1).encode(
            x=across("size"),
            y=up("value"),
            color=colour,
            shape=theme.shape(names, legend),
            tooltip=theme.tooltips(label="figure", size="training rows", told="value"),
        ),
    ]
    level = found.stability[0].level
    return theme.finished(
        layers,
        WIDTH,
        HEIGHT,
        theme.titled(
            f"{cut(found.learner)}: what more rows bring",
            f"Two refits on disjoint subsets of as many rows, compared on {found.n_points:,} {cut(found.on)}. Bands: "
            f"{level:.0%} intervals.",
            width=WIDTH + 40,
        ),
    )
