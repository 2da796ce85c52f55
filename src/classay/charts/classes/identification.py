"""How often the right stimulus is identified among k, beside the information in the responses."""

from __future__ import annotations

from typing import Any

import altair as alt

from ...classes.identify.identify import Identification
from ..kinds import Kinds, check_kind
from ..style.theme import beside, figure
from .curve import curve_layers
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
