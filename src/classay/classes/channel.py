"""What a channel of known information lets a classifier reach, and the other way round. Pure functions of numbers.

Two families of curves over the number of classes k, both driven by mutual information ι in nats:

- `mean_top`, π̄_k(c) = ∫ φ(z − c) Φ(z)^(k−1) dz: the accuracy of the best classifier in high dimension, with c = √(2ι);
- `most_accuracy`, C_k(ι): the highest accuracy that *any* channel of information ι has with k random classes.

The first is what information looks like where many weak signs add up, the second what it can never exceed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri

from ..expect import InputError

Floats = NDArray[np.float64]

# The trapezoid rule is exact to rounding for what falls off like a Gaussian; ±10 leave out 1e-23.
_NODES = np.linspace(-10.0, 10.0, 501)
_DENSITY = np.exp(-(_NODES**2) / 2) * 0.04 / math.sqrt(2 * math.pi)
_BOTH = np.stack([_DENSITY, _NODES * _DENSITY], axis=1)
_BLOCK = 8192
_FARTHEST = 40.0  # where Φ is 0 or 1 to the last bit for any k that a float can tell apart

_SERIES_TO = 100.0
_ORDERS = np.arange(1.0, 400.0)
_LARGEST_LOG = 700.0


def mean_top(c: ArrayLike, k: ArrayLike) -> Floats:
    """π̄_k(c): how often a normal score with mean c is above k − 1 standard normal ones.

    π̄_k(c) = ∫ φ(z − c) Φ(z)^(k−1) dz, within 1e-14 for k up to 1e12. It rises with c, from 1/k at 0 to 1, and falls
    with k, from 1 at k = 1. `c` and `k` broadcast; k need not be whole.

    >>> mean_top([0.0, 1.0, 3.0], 10).round(3)
    array([0.1  , 0.341, 0.902])

    References
    ----------
    Zheng & Benjamini (2016), Estimating mutual information in high dimensions via classification error.

    """
    return _mean_top(*_pair(c, _sizes(k, 1)))[0][()]


def mean_slope(c: ArrayLike, k: ArrayLike) -> Floats:
    """The derivative of π̄_k(c) in c."""
    return _mean_top(*_pair(c, _sizes(k, 1)))[1][()]


def lead(accuracy: ArrayLike, k: ArrayLike) -> Floats:
    """The c with π̄_k(c) = accuracy: by how many standard deviations the true class must lead on average.

    0 at an accuracy of 1/k, negative below, infinite at 1. `accuracy` and `k` broadcast, k ≥ 2.

    >>> lead(mean_top(1.5, 20), 20).round(12)
    np.float64(1.5)
    """
    wanted, sizes = _pair(_shares(accuracy), _sizes(k, 2))
    found = np.where(wanted < 0.5, -np.inf, np.inf)
    open_still = (wanted > 0) & (wanted < 1)
    wanted, sizes = wanted[open_still], sizes[open_still]
    low, high = np.full(wanted.size, -_FARTHEST), np.full(wanted.size, _FARTHEST)
    # On the probit scale the curve is close to a straight line, so that Newton's steps hardly miss.
    goal = ndtri(wanted)
    place = np.clip(goal - ndtri(1 / sizes), low / 2, high / 2)
    for _ in range(80):
        here, slope = _mean_top(place, sizes)
        low, high = np.where(here < wanted, place, low), np.where(here < wanted, high, place)
        with np.errstate(all="ignore"):
            on_line = ndtri(here)
            following = place - (on_line - goal) * np.exp(-(on_line**2) / 2) / (math.sqrt(2 * math.pi) * slope)
        following = np.where((following > low) & (following < high), following, (low + high) / 2)
        close = (np.abs(following - place) <= 1e-14 * (1 + np.abs(place))) | (np.abs(here - wanted) <= 4e-16 * wanted)
        place = np.where(close, place, following)
        if close.all():
            break
    found[open_still] = place
    return found[()]


def most_accuracy(information: ArrayLike, k: ArrayLike) -> Floats:
    """C_k(ι): the highest average accuracy with k random classes that any channel of information ι (nats) allows.

    Among all channels the best spreads its density ratio as Q(t) ∝ exp(c·t^(k−1)) over 0 < t < 1, with c such that
    ∫ Q log Q = ι; then C_k(ι) = ∫ Q(t) t^(k−1) dt. With L = ₁F₁(1; 1 + 1/(k−1); −c) that is C = (1/L − 1)/(c(k−1)) and
    ι = cC − c − log L, solved for log c. From 1/k at ι = 0 to 1, rising. `information` and `k` broadcast, k ≥ 2.

    >>> most_accuracy(1.0, [2, 10, 50, 100]).round(3)
    array([0.865, 0.513, 0.314, 0.263])

    References
    ----------
    Zheng (2017), Information, Prediction, and Supervised Learning, Theorem 4.3.1.

    """
    nats = np.asarray(information, dtype=float)
    if not (nats >= 0).all():
        raise InputError(f"`information` is {information!r}; numbers from 0 up are expected, in nats.")
    found: Floats = _most_accuracy(nats, _sizes(k, 2))[()]
    return found


def least_information(accuracy: ArrayLike, k: ArrayLike) -> Floats:
    """C_k⁻¹: the least information (nats) of a channel that allows this average accuracy with k random classes.

    The inverse of `most_accuracy`. 0 at an accuracy of 1/k and below, infinite at 1. The inverse is as exact as the
    accuracy is given: an accuracy of 1 − ε that is off by δ leaves ι off by δ/ε.

    >>> least_information([0.05, 0.1, 0.5, 0.9], 10).round(3)
    array([0.   , 0.   , 0.947, 3.398])
    """
    found: Floats = _least_information(_shares(accuracy), _sizes(k, 2))[()]
    return found


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


def _mean_top(c: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """π̄_k(c) and its slope in c, for arrays of one shape, in blocks so that memory stays flat."""
    found = np.empty((c.size, 2))
    flat_c, flat_k = c.ravel(), sizes.ravel()
    for start in range(0, c.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        values, where = np.unique(flat_c[part], return_inverse=True)
        power = np.maximum(log_ndtr(values[:, None] + _NODES), -1e300)[where]  # finite, so that 0 times it is 0
        power *= (flat_k[part] - 1)[:, None]
        found[part] = np.exp(power, out=power) @ _BOTH
    return found[:, 0].reshape(c.shape), found[:, 1].reshape(c.shape)


@np.vectorize
def _most_accuracy(nats: float, k: float) -> float:
    if nats == 0:
        return 1 / k
    a, goal = 1 / (k - 1), math.log(nats)
    if nats >= _tilted(_LARGEST_LOG, a)[2]:
        return 1.0
    if nats <= _tilted(-40.0, a)[2]:
        return 1 / k
    # log ι is close to a straight line in log c at either end.
    root = brentq(lambda log_c: math.log(_tilted(log_c, a)[2]) - goal, -40.0, _LARGEST_LOG, xtol=1e-15)
    above, error, _ = _tilted(root, a)
    return 1 - error if error < 0.5 else 1 / k + above


@np.vectorize
def _least_information(accuracy: float, k: float) -> float:
    a = 1 / (k - 1)
    above, error = accuracy - 1 / k, 1 - accuracy
    if error <= 0:
        return math.inf
    if above <= 1e-16 / k:
        return 0.0

    def too_high(log_c: float) -> float:
        here = _tilted(log_c, a)
        return math.log(here[0] / here[1]) - math.log(above / error)

    return _tilted(brentq(too_high, -50.0, 50.0 + math.log(1 / error), xtol=1e-15), a)[2]


def _tilted(log_c: float, a: float) -> tuple[float, float, float]:
    """C − 1/k, 1 − C and ι of the density Q with log c, where a = 1/(k − 1).

    Q is Beta(a, 1) tilted by exp(c·s), s = t^(k−1). Its sums over powers of c have positive terms only; each figure has
    its own, so that none is a small difference of large numbers. Beyond c = 100 the series in 1/c takes over: what it
    leaves out is e^(−c) of what it holds.
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
    # ι·total = Σ terms·a(n−1)/(a+n) − [(1+u)·log(1+u) − u], u = beyond: no term in c¹ is left in either.
    nats = (float((terms * a * (n - 1) / (a + n)).sum()) - _entropy_of_surplus(beyond)) / total
    return above, error, nats


def _entropy_of_surplus(u: float) -> float:
    """(1 + u)·log(1 + u) − u for u ≥ 0, without loss where u is small."""
    if u > 0.05:
        return (1 + u) * math.log1p(u) - u
    return float(sum((-1) ** n * u**n / (n * (n - 1)) for n in range(2, 14)))


def _pair(first: ArrayLike, second: Floats) -> tuple[Floats, Floats]:
    both = np.broadcast_arrays(np.asarray(first, dtype=float), second)
    return both[0], both[1]


def _sizes(k: ArrayLike, least: int) -> Floats:
    sizes = np.asarray(k, dtype=float)
    if not (sizes >= least).all() or np.isinf(sizes).any():
        raise InputError(f"`k` is {k!r}; numbers of classes from {least} up are expected.")
    return sizes


def _shares(accuracy: ArrayLike) -> Floats:
    shares = np.asarray(accuracy, dtype=float)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise InputError(f"`accuracy` is {accuracy!r}; numbers from 0 to 1 are expected.")
    return shares
