"""A few figures of one result, each a point with its interval."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from ..intervals import Estimate
from . import theme
from .words import figure, told, within

WIDTH, STEP = 320, 32


def figures_chart(estimates: dict[str, Estimate], unit: str, title: str, *sentences: str) -> alt.LayerChart:
    """Draw named figures beneath each other on one axis that starts at 0, or below where a figure is, down to −1.

    Unknown ones show what is known.
    """
    ends = [end for each in estimates.values() for end in (each.value, each.high) if math.isfinite(end)]
    most = max([*ends, 0.0]) * 1.05 or 1.0
    least = max(min([0.0, *(end for each in estimates.values() if each.known for end in (each.value, each.low))]), -1.0)
    known: list[theme.Row] = []
    unknown: list[theme.Row] = []
    for name, each in estimates.items():
        low, high = within(each, least, most)
        row = {"name": name, "low": low, "high": high, "figure": figure(each.value, ".2f"), "told": told(each)}
        if each.known:
            known.append(row | {"value": max(each.value, least)})
        else:
            unknown.append(row)
    scale = alt.Scale(domain=[least, most], nice=False)
    y = alt.Y(
        "name:N",
        title=None,
        scale=alt.Scale(domain=list(estimates)),
        axis=alt.Axis(ticks=False, domain=False),
    )

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=scale, title=unit, axis=alt.Axis(tickCount=6))

    def of(rows: list[theme.Row]) -> alt.Chart:
        return theme.chart_of(rows).encode(y=y, tooltip=theme.tooltips(name="figure", told="value"))

    points = of(known).mark_point(size=60, filled=True, opacity=1, color=theme.COLOURS[0])
    layers: list[Any] = [
        of(known).mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        of(unknown).mark_rule(style="reference", strokeDash=[4, 3]).encode(x=across("low"), x2="high:Q"),
        points.encode(x=across("value")),
        of(known + unknown).mark_text(style="name", align="left").encode(x=alt.value(WIDTH + 8), text="figure:N"),
    ]
    if unknown:
        sentences = (" ".join([*sentences, "Dashed: unknown, somewhere along the line."]),)
    return theme.finished(layers, WIDTH, alt.Step(STEP), theme.titled(title, *sentences, width=WIDTH + 140))
