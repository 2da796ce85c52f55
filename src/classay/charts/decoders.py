"""Several decoders in one chart: their curves, and how much each tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from ..classes.curve import Curve
from ..classes.decoders import Decoders
from ..expect import InputError, shown
from ..intervals import Estimate
from . import sizes, theme
from .curve import HEIGHT, WIDTH, at, joined, up
from .information import reach
from .words import figure, labels, printable, told, within

STEP = 34
MOST_BANDS = 3
"""With more decoders than this, bands hide each other; tooltips have the intervals."""
BOUNDS: dict[str, theme.Shape] = {"surely at least": "triangle-right", "Fano’s bound": "diamond"}


def curves_chart(
    curves: Mapping[str, Curve], ahead: Mapping[str, Sequence[tuple[int, Estimate]]] | None = None
) -> alt.LayerChart:
    """Draw the accuracy of several decoders over the number of classes, and dashed what lies `ahead` of each."""
    if not curves:
        raise InputError("There is nothing to draw; give at least one curve.")
    names = dict(zip(curves, labels(list(curves))))
    beyond = {name: list((ahead or {}).get(name, ())) for name in curves}
    most = max(max([curve.n_classes, *(k for k, _ in beyond[name])]) for name, curve in curves.items())

    def across(field: str) -> alt.X:
        return sizes.across(field, most, WIDTH)

    seen: list[theme.Row] = []
    later: list[theme.Row] = []
    again: list[theme.Row] = []
    for name, curve in curves.items():
        about = {"label": names[name], "decoder": printable(name)}
        seen += [about | at(k, curve.at(k)) for k in sizes.drawn(1, curve.n_classes)]
        later += [about | at(k, each) for k, each in [*joined(curve, beyond[name]), *beyond[name]]]
        again += [about | at(one.k, one.accuracy) for one in curve.retrained]
    chance = [at(k, Estimate(1 / k, 1 / k, 1 / k)) for k in sizes.drawn(1, most)]
    listed = list(names.values())
    legend = theme.legend_below([*listed, ""], lines=True)
    tooltips = theme.tooltips(decoder="decoder", classes="classes", told="accuracy")
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
    said = ["Lines: accuracy on average over all sets of k of the classes."]
    said += ["Dashed: extrapolated."] if later else []
    said += ["Diamonds: fitted anew on so few classes."] if again else []
    said += [f"Bands: {level:.0%} intervals over classes."] if len(listed) <= MOST_BANDS else []
    title = theme.titled(_leader(curves), " ".join([*said, "Dotted grey: guessing."]), width=WIDTH + 40)
    chart: alt.LayerChart = theme.finished(layers, WIDTH, HEIGHT, title).resolve_scale(color="independent")
    return chart


def decoders_chart(found: Decoders) -> alt.LayerChart:
    """Draw how many bits each decoder tells, most first, with what is sure."""
    short = labels([each.name for each in found.decoders])
    most = reach(*(figures.bits for each in found.decoders for figures in (each.implied, each.bound, each.fano)))
    rows: list[theme.Row] = []
    bounds: list[theme.Row] = []
    for label, each in zip(short, found.decoders):
        bits = each.implied.bits
        low, high = within(bits, 0.0, most)
        about = {"label": label, "decoder": printable(each.name), "told": told(bits)}
        text = figure(bits.value, ".2f") if bits.known else f"at least {figure(bits.low, '.2f')}"
        rows.append(about | {"low": low, "high": high, "value": bits.value if bits.known else None, "figure": text})
        for what, bound in zip(BOUNDS, (each.bound, each.fano)):
            bounds.append(about | {"what": what, "value": within(bound.bits, 0.0, most)[0], "told": told(bound.bits)})
    y = alt.Y("label:N", title=None, scale=alt.Scale(domain=short), axis=alt.Axis(ticks=False, domain=False))

    def across(field: str) -> alt.X:
        scale = alt.Scale(domain=[0, most], nice=False)
        return alt.X(f"{field}:Q", scale=scale, title="bits", axis=alt.Axis(tickCount=6))

    marks = alt.Shape(
        "what:N",
        scale=alt.Scale(domain=list(BOUNDS), range=list(BOUNDS.values())),
        legend=alt.Legend(title=None, orient="bottom", symbolSize=60, symbolFillColor=theme.COLOURS[-1]),
    )
    whole = theme.chart_of(rows).encode(y=y, tooltip=theme.tooltips(decoder="decoder", told="implied, bits"))
    known = theme.chart_of([row for row in rows if row["value"] is not None]).encode(
        y=y, tooltip=theme.tooltips(decoder="decoder", told="implied, bits")
    )
    sure = theme.chart_of(bounds).encode(y=y, tooltip=theme.tooltips(decoder="decoder", what="bound", told="bits"))
    width = 340
    layers: list[Any] = [
        whole.mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        sure.mark_point(size=60, filled=True, opacity=1, color=theme.COLOURS[-1]).encode(
            x=across("value"), shape=marks
        ),
        known.mark_point(size=80, filled=True, opacity=1, color=theme.COLOURS[0]).encode(x=across("value")),
        whole.mark_text(style="name", align="left").encode(x=alt.value(width + 8), text="figure:N"),
    ]
    together = [names for names in found.groups() if len(names) > 1]
    alike = shown(
        [" and ".join(labels(names)) if len(names) == 2 else ", ".join(labels(names)) for names in together], 3
    )
    return theme.finished(
        layers,
        width,
        alt.Step(STEP),
        theme.titled(
            f"Who tells most: {short[0]}" if found.decoders[0].told_apart else "Who tells most cannot be told",
            f"Points: implied information with its {1 - found.alpha:.0%} interval, most first. "
            + (f"Not told apart from their neighbours: {alike}. " if together else "Each is surely ahead of the next. ")
            + "Grey: what there is at least, for any classes and for these.",
            width=width + 190,
        ),
    )


def _leader(curves: Mapping[str, Curve]) -> str:
    k = min(curve.n_classes for curve in curves.values())
    best = max(curves, key=lambda name: curves[name].at(k).value)
    share = figure(curves[best].at(k).value, ".0%")
    return f"{labels([best])[0]} is right most often: {share} among {k:,} classes"
