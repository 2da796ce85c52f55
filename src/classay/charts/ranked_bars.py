"""Regions of a table as ranked bars: the rate in each, its interval, and the rate of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from ..intervals import Estimate
from . import theme
from .words import cut, printable, told, within

WIDTH, STEP = 320, 34
LONGEST, LETTER = 52, 6.4
"""Letters of a condition beside its bar, and the width of one in pixels."""


def ranked_bars(
    rows: Sequence[theme.Row],
    overall: Estimate,
    unit: str,
    tooltips: dict[str, str],
    titles: tuple[str, str],
) -> alt.LayerChart:
    """Draw a bar for each row (label, value, low, high, figure) and a line at the overall rate; `unit` is the axis."""
    names = [row["label"] for row in rows]
    most = min(max([*(row["high"] for row in rows), overall.value]) * 1.08, 1.0) or 1.0
    scale = alt.Scale(domain=[0, most], nice=False)
    room = LETTER * max(map(len, names)) + 10
    y = alt.Y(
        "label:N",
        title=None,
        scale=alt.Scale(domain=names),
        axis=alt.Axis(ticks=False, domain=False, labelLimit=room, labelPadding=6),
    )

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=unit, scale=scale, axis=alt.Axis(tickCount=6))

    bars = theme.chart_of([{"none": 0.0, **row} for row in rows]).encode(y=y, tooltip=theme.tooltips(**tooltips))
    line = theme.chart_of([{"overall": overall.value, "told": f"all: {told(overall)}"}])
    layers: list[Any] = [
        bars.mark_bar(height=STEP - 14, color=theme.COLOURS[1], opacity=0.85).encode(x=across("none"), x2="value:Q"),
        bars.mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        *(
            bars.mark_tick(style="interval", size=8, thickness=1.4, opacity=1).encode(x=across(end))
            for end in ("low", "high")
        ),
        line.mark_rule(style="reference", strokeDash=[4, 3]).encode(
            x=across("overall"), tooltip=theme.tooltips(told=unit)
        ),
        bars.mark_text(style="name", align="left").encode(x=alt.value(WIDTH + 8), text="figure:N"),
    ]
    return theme.finished(layers, WIDTH, alt.Step(STEP), theme.titled(*titles, width=int(WIDTH + room + 110)))


def bar(rank: int, condition: str, rate: Estimate, figure: str) -> theme.Row:
    """The row of a region. The rank keeps labels apart that are the same after cutting."""
    low, high = within(rate, 0.0, 1.0)
    return {
        "label": f"{rank}. {cut(condition, LONGEST)}",
        "condition": printable(condition),
        "value": rate.value,
        "low": low,
        "high": high,
        "figure": figure,
        "rate": told(rate),
    }


def bar_of_all(label: str, rate: Estimate, figure: str) -> theme.Row:
    """One bar of everything, where no region stands out."""
    low, high = within(rate, 0.0, 1.0)
    ends = {"value": rate.value, "low": low, "high": high}
    return {"label": label, "condition": label, "figure": figure, "rate": told(rate)} | ends
