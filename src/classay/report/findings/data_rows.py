"""Rules on rows and labels: D201 (the geometric baseline), D202 (wrong labels), D203 and D204 (equal rows)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...data.labels.wrong_labels import WrongLabels
from ...intervals import Estimate, exact
from ..cross_validated import HeldOut
from ..document import Finding
from ..document.phrases import distance_in_words, joined, percent, points, quoted, share, signed
from ..label_quality import best_learner, labels_of
from ..results import Results
from ..score_ranks import EVENTS, nearly_constant, placements, ranks_by_row
from .differences import difference_over_rows
from .rules import (
    EVERYONE,
    Judge,
    Outcome,
    complexity,
    every_learner,
    finding,
    fine,
    fit_size,
    full_fits,
    full_folds,
    note,
    rule,
    warning,
)

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


@rule("D201", "Better than the geometric baseline", complexity)
def geometric_baseline(results: Results, judge: Judge) -> Outcome:
    """Is a learner better than the geometric baseline, which takes the nearest class?

    - *A warning when:* The learner is below the baseline: the whole interval of the difference, paired over rows, at
      the level of the page.
    - *A note when:* The 95 % interval of the difference lies below 0, or reaches it.
    - *Fine when:* The 95 % interval is above 0, for every learner.
    - *Not checked when:* There is no baseline, or fits had fewer than 90 % of the rows.
    - *Judged by:* Both are cross-validated. Where the predictions of a learner are nearly constant, as with a rare
      class, how well scores rank rows (AUC) is compared instead of accuracy.
    """
    assert results.complexity is not None
    if results.data.per_row.time is not None:
        return "the baseline uses all rows, learners only those before"
    if why := full_fits(results):
        return why
    held = full_folds(results)
    leads = [lead for name, each in held.items() if (lead := _lead(name, each, results, judge)) is not None]
    if not leads:
        return "predictions are nearly constant, and there are no scores to compare"
    nearest = f"taking the nearest class by {distance_in_words(results.complexity)}"
    reference = f"accuracy of the baseline {percent(results.complexity.baseline_accuracy)}"
    clearly = [each for each in leads if each.at_page_level.high < 0]
    below = [each for each in leads if each.lead.high < 0 and each not in clearly]
    doubtful = [each for each in leads if each.lead.low <= 0 <= each.lead.high]
    findings = []
    if clearly or below:
        findings.append(_below(clearly or below, "warning" if clearly else "note", nearest, reference))
    if doubtful:
        of = EVERYONE if len(doubtful) == len(held) else "data"
        findings.append(_doubtful(of, doubtful, nearest, reference))
    least = min(leads, key=lambda each: each.lead.value)
    return findings or fine(
        EVERYONE,
        f"{every_learner(held, results)} is better than {nearest}; the smallest lead is that of "
        f"{quoted(least.learner)}, {points(least.lead)} ({least.in_words}).",
        least.lead,
        reference,
    )


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


def _below(leads: list[_Lead], level: str, nearest: str, reference: str) -> Finding:
    first = min(leads, key=lambda each: each.lead.value)
    others = [f"{quoted(each.learner)} ({each.in_words})" for each in leads if each is not first]
    return finding(
        level,
        first.learner,
        f"It is below {nearest}, without any learner: {first.in_words}, {points(first.lead)} ({fit_size(first.held)})."
        f"{f' Also below that: {joined(others)}.' if others else ''}",
        first.lead,
        reference,
        "A rule without any settings is more accurate: check the settings of this learner, and how columns are scaled "
        "or encoded for it."
        if level == "warning"
        else "It is behind by a little; check its settings, and how columns are scaled or encoded for it.",
        "Below the geometric baseline",
    )


def _doubtful(of: str, leads: list[_Lead], nearest: str, reference: str) -> Finding:
    names = joined([f"{quoted(each.learner)} ({signed(each.lead)})" for each in leads])
    unit = "points of AUC" if any(each.ranked for each in leads) else "points"
    return note(
        of,
        f"T{nearest[1:]} needs no learner. These rows do not show that {names} {'is' if len(leads) == 1 else 'are'} "
        f"better (in parentheses: {unit} ahead; {fit_size(leads[0].held)}).",
        leads[0].lead,
        reference,
        "Compare it as one more learner (classay.BaselineClassifier): it has nothing to tune.",
        "Not shown to beat the baseline",
    )


LEAST_SHARE = 0.01
"""Share of wrong labels, at least, that is worth a warning."""


@rule("D202", "Suspected labels", basis="folds")
def suspected_labels(results: Results, judge: Judge) -> Outcome:
    """Are labels wrong, and do they limit the accuracy?

    - *A warning when:* At least 1 % of the labels are wrong, by the lower end of the estimate (from distances and the
      best learner's cross-validated probabilities), and at least that many rows can be named. Rows that equal a row
      with another label do not count (D203).
    - *A note when:* Some labels are suspected, but fewer, or wrong labels are indistinguishable from overlap.
    - *Fine when:* No label is suspected.
    - *Not checked when:* There is no baseline, there are no cross-validated predictions, or a column predicts the label
      alone (D205).
    """
    if results.suspicions.leak:
        return "one column predicts the label (D205): labels that it contradicts are no surprise"
    if results.complexity is None or best_learner(results) is None:
        return results.why.get("complexity", "there are no cross-validated predictions")
    labels, rows = labels_of(results), results.measured.size
    count, reference = exact(labels.listed.size, "count"), "0 if all labels are right"
    sentence = f"{_in_numbers(labels, rows)} {labels.answer}" if labels.share.known else labels.answer
    # Rows that equal a row with another label are reported as such: nobody can know which label is wrong.
    named = int((~results.data.contradicted_rows[results.measured[labels.listed]]).sum())
    wrong = judge.widened(labels.share) if labels.share.known else labels.share
    if wrong.known and wrong.low >= LEAST_SHARE and named >= max(3, math.ceil(LEAST_SHARE * rows)):
        action = "Check the rows below, likeliest first, and correct wrong labels before you tune anything."
        return warning("data", sentence, count, reference, action)
    if labels.listed.size or not labels.share.known:
        action = "Check the first of them." if labels.listed.size else "Have some rows labelled twice to find out."
        return note("data", sentence, count, reference, action)
    return fine(
        "data",
        f"No row is clearly labelled wrongly. {labels.answer}",
        exact(0, "count"),
        f"at most {labels.number.high:,.0f} wrong labels",
        "No label is suspected",
    )


def _in_numbers(labels: WrongLabels, rows: int) -> str:
    number = labels.number
    return (
        f"About {number.value:,.0f} [{number.low:,.0f}, {number.high:,.0f}] of {rows:,} labels are wrong, by "
        f"{labels.used}; {labels.listed.size:,} of them can be named, about {labels.false_alarms:.0%} wrongly."
    )


@rule("D203", "Contradictory rows")
def contradictory_rows(results: Results, judge: Judge) -> Outcome:
    """Do rows contradict each other?

    - *A note when:* Rows that are equal in every column have different labels.
    - *Fine when:* No row repeats another, with the same label or another. With duplicates alone, only D204 is reported.
    """
    data = results.data
    contradictory, rows, reference = int(data.contradicted_rows.sum()), data.codes.size, "0: no contradictions"
    if contradictory:
        wrong = data.surely_wrong
        return note(
            "data",
            f"{contradictory:,} of {rows:,} rows are equal in every column to a row with another label. Any classifier "
            f"predicts at least {wrong:,} of them wrongly: none can be right on more than {share(1 - wrong / rows)} of "
            "the rows.",
            exact(contradictory, "count"),
            reference,
            "Is a column missing that separates them, or are labels wrong?",
        )
    if data.duplicates:
        return []
    title = "No row repeats or contradicts another"
    return fine("data", f"All {rows:,} rows differ in some column.", exact(0, "count"), reference, title)


SHIFT = 0.01
"""Smallest difference in accuracy that matters."""


@rule("D204", "Duplicate rows")
def duplicate_rows(results: Results, judge: Judge) -> Outcome:
    """Do copies of rows make accuracy look better than it is?

    - *A warning when:* With copies on both sides it is more accurate by more than 1 point, and the whole interval of
      the difference, paired over rows, is above 0.
    - *A note when:* Rows occur more than once with the same label, but that was not shown.
    - *Not reported when:* There are none; D203 then says whether rows contradict each other.
    - *Judged by:* Rows count as copies if there are more than twice as many equal ones as shuffled columns would give.
      Copies are then kept on one side of every split, for every other finding. The most accurate learner is
      cross-validated a second time, without that.
    """
    data = results.data
    if not data.duplicates:
        return []
    count = exact(data.duplicates, "count")
    sentence = f"{data.duplicates:,} of {data.codes.size:,} rows repeat an earlier one, including the label."
    if not data.copies_together:
        chance = data.chance_duplicates
        why = (
            f"With shuffled columns there would be {chance:,}, so equal cases are simply frequent."
            if data.duplicates <= 2 * chance
            else "If a copy is among the training rows, a test row is easier to predict than a new one."
        )
        action = "Drop the rows if they are copies; keep them if equal cases really are frequent."
        return note("data", f"{sentence} {why}", count, f"shuffled columns: {chance:,}", action)
    action = "Find out where they come from, and drop them if they are copies of the same case."
    measured = _with_copies(results, judge)
    if measured is None:
        sentence += " Copies are kept on one side of every split."
        return note("data", sentence, count, "0: no duplicates", action)
    gain, without, effect = measured
    if gain.low > 0 and gain.value > SHIFT:
        return warning(
            "data",
            f"{sentence} {effect}",
            gain,
            f"accuracy with copies on one side: {share(without)}",
            "Drop the copies before you split, or keep them together (groups). Do not quote the accuracy of a random "
            "split.",
            "Copies of rows inflate accuracy",
        )
    return note("data", f"{sentence} {effect}", count, "0: no duplicates", action)


def _with_copies(results: Results, judge: Judge) -> tuple[Estimate, float, str] | None:
    """What the most accurate learner gains by copies on both sides, its accuracy without, and both in words."""
    if results.with_copies is None:
        return None
    data, (name, apart) = results.data, results.with_copies
    together = results.predicted.get(name)
    groups = data.per_row.groups
    if together is None or groups is None or together.tested.size != apart.tested.size:
        return None
    tested = apart.tested
    with_copies, without = apart.right(data.codes), together.right(data.codes)
    gain = difference_over_rows(with_copies, without, judge.level, data.groups_of(tested))
    has_copy = np.bincount(groups)[groups[tested]] > 1
    effect = (
        f"With copies in both training and test rows, {quoted(name)} ({fit_size(together)}) predicts "
        f"{share(float(with_copies.mean()))} of the rows correctly: {share(float(with_copies[has_copy].mean()))} of "
        f"those that have a copy, {share(float(with_copies[~has_copy].mean()))} of the others. With copies on one side "
        f"only it is {share(float(without.mean()))}, a difference of {points(gain)}. All other figures of this page "
        "keep copies on one side."
    )
    return gain, float(without.mean()), effect
