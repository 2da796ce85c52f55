"""Rules on rows and labels, and on what makes every figure wrong.

D201 (the geometric baseline), D202 (wrong labels), D203 and D204 (equal rows); D205 (leaks), D206 (tied rows), D207 and
D208 (the test part).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...auc import auc
from ...data.checks.part_shift import Shift
from ...data.checks.row_dependence import COLUMN, ORDER, Tie
from ...data.checks.verdicts import NOTHING, UNDECIDED
from ...intervals import Estimate, exact
from ...learner.records.base import OutOfFold
from ...learner.scores.comparison import EVENTS, difference_over_rows, nearly_constant, ranks_by_row
from ..document.phrases import distance_in_words, joined, points, quoted, share, signed
from ..results import Results
from .rules import EVERYONE, Judge, Outcome, Said, complexity, every_learner, fits_of, full_fits, full_folds, rule, say

LEVEL = 0.95
"""Confidence level at which a learner is ahead; that of being below is the page's."""


@dataclass(frozen=True)
class _Lead:
    """By how much a learner is ahead of the baseline, at 95 % and at the level of the page, in accuracy or AUC."""

    learner: str
    held: OutOfFold
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


@rule("D201", complexity)
def geometric_baseline(results: Results, judge: Judge) -> Outcome:
    """Is a learner better than the geometric baseline, which takes the nearest class?"""
    assert results.complexity is not None
    if results.data.per_row.time is not None:
        return "the baseline uses all rows, learners only those before"
    if why := full_fits(results):
        return why
    held = full_folds(results)
    leads = [lead for name, each in held.items() if (lead := _lead(name, each, results, judge)) is not None]
    if not leads:
        return "predictions are nearly constant, and there are no scores to compare"
    nearest = f"aking the nearest class by {distance_in_words(results.complexity)}"
    common = {"nearest": f"t{nearest}", "baseline": results.complexity.baseline_accuracy}
    clearly = [each for each in leads if each.at_page_level.high < 0]
    below = [each for each in leads if each.lead.high < 0 and each not in clearly]
    doubtful = [each for each in leads if each.lead.low <= 0 <= each.lead.high]
    findings = []
    if clearly or below:
        findings.append(_below("clearly_below" if clearly else "below", clearly or below, common))
    if doubtful:
        everyone = EVERYONE if len(held) > 1 else doubtful[0].learner
        of = everyone if len(doubtful) == len(held) else "data"
        findings.append(_doubtful(of, doubtful, {**common, "nearest_rule": nearest}))
    least = min(leads, key=lambda each: each.lead.value)
    parts = {"learners": every_learner(held, results), "name": least.learner, "both": least.in_words}
    return findings or say("fine", EVERYONE, least.lead, **parts, **common)


def _lead(name: str, held: OutOfFold, results: Results, judge: Judge) -> _Lead | None:
    """The lead in accuracy; in AUC where predictions are nearly constant; None if neither can be said."""
    assert results.complexity is not None
    places = np.searchsorted(results.measured, held.rows)
    ranked = nearly_constant(held.labels)
    own: Floats | None = held.correct
    baseline = (results.complexity.predicted[places] == held.classes[held.truth]).astype(float)
    if ranked:
        positive = held.truth == 1
        if held.classes.size != 2 or min(positive.sum(), (~positive).sum()) < EVENTS:
            return None
        own = ranks_by_row(held)
        likely = np.exp(-results.complexity.values[places])
        baseline = auc(np.where(positive, likely, 1 - likely), positive).by_row
    if own is None or np.isnan(baseline).any():
        return None
    groups = held.groups
    lead, wider = (difference_over_rows(own, baseline, level, groups) for level in (LEVEL, judge.level))
    return _Lead(name, held, float(own.mean()), float(baseline.mean()), lead, wider, ranked)


def _below(outcome: str, leads: list[_Lead], common: dict[str, object]) -> Said:
    first = min(leads, key=lambda each: each.lead.value)
    others = [f"{quoted(each.learner)} ({each.in_words})" for each in leads if each is not first]
    too = f" Also below that: {joined(others)}." if others else ""
    return say(outcome, first.learner, first.lead, both=first.in_words, fits=fits_of(first.held), too=too, **common)


def _doubtful(of: str, leads: list[_Lead], common: dict[str, object]) -> Said:
    names = joined([f"{quoted(each.learner)} ({signed(each.lead)})" for each in leads])
    names += " is" if len(leads) == 1 else " are"
    unit = "points of AUC" if any(each.ranked for each in leads) else "points"
    fits = fits_of(leads[0].held).replace(" (", "; ").rstrip(")")
    return say("doubtful", of, leads[0].lead, names=names, unit=unit, fits=fits, **common)


