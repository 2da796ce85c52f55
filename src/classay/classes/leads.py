"""Fits π̄_k(c) to a measured curve: the information ι = c²/2 that it implies, and how sure that is over classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ..intervals import Estimate, share_around
from .channel import lead, mean_slope, mean_top
from .curve import Curve
from .evidence import Evidence, chances
from .paired import paired_error

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_SIZES = 60
_FARTHEST = 40.0
KIND = "over classes"


@dataclass(frozen=True, eq=False)
class Fit:
    """The c of the curve π̄_k(c) nearest to a measured one at some `sizes`, and what its interval hangs on.

    One number of the curve holds all that c depends on: its `mean` with the slopes of the fitted curve as `weights`;
    `error` is the standard error of that over classes. c is infinite where every answer was right.
    """

    curve: Curve
    sizes: Ints
    c: float
    weights: Floats
    mean: float
    error: float

    def nats(self, level: float) -> Estimate:
        """ι = c²/2 with its interval; a curve below chance has none."""
        found = self.lead(level)
        value, low, high = (max(c, 0.0) ** 2 / 2 for c in (found.value, found.low, found.high))
        return Estimate(value if math.isfinite(value) else math.nan, low, high, level, found.kind)

    def lead(self, level: float) -> Estimate:
        """The c with its interval: near symmetric on the logit scale of the mean, and within what is possible."""
        alpha, ranks = 1 - level, self.curve.ranks
        if math.isinf(self.c):
            # No error; the least that so many independent classes leave possible.
            share = (alpha / 2) ** (1 / np.unique(ranks.truth).size)
            low = float(lead(share, self.curve.n_classes))
            return Estimate(math.inf, low, math.inf, level, "not identified: every answer was right")
        if not (self.mean > 0 and math.isfinite(self.error)):
            kind = "unbounded: too few classes, or none right, to tell how much classes differ"
            return Estimate(self.c, -math.inf, math.inf, level, kind)
        mean = share_around(self.mean, self.error, level, draws=ranks.n_groups)
        low, high = (lead_of_mean(end, self.sizes, self.weights) for end in (mean.low, mean.high))
        return Estimate(self.c, min(low, self.c), max(high, self.c), level, KIND)

    def without_each(self) -> Floats:
        """The mean without each group of classes in turn."""
        figure, n_groups = mean_of_curve(self.sizes, self.weights), self.curve.ranks.n_groups
        kept = ~np.eye(n_groups, dtype=bool)
        return np.array([figure(self.curve.ranks.among(mask, self.curve.ties, statistics=False)) for mask in kept])


def fit(curve: Curve) -> Fit:
    """Fit π̄_k(c) to a curve, by least squares over sizes that are evenly spaced on a log scale."""
    sizes = some_sizes(curve.n_classes)
    accuracy = curve.accuracy[sizes - 1]
    if accuracy.min() >= 1:
        return Fit(curve, sizes, math.inf, np.zeros(sizes.size), 1.0, 0.0)
    c = fit_lead(accuracy, sizes)
    weights = mean_slope(c, sizes)
    weights /= weights.sum()
    # Of two classes none can be left out.
    error = math.nan
    if curve.n_classes > 2:
        error = paired_error(curve.ranks, mean_of_curve(sizes, weights), curve.ties)
    return Fit(curve, sizes, c, weights, float(weights @ accuracy), error)


def fit_lead(accuracy: Floats, sizes: Ints) -> float:
    """The c whose curve π̄_k(c) is nearest to the given one, by least squares over the given sizes."""
    # Each size has its own c; the best for all lies between them, where the slope of the squares changes its sign.
    own = lead(np.clip(accuracy, 1e-12, 1 - 1e-12), sizes)
    low, high = float(own.min()), float(own.max())

    def slope(c: float) -> float:
        return float(mean_slope(c, sizes) @ (accuracy - mean_top(c, sizes)))

    if high - low < 1e-12 or slope(low) <= 0:
        return low
    return high if slope(high) >= 0 else float(brentq(slope, low, high, xtol=1e-12))


def mean_of_curve(sizes: Ints, weights: Floats) -> Callable[[Evidence], float]:
    """The weighted mean of a curve; a size that is no longer there counts as the largest that is."""
    by_beaten: dict[int, Floats] = {}

    def mean(evidence: Evidence) -> float:
        n_classes = evidence.n_classes
        if n_classes not in by_beaten:
            by_beaten[n_classes] = weights @ chances(n_classes, np.minimum(sizes, n_classes).tobytes())
        return float(by_beaten[n_classes] @ evidence.beaten) if evidence.lower.size else math.nan

    return mean


def lead_of_mean(mean: float, sizes: Ints, weights: Floats) -> float:
    """The c at which the weighted mean of the curve π̄_k(c) is as given."""
    ends = -_FARTHEST, _FARTHEST

    def above(c: float) -> float:
        return float(weights @ mean_top(c, sizes)) - mean

    if above(ends[0]) >= 0 or above(ends[1]) <= 0:
        return -math.inf if above(ends[0]) >= 0 else math.inf
    return float(brentq(above, *ends, xtol=1e-10))


def some_sizes(n_classes: int) -> Ints:
    """Sizes from 2 to K, evenly spaced on a log scale."""
    return np.unique(np.geomspace(2, n_classes, MOST_SIZES).round().astype(np.int64))
