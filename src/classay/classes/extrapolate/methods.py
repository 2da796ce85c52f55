"""Methods that estimate the distribution of U, the share of all classes that a row beats: functions of evidence.

Accuracy with k classes is E[U^(k−1)], for any k. Each method takes the evidence of some classes and gives a
`BeatenShare`. `combined`, the default, is two of them, whose figures are averaged on the logit scale: they err in
opposite directions, and no single one is better on as many kinds of data (`benchmarks/extrapolation.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.optimize import nnls
from scipy.special import betainc, expit, log_ndtr, logit, ndtr, ndtri

from ...arrays import Floats, Ints
from ...expect import InputError
from ..curve.curve import Curve
from ..curve.jackknife import class_samples
from ..information.channel import DENSITY, NODES, fit_mean_top, log_spaced_sizes
from ..ranks.evidence import Evidence, RankCost, costs_of_ranks

SIZES = 40
SHRINK = 0.3
"""How far the spread of the combined normal member may deviate from 1, as a standard deviation of its logarithm."""
UPPER_PART = 0.3
"""The combined normal member is fitted to sizes from this share of the classes on."""
PLACES = 150
"""Scores of many rows are summarised by this many quantiles, which does not change the fit noticeably."""
MOST_STEPS = 60
PARTS = 40
LEAST_KNOWN = 0.5
"""With less than this share of standardised scores, their shape is not used."""
BANDWIDTHS = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
USUAL_BANDWIDTH = 0.5
RIDGE = 1e-4
MOST_FOR_COSTS = 10**7
"""Costs by rank need a sum over ranks; with more classes than this it would take too long."""
REACH = 12.0
"""Standard deviations of a binomial number that are summed to each side; what lies beyond is below 1e-30."""
_LIMITS = np.array([[-8.0, -4.0], [30.0, 3.0]])
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class BeatenShare:
    """U = Φ(z) at places `z` with `weights` that sum to 1. z may be infinite: a row that beats all classes, or none.

    >>> half = BeatenShare(np.array([0.0]), np.array([1.0]))
    >>> half.accuracy([1, 2, 3]), half.top(2, [3, 4])
    (array([1.  , 0.5 , 0.25]), array([0.75, 0.5 ]))
    """

    z: Floats
    weights: Floats

    def accuracy(self, k: ArrayLike) -> Floats:
        """E[U^(k−1)] for each k."""
        powers = np.asarray(k, dtype=float) - 1
        logs = np.maximum(log_ndtr(self.z), -1e280)  # times 1e12 is still a number
        accuracy: Floats = self.weights @ np.exp(logs[:, None] * powers.ravel())
        return np.minimum(accuracy, 1.0).reshape(powers.shape)

    def top(self, m: int, k: ArrayLike) -> Floats:
        """The chance that at most m − 1 of k − 1 others score higher: E P[Bin(k − 1, 1 − U) ≤ m − 1] for each k."""
        sizes = np.asarray(k, dtype=float)
        flat, beaten_by = sizes.ravel(), ndtr(-self.z)[:, None]
        chance = np.ones((self.z.size, flat.size))
        more = flat > m
        if more.any():
            # P[Bin(n, q) ≤ m − 1] = 1 − I_q(m, n − m + 1), which stays exact where q is tiny.
            chance[:, more] = 1 - betainc(float(m), flat[more] - m, beaten_by)
        chances: Floats = self.weights @ chance
        return np.minimum(chances, 1.0).reshape(sizes.shape)

    def below(self, u: ArrayLike) -> Floats:
        """P[U ≤ u]: between places it rises evenly on the probit scale."""
        wanted = np.asarray(u, dtype=float)
        finite = np.isfinite(self.z)
        order = np.argsort(self.z[finite], kind="stable")
        z, weights = self.z[finite][order], self.weights[finite][order]
        none = float(self.weights[np.isneginf(self.z)].sum())
        places = ndtri(wanted)
        if z.size == 1:
            rising = np.where(places >= z[0], weights[0], 0.0)
        elif z.size:
            ends = np.concatenate([[z[0] - (z[1] - z[0]) / 2], (z[1:] + z[:-1]) / 2, [z[-1] + (z[-1] - z[-2]) / 2]])
            rising = np.interp(places, ends, np.concatenate([[0.0], np.cumsum(weights)]))
        else:
            rising = np.zeros(wanted.shape)
        shares: Floats = np.where(wanted >= 1, 1.0, np.minimum(none + rising, 1.0))
        return shares

    def mean_cost(self, k: int, cost: RankCost) -> float:
        """E[cost(R)], R the rank of the true class among k, from 1: R − 1 is Bin(k − 1, 1 − U)."""
        if k > MOST_FOR_COSTS:
            raise InputError(
                f"`k` is {k}; costs by rank are summed over ranks, for at most {MOST_FOR_COSTS:,} classes."
            )
        n, total = k - 1, 0.0
        for z, weight in zip(self.z, self.weights):
            share = float(ndtr(-z))
            middle, reach = n * share, REACH * np.sqrt(n * share * (1 - share)) + 30
            above = np.arange(max(int(middle - reach), 0), min(int(middle + reach), n) + 1)
            # A sum of terms: a binomial number far from its mean has a chance below 1e-30.
            chances = stats.binom.pmf(above, n, share)
            total += float(weight) * float(chances @ costs_of_ranks(cost, above + 1)) / float(chances.sum())
        return total


Method = Callable[[Evidence], BeatenShare]


def shrunk_normal(evidence: Evidence) -> BeatenShare:
    """Φ⁻¹(U) normal, with a spread near 1, that of implied information, and fitted to the larger sizes."""
    return fit_to_evidence(evidence, normal_family(), SHRINK, UPPER_PART)


def calibrated(evidence: Evidence) -> BeatenShare:
    """Φ⁻¹(U) = a + b·z with the rows' own standardised scores z."""
    family = family_of_scores(evidence.z, evidence.weights)
    # If scores carry no more than their order, a normal shape is used instead of theirs.
    return fit_to_evidence(evidence, family or normal_family(), math.inf, 0.0)


