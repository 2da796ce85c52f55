"""Methods that estimate the accuracy with more classes than were observed: pure functions of evidence.

Each takes evidence and sizes k and returns the accuracy for them. `combined` is the default of `extrapolate`: the mean,
on the logit scale, of two that err in opposite directions; no single one is better on as many kinds of data
(`benchmarks/extrapolation.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls
from scipy.special import expit, log_ndtr, logit, ndtr, ndtri

from ...arrays import Floats, Ints
from ...expect import InputError
from ..information.channel import fit_mean_top, log_spaced_sizes, mean_top
from ..ranks.ranks import Evidence
from .beaten_share import BeatenShare

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
_LIMITS = np.array([[-8.0, -4.0], [30.0, 3.0]])
_LOG_ROOT = 0.5 * math.log(2 * math.pi)
Method = Callable[[Evidence, ArrayLike], Floats]
Basis = Callable[[NDArray[np.number]], Floats]
"""Sizes k -> (k, parts): E[U^(k−1)] of each part."""
USER_GRID = 4001


def combined(evidence: Evidence, k: ArrayLike) -> Floats:
    """The mean of `shrunk_normal` and `calibrated` on the logit scale."""
    accuracy: Floats = expit((logit_of(shrunk_normal(evidence, k)) + logit_of(calibrated(evidence, k))) / 2)
    return accuracy


def calibrated(evidence: Evidence, k: ArrayLike) -> Floats:
    """Φ⁻¹(U) = a + b·z with the rows' own standardised scores z."""
    family = family_of_scores(evidence.z, evidence.weights)
    # If scores carry no more than their order, a normal shape is used instead of theirs.
    return _from_family(evidence, k, family or normal_family(), math.inf, 0.0)


def shrunk_normal(evidence: Evidence, k: ArrayLike) -> Floats:
    """Φ⁻¹(U) normal, with a spread near 1, that of implied information, and fitted to the larger sizes."""
    return _from_family(evidence, k, normal_family(), SHRINK, UPPER_PART)


def two_parameter(evidence: Evidence, k: ArrayLike) -> Floats:
    """Φ⁻¹(U) normal with any mean and spread."""
    return _from_family(evidence, k, normal_family(), math.inf, 0.0)


def implied(evidence: Evidence, k: ArrayLike) -> Floats:
    """One parameter: π̄_k(√(2ι)) with the implied information ι of the whole curve."""
    sizes = log_spaced_sizes(evidence.n_classes, SIZES)
    return mean_top(fit_mean_top(evidence.accuracy(sizes), sizes), k)


def moments(evidence: Evidence, k: ArrayLike, bandwidth: float = USUAL_BANDWIDTH) -> Floats:
    """Accuracy for each k by moment regression with parts of this width (Zheng, Achanta & Benjamini).

    The distribution of U is a sum, with non-negative weights, of Φ((Φ⁻¹(u) − t_l)/b) over places t_l, plus a part at 1.
    Its moments are then the same sum of the moments of the parts, so the weights follow from the observed curve by
    non-negative least squares.
    """
    return moments_of_basis(evidence, k, normal_parts(evidence.n_classes, bandwidth))


def moments_of_basis(evidence: Evidence, k: ArrayLike, basis: Basis) -> Floats:
    """Accuracy for each k by moment regression with the parts of a basis."""
    wanted = np.asarray(k, dtype=float)
    weights = fit_basis(evidence, basis)
    return np.clip(basis(wanted.ravel()) @ weights, 0.0, 1.0).reshape(wanted.shape)


def normal_parts(n_classes: int, bandwidth: float) -> Basis:
    """The parts of `moments`: normal on the probit scale at many places, and rows that are always right."""
    places = part_places(n_classes)

    def basis(at: NDArray[np.number]) -> Floats:
        family, log_width = normal_family(), float(np.log(bandwidth))
        parts = [family.accuracy(place, log_width, at) for place in places]
        return np.stack([*parts, np.ones(at.shape)], axis=1)

    return basis


