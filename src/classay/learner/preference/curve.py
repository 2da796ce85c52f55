"""How preference rises with p: one monotone regression over all trials, and where to place the next trials.

A trial at p gives a share in [0, 1]: ½ + ½·(agreement with f1 − agreement with f2). Its mean is Φ(z(p)), where z rises
with p in straight pieces (a fractional probit regression). All figures are tests of one kind, "is z(p) = c?", by the
quasi-likelihood ratio: the interval of z(0.5) is every c that is not rejected, the interval of p* every p at which
c = 0 is not. So the interval of p* excludes 0.5 exactly where that of the difference at 0.5 excludes 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

from ...arrays import Floats
from ...intervals import Estimate, normal_quantile

KIND = "over training sets and comparison points"
HALF = 0.5
PLACES = 8
"""How many values of p a round spreads its trials over."""
FIRST = np.array([0, 16, 8, 3, 13, 8, 7, 9, 0, 16, 8, 1, 15, 8, 5, 11]) / 16
"""The first round, over and over: more trials at the ends and at equal evidence; any beginning of it is spread."""
FEWEST = 12
"""Trials of the first round, if the budget allows: with fewer, there is nothing to aim by."""
STRAIGHT = 0.8
"""Over this many standard deviations of a trial (on the scale of z) the curve around its crossing is one piece."""
BEND = 200
"""Trials at which that holds; more show smaller bends, so the piece is shorter by the fourth root of their number."""
NEAR = 0.1
"""How far from an end of [0, 1] trials are at least spread, if the curve does not cross."""
FARTHEST = 6.0
"""The largest |z|: a share of 1e-9. Where all trials agree, z has no other limit."""
RIDGE = 1e-4
"""A penalty on the slopes that only matters where trials do not limit them."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A rising curve fitted to trials. `steps` are how much z rises in each piece, `start` is z(0).

    `counts` and `means` are of the trials at each of `places`. A test rejects if it increases the `deviance` by more
    than `limit`: Fisher's quantile times `dispersion`, the variance of a trial relative to that of a coin.
    """

    places: Floats
    counts: Floats
    means: Floats
    knots: Floats
    start: float
    steps: Floats
    deviance: float
    dispersion: float
    limit: float
    level: float

    def z(self, p: float | Floats) -> Floats:
        """Φ⁻¹ of the mean share at p."""
        return np.clip(self.start + _pieces(p, self.knots) @ self.steps, -FARTHEST, FARTHEST)

    def mean(self, p: float | Floats) -> Floats:
        return np.asarray(special.ndtr(self.z(p)))

    def evidence(self, p: float, z: float = 0.0) -> float:
        """By how much z(p) = z increases the deviance, negative if the curve is below."""
        columns = _pieces(self.places, self.knots) - _pieces(p, self.knots)
        _, deviance = _fit(columns, self.counts, self.means, self.steps, z)
        return math.copysign(max(deviance - self.deviance, 0.0), float(self.z(p)) - z)

    def side(self, p: float) -> int:
        """1 if f1 is preferred at p, −1 if f2 is, 0 if that cannot be told."""
        evidence = self.evidence(p)
        return 0 if abs(evidence) <= self.limit else 1 if evidence > 0 else -1

    def share(self, p: float) -> Estimate:
        """The mean share at p, with its interval."""
        z = float(self.z(p))
        low = _end(lambda c: self.evidence(p, c) - self.limit, z, *([0.0] if z > 0 else []), -FARTHEST)
        high = _end(lambda c: -self.evidence(p, c) - self.limit, z, *([0.0] if z < 0 else []), FARTHEST)
        value, low, high = special.ndtr([z, low, high]).tolist()
        return Estimate(value, low, high, self.level, KIND)

    def crossing(self) -> Estimate:
        """Where the mean share is ½, or the end of [0, 1] that is nearest to it."""
        p = 0.0 if self.start >= 0 else 1.0
        if self.start < 0 < float(self.z(1.0)):
            p = float(optimize.brentq(lambda at: float(self.z(at)), 0.0, 1.0))
        low = _end(lambda at: -self.evidence(at) - self.limit, p, *([HALF] if p > HALF else []), 0.0)
        high = _end(lambda at: self.evidence(at) - self.limit, p, *([HALF] if p < HALF else []), 1.0)
        return Estimate(p, low, high, self.level, KIND)

    def window(self, budget: int) -> tuple[float, float]:
        """The values of p around the crossing where the curve may be taken as straight."""
        crossing = self.crossing()
        piece = min(int(np.searchsorted(self.knots, crossing.value, side="right")), self.knots.size - 1) - 1
        slope = max(self.steps[piece] / (self.knots[piece + 1] - self.knots[piece]), self.steps.sum(), 1e-9)
        reach = STRAIGHT * math.sqrt(self.dispersion) * (BEND / budget) ** 0.25 / slope
        reach = max(reach, (crossing.high - crossing.low) / 2)
        if crossing.value in (0.0, 1.0):  # whether it crosses at all shows at the end
            reach = max(crossing.high - crossing.low, NEAR)
        return max(crossing.value - reach, 0.0), min(crossing.value + reach, 1.0)


def fitted(p: Floats, shares: Floats, level: float, window: tuple[float, float] = (0.0, 1.0)) -> Curve:
    """The curve through trials, one piece within the window."""
    places, inverse = np.unique(p, return_inverse=True)
    counts = np.bincount(inverse).astype(float)
    means = np.bincount(inverse, shares) / counts
    (low, high), more = window, (window[1] - window[0]) / 2
    inner = [low - more, low, high, high + more, *(at for at in (0.25, 0.5, 0.75) if not low < at < high)]
    knots = np.unique([0.0, 1.0, *(knot for knot in inner if 0.001 < knot < 0.999)])
    columns = _pieces(places, knots)
    ones = np.ones((places.size, 1))
    heights, deviance = _fit(np.hstack([ones, -ones, columns]), counts, means, np.zeros(knots.size + 1))
    start, steps = float(heights[0] - heights[1]), heights[2:]
    free = max(p.size - knots.size, p.size / 2)  # few trials do not use all pieces
    mean = special.ndtr(start + columns @ steps)
    seen = float(((shares - mean[inverse]) ** 2).sum()) * p.size / free
    # As Agresti and Coull, z² further trials, half of them 0 and half 1: where nothing varied, coins remain possible.
    further = normal_quantile(level) ** 2 / 4
    dispersion = min((seen + further) / (float(counts @ (mean * (1 - mean))) + further), 1.0)
    limit = float(stats.f.ppf(level, 1, free)) * dispersion
    return Curve(places, counts, means, knots, start, steps, deviance, dispersion, limit, level)


def rounds(budget: int) -> list[int]:
    """How many trials each round has: a quarter of them, a quarter, and the rest."""
    first = max(budget // 4, min(budget, FEWEST))
    second = min(budget // 4, budget - first)
    return [count for count in (first, second, budget - first - second) if count]


def spread(count: int, window: tuple[float, float] | None = None) -> Floats:
    """Where the trials of a round are: over all p, or over a window."""
    return np.resize(FIRST if window is None else np.linspace(*window, PLACES), count)


def _pieces(p: float | Floats, knots: Floats) -> Floats:
    """How much of each piece lies below p, from 0 to 1."""
    return np.asarray(np.clip((np.asarray(p)[..., None] - knots[:-1]) / np.diff(knots), 0.0, 1.0))


def _fit(columns: Floats, counts: Floats, means: Floats, heights: Floats, offset: float = 0.0) -> tuple[Floats, float]:
    """Coefficients, none of them negative, with the smallest deviance, and that deviance, by Fisher's scoring."""

    def deviance(heights: Floats) -> tuple[Floats, float]:
        z = np.clip(offset + columns @ heights, -25.0, 25.0)  # beyond, densities are 0
        fit = means * special.log_ndtr(z) + (1 - means) * special.log_ndtr(-z)
        return z, float(RIDGE * heights @ heights - 2 * counts @ fit)

    z, least = deviance(heights)
    for _ in range(100):
        mean, density = special.ndtr(z), np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
        gain = counts * density / (mean * special.ndtr(-z))
        weights = gain * density
        target = columns.T @ (weights * (z - offset) + gain * (means - mean))
        root = np.linalg.cholesky(columns.T * weights @ columns + RIDGE * np.eye(heights.size))
        aim, _ = optimize.nnls(root.T, np.linalg.solve(root, target))
        step, before = 1.0, least
        while step > 1e-9:
            trial = heights + step * (aim - heights)
            z, least = deviance(trial)
            if least <= before:
                break
            step /= 2
        if not least < before - 1e-9:
            return heights, before
        heights = trial
    return heights, least


def _end(excess: Callable[[float], float], start: float, *stops: float) -> float:
    """Where a test begins to reject on the way from `start` over the stops; the last of them if it never does."""
    if excess(start) >= 0:
        return start
    for stop in stops:
        if excess(stop) > 0:
            return float(optimize.brentq(excess, start, stop, xtol=1e-6))
        start = stop
    return start
