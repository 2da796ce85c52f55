"""Versions compared, raters compared, and how many repeats suffice: figures with their intervals."""

from __future__ import annotations

import altair as alt

from ...intervals import Estimate
from ...learner.versions.compare import Comparison
from ...learner.versions.judges import Judges
from ...learner.versions.repeats import Repeats
from ..kinds import without_options
from ..style.parts import figures_chart
from ..style.theme import printable

MOST = 12
"""Pairs of raters that are drawn."""


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


@without_options
def judges_chart(judges: Judges) -> alt.LayerChart:
    """Draw how often raters agree with themselves and with each other."""
    figures = {f"{printable(each.name)} asked again": each.self_agreement for each in judges.raters}
    for pair in judges.pairs[:MOST]:
        figures[f"{printable(pair.one)} and {printable(pair.other)}"] = pair.agreement
    return figures_chart(figures, "share of items rated the same", "Do raters agree?", f"{judges.n_items:,} items.")


@without_options
def repeats_chart(repeats: Repeats) -> alt.LayerChart:
    """Draw the half-width of the interval of accuracy by the number of runs."""
    figures = {
        f"{runs} run{'s' * (runs != 1)}": Estimate(width, width, width, kind="half-width")
        for runs, width in repeats.half_widths.items()
    }
    title = f"{repeats.repeats.value:.0f} run{'s' * (repeats.repeats.value != 1)} suffice"
    return figures_chart(figures, "half-width of the interval of accuracy", title, f"{repeats.n_items:,} items.")