def part_places(n_classes: int) -> Floats:
    """Where on the probit scale the parts of `moments` are."""
    reach = float(ndtri(1 - 1 / n_classes**2))
    return np.linspace(-reach, reach, PARTS)


def fit_basis(evidence: Evidence, basis: Basis) -> Floats:
    """Non-negative weights of the parts whose sum is closest to the observed curve."""
    sizes = np.unique(np.geomspace(1, evidence.n_classes, 100).round().astype(np.int64))
    # One class alone is always right, whatever the rest: a separate column takes what is missing there.
    design = np.column_stack([basis(sizes), sizes == 1])
    # Neighbouring parts are nearly equal; a little ridge makes the search end if there are many solutions.
    ridge = RIDGE * np.eye(design.shape[1])
    goal = np.concatenate([evidence.accuracy(sizes), np.zeros(len(ridge))])
    weights: Floats = nnls(np.concatenate([design, ridge]), goal, maxiter=100 * len(ridge))[0][:-1]
    return weights


def basis_of(functions: Sequence[Callable[[Floats], ArrayLike]]) -> Basis:
    """A user's basis for `moments`: distribution functions of U, from 0 at u = 0 to 1 at u = 1.

    Their moments are sums over a fine grid of U on the probit scale. A part of rows that are always right is added.

    >>> uniform = basis_of([lambda u: u])
    >>> uniform(np.array([2.0, 4.0])).round(3)    # E[U^(k−1)] = 1/k
    array([[0.5 , 1.  ],
           [0.25, 1.  ]])
    """
    grid = np.concatenate([[0.0], ndtr(np.linspace(-9.0, 9.0, USER_GRID)), [1.0]])
    masses = []
    for number, function in enumerate(functions):
        try:
            values = np.broadcast_to(np.asarray(function(grid), dtype=float), grid.shape)
        except Exception as error:  # a user's function may raise anything
            raise InputError(f"`basis[{number}]` failed on an array from 0 to 1: {error}") from error
        if not (np.isfinite(values).all() and (np.diff(values) >= -1e-9).all() and abs(values[-1] - 1) < 1e-6):
            raise InputError(
                f"`basis[{number}]` is not a distribution function of a share: expected values that rise with u and "
                f"reach 1 at u = 1, got {values[0]:.3g} at 0 and {values[-1]:.3g} at 1."
            )
        masses.append(np.maximum(np.diff(values, prepend=0.0), 0.0))
    if not masses:
        raise InputError("`basis` is empty; expected at least one distribution function of a share.")
    middles = np.concatenate([[0.0], (grid[1:] + grid[:-1]) / 2])
    table, logs = np.array(masses), np.log(np.maximum(middles, 1e-300))

    def basis(at: NDArray[np.number]) -> Floats:
        powers = np.exp(logs[:, None] * (np.asarray(at, dtype=float).ravel() - 1))
        return np.column_stack([(table @ powers).T, np.ones(powers.shape[1])])

    return basis


def _moment_weights(evidence: Evidence, bandwidth: float) -> tuple[Floats, Floats, float]:
    """Places of the parts, their weights, and the weight of rows that are always right."""
    weights = fit_basis(evidence, normal_parts(evidence.n_classes, bandwidth))
    return part_places(evidence.n_classes), weights[:-1], float(weights[-1])


def best_bandwidth(parts: Iterable[Evidence], n_classes: int, accuracy: float) -> float:
    """The width with which parts of the classes best predict the accuracy with all of them."""
    some = list(parts)
    if not some:
        return USUAL_BANDWIDTH
    misses = [
        float(np.mean([(moments(part, [n_classes], width)[0] - accuracy) ** 2 for part in some]))
        for width in BANDWIDTHS
    ]
    return BANDWIDTHS[int(np.argmin(misses))]


