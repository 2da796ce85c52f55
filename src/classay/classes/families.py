"""Families of accuracy curves that go on beyond the classes that were seen.

With U the share of all classes that a row beats, accuracy with k classes is E[U^(k−1)]. A family says how U is spread:
U = Φ(a + b·T), where T has a given shape with mean 0 and spread 1 (normal, or that of the rows' own scores). Two
numbers, a and b, are fitted to the observed curve, and the family then tells the accuracy for any k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PLACES = 150
"""Scores of many rows are put together into so many, by quantile: the fit does not tell the difference."""
MOST_STEPS = 60
_LIMITS = np.array([[-8.0, -4.0], [30.0, 3.0]])
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class Family:
    """A shape: `places` of T with `weights` that sum to 1."""

    places: Floats
    weights: Floats

    def accuracy(self, a: float, log_b: float, k: ArrayLike) -> Floats:
        """E[Φ(a + b·T)^(k−1)] for each k, which need not be whole."""
        powers = np.asarray(k, dtype=float) - 1
        logs = np.maximum(log_ndtr(a + math.exp(log_b) * self.places), -1e300)
        found: Floats = self.weights @ np.exp(logs[:, None] * powers.ravel())
        return found.reshape(powers.shape)


def normal_family() -> Family:
    """T normal: the family of two parameters. b = 1 is the curve of implied information with c = a."""
    places = np.linspace(-8.0, 8.0, 161)
    weights = np.exp(-(places**2) / 2)
    return Family(places, weights / weights.sum())


def family_of_scores(scores: Floats, weights: Floats) -> Family | None:
    """T spread as the standardised true scores of the rows; None if fewer than two of them are known and differ."""
    known = np.isfinite(scores)
    if np.count_nonzero(known) < 2:
        return None
    scores, weights = scores[known], weights[known] / weights[known].sum()
    order = np.argsort(scores, kind="stable")
    scores, weights = scores[order], weights[order]
    # The middle of each row's stretch of the whole weight says which quantile it belongs to.
    part = np.minimum((np.cumsum(weights) - weights / 2) * PLACES, PLACES - 1).astype(np.int64)
    mass = np.bincount(part, weights, PLACES)
    places = np.bincount(part, weights * scores, PLACES)[mass > 0] / mass[mass > 0]
    mass = mass[mass > 0] / mass.sum()
    places -= mass @ places
    spread = math.sqrt(float(mass @ places**2))
    if not spread > 1e-12 * max(1.0, float(np.abs(scores).max())):
        return None
    return Family(places / spread, mass)


def fit(
    family: Family, sizes: Ints, accuracy: Floats, uncertainty: float, shrink: float = math.inf
) -> tuple[float, float]:
    """(a, log b) of the member that is nearest to the curve, by damped least squares.

    uncertainty : how far off the curve may be, which says how much it counts against the prior
    shrink : standard deviation of a normal prior for log b around 0; infinite: none to speak of
    """
    scale = 1 / (uncertainty * math.sqrt(sizes.size))
    powers = sizes - 1.0
    pull = np.array([1e-2, max(1 / shrink, 1e-2)])

    def parts(place: Floats) -> tuple[Floats, Floats]:
        """Residuals, and their slopes in a and log b."""
        b = math.exp(place[1])
        at = place[0] + b * family.places
        logs = log_ndtr(at)
        found = family.weights @ np.exp(logs[:, None] * powers)
        steep = np.exp(logs[:, None] * (powers - 1) - at[:, None] ** 2 / 2 - _LOG_ROOT) * powers
        slopes = np.stack([family.weights @ steep, (family.weights * b * family.places) @ steep], axis=1)
        residuals = np.concatenate([(found - accuracy) * scale, (place - [1.5, 0.0]) * pull])
        return residuals, np.concatenate([slopes * scale, np.diag(pull)])

    starts = np.linspace(-1.0, 8.0, 19)
    misses = [float(((family.accuracy(a, 0.0, sizes) - accuracy) ** 2).sum()) for a in starts]
    place = np.array([starts[int(np.argmin(misses))], 0.0])
    residuals, slopes = parts(place)
    best, damping = float(residuals @ residuals), 1e-3
    for _ in range(MOST_STEPS):
        square, down = slopes.T @ slopes, slopes.T @ residuals
        for _ in range(12):
            step = -np.linalg.solve(square + damping * np.diag(np.diag(square) + 1e-12), down)
            tried = np.clip(place + np.clip(step, [-2, -1], [2, 1]), *_LIMITS)
            next_residuals, next_slopes = parts(tried)
            cost = float(next_residuals @ next_residuals)
            if cost < best:
                break
            damping *= 5
        else:
            break
        settled = best - cost < 1e-10 * (1 + best)
        place, residuals, slopes, best, damping = tried, next_residuals, next_slopes, cost, max(damping / 5, 1e-10)
        if settled:
            break
    return float(place[0]), float(place[1])