def two_parameter(evidence: Evidence) -> BeatenShare:
    """Φ⁻¹(U) normal with any mean and spread."""
    return fit_to_evidence(evidence, normal_family(), math.inf, 0.0)


def implied(evidence: Evidence) -> BeatenShare:
    """One parameter: π̄_k(√(2ι)) with the implied information ι of the whole curve."""
    sizes = log_spaced_sizes(evidence.n_classes, SIZES)
    return BeatenShare(fit_mean_top(evidence.accuracy(sizes), sizes) + NODES, DENSITY)


def moments(evidence: Evidence, bandwidth: float = USUAL_BANDWIDTH) -> BeatenShare:
    """A mixture by moment regression (Zheng, Achanta & Benjamini).

    The distribution of U is a sum, with non-negative weights, of Φ((Φ⁻¹(u) − t_l)/b) over places t_l, plus a part at 1.
    Its moments are then the same sum of the moments of the parts, so the weights follow from the observed curve by
    non-negative least squares. What the parts leave is at 0: rows that beat no class.
    """
    sizes = np.unique(np.geomspace(1, evidence.n_classes, 100).round().astype(np.int64))
    reach, family = float(ndtri(1 - 1 / evidence.n_classes**2)), normal_family()
    parts = [family.member(place, float(np.log(bandwidth))) for place in np.linspace(-reach, reach, PARTS)]
    # One class alone is always right, whatever the rest: a separate column takes what is missing there.
    design = np.column_stack([*(part.accuracy(sizes) for part in parts), np.ones(sizes.shape), sizes == 1])
    # Neighbouring parts are nearly equal; a little ridge makes the search end if there are many solutions.
    ridge = RIDGE * np.eye(design.shape[1])
    goal = np.concatenate([evidence.accuracy(sizes), np.zeros(len(ridge))])
    weights: Floats = nnls(np.concatenate([design, ridge]), goal, maxiter=100 * len(ridge))[0][:-1]
    mass = np.concatenate([*(weight * part.weights for weight, part in zip(weights, parts)), weights[-1:]])
    total = float(mass.sum())
    return BeatenShare(
        np.concatenate([*(part.z for part in parts), [math.inf, -math.inf]]),
        np.concatenate([mass / max(total, 1.0), [max(1 - total, 0.0)]]),
    )


def best_bandwidth(parts: Iterable[Evidence], n_classes: int, accuracy: float) -> float:
    """The width with which parts of the classes best predict the accuracy with all of them."""
    some = list(parts)
    if not some:
        return USUAL_BANDWIDTH
    misses = [
        float(np.mean([(moments(part, width).accuracy([n_classes])[0] - accuracy) ** 2 for part in some]))
        for width in BANDWIDTHS
    ]
    return BANDWIDTHS[int(np.argmin(misses))]


METHODS: dict[str, tuple[Method, ...]] = {
    "combined": (shrunk_normal, calibrated),
    "calibrated": (calibrated,),
    "two_parameter": (two_parameter,),
    "implied": (implied,),
    "moments": (moments,),
}
"""What makes the distributions of U of each method; a figure of several is their mean on the logit scale."""


def methods_for(curve: Curve, name: str, seed: int) -> tuple[Method, ...]:
    """What makes the distributions of a method for a curve; the width of `moments` comes from half of its classes."""
    if name != "moments":
        return METHODS[name]
    halves = [
        part for part in class_samples(curve.ranks, curve.ties, 5, seed) if part.n_classes > 2 and part.lower.size
    ]
    return (partial(moments, bandwidth=best_bandwidth(halves, curve.n_classes, float(curve.accuracy[-1]))),)


