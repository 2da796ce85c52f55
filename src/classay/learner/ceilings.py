"""Upper limits of entropies from single points: a labeling cannot vary more than its labels do one by one.

Where holdouts are large, labelings hardly repeat and their entropy cannot be told; that of single points still can.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..intervals import Estimate
from .counts import count, number_labelings
from .entropy import within


def overall_ceiling(labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int) -> float:
    """An upper limit of expressivity: mean over holdouts of the sum of the points' entropies over all refits."""
    n_subsets, _, n_points = labels.shape
    bits = np.zeros(n_points)
    seen = np.zeros(n_points)
    for code in range(n_classes):
        share = (labels == code).mean(axis=(0, 1))
        bits -= share * np.log2(np.where(share > 0, share, 1))
        seen += share > 0
    # Miller and Madow's correction, with subsets as the number of draws: refits of one subset are alike.
    bits += (seen - 1) / (2 * n_subsets * math.log(2))
    return float(bits[holdouts].sum(axis=1).mean())


def within_from_points(
    labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int, level: float
) -> Estimate:
    """Stochasticity if, with the data held still, points varied independently: an upper limit, and often close.

    Holdout size times the mean entropy of single points, over at most 500 of the points in holdouts.
    """
    size = int(holdouts.shape[1])
    points = np.unique(holdouts)[:500, None]
    single = within(count(number_labelings(labels, points, n_classes)), math.log2(n_classes), level)
    return Estimate(size * single.value, size * single.low, size * single.high, level, single.kind)
