"""Accuracy by the number of classes: what was observed, what is expected with more, and guessing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any

import altair as alt
import numpy as np

from ...classes.curve.curve import Curve
from ...classes.curve.retrain import Retrained
from ...classes.curve.risk import RiskCurve
from ...intervals import Estimate
from ..kinds import without_options
from ..style import theme
from ..style.parts import figures_chart
from ..style.placement import Align
from ..style.theme import cut, estimate_text, figure, within

WIDTH, HEIGHT = 460, 300
INK = theme.COLOURS[0]
OBSERVED, AHEAD, CHANCE = "observed", "extrapolated", "guessing"
LINES = {OBSERVED: (INK, [1, 0]), AHEAD: (INK, [6, 4]), CHANCE: (theme.COLOURS[-1], [2, 2])}
AGAIN = "refitted on fewer classes"
POINTS: tuple[tuple[str, theme.Shape], ...] = ((theme.COLOURS[1], "square"), (theme.COLOURS[4], "triangle-up"))
AGAIN_POINT: tuple[str, theme.Shape] = (theme.COLOURS[2], "diamond")
Across = Callable[[str], alt.X]


@without_options
def curve_chart(curve: Curve) -> alt.LayerChart:
    """Draw accuracy over the number of classes, on a logarithmic axis."""
    most = curve.n_classes
    title = f"{cut(curve.ranks.name)}: {figure(curve.accuracy[-1], '.0%')} right among {most:,} classes"
    return curve_layers(curve, title, how_to_read(curve))


@without_options
def retrained_chart(retrained: Retrained) -> alt.LayerChart:
    """Draw the accuracy of a learner refitted on fewer classes, with its interval."""
    return figures_chart(
        {f"{retrained.k:,} classes": retrained.accuracy},
        "accuracy",
        "Accuracy when refitted on fewer classes",
        f"Point: the mean over {retrained.draws.size} random label sets. "
        f"Line: {retrained.accuracy.level:.0%} interval.",
    )


def curve_layers(
    curve: Curve,
    title: str,
    *sentences: str,
    path: Sequence[tuple[int, Estimate]] = (),
    asked: Sequence[tuple[int, Estimate]] = (),
    points: Sequence[theme.Row] = (),
    borders: Mapping[str, float] | None = None,
    what: str = "classes",
) -> alt.LayerChart:
    """Draw a curve, the `path` beyond it dashed, `points` (rows of `what` and `at`), and vertical lines by name."""
    last = curve.n_classes
    most = max([last, *(k for k, _ in (*path, *asked))])

    def across(field: str) -> alt.X:
        return classes_axis(field, most, WIDTH, what)

    ahead = [*joined(curve, path), *path]
    lines = [
        *({"what": OBSERVED, **at(k, curve.at(k))} for k in drawn_sizes(1, last)),
        *({"what": AHEAD, **at(k, each)} for k, each in ahead),
        *({"what": CHANCE, **at(k, Estimate(1 / k, 1 / k, 1 / k))} for k in drawn_sizes(1, most)),
    ]
    again = [{"what": AGAIN, **at(one.k, one.accuracy)} for one in curve.retrained]
    layers: list[Any] = [
        theme.chart_of([row for row in lines if row["what"] == part])
        .mark_area(color=INK, opacity=opacity, interpolate="monotone")
        .encode(x=across("k"), y=up("low"), y2="high:Q")
        for part, opacity in ((OBSERVED, 0.22), (AHEAD, 0.12))
    ]
    layers += _borders({name: k for name, k in (borders or {}).items() if k <= most}, across)
    layers.append(_lines([row for row in lines if row["accuracy"] is not None], across))
    layers += _marks([*points, *again], across)
    layers += _asked([(k, each) for k, each in asked if each.known], across)
    chart = theme.finished(layers, WIDTH, HEIGHT, theme.titled(title, *sentences, width=WIDTH + 40))
    # Lines and points each have their own legend.
    apart: alt.LayerChart = chart.resolve_scale(color="independent", shape="independent", strokeDash="independent")
    return apart


def joined(curve: Curve, path: Sequence[tuple[int, Estimate]]) -> list[tuple[int, Estimate]]:
    """The end of the curve, where a path beyond it begins; nothing if the path begins above it, as a forecast may."""
    last = curve.n_classes
    begins_above = bool(path) and path[0][1].known and path[0][1].value > curve.accuracy[-1]
    return [] if begins_above or not path else [(last, curve.at(last))]


def how_to_read(curve: Curve) -> str:
    """What the line and the band mean."""
    return (
        "Line: accuracy on average over all sets of k of the classes. Band: "
        f"{curve.level:.0%} interval over classes: what another random sample of classes could give."
    )


def up(field: str) -> alt.Y:
    """The axis of accuracy."""
    axis = alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return alt.Y(f"{field}:Q", title="accuracy", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)


def at(k: int, accuracy: Estimate) -> theme.Row:
    """A row of a curve. Without a value it has only its interval."""
    low, high = within(accuracy, 0.0, 1.0)
    value = min(max(accuracy.value, 0.0), 1.0) if accuracy.known else None
    row = {"k": k, "accuracy": value, "low": low, "high": high}
    return row | {"classes": f"{k:,}", "value_text": estimate_text(accuracy)}


def _lines(rows: list[theme.Row], across: Across) -> alt.Chart:
    used = [what for what in LINES if any(row["what"] == what for row in rows)]
    legend = theme.legend_below([*used, ""], lines=True)
    tooltips = theme.tooltips(what="line", classes="classes", value_text="accuracy")
    chart: alt.Chart = (
        theme.chart_of(rows)
        .mark_line(strokeWidth=2, interpolate="monotone")
        .encode(
            x=across("k"),
            y=up("accuracy"),
            color=alt.Color(
                "what:N", scale=alt.Scale(domain=used, range=[LINES[what][0] for what in used]), legend=legend
            ),
            strokeDash=alt.StrokeDash(
                "what:N", scale=alt.Scale(domain=used, range=[LINES[what][1] for what in used]), legend=legend
            ),
            tooltip=tooltips,
        )
    )
    return chart


def _borders(named: Mapping[str, float], across: Across) -> list[Any]:
    """Vertical lines with their names above: the first left of its line, the others right of theirs."""
    layers: list[Any] = []
    for place, (name, k) in enumerate(sorted(named.items(), key=lambda pair: pair[1])):
        line = theme.chart_of([{"k": k, "text": name}])
        align: Align = "left" if place else "right"
        layers += [
            line.mark_rule(style="faint").encode(x=across("k")),
            line.mark_text(style="note", align=align, dx=-3 if align == "right" else 3).encode(
                x=across("k"), y=alt.value(-8), text="text:N"
            ),
        ]
    return layers


def _marks(rows: list[theme.Row], across: Across) -> list[Any]:
    if not rows:
        return []
    used = list(dict.fromkeys(row["what"] for row in rows))
    looks = dict(zip([name for name in used if name != AGAIN], cycle(POINTS))) | {AGAIN: AGAIN_POINT}
    legend = theme.legend_below([*used, ""])
    colours = alt.Scale(domain=used, range=[looks[name][0] for name in used])
    shapes = alt.Scale(domain=used, range=[looks[name][1] for name in used])
    base = theme.chart_of(rows).encode(x=across("k"))
    tooltips = theme.tooltips(what="point", classes="classes", value_text="accuracy")
    return [
        base.mark_rule(strokeWidth=1.5).encode(
            y=up("low"), y2="high:Q", color=alt.Color("what:N", scale=colours, legend=None)
        ),
        base.mark_point(size=55, filled=True, opacity=1).encode(
            y=up("accuracy"),
            color=alt.Color("what:N", scale=colours, legend=legend),
            shape=alt.Shape("what:N", scale=shapes, legend=legend),
            tooltip=tooltips,
        ),
    ]


def _asked(ahead: Sequence[tuple[int, Estimate]], across: Across) -> list[Any]:
    """The requested sizes, with their figures."""
    rows = [{**at(k, each), "text": f"{each.value:.0%}"} for k, each in ahead]
    if not rows:
        return []
    base = theme.chart_of(rows).encode(x=across("k"), y=up("accuracy"))
    return [
        base.mark_point(size=45, filled=True, opacity=1, color=INK).encode(
            tooltip=theme.tooltips(classes="classes", value_text="accuracy")
        ),
        base.mark_text(style="name", align="center", dy=-12).encode(text="text:N"),
    ]


# The axis of the number of classes, which is logarithmic, and the sizes at which curves are drawn.


MOST_SIZES = 160
"""Sizes at which a curve is drawn; more would not be visible."""
ROOMY, CROWDED = 130.0, 45.0
"""Pixels from one power of ten to the next: with `ROOMY`, ticks at 2 and 5 are labelled too; below `CROWDED` some
powers of ten are not."""
LARGE = (("million", 1e6), ("billion", 1e9), ("trillion", 1e12))


def drawn_sizes(first: int, last: int) -> list[int]:
    """Whole sizes from `first` to `last`, about evenly spread on a logarithmic axis, including both ends.

    >>> drawn_sizes(1, 6), len(drawn_sizes(1, 10**6)) <= MOST_SIZES
    ([1, 2, 3, 4, 5, 6], True)
    """
    if first >= last:
        return [first]
    return [int(size) for size in np.unique(np.geomspace(first, last, MOST_SIZES).round())]


def classes_axis(field: str, most: int, width: float, what: str = "classes") -> alt.X:
    """The axis from 1 to `most` classes, or whatever else is counted."""
    values, named = _ticks(most, width)
    listed = f"indexof({[float(value) for value in named]}, datum.value) >= 0"
    words = "format(datum.value, ',')"
    for unit, value in LARGE:
        words = f"datum.value >= {value} ? format(datum.value / {value}, ',') + ' {unit}' : {words}"
    return alt.X(
        f"{field}:Q",
        title=f"number of {what} (log scale)",
        scale=alt.Scale(type="log", domain=[1, max(most, 2)], nice=False),
        axis=alt.Axis(values=values, labelExpr=f"{listed} ? ({words}) : ''", labelOverlap=False, labelFlush=False),
    )


def _ticks(most: int, width: float) -> tuple[list[int], list[int]]:
    """All ticks, and those that are labelled."""
    decades = math.log10(max(most, 2))
    room = width / decades
    powers = [10**power for power in range(math.floor(decades + 1e-9) + 1)]
    between = sorted(scale * power for power in powers for scale in (1, 2, 5) if scale * power <= most)
    if room >= ROOMY:
        return between, between
    step = math.ceil(CROWDED / room)
    return between if step == 1 else powers, powers[::step]


# Expected cost by the number of classes.


@without_options
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
            "value_text": estimate_text(each),
        }
        for k in drawn_sizes(1, last)
        for each in [risk.at(k)]
    ]
    ends = [0.0, *(row[end] for row in rows for end in ("low", "high"))]
    scale = alt.Scale(domain=[min(ends), max(ends) or 1.0])
    base = theme.chart_of(rows).encode(x=classes_axis("k", last, WIDTH))

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="expected cost", scale=scale, axis=alt.Axis(tickCount=6))

    layers: list[Any] = [
        base.mark_area(color=INK, opacity=0.22).encode(y=up("low"), y2="high:Q"),
        base.mark_line(color=INK, strokeWidth=2).encode(
            y=up("risk"), tooltip=theme.tooltips(classes="classes", value_text="cost")
        ),
    ]
    return theme.finished(
        layers,
        WIDTH,
        HEIGHT,
        theme.titled(
            f"{cut(risk.name)}: an expected cost of {figure(float(risk.risk[-1]))} among {last:,} classes",
            "Line: mean cost of a prediction over all sets of k of the classes. Band: "
            f"{risk.level:.0%} interval over classes.",
            width=WIDTH + 40,
        ),
    )
