"""Information in bits: what a curve implies, and lower bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from ...classes.curve.curve import Curve
from ...classes.information.decoders import Decoders
from ...classes.information.information import Information
from ...expect import InputError, shown
from ...intervals import Estimate
from ..kinds import without_options
from ..style import theme
from ..style.theme import estimate_text, figure, labels, printable, within
from .curve import HEIGHT, WIDTH, at, classes_axis, drawn_sizes, joined, up

INFORMATION_WIDTH, INFORMATION_STEP = 340, 34
CALLED = {"implied": "implied", "lower bound": "lower bound", "Fano": "Fano’s bound"}


@without_options
def draw_information(information: Information) -> alt.LayerChart:
    """Draw one figure of information."""
    return information_chart(information)


def information_chart(*figures: Information, about: str = "the class") -> alt.LayerChart:
    """Draw figures of information one below the other: estimates with an interval, bounds open to the right."""
    if not figures:
        raise InputError("There is nothing to draw; pass at least one figure of information.")
    most = reach(*(each.bits for each in figures))
    rows = [_row(each, most) for each in figures]
    names = [row["name"] for row in rows]
    y = alt.Y("name:N", title=None, scale=alt.Scale(domain=names), axis=alt.Axis(ticks=False, domain=False))
    layers = [
        *marks(
            [row for row in rows if not row["open"]], [row for row in rows if row["open"]], y, most, theme.COLOURS[0]
        ),
        theme.chart_of(rows)
        .mark_text(style="name", align="left")
        .encode(x=alt.value(INFORMATION_WIDTH + 8), y=y, text="figure:N"),
    ]
    return theme.finished(
        layers,
        INFORMATION_WIDTH,
        alt.Step(INFORMATION_STEP),
        theme.titled(_title(figures, about), _meaning(figures), width=INFORMATION_WIDTH + 190),
    )


def reach(*bits: Estimate) -> float:
    """Where the axis ends."""
    ends = [end for each in bits for end in (each.low, each.value, each.high) if math.isfinite(end)]
    return max([*ends, 0.0]) * 1.12 or 1.0


def marks(points: list[theme.Row], bounds: list[theme.Row], y: alt.Y, most: float, ink: str) -> list[Any]:
    """Points with intervals, and bounds as ticks with a fading line to the right."""
    tooltips = theme.tooltips(name="figure", value_text="bits")

    def across(field: str) -> alt.X:
        scale = alt.Scale(domain=[0, most], nice=False)
        return alt.X(f"{field}:Q", scale=scale, title="bits", axis=alt.Axis(tickCount=6))

    estimates, open_ended = (theme.chart_of(rows).encode(y=y, tooltip=tooltips) for rows in (points, bounds))
    known = theme.chart_of([row for row in points if row["value"] is not None]).encode(y=y, tooltip=tooltips)
    return [
        estimates.mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        open_ended.mark_rule(style="reference", strokeDash=[2, 3]).encode(x=across("low"), x2="high:Q"),
        open_ended.mark_tick(size=18, thickness=3, opacity=1, color=ink).encode(x=across("low")),
        open_ended.mark_point(shape="triangle-right", size=45, filled=True, opacity=1, color="#7F7F7F").encode(
            x=across("high")
        ),
        known.mark_point(size=70, filled=True, opacity=1, color=ink).encode(x=across("value")),
    ]


def _row(each: Information, most: float) -> theme.Row:
    low, high = within(each.bits, 0.0, most)
    # Bounds, and an estimate without a value, have a start but no end.
    is_open = each.kind != "implied" or not each.bits.known
    text = f"at least {figure(each.bits.low, '.2f')}" if is_open else figure(each.bits.value, ".2f")
    return {
        "name": CALLED[each.kind],
        "low": low,
        "high": most if is_open else high,
        "value": None if is_open else each.bits.value,
        "open": is_open,
        "figure": text,
        "value_text": estimate_text(each.bits),
    }


def _title(figures: tuple[Information, ...], about: str) -> str:
    implied = next((each for each in figures if each.kind == "implied"), None)
    sure = max((each.bits.low for each in figures if each.kind == "lower bound"), default=None)
    parts = []
    if implied is not None and implied.bits.known:
        parts.append(f"about {implied.bits.value:.2g} bits")
    if sure is not None:
        parts.append(f"guaranteed at least {sure:.2g}")
    return f"Information about {about}" + (f": {', '.join(parts)}" if parts else "")


def _meaning(figures: tuple[Information, ...]) -> str:
    kinds = {each.kind for each in figures}
    level = f"{figures[0].bits.level:.0%}"
    sentences = []
    if "implied" in kinds:
        sentences.append(
            f"Point: what the best classifier would need for this curve, with its {level} interval; no guarantee."
        )
    if kinds - {"implied"}:
        sentences.append(f"Ticks with an arrow: lower bounds, with {level} confidence.")
    if "Fano" in kinds:
        sentences.append("Fano’s bound is about these classes only, and cannot exceed the log of their number.")
    return " ".join(sentences)


# Several decoders in one chart: their curves, and the information of each.


STEP = 34
MOST_BANDS = 3
"""With more decoders than this, bands hide each other; tooltips have the intervals."""
BOUNDS: dict[str, theme.Shape] = {"guaranteed at least": "triangle-right", "Fano’s bound": "diamond"}


def curves_chart(
    curves: Mapping[str, Curve], ahead: Mapping[str, Sequence[tuple[int, Estimate]]] | None = None
) -> alt.LayerChart:
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
        again += [about | at(one.k, one.accuracy) for one in curve.retrained]
    chance = [at(k, Estimate(1 / k, 1 / k, 1 / k)) for k in drawn_sizes(1, most)]
    listed = list(names.values())
    legend = theme.legend_below([*listed, ""], lines=True)
    tooltips = theme.tooltips(decoder="decoder", classes="classes", value_text="accuracy")
    layers: list[Any] = [
        theme.chart_of(chance)
        .mark_line(style="reference", strokeDash=[2, 2], strokeWidth=1.5, interpolate="monotone")
        .encode(x=across("k"), y=up("accuracy"))
    ]
    for rows, opacity, dash in ((seen, 0.18, [1, 0]), (later, 0.1, [6, 4])):
        base = theme.chart_of(rows).encode(x=across("k"))
        colour = theme.colour(listed, legend if rows is seen else None)
        if len(listed) <= MOST_BANDS:
            area = base.mark_area(opacity=opacity, interpolate="monotone")
            layers.append(area.encode(y=up("low"), y2="high:Q", color=theme.colour(listed, None)))
        known = theme.chart_of([row for row in rows if row["accuracy"] is not None]).encode(x=across("k"))
        line = known.mark_line(strokeWidth=2, interpolate="monotone", strokeDash=dash)
        layers.append(line.encode(y=up("accuracy"), color=colour, tooltip=tooltips))
    if again:
        points = theme.chart_of(again).mark_point(shape="diamond", size=55, filled=True, opacity=1)
        layers.append(
            points.encode(x=across("k"), y=up("accuracy"), color=theme.colour(listed, None), tooltip=tooltips)
        )
    level = next(iter(curves.values())).level
    sentences = ["Lines: accuracy on average over all sets of k of the classes."]
    sentences += ["Dashed: extrapolated."] if later else []
    sentences += ["Diamonds: refitted on fewer classes."] if again else []
    sentences += [f"Bands: {level:.0%} intervals over classes."] if len(listed) <= MOST_BANDS else []
    title = theme.titled(_leader(curves), " ".join([*sentences, "Dotted grey: guessing."]), width=WIDTH + 40)
    chart: alt.LayerChart = theme.finished(layers, WIDTH, HEIGHT, title).resolve_scale(color="independent")
    return chart


@without_options
def decoders_chart(decoders: Decoders) -> alt.LayerChart:
    """Draw the bits of each decoder, most first, with lower bounds."""
    short = labels([each.name for each in decoders.decoders])
    most = reach(*(figures.bits for each in decoders.decoders for figures in (each.implied, each.bound, each.fano)))
    rows: list[theme.Row] = []
    bounds: list[theme.Row] = []
    for label, each in zip(short, decoders.decoders):
        bits = each.implied.bits
        low, high = within(bits, 0.0, most)
        about = {"label": label, "decoder": printable(each.name), "value_text": estimate_text(bits)}
        text = figure(bits.value, ".2f") if bits.known else f"at least {figure(bits.low, '.2f')}"
        rows.append(about | {"low": low, "high": high, "value": bits.value if bits.known else None, "figure": text})
        for what, bound in zip(BOUNDS, (each.bound, each.fano)):
            at_least, _ = within(bound.bits, 0.0, most)
            bounds.append(about | {"what": what, "value": at_least, "value_text": estimate_text(bound.bits)})
    y = alt.Y("label:N", title=None, scale=alt.Scale(domain=short), axis=alt.Axis(ticks=False, domain=False))

    def across(field: str) -> alt.X:
        scale = alt.Scale(domain=[0, most], nice=False)
        return alt.X(f"{field}:Q", scale=scale, title="bits", axis=alt.Axis(tickCount=6))

    marks = alt.Shape(
        "what:N",
        scale=alt.Scale(domain=list(BOUNDS), range=list(BOUNDS.values())),
        legend=alt.Legend(title=None, orient="bottom", symbolSize=60, symbolFillColor=theme.COLOURS[-1]),
    )
    whole = theme.chart_of(rows).encode(y=y, tooltip=theme.tooltips(decoder="decoder", value_text="implied, bits"))
    known = theme.chart_of([row for row in rows if row["value"] is not None]).encode(
        y=y, tooltip=theme.tooltips(decoder="decoder", value_text="implied, bits")
    )
    sure = theme.chart_of(bounds).encode(
        y=y, tooltip=theme.tooltips(decoder="decoder", what="bound", value_text="bits")
    )
    width = 340
    layers: list[Any] = [
        whole.mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        sure.mark_point(size=60, filled=True, opacity=1, color=theme.COLOURS[-1]).encode(
            x=across("value"), shape=marks
        ),
        known.mark_point(size=80, filled=True, opacity=1, color=theme.COLOURS[0]).encode(x=across("value")),
        whole.mark_text(style="name", align="left").encode(x=alt.value(width + 8), text="figure:N"),
    ]
    together = [names for names in decoders.groups() if len(names) > 1]
    alike = shown(
        [" and ".join(labels(names)) if len(names) == 2 else ", ".join(labels(names)) for names in together], 3
    )
    return theme.finished(
        layers,
        width,
        alt.Step(STEP),
        theme.titled(
            f"Most information: {short[0]}" if decoders.decoders[0].told_apart else "The leaders are indistinguishable",
            f"Points: implied information with its {1 - decoders.alpha:.0%} interval, most first. "
            + (f"Indistinguishable from neighbours: {alike}. " if together else "Each is significantly ahead. ")
            + "Grey: lower bounds, for any classes and for these.",
            width=width + 190,
        ),
    )


def _leader(curves: Mapping[str, Curve]) -> str:
    k = min(curve.n_classes for curve in curves.values())
    best = max(curves, key=lambda name: curves[name].at(k).value)
    share = figure(curves[best].at(k).value, ".0%")
    return f"{labels([best])[0]} is most accurate: {share} among {k:,} classes"
