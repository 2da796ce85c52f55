"""Lin's concordance between refits of a regressor: how near their answers are, beside how far they range."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def concordance(values: Floats, halves: bool) -> tuple[float, Floats]:
    """Lin's coefficient over pairs of refits on different subsets, and the table of units x points it is made of.

    1 − E(a − b)² / E₀(a − b)², the mean over pairs and points of the squared difference of two answers at one point,
    over that at two points drawn apart: σa² + σb² + (μa − μb)² of each pair. For one pair it is Lin's (1989), for many
    that of Barnhart, Haber & Song (2002). 1: the same answers; 0: no more alike than answers to other points. NaN if
    all answers are one number. The table is linear in what each unit says of each point, so it tells the error.

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
    """(n,): at each point the standard deviation of answers over subsets: √(mean squared difference of a pair / 2)."""
    centred = values - values.mean(axis=(0, 1))
    mean, square = centred.mean(axis=1), (centred**2).mean(axis=1)
    if halves:
        products = (mean[::2] * mean[1::2]).mean(axis=0)
    else:
        products = (mean.sum(axis=0) ** 2 - (mean**2).sum(axis=0)) / (len(values) * (len(values) - 1))
    found: Floats = np.sqrt(np.maximum(square.mean(axis=0) - products, 0.0))
    return found