def logit_of(share: ArrayLike) -> Floats:
    """The logit, finite even at 0 and 1."""
    logits: Floats = logit(np.clip(share, 1e-300, 1 - 1e-15))
    return logits


def combine(shares: list[Floats]) -> Floats:
    """The mean of several shares on the logit scale, which is that of one share if there is only one."""
    if len(shares) == 1:
        return shares[0]
    mean = sum(logit_of(share) for share in shares) / len(shares)
    combined: Floats = expit(np.asarray(mean))
    return combined


# Families of distributions.


@dataclass(frozen=True, eq=False)
class CurveFamily:
    """A family of accuracy curves that continue beyond the observed classes.

    With U the share of all classes that a row beats, accuracy with k classes is E[U^(k−1)]. A family defines the
    distribution of U: U = Φ(a + b·T), where T has a given shape with mean 0 and spread 1 (normal, or that of the rows'
    own scores): `places` of T with `weights` that sum to 1. Two numbers, a and b, are fitted to the observed curve; the
    family then gives the accuracy for any k.
    """

    places: Floats
    weights: Floats

    def member(self, a: float, log_b: float) -> BeatenShare:
        """The distribution of U = Φ(a + b·T)."""
        return BeatenShare(a + math.exp(log_b) * self.places, self.weights)


def normal_family() -> CurveFamily:
    """T normal: the two-parameter family. b = 1 is the curve of implied information with c = a."""
    places = np.linspace(-8.0, 8.0, 161)
    weights = np.exp(-(places**2) / 2)
    return CurveFamily(places, weights / weights.sum())


def family_of_scores(scores: Floats | None, weights: Floats) -> CurveFamily | None:
    """T distributed as the standardised true scores of the rows; None if less than half of them are known.

    A score is unknown if it is −inf, or all others are equal, as with the votes of a forest: then often in the rows
    that are most certain, so that those that are known are not like all.
    """
    if scores is None:
        return None
    known = np.isfinite(scores)
    if np.count_nonzero(known) < 2 or weights[known].sum() < LEAST_KNOWN * weights.sum():
        return None
    scores, weights = scores[known], weights[known] / weights[known].sum()
    order = np.argsort(scores, kind="stable")
    scores, weights = scores[order], weights[order]
    # The middle of each row's share of the cumulative weight determines its quantile.
    part = np.minimum((np.cumsum(weights) - weights / 2) * PLACES, PLACES - 1).astype(np.int64)
    mass = np.bincount(part, weights, PLACES)
    places = np.bincount(part, weights * scores, PLACES)[mass > 0] / mass[mass > 0]
    mass = mass[mass > 0] / mass.sum()
    places -= mass @ places
    spread = math.sqrt(float(mass @ places**2))
    if not spread > 1e-12 * max(1.0, float(np.abs(scores).max())):
        return None
    return CurveFamily(places / spread, mass)


def fit_family(family: CurveFamily, sizes: Ints, accuracy: Floats, shrink: float = math.inf) -> tuple[float, float]:
    """(a, log b) of the member that is closest to the curve, by damped least squares.

    shrink : standard deviation of a normal prior for log b around 0; infinite: practically none
    """
    # How far the last point may be off, with every class as one trial; the prior is weighted against that.
    last, n_classes = min(float(accuracy[-1]), 1.0), int(sizes[-1])
    uncertainty = max(math.sqrt(last * (1 - last) / n_classes), 0.5 / n_classes)
    scale = 1 / (uncertainty * math.sqrt(sizes.size))
    powers = sizes - 1.0
    pull = np.array([1e-2, max(1 / shrink, 1e-2)])

    def parts(place: Floats) -> tuple[Floats, Floats]:
        """Residuals, and their slopes in a and log b."""
        b = math.exp(place[1])
        z = place[0] + b * family.places
        logs = log_ndtr(z)
        fitted = family.weights @ np.exp(logs[:, None] * powers)
        steep = np.exp(logs[:, None] * (powers - 1) - z[:, None] ** 2 / 2 - _LOG_ROOT) * powers
        slopes = np.stack([family.weights @ steep, (family.weights * b * family.places) @ steep], axis=1)
        residuals = np.concatenate([(fitted - accuracy) * scale, (place - [1.5, 0.0]) * pull])
        return residuals, np.concatenate([slopes * scale, np.diag(pull)])

    starts = np.linspace(-1.0, 8.0, 19)
    misses = [float(((family.member(a, 0.0).accuracy(sizes) - accuracy) ** 2).sum()) for a in starts]
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


def fit_to_evidence(evidence: Evidence, family: CurveFamily, shrink: float, share: float) -> BeatenShare:
    """The member of a family that is closest to the observed curve, from a share of the classes on."""
    sizes = log_spaced_sizes(evidence.n_classes, SIZES, share)
    accuracy = evidence.accuracy(sizes)
    return family.member(*fit_family(family, sizes, accuracy, shrink))
