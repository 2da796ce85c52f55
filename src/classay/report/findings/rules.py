"""What rules share: their interface, and when a difference between figures is a finding.

A difference is a finding if its interval supports it, at a level at which all warnings of a page together are rarely
wrong: `Judge` has that level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ...intervals import Estimate, around, crossed_standard_error, normal_quantile, of_mean
from ...learner.stability.agreement import agreement
from ..budget import FOLDS
from ..document import Finding, Unasked
from ..results import DataResults, LearnerResults, Results

EVERYONE = "all learners"
"""The subject of a finding that is not about a single learner."""
ERROR = 0.03
"""Probability of any wrong warning from the comparisons of a page (Bonferroni)."""
SLICE_ERROR = 0.02
"""The same for slices, over all learners and their slices."""

Outcome = list[Finding] | Unasked
"""What a rule returns: its findings, if any, or why it could not be checked."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One file of this folder: the stable code, the heading, the text of the docs, and the check itself."""

    code: str
    title: str
    docs: str
    check: Callable[[Results, Judge], Outcome]


@dataclass(frozen=True)
class Judge:
    """Makes intervals for a number of comparisons that can each give a warning."""

    comparisons: int
    learners: int

    @classmethod
    def of_report(cls, learners: int, networks: int) -> Judge:
        """The judge for this number of learners and networks.

        There are two possible warnings per learner (D201, L103), two per ordered pair (L102, L104), two for the data
        (D202, C401), and one per network.
        """
        return cls(2 * learners + 2 * learners * (learners - 1) + 2 + networks, learners)

    @property
    def level(self) -> float:
        """Confidence level of an interval that can give a warning."""
        return 1 - ERROR / max(self.comparisons, 1)

    def slice_p(self, tested: int) -> float:
        """The p-value up to which one of the `tested` slices gives a warning."""
        return SLICE_ERROR / max(self.learners * tested, 1)

    def widened(self, estimate: Estimate) -> Estimate:
        """The estimate with its interval at this level: each side is extended by the ratio of normal quantiles."""
        ratio = normal_quantile(self.level) / normal_quantile(estimate.level)
        low = estimate.value - ratio * (estimate.value - estimate.low)
        high = estimate.value + ratio * (estimate.high - estimate.value)
        return replace(estimate, low=low, high=high, level=self.level)

    def more_than(self, count: int, expected: float) -> bool:
        """Whether the count is larger than chance would give if `expected` is the mean."""
        return bool(stats.poisson.sf(count - 1, expected) < 1 - self.level)


def accuracy_difference(one: LearnerResults, other: LearnerResults, level: float) -> Estimate:
    """Accuracy of one minus that of the other, on the same test points and subsets."""
    tables = [(each.labelings.labels == each.labelings.truth).mean(axis=1) for each in (one, other)]
    return _crossed(tables[0], tables[1], level)


def stability_difference(one: LearnerResults, other: LearnerResults, level: float) -> Estimate:
    """Stability of one minus that of the other, on the same test points and splits."""
    tables = [agreement(each.labelings.labels, len(each.labelings.classes), True).table for each in (one, other)]
    return _crossed(tables[0], tables[1], level)


def not_less_accurate(learner: LearnerResults, results: Results) -> list[LearnerResults]:
    """Other learners that are not shown to be less accurate, at 95 %: a wider interval would accept worse ones."""
    return [
        other
        for other in results.learners.values()
        if other is not learner and _comparable(learner, other) and accuracy_difference(other, learner, 0.95).high >= 0
    ]


def difference_over_rows(one: NDArray[Any], other: NDArray[Any], level: float) -> Estimate:
    """How much more often one is right than the other, over all rows."""
    return of_mean(one.astype(float) - other.astype(float), level, "over rows")


def correct_rows(learner: LearnerResults, data: DataResults) -> NDArray[np.bool_] | None:
    """Which rows the learner predicts correctly without having seen them."""
    return None if learner.held_out is None else learner.held_out.labels == data.codes


def few_rows(learner: LearnerResults, data: DataResults) -> str:
    """A remark if cross-validated fits used clearly fewer rows than available; otherwise empty."""
    held = learner.held_out
    if held is None or held.rows >= 0.9 * (data.codes.size - -(-data.codes.size // FOLDS)):
        return ""
    return f" (fitted on {held.rows:,} rows to stay within the budget)"


def _comparable(one: LearnerResults, other: LearnerResults) -> bool:
    """Whether both have every refit, on the same subsets."""
    records = one.labelings, other.labelings
    return all(bool(each.present.all()) for each in records) and len(records[0].labels) == len(records[1].labels)


def _crossed(one: NDArray[Any], other: NDArray[Any], level: float) -> Estimate:
    table = one - other
    return around(float(table.mean()), crossed_standard_error(table), level, "over subsets and points", len(table))
