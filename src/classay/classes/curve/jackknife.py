"""Intervals over classes: how far a figure would change with another random sample of classes.

Every figure is computed again without each group of classes (a jackknife). `band` turns that into the interval of an
accuracy curve, `jackknife_error` and `paired_error` into standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import betaincinv

from ... import seeds
from ...arrays import Floats
from ..ranks.evidence import Evidence
from ..ranks.ranks import Ranks

KNOTS = 200
"""Sizes at which limits are computed; between them they are interpolated, since they are smooth in log k."""
LEAST_CLASSES = 3
MOST_PAIRS = 200
"""Pairs of groups that `paired_error` leaves out."""


def band(ranks: Ranks, accuracy: Floats, ties: str, level: float) -> tuple[Floats, Floats]:
    """Lower and upper limits for k = 1, …, K, from the rows that are stored in detail.

    The variance over the choice of classes comes from a jackknife over groups of classes. It gives the number of
    independent trials with the same uncertainty, n* = a(1 − a)/variance; the interval is that of a proportion in n*
    trials (Korn & Graubard, 1998, with Jeffreys' limits). So it stays within 0 and 1, and has a width even without any
    error.
    """
    n_classes = ranks.n_classes
    with_rows = int(np.unique(ranks.truth).size)
    if ranks.prior is not None:  # as many classes of equal weight as have the same variance
        share = ranks.prior[np.unique(ranks.truth)]
        with_rows = max(int(share.sum() ** 2 / (share**2).sum()), 1)
    if with_rows < LEAST_CLASSES:  # two classes say nothing about others
        return np.where(np.arange(n_classes) == 0, accuracy, 0.0), np.ones(n_classes)
    knots = np.unique(np.geomspace(2, n_classes, KNOTS).round().astype(np.int64))
    # A size that no longer exists is replaced by the largest that does: fewer classes vary rather more (Efron & Stein).
    without = leave_groups_out(ranks, ties, statistics=False)
    values = np.array([part.accuracy(np.minimum(knots, part.n_classes)) for part in without])
    parts = contributions(values, np.bincount(ranks.group))
    most = ranks.truth.size * (n_classes - 1)  # number of comparisons in all
    low, high = interval_limits(accuracy[knots - 1], parts, with_rows, most, level)
    at, sizes = np.log(knots), np.log(np.arange(1, n_classes + 1))
    low, high = np.interp(sizes, at, low), np.interp(sizes, at, high)
    low[0] = high[0] = 1.0  # one class alone is always right
    return np.minimum(low, accuracy), np.maximum(high, accuracy)


def proportion_limits(share: float, trials: float, level: float) -> tuple[float, float]:
    """Clopper and Pearson's limits of a proportion; the trials need not be whole (Korn & Graubard, 1998).

    >>> tuple(round(end, 4) for end in proportion_limits(0.0, 10, 0.95))
    (0.0, 0.3085)
    """
    tail, right = (1 - level) / 2, share * trials
    low = float(betaincinv(right, trials - right + 1, tail)) if right > 0 else 0.0
    high = float(betaincinv(right + 1, trials - right, 1 - tail)) if trials - right > 1e-12 * trials else 1.0
    return min(low, share), max(high, share)


def interval_limits(accuracy: Floats, parts: Floats, n_classes: int, most: int, level: float) -> tuple[Floats, Floats]:
    """Limits of accuracies whose variance is the mean of `parts` (G, …), estimated from `n_classes` classes.

    The spread of the parts shows how precisely the variance is known and sets the degrees of freedom: few if one group
    of classes makes all the errors.
    """
    n_groups, tail = parts.shape[0], (1 - level) / 2
    variance = parts.mean(axis=0)
    varies = (variance > 0) & (accuracy > 0) & (accuracy < 1 - 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        kurtosis = (parts**2).mean(axis=0) / variance**2
        freedom = np.where(kurtosis > 1, 2 * n_groups / (kurtosis - 1), np.inf)
        freedom = np.clip(freedom, 1, n_groups - 1)
        wider = stats.norm.ppf(1 - tail) / stats.t.ppf(1 - tail, freedom)
        # If all is right, or all wrong, every class counts as one trial: its rows may be fully dependent.
        trials = np.where(varies, np.minimum(accuracy * (1 - accuracy) / variance, most) * wider**2, n_classes)
    right = accuracy * trials
    low, high = (betaincinv(right + 0.5, trials - right + 0.5, q) for q in (tail, 1 - tail))
    return np.where(accuracy == 0, 0.0, low), np.where(accuracy > 1 - 1e-12, 1.0, high)


# Figures without some classes, and standard errors from them.


def leave_groups_out(ranks: Ranks, ties: str = "random", statistics: bool = True) -> Iterator[Evidence]:
    """The evidence without the classes of one group, for each of the G groups in turn; see `Ranks.among`."""
    for group in range(ranks.n_groups):
        mask = np.ones(ranks.n_groups, dtype=bool)
        mask[group] = False
        yield ranks.among(mask, ties, statistics)


def class_samples(
    ranks: Ranks, ties: str = "random", n: int = 10, seed: int = 0, share: float = 0.5
) -> Iterator[Evidence]:
    """The evidence of a random `share` of the groups, `n` times."""
    size = round(share * ranks.n_groups)
    for draw in range(n):
        chosen = seeds.generator(seed, "some classes", draw).choice(ranks.n_groups, size, replace=False)
        mask = np.zeros(ranks.n_groups, dtype=bool)
        mask[chosen] = True
        yield ranks.among(mask, ties)


def jackknife_error(values: Floats, sizes: NDArray[np.integer]) -> Floats | float:
    """Standard error over the choice of classes, from figures without each group, (G,) or (G, …), and group sizes.

    se² = 1/G · Σ_g (K/m_g − 1)·(θ_g − θ̄)², where θ_g is the figure without the m_g classes of group g and θ̄ their mean
    with weights K − m_g: exact for a mean over classes, whatever the sizes of the groups (Busing, Meijer & van der
    Leeden, 1999), and (G−1)/G·Σ(θ_g − θ̄)² if they are equal. NaN if a figure is NaN without some group.
    """
    error = np.sqrt(contributions(values, sizes).mean(axis=0))
    return float(error) if values.ndim == 1 else error


def contributions(values: Floats, sizes: NDArray[np.integer]) -> Floats:
    """What each group contributes to the squared standard error, which is their mean."""
    n_classes, wide = sizes.sum(), (slice(None),) + (None,) * (values.ndim - 1)
    left = (n_classes - sizes)[wide]
    mean = (left * values).sum(axis=0) / left.sum()
    parts: Floats = (n_classes / sizes - 1)[wide] * (values - mean) ** 2
    return parts


def paired_error(ranks: Ranks, figure: Callable[[Evidence], float], ties: str = "random") -> float:
    """Standard error of a figure over the choice of classes. It includes that of rows, which come with their class.

    Whether a class is recognised depends on its neighbours, so accuracy is far from a mean over classes. Split its
    variance into what classes do alone, in pairs, in threes: σ₁ + σ₂ + σ₃ + … The jackknife counts these once, twice,
    three times: V₁ = σ₁ + 2σ₂ + 3σ₃ + …, too much. Leaving out two groups at a time gives V₂ = σ₂ + 3σ₃ + 6σ₄ + …
    (Efron & Stein, 1981), and V₁ − V₂ = σ₁ + σ₂ − 2σ₄ − … is too little. The mean of the two, as for an alternating
    series, is used here.
    """
    n_groups = ranks.n_groups

    def without(*groups: int) -> float:
        mask = np.ones(n_groups, dtype=bool)
        mask[list(groups)] = False
        return figure(ranks.among(mask, ties, statistics=False))

    single = np.array([without(group) for group in range(n_groups)])
    alone = float(jackknife_error(single, np.bincount(ranks.group))) ** 2
    if n_groups < 4 or alone == 0:
        return math.sqrt(alone)
    # How much more two groups do together than each alone.
    whole = without()
    together = [
        n_groups * whole - (n_groups - 1) * (single[a] + single[b]) + (n_groups - 2) * without(a, b)
        for a, b in group_pairs(n_groups)
    ]
    in_pairs = float(np.var(together)) * (n_groups - 1) / (2 * (n_groups + 1))
    return math.sqrt(alone - min(in_pairs, alone) / 2)


def group_pairs(n_groups: int) -> NDArray[np.int64]:
    """All pairs of groups, or some at random, always the same."""
    pairs = np.array(list(combinations(range(n_groups), 2)), dtype=np.int64)
    if len(pairs) <= MOST_PAIRS:
        return pairs
    return pairs[seeds.generator(0, "pairs of groups", n_groups).choice(len(pairs), MOST_PAIRS, replace=False)]
