"""Slices as a ranked bar: the error rate of each, its interval, and the rate of all rows."""

from __future__ import annotations

from typing import Any

import altair as alt

from ..data.slice import Slice, told_small
from ..data.slices import Slices
from . import theme
from .words import cut, figure, printable, told, within

WIDTH, STEP = 320, 34
LONGEST, LETTER = 52, 6.4
"""Letters of a condition beside its bar, and the width of one in pixels."""


def slices_chart(slices: Slices) -> alt.LayerChart:
    """Draw where errors gather: a bar for each slice, by rank, and a line at the error rate of all rows."""
    overall = slices.error_rate
    rows = [_row(each, slices) for each in slices.slices] or [_all(slices)]
    names = [row["label"] for row in rows]
    most = min(max([*(row["high"] for row in rows), overall.value]) * 1.08, 1.0)
    scale = alt.Scale(domain=[0, most], nice=False)
    room = LETTER * max(map(len, names)) + 10
    y = alt.Y(
        "label:N",
        title=None,
        scale=alt.Scale(domain=names),
        axis=alt.Axis(ticks=False, domain=False, labelLimit=room, labelPadding=6),
    )

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title="share of rows that are wrong", scale=scale, axis=alt.Axis(tickCount=6))

    bars = theme.chart_of(rows).encode(
        y=y,
        tooltip=theme.tooltips(
            condition="slice",
            rate="error rate, rows not searched",
            rest="elsewhere",
            size="rows",
            table="error rate, all rows of it (optimistic)",
            excess="excess errors, at least",
            q="q-value",
            nested="part of",
        ),
    )
    line = theme.chart_of([{"overall": overall.value, "told": f"all rows: {told(overall)}"}])
    layers: list[Any] = [
        bars.mark_bar(height=STEP - 14, color=theme.COLOURS[1], opacity=0.85).encode(x=across("none"), x2="value:Q"),
        bars.mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        *(
            bars.mark_tick(style="interval", size=8, thickness=1.4, opacity=1).encode(x=across(end))
            for end in ("low", "high")
        ),
        line.mark_rule(style="reference", strokeDash=[4, 3]).encode(
            x=across("overall"), tooltip=theme.tooltips(told="error rate")
        ),
        bars.mark_text(style="name", align="left").encode(x=alt.value(WIDTH + 8), text="figure:N"),
    ]
    return theme.finished(
        layers,
        WIDTH,
        alt.Step(STEP),
        theme.titled(*_titles(slices), width=int(WIDTH + room + 110)),
    )


def _titles(slices: Slices) -> tuple[str, str]:
    rate = figure(slices.error_rate.value)
    if not slices.n_errors:
        return "No slice stands out", f"None of {slices.n_rows} rows is wrong."
    if not slices.slices:
        tests = f"{len(slices.tested)} slices were tested, at a false-discovery rate of {slices.q:g}"
        return "No slice stands out", f"Of {slices.n_rows} rows {rate} are wrong; {tests}."
    return "Where errors gather", (
        f"Bar: error rate on rows that were not searched. Thin line: {slices.error_rate.level:.0%} interval. Dashed: "
        f"all rows ({rate}). By rank: excess errors, the lower end of the rate above the rest's, times size."
    )


def _row(one: Slice, slices: Slices) -> theme.Row:
    low, high = within(one.error_rate, 0.0, 1.0)
    holder = next((other for other in slices.slices if other.rank == one.nested_under), None)
    return {
        # The rank keeps labels apart that are the same after cutting.
        "label": f"{one.rank}. {cut(one.condition, LONGEST)}",
        "condition": printable(one.condition),
        "none": 0.0,
        "value": one.error_rate.value,
        "low": low,
        "high": high,
        "figure": f"{one.error_rate.value:.0%}, {one.size} rows" + (f", in {one.nested_under}" if holder else ""),
        "rate": told(one.error_rate),
        "rest": figure(one.rest_rate),
        "size": f"{one.size} ({one.share:.1%} of all)",
        "table": figure(one.table_rate),
        "excess": figure(one.excess_errors),
        "q": told_small(one.q_value).removeprefix("= "),
        "nested": f"{holder.rank}. {printable(holder.condition)}" if holder else "none",
    }


def _all(slices: Slices) -> theme.Row:
    """One bar of all rows, where no slice stands out."""
    rate = slices.error_rate
    low, high = within(rate, 0.0, 1.0)
    about = {"condition": "all rows", "rate": told(rate), "rest": "", "size": f"{slices.n_rows}", "table": ""}
    return about | {
        "label": "all rows",
        "none": 0.0,
        "value": rate.value,
        "low": low,
        "high": high,
        "figure": f"{rate.value:.0%}, {slices.n_rows} rows",
        "excess": "0",
        "q": "none",
        "nested": "none",
    }
