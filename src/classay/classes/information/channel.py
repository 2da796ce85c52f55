"""The accuracy that a channel of known information allows, and the inverse. Pure functions of numbers.

Two families of curves over the number of classes k, both driven by mutual information ι in nats:

- `mean_top`, π̄_k(c) = ∫ φ(z − c) Φ(z)^(k−1) dz: the accuracy of the best classifier in high dimension, with c = √(2ι);
- C_k(ι), `most_accuracy`, of which `least_information` is the inverse: the highest accuracy that *any* channel of
  information ι has with k random classes.

The first is what information looks like if many weak signals add up; the second it can never exceed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri

from ...arrays import Floats, Ints
from ...expect import InputError, whole
from ...intervals import Estimate, share_around
from ..curve.curve import Curve
from ..curve.jackknife import jackknife_error, leave_groups_out, paired_error
from ..ranks.evidence import Evidence, chance_table

KIND = "over classes"
MOST_SIZES = 60
LARGEST_GAP, LEAST_P = 0.05, 0.01
"""A curve farther than this from the fitted one, and less probable, does not support the fit."""
_FARTHEST = 40.0
# The trapezoid rule is exact to rounding for Gaussian tails; ±10 leave out 1e-23.
NODES = np.linspace(-10.0, 10.0, 501)
DENSITY = np.exp(-(NODES**2) / 2) * 0.04 / math.sqrt(2 * math.pi)
_BOTH = np.stack([DENSITY, NODES * DENSITY], axis=1)
_BLOCK = 8192
_SERIES_TO = 100.0
_ORDERS = np.arange(1.0, 400.0)


def mean_top(c: ArrayLike, k: ArrayLike) -> Floats:
    """π̄_k(c): how often a normal score with mean c is above k − 1 standard normal ones.

    π̄_k(c) = ∫ φ(z − c) Φ(z)^(k−1) dz, within 1e-14 for k up to 1e12. It rises with c, from 1/k at 0 to 1, and falls
    with k, from 1 at k = 1. `c` and `k` broadcast; k need not be whole. (Zheng & Benjamini, 2016.)

    >>> mean_top([0.0, 1.0, 3.0], 10).round(3)
    array([0.1  , 0.341, 0.902])
    """
    # Rounding may leave 1 + 2e-16, and a probability is at most 1.
    return np.minimum(_mean_top(c, k), 1.0)[()]


def mean_top_slope(c: ArrayLike, k: ArrayLike) -> Floats:
    """The derivative of π̄_k(c) in c."""
    return _mean_top_and_slope(*_broadcast(c, _sizes(k, 1)))[1][()]


def inverse_mean_top(accuracy: ArrayLike, k: ArrayLike) -> Floats:
    """The c with π̄_k(c) = accuracy: by how many standard deviations the true class must lead on average.

    0 at an accuracy of 1/k, negative below, infinite at 1. `accuracy` and `k` broadcast, k ≥ 2.

    >>> inverse_mean_top(mean_top(1.5, 20), 20).round(12)
    np.float64(1.5)
    """
    wanted, sizes = _broadcast(_accuracies(accuracy), _sizes(k, 2))
    c = np.where(wanted < 0.5, -np.inf, np.inf)
    open_still = (wanted > 0) & (wanted < 1)
    wanted, sizes = wanted[open_still], sizes[open_still]
    low, high = np.full(wanted.size, -_FARTHEST), np.full(wanted.size, _FARTHEST)
    # On the probit scale the curve is close to a straight line, so Newton's steps hardly miss.
    goal = ndtri(wanted)
    place = np.clip(goal - ndtri(1 / sizes), low / 2, high / 2)
    for _ in range(80):
        here, slope = _mean_top_and_slope(place, sizes)
        low, high = np.where(here < wanted, place, low), np.where(here < wanted, high, place)
        with np.errstate(all="ignore"):
            on_line = ndtri(here)
            following = place - (on_line - goal) * np.exp(-(on_line**2) / 2) / (math.sqrt(2 * math.pi) * slope)
        following = np.where((following > low) & (following < high), following, (low + high) / 2)
        close = (np.abs(following - place) <= 1e-14 * (1 + np.abs(place))) | (np.abs(here - wanted) <= 4e-16 * wanted)
        place = np.where(close, place, following)
        if close.all():
            break
    c[open_still] = place
    return c[()]


def least_information(accuracy: ArrayLike, k: ArrayLike) -> Floats:
    """C_k⁻¹: the least information (nats) of a channel that allows this average accuracy with k random classes.

    The inverse of `most_accuracy` (Zheng, 2017, Theorem 4.3.1). The best channel spreads its density ratio as Q(t) ∝
    exp(c·t^(k−1)) over 0 < t < 1, with c such that ∫ Q log Q = ι; then C_k(ι) = ∫ Q(t) t^(k−1) dt. With L = ₁F₁(1; 1 +
    1/(k−1); −c) that is C = (1/L − 1)/(c(k−1)) and ι = cC − c − log L, solved for log c. 0 at an accuracy of 1/k and
    below, infinite at 1. It is as exact as the given accuracy: an accuracy of 1 − ε with error δ gives ι with error
    δ/ε.

    >>> least_information([0.05, 0.1, 0.5, 0.9], 10).round(3)
    array([0.   , 0.   , 0.947, 3.398])
    """
    return np.asarray(_least_information(_accuracies(accuracy), _sizes(k, 2)))[()]


def most_accuracy(information: ArrayLike, k: ArrayLike) -> Floats:
    """C_k: the highest average accuracy with k random classes of any channel with this information (nats).

    >>> most_accuracy([0.0, 1.0, 3.0], 10).round(3)
    array([0.1  , 0.513, 0.86 ])
    """
    nats = np.asarray(information, dtype=float)
    if not (nats >= 0).all():
        raise InputError(f"`information` is {information!r}; expected nats from 0 up.")
    return np.asarray(_most_accuracy(nats, _sizes(k, 2)))[()]


def average_bayes_accuracy(channel: ArrayLike, k: int) -> float:
    """The accuracy of the best possible classifier on average over sets of k different classes of a known channel.

    `channel` : (K, responses), P(y|x) of K equally likely classes, each row with the sum 1. For each response y the
    expected highest of k is taken exactly: the i-th lowest of K is the highest in C(i − 1, k − 1) of the C(K, k) sets.

    >>> average_bayes_accuracy([[1, 0, 0], [0, 1, 0], [0, 0.5, 0.5]], 2)      # 1, 1 and .75
    0.9166666666666666
    """
    table = np.asarray(channel, dtype=float)
    if table.ndim != 2 or not ((table >= 0).all() and np.allclose(table.sum(axis=1), 1)):
        raise InputError("`channel` must be a table of probabilities P(y|x), each row with the sum 1.")
    if (size := whole(k, "k", at_least=1)) > len(table):
        raise InputError(f"`k` is {k}, and the channel has {len(table)} classes.")
    chances = chance_table(len(table), np.array([size]).tobytes())[0]  # by the number of others below
    return float(chances @ np.sort(table, axis=0).sum(axis=1)) / len(table)


def fano(accuracy: float, k: int) -> float:
    """Fano's bound in nats: log k − H(e) − e·log(k − 1); 0 up to chance.

    >>> fano(1.0, 8) / math.log(2), fano(0.125, 8)
    (3.0, 0.0)
    """
    error = 1 - accuracy
    if accuracy <= 1 / k:
        return 0.0
    lost = sum(-share * math.log(share) for share in (error, accuracy) if share > 0)
    return max(math.log(k) - lost - error * math.log(k - 1), 0.0)


# π̄_k(c) fitted to a measured curve: the information ι = c²/2 that it implies, and its uncertainty over classes.


@dataclass(frozen=True, eq=False)
class ChannelFit:
    """The c of the curve π̄_k(c) closest to a measured one at some `sizes`, and what its interval depends on.

    One number of the curve determines c: its `mean` with the slopes of the fitted curve as `weights`; `error` is the
    standard error of that over classes. c is infinite if every prediction was right.
    """

    curve: Curve
    sizes: Ints
    c: float
    weights: Floats
    mean: float
    error: float

    @cached_property
    def gap(self) -> tuple[int, float, float]:
        """The size at which the measured and the fitted curve are farthest apart, and both accuracies there."""
        accuracy, fitted = self.curve.accuracy[self.sizes - 1], mean_top(self.c, self.sizes)
        at = int(np.abs(accuracy - fitted).argmax())
        return int(self.sizes[at]), float(accuracy[at]), float(fitted[at])

    @cached_property
    def unsupported(self) -> str:
        """Why the curve excludes every c, beyond what the choice of classes explains; empty if it does not."""
        (k, accuracy, fitted), groups = self.gap, self.curve.ranks.n_groups
        if abs(accuracy - fitted) < LARGEST_GAP or groups < 3:
            return ""
        # Another spread of the scores bends the curve along ∂²π̄/∂c²; without the slope in c it does not move with c.
        bend = mean_top_slope(self.c + 0.01, self.sizes) - mean_top_slope(self.c - 0.01, self.sizes)
        bend -= self.weights * (bend @ self.weights) / (self.weights @ self.weights)
        error = jackknife_error(self.without_each(bend), np.bincount(self.curve.ranks.group))
        apart = abs(bend @ (self.curve.accuracy[self.sizes - 1] - mean_top(self.c, self.sizes)))
        if not 2 * stats.t.sf(apart / max(error, 1e-300), groups - 1) < LEAST_P:
            return ""
        return f"not supported: the accuracy with {k} classes is {accuracy:.2f} where the fitted curve has {fitted:.2f}"

    def nats(self, level: float) -> Estimate:
        """ι = c²/2 with its interval; a curve below chance has none."""
        if self.unsupported:
            return Estimate(math.nan, 0.0, math.inf, level, self.unsupported)
        c = self.c_interval(level)
        value, low, high = (max(end, 0.0) ** 2 / 2 for end in (c.value, c.low, c.high))
        return Estimate(value if math.isfinite(value) else math.nan, low, high, level, c.kind)

    def c_interval(self, level: float) -> Estimate:
        """The c with its interval: near symmetric on the logit scale of the mean, and within what is possible."""
        alpha, ranks = 1 - level, self.curve.ranks
        if math.isinf(self.c):
            # No error; the least that this many independent classes leave possible.
            share = (alpha / 2) ** (1 / np.unique(ranks.truth).size)
            low = float(inverse_mean_top(share, self.curve.n_classes))
            return Estimate(math.inf, low, math.inf, level, "not identified: every prediction was right")
        if not (self.mean > 0 and math.isfinite(self.error)):
            kind = "unbounded: too few classes, or none right, to estimate how much classes differ"
            return Estimate(self.c, -math.inf, math.inf, level, kind)
        mean = share_around(self.mean, self.error, level, draws=ranks.n_groups)
        low, high = (c_of_mean(end, self.sizes, self.weights) for end in (mean.low, mean.high))
        return Estimate(self.c, min(low, self.c), max(high, self.c), level, KIND)

    def without_each(self, weights: Floats | None = None) -> Floats:
        """The mean, or that with other weights, without each group of classes in turn."""
        figure = mean_of_curve(self.sizes, self.weights if weights is None else weights)
        return np.array([figure(part) for part in leave_groups_out(self.curve.ranks, self.curve.ties, False)])


def fit_channel(curve: Curve) -> ChannelFit:
    """Fit π̄_k(c) to a curve, by least squares over sizes that are evenly spaced on a log scale."""
    sizes = log_spaced_sizes(curve.n_classes)
    accuracy = curve.accuracy[sizes - 1]
    if accuracy.min() >= 1:
        return ChannelFit(curve, sizes, math.inf, np.zeros(sizes.size), 1.0, 0.0)
    c = fit_mean_top(accuracy, sizes)
    weights = mean_top_slope(c, sizes)
    weights /= weights.sum()
    # With two classes none can be left out.
    error = math.nan
    if curve.n_classes > 2:
        error = paired_error(curve.ranks, mean_of_curve(sizes, weights), curve.ties)
    return ChannelFit(curve, sizes, c, weights, float(weights @ accuracy), error)


def fit_mean_top(accuracy: Floats, sizes: Ints) -> float:
    """The c whose curve π̄_k(c) is closest to the given one, by least squares over the given sizes."""
    # Each size has its own c; the best for all lies between them, where the slope of the squares changes sign.
    own = inverse_mean_top(np.clip(accuracy, 1e-12, 1 - 1e-12), sizes)
    low, high = float(own.min()), float(own.max())

    def slope(c: float) -> float:
        return float(mean_top_slope(c, sizes) @ (accuracy - _mean_top(c, sizes)))

    if high - low < 1e-12 or slope(low) <= 0:
        return low
    return high if slope(high) >= 0 else float(brentq(slope, low, high, xtol=1e-12))


def mean_of_curve(sizes: Ints, weights: Floats) -> Callable[[Evidence], float]:
    """The weighted mean of a curve; a size that no longer exists is replaced by the largest that does."""
    by_beaten: dict[int, Floats] = {}

    def mean(evidence: Evidence) -> float:
        n_classes = evidence.n_classes
        if n_classes not in by_beaten:
            by_beaten[n_classes] = weights @ chance_table(n_classes, np.minimum(sizes, n_classes).tobytes())
        return float(by_beaten[n_classes] @ evidence.beaten) if evidence.lower.size else math.nan

    return mean


def c_of_mean(mean: float, sizes: Ints, weights: Floats) -> float:
    """The c at which the weighted mean of the curve π̄_k(c) has this value."""
    ends = -_FARTHEST, _FARTHEST

    def above(c: float) -> float:
        return float(weights @ _mean_top(c, sizes)) - mean

    if above(ends[0]) >= 0 or above(ends[1]) <= 0:
        return -math.inf if above(ends[0]) >= 0 else math.inf
    return float(brentq(above, *ends, xtol=1e-10))


def log_spaced_sizes(n_classes: int, most: int = MOST_SIZES, share: float = 0.0) -> Ints:
    """At most `most` sizes from 2, or from a share of the classes, to K, evenly spaced on a log scale."""
    first = max(2, math.ceil(share * n_classes))
    return np.unique(np.geomspace(first, n_classes, most).round().astype(np.int64))


# How the functions above are computed.


def _mean_top(c: ArrayLike, k: ArrayLike) -> Floats:
    """π̄_k(c) as rounding leaves it, up to 1 + 2e-16: smooth, for searches of a root."""
    return _mean_top_and_slope(*_broadcast(c, _sizes(k, 1)))[0]


def _mean_top_and_slope(c: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """π̄_k(c) and its slope in c, for arrays of one shape, in blocks so that memory stays constant."""
    both = np.empty((c.size, 2))
    flat_c, flat_k = c.ravel(), sizes.ravel()
    for start in range(0, c.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        values, where = np.unique(flat_c[part], return_inverse=True)
        power = np.maximum(log_ndtr(values[:, None] + NODES), -1e300)[where]  # finite, so that 0 times it is 0
        power *= (flat_k[part] - 1)[:, None]
        both[part] = np.exp(power, out=power) @ _BOTH
    return both[:, 0].reshape(c.shape), both[:, 1].reshape(c.shape)


@np.vectorize
def _least_information(accuracy: float, k: float) -> float:
    a = 1 / (k - 1)
    above, error = accuracy - 1 / k, 1 - accuracy
    if error <= 0:
        return math.inf
    if above <= 1e-16 / k:
        return 0.0

    def too_high(log_c: float) -> float:
        here = _tilted_channel(log_c, a)
        return math.log(here[0] / here[1]) - math.log(above / error)

    return _tilted_channel(brentq(too_high, -50.0, 50.0 + math.log(1 / error), xtol=1e-15), a)[2]


@np.vectorize
def _most_accuracy(nats: float, k: float) -> float:
    a = 1 / (k - 1)
    if not 1e-40 < nats < 600:
        return 1.0 if nats > 1 else 1 / k
    # Far to the right ι is log c − log a, less about 1.
    found = brentq(lambda log_c: _tilted_channel(log_c, a)[2] - nats, -50.0, 50.0 + nats + math.log(a), xtol=1e-14)
    return 1 - _tilted_channel(found, a)[1]


def _tilted_channel(log_c: float, a: float) -> tuple[float, float, float]:
    """C − 1/k, 1 − C and ι of the density Q with log c, where a = 1/(k − 1).

    Q is Beta(a, 1) tilted by exp(c·s), s = t^(k−1). Its sums over powers of c have positive terms only; each figure has
    its own, so that none is a small difference of large numbers. Beyond c = 100 the series in 1/c is used: what it
    leaves out is e^(−c) of what it contains.
    """
    c = math.exp(log_c)
    if c > _SERIES_TO:
        n = _ORDERS[:25]
        terms = np.concatenate([[1.0], np.cumprod((n - a) / c)])  # (1 − a)_n / c^n
        total = float(terms.sum())
        mean = float((terms * np.arange(1, terms.size + 1)).sum()) / total
        error = mean / c
        return 1 / (1 + a) - error, error, log_c - math.log(a) - mean - math.log(total)
    n = _ORDERS
    terms = np.cumprod(c / n)  # c^n / n!, n ≥ 1
    beyond = float((terms * a / (a + n)).sum())  # ₁F₁(a; a+1; c) − 1
    total = 1 + beyond
    above = float((terms * a * n / ((a + n) * (a + n + 1))).sum()) / ((1 + a) * total)
    error = (1 / (1 + a) + float((terms * a / ((a + n) * (a + n + 1))).sum())) / total
    # ι·total = Σ terms·a(n−1)/(a+n) − [(1+u)·log(1+u) − u], u = beyond: the terms in c¹ cancel in both.
    nats = (float((terms * a * (n - 1) / (a + n)).sum()) - _entropy_of_surplus(beyond)) / total
    return above, error, nats


def _entropy_of_surplus(u: float) -> float:
    """(1 + u)·log(1 + u) − u for u ≥ 0, without loss of precision if u is small."""
    if u > 0.05:
        return (1 + u) * math.log1p(u) - u
    return float(sum((-1) ** n * u**n / (n * (n - 1)) for n in range(2, 14)))


def _broadcast(first: ArrayLike, second: Floats) -> tuple[Floats, Floats]:
    return np.broadcast_arrays(np.asarray(first, dtype=float), second)  # type: ignore[return-value]


def _sizes(k: ArrayLike, least: int) -> Floats:
    sizes = np.asarray(k, dtype=float)
    if not (sizes >= least).all() or np.isinf(sizes).any():
        raise InputError(f"`k` is {k!r}; expected numbers of classes from {least} up.")
    return sizes


def _accuracies(accuracy: ArrayLike) -> Floats:
    values = np.asarray(accuracy, dtype=float)
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError(f"`accuracy` is {accuracy!r}; expected numbers from 0 to 1.")
    return values
