"""Information in bits, of one decoder or of several; identification of stimuli, and by the number of responses."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt

from ..classes.identify.identify import Identification
from ..classes.information.information import Decoders, Information
from ..expect import shown
from .curve import INK, accuracy_chart
from .style import theme
from .style.parts import by_name, written
from .style.theme import Row, beside, estimate_text, figure, interval, labels, printable, within

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
