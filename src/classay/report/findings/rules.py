"""What rules share: their interface, and when a difference between figures is a finding.

A difference is a finding if its interval supports it, at a level at which all warnings of a page together are rarely
wrong: `Judge` has that level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray
from scipy import stats

from ...intervals import (
    Estimate,
    around,
    by_group,
    crossed_standard_error,
    draws_of,
    normal_quantile,
    of_mean,
)
from ...learner.stability.agreement import agreement
from ..cross_validated import MOSTLY, HeldOut
from ..document import Finding, Unasked
from ..results import LearnerResults, Results

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
    """One file of this folder: the stable code, the heading, the text of the docs, and the check itself.

    `basis` is what it judges: refits, folds (cross-validated predictions), or nothing that the budget limits.
    """

    code: str
    title: str
    docs: str
    check: Callable[[Results, Judge], Outcome]
    basis: str = ""


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
    tables = [(labels == one.labelings.truth).mean(axis=1) for labels in _on_same_subsets(one, other)]
    return _crossed(tables[0], tables[1], level, one.labelings.groups)


def stability_difference(one: LearnerResults, other: LearnerResults, level: float) -> Estimate:
    """Stability of one minus that of the other, on the same test points and splits."""
    classes = len(one.labelings.classes)
    tables = [agreement(labels, classes, True).table for labels in _on_same_subsets(one, other)]
    return _crossed(tables[0], tables[1], level, one.labelings.groups)


def not_less_accurate(learner: LearnerResults, results: Results) -> list[LearnerResults]:
    """Other learners that are not shown to be less accurate, at 95 %: a wider interval would accept worse ones."""
    return [
        other
        for other in results.learners.values()
        if other is not learner and _comparable(learner, other) and accuracy_difference(other, learner, 0.95).high >= 0
    ]


def difference_over_rows(
    one: NDArray[Any], other: NDArray[Any], level: float, groups: NDArray[Any] | None = None
) -> Estimate:
    """The mean of one minus that of the other, such as how much more often one is right; with groups, over groups."""
    return mean_over_rows(one.astype(float) - other.astype(float), level, groups)


def mean_over_rows(values: NDArray[Any], level: float, groups: NDArray[Any] | None = None) -> Estimate:
    """The mean of a value per row; with groups, its interval is over groups."""
    if groups is None:
        return of_mean(values, level, "over rows")
    table = by_group(values[None, :], groups)
    return around(float(values.mean()), crossed_standard_error(table), level, "over groups", table.shape[1])


def fit_size(held: HeldOut) -> str:
    """How many rows the fits of a figure had, such as fits on 2,088 rows."""
    return f"fits on {held.rows:,} rows"


def full_folds(results: Results) -> dict[str, HeldOut]:
    """The cross-validated predictions of learners whose fits had nearly all rows: with fewer, it is another learner."""
    return {name: held for name, held in results.predicted.items() if held.is_full}


def without_full_folds(results: Results, code: str, title: str) -> Unasked:
    """Why a check that needs fits on nearly all rows cannot be made."""
    if not results.predicted:
        return Unasked(code, title, "there are no cross-validated predictions")
    most = max(results.predicted.values(), key=lambda each: each.rows)
    return Unasked(
        code,
        title,
        f"cross-validated fits had {most.rows:,} of {most.available:,} rows; use a larger budget or --fold-rows all",
    )


def every_learner(asked: Mapping[str, Any], results: Results) -> str:
    """The learners of a statement on all that could be asked."""
    return "Every learner" if len(asked) == len(results.predicted) else "Every learner with fits on all rows"


def limited(finding: Finding, basis: str, results: Results) -> Finding:
    """The finding as it is, or, if fits used clearly fewer rows than there are, at most as a note that says so."""
    rows, available = _rows_used(finding.of, basis, results)
    if rows >= MOSTLY * available:
        return finding
    return replace(
        finding,
        level="note" if finding.level == "warning" else finding.level,
        sentence=f"{finding.sentence} Fits used {rows:,} of {available:,} rows to stay within the budget.",
    )


def _rows_used(of: str, basis: str, results: Results) -> tuple[int, int]:
    """Rows of the fits behind a finding, and how many there could have been."""
    if basis == "refits":
        half = int(results.settings.get("half", 0))
        size = results.settings.get("size", "all")
        return (size, half) if isinstance(size, int) else (half, half)
    if basis == "folds":
        held = [results.predicted[of]] if of in results.predicted else list(results.predicted.values())
        return min(((each.rows, each.available) for each in held), default=(0, 0))
    return 0, 0


def _comparable(one: LearnerResults, other: LearnerResults) -> bool:
    """Whether both have every refit; those of the first subsets are on the same rows."""
    return all(bool(each.labelings.present.all()) for each in (one, other))


def _on_same_subsets(one: LearnerResults, other: LearnerResults) -> list[NDArray[Any]]:
    """The predictions of both on the first subsets, which they share: a slow learner may have fewer."""
    subsets = min(len(one.labelings.labels), len(other.labelings.labels))
    return [each.labelings.labels[:subsets] for each in (one, other)]


def _crossed(one: NDArray[Any], other: NDArray[Any], level: float, groups: NDArray[Any] | None) -> Estimate:
    table = by_group(one - other, groups)
    draws = draws_of(table, groups)
    return around(float(table.mean()), crossed_standard_error(table), level, "over subsets and points", draws)
