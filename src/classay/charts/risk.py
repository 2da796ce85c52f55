"""Expected cost by the number of classes."""

from __future__ import annotations

from typing import Any

import altair as alt

from ..classes.risk import RiskCurve
from . import sizes, theme
from .curve import HEIGHT, INK, WIDTH
from .words import cut, figure, told


def risk_chart(risk: RiskCurve) -> alt.LayerChart:
    """Draw the expected cost over the number of classes, on a logarithmic axis."""
    last = risk.n_classes
    rows: list[theme.Row] = [
        {
            "k": k,
            "risk": each.value,
            "low": each.low,
            "high": each.high,
            "classes": f"{k:,}",
            "told": told(each),
        }
        for k in sizes.drawn(1, last)
        for each in [risk.at(k)]
    ]
    ends = [0.0, *(row[end] for row in rows for end in ("low", "high"))]
    scale = alt.Scale(domain=[min(ends), max(ends) or 1.0])
    base = theme.chart_of(rows).encode(x=sizes.across("k", last, WIDTH))

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="expected cost", scale=scale, axis=alt.Axis(tickCount=6))

    layers: list[Any] = [
        base.mark_area(color=INK, opacity=0.22).encode(y=up("low"), y2="high:Q"),
        base.mark_line(color=INK, strokeWidth=2).encode(
            y=up("risk"), tooltip=theme.tooltips(classes="classes", told="cost")
        ),
    ]
    return theme.finished(
        layers,
        WIDTH,
        HEIGHT,
        theme.titled(
            f"{cut(risk.name)}: an expected cost of {figure(float(risk.risk[-1]))} among {last:,} classes",
            "Line: cost of an answer on average over all sets of k of the classes. Band: "
            f"{risk.level:.0%} interval over classes.",
            width=WIDTH + 40,
        ),
    )
