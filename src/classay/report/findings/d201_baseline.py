"""Is a learner better than the geometric baseline, which takes the nearest class?

- *A warning when:* The learner is below the baseline: the whole interval of the difference, paired over rows, at the
  level of the page.
- *A note when:* The 95 % interval of the difference lies below 0, or reaches it.
- *Fine when:* The 95 % interval is above 0, for every learner.
- *Not checked when:* There is no baseline, or fits had fewer than 90 % of the rows.
- *Judged by:* Both are cross-validated. Where the predictions of a learner are nearly constant, as with a rare class,
  how well scores rank rows (AUC) is compared instead of accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...intervals import Estimate
from ..cross_validated import HeldOut
from ..document import Finding, Unasked
from ..document.phrases import distance_in_words, joined, percent, points, quoted, share, signed
from ..results import Results
from ..score_ranks import EVENTS, nearly_constant, placements, ranks_by_row
from .rules import (
    EVERYONE,
    Judge,
    Outcome,
    difference_over_rows,
    every_learner,
    fit_size,
    full_folds,
    without_full_folds,
)

CODE = "D201"
TITLE = "Better than the geometric baseline"
LEVEL = 0.95
"""Confidence level at which a learner is ahead; that of being below is the page's."""


@dataclass(frozen=True)
class _Lead:
    """By how much a learner is ahead of the baseline, at 95 % and at the level of the page, in accuracy or AUC."""

    learner: str
    held: HeldOut
    own: float
    baseline: float
    lead: Estimate
    at_page_level: Estimate
    ranked: bool

    @property
    def in_words(self) -> str:
        """What both reach."""
        if self.ranked:
            return f"AUC {self.own:.3f} compared with {self.baseline:.3f}"
        return f"{share(self.own)} correct compared with {share(self.baseline)}"


def check(results: Results, judge: Judge) -> Outcome:
    """One finding on learners below the baseline, one on those not shown to be above, or one that all are above."""
    if results.complexity is None:
        return Unasked(CODE, TITLE, results.why.get("complexity", ""))
    if results.data.per_row.time is not None:
        return Unasked(CODE, TITLE, "the baseline uses all rows, learners only those before")
    held = full_folds(results)
    if not held:
        return without_full_folds(results, CODE, TITLE)
    leads = [lead for name, each in held.items() if (lead := _lead(name, each, results, judge)) is not None]
    if not leads:
        return Unasked(CODE, TITLE, "predictions are nearly constant, and there are no scores to compare")
    rule = f"taking the nearest class by {distance_in_words(results.complexity)}"
    clearly = [each for each in leads if each.at_page_level.high < 0]
    below = [each for each in leads if each.lead.high < 0 and each not in clearly]
    doubtful = [each for each in leads if each.lead.low <= 0 <= each.lead.high]
    findings = []
    if clearly or below:
        findings.append(_below(clearly or below, "warning" if clearly else "note", rule, results))
    if doubtful:
        findings.append(_doubtful(EVERYONE if len(doubtful) == len(held) else "data", doubtful, rule, results))
    return findings or [_fine(leads, every_learner(held, results), rule, results)]


def _lead(name: str, held: HeldOut, results: Results, judge: Judge) -> _Lead | None:
    """The lead in accuracy; in AUC where predictions are nearly constant; None if neither can be said."""
    assert results.complexity is not None
    data, places = results.data, np.searchsorted(results.measured, held.tested)
    ranked = nearly_constant(held.labels)
    own: Floats | None = held.right(data.codes).astype(float)
    baseline = (results.complexity.predicted[places] == data.classes[data.codes[held.tested]]).astype(float)
    if ranked:
        positive = data.codes[held.tested] == 1
        if data.classes.size != 2 or min(positive.sum(), (~positive).sum()) < EVENTS:
            return None
        own = ranks_by_row(held, data.codes)
        likely = np.exp(-results.complexity.values[places])
        baseline = placements(np.where(positive, likely, 1 - likely), positive)
    if own is None or np.isnan(baseline).any():
        return None
    groups = data.groups_of(held.tested)
    lead, wider = (difference_over_rows(own, baseline, level, groups) for level in (LEVEL, judge.level))
    return _Lead(name, held, float(own.mean()), float(baseline.mean()), lead, wider, ranked)


def _below(leads: list[_Lead], level: str, rule: str, results: Results) -> Finding:
    first = min(leads, key=lambda each: each.lead.value)
    others = [f"{quoted(each.learner)} ({each.in_words})" for each in leads if each is not first]
    return Finding(
        code=CODE,
        level=level,
        of=first.learner,
        title="Below the geometric baseline",
        sentence=f"It is below {rule}, without any learner: {first.in_words}, {points(first.lead)} "
        f"({fit_size(first.held)}).{f' Also below that: {joined(others)}.' if others else ''}",
        value=first.lead,
        reference=_reference(results),
        action="A rule without any settings is more accurate: check the settings of this learner, and how columns are "
        "scaled or encoded for it."
        if level == "warning"
        else "It is behind by a little; check its settings, and how columns are scaled or encoded for it.",
    )


def _doubtful(of: str, leads: list[_Lead], rule: str, results: Results) -> Finding:
    names = joined([f"{quoted(each.learner)} ({signed(each.lead)})" for each in leads])
    ranked = any(each.ranked for each in leads)
    return Finding(
        code=CODE,
        level="note",
        of=of,
        title="Not shown to beat the baseline",
        sentence=f"T{rule[1:]} needs no learner. These rows do not show that {names} "
        f"{'is' if len(leads) == 1 else 'are'} better (in parentheses: points{' of AUC' if ranked else ''} ahead; "
        f"{fit_size(leads[0].held)}).",
        value=leads[0].lead,
        reference=_reference(results),
        action="Compare it as one more learner (classay.BaselineClassifier): it has nothing to tune.",
    )


def _fine(leads: list[_Lead], learners: str, rule: str, results: Results) -> Finding:
    least = min(leads, key=lambda each: each.lead.value)
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title=TITLE,
        sentence=f"{learners} is better than {rule}; the smallest lead is that of {quoted(least.learner)}, "
        f"{points(least.lead)} ({least.in_words}).",
        value=least.lead,
        reference=_reference(results),
    )


def _reference(results: Results) -> str:
    assert results.complexity is not None
    return f"accuracy of the baseline {percent(results.complexity.baseline_accuracy)}"
