"""Differences between two learners with their intervals, on the same test points and subsets, or on the same rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...intervals import Estimate, of_table
from ...learner.scores.comparison import difference_over_rows
from ...learner.stability.agreement import agreement
from ..results import LearnerResults, Results


def accuracy_difference(one: LearnerResults, other: LearnerResults, level: float) -> Estimate:
    """Accuracy of one minus that of the other, on the same test points and subsets."""
    tables = [(labels == one.labelings.truth).mean(axis=1) for labels in _on_same_subsets(one, other)]
    return _crossed(tables[0], tables[1], level, one.labelings.groups)


def stability_difference(one: LearnerResults, other: LearnerResults, level: float) -> Estimate:
    """Stability of one minus that of the other, on the same test points and splits."""
    classes = len(one.labelings.classes)
    tables = [agreement(labels, classes, True).table for labels in _on_same_subsets(one, other)]
    return _crossed(tables[0], tables[1], level, one.labelings.groups)


def comparable(one: LearnerResults, other: LearnerResults) -> bool:
    """Whether both have every refit; those of the first subsets are on the same rows."""
    return all(bool(each.labelings.present.all()) for each in (one, other))


def not_less_accurate(learner: LearnerResults, results: Results) -> list[LearnerResults]:
    """Other learners that are not shown to be less accurate, at 95 %: a wider interval would accept worse ones."""
    return [
        other
        for other in results.learners.values()
        if other is not learner and comparable(learner, other) and accuracy_difference(other, learner, 0.95).high >= 0
    ]


def _on_same_subsets(one: LearnerResults, other: LearnerResults) -> list[NDArray[Any]]:
    """The predictions of both on the first subsets, which they share: a slow learner may have fewer."""
    subsets = min(len(one.labelings.labels), len(other.labelings.labels))
    return [each.labelings.labels[:subsets] for each in (one, other)]


def _crossed(one: NDArray[Any], other: NDArray[Any], level: float, groups: NDArray[Any] | None) -> Estimate:
    return of_table(one - other, level, "over subsets and points", groups, limits=(-1.0, 1.0))


def paired_difference(results: Results, one: str, other: str, figure: str, level: float = 0.95) -> Estimate | None:
    """A figure of one learner minus that of the other: on the same rows, or the same test points and subsets.

    None if that is not known of this figure.
    """
    first, second = results.predicted.get(one), results.predicted.get(other)
    if figure == "accuracy" and first is not None and second is not None:
        if not np.array_equal(first.rows, second.rows):
            return None
        gap = difference_over_rows(first.correct, second.correct, level, first.groups)
        # Predictions of a file are of the fits that made them.
        return gap if first.fit_rows else replace(gap, kind=f"{gap.kind}, for these fits; a refit may differ as much")
    measures = {"refit_accuracy": accuracy_difference, "stability": stability_difference}
    learners = [results.learners[name] for name in (one, other) if name in results.learners]
    if figure not in measures or len(learners) < 2 or not comparable(*learners):
        return None
    return measures[figure](learners[0], learners[1], level)
