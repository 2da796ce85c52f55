"""Intervals of extrapolated shares, on the logit scale: from the jackknife over classes and the gap of two methods."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from ...arrays import Floats
from ...intervals import Estimate

WIDEST = 0.6
"""A wider interval is not a useful forecast: it is reported as not identified."""
OF_ERROR, OF_GAP = 0.85, 0.6
"""Weights of the jackknife's error and of the gap between two methods: set so that intervals hold in simulations."""
KIND = "over classes, extrapolated"


def share_intervals(
    value: Floats, error: Floats, gap: Floats, level: float, most: float, n_classes: int, n_groups: int
) -> list[Estimate]:
    """An estimate for each share: `error` and `gap` are on the logit scale, `most` is the largest possible share."""
    low, high = share_limits(value, error, gap, level, most, n_groups)
    estimates = []
    for one, least, top in zip(value, low, high):
        least, top = float(least), float(top)
        if not math.isfinite(least + top) or top - least > WIDEST:
            least, top = (0.0, most) if not math.isfinite(least + top) else (least, top)
            why = f"not identified: {n_classes:,} classes leave anything from {least:.2g} to {top:.2g} possible"
            estimates.append(Estimate(math.nan, least, top, level, why))
        else:
            estimates.append(Estimate(float(one), least, top, level, KIND))
    return estimates


def share_limits(
    value: Floats, error: Floats, gap: Floats, level: float, most: float, n_groups: int
) -> tuple[Floats, Floats]:
    """Limits of shares: Student's quantile times √((.85·error)² + (.6·gap)²) to each side, at most `most`."""
    centre = logit(np.clip(value, 1e-300, 1 - 1e-15))
    reach = float(stats.t.ppf(0.5 + level / 2, max(n_groups - 1, 1))) * np.hypot(OF_ERROR * error, OF_GAP * gap)
    low, high = expit(centre - reach), np.minimum(expit(centre + reach), most)
    return np.minimum(low, value), np.maximum(high, value)