LEAST_SHARE = 0.01
"""Share of wrong labels, at least, that is worth a warning."""


@rule("D202", basis="folds")
def suspected_labels(results: Results, judge: Judge) -> Outcome:
    """Are labels wrong, and do they limit the accuracy?"""
    if results.suspicions.leak:
        return "one column predicts the label (D205): labels that it contradicts are no surprise"
    if results.labels is None or (results.fitted and not results.predicted):
        return results.why.get("complexity", "there are no cross-validated predictions")
    labels, rows = results.labels, results.measured.size
    # Rows that equal a row with another label are reported as such: nobody can know which label is wrong.
    named = int((~results.rows.contradicted_rows[results.measured[labels.listed]]).sum())
    listed, number = labels.listed.size, labels.number
    if not listed:
        outcome = "none" if labels.verdict == NOTHING else "unknown"
        return say(outcome, "data", exact(0, "count"), answer=labels.answer, most=labels.at_most)
    many = judge.widened(labels.share).low >= LEAST_SHARE and named >= max(3, math.ceil(LEAST_SHARE * rows))
    count = (
        f"About {number.value:,.0f} [{number.low:,.0f}, {number.high:,.0f}] of {rows:,} labels are wrong, by "
        f"{labels.used}; {listed:,} of them can be named, about {labels.false_alarms:.0%} wrongly."
    )
    return say("many" if many else "some", "data", exact(listed, "count"), count=count, answer=labels.answer)


def _rows(results: Results) -> str:
    return results.no_rows


@rule("D203", _rows)
def contradictory_rows(results: Results, judge: Judge) -> Outcome:
    """Do rows contradict each other?"""
    data = results.data
    contradictory, rows = int(data.contradicted_rows.sum()), data.codes.size
    if contradictory:
        parts = {"contradictory": contradictory, "rows": rows, "wrong": data.surely_wrong}
        return say("contradictory", "data", exact(contradictory, "count"), most=1 - data.surely_wrong / rows, **parts)
    return [] if data.duplicates else say("fine", "data", exact(0, "count"), rows=rows)


SHIFT = 0.01
"""Smallest difference in accuracy that matters."""


@rule("D204", _rows)
def duplicate_rows(results: Results, judge: Judge) -> Outcome:
    """Do copies of rows make accuracy look better than it is?"""
    data = results.data
    if not data.duplicates:
        return []
    count = exact(data.duplicates, "count")
    common = {"copies": data.duplicates, "rows": data.codes.size}
    if not data.copies_together:
        chance = data.chance_duplicates
        effect = (
            f"With shuffled columns there would be {chance:,}, so equal cases are simply frequent."
            if data.duplicates <= 2 * chance
            else "If a copy is among the training rows, a test row is easier to predict than a new one."
        )
        return say("frequent", "data", count, effect=effect, chance=chance, **common)
    measured = _with_copies(results, judge)
    if measured is None:
        return say("copies", "data", count, effect="Copies are kept on one side of every split.", **common)
    gain, without, effect = measured
    inflated = gain.low > 0 and gain.value > SHIFT
    outcome, value = ("inflated", gain) if inflated else ("copies", count)
    return say(outcome, "data", value, effect=effect, without=without, **common)


def _with_copies(results: Results, judge: Judge) -> tuple[Estimate, float, str] | None:
    """What the most accurate learner gains by copies on both sides, its accuracy without, and both in words."""
    if results.with_copies is None:
        return None
    data, (name, apart) = results.data, results.with_copies
    together = results.predicted.get(name)
    groups = data.per_row.groups
    if together is None or groups is None or together.rows.size != apart.rows.size:
        return None
    tested = apart.rows
    with_copies, without = apart.right, together.right
    gain = difference_over_rows(with_copies, without, judge.level, data.groups_of(tested))
    has_copy = np.bincount(groups)[groups[tested]] > 1
    effect = (
        f"With copies in both training and test rows, {quoted(name)} (fits on {together.fit_rows:,} rows) predicts "
        f"{share(float(with_copies.mean()))} of the rows correctly: {share(float(with_copies[has_copy].mean()))} of "
        f"those that have a copy, {share(float(with_copies[~has_copy].mean()))} of the others. With copies on one side "
        f"only it is {share(float(without.mean()))}, a difference of {points(gain)}. All other figures of this page "
        "keep copies on one side."
    )
    return gain, float(without.mean()), effect


