"""Every finding that a report can have: its stable code, its title, and its rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ...intervals import Estimate, around, crossed_standard_error, normal_quantile, of_mean
from ...learner.stability.agreement import agreement
from ..budget import FOLDS
from ..results import DataResults, LearnerResults


@dataclass(frozen=True)
class Code:
    """`title` is the heading; `warns` says when it is a warning, `notes` when it is a note; else it is fine."""

    title: str
    warns: str
    notes: str = ""


CODES: dict[str, Code] = {
    "L101": Code(
        "Better than the largest class",
        "Its cross-validated accuracy is not above the share of the largest class.",
        "It is above, but the 95 % interval of the difference, paired over rows, reaches 0; or it is not above, and "
        "its fits used fewer rows to stay within the budget.",
    ),
    "L102": Code(
        "Equally accurate, less stable",
        "Another learner's accuracy is indistinguishable from its own (95 %), and that learner is more stable: the "
        "whole interval of the difference in stability is above half the width of the interval of the difference in "
        "accuracy, so more predictions change than the accuracies can resolve. Both differences are paired over "
        "subsets and points.",
        "Every learner that is this much more stable is also more accurate.",
    ),
    "L103": Code(
        "Training randomness or data",
        "Stochasticity exceeds capacity (the whole interval of the difference is above 0), and training randomness "
        "alone changes more predictions than half the width of the interval of accuracy.",
        "Stochasticity exceeds capacity but changes fewer predictions than that; or capacity exceeds stochasticity.",
    ),
    "L104": Code(
        "Memorising",
        "Another learner is not shown to be less accurate (95 %), and both its train–test gap and its expressivity are "
        "smaller (the whole intervals of the differences).",
        "There is no other learner, its gap is above 0, and so is its stochasticity.",
    ),
    "L105": Code(
        "A class is never predicted",
        "No refit ever predicts a class, although predictions drawn by class shares would miss it on all test points "
        "with a probability below 5 % divided by the number of classes.",
    ),
    "L106": Code("Refits failed", "A refit raised an error or took too long."),
    "L107": Code("Fits issued warnings", "", "A fit issued a warning, for example that it did not converge."),
    "L108": Code(
        "Indistinguishable learners",
        "",
        "The distance between the predictions of two learners is no more than chance gives.",
    ),
    "L109": Code(
        "Agreement beyond chance",
        "The 95 % interval of kappa reaches 0 and ends below .5: refits agree hardly more often than random "
        "predictions with the same class shares.",
        "The interval reaches from 0 to .5 or more: there are too few refits to decide.",
    ),
    "L110": Code(
        "Where refits disagree",
        "",
        "A region was found with one half of the refits and points and confirmed with the other half (q ≤ .05).",
    ),
    "D201": Code(
        "Better than the geometric baseline",
        "Cross-validated accuracy is below the baseline (the whole interval of the difference, paired over rows).",
        "The 95 % interval of the difference reaches 0, or lies below it; or fits used fewer rows than available to "
        "stay within the budget.",
    ),
    "D202": Code(
        "Suspected labels",
        "The best learner also contradicts clearly more of the suspected labels than twice what overlap of the classes "
        "would give: the tail of a logistic distribution with the mean and spread of the margins of each class, with a "
        "Poisson test of the count.",
        "There are suspected labels, but no more than overlap of the classes explains.",
    ),
    "D203": Code("Contradictory rows", "", "Rows that are equal in every column have different labels."),
    "D204": Code("Duplicate rows", "", "Rows occur more than once with the same label."),
    "S301": Code(
        "Errors concentrate in a slice",
        "A slice was found in one half of the rows and confirmed in the other (q ≤ .05). It has more errors than the "
        "learner's own scores predict (p at most .02, shared by all learners and the slices tested), and the scores "
        "predict less than half of the difference to the other rows. How errors depend on scores is learnt from the "
        "first half.",
        "A slice was found and confirmed, and the scores predict most of it: these rows are hard and the scores "
        "reflect it.",
    ),
    "C401": Code(
        "More classes",
        "The upper end of the accuracy forecast for ten times the classes is below half of the present accuracy.",
        "The upper end is below the present accuracy.",
    ),
    "N501": Code("A trained network", "The interval of the estimated accuracy reaches chance."),
    "N502": Code("Classes the network finds similar", "", "Always reported: the closest pair of rows of the head."),
}


# When a difference is a finding: intervals at a level at which all warnings of a page together are rarely wrong.


ERROR = 0.03
"""Probability of any wrong warning from the comparisons of a page (Bonferroni)."""
SLICE_ERROR = 0.02
"""The same for slices, over all learners and their slices."""


@dataclass(frozen=True)
class Judge:
    """Makes intervals for a number of comparisons that can each give a warning."""

    comparisons: int
    learners: int

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


def judge(learners: int, networks: int) -> Judge:
    """The judge for this number of learners and networks.

    There are two possible warnings per learner (D201, L103), two per ordered pair (L102, L104), two for the data (D202,
    C401), and one per network.
    """
    return Judge(2 * learners + 2 * learners * (learners - 1) + 2 + networks, learners)


def accuracy_difference(one: LearnerResults, other: LearnerResults, level: float) -> Estimate:
    """Accuracy of one minus that of the other, on the same test points and subsets."""
    tables = [(each.labelings.labels == each.labelings.truth).mean(axis=1) for each in (one, other)]
    return _crossed(tables[0], tables[1], level)


def stability_difference(one: LearnerResults, other: LearnerResults, level: float) -> Estimate:
    """Stability of one minus that of the other, on the same test points and splits."""
    tables = [agreement(each.labelings.labels, len(each.labelings.classes), True).table for each in (one, other)]
    return _crossed(tables[0], tables[1], level)


def over_rows(one: NDArray[Any], other: NDArray[Any], level: float) -> Estimate:
    """How much more often one is right than the other, over all rows."""
    return of_mean(one.astype(float) - other.astype(float), level, "over rows")


def rightly(learner: LearnerResults, data: DataResults) -> NDArray[np.bool_] | None:
    """Which rows the learner predicts correctly without having seen them."""
    return None if learner.held_out is None else learner.held_out.labels == data.codes


def few_rows(learner: LearnerResults, data: DataResults) -> str:
    """A remark if cross-validated fits used clearly fewer rows than available; otherwise empty."""
    held = learner.held_out
    if held is None or held.rows >= 0.9 * (data.codes.size - -(-data.codes.size // FOLDS)):
        return ""
    return f" (fitted on {held.rows:,} rows to stay within the budget)"


def comparable(one: LearnerResults, other: LearnerResults) -> bool:
    """Whether both have every refit, on the same subsets."""
    records = one.labelings, other.labelings
    return all(bool(each.present.all()) for each in records) and len(records[0].labels) == len(records[1].labels)


def _crossed(one: NDArray[Any], other: NDArray[Any], level: float) -> Estimate:
    table = one - other
    return around(float(table.mean()), crossed_standard_error(table), level, "over subsets and points", len(table))
