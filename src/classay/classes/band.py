"""Intervals over classes around an accuracy curve.

The variance over the draw of classes comes from a jackknife over groups of classes. It says with how many independent
trials an accuracy would be as uncertain, n* = a(1 − a)/variance; the interval is that of a proportion in n* trials
(Korn & Graubard, 1998, with Jeffreys' limits). So it stays within 0 and 1, and has a width also where nothing
went wrong.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import betaincinv

from .evidence import Evidence
from .ranks import Ranks
from .resample import contributions, leave_out

Floats = NDArray[np.float64]

KNOTS = 200
"""Sizes at which limits are computed; between them they are interpolated, smooth as they are in log k."""
LEAST_CLASSES = 3


def band(ranks: Ranks, accuracy: Floats, ties: str, level: float) -> tuple[Floats, Floats]:
    """Lower and upper limits for k = 1, …, K, from the rows that are kept in detail."""
    n_classes = ranks.n_classes
    with_rows = np.unique(ranks.truth).size
    if with_rows < LEAST_CLASSES:  # two classes tell nothing of others
        return np.where(np.arange(n_classes) == 0, accuracy, 0.0), np.ones(n_classes)
    knots = np.unique(np.geomspace(2, n_classes, KNOTS).round().astype(np.int64))
    values = np.array([at_most(evidence, knots) for evidence in leave_out(ranks, ties, statistics=False)])
    parts = contributions(values, np.bincount(ranks.group))
    most = ranks.truth.size * (n_classes - 1)  # so many comparisons were made in all
    low, high = limits(accuracy[knots - 1], parts, with_rows, most, level)
    at, sizes = np.log(knots), np.log(np.arange(1, n_classes + 1))
    low, high = np.interp(sizes, at, low), np.interp(sizes, at, high)
    low[0] = high[0] = 1.0  # one class alone is always right
    return np.minimum(low, accuracy), np.maximum(high, accuracy)


def at_most(evidence: Evidence, sizes: NDArray[np.int64]) -> Floats:
    """The curve without some classes; a size that is no longer there as the largest that is.

    Fewer classes vary more, so that the error comes out too large rather than too small (Efron & Stein, 1981).
    """
    return evidence.accuracy(np.minimum(sizes, evidence.n_classes))


def limits(accuracy: Floats, parts: Floats, n_classes: int, most: int, level: float) -> tuple[Floats, Floats]:
    """Limits of accuracies whose variance is the mean of `parts` (G, …), told from `n_classes` classes.

    How well the parts tell the variance, by their own spread, decides the degrees of freedom: few where one group of
    classes makes all the errors.
    """
    n_groups, tail = parts.shape[0], (1 - level) / 2
    variance = parts.mean(axis=0)
    told = (variance > 0) & (accuracy > 0) & (accuracy < 1 - 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        kurtosis = (parts**2).mean(axis=0) / variance**2
        freedom = np.where(kurtosis > 1, 2 * n_groups / (kurtosis - 1), np.inf)
        freedom = np.clip(freedom, 1, n_groups - 1)
        wider = stats.norm.ppf(1 - tail) / stats.t.ppf(1 - tail, freedom)
        # Where all is right, or all wrong, every class counts as one trial: its rows may stand or fall together.
        trials = np.where(told, np.minimum(accuracy * (1 - accuracy) / variance, most) * wider**2, n_classes)
    right = accuracy * trials
    low, high = (betaincinv(right + 0.5, trials - right + 0.5, q) for q in (tail, 1 - tail))
    return np.where(accuracy == 0, 0.0, low), np.where(accuracy > 1 - 1e-12, 1.0, high)
