"""How close the refits of a regressor are: within a tolerance, Lin's concordance, the spread at each point, errors."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import expect
from ...arrays import AnyInts, Floats
from ...intervals import Estimate, around, by_group, crossed_standard_error, draws_of
from ..records.base import over
from .agreement import PairComparison, compared

TOLERANCE = 0.1
"""In standard deviations of the target."""


def near(tolerance: float, one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Where two predictions differ by at most the tolerance."""
    close: NDArray[np.bool_] = np.abs(one - other) <= tolerance
    return close


def closeness(values: Floats, tolerance: float, halves: bool) -> PairComparison:
    """Agreement of numbers (K, R, n), which count as equal if they differ by at most the tolerance.

    >>> answers = np.array([[[1.0, 2.0]], [[1.2, 2.0]], [[1.4, 9.0]]])
    >>> closeness(answers, 0.25, halves=False).per_point.round(2).tolist()
    [0.67, 0.33]
    """

    def alike(block: NDArray[Any]) -> AnyInts:
        flat = block.reshape(-1, block.shape[2])
        counts = np.empty(flat.shape, dtype=np.int64)
        for point, order in enumerate(np.sort(flat, axis=0).T):
            upto = np.searchsorted(order, flat[:, point] + tolerance, "right")
            counts[:, point] = upto - np.searchsorted(order, flat[:, point] - tolerance, "left")
        return counts.reshape(block.shape)

    return PairComparison(*compared(values, halves, partial(near, tolerance), alike, 1))


def tolerance_for(truth: Floats, tolerance: float | None) -> float:
    """The tolerance that a user gave, checked, or that of the standard deviation of the truth."""
    if tolerance is None:
        deviation = float(truth.std())
        if deviation == 0:
            raise expect.InputError("The truth is one number, so there is no scale for `tolerance`. Pass one.")
        return TOLERANCE * deviation
    is_number = isinstance(tolerance, (int, float, np.integer, np.floating)) and not isinstance(tolerance, bool)
    if not is_number or not 0 <= tolerance < math.inf:
        raise expect.InputError(
            f"`tolerance` is {tolerance!r}; expected a number from 0 up, in units of the target: predictions that "
            "differ by at most this count as the same."
        )
    return float(tolerance)


def errors(squared: Floats, variance: float, level: float, groups: AnyInts | None = None) -> tuple[Estimate, Estimate]:
    """Root mean squared error and R², from squared errors (K, n); both intervals on the log scale of the former."""
    mean = float(squared.mean())
    kind, table = over(groups), by_group(squared, groups)
    if mean == 0:
        perfect = 1.0 if variance else math.nan
        return Estimate(0.0, 0.0, 0.0, level, kind), Estimate(perfect, perfect, perfect, level, kind)
    reach = around(0.0, crossed_standard_error(table) / mean, level, kind, draws_of(table, groups)).high
    low, high = mean * math.exp(-reach), mean * math.exp(min(reach, 700.0))
    rmse = Estimate(math.sqrt(mean), math.sqrt(low), math.sqrt(high), level, kind)
    if variance == 0:
        return rmse, Estimate(math.nan, -math.inf, 1.0, level, "undefined: the truth is one number")
    kind_of_r2 = f"{kind}, the variance of the target taken as fixed"
    return rmse, Estimate(1 - mean / variance, 1 - high / variance, 1 - low / variance, level, kind_of_r2)


def concordance(values: Floats, halves: bool) -> tuple[float, Floats]:
    """Lin's coefficient over pairs of refits on different subsets, and the table of units x points it is made of.

    1 − E(a − b)² / E₀(a − b)², the mean over pairs and points of the squared difference of two predictions at the same
    point, over that at two independent points: σa² + σb² + (μa − μb)² of each pair. For one pair it is Lin's (1989),
    for many that of Barnhart, Haber & Song (2002). 1: the same predictions; 0: no more similar than predictions for
    other points. NaN if all predictions are one number. The table is linear in the units at each
    point and gives the error.

    >>> a, b = [1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 2.5, 4.5]
    >>> round(concordance(np.array([[a], [b]]), halves=True)[0], 3)  # 2·cov / (var + var + (mean − mean)²)
    0.927
    """
    centred = values - values.mean()
    mean, square = centred.mean(axis=1), (centred**2).mean(axis=1)
    own = mean.mean(axis=1)
    if halves:
        (m1, m2), (s1, s2), (u1, u2) = ((part[::2], part[1::2]) for part in (mean, square, own[:, None]))
        apart = s1 + s2 - 2 * m1 * m2
        by_chance = s1 + s2 - 2 * (m1 * u2 + m2 * u1 - u1 * u2)
    else:
        others = len(values) - 1
        rest, rest_square, rest_own = ((part.sum(axis=0) - part) / others for part in (mean, square, own))
        each = square + rest_square - 2 * mean * rest
        apart = 2 * each - each.mean(axis=0)
        product = float((own * rest_own).mean())
        by_chance = 2 * square - 4 * mean * rest_own[:, None] + 2 * product
    near, far = float(apart.mean()), float(by_chance.mean())
    if far <= 0:
        return np.nan, np.full(apart.shape, np.nan)
    value = 1 - near / far
    return value, value - (apart - near) / far + near * (by_chance - far) / far**2


def spread(values: Floats, halves: bool) -> Floats:
    """(n,): standard deviation of predictions over subsets at each point: √(mean squared difference of a pair / 2)."""
    centred = values - values.mean(axis=(0, 1))
    mean, square = centred.mean(axis=1), (centred**2).mean(axis=1)
    if halves:
        products = (mean[::2] * mean[1::2]).mean(axis=0)
    else:
        products = (mean.sum(axis=0) ** 2 - (mean**2).sum(axis=0)) / (len(values) * (len(values) - 1))
    deviation: Floats = np.sqrt(np.maximum(square.mean(axis=0) - products, 0.0))
    return deviation
