"""Two classifiers on the same rows: the difference of their accuracy and balanced accuracy.

Accuracy: a test, and the interval that agrees with it. Only the rows that one of the two alone predicts correctly
count. Independent rows: McNemar's exact test and Tango's score interval (1998), which also holds if hardly any row
differs. Groups: the same score statistic, with as many independent rows as the groups are worth, and Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from ...arrays import Floats, Ints, Mask
from ...intervals import Estimate, bounded, by_group, crossed_standard_error, normal_quantile


@dataclass(frozen=True)
class PairedAccuracy:
    """`difference` of two accuracies and the `p_value` of none; 0 is inside the interval if p is above 1 − level."""

    difference: Estimate
    p_value: float
    only_one: int
    only_other: int

    @property
    def sign(self) -> int:
        """1 if the first is shown to be better, -1 if worse, otherwise 0; by the test of `p_value`."""
        shown = self.p_value <= 1 - self.difference.level
        return int(np.sign(self.difference.value)) if shown else 0


def paired_accuracy(one: Mask, other: Mask, groups: Ints | None = None, level: float = 0.95) -> PairedAccuracy:
    """Compare which rows the one and the other predict correctly.

    >>> paired_accuracy(np.arange(20) < 18, np.arange(20) < 10).difference
    0.4 [0.174, 0.613]
    """
    gap = one.astype(float) - other
    first, second = int((gap > 0).sum()), int((gap < 0).sum())
    if groups is None:
        p_value = float(stats.binomtest(first, first + second).pvalue) if first + second else 1.0
        estimate = tango(first, second, gap.size, normal_quantile(level), level, "over rows, paired")
        if p_value > 1 - level:  # the exact test rejects a little less often than the score
            # By half a row beyond 0: an end at 0 itself would pass for "at least 0".
            half = 0.5 / gap.size
            estimate = replace(estimate, low=min(estimate.low, -half), high=max(estimate.high, half))
        return PairedAccuracy(estimate, p_value, first, second)
    worth, freedom = _worth(gap, groups)
    quantile = float(stats.t.ppf(0.5 + level / 2, freedom))
    estimate = tango(first * worth, second * worth, gap.size * worth, quantile, level, "over groups, paired")
    p_value = 1.0
    if first + second:
        p_value = 2 * float(stats.t.sf(abs(first - second) * math.sqrt(worth / (first + second)), freedom))
    return PairedAccuracy(estimate, p_value, first, second)


def _worth(gap: Floats, groups: Ints) -> tuple[float, int]:
    """How many independent rows a row is worth, and degrees of freedom.

    It is the variance of independent rows over that of groups. If rows differ in few groups, or in none, they cannot
    show that; so a part of one more group counts in both, all rows of which differ.
    """
    codes = np.unique(groups, return_inverse=True)[1]
    number = int(codes.max()) + 1
    size = gap.size / number
    part = 1 / (1 + np.unique(codes[gap != 0]).size)
    sums = np.bincount(codes, gap - gap.mean())
    alone = float(((gap - gap.mean()) ** 2).sum()) + part * size
    together = float((sums**2).sum()) * number / max(number - 1, 1) + part * size**2
    return min(alone / together, 1.0), max(number - 1, 1)


def tango(first: float, second: float, rows: float, quantile: float, level: float, kind: str) -> Estimate:
    """Tango's interval of (first − second) / rows: the differences Δ whose score is at most `quantile` away from it."""
    value = (first - second) / rows

    def score(gap: float) -> float:
        b = -first - second + (2 * rows - first + second) * gap
        c = -second * gap * (1 - gap)
        rare = (math.sqrt(max(b * b - 8 * rows * c, 0.0)) - b) / (4 * rows)
        variance = rows * (2 * rare + gap * (1 - gap))
        return (first - second - rows * gap) / math.sqrt(variance) if variance > 0 else math.inf * (value - gap)

    # Just inside: at -1 and 1 the variance is 0, as it is at the value itself if no row differs.
    low = _root(lambda gap: score(gap) - quantile, -1 + 1e-12, value - 1e-12, -1.0)
    high = _root(lambda gap: score(gap) + quantile, value + 1e-12, 1 - 1e-12, 1.0)
    return Estimate(value, min(low, value), max(high, value), level, kind)


def _root(function: Callable[[float], float], low: float, high: float, otherwise: float) -> float:
    """Where the function is 0; `otherwise` if it has the same sign at both ends."""
    if low >= high or not function(low) * function(high) < 0:
        return otherwise
    return float(brentq(function, low, high, xtol=1e-10))


# Balanced accuracy: the mean recall of the classes.


def balanced_accuracy(
    truth: Ints, one: Ints, other: Ints, groups: Ints | None, level: float
) -> tuple[Estimate, Estimate, Estimate]:
    """That of `one`, of `other`, and the difference. It is a mean of rows, weighted so that classes count the same."""
    counts = np.bincount(truth)
    weights = truth.size / (np.count_nonzero(counts) * counts[truth])
    right = np.stack([one == truth, other == truth, (one == truth) * 1.0 - (other == truth)]) * weights
    number = truth.size if groups is None else np.unique(groups).size
    # Weighted rows are worth fewer.
    units = max(number * float(weights.sum() ** 2 / (weights**2).sum()) / truth.size, 1.0)
    kind = "over rows" if groups is None else "over groups"
    singles = [
        bounded(
            float(row.mean()), crossed_standard_error(by_group(row[None, :], groups)), units, level, of, number, low
        )
        for row, of, low in zip(right, (kind, kind, f"{kind}, paired"), (0.0, 0.0, -1.0))
    ]
    return singles[0], singles[1], singles[2]