def kernel(evidence: Evidence, k: ArrayLike) -> Floats:
    """E[U^(k−1)] with U from a kernel density of the other classes' scores of each row (Kay et al.)."""
    _expect_kernel(evidence)
    known = np.isfinite(evidence.kernel)
    wanted = np.asarray(k, dtype=float)
    weights = evidence.weights[known] / evidence.weights[known].sum()
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(evidence.kernel[known]), -1e280)  # times 1e12 is still a number
    accuracy = [float(weights @ np.exp(logs * (size - 1))) for size in wanted.ravel()]
    return np.reshape(accuracy, wanted.shape).clip(0.0, 1.0)


def _expect_kernel(evidence: Evidence) -> None:
    if not np.isfinite(evidence.kernel).any():
        raise InputError(
            'method="kernel" needs smoothed counts, and there are none: make the record with '
            "`Ranks.from_scores(scores, y, kernel=True)`, from scores that do not have a −inf in every row."
        )


def log_linear(evidence: Evidence, k: ArrayLike) -> Floats:
    """A straight line in log k, through the curve by least squares; clipped to what is possible."""
    sizes = log_spaced_sizes(evidence.n_classes, SIZES)
    slope, level = np.polyfit(np.log(sizes), evidence.accuracy(sizes), 1)
    accuracy: Floats = np.clip(level + slope * np.log(np.asarray(k, dtype=float)), 0.0, 1.0)
    return accuracy


METHODS: dict[str, Method] = {
    "combined": combined,
    "calibrated": calibrated,
    "two_parameter": two_parameter,
    "implied": implied,
    "moments": moments,
    "kernel": kernel,
    "line": log_linear,
}


def logit_of(share: ArrayLike) -> Floats:
    """The logit, finite even at 0 and 1."""
    logits: Floats = logit(np.clip(share, 1e-300, 1 - 1e-15))
    return logits


# Families of accuracy curves.


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

    def accuracy(self, a: float, log_b: float, k: ArrayLike) -> Floats:
        """E[Φ(a + b·T)^(k−1)] for each k, which need not be whole."""
        powers = np.asarray(k, dtype=float) - 1
        logs = np.maximum(log_ndtr(a + math.exp(log_b) * self.places), -1e300)
        accuracy: Floats = self.weights @ np.exp(logs[:, None] * powers.ravel())
        return accuracy.reshape(powers.shape)


def normal_family() -> CurveFamily:
    """T normal: the two-parameter family. b = 1 is the curve of implied information with c = a."""
    places = np.linspace(-8.0, 8.0, 161)
    weights = np.exp(-(places**2) / 2)
    return CurveFamily(places, weights / weights.sum())


def family_of_scores(scores: Floats, weights: Floats) -> CurveFamily | None:
    """T distributed as the standardised true scores of the rows; None if less than half of them are known.

    A score is unknown if it is −inf, or all others are equal, as with the votes of a forest: then often in the rows
    that are most certain, so that those that are known are not like all.
    """
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


def fit_family(
    family: CurveFamily, sizes: Ints, accuracy: Floats, uncertainty: float, shrink: float = math.inf
) -> tuple[float, float]:
    """(a, log b) of the member that is closest to the curve, by damped least squares.

    uncertainty : how far off the curve may be, which sets its weight relative to the prior
    shrink : standard deviation of a normal prior for log b around 0; infinite: practically none
    """
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


def _from_family(evidence: Evidence, k: ArrayLike, family: CurveFamily, shrink: float, share: float) -> Floats:
    return np.clip(family.accuracy(*fit_to_evidence(evidence, family, shrink, share), k), 0.0, 1.0)


