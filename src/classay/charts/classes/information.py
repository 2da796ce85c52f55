"""Information in bits, of one decoder or of several; identification of stimuli, and by the number of responses."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt

from ...classes.identify.ensembles import Ensembles
from ...classes.identify.identify import Identification
from ...classes.information.information import Decoders, Information
from ...expect import shown
from ..kinds import without_options
from ..style import theme
from ..style.theme import beside, estimate_text, figure, labels, printable, within
from .curve import HEIGHT, INK, WIDTH, curve_layers

BITS_WIDTH, STEP = 340, 34
BOUNDS: dict[str, theme.Shape] = {"guaranteed at least": "triangle-right", "Fano’s bound": "diamond"}


@without_options
def information_chart(information: Information) -> alt.LayerChart:
    """Draw the implied information of one curve, with lower bounds."""
    return bits_chart(
        ["the class"],
        [information],
        _bits_title(information, "the class"),
        f"Point: what the best classifier would need for this curve, with its {information.implied.level:.0%} "
        "interval; no guarantee. Grey: lower bounds, for any classes and for these.",
    )


@without_options
def decoders_chart(decoders: Decoders) -> alt.LayerChart:
    """Draw the bits of each decoder, most first, with lower bounds."""
    names = [each.name for each in decoders.decoders]
    together = [names for names in decoders.groups() if len(names) > 1]
    alike = shown(
        [" and ".join(labels(names)) if len(names) == 2 else ", ".join(labels(names)) for names in together], 3
    )
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
    short = labels(names)
    every = [estimate for each in figures for estimate in (each.implied, each.bound, each.fano)]
    ends = [end for bits in every for end in (bits.low, bits.value, bits.high) if math.isfinite(end)]
    most = max([*ends, 0.0]) * 1.12 or 1.0
    rows: list[theme.Row] = []
    bounds: list[theme.Row] = []
    for name, label, each in zip(names, short, figures):
        bits = each.implied
        low, high = within(bits, 0.0, most)
        about = {"label": label, "decoder": printable(name), "value_text": estimate_text(bits)}
        text = figure(bits.value, ".2f") if bits.known else f"at least {figure(bits.low, '.2f')}"
        rows.append(about | {"low": low, "high": high, "value": bits.value if bits.known else None, "figure": text})
        bounds += [
            about | {"what": what, "value": within(bound, 0.0, most)[0], "value_text": estimate_text(bound)}
            for what, bound in zip(BOUNDS, (each.bound, each.fano))
            if bound.low > 0
        ]
    y = alt.Y("label:N", title=None, scale=alt.Scale(domain=short), axis=alt.Axis(ticks=False, domain=False))

    def across(field: str) -> alt.X:
        scale = alt.Scale(domain=[0, most], nice=False)
        return alt.X(f"{field}:Q", scale=scale, title="bits", axis=alt.Axis(tickCount=6))

    marks = alt.Shape(
        "what:N",
        scale=alt.Scale(domain=list(BOUNDS), range=list(BOUNDS.values())),
        legend=alt.Legend(title=None, orient="bottom", symbolSize=60, symbolFillColor=theme.COLOURS[-1]),
    )
    tooltips = theme.tooltips(decoder="decoder", value_text="implied, bits")
    whole = theme.chart_of(rows).encode(y=y, tooltip=tooltips)
    known = theme.chart_of([row for row in rows if row["value"] is not None]).encode(y=y, tooltip=tooltips)
    sure = theme.chart_of(bounds).encode(
        y=y, tooltip=theme.tooltips(decoder="decoder", what="bound", value_text="bits")
    )
    layers = [
        whole.mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        sure.mark_point(size=60, filled=True, opacity=1, color=theme.COLOURS[-1]).encode(
            x=across("value"), shape=marks
        ),
        known.mark_point(size=80, filled=True, opacity=1, color=INK).encode(x=across("value")),
        whole.mark_text(style="name", align="left").encode(x=alt.value(BITS_WIDTH + 8), text="figure:N"),
    ]
    return theme.finished(layers, BITS_WIDTH, alt.Step(STEP), theme.titled(title, sentence, width=BITS_WIDTH + 190))


def _bits_title(information: Information, about: str) -> str:
    bits, sure = information.implied, information.bound
    parts = [f"about {bits.value:.2g} bits"] if bits.known else []
    parts += [f"guaranteed at least {sure.low:.2g}"] if sure.low > 0 else []
    return f"Information about {about}" + (f": {', '.join(parts)}" if parts else "")


# Identification.


@without_options
def identification_chart(identification: Identification) -> alt.HConcatChart:
    """Draw the accuracy of identification over the number of candidates, beside the information in the responses."""
    curve, information = identification.curve, identification.information
    accuracy = curve_layers(
        curve,
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


@without_options
def ensembles_chart(ensembles: Ensembles) -> alt.LayerChart:
    """Draw information over the number of responses, and dashed the extrapolation to twice as many."""
    most = 2 * ensembles.n_responses
    rows: list[theme.Row] = [
        {"q": size, "bits": each.value, "low": each.low, "high": each.high, "value_text": estimate_text(each)}
        for size, each in zip(ensembles.sizes, ensembles.bits)
        if each.known
    ]
    steps = sorted({max(1, round(most * part / 40)) for part in range(1, 41)})
    path: list[theme.Row] = [{"q": size, "bits": ensembles.bits_with(size)} for size in steps]
    top = max([0.1, *(row["high"] for row in rows), *(row["bits"] for row in path if row["bits"] == row["bits"])])
    across = alt.X("q:Q", title="number of responses", scale=alt.Scale(domain=[0, most], nice=False))

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="implied information, bits", scale=alt.Scale(domain=[0, top]))

    points = theme.chart_of(rows).encode(x=across)
    layers = [
        theme.chart_of(path).mark_line(color=INK, strokeDash=[6, 4], strokeWidth=1.5).encode(x=across, y=up("bits")),
        points.mark_rule(color=INK).encode(y=up("low"), y2="high:Q"),
        points.mark_point(color=INK, filled=True, size=50, opacity=1).encode(
            y=up("bits"), tooltip=theme.tooltips(q="responses", value_text="bits")
        ),
    ]
    title = theme.titled(
        f"{figure(ensembles.bits[-1].value)} bits with {ensembles.sizes[-1]:,} responses",
        f"Points: mean over random ensembles, with a {ensembles.bits[-1].level:.0%} interval over ensembles. "
        "Dashed: fitted, and extrapolated to twice as many.",
        width=WIDTH + 40,
    )
    return theme.finished(layers, WIDTH, HEIGHT, title)
