"""Accuracy by the number of classes: what was observed, what is to be expected, what guessing gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any

import altair as alt

from ..classes.curve import Curve
from ..intervals import Estimate
from . import sizes, theme
from .placing import Align
from .words import cut, figure, told, within

WIDTH, HEIGHT = 460, 300
INK = theme.COLOURS[0]
OBSERVED, AHEAD, CHANCE = "observed", "extrapolated", "guessing"
LINES = {OBSERVED: (INK, [1, 0]), AHEAD: (INK, [6, 4]), CHANCE: (theme.COLOURS[-1], [2, 2])}
AGAIN = "fitted anew on fewer classes"
POINTS: tuple[tuple[str, theme.Shape], ...] = ((theme.COLOURS[1], "square"), (theme.COLOURS[4], "triangle-up"))
AGAIN_POINT: tuple[str, theme.Shape] = (theme.COLOURS[2], "diamond")
Across = Callable[[str], alt.X]


def curve_chart(curve: Curve) -> alt.LayerChart:
    """Draw accuracy over the number of classes, on a logarithmic axis."""
    most = curve.n_classes
    title = f"{cut(curve.ranks.name)}: {figure(curve.accuracy[-1], '.0%')} right among {most:,} classes"
    return drawn(curve, title, how_to_read(curve))


def drawn(
    curve: Curve,
    title: str,
    *sentences: str,
    path: Sequence[tuple[int, Estimate]] = (),
    asked: Sequence[tuple[int, Estimate]] = (),
    points: Sequence[theme.Row] = (),
    borders: Mapping[str, float] | None = None,
    what: str = "classes",
) -> alt.LayerChart:
    """Draw a curve, dashed the `path` ahead of it, `points` (rows of `what` and `at`), and upright lines by name."""
    last = curve.n_classes
    most = max([last, *(k for k, _ in (*path, *asked))])

    def across(field: str) -> alt.X:
        return sizes.across(field, most, WIDTH, what)

    ahead = [*joined(curve, path), *path]
    lines = [
        *({"what": OBSERVED, **at(k, curve.at(k))} for k in sizes.drawn(1, last)),
        *({"what": AHEAD, **at(k, each)} for k, each in ahead),
        *({"what": CHANCE, **at(k, Estimate(1 / k, 1 / k, 1 / k))} for k in sizes.drawn(1, most)),
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
    # Lines and points each have a legend of their own.
    apart: alt.LayerChart = chart.resolve_scale(color="independent", shape="independent", strokeDash="independent")
    return apart


def joined(curve: Curve, path: Sequence[tuple[int, Estimate]]) -> list[tuple[int, Estimate]]:
    """The end of the curve, for a path ahead to begin at; nothing if the path begins above it, as a forecast may."""
    last = curve.n_classes
    begins_above = bool(path) and path[0][1].known and path[0][1].value > curve.accuracy[-1]
    return [] if begins_above or not path else [(last, curve.at(last))]


def how_to_read(curve: Curve) -> str:
    """What the line and the band are."""
    return (
        "Line: accuracy on average over all sets of k of the classes. Band: "
        f"{curve.level:.0%} interval over classes: what another draw of classes could give."
    )


def up(field: str) -> alt.Y:
    """The axis of accuracy."""
    axis = alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return alt.Y(f"{field}:Q", title="accuracy", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)


def at(k: int, accuracy: Estimate) -> theme.Row:
    """A row of a curve. Without a value it has its interval."""
    low, high = within(accuracy, 0.0, 1.0)
    value = min(max(accuracy.value, 0.0), 1.0) if accuracy.known else None
    return {"k": k, "accuracy": value, "low": low, "high": high, "classes": f"{k:,}", "told": told(accuracy)}


def _lines(rows: list[theme.Row], across: Across) -> alt.Chart:
    used = [what for what in LINES if any(row["what"] == what for row in rows)]
    legend = theme.legend_below([*used, ""], lines=True)
    tooltips = theme.tooltips(what="line", classes="classes", told="accuracy")
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
    """Upright lines with their names above: the first left of its line, the others right of theirs."""
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
    tooltips = theme.tooltips(what="point", classes="classes", told="accuracy")
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
    """The sizes that were asked for, with their figures."""
    rows = [{**at(k, each), "text": f"{each.value:.0%}"} for k, each in ahead]
    if not rows:
        return []
    base = theme.chart_of(rows).encode(x=across("k"), y=up("accuracy"))
    return [
        base.mark_point(size=45, filled=True, opacity=1, color=INK).encode(
            tooltip=theme.tooltips(classes="classes", told="accuracy")
        ),
        base.mark_text(style="name", align="center", dy=-12).encode(text="text:N"),
    ]
