"""Accuracy by the number of classes: what was observed, what is expected with more, and guessing; and it in bits.

Read `accuracy_chart` first, which draws curves and what continues them. Expected cost and the share of classes that a
row beats are a line with a band. Information is drawn for one decoder or several, and beside identification.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import altair as alt
import numpy as np

from ..classes.curve.curve import Curve
from ..classes.curve.risk import RiskCurve
from ..classes.extrapolate.extrapolate import NARROWEST, TOLERANCE, BackTest, Extrapolation
from ..classes.extrapolate.u_distribution import UDistribution
from ..classes.identify.identify import Identification
from ..classes.information.information import Decoders, Information
from ..expect import InputError, shown
from ..intervals import Estimate, exact
from .style import theme
from .style.panel import Axis, Panel, numbers
from .style.parts import by_name, line_with_band, written
from .style.theme import Row, beside, cut, estimate_text, figure, interval, labels, printable, within

SIZE = WIDTH, HEIGHT = 460, 300
INK = theme.COLOURS[0]
OBSERVED, AHEAD, AGAIN = "observed", "extrapolated", "refitted on fewer classes"
POINTS: tuple[tuple[str, theme.Shape], ...] = ((theme.COLOURS[1], "square"), (theme.COLOURS[4], "triangle-up"))
ASIDE = (-0.012, 0.012)
"""How far the back-tests are drawn from their true position, as a share of the axis, so that they do not overlap."""
MOST_BANDS = 3
"""With more curves than this, bands hide each other; tooltips have the intervals."""
Path = Sequence[tuple[int, Estimate]]


def curve_chart(curve: Curve) -> alt.LayerChart:
    """Draw accuracy over the number of classes, on a logarithmic axis."""
    return accuracy_chart(
        {curve.ranks.name: curve},
        f"{cut(curve.ranks.name)}: {figure(curve.accuracy[-1], '.0%')} right among {curve.n_classes:,} classes",
        "Line: accuracy on average over all sets of k of the classes. Band: "
        f"{curve.level:.0%} interval over classes: what another random sample of classes could give.",
    )


def accuracy_chart(
    curves: Mapping[str, Curve],
    title: str,
    *sentences: str,
    ahead: Mapping[str, Path] | None = None,
    asked: Path = (),
    points: Sequence[Row] = (),
    borders: Mapping[str, float] | None = None,
    what: str = "classes",
) -> alt.LayerChart:
    """Draw curves with their bands, and what is `ahead` of them dashed.

    `asked` are sizes with their figures, `points` rows of `what` and `at`, `borders` vertical lines by name.
    """
    beyond = {name: joined(curve, (ahead or {}).get(name, ())) for name, curve in curves.items()}
    sizes = [k for path in (*beyond.values(), asked) for k, _ in path]
    most = max([*sizes, *(curve.n_classes for curve in curves.values())])
    panel = Panel(classes_axis(most, what), _shares("accuracy"), *SIZE)
    named = dict(zip(curves, labels(list(curves))))

    def rows_of(what: str, paths: Mapping[str, Path]) -> list[Row]:
        return [
            {"label": label, "decoder": printable(name), "what": what, **at(k, each)}
            for name, label in named.items()
            for k, each in paths[name]
        ]

    observed = {name: [(k, curve.at(k)) for k in drawn_sizes(1, curve.n_classes)] for name, curve in curves.items()}
    seen, later = rows_of(OBSERVED, observed), rows_of(AHEAD, beyond)
    again = rows_of(AGAIN, {name: [(one.k, one.accuracy) for one in curve.retrained] for name, curve in curves.items()})
    short = list(named.values())
    tips = {"decoder": "decoder", "what": "line", "classes": "classes", "value_text": "accuracy"}
    guess = [at(k, exact(1 / k)) for k in drawn_sizes(1, most)]
    smooth: dict[str, Any] = {"interpolate": "monotone"}
    layers = [panel.mark("line", guess, style="reference", strokeDash=[2, 2], strokeWidth=1.5, **smooth)]
    layers += _borders(panel, {name: k for name, k in (borders or {}).items() if k <= most})
    quiet, colour = theme.colour(short, None), theme.colour(short, theme.legend_below(short, lines=True))
    for rows, opacity, dash, shade in ((seen, 0.2, [1, 0], colour), (later, 0.11, [6, 4], quiet)):
        if len(short) <= MOST_BANDS:
            layers.append(panel.mark("area", rows, color=quiet, opacity=opacity, y="low", y2="high", **smooth))
        known = [row for row in rows if "value" in row]
        layers.append(panel.mark("line", known, tips, color=shade, strokeDash=dash, strokeWidth=2, **smooth))
    if again:
        layers.append(panel.mark("rule", again, strokeWidth=1.5, color=quiet, y="low", y2="high"))
        layers.append(panel.mark("point", again, tips, shape="diamond", size=55, color=quiet))
    layers += _marks(panel, points)
    wanted = [{**at(k, each), "text": f"{each.value:.0%}"} for k, each in asked if each.known]
    if wanted:
        layers.append(panel.mark("point", wanted, tips, size=45, color=INK))
        layers.append(panel.mark("text", wanted, style="name", align="center", dy=-12, text="text"))
    known_by = [*sentences, *(["Diamonds: refitted on fewer classes."] if again else []), "Dotted grey: guessing."]
    # Curves and points each have their own legend.
    chart: alt.LayerChart = panel.drawn(layers, title, " ".join(known_by)).resolve_scale(
        color="independent", shape="independent"
    )
    return chart


def joined(curve: Curve, path: Path) -> list[tuple[int, Estimate]]:
    """A path beyond a curve, from the end of the curve unless the path begins above it, as a forecast may."""
    begins_above = bool(path) and path[0][1].known and path[0][1].value > curve.accuracy[-1]
    end = [] if begins_above or not path else [(curve.n_classes, curve.at(curve.n_classes))]
    return [*end, *path]


def at(k: float, accuracy: Estimate) -> Row:
    """A row of a curve. Without a value it has only its interval."""
    return {"k": k, "classes": f"{k:,}", **interval(accuracy, 0.0, 1.0)}


def _shares(title: str) -> Axis:
    return numbers(title, (0, 1), "value", format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])


def _borders(panel: Panel, named: Mapping[str, float]) -> list[Any]:
    """Vertical lines with their names above: the first left of its line, the others right of theirs."""
    ordered = sorted(named.items(), key=lambda pair: pair[1])
    return [
        layer
        for place, (name, k) in enumerate(ordered)
        for layer in panel.border(k, name, "left" if place else "right", style="faint")
    ]


def _marks(panel: Panel, rows: Sequence[Row]) -> list[Any]:
    """Points with intervals, each `what` in its colour and shape."""
    if not rows:
        return []
    used = list(dict.fromkeys(row["what"] for row in rows))
    colours, shapes = (
        alt.Scale(domain=used, range=[look[place] for _, look in zip(used, cycle(POINTS))]) for place in (0, 1)
    )
    legend = theme.legend_below([*used, ""])
    colour, shape = alt.Color("what:N", scale=colours, legend=legend), alt.Shape("what:N", scale=shapes, legend=legend)
    tips = {"what": "point", "classes": "classes", "value_text": "accuracy"}
    quiet = alt.Color("what:N", scale=colours, legend=None)
    return [
        panel.mark("rule", rows, strokeWidth=1.5, color=quiet, y="low", y2="high"),
        panel.mark("point", rows, tips, size=55, color=colour, shape=shape),
    ]


# More classes than observed.


def extrapolation_chart(extrapolation: Extrapolation) -> alt.LayerChart:
    """Draw the observed curve, the extrapolation dashed, and what back-tests predicted for the observed classes."""
    curve, here = extrapolation.curve, extrapolation.curve.n_classes
    asked = [(k, each) for k, each in zip(extrapolation.k, extrapolation.estimates) if k > here]
    most = max([here, *(k for k, _ in asked)])
    borders = {f"{here:,} observed": float(here)} if asked else {}
    trust = extrapolation.trusted * here
    if asked and math.isfinite(trust) and trust >= NARROWEST * here:
        borders[f"trusted to {about(trust)}"] = trust
    return accuracy_chart(
        {curve.ranks.name: curve},
        _title(extrapolation),
        f"Line and band: accuracy over all sets of k classes, {curve.level:.0%} interval over classes. Dashed: "
        f"extrapolated by “{extrapolation.method}”. {_about_trust(extrapolation, trust)}",
        ahead={curve.ranks.name: list(zip(extrapolation.path_k, extrapolation.path))},
        asked=asked,
        points=[_point(test, here, aside, most) for aside, test in zip(ASIDE, extrapolation.back_tests)],
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


def _point(test: BackTest, here: int, aside: float, most: int) -> Row:
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
    k = min(curve.n_classes for curve in curves.values())
    best = max(curves, key=lambda name: curves[name].at(k).value)
    sentences = ["Lines: accuracy on average over all sets of k of the classes."]
    sentences += ["Dashed: extrapolated."] if any((ahead or {}).values()) else []
    if len(curves) <= MOST_BANDS:
        sentences.append(f"Bands: {curves[best].level:.0%} intervals over classes.")
    title = f"{cut(best)} is most accurate: {figure(curves[best].at(k).value, '.0%')} among {k:,} classes"
    return accuracy_chart(curves, title, *sentences, ahead=ahead)


def risk_chart(risk: RiskCurve) -> alt.LayerChart:
    """Draw the expected cost over the number of classes, on a logarithmic axis."""
    costs = {k: risk.at(k) for k in drawn_sizes(1, risk.n_classes)}
    ends = [0.0, *(end for each in costs.values() for end in (each.low, each.high))]
    low, high = min(ends), max(ends) or 1.0
    rows = [{"k": k, "classes": f"{k:,}", **interval(each, low, high)} for k, each in costs.items()]
    up = numbers("expected cost", field="value", scale=alt.Scale(domain=[low, high]))
    panel = Panel(classes_axis(risk.n_classes), up, *SIZE)
    return panel.drawn(
        line_with_band(panel, rows, {"classes": "classes", "value_text": "cost"}, color=INK),
        f"{cut(risk.ranks.name)}: an expected cost of {figure(float(risk.risk[-1]))} among {risk.n_classes:,} classes",
        "Line: mean cost of a prediction over all sets of k of the classes. Band: "
        f"{risk.level:.0%} interval over classes.",
    )


def distribution_chart(distribution: UDistribution) -> alt.LayerChart:
    """Draw the share of rows that lose to at least one class in 2, 10, 100, …, with its band."""
    table = distribution.to_frame()[["u", "value", "low", "high"]]
    rows = [
        {"at": 1 / max(1 - u, 1e-12), "where": f"{u:.4%} of all classes"}
        | interval(Estimate(value, low, high, distribution.level), 0.0, 1.0)
        for u, value, low, high in table.itertuples(index=False, name=None)
    ]
    here, most = distribution.curve.n_classes, max(row["at"] for row in rows)
    powers = [10**power for power in range(math.floor(math.log10(most)) + 1)]
    scale, across = alt.Scale(type="log", domain=[1, most], nice=False), "one class in … scores higher (log scale)"
    panel = Panel(numbers(across, field="at", scale=scale, values=powers, format="~s"), _shares("share of rows"), *SIZE)
    half = distribution.largest(0.5)
    known = (
        f"at least half right with up to {figure(half.value, ',.0f')} classes" if half.known else "all rows are right"
    )
    tips = {"where": "beats at most", "value_text": "share of rows"}
    return panel.drawn(
        [*_borders(panel, {f"{here:,}": float(here)}), *line_with_band(panel, rows, tips, color=INK)],
        f"{cut(distribution.curve.ranks.name)}: {known}",
        "Line: share of rows that lose to at least one class in this many; lower is better. Band: "
        f"{distribution.level:.0%} interval over classes. Right of {here:,} observed classes it is extrapolated by "
        f"“{distribution.method}”.",
    )


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


def classes_axis(most: int, what: str = "classes") -> Axis:
    """The axis from 1 to `most` classes, or whatever else is counted."""
    values, named = _ticks(most, WIDTH)
    listed = f"indexof({[float(value) for value in named]}, datum.value) >= 0"
    words = "format(datum.value, ',')"
    for unit, value in LARGE:
        words = f"datum.value >= {value} ? format(datum.value / {value}, ',') + ' {unit}' : {words}"
    scale, text = alt.Scale(type="log", domain=[1, max(most, 2)], nice=False), f"{listed} ? ({words}) : ''"
    title = f"number of {what} (log scale)"
    return numbers(title, field="k", scale=scale, values=values, labelExpr=text, labelOverlap=False)


def _ticks(most: int, width: float) -> tuple[list[int], list[int]]:
    decades = math.log10(max(most, 2))
    room = width / decades
    powers = [10**power for power in range(math.floor(decades + 1e-9) + 1)]
    between = sorted(scale * power for power in powers for scale in (1, 2, 5) if scale * power <= most)
    if room >= ROOMY:
        return between, between
    step = math.ceil(CROWDED / room)
    return between if step == 1 else powers, powers[::step]


# Information in bits, of one decoder or of several; identification of stimuli, and by the number of responses.


BITS_WIDTH, STEP = 340, 34
BOUNDS: dict[str, theme.Shape] = {"guaranteed at least": "triangle-right", "Fano’s bound": "diamond"}


def information_chart(information: Information) -> alt.LayerChart:
    """Draw the implied information of one curve, with lower bounds."""
    return bits_chart(
        ["the class"],
        [information],
        _bits_title(information, "the class"),
        f"Point: what the best classifier would need for this curve, with its {information.implied.level:.0%} "
        "interval; no guarantee. Grey: lower bounds, for any classes and for these.",
    )


def decoders_chart(decoders: Decoders) -> alt.LayerChart:
    """Draw the bits of each decoder, most first, with lower bounds."""
    names = [each.name for each in decoders.decoders]
    together = [names for names in decoders.groups() if len(names) > 1]
    alike = shown([(" and " if len(names) == 2 else ", ").join(labels(names)) for names in together], 3)
    leader = labels(names)[0]
    return bits_chart(
        names,
        [each.information for each in decoders.decoders],
        f"Most information: {leader}" if decoders.decoders[0].told_apart else "The leaders are indistinguishable",
        f"Points: implied information with its {1 - decoders.alpha:.0%} interval, most first. "
        + (f"Indistinguishable from neighbours: {alike}. " if together else "Each is significantly ahead. ")
        + "Grey: lower bounds, for any classes and for these.",
    )


def bits_chart(names: Sequence[str], figures: Sequence[Information], title: str, sentence: str) -> alt.LayerChart:
    """Draw a row per name: implied information with its interval, and the two lower bounds."""
    every = [estimate for each in figures for estimate in (each.implied, each.bound, each.fano)]
    ends = [end for bits in every for end in (bits.low, bits.value, bits.high) if math.isfinite(end)]
    most = max([*ends, 0.0]) * 1.12 or 1.0
    rows: list[Row] = []
    bounds: list[Row] = []
    for name, label, each in zip(names, labels(names), figures):
        bits, about = each.implied, {"label": label, "decoder": printable(name)}
        text = figure(bits.value, ".2f") if bits.known else f"at least {figure(bits.low, '.2f')}"
        rows.append(about | interval(bits, 0.0, most) | {"figure": text})
        bounds += [
            about | {"what": what, "value": within(bound, 0.0, most)[0], "value_text": estimate_text(bound)}
            for what, bound in zip(BOUNDS, (each.bound, each.fano))
            if bound.low > 0
        ]
    panel = by_name([row["label"] for row in rows], "bits", (0, most), size=(BITS_WIDTH, STEP))
    marks = alt.Shape(
        "what:N",
        scale=alt.Scale(domain=list(BOUNDS), range=list(BOUNDS.values())),
        legend=alt.Legend(title=None, orient="bottom", symbolSize=60, symbolFillColor=theme.COLOURS[-1]),
    )
    tips = {"decoder": "decoder", "value_text": "implied, bits"}
    bound_tips = {"decoder": "decoder", "what": "bound", "value_text": "bits"}
    layers = [
        panel.mark("rule", rows, tips, style="interval", x="low", x2="high"),
        panel.mark("point", bounds, bound_tips, size=60, color=theme.COLOURS[-1], x="value", shape=marks),
        panel.mark("point", [row for row in rows if "value" in row], tips, size=80, color=INK, x="value"),
        written(panel, rows, tips),
    ]
    return panel.drawn(layers, title, sentence, wrap=BITS_WIDTH + 190)


def _bits_title(information: Information, about: str) -> str:
    bits, sure = information.implied, information.bound
    parts = [f"about {bits.value:.2g} bits"] if bits.known else []
    parts += [f"guaranteed at least {sure.low:.2g}"] if sure.low > 0 else []
    return f"Information about {about}" + (f": {', '.join(parts)}" if parts else "")


# Identification.


def identification_chart(identification: Identification) -> alt.HConcatChart:
    """Draw the accuracy of identification over the number of candidates, beside the information in the responses."""
    curve, information = identification.curve, identification.information
    accuracy = accuracy_chart(
        {curve.ranks.name: curve},
        f"{figure(identification.accuracy.value, '.0%')} of responses identify the right one of "
        f"{identification.n_candidates:,} stimuli",
        "Line: accuracy on average over all sets of k stimuli that the model was not fitted on. Band: "
        f"{curve.level:.0%} interval over stimuli.",
        what="candidates",
    )
    bits = bits_chart(
        ["the stimulus"],
        [information],
        _bits_title(information, "the stimulus"),
        f"Point: implied information, with its {information.implied.level:.0%} interval; no guarantee. Grey: lower "
        "bounds, for any stimuli and for these.",
    )
    return beside(accuracy, bits)
