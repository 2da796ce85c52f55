"""Charts that several results share: figures with intervals, lines with bands, a histogram, and ranked bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from ...intervals import Estimate
from ...printable import headline
from ...result import Result
from ..kinds import without_options
from . import theme
from .theme import cut, estimate_text, figure, printable, within

# A few figures of one result, each a point with its interval.


FIGURES_WIDTH, FIGURES_STEP = 320, 32


def figures_chart(estimates: dict[str, Estimate], unit: str, title: str, *sentences: str) -> alt.LayerChart:
    """Draw named figures one below the other on one axis that starts at 0, or at the lowest figure, down to −1.

    Unknown ones show their possible range.
    """
    ends = [end for each in estimates.values() for end in (each.value, each.high) if math.isfinite(end)]
    most = max([*ends, 0.0]) * 1.05 or 1.0
    least = max(min([0.0, *(end for each in estimates.values() if each.known for end in (each.value, each.low))]), -1.0)
    known: list[theme.Row] = []
    unknown: list[theme.Row] = []
    for name, each in estimates.items():
        low, high = within(each, least, most)
        row = {"name": name, "low": low, "high": high, "figure": figure(each.value, ".2f")}
        row["value_text"] = estimate_text(each)
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
        return theme.chart_of(rows).encode(y=y, tooltip=theme.tooltips(name="figure", value_text="value"))

    points = of(known).mark_point(size=60, filled=True, opacity=1, color=theme.COLOURS[0])
    layers: list[Any] = [
        of(known).mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        of(unknown).mark_rule(style="reference", strokeDash=[4, 3]).encode(x=across("low"), x2="high:Q"),
        points.encode(x=across("value")),
        of(known + unknown)
        .mark_text(style="name", align="left")
        .encode(x=alt.value(FIGURES_WIDTH + 8), text="figure:N"),
    ]
    if unknown:
        sentences = (" ".join([*sentences, "Dashed: unknown, somewhere along the line."]),)
    return theme.finished(
        layers, FIGURES_WIDTH, alt.Step(FIGURES_STEP), theme.titled(title, *sentences, width=FIGURES_WIDTH + 140)
    )


@without_options
def default_chart(result: Result) -> alt.LayerChart:
    """Draw the figures of any result with their intervals, under the first sentence of its text."""
    figures = {printable(name): estimate for name, estimate in result.summary().items()}
    return figures_chart(figures, result._unit, printable(headline(str(result))[0]))


# Figures along an axis: lines with bands.


MOST_POINTS = 60
"""With more points than this on a chart, only lines are drawn."""
Line = tuple[dict[Any, Estimate], tuple[float, float]]
"""The figure at each place of the axis, and the least and the most that it can be."""


def lines_chart(
    lines: dict[str, Line],
    place: str,
    x: alt.X,
    y: alt.Y,
    size: tuple[int, int],
    titles: tuple[str, str],
    behind: Sequence[Any] = (),
) -> alt.LayerChart:
    """Draw named figures along an axis (fields `x` and `value`): a line and a band each.

    Lower limits are hollow. `place` is what a place of the axis is called, `behind` are layers behind the lines.
    """
    rows: list[theme.Row] = []
    for label, (estimates, (least, most)) in lines.items():
        for at, estimate in estimates.items():
            low, high = within(estimate, least, most)
            if estimate.known:
                row = {"label": label, "x": at, "value": estimate.value, "low": low, "high": high}
                row |= {"at": f"{at:g}" if isinstance(at, float) else str(at), "value_text": estimate_text(estimate)}
                rows.append({**row, "limit": bool(estimate.prefix)})
    names = list(lines)
    legend = theme.legend_below(names)
    colour, tips = theme.colour(names, legend), theme.tooltips(label="figure", at=place, value_text="value")
    base = theme.chart_of(rows).encode(x=x, color=colour)
    # A lower limit may be far below what it limits: a line to it would look like a fall.
    counted = theme.chart_of([row for row in rows if not row["limit"]]).encode(x=x, color=colour)
    opacity = 1 if len(rows) <= MOST_POINTS else 0
    points = base.mark_point(size=30).encode(
        y=y,
        shape=theme.shape(names, legend),
        # Limits are on no line, so they are always drawn.
        opacity=alt.condition("datum.limit", alt.value(1), alt.value(opacity)),
        fillOpacity=alt.condition("datum.limit", alt.value(0), alt.value(opacity)),
        fill=theme.colour(names, None),
        tooltip=tips,
    )
    layers: list[Any] = [
        base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q"), y2="high:Q"),
        *behind,
        counted.mark_line(strokeWidth=2).encode(y=y),
        points,
    ]
    level = next(estimate.level for estimates, _ in lines.values() for estimate in estimates.values())
    hollow = " Hollow: lower limits, as labelings hardly repeat." if any(row["limit"] for row in rows) else ""
    how = f"{titles[1]} Bands: {level:.0%} intervals.{hollow}"
    return theme.finished(layers, *size, theme.titled(titles[0], how, width=size[0] + 40))


# The distribution of a figure over points.


HISTOGRAM_WIDTH, HISTOGRAM_HEIGHT = 300, 190
BARS = 20


def histogram(
    values: NDArray[np.float64],
    span: tuple[float, float],
    unit: str,
    mean: float,
    title: str,
    *sentences: str,
    times: NDArray[np.integer] | None = None,
    of: str = "points",
) -> alt.LayerChart:
    """Draw bars for the share of points in each twentieth of `span`, and a line at `mean`; `unit` is the axis.

    `times` is how often each value occurs, once by default; `of` is what is counted.
    """
    low, high = span
    edges = np.linspace(low, high, BARS + 1)
    # The last bar includes everything beyond.
    counts = np.histogram(values.clip(low, high), edges, weights=times)[0]
    total = max(int(counts.sum()), 1)
    rows = [
        {
            "from": float(left),
            "to": float(right),
            "none": 0.0,
            "share": count / total,
            "range": f"{figure(float(left))} to {figure(float(right))}",
            "count_text": f"{count:,.0f} of {total:,} ({count / total:.1%})",
        }
        for left, right, count in zip(edges, edges[1:], counts.tolist())
        if count
    ]

    def across(field: str) -> alt.X:
        scale = alt.Scale(domain=[low, high], nice=False, zero=False)
        return alt.X(f"{field}:Q", title=unit, scale=scale, axis=alt.Axis(tickCount=6))

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=f"share of {of}", axis=alt.Axis(format="%", tickCount=5))

    line = theme.chart_of([{"mean": float(np.clip(mean, low, high)), "text": f"mean {figure(mean)}"}])
    layers: list[Any] = [
        theme.chart_of(rows)
        .mark_rect(color=theme.COLOURS[0], opacity=0.75, x2Offset=-0.8)
        .encode(
            x=across("from"),
            x2="to:Q",
            y=up("share"),
            y2="none:Q",
            tooltip=theme.tooltips(range=unit, count_text=of),
        ),
        line.mark_rule(style="reference", strokeDash=[4, 3]).encode(x=across("mean")),
        line.mark_text(style="note", align="center").encode(x=across("mean"), y=alt.value(-7), text="text:N"),
    ]
    return theme.finished(
        layers, HISTOGRAM_WIDTH, HISTOGRAM_HEIGHT, theme.titled(title, *sentences, width=HISTOGRAM_WIDTH + 40)
    )


# Regions of a table as ranked bars: the rate in each with its interval, and a line at the rate of all rows.


BARS_WIDTH, BARS_STEP = 320, 34
LONGEST, LETTER = 52, 6.4
"""Characters of a condition next to its bar, and the width of one in pixels."""


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
    line = theme.chart_of([{"overall": overall.value, "overall_text": f"all: {estimate_text(overall)}"}])
    layers: list[Any] = [
        bars.mark_bar(height=BARS_STEP - 14, color=theme.COLOURS[1], opacity=0.85).encode(
            x=across("none"), x2="value:Q"
        ),
        bars.mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        *(
            bars.mark_tick(style="interval", size=8, thickness=1.4, opacity=1).encode(x=across(end))
            for end in ("low", "high")
        ),
        line.mark_rule(style="reference", strokeDash=[4, 3]).encode(
            x=across("overall"), tooltip=theme.tooltips(overall_text=unit)
        ),
        bars.mark_text(style="name", align="left").encode(x=alt.value(BARS_WIDTH + 8), text="figure:N"),
    ]
    return theme.finished(
        layers, BARS_WIDTH, alt.Step(BARS_STEP), theme.titled(*titles, width=int(BARS_WIDTH + room + 110))
    )


def bar(rank: int, condition: str, rate: Estimate, figure: str) -> theme.Row:
    """The row of a region. The rank distinguishes labels that are the same after cutting."""
    low, high = within(rate, 0.0, 1.0)
    return {
        "label": f"{rank}. {cut(condition, LONGEST)}",
        "condition": printable(condition),
        "value": rate.value,
        "low": low,
        "high": high,
        "figure": figure,
        "rate": estimate_text(rate),
    }


def bar_of_all(label: str, rate: Estimate, figure: str) -> theme.Row:
    """One bar for everything, if no region stands out."""
    low, high = within(rate, 0.0, 1.0)
    ends = {"value": rate.value, "low": low, "high": high}
    return {"label": label, "condition": label, "figure": figure, "rate": estimate_text(rate)} | ends
