"""The style of all charts: colours of learners, titles, tooltips, legends, and names and numbers as text.

Lines and texts take their colour from the configuration and not from the marks, so that `styled(chart, dark=True)`
fits a finished chart to a dark page.
"""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, get_args

import altair as alt

from ...intervals import Estimate

ChartT = TypeVar("ChartT", bound=alt.TopLevelMixin)
Row = dict[str, Any]

WIDTH, HEIGHT = 420, 280
FONT = "Helvetica, Arial, sans-serif"
LETTER = 5.5
"""Width of a character of a subtitle, in pixels, rounded up."""

# Okabe and Ito's colours, which colour-blind readers can distinguish too; without yellow, which is lost on white,
# and with a violet and a grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C5B9F", "#7F7F7F")
Shape = Literal["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
DASHES = ([1, 0], [6, 3], [2, 2])

SIGNED = "datum.value == 0 ? '0' : format(datum.value, '+.1~f')"
"""An expression for ticks with a sign, as on a bias axis."""


def styled(chart: ChartT, *, dark: bool = False) -> ChartT:
    """The chart in the house style, for a white page or a dark one. A chart may be styled again."""
    return _with_config(chart, alt.Config(**house_style(dark)))


def beside(*charts: alt.TopLevelMixin) -> alt.HConcatChart:
    """Finished charts side by side. Altair takes the style of the whole, not of the parts."""
    parts: list[Any] = [_with_config(chart, alt.Undefined) for chart in charts]
    row: alt.HConcatChart = alt.hconcat(*parts, spacing=40).resolve_scale(
        color="independent", shape="independent", opacity="independent"
    )
    return styled(row)


def below(*charts: alt.TopLevelMixin) -> alt.VConcatChart:
    parts: list[Any] = [_with_config(chart, alt.Undefined) for chart in charts]
    column: alt.VConcatChart = alt.vconcat(*parts, spacing=24)
    return styled(column)


def titled(title: str, *sentences: str, width: int = WIDTH) -> alt.TitleParams:
    """A title that says what the chart shows, and below it, wrapped to the chart's width, how to read it."""
    room = max(int(width / LETTER), 40)
    return alt.TitleParams(
        textwrap.wrap(title, int(room * 0.8)),
        subtitle=[line for sentence in sentences for line in textwrap.wrap(sentence, room)],
    )


def tooltips(**titles: str) -> list[alt.Tooltip]:
    """Tooltips of text fields, each with its title."""
    return [alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]


def colour(labels: Sequence[str], legend: alt.Legend | None) -> alt.Color:
    """The colour of each learner, by order of appearance; the field is `label`."""
    return alt.Color("label:N", scale=_scale(labels, COLOURS), legend=legend)


def shape(labels: Sequence[str], legend: alt.Legend | None) -> alt.Shape:
    """The shape of each learner's points. Colours and shapes together repeat only after 56 learners."""
    return alt.Shape("label:N", scale=_scale(labels, SHAPES), legend=legend)


def dash(labels: Sequence[str], legend: alt.Legend | None) -> alt.StrokeDash:
    """The dashes of each learner's line: none for the first eight, so that a colour used twice can be distinguished."""
    dashes = [DASHES[place // len(COLOURS) % len(DASHES)] for place in range(len(labels))]
    return alt.StrokeDash("label:N", scale=alt.Scale(domain=list(labels), range=dashes), legend=legend)


def legend_below(labels: Sequence[str], *, lines: bool = False) -> alt.Legend | None:
    """A legend of learners, of their points or lines, below the chart; none for a single one, which the title names."""
    if len(labels) < 2:
        return None
    columns = 3 if max(map(len, labels)) < 18 else 2
    legend = alt.Legend(title=None, orient="bottom", columns=columns, symbolOpacity=1)
    if lines:
        legend.symbolType, legend.symbolStrokeWidth, legend.symbolSize = "stroke", 2, 220
    return legend


def _with_config(chart: ChartT, config: Any) -> ChartT:
    copied: Any = chart
    copied = copied.copy(deep=False)
    copied.config = config
    done: ChartT = copied
    return done


def _scale(labels: Sequence[str], values: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(labels), range=[values[place % len(values)] for place in range(len(labels))])


def house_style(dark: bool = False) -> dict[str, Any]:
    """Vega-Lite's configuration. The charts refer to the `style` entries by name."""
    ink, soft, faint, wash = (
        ("#e6e9ee", "#aab3bf", "#4a5462", "#2a313b") if dark else ("#2b333d", "#5c6773", "#c9d0d8", "#eef1f4")
    )
    return {
        "background": "transparent" if dark else "white",
        "font": FONT,
        "padding": 12,
        "view": {"stroke": None},
        "title": {
            "anchor": "start",
            "frame": "bounds",
            "fontSize": 15,
            "color": ink,
            "subtitleFontSize": 11.5,
            "subtitleColor": soft,
            "subtitleLineHeight": 15,
            "subtitlePadding": 5,
            "offset": 16,
        },
        "axis": {
            "labelColor": soft,
            "titleColor": soft,
            "labelFontSize": 11,
            "titleFontSize": 11.5,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "labelLimit": 230,
            "labelFlush": False,
            "grid": False,
            "domainColor": faint,
            "tickColor": faint,
            "tickSize": 4,
        },
        "legend": {
            "labelColor": ink,
            "titleColor": soft,
            "labelFontSize": 11.5,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "labelLimit": 230,
            "columnPadding": 18,
            "rowPadding": 4,
        },
        "style": {
            "possible": {"color": wash},
            "reference": {"color": soft, "strokeWidth": 1},
            "faint": {"color": faint, "strokeWidth": 1.2},
            "lead": {"color": soft, "strokeWidth": 0.6},
            "interval": {"color": ink, "strokeWidth": 1.4},
            "unknown": {"color": wash, "stroke": soft, "strokeDash": [4, 3]},
            "note": {"color": soft, "fontSize": 11},
            "name": {"color": ink, "fontSize": 11.5},
        },
    }


# Names and numbers as text.
#
# Names come from users and may contain anything. They reach a chart only as values of data, domains of scales and
# plain titles, never as field names or expressions.


LONGEST = 32
"""Most columns of a label; the tooltip has the whole name."""


def printable(name: str) -> str:
    """The name without control characters, which neither SVG nor JSON readers accept, on one line."""
    # The joiner is not printable by itself, but emoji use it.
    cleaned = "".join(letter if letter.isprintable() or letter == "\u200d" else " " for letter in str(name))
    return " ".join(cleaned.split()) or "(no name)"


def columns(text: str) -> int:
    """How wide a text is, in characters: Chinese characters and emoji take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def cut(name: str, longest: int = LONGEST) -> str:
    """The name, or its beginning and an ellipsis."""
    text = printable(name)
    if columns(text) <= longest:
        return text
    kept = ""
    for letter in text:
        if columns(kept + letter) > longest - 1:
            break
        kept += letter
    return kept.rstrip() + "…"


def labels(names: Sequence[str]) -> list[str]:
    """A short label for each learner, all different."""
    unique: list[str] = []
    for name in names:
        label, number = cut(name), 2
        while label in unique:
            label, number = f"{cut(name, LONGEST - 5)} ({number})", number + 1
        unique.append(label)
    return unique


def figure(value: float, spec: str = ".3g") -> str:
    """A number, or "unknown"."""
    return f"{value:{spec}}".replace("-", "−") if math.isfinite(value) else "unknown"


def estimate_text(estimate: Estimate, spec: str = ".3g") -> str:
    """An estimate with its interval, such as "1.5, 95% interval 1.32 to 1.67 (over holdouts)"."""
    ends = f"{figure(estimate.low, spec)} to {figure(estimate.high, spec)}"
    kind = f" ({estimate.kind})" if estimate.kind else ""
    if estimate.between:
        return f"between {ends.replace(' to ', ' and ')}, {estimate.level:.0%} interval"
    return f"{estimate.prefix}{figure(estimate.value, spec)}, {estimate.level:.0%} interval {ends}{kind}"


def within(estimate: Estimate, least: float, most: float) -> tuple[float, float]:
    """The ends of an interval as they can be drawn: finite, and within what is possible."""
    low = least if math.isnan(estimate.low) else estimate.low
    high = most if math.isnan(estimate.high) else estimate.high
    return min(max(low, least), most), max(min(high, most), least)


def interval(estimate: Estimate, least: float, most: float, spec: str = ".3g") -> Row:
    """The fields of an estimate as it is drawn, within what is possible: low, high, value_text, and value if known."""
    low, high = within(estimate, least, most)
    value = {"value": min(max(estimate.value, least), most)} if estimate.known else {}
    return value | {"low": low, "high": high, "value_text": estimate_text(estimate, spec)}
