"""Rules on single fits, where they disagree, and what more rows would change: L106, L107, L110, L113, L114."""

from __future__ import annotations

import math

import numpy as np

from ...intervals import Estimate, exact
from ...learner.scores.comparison import mean_over_rows
from ...notes import Note
from ..document.figures import predicted_share
from ..document.phrases import joined, one_line, percent, quoted
from ..results import LearnerResults, Results, best_of
from .refits import SOME, change_of
from .rules import EVERYONE, OPEN, Judge, Outcome, Said, full_fits, full_folds, refits, rule, say

NEARLY_ALL = 0.99
"""Up to this share of items with a prediction, missing ones are a warning."""


@rule("L106")
def failed_refits(results: Results, judge: Judge) -> Outcome:
    """Did every refit succeed?"""
    findings = [_failures(one) for one in results.learners.values() if one.labelings.failures]
    findings += [_no_results(name, results) for name in results.failed]
    if results.given and not results.rows_known:
        shares = {name: predicted_share(results, name) for name in results.predicted}
        lacking = {name: share for name, share in shares.items() if share.value < 1}
        findings += [_missing(name, share, judge) for name, share in lacking.items()]
        if not (findings or results.learners):
            return say("complete", EVERYONE, exact(0, "count"), items=len(results.rows))
    if not (findings or results.learners):
        return refits(results)
    count = sum(int(one.labelings.present.sum()) for one in results.learners.values())
    return findings or say("fine", EVERYONE, exact(0, "count"), refits=count)


def _failures(learner: LearnerResults) -> Said:
    failures, count = learner.labelings.failures, learner.labelings.present.size
    error, number = one_line(failures[0].error), len(failures)
    return say("some", learner.name, exact(number, "count"), failures=number, refits=count, error=error)


def _missing(name: str, share: Estimate, judge: Judge) -> Said:
    outcome = "missing" if judge.widened(share).high < NEARLY_ALL else "few_missing"
    return say(outcome, name, share)


def _no_results(name: str, results: Results) -> Said:
    unknown, others = Estimate(math.nan, math.nan, math.nan, kind="unknown"), len(results.names)
    if name in results.unfinished:
        return say("slow", name, unknown, error=one_line(results.failed[name], 400), others=others)
    action = "Run it again to include it." if results.settings.get("interrupted") else "Fix it or drop it."
    return say("all", name, unknown, error=one_line(results.failed[name]), others=others, action=action)


@rule("L107", alone=True)
def fit_warnings(results: Results, judge: Judge) -> Outcome:
    """Did fits issue warnings?"""
    return [
        _warned(name, note, learner)
        for name, learner in results.learners.items()
        for note in learner.labelings.notes
        if isinstance(note, Note) and note.code == "refits-warned"
    ]


def _warned(name: str, note: Note, learner: LearnerResults) -> Said:
    times, count = note.numbers["count"], note.numbers["refits"]
    action, effect = "Check whether the warning matters.", ""
    if "Convergence" in note.subject:
        action = "Allow more iterations (max_iter)" + ("." if learner.scales else ", or scale the columns.")
        if learner.more_iterations is not None:
            effect = f" Ten times the iterations change {percent(learner.more_iterations)} of predictions."
    text = one_line(note.subject).rstrip(":.")
    return say(
        "warned", name, exact(times, "count"), times=times, refits=count, text=text, effect=effect, action=action
    )


