"""Complexity of each class with equally many rows of each, as points with their intervals."""

from __future__ import annotations

import altair as alt

from ...data.balanced_complexity import BalancedComplexity
from ...intervals import Estimate
from ..kinds import without_options
from ..style.parts import figures_chart

MOST_CLASSES = 30


@without_options
def balanced_complexity_chart(balanced: BalancedComplexity) -> alt.LayerChart:
    """Draw the balanced complexity of the hardest classes."""
    hardest = balanced.by_class.sort_values("balanced", ascending=False, kind="stable").head(MOST_CLASSES)
    figures = {
        str(name): Estimate(value, low, high)
        for name, value, low, high in zip(hardest["class"], hardest["balanced"], hardest["low"], hardest["high"])
    }
    return figures_chart(
        figures,
        "complexity",
        "Complexity under equal class sizes",
        f"{balanced.rows_per_class} rows of each class, {balanced.repeats} samples.",
    )
