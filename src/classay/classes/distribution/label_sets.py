"""Ranks within random label sets of the observed classes: exact averages, without a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ...arrays import Floats
from ..extrapolate.beaten_share import RankCost, costs_of_ranks

BLOCK = 2**21
"""Chances to compute at a time."""


def rank_chances(n_classes: int, k: int, first: int, last: int) -> Floats:
    """(K, ranks): chance of each rank from `first` to `last` among k random classes, by the number of classes beaten.

    A row that beats L of K − 1 others is above k − r of k − 1 random ones with chance C(L, k−r)·C(K−1−L, r−1)/C(K−1,
    k−1): the hypergeometric distribution.

    >>> rank_chances(3, 2, 1, 2).round(12)
    array([[0. , 1. ],
           [0.5, 0.5],
           [1. , 0. ]])
    """
    beaten = np.arange(n_classes)[:, None]
    above = np.arange(first - 1, last)[None]
    others, chosen = n_classes - 1, k - 1
    possible = (above <= others - beaten) & (chosen - above <= beaten)
    with np.errstate(invalid="ignore"):
        logs = _log_choose(others - beaten, above) + _log_choose(beaten, chosen - above) - _log_choose(others, chosen)
        chances: Floats = np.where(possible, np.exp(np.where(possible, logs, 0.0)), 0.0)
    return np.minimum(chances, 1.0)


def top_of_label_sets(beaten: Floats, m: int, sizes: NDArray[np.integer]) -> Floats:
    """The chance that the true class is among the first m of k random classes, for each size k ≤ K.

    beaten : (K,) weight of the rows that beat 0, 1, …, K − 1 other classes
    """
    n_classes = beaten.size
    shares = [
        1.0 if k <= m else float(beaten @ rank_chances(n_classes, int(k), 1, m).sum(axis=1)) for k in sizes.tolist()
    ]
    return np.minimum(shares, 1.0)


def cost_of_label_sets(beaten: Floats, k: int, cost: RankCost) -> float:
    """The mean cost of the rank of the true class among k random classes."""
    step, total = max(1, BLOCK // beaten.size), 0.0
    for first in range(1, k + 1, step):
        last = min(first + step - 1, k)
        ranks = np.arange(first, last + 1)
        total += float(beaten @ rank_chances(beaten.size, k, first, last) @ costs_of_ranks(cost, ranks))
    return total


def _log_choose(n: NDArray[np.integer] | int, r: NDArray[np.integer] | int) -> Floats:
    """Log C(n, r); what is impossible is replaced later."""
    low = np.maximum(np.asarray(n) - np.asarray(r), 0)
    logs: Floats = gammaln(np.asarray(n) + 1.0) - gammaln(np.maximum(np.asarray(r), 0) + 1.0) - gammaln(low + 1.0)
    return logs
