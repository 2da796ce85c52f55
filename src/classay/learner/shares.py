"""What answers between 0 and 1 tell: their mean at one place, and where a rising curve through two places is 0.5."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ..intervals import Estimate

Floats = NDArray[np.float64]
KIND = "over training sets and probes"


def mean_share(shares: Floats, level: float) -> Estimate:
    """Mean of shares in [0, 1], with Wilson's interval for as many answers as their spread is worth.

    Answers that are all 0 or 1 are worth one each, and it is Wilson's interval; answers that hardly differ are worth
    many, and it is nearly Student's. All the same answer leaves room for others, as rare as their absence tells.
    """
    count, mean = shares.size, float(shares.mean())
    possible, spread = mean * (1 - mean), float(shares.var(ddof=1)) if count > 1 else 0.0
    if spread <= 1e-18:
        rare = 1 - ((1 - level) / 2) ** (1 / count)
        return Estimate(mean, mean * (1 - rare), mean * (1 - rare) + rare, level, KIND)
    worth = min(max(count * possible / spread, count), 1e12)
    z = float(stats.t.ppf(0.5 + level / 2, max(count - 1, 1)))
    middle = (mean + z**2 / (2 * worth)) / (1 + z**2 / worth)
    reach = z / (1 + z**2 / worth) * math.sqrt(possible / worth + z**2 / (4 * worth**2))
    return Estimate(mean, max(middle - reach, 0.0), min(middle + reach, 1.0), level, KIND)


def between(low: float, high: float, below: Floats, above: Floats, level: float) -> Estimate | None:
    """Where a curve is 0.5 by its answers at two places, with Fieller's interval; None if it is not told to rise.

    The means are put on the scale z = Φ⁻¹(mean), on which most rising curves are straight for a good while. The
    interval holds every p at which the line through the two z is not told from 0.
    """
    means, counts = np.array([below.mean(), above.mean()]), np.array([below.size, above.size])
    if counts.min() < 3 or means.min() <= 0 or means.max() >= 1 or max(np.ptp(below), np.ptp(above)) < 1e-9:
        return None  # a step between two answers that never vary is somewhere between
    z = stats.norm.ppf(means)
    first, second = (np.array([below.std(ddof=1), above.std(ddof=1)]) / stats.norm.pdf(z)) ** 2 / counts
    t = float(stats.t.ppf(0.5 + level / 2, counts.sum() - 2))
    # A share x of the way the line is z0 + x·slope, its variance (1 − x)²·first + x²·second: Fieller's a·x² + 2b·x + c.
    start, slope = float(z[0]), float(z[1] - z[0])
    a, c = slope**2 - t**2 * (first + second), start**2 - t**2 * first
    b = start * slope + t**2 * first
    if slope <= 0 or a <= 0:
        return None
    root = math.sqrt(max(b * b - a * c, 0.0))
    value, least, most = (low + part * (high - low) for part in (-start / slope, (-b - root) / a, (-b + root) / a))
    return Estimate(float(value), float(least), float(most), level, KIND)
