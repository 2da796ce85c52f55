"""Rows unlike the known ones: their share, beside the stated rate of false alarms."""

from __future__ import annotations

import math

import altair as alt

from ...data.unlike_known import UnlikeKnown
from ...intervals import exact
from ..kinds import without_options
from ..style.parts import figures_chart


@without_options
def unlike_known_chart(unlike: UnlikeKnown) -> alt.LayerChart:
    """Draw the share of flagged rows and what is expected of rows of the same kind."""
    figures = {"flagged": unlike.share, "expected false alarms": exact(unlike.false_alarms)}
    chance = "p is unknown: rows come in groups." if math.isnan(unlike.p_value) else f"p = {unlike.p_value:.2g}."
    return figures_chart(figures, "share of the rows", "Rows unlike the known ones", chance)
