"""The error rate by complexity: points with their intervals, the easiest rows first."""

from __future__ import annotations

import altair as alt

from ...data.complexity_against import ComplexityAgainst
from ...intervals import Estimate
from ..kinds import without_options
from ..style.parts import figures_chart


@without_options
def complexity_against_chart(against: ComplexityAgainst) -> alt.LayerChart:
    """Draw the error rate in ranges of complexity."""
    columns = ["low", "high", "error_rate", "rate_low", "rate_high"]
    figures = {
        f"{low:.3g} to {high:.3g}": Estimate(float(rate), float(least), float(most))
        for low, high, rate, least, most in against.curve[columns].to_numpy(dtype=float)
    }
    return figures_chart(
        figures,
        "error rate, by complexity",
        "Errors by complexity",
        f"AUC of complexity for {against.errors} errors: {against.auc:.3f}.",
    )
