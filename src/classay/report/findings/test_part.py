"""The rule on accuracy on the test part (D210): does it keep what cross-validation promises, and if not, why?"""

from __future__ import annotations

import numpy as np

from ...learner.scores.part_accuracy import HARDER, RELATION, UNKNOWN, part_accuracy
from ..results import Results, best_of
from .rules import Judge, Outcome, refits, rule, say

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
