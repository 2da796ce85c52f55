"""Two classifiers on the same rows: the difference of their accuracy, balanced accuracy and macro-F1.

Accuracy: a test, and the interval that agrees with it. Only the rows that one of the two alone predicts correctly
count. Independent rows: McNemar's exact test and Tango's score interval (1998), which also holds if hardly any row
differs. Groups: the same score statistic, with as many independent rows as the groups are worth, and Student's t.

Balanced accuracy and macro-F1 are means over classes. The variance is that of what each row adds to the mean (its
influence), summed by group if there are groups. Four half rows are added to each class in it, one for each way in which
two predictions are right or wrong (Agresti & Min, 2005): so a class of a few rows, or a pair that never differs, claims
no certainty.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from ...arrays import Floats, Ints, Mask
from ...intervals import Estimate, around, normal_quantile, share_around, within_limits


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


# Means over classes.


NAMES = ("balanced_accuracy", "macro_f1")


@dataclass(frozen=True)
class _Influence:
    """A mean over classes: its `value`, the `smooth` one with the rows that were added, what rows add to the latter.

    `right` and `wrong` are what a further row of each class adds that is predicted correctly, or not.
    """

    value: float
    smooth: float
    rows: Floats
    right: Floats
    wrong: Floats


def class_means(
    truth: Ints, one: Ints, other: Ints, classes: int, groups: Ints | None, level: float
) -> dict[str, tuple[Estimate, Estimate, Estimate]]:
    """By name of the measure: that of `one`, of `other`, and the difference."""
    codes = None if groups is None else np.unique(groups, return_inverse=True)[1]
    units = truth.size if codes is None else int(codes.max()) + 1
    kind = "over rows" if codes is None else "over groups"
    right = one == truth, other == truth
    by_measure = {}
    for name, of in zip(NAMES, (_recall, _f1)):
        first, second = of(truth, one, classes), of(truth, other, classes)
        # Evidence of a difference are rows on which the two differ; of a single one, the rarer of right and wrong rows.
        singles = [
            _single(mean, codes, units, _added(codes, units, truth, mean, None, ok, ~ok), level, kind)
            for mean, ok in zip((first, second), right)
        ]
        added = _added(codes, units, truth, first, second, right[0] != right[1])
        error = _error(first.rows - second.rows, codes, units, added)
        gap = around(first.value - second.value, error, level, f"{kind}, paired", units)
        by_measure[name] = (singles[0], singles[1], within_limits(gap, -1.0, 1.0))
    return by_measure


def _added(
    codes: Ints | None, units: int, truth: Ints, one: _Influence, other: _Influence | None, *evidence: Mask
) -> float:
    """The variance that comes from half rows in each class; with groups, also from half groups of the usual size.

    The more groups have shown something, the smaller the part of a group that is added.
    """
    if other is None:
        pairs, weight = [one.right, one.wrong], 1.0
    else:
        pairs, weight = [a - b for a in (one.right, one.wrong) for b in (other.right, other.wrong)], 0.5
    by_rows = weight * sum(float((change**2).sum()) for change in pairs)
    if codes is None:
        return by_rows
    usual = np.bincount(truth, minlength=one.right.size) / units
    seen = min(np.unique(codes[rows]).size for rows in evidence)
    return by_rows + weight * sum(float(change @ usual) ** 2 for change in pairs) / (1 + seen)


def _single(mean: _Influence, codes: Ints | None, units: int, added: float, level: float, kind: str) -> Estimate:
    error = _error(mean.rows, codes, units, added)
    if 0 < mean.value < 1:
        return share_around(mean.value, error, level, kind, units)
    # All rows of all classes are alike: the logit of the value is infinite, that of the smoothed one is not.
    near = share_around(mean.smooth, error, level, kind, units)
    return Estimate(mean.value, min(near.low, mean.value), max(near.high, mean.value), level, kind)


def _error(rows: Floats, codes: Ints | None, units: int, added: float) -> float:
    sums = rows if codes is None else np.bincount(codes, rows)
    return math.sqrt(float((sums**2).sum()) * units / max(units - 1, 1) + added)


def _recall(truth: Ints, predicted: Ints, classes: int) -> _Influence:
    """The mean recall of the classes that have rows."""
    right = truth == predicted
    size, hits = np.bincount(truth, minlength=classes), np.bincount(truth[right], minlength=classes)
    here = size > 0
    recall = (hits + 1) / (size + 2)
    scale = here / (int(here.sum()) * np.maximum(size, 1))
    return _Influence(
        value=float((hits[here] / size[here]).mean()),
        smooth=float(recall[here].mean()),
        rows=(right - recall[truth]) * scale[truth],
        right=(1 - recall) * scale,
        wrong=-recall * scale,
    )


def _f1(truth: Ints, predicted: Ints, classes: int) -> _Influence:
    """The mean F1 = 2·hits / (rows + predictions) of the classes that have either, as in scikit-learn."""
    right = truth == predicted
    both = np.bincount(truth, minlength=classes) + np.bincount(predicted, minlength=classes)
    hits = np.bincount(truth[right], minlength=classes)
    here = both > 0
    number = int(here.sum())
    f1 = 2 * (hits + 1) / (both + 4)
    gain = 2 * here / (number * np.maximum(both, 1))
    loss = f1 * gain / 2
    # A wrong prediction takes from the class that it names as well: of one that was not made, from the mean class.
    elsewhere = (loss.sum() - loss) / max(number - 1, 1)
    return _Influence(
        value=float((2 * hits[here] / both[here]).mean()),
        smooth=float(f1[here].mean()),
        rows=right * gain[truth] - loss[truth] - loss[predicted],
        right=gain - 2 * loss,
        wrong=-np.where(here, loss + elsewhere, 0.0),
    )
