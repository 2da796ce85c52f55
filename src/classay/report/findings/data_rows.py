"""Rules on rows and labels, and on what makes every figure wrong.

D201 (the geometric baseline), D202 (wrong labels), D203 and D204 (equal rows); D205 (leaks), D206 (tied rows), D207 and
D208 (the test part), D209 (almost perfect accuracy), D210 (accuracy on the test part).
"""

from __future__ import annotations

import math

import numpy as np

from ...data.checks.part_shift import Shift
from ...data.checks.row_dependence import COLUMN, ORDER, Tie
from ...data.checks.verdicts import NOTHING, UNDECIDED
from ...intervals import Estimate, exact
from ...learner.scores.comparison import ACCURACY, RANKING, accuracy_over_rows, difference_over_rows, nearly_constant
from ...learner.scores.part_accuracy import HARDER, RELATION, UNKNOWN, part_accuracy
from ..document.phrases import distance_in_words, joined, points, quoted, share
from ..results import Results, best_of
from .rules import (
    EVERYONE,
    OPEN,
    Judge,
    Outcome,
    Said,
    complexity,
    every_learner,
    fits_of,
    full_fits,
    full_folds,
    refits,
    rule,
    say,
)

NEIGHBOURS = "nearest neighbours"
"""The default learner that wins where rows have twins."""
LEVEL = 0.95
"""Confidence level at which a learner is ahead; that of being below is the page's."""


@rule("D201", complexity, alone=True)
def geometric_baseline(results: Results, judge: Judge) -> Outcome:
    """Is a learner better than the geometric baseline, which takes the nearest class?"""
    assert results.complexity is not None
    if results.data.per_row.time is not None:
        return "the baseline uses all rows, learners only those before"
    if why := full_fits(results):
        return why
    held = {name: each for name, each in full_folds(results).items() if name in results.checks}
    versus = {name: results.checks[name].versus for name, each in held.items() if not nearly_constant(each.labels)}
    if not versus:
        return "predictions are nearly constant, so that accuracy shows little"
    leads = {name: each.difference["accuracy"] for name, each in versus.items()}
    own = {name: share(each.model["accuracy"].value) for name, each in versus.items()}
    base = {name: share(each.baseline["accuracy"].value) for name, each in versus.items()}
    # The exact test: an interval from few rows cannot be widened by normal quantiles.
    clearly = [name for name, lead in leads.items() if lead.value < 0 and versus[name].p_value < 1 - judge.level]
    below = clearly or [name for name, lead in leads.items() if lead.high < 0]
    if not below and any(lead.low <= 0 for lead in leads.values()):
        return f"{OPEN}: see the table of the nearest class"
    least = min(leads, key=lambda name: leads[name].value)
    others = [f"{quoted(name)} ({own[name]} compared with {base[name]})" for name in below if name != least]
    return say(
        "clearly_below" if clearly else "below" if below else "fine",
        least if below else EVERYONE,
        leads[least],
        nearest=f"taking the nearest class by {distance_in_words(results.complexity)}",
        own=own[least],
        baseline=base[least],
        fits=fits_of(held[least]),
        too=f" Also below that: {joined(others)}." if others else "",
        learners=every_learner(versus, results),
        name=least,
    )


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
    wins = _neighbours_lead(results)
    if wins is not None and wins.low > WINS:
        unit = "points" if results.metric == ACCURACY else "points of AUC"
        lead = points(wins).replace("points", unit)
        return say("neighbours", "data", wins, answer=answer, candidates=len(measured.tried), lead=lead)
    outcome = "unknown" if measured.verdict == UNDECIDED else "fine"
    fall = measured.largest("fall") or exact(0, "count")
    return say(outcome, "data", fall, answer=answer, candidates=len(measured.tried))


WINS = 0.03
"""By so much more, nearest neighbours win only where rows have twins, or classes are made of small clusters."""


def _neighbours_lead(results: Results) -> Estimate | None:
    """The smallest lead of nearest neighbours, where they are there for contrast, over the other learners."""
    own = results.scored.get(NEIGHBOURS) if NEIGHBOURS in results.contrast else None
    others = [each for name, each in results.scored.items() if name != NEIGHBOURS]
    if own is None or not others or results.metric not in (ACCURACY, RANKING):
        return None
    return min((own.ahead_of(each, 1 - (1 - LEVEL) / len(others)) for each in others), key=lambda lead: lead.low)


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


PERFECT, MOST_OF_IT, ENOUGH = 0.99, 0.9, 100
"""From this accuracy on, and this share of what is above the largest class; fewest rows."""


@rule("D209", full_fits, alone=True)
def almost_perfect(results: Results, judge: Judge) -> Outcome:
    """Is accuracy almost perfect, as where columns give the label away?"""
    if results.suspicions.leak or results.suspicions.rows_belong_together:
        return "it is known why figures promise too much (D205, D206)"
    accuracy = {name: accuracy_over_rows(held) for name, held in full_folds(results).items()}
    best = max(accuracy, key=lambda name: accuracy[name].value)
    most, rows = accuracy[best], len(results.rows)
    largest = float(np.bincount(results.rows.codes).max() / rows)
    skilled = most.low - largest > MOST_OF_IT * (1 - largest)
    outcome = "perfect" if most.low > PERFECT and skilled and rows >= ENOUGH else "fine"
    return say(outcome, "data", most, name=best, largest=largest)


def _columns_that_differ(measured: Shift) -> str:
    named = [f"{quoted(each.column)} ({each.train} in training, {each.test} in test)" for each in measured.columns[:3]]
    if not named:
        return "No single column differs; the columns are related in another way."
    more = len(measured.columns) - 3
    return f"These columns differ most: {joined(named)}{f', and {more} more' if more > 0 else ''}."


POSSIBLE = 0.1
"""If a larger fall remains possible, nothing is decided."""


@rule("D210", refits)
def accuracy_on_test(results: Results, judge: Judge) -> Outcome:
    """Is a learner right as often on the test part as in cross-validation?"""
    if results.data.test is None:
        return "no test part was given (--test)"
    retrained = {name: one.retraining for name, one in results.learners.items() if name in results.predicted}
    records = {name: one.record for name, one in retrained.items() if one is not None}
    if not records:
        return "it needs cross-validated predictions and retraining (--retrains)"
    name = best_of({each: results.predicted[each] for each in records})
    held, record, shift = results.predicted[name], records[name], results.suspicions.shift
    odds = np.full(len(results.data), np.nan) if shift is None else shift.odds
    right = (record.labels[record.present] == record.truth).mean(axis=0)
    made = part_accuracy(held.right, odds[held.rows], right, held.groups, record.groups)
    causes = {RELATION: "relation", HARDER: "rows", UNKNOWN: "unknown"}
    outcome = causes[made.cause] if made.falls else "undecided" if made.change.low < -POSSIBLE else "fine"
    parts = {"expected": made.expected, "change": made.change, "most": max(-made.change.low, 0.0)}
    return say(outcome, name, made.observed, test=record.truth.size, effective=made.effective, **parts)
