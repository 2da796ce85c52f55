"""Accuracy by the number of classes: what was observed, what is expected with more, and guessing.

Read `curve_layers` first, which draws one curve and what continues it; `curves_chart` draws several. Expected cost and
the share of classes that a row beats are a line with a band.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any

import altair as alt
import numpy as np

from ...classes.curve.curve import Curve
from ...classes.curve.risk import RiskCurve
from ...classes.extrapolate.extrapolate import NARROWEST, TOLERANCE, BackTest, Extrapolation
from ...classes.extrapolate.overtake import Crossing
from ...classes.extrapolate.u_distribution import UDistribution
from ...expect import InputError
from ...intervals import Estimate
from ..kinds import without_options
from ..style import theme
from ..style.placement import Align
from ..style.theme import cut, estimate_text, figure, labels, printable, within

WIDTH, HEIGHT = 460, 300
INK = theme.COLOURS[0]
OBSERVED, AHEAD, CHANCE = "observed", "extrapolated", "guessing"
LINES = {OBSERVED: (INK, [1, 0]), AHEAD: (INK, [6, 4]), CHANCE: (theme.COLOURS[-1], [2, 2])}
AGAIN = "refitted on fewer classes"
POINTS: tuple[tuple[str, theme.Shape], ...] = ((theme.COLOURS[1], "square"), (theme.COLOURS[4], "triangle-up"))
AGAIN_POINT: tuple[str, theme.Shape] = (theme.COLOURS[2], "diamond")
ASIDE = (-0.012, 0.012)
"""How far the back-tests are drawn from their true position, as a share of the axis, so that they do not overlap."""
MOST_BANDS = 3
"""With more curves than this, bands hide each other; tooltips have the intervals."""
Across = Callable[[str], alt.X]
Path = Sequence[tuple[int, Estimate]]


@without_options
def curve_chart(curve: Curve) -> alt.LayerChart:
    """Draw accuracy over the number of classes, on a logarithmic axis."""
    title = f"{cut(curve.ranks.name)}: {figure(curve.accuracy[-1], '.0%')} right among {curve.n_classes:,} classes"
    return curve_layers(
        curve,
        title,
        "Line: accuracy on average over all sets of k of the classes. Band: "
        f"{curve.level:.0%} interval over classes: what another random sample of classes could give.",
    )


def curve_layers(
    curve: Curve,
    title: str,
    *sentences: str,
    path: Path = (),
    asked: Path = (),
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
    again = [{"what": AGAIN, **at(each.k, each.accuracy)} for each in curve.retrained]
    layers: list[Any] = [
        theme.chart_of([row for row in lines if row["what"] == part])
        .mark_area(color=INK, opacity=opacity, interpolate="monotone")
        .encode(x=across("k"), y=accuracy_axis("low"), y2="high:Q")
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


def joined(curve: Curve, path: Path) -> list[tuple[int, Estimate]]:
    """The end of the curve, where a path beyond it begins; nothing if the path begins above it, as a forecast may."""
    last = curve.n_classes
    begins_above = bool(path) and path[0][1].known and path[0][1].value > curve.accuracy[-1]
    return [] if begins_above or not path else [(last, curve.at(last))]


def accuracy_axis(field: str) -> alt.Y:
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
            y=accuracy_axis("accuracy"),
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
            y=accuracy_axis("low"), y2="high:Q", color=alt.Color("what:N", scale=colours, legend=None)
        ),
        base.mark_point(size=55, filled=True, opacity=1).encode(
            y=accuracy_axis("accuracy"),
            color=alt.Color("what:N", scale=colours, legend=legend),
            shape=alt.Shape("what:N", scale=shapes, legend=legend),
            tooltip=tooltips,
        ),
    ]


def _asked(ahead: Path, across: Across) -> list[Any]:
    """The requested sizes, with their figures."""
    rows = [{**at(k, each), "text": f"{each.value:.0%}"} for k, each in ahead]
    if not rows:
        return []
    base = theme.chart_of(rows).encode(x=across("k"), y=accuracy_axis("accuracy"))
    return [
        base.mark_point(size=45, filled=True, opacity=1, color=INK).encode(
            tooltip=theme.tooltips(classes="classes", value_text="accuracy")
        ),
        base.mark_text(style="name", align="center", dy=-12).encode(text="text:N"),
    ]


# More classes than observed.


@without_options
def extrapolation_chart(extrapolation: Extrapolation) -> alt.LayerChart:
    """Draw the observed curve, the extrapolation dashed, and what back-tests predicted for the observed classes."""
    curve, here = extrapolation.curve, extrapolation.curve.n_classes
    asked = [(k, each) for k, each in zip(extrapolation.k, extrapolation.estimates) if k > here]
    most = max([here, *(k for k, _ in asked)])
    borders = {f"{here:,} observed": float(here)} if asked else {}
    trust = extrapolation.trusted * here
    if asked and math.isfinite(trust) and trust >= NARROWEST * here:
        borders[f"trusted to {about(trust)}"] = trust
    points = [_point(test, here, aside, most) for aside, test in zip(ASIDE, extrapolation.back_tests)]
    return curve_layers(
        curve,
        _title(extrapolation),
        f"Line and band: accuracy over all sets of k classes, {curve.level:.0%} interval over classes. Dashed: "
        f"extrapolated by “{extrapolation.method}”. {_about_trust(extrapolation, trust)}",
        path=list(zip(extrapolation.path_k, extrapolation.path)),
        asked=asked,
        points=points,
        borders=borders,
    )


def about(size: float) -> str:
    """A size in two digits, which is as much as is known about it.

    >>> about(13761), about(277.4), about(72.0)
    ('14,000', '280', '72')
    """
    return f"{float(f'{size:.2g}'):,.0f}"


def _title(extrapolation: Extrapolation) -> str:
    known = [(k, each) for k, each in zip(extrapolation.k, extrapolation.estimates) if each.known]
    name = cut(extrapolation.curve.ranks.name)
    if not known:
        return f"{name}: {extrapolation.curve.n_classes:,} classes are too few to extrapolate"
    k, last = max(known, key=lambda pair: pair[0])
    now, later = figure(float(extrapolation.curve.accuracy[-1]), ".0%"), figure(last.value, ".0%")
    return f"{name}: from {now} with {extrapolation.curve.n_classes:,} classes to about {later} with {k:,}"


def _about_trust(extrapolation: Extrapolation, trust: float) -> str:
    if not extrapolation.back_tests:
        return "There are too few classes for a back-test."
    points = f"Points: what parts of the classes predicted for all {extrapolation.curve.n_classes:,}, lowest to highest"
    level = extrapolation.estimates[0].level
    if trust < NARROWEST * extrapolation.curve.n_classes:
        return f"{points}. No error within {TOLERANCE:g} can be promised for more classes in {level:.0%} of cases."
    return f"{points}. In {level:.0%} of cases the error stays within {TOLERANCE:g} up to about {about(trust)} classes."


def _point(test: BackTest, here: int, aside: float, most: int) -> theme.Row:
    """The mean forecast of a back-test, from the lowest to the highest, at the size for which it was made."""
    forecast = Estimate(float(test.foreseen.mean()), float(test.foreseen.min()), float(test.foreseen.max()))
    text = f"{figure(forecast.value)} ({figure(forecast.low)} to {figure(forecast.high)}), actual {figure(test.actual)}"
    beside = max(here * max(most, 2) ** aside, 1.0)
    return at(here, forecast) | {"what": f"predicted from {test.n_classes:,}", "k": beside, "value_text": text}


# Several classifiers.


def curves_chart(curves: Mapping[str, Curve], ahead: Mapping[str, Path] | None = None) -> alt.LayerChart:
    """Draw the accuracy of several decoders over the number of classes, and dashed the extrapolation of each."""
    if not curves:
        raise InputError("There is nothing to draw; pass at least one curve.")
    names = dict(zip(curves, labels(list(curves))))
    beyond = {name: list((ahead or {}).get(name, ())) for name in curves}
    most = max(max([curve.n_classes, *(k for k, _ in beyond[name])]) for name, curve in curves.items())

    def across(field: str) -> alt.X:
        return classes_axis(field, most, WIDTH)

    seen: list[theme.Row] = []
    later: list[theme.Row] = []
    again: list[theme.Row] = []
    for name, curve in curves.items():
        about = {"label": names[name], "decoder": printable(name)}
        seen += [about | at(k, curve.at(k)) for k in drawn_sizes(1, curve.n_classes)]
        later += [about | at(k, each) for k, each in [*joined(curve, beyond[name]), *beyond[name]]]
        again += [about | at(each.k, each.accuracy) for each in curve.retrained]
    chance = [at(k, Estimate(1 / k, 1 / k, 1 / k)) for k in drawn_sizes(1, most)]
    listed = list(names.values())
    legend = theme.legend_below([*listed, ""], lines=True)
    tooltips = theme.tooltips(decoder="decoder", classes="classes", value_text="accuracy")
    layers: list[Any] = [
        theme.chart_of(chance)
        .mark_line(style="reference", strokeDash=[2, 2], strokeWidth=1.5, interpolate="monotone")
        .encode(x=across("k"), y=accuracy_axis("accuracy"))
    ]
    for rows, opacity, dash in ((seen, 0.18, [1, 0]), (later, 0.1, [6, 4])):
        base = theme.chart_of(rows).encode(x=across("k"))
        colour = theme.colour(listed, legend if rows is seen else None)
        if len(listed) <= MOST_BANDS:
            area = base.mark_area(opacity=opacity, interpolate="monotone")
            layers.append(area.encode(y=accuracy_axis("low"), y2="high:Q", color=theme.colour(listed, None)))
        known = theme.chart_of([row for row in rows if row["accuracy"] is not None]).encode(x=across("k"))
        line = known.mark_line(strokeWidth=2, interpolate="monotone", strokeDash=dash)
        layers.append(line.encode(y=accuracy_axis("accuracy"), color=colour, tooltip=tooltips))
    if again:
        points = theme.chart_of(again).mark_point(shape="diamond", size=55, filled=True, opacity=1)
        layers.append(
            points.encode(
                x=across("k"), y=accuracy_axis("accuracy"), color=theme.colour(listed, None), tooltip=tooltips
            )
        )
    level = next(iter(curves.values())).level
    sentences = ["Lines: accuracy on average over all sets of k of the classes."]
    sentences += ["Dashed: extrapolated."] if later else []
    sentences += ["Diamonds: refitted on fewer classes."] if again else []
    sentences += [f"Bands: {level:.0%} intervals over classes."] if len(listed) <= MOST_BANDS else []
    title = theme.titled(_leader(curves), " ".join([*sentences, "Dotted grey: guessing."]), width=WIDTH + 40)
    chart: alt.LayerChart = theme.finished(layers, WIDTH, HEIGHT, title).resolve_scale(color="independent")
    return chart


def _leader(curves: Mapping[str, Curve]) -> str:
    k = min(curve.n_classes for curve in curves.values())
    best = max(curves, key=lambda name: curves[name].at(k).value)
    share = figure(curves[best].at(k).value, ".0%")
    return f"{labels([best])[0]} is most accurate: {share} among {k:,} classes"


@without_options
def crossing_chart(crossing: Crossing) -> alt.LayerChart:
    """Draw both curves, and where they cross."""
    short = labels([crossing.first, crossing.second])
    rows: list[theme.Row] = []
    for label, values in zip(short, (crossing.accuracy_first, crossing.accuracy_second)):
        for k, value, apart in zip(crossing.k, values.tolist(), crossing.difference):
            rows.append(at(k, Estimate(value, value, value)) | {"label": label, "apart": estimate_text(apart)})
    most = crossing.k[-1]

    def across(field: str) -> alt.X:
        return classes_axis(field, most, WIDTH)

    tooltips = theme.tooltips(label="classifier", classes="classes", value_text="accuracy", apart="difference")
    colour = theme.colour(short, theme.legend_below([*short, ""], lines=True))
    line = theme.chart_of(rows).mark_line(strokeWidth=2, interpolate="monotone")
    borders = {f"{each.value:,.0f}": each.value for each in crossing.crossings}
    borders |= {"observed": float(crossing.observed)} if crossing.observed < most else {}
    layers = [
        *_borders(borders, across),
        line.encode(x=across("k"), y=accuracy_axis("accuracy"), color=colour, tooltip=tooltips),
    ]
    places = crossing.crossings
    found = f"the same accuracy with about {places[0].value:,.0f} classes" if places else "one is ahead throughout"
    title = theme.titled(
        f"{cut(crossing.first)} and {cut(crossing.second)}: {found}",
        "Lines: accuracy on average over all sets of k classes. Vertical lines: where they cross, and the observed "
        "classes; beyond those it is extrapolated.",
        width=WIDTH + 40,
    )
    return theme.finished(layers, WIDTH, HEIGHT, title)


# A line with a band: expected cost by the number of classes, and the share of classes that a row beats.


@without_options
def risk_chart(risk: RiskCurve) -> alt.LayerChart:
    """Draw the expected cost over the number of classes, on a logarithmic axis."""
    rows: list[theme.Row] = [
        {"at": k, "where": f"{k:,}", "value": each.value, "low": each.low, "high": each.high}
        | {"value_text": estimate_text(each)}
        for k in drawn_sizes(1, risk.n_classes)
        for each in [risk.at(k)]
    ]
    ends = [0.0, *(row[end] for row in rows for end in ("low", "high"))]
    layers = line_with_band(
        rows,
        classes_axis("at", risk.n_classes, WIDTH),
        lambda field: alt.Y(
            f"{field}:Q",
            title="expected cost",
            scale=alt.Scale(domain=[min(ends), max(ends) or 1.0]),
            axis=alt.Axis(tickCount=6),
        ),
        theme.tooltips(where="classes", value_text="cost"),
    )
    title = theme.titled(
        f"{cut(risk.ranks.name)}: an expected cost of {figure(float(risk.risk[-1]))} among {risk.n_classes:,} classes",
        "Line: mean cost of a prediction over all sets of k of the classes. Band: "
        f"{risk.level:.0%} interval over classes.",
        width=WIDTH + 40,
    )
    return theme.finished(layers, WIDTH, HEIGHT, title)


@without_options
def distribution_chart(distribution: UDistribution) -> alt.LayerChart:
    """Draw the share of rows that lose to at least one class in 2, 10, 100, …, with its band."""
    rows: list[theme.Row] = []
    columns = (distribution.u, distribution.below, distribution.low, distribution.high)
    for u, value, low, high in zip(*(column.tolist() for column in columns)):
        estimate = Estimate(value, low, high, distribution.level)
        row = {"at": 1 / max(1 - u, 1e-12), "where": f"{u:.4%} of all classes", "value_text": estimate_text(estimate)}
        rows.append(row | {"value": value, "low": low, "high": high})
    here, most = distribution.curve.n_classes, max(row["at"] for row in rows)
    powers = [10**power for power in range(math.floor(math.log10(most)) + 1)]

    def across(field: str) -> alt.X:
        scale = alt.Scale(type="log", domain=[1, most], nice=False)
        axis = alt.Axis(values=powers, format="~s", labelFlush=False)
        return alt.X(f"{field}:Q", title="one class in … scores higher (log scale)", scale=scale, axis=axis)

    layers = line_with_band(
        rows,
        across("at"),
        lambda field: accuracy_axis(field).title("share of rows"),
        theme.tooltips(where="beats at most", value_text="share of rows"),
    )
    half = distribution.largest(0.5)
    known = (
        f"at least half right with up to {figure(half.value, ',.0f')} classes" if half.known else "all rows are right"
    )
    title = theme.titled(
        f"{cut(distribution.curve.ranks.name)}: {known}",
        "Line: share of rows that lose to at least one class in this many; lower is better. Band: "
        f"{distribution.level:.0%} interval over classes. Right of {here:,} observed classes it is extrapolated by "
        f"“{distribution.method}”.",
        width=WIDTH + 40,
    )
    return theme.finished([*_borders({f"{here:,}": float(here)}, across), *layers], WIDTH, HEIGHT, title)


def line_with_band(
    rows: list[theme.Row], x: alt.X, up: Callable[[str], alt.Y], tooltips: list[alt.Tooltip]
) -> list[Any]:
    """Draw `value` with a band from `low` to `high`."""
    base = theme.chart_of(rows).encode(x=x)
    return [
        base.mark_area(color=INK, opacity=0.22).encode(y=up("low"), y2="high:Q"),
        base.mark_line(color=INK, strokeWidth=2).encode(y=up("value"), tooltip=tooltips),
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