# What makes every figure wrong: leaks, tied rows, the test part.


@rule("D205")
def leak(results: Results, judge: Judge) -> Outcome:
    """Does a column predict the label by itself, as if it were made from it?"""
    measured = results.suspicions.leaks
    if measured is None:
        return results.suspicions.why.get("leaks", "it was not measured")
    suspects = [each for each in measured.suspects if each.column in measured.suspects[0].together]
    if suspected := measured.found or suspects:
        named = [quoted(each.column) for each in suspected if each.named]
        target = quoted(results.data.target)
        like = f" The name of {joined(named)} looks like that of the labels, {target}." if named else ""
        first, alone = suspected[0], [f"{quoted(each.column)} alone {each.skill.value:.2f}" for each in suspected]
        others = "unknown" if first.others is None else f"{first.others.value:.2f}"
        skills = (
            f"Skill (0: as good as chance; 1: always right) of {joined(alone)}, of all columns together "
            f"{first.all_columns.value:.2f}, of all others {others}.{like}"
        )
        columns, outcome = joined([quoted(each.column) for each in suspected]), "leak" if measured.found else "suspect"
        return say(outcome, "data", first.skill, columns=columns, skills=skills, others=others)
    best = measured.columns[0].skill
    return say("fine", "data", best, columns=len(measured.tried), best=max(best.value, 0))


@rule("D206")
def tied_rows(results: Results, judge: Judge) -> Outcome:
    """Do rows belong together, so that accuracy on shuffled rows promises too much?"""
    measured = results.suspicions.dependence
    if measured is None:
        return results.suspicions.why.get("dependence", "it was not measured")
    if measured.found:
        return _tied(measured.found, results)
    answer = f"{measured}{' Groups that were given are kept together.' * ('groups' in results.data.per_row.given)}"
    outcome = "unknown" if measured.verdict == UNDECIDED else "fine"
    fall = measured.largest("fall") or exact(0, "count")
    return say(outcome, "data", fall, answer=answer, candidates=len(measured.tried))


def _tied(ties: tuple[Tie, ...], results: Results) -> Said:
    # A column can be passed as it is; so can the order of the file; near rows only point to something.
    first = min(ties, key=lambda tie: (COLUMN, ORDER).index(tie.kind) if tie.kind in (COLUMN, ORDER) else 2)
    others = [f"{tie.what} ({share(tie.apart.value)})" for tie in ties if tie is not first]
    name = quoted(first.name)
    outcome, what, how = {
        COLUMN: ("column", f"Rows with the same {name}", f"with all rows of the same {name} on one side"),
        ORDER: ("order", "Neighbouring rows of the file", "with a fifth of the file left out at a time"),
    }.get(first.kind, ("near", "Rows that are nearly the same", "with such rows on one side"))
    return say(
        outcome,
        "data",
        first.apart,
        what=what,
        how=how,
        name=first.name,
        shuffled=first.shuffled.value,
        rows="" if first.rows == results.data.codes.size else f" (measured on {first.rows:,} rows)",
        too=f" The same holds for {joined(others)}." if others else "",
    )


@rule("D207")
def contaminated_test(results: Results, judge: Judge) -> Outcome:
    """Are rows of the test part also in the training part?"""
    measured = results.suspicions.shift
    if measured is None:
        return results.suspicions.why.get("shift", "it was not measured")
    outcome = "contaminated" if measured.contaminated else "usual" if measured.copies.value else "fine"
    return say(outcome, "data", measured.copies, rows=measured.n_test, usual=measured.usual_copies)


@rule("D208")
def shifted_test(results: Results, judge: Judge) -> Outcome:
    """Is the test part unlike the training part?"""
    measured = results.suspicions.shift
    if measured is None or not measured.auc.known:
        return results.suspicions.why.get("shift", "too few groups are in one of the parts")
    auc = f"{measured.auc.value:.2f} ({measured.auc.low:.2f} to {measured.auc.high:.2f}; 0.5: not at all)"
    outcome = "unlike" if measured.unlike else "fine" if measured.alike else "unknown"
    return say(outcome, "data", measured.auc, auc=auc, columns=_columns_that_differ(measured), visible=measured.visible)


def _columns_that_differ(measured: Shift) -> str:
    named = [f"{quoted(each.column)} ({each.train} in training, {each.test} in test)" for each in measured.columns[:3]]
    if not named:
        return "No single column differs; the columns are related in another way."
    more = len(measured.columns) - 3
    return f"These columns differ most: {joined(named)}{f', and {more} more' if more > 0 else ''}."
