"""How often the right stimulus is picked among k, and how well the model tells each response."""

from __future__ import annotations

import altair as alt

from ..classes.identify import Identification
from .curve import drawn
from .words import figure


def identification_chart(found: Identification) -> alt.LayerChart:
    """Draw the accuracy of identification over the number of candidates, on a logarithmic axis."""
    curve = found.curve
    return drawn(
        curve,
        f"The right one of {found.n_candidates:,} stimuli is picked in {figure(found.accuracy.value, '.0%')} of cases",
        "Line: accuracy on average over all sets of k stimuli that the model was not fitted on. Band: "
        f"{curve.level:.0%} interval over stimuli.",
        what="candidates",
    )
