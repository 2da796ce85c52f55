"""When a difference is a finding: intervals at a level at which all warnings of a page together are seldom wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ...intervals import Estimate, around, crossed_standard_error, normal_quantile, of_mean
from ...learner.agreement import agreement
from ..parts import Data, Learner
from ..plan import FOLDS

ERROR = 0.03
"""Chance of a wrong warning from comparisons, over all of a page (Bonferroni)."""
SLICE_ERROR = 0.02
"""The same for slices, over all learners and their slices."""


@dataclass(frozen=True)
class Judge:
    """Makes intervals for so many comparisons that may each give a warning."""

    comparisons: int
    learners: int

    @property
    def level(self) -> float:
        """Of an interval that may give a warning."""
        return 1 - ERROR / max(self.comparisons, 1)

    def slice_p(self, tested: int) -> float:
        """The p-value up to which one of so many slices gives a warning."""
        return SLICE_ERROR / max(self.learners * tested, 1)

    def widened(self, estimate: Estimate) -> Estimate:
        """The estimate with its interval at the judge's level: each side longer, by the ratio of normal quantiles."""
        ratio = normal_quantile(self.level) / normal_quantile(estimate.level)
        low = estimate.value - ratio * (estimate.value - estimate.low)
        high = estimate.value + ratio * (estimate.high - estimate.value)
        return replace(estimate, low=low, high=high, level=self.level)

    def more_than(self, count: int, expected: float) -> bool:
        """Whether so many are more than chance would give, if `expected` are."""
        return bool(stats.poisson.sf(count - 1, expected) < 1 - self.level)


def judge(learners: int, networks: int) -> Judge:
    """The judge for so many learners and networks.

    Two things may be warned of each learner (D201, L103), two of each ordered pair (L102, L104), two of the data (D202,
    C401), and one of each network.
    """
    return Judge(2 * learners + 2 * learners * (learners - 1) + 2 + networks, learners)


def accuracy_difference(one: Learner, other: Learner, level: float) -> Estimate:
    """Accuracy of one less that of the other, on the same test points and subsets."""
    tables = [(each.labelings.labels == each.labelings.truth).mean(axis=1) for each in (one, other)]
    return _crossed(tables[0], tables[1], level)


def stability_difference(one: Learner, other: Learner, level: float) -> Estimate:
    """Stability of one less that of the other, on the same test points and splits."""
    tables = [agreement(each.labelings.labels, len(each.labelings.classes), True).table for each in (one, other)]
    return _crossed(tables[0], tables[1], level)


def over_rows(one: NDArray[Any], other: NDArray[Any], level: float) -> Estimate:
    """How much more often one is right than the other, over all rows."""
    return of_mean(one.astype(float) - other.astype(float), level, "over rows")


def rightly(learner: Learner, data: Data) -> NDArray[np.bool_] | None:
    """Which rows the learner labels rightly without having seen them."""
    return None if learner.held_out is None else learner.held_out.labels == data.codes


def few_rows(learner: Learner, data: Data) -> str:
    """« (fitted on 300 rows, for the budget)» if cross-validated fits had clearly fewer rows than there are."""
    held = learner.held_out
    if held is None or held.rows >= 0.9 * (data.codes.size - -(-data.codes.size // FOLDS)):
        return ""
    return f" (fitted on {held.rows:,} rows, for the budget)"


def comparable(one: Learner, other: Learner) -> bool:
    """Whether both have every refit, on the same subsets."""
    records = one.labelings, other.labelings
    return all(bool(each.present.all()) for each in records) and len(records[0].labels) == len(records[1].labels)


def _crossed(one: NDArray[Any], other: NDArray[Any], level: float) -> Estimate:
    table = one - other
    return around(float(table.mean()), crossed_standard_error(table), level, "over subsets and points", len(table))
