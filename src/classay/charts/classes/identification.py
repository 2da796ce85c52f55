"""How often the right stimulus is identified among k, beside the information in the responses."""

from __future__ import annotations

from typing import Any

import altair as alt

from ...classes.identify.ensembles import Ensembles
from ...classes.identify.identify import Identification
from ..kinds import Kinds, check_kind, without_options
from ..style import theme
from ..style.theme import beside, estimate_text, figure
from .curve import HEIGHT, INK, WIDTH, curve_layers
from .information import information_chart

KINDS: Kinds = {"both": (), "curve": (), "information": ()}


def draw_identification(identification: Identification, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both, curve, information."""
    check_kind(kind, KINDS, options)
    if kind == "curve":
        return identification_chart(identification)
    information = information_chart(
        identification.implied, identification.bound, identification.fano, about="the stimulus"
    )
    return information if kind == "information" else beside(identification_chart(identification), information)


def identification_chart(identification: Identification) -> alt.LayerChart:
    """Draw the accuracy of identification over the number of candidates, on a logarithmic axis."""
    curve = identification.curve
    return curve_layers(
        curve,
        f"{figure(identification.accuracy.value, '.0%')} of responses identify the right one of "
        f"{identification.n_candidates:,} stimuli",
        "Line: accuracy on average over all sets of k stimuli that the model was not fitted on. Band: "
        f"{curve.level:.0%} interval over stimuli.",
        what="candidates",
    )


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
    layers: list[Any] = [
        theme.chart_of(path).mark_line(color=INK, strokeDash=[6, 4], strokeWidth=1.5).encode(x=across, y=up("bits")),
        points.mark_rule(color=INK).encode(y=up("low"), y2="high:Q"),
        points.mark_point(color=INK, filled=True, size=50, opacity=1).encode(
            y=up("bits"), tooltip=theme.tooltips(q="responses", value_text="bits")
        ),
    ]
    title = f"{figure(ensembles.bits[-1].value)} bits with {ensembles.sizes[-1]:,} responses"
    return theme.finished(
        layers,
        WIDTH,
        HEIGHT,
        theme.titled(
            title,
            f"Points: mean over random ensembles, with a {ensembles.bits[-1].level:.0%} interval over ensembles. "
            "Dashed: fitted, and extrapolated to twice as many.",
            width=WIDTH + 40,
        ),
    )
