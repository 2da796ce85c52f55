"""How repeatable one learner is: its figures beside how agreement is spread over points."""

from __future__ import annotations

import altair as alt
import numpy as np

from ..learner.regression_stability import RegressionStability
from ..learner.stability import Stability
from .figures import figures_chart
from .histogram import histogram
from .words import cut, figure


def stability_figures(found: Stability) -> alt.LayerChart:
    """Draw stability, kappa, accuracy and the agreement on one subset, with their intervals."""
    return figures_chart(
        {
            "stability": found.stability,
            "kappa": found.kappa,
            "same subset": found.same_subset,
            "accuracy": found.accuracy,
        },
        "agreement, accuracy",
        f"{cut(found.learner)}: two refits agree on {found.stability.value:.1%}",
        f"Stability: agreement of refits on {found.pairs}, on {found.n_points:,} {cut(found.on)}; kappa: beyond "
        f"chance; same subset: of refits on the same rows. Lines: {found.stability.level:.0%} intervals.",
    )


def agreement_histogram(found: Stability) -> alt.LayerChart:
    """Draw on how many points refits agree always, often or seldom."""
    always = float((found.per_point >= 1 - 1e-9).mean())
    return histogram(
        found.per_point,
        (0.0, 1.0),
        "share of pairs of refits that agree at a point",
        found.stability.value,
        "Where refits agree and where they do not",
        f"On {always:.0%} of the points all pairs agree.",
    )


def regression_figures(found: RegressionStability) -> alt.LayerChart:
    """Draw agreement within the tolerance, concordance and R², with their intervals."""
    return figures_chart(
        {
            "within tolerance": found.stability,
            "concordance": found.concordance,
            "same subset": found.same_subset,
            "R²": found.r2,
        },
        "agreement, R²",
        f"{cut(found.learner)}: two refits are within {figure(found.tolerance)} on {found.stability.value:.1%}",
        f"Refits on {found.pairs}, on {found.n_points:,} {cut(found.on)}; same subset: within the tolerance, of refits "
        f"on the same rows. Lines: {found.stability.level:.0%} intervals.",
    )


def spread_histogram(found: RegressionStability) -> alt.LayerChart:
    """Draw how far answers spread over subsets, in units of the target."""
    most = float(np.quantile(found.spread, 0.99)) or 1.0
    return histogram(
        found.spread,
        (0.0, most * 1.05),
        "standard deviation of answers over subsets",
        float(found.spread.mean()),
        "How far answers spread at a point",
        "In units of the target; the last bar holds all that spread more.",
    )
