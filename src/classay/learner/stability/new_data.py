"""Figures for data like these: how far the figure of one data set may be from that of the process behind it.

Halves of the same rows are compared again and again, so what these rows have in common never averages out: the interval
over splits is about these rows. Over data sets, the variance of the mean over all halvings is that of one split less
that over splits of the same rows (the law of total variance). The agreement of two independent samples S and T is

    a(S, T) = mean + [b(S) - mean] + [b(T) - mean] + rest, b(S) the expected agreement of S with another sample,

whose parts are uncorrelated, so the variance of one split is 2 Var(b) + Var(rest). Refits of other splits S' | T' of
the same rows stand in for other samples:

    q(S) - q(T), q the mean agreement with the refits of all other splits: mean square V = 2 Var(b)
    a(S, S') + a(T, T') - a(S, T') - a(T, S'): mean square / 4 = W = Var(rest)
    a(S, T) over splits: variance B

and W + V - B is added to the variance over splits and points, at least V. Other splits share rows, so V and W are
not those of other samples; by simulation over data sets the interval is wide enough (see the documentation).
On points that lie apart from the rows, a few rows may decide all predictions, and if these happen to have one label,
all refits agree and nothing shows that another data set would not: the lower end has few degrees of freedom there.

Accuracy is a mean over single samples, so its two halves are enough: the variance of a split is the mean square of
accuracy(S) - accuracy(T), over 4.

The points stay those of the record: points drawn over the ranges of these rows are taken as the attribute space.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import AnyInts, Floats
from ...intervals import Estimate, bounded, crossed_error
from ..records.base import Refits
from ..records.labelings import Labelings
from .agreement import Same

MOST_SPLITS = 50
"""Splits of which all pairs are compared: more add little, and cost grows with their square."""
FEW_DRAWS = 6
"""Degrees of freedom plus one, at most, of the lower end on points apart from the rows. Chosen by simulation."""
DATA_LIKE_THESE = "of data like these, over data sets"
"""How the kind of every interval for other data sets begins."""


def for_new_data(
    record: Refits, these: Estimate, standard_error: float, answers: NDArray[Any], same: Same, where: str
) -> Estimate:
    """Stability with an interval for other data sets of the same source and size, from that of these rows.

    `where`: on the test points or the probes. That of fresh samples is for other data already. It is
    withheld if subsets overlap, or halves were dealt by class: such refits are not those of two samples.
    """
    if record.fresh:
        return these
    withheld = _withheld(record, len(answers))
    if withheld:
        return Estimate(np.nan, 0.0, 1.0, these.level, f"unknown: {withheld}")
    added = row_variance(agreements(answers[: 2 * MOST_SPLITS], same))
    error = float(np.sqrt(standard_error**2 + added))
    kind = _kind(record.groups_of(where))
    if error == 0:
        return replace(these, kind=kind)
    groups = record.groups_of(where)
    splits, points = len(answers) // 2, answers.shape[2] if groups is None else np.unique(groups).size
    estimate = bounded(these.value, error, points, these.level, kind, splits)
    if where == "test" or record.probe_kind == "data":  # points that are distributed like the rows
        return estimate
    return replace(estimate, low=bounded(these.value, error, points, these.level, kind, min(splits, FEW_DRAWS)).low)


def accuracy_for_new_data(record: Labelings, these: Estimate) -> Estimate:
    """Accuracy with an interval for fits on other data sets of the same source and size, and new points.

    That of fresh samples is for other data already. It is withheld where the one of stability is.
    """
    if record.fresh:
        return these
    subsets, _ = record.chosen(pairs=record.halves)
    withheld = _withheld(record, len(subsets))
    if withheld:
        return Estimate(np.nan, 0.0, 1.0, these.level, f"unknown: {withheld}")
    right = record.on_unseen_rows(lambda labels: labels == record.truth)
    of_points, _ = crossed_error(right, record.groups)
    added = sample_variance(np.nanmean(record.test_accuracy[subsets], axis=1), two_fold=record.two_fold)
    error = float(np.sqrt(of_points**2 + added))
    points = right.shape[1] if record.groups is None else np.unique(record.groups).size
    draws = len(subsets) // 2 if record.groups is None else min(len(subsets) // 2, points)
    return bounded(float(right.mean()), error, points, these.level, _kind(record.groups), draws)


def _kind(groups: AnyInts | None) -> str:
    return f"{DATA_LIKE_THESE} and {'points' if groups is None else 'groups'}"


def _withheld(record: Refits, subsets: int) -> str:
    if record.of_predictions:
        return "predictions were given, not how they vary with the training data"
    if not record.halves:
        return "subsets of the same rows overlap, so refits agree more than those of two samples; record HalfSplits"
    if record.by_class:
        return "halves were dealt by class, which two samples are not"
    return "one pair of subsets" if subsets < 4 else ""


def agreements(answers: NDArray[Any], same: Same) -> Floats:
    """(K, K): the agreement of every two subsets, over all pairs of their refits, and points."""
    subsets, refits, _ = answers.shape
    table = np.ones((subsets, subsets))
    for one in range(subsets - 1):
        others = answers[one + 1 :]
        shares = [same(others, np.roll(answers[one], shift, axis=0)).mean(axis=(1, 2)) for shift in range(refits)]
        table[one, one + 1 :] = table[one + 1 :, one] = np.mean(shares, axis=0)
    return table


def row_variance(table: Floats) -> float:
    """W + V - B, or V if that is more, from the agreements of the halves of every split with those of every other."""
    ss, st, ts, tt = table[::2, ::2], table[::2, 1::2], table[1::2, ::2], table[1::2, 1::2]
    number = len(ss)
    apart = ~np.eye(number, dtype=bool)
    rest = float(((ss + tt - st - ts)[apart] ** 2).mean()) / 4
    means = [np.where(apart, own + other, 0).sum(axis=1) / (2 * (number - 1)) for own, other in ((ss, st), (ts, tt))]
    of_samples = float(((means[0] - means[1]) ** 2).mean())
    over_splits = float(np.diagonal(st).var(ddof=1))
    return max(rest + of_samples - over_splits, of_samples)


def sample_variance(accuracy: Floats, two_fold: bool) -> float:
    """The variance over data sets of the mean accuracy of both halves of all splits, from that of each half (K,).

    Mean square of the difference of two halves, over 4, less the variance of their mean over splits of the same rows.
    Where training rows share predictions in groups of rows, averaging keeps at most half of it, but estimates are
    noisy: at least half remains. In two-fold accuracy a row is a training row of one half and a test point of the
    other; what it adds as both has another sign in the difference, so nothing is taken off.
    """
    first, second = accuracy[::2], accuracy[1::2]
    of_split = float(((first - second) ** 2).mean()) / 4
    over_splits = 0.0 if two_fold else float(((first + second) / 2).var(ddof=1))
    return max(of_split - over_splits, of_split / 2)