@rule("L110", refits, basis="refits", alone=True)
def disagreement_regions(results: Results, judge: Judge) -> Outcome:
    """Is there a region in which refits disagree more often than elsewhere?"""
    searched = {name: learner.regions for name, learner in results.learners.items() if learner.regions is not None}
    if not searched:
        return next((one.why.get("regions", "") for one in results.learners.values()), "")
    clear = {name: regions for name, regions in searched.items() if regions.regions}
    if not clear:
        most = max(searched.values(), key=lambda each: each.disagreement.value)
        parts = {"name": most.learner, "on": most.on, "tested": len(most.tested), "least": most.min_size}
        return say("fine", EVERYONE, most.disagreement, **parts)
    # Only the region with the largest excess of changed predictions; the section has the others.
    name, first = max(
        ((name, region) for name, regions in clear.items() for region in regions.regions),
        key=lambda pair: (pair[1].rate.value - pair[1].rest_rate, pair[0]),
    )
    outcome = "region" if first.share <= 0.5 else "outside"
    return say(
        outcome if change_of(results.learners[name])[0].low > SOME else "rare",
        name,
        first.rate,
        condition=first.condition,
        share=first.share,
        outside=1 - first.share,
        rest=first.rest_rate,
        on=clear[name].on,
    )


MATTERS, CLEAR, LEVEL = 0.01, 0.99, 0.95
SLOW, FAST = 0.5, 1.0
"""Powers with which errors usually fall: between these."""


@rule("L113", full_fits, alone=True)
def more_rows(results: Results, judge: Judge) -> Outcome:
    """Would more rows help?"""
    full, test, settings = full_folds(results), results.suspicions.test_rows, results.settings
    small = settings.get("half", 0)
    if test is None or settings.get("size", "all") != "all" or not small:
        return "it needs refits on all rows of each half, tested on rows of the same table"
    if results.suspicions.rows_belong_together:
        return "rows belong together (D206), so that more of them need not be new ones"
    best = best_of(full)
    if best not in results.learners:
        return f"there are no refits of {best}"
    held, labelings = full[best], results.learners[best].labelings
    place = np.searchsorted(held.rows, test)
    there = np.flatnonzero((place < held.rows.size) & (held.rows[np.minimum(place, held.rows.size - 1)] == test))
    if there.size < 2 or labelings.truth.size != test.size:
        return "test points have no cross-validated predictions"
    before = (labelings.labels == labelings.truth).mean(axis=(0, 1))[there]
    gains = held.correct[place[there]] - before
    groups = results.data.groups_of(test[there])
    clearly, usual = (mean_over_rows(gains, level, groups) for level in (CLEAR, LEVEL))
    sizes = {"large": held.fit_rows, "small": small}
    if clearly.low > 0 and clearly.value >= MATTERS:
        least, most = sorted(100 * twice(clearly.value, held.fit_rows / small, power) for power in (SLOW, FAST))
        return say("more", best, clearly, least=least, most=most, **sizes)
    return say("fine", best, usual, **sizes) if usual.high < MATTERS else OPEN


def twice(gain: float, factor: float, power: float) -> float:
    """What twice as many rows would add, if `factor` times as many added `gain` and errors fall as rows^−power.

    With error a + b·n^−power, the gain is b·n^−power · (1 − factor^−power), and the next one is smaller by
    factor^−power.

    >>> round(twice(0.04, 2, 1), 3), round(twice(0.04, 2, 0.5), 3)
    (0.02, 0.028)
    """
    shrink = float(factor**-power)
    return gain * shrink * float(1 - 2**-power) / (1 - shrink)


STABLE = 0.8


@rule("L114")
def unstable_importance(results: Results, judge: Judge) -> Outcome:
    """Does a learner rely on other columns when it is retrained?"""
    if results.suspicions.importance is None:
        return results.suspicions.why.get("importance", "it was not measured")
    name, measured = results.suspicions.importance
    overlap, leading = measured.overlap, measured.to_frame().head(measured.first)
    parts = {"first": measured.first, "chance": measured.chance, "refits": len(measured.per_refit)}
    if overlap.value >= STABLE:
        return say("same", name, overlap, named=joined([quoted(column) for column in leading["column"]]), **parts)
    if overlap.value >= (1 + measured.chance) / 2:
        return OPEN
    ranks = leading[["column", "best_rank", "worst_rank"]].to_numpy().tolist()
    named = joined([f"{quoted(column)} (rank {best} to {worst})" for column, best, worst in ranks])
    return say("changes", name, overlap, named=named, **parts)
