"""Versions compared, raters compared, and how many repeats suffice: figures with their intervals."""

from __future__ import annotations

import altair as alt

from ...learner.versions.compare import Comparison
from ..kinds import without_options
from ..style.parts import figures_chart
from ..style.theme import printable


@without_options
def comparison_chart(comparison: Comparison) -> alt.LayerChart:
    """Draw what changed from one version to the next, and the part that a mere refit changes."""
    figures = {
        "predictions that change": comparison.churn,
        "of these by a mere refit": comparison.refit_churn,
        "beyond a refit": comparison.beyond_refit,
        "turn wrong": comparison.regressions,
        "turn right": comparison.gains,
        "accuracy, new − old": comparison.difference,
    }
    title = f"From {printable(comparison.old)} to {printable(comparison.new)}"
    return figures_chart(figures, "share of items", title, f"{comparison.n_items:,} items. Line: 95 % interval.")
