"""What several charts are made of: figures with intervals, lines with bands, histograms, heat maps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from ...intervals import Estimate
from ...printable import headline
from ...result import Result
from . import theme
from .panel import DASHED, Panel, names, numbers
from .theme import Row, figure, interval, printable

# A few figures, one below the other, each a point with its interval.


FIGURES_WIDTH, FIGURES_STEP = 320, 32


def by_name(
    labels: Sequence[str],
    unit: str,
    ends: Sequence[float],
    field: str = "label",
    size: tuple[int, int] = (FIGURES_WIDTH, FIGURES_STEP),
    **axis: Any,
) -> Panel:
    """A panel with a line for each label and one axis of numbers; `size` is its width and the height of a line."""
    return Panel(numbers(unit, ends), names(labels, field, **axis), size[0], alt.Step(size[1]))


def written(panel: Panel, rows: Sequence[Row], tooltip: Mapping[str, str]) -> alt.Chart:
    """The `figure` of each line, right of the panel."""
    right: Any = panel.width
    return panel.mark("text", rows, tooltip, style="name", align="left", x=right + 8, text="figure")


def capped(panel: Panel, rows: Sequence[Row], tooltip: Mapping[str, str]) -> list[alt.Chart]:
    """The interval of each line, with its ends."""
    ends = (panel.mark("tick", rows, tooltip, style="interval", size=8, thickness=1.4, opacity=1, x=end)
            for end in ("low", "high"))  # fmt: skip
    return [panel.mark("rule", rows, tooltip, style="interval", x="low", x2="high"), *ends]


def figures_chart(estimates: dict[str, Estimate], unit: str, title: str, *sentences: str) -> alt.LayerChart:
    """Draw named figures one below the other on one axis that starts at 0, or at the lowest figure, down to −1.

    Unknown ones show their possible range.
    """
    finite = [end for each in estimates.values() for end in (each.value, each.high) if math.isfinite(end)]
    most = max([*finite, 0.0]) * 1.05 or 1.0
    least = max(min([0.0, *(end for each in estimates.values() if each.known for end in (each.value, each.low))]), -1.0)
    rows: list[Row] = [
        {"name": name, "figure": figure(each.value, ".2f"), **interval(each, least, most)}
        for name, each in estimates.items()
    ]
    known, unknown = [row for row in rows if "value" in row], [row for row in rows if "value" not in row]
    panel = by_name(list(estimates), unit, (least, most), "name")
    tips = {"name": "figure", "value_text": "value"}
    layers = [
        panel.mark("rule", known, tips, style="interval", x="low", x2="high"),
        panel.mark("rule", unknown, tips, style="reference", strokeDash=DASHED, x="low", x2="high"),
        panel.mark("point", known, tips, size=60, color=theme.COLOURS[0], x="value"),
        written(panel, known + unknown, tips),
    ]
    if unknown:
        sentences = (" ".join([*sentences, "Dashed: unknown, somewhere along the line."]),)
    return panel.drawn(layers, title, *sentences, wrap=FIGURES_WIDTH + 140)


def default_chart(result: Result) -> alt.LayerChart:
    """Draw the figures of any result with their intervals, under the first sentence of its text."""
    figures = {printable(name): estimate for name, estimate in result.summary().items()}
    return figures_chart(figures, result._unit, printable(headline(str(result))[0]))


# Figures along an axis: lines with bands.


MOST_POINTS = 60
"""With more points than this on a chart, only lines are drawn."""
Line = tuple[dict[Any, Estimate], tuple[float, float]]
"""The figure at each place of the axis, and the least and the most that it can be."""


def line_with_band(
    panel: Panel, rows: Sequence[Row], tooltip: Mapping[str, str] | None = None, band: float = 0.22, **looks: Any
) -> list[alt.Chart]:
    """A line along the values, and behind it a band from `low` to `high`, which has this opacity."""
    value = panel.y["field"]
    return [
        panel.mark(
            "area", [row for row in rows if row.get("low") is not None], y="low", y2="high", opacity=band, **looks
        ),
        panel.mark("line", [row for row in rows if row.get(value) is not None], tooltip, strokeWidth=2, **looks),
    ]


def lines_chart(
    lines: dict[str, Line], place: str, panel: Panel, titles: tuple[str, str], behind: Sequence[Any] = ()
) -> alt.LayerChart:
    """Draw named figures along an axis (fields `x` and `value`): a line and a band each.

    Lower limits are hollow. `place` is what a place of the axis is called, `behind` are layers behind the lines.
    """
    rows: list[Row] = [
        {"label": label, "x": at, "at": f"{at:g}" if isinstance(at, float) else str(at), "limit": bool(each.prefix)}
        | interval(each, *ends)
        for label, (estimates, ends) in lines.items()
        for at, each in estimates.items()
        if each.known
    ]
    legend = theme.legend_below(list(lines))
    colour, opacity = theme.colour(list(lines), legend), 1 if len(rows) <= MOST_POINTS else 0
    layers = [
        panel.mark("area", rows, y="low", y2="high", opacity=0.18, color=colour),
        *behind,
        # A lower limit may be far below what it limits: a line to it would look like a fall.
        panel.mark("line", [row for row in rows if not row["limit"]], strokeWidth=2, color=colour),
        panel.mark(
            "point",
            rows,
            {"label": "figure", "at": place, "value_text": "value"},
            size=30,
            filled=False,
            color=colour,
            shape=theme.shape(list(lines), legend),
            fill=theme.colour(list(lines), None),
            # Limits are on no line, so they are always drawn.
            opacity=alt.condition("datum.limit", alt.value(1), alt.value(opacity)),
            fillOpacity=alt.condition("datum.limit", alt.value(0), alt.value(opacity)),
        ),
    ]
    level = next(estimate.level for estimates, _ in lines.values() for estimate in estimates.values())
    hollow = " Hollow: lower limits, as labelings hardly repeat." if any(row["limit"] for row in rows) else ""
    return panel.drawn(layers, titles[0], f"{titles[1]} Bands: {level:.0%} intervals.{hollow}")


# The distribution of a figure over points.


HISTOGRAM_SIZE, BARS = (300, 190), 20


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
    rows: list[Row] = [
        {"from": left, "to": right, "none": 0.0, "share": count / total, "range": f"{figure(left)} to {figure(right)}"}
        | {"count_text": f"{count:,.0f} of {total:,} ({count / total:.1%})"}
        for left, right, count in zip(edges.tolist(), edges[1:].tolist(), counts.tolist())
        if count
    ]
    panel = Panel(numbers(unit, span), numbers(f"share of {of}", format="%", tickCount=5), *HISTOGRAM_SIZE)
    tips, middle = {"range": unit, "count_text": of}, float(np.clip(mean, low, high))
    bars = {"x": "from", "x2": "to", "y": "share", "y2": "none", "x2Offset": -0.8}
    layers = [
        panel.mark("rect", rows, tips, color=theme.COLOURS[0], opacity=0.75, **bars),
        *panel.border(middle, f"mean {figure(mean)}", "center", style="reference", strokeDash=DASHED),
    ]
    return panel.drawn(layers, title, *sentences)


def histogram_from_zero(values: NDArray[np.float64], unit: str, title: str, sentence: str) -> alt.LayerChart:
    """A histogram of figures from 0 up, whose last bar includes the highest hundredth."""
    most = float(np.quantile(values, 0.99)) or 1.0
    return histogram(values, (0.0, most * 1.05), unit, float(values.mean()), title, sentence)


# Figures of pairs as coloured cells.


SHADES = ["#f1f5f9", "#9fbfdc", "#3d7ab5", "#08306b"]
LETTER = 6.4
"""Width of a character of a label, in pixels."""
MOST_VALUES = 14
"""With more names than this, values are in tooltips only."""


def heat_map(
    cells: Sequence[Row],
    across: Sequence[str],
    ends: tuple[float, float],
    tooltip: dict[str, str],
    title: str,
    *sentences: str,
    down: Sequence[str] = (),
    axes: tuple[str | None, str | None] = (None, None),
    legend: str | None = "",
    largest: int = 54,
    most_values: int = MOST_VALUES,
) -> alt.LayerChart:
    """Draw cells (`down`, `across`, `value`, `text`), shaded from one end to the other, with their texts.

    `across` and `down` are the names along both axes, by default the same. Cells without a value are grey, `doubtful`
    ones in italics. `axes` are the titles of both axes, `legend` is the format of the legend (None for none), `largest`
    the width of a cell.
    """
    down = down or across
    step = min(largest, max(14, 440 // max(len(across), len(down))))
    angle = 0 if max(map(len, across)) * LETTER + 4 < step else -40
    panel = Panel(
        names(across, "across", axes[0], labelAngle=angle), names(down, "down", axes[1]), alt.Step(step), alt.Step(step)
    )
    fill = alt.Color(
        "value:Q",
        scale=alt.Scale(domain=list(ends), range=SHADES),
        legend=legend
        if legend is None
        else alt.Legend(
            title=None, format=legend or alt.Undefined, gradientLength=min(step * len(down), 180), tickCount=5
        ),
    )
    shaded = [cell for cell in cells if cell["value"] is not None]
    grey = [cell for cell in cells if cell["value"] is None]
    edge = {"stroke": "white", "strokeWidth": 1}
    layers = [panel.mark("rect", grey, tooltip, style="faint", opacity=0.6, **edge)] if grey else []
    layers += [panel.mark("rect", shaded, tooltip, color=fill, **edge)] if shaded else []
    if max(len(across), len(down)) <= most_values:
        # The text colour is fixed because the cells below it are, on a dark page too.
        dark = f"datum.value > {ends[0] + 0.55 * (ends[1] - ends[0])}"
        for doubtful, style, ink in ((False, "normal", "#1f2933"), (True, "italic", "#5c6773")):
            some = [cell for cell in shaded if cell.get("doubtful", False) is doubtful]
            colour = alt.condition(dark, alt.value("white"), alt.value(ink))
            if some:
                layers.append(panel.mark("text", some, fontSize=11, fontStyle=style, text="text", color=colour))
        layers += [panel.mark("text", grey, style="note", text="text")] if grey else []
    return panel.drawn(layers, title, *sentences, wrap=max(step * len(across) + 120, 380))