def fit_to_evidence(evidence: Evidence, family: CurveFamily, shrink: float, share: float) -> tuple[float, float]:
    """(a, log b) of the member that is closest to the observed curve, from a share of the classes on."""
    sizes = log_spaced_sizes(evidence.n_classes, SIZES, share)
    accuracy = evidence.accuracy(sizes)
    # How far the last point may be off, with every class as one trial; the prior is weighted against that.
    last = min(float(accuracy[-1]), 1.0)
    uncertainty = max(math.sqrt(last * (1 - last) / evidence.n_classes), 0.5 / evidence.n_classes)
    return fit_family(family, sizes, accuracy, uncertainty, shrink)


def family_parameters(evidence: Evidence) -> dict[str, dict[str, float]]:
    """What each family was fitted to be: μ and ν, a and b, and the implied information."""
    mu, log_nu = fit_to_evidence(evidence, normal_family(), math.inf, 0.0)
    scores = family_of_scores(evidence.z, evidence.weights)
    a, log_b = fit_to_evidence(evidence, scores or normal_family(), math.inf, 0.0)
    sizes = log_spaced_sizes(evidence.n_classes, SIZES)
    c = fit_mean_top(evidence.accuracy(sizes), sizes)
    return {
        "two_parameter": {"mu": mu, "nu": math.exp(log_nu)},
        "calibrated": {"a": a, "b": math.exp(log_b)},
        "implied": {"nats": max(c, 0.0) ** 2 / 2},
    }


# The distribution of U behind each method.


def calibrated_share(evidence: Evidence) -> BeatenShare:
    """The distribution of U of `calibrated`."""
    return _share_of_family(evidence, family_of_scores(evidence.z, evidence.weights) or normal_family(), math.inf, 0.0)


def shrunk_normal_share(evidence: Evidence) -> BeatenShare:
    """The distribution of U of `shrunk_normal`."""
    return _share_of_family(evidence, normal_family(), SHRINK, UPPER_PART)


def two_parameter_share(evidence: Evidence) -> BeatenShare:
    """The distribution of U of `two_parameter`."""
    return _share_of_family(evidence, normal_family(), math.inf, 0.0)


def implied_share(evidence: Evidence) -> BeatenShare:
    """The distribution of U of `implied`."""
    sizes = log_spaced_sizes(evidence.n_classes, SIZES)
    family = normal_family()
    return BeatenShare(fit_mean_top(evidence.accuracy(sizes), sizes) + family.places, family.weights)


def moments_share(evidence: Evidence, bandwidth: float = USUAL_BANDWIDTH) -> BeatenShare:
    """The distribution of U of `moments`: what its parts leave is at 0, rows that beat no class."""
    places, weights, certain = _moment_weights(evidence, bandwidth)
    family = normal_family()
    z = (places[:, None] + bandwidth * family.places).ravel()
    mass = np.concatenate([(weights[:, None] * family.weights).ravel(), [certain]])
    total = float(mass.sum())
    return BeatenShare(
        np.concatenate([z, [math.inf, -math.inf]]),
        np.concatenate([mass / max(total, 1.0), [max(1 - total, 0.0)]]),
    )


def kernel_share(evidence: Evidence) -> BeatenShare:
    """The distribution of U of `kernel`: that of the rows."""
    _expect_kernel(evidence)
    known = np.isfinite(evidence.kernel)
    weights = evidence.weights[known] / evidence.weights[known].sum()
    return BeatenShare(ndtri(np.clip(evidence.kernel[known], 0.0, 1.0)), weights)


def _share_of_family(evidence: Evidence, family: CurveFamily, shrink: float, share: float) -> BeatenShare:
    a, log_b = fit_to_evidence(evidence, family, shrink, share)
    return BeatenShare(a + math.exp(log_b) * family.places, family.weights)


SHARES: dict[str, tuple[Callable[[Evidence], BeatenShare], ...]] = {
    "combined": (shrunk_normal_share, calibrated_share),
    "calibrated": (calibrated_share,),
    "two_parameter": (two_parameter_share,),
    "implied": (implied_share,),
    "moments": (moments_share,),
    "kernel": (kernel_share,),
}
"""The distributions of U of each method; a figure of several is their mean on the logit scale."""
