"""Upper limits of entropies from single points: a labeling cannot vary more than its labels do one by one.

Where holdouts are large, labelings hardly repeat and their entropy cannot be told; that of single points still can.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..intervals import Estimate, around, crossed_standard_error
from .counts import count, number_labelings
from .entropy import within

MOST_POINTS = 500


def overall_ceiling(labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int, level: float) -> float:
    """An upper limit of expressivity: mean over holdouts of the sum of the points' entropies, with its error."""
    n_subsets, _, n_points = labels.shape
    bits, seen = np.zeros((2, n_points))
    surprise = np.zeros((n_subsets, n_points))
    for code in range(n_classes):
        by_subset = (labels == code).mean(axis=1)
        share = by_subset.mean(axis=0)
        log2_share = np.log2(np.where(share > 0, share, 1))
        bits -= share * log2_share
        seen += share > 0
        surprise -= by_subset * log2_share
    # Miller and Madow's correction, with subsets as the number of draws: refits of one subset are alike.
    bits += (seen - 1) / (2 * n_subsets * math.log(2))
    sums = surprise[:, holdouts].sum(axis=2)
    error = crossed_standard_error(sums)
    return around(float(bits[holdouts].sum(axis=1).mean()), error, level, draws=n_subsets).high


def within_from_points(
    labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int, level: float
) -> Estimate:
    """Stochasticity if, with the data held still, points varied independently: an upper limit, and often close.

    Holdout size times the mean entropy of single points, over at most `MOST_POINTS` of those in holdouts.
    """
    size = int(holdouts.shape[1])
    points = np.unique(holdouts)
    # Evenly over the points, which may be sorted by class.
    points = points[np.linspace(0, points.size - 1, min(points.size, MOST_POINTS)).astype(int), None]
    single = within(count(number_labelings(labels, points, n_classes)), math.log2(n_classes), level)
    return Estimate(size * single.value, size * single.low, size * single.high, level, single.kind)
