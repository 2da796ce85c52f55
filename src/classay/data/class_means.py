"""Balanced accuracy and macro-F1 of two classifiers on the same rows, and of their difference.

Both are means over classes. The variance is that of what each row adds to the mean (its influence), summed by group if
there are groups. Four half rows are added to each class in it, one for each way in which two predictions are right or
wrong (Agresti & Min, 2005): so a class of a few rows, or a pair that never differs, claims no certainty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints, Mask
from ..intervals import Estimate, around, share_around, within_limits

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
    made = {}
    for name, of in zip(NAMES, (_recall, _f1)):
        first, second = of(truth, one, classes), of(truth, other, classes)
        # Evidence of a difference are rows on which the two differ; of a single one, the rarer of right and wrong rows.
        singles = [
            _single(each, codes, units, _added(codes, units, truth, each, None, ok, ~ok), level, kind)
            for each, ok in zip((first, second), right)
        ]
        added = _added(codes, units, truth, first, second, right[0] != right[1])
        error = _error(first.rows - second.rows, codes, units, added)
        gap = around(first.value - second.value, error, level, f"{kind}, paired", units)
        made[name] = (singles[0], singles[1], within_limits(gap, -1.0, 1.0))
    return made


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
    by_rows = weight * sum(float((each**2).sum()) for each in pairs)
    if codes is None:
        return by_rows
    usual = np.bincount(truth, minlength=one.right.size) / units
    seen = min(np.unique(codes[each]).size for each in evidence)
    return by_rows + weight * sum(float(each @ usual) ** 2 for each in pairs) / (1 + seen)


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
