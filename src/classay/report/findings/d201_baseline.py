"""Is a learner better than the geometric baseline, which takes the nearest class?

- *A warning when:* Cross-validated accuracy is below the baseline (the whole interval of the difference, paired over
  rows).
- *A note when:* The 95 % interval of the difference reaches 0, or lies below it; or fits used fewer rows than
  available to stay within the budget.
- *Fine when:* The 95 % interval is above 0, for every learner.
- *Not checked when:* There is no baseline, or there are no cross-validated predictions.
"""

from __future__ import annotations

import numpy as np

from ...intervals import Estimate, of_proportion_by_group
from ..document import Finding, Unasked
from ..phrases import distance_in_words, joined, percent, points, quoted, share, signed
from ..results import Results
from .rules import EVERYONE, Judge, Outcome, difference_over_rows, few_rows

CODE = "D201"
TITLE = "Better than the geometric baseline"
LEVEL = 0.95
"""Confidence level at which a learner is ahead; that of being below is the page's."""


def check(results: Results, judge: Judge) -> Outcome:
    """One finding on learners below the baseline, one on those not shown to be above, or one that all are above."""
    if results.complexity is None:
        return Unasked(CODE, TITLE, results.why.get("complexity", ""))
    if results.data.per_row.time is not None:
        return Unasked(CODE, TITLE, "the baseline uses all rows, learners only those before")
    held = {name: learner.held_out for name, learner in results.learners.items() if learner.held_out is not None}
    if not held:
        return Unasked(CODE, TITLE, "there are no cross-validated predictions")
    measured = results.measured
    baseline = results.complexity.predicted == results.data.classes[results.data.codes[measured]]
    rule = f"taking the nearest class by {distance_in_words(results.complexity)}"
    base = results.complexity.baseline_accuracy
    below: dict[str, Estimate] = {}
    doubtful: dict[str, Estimate] = {}
    ahead: dict[str, Estimate] = {}
    for name, each in held.items():
        rows, rule_is_right = each.right(results.data.codes), baseline[np.searchsorted(measured, each.tested)]
        groups = results.data.groups_of(each.tested)
        lead = difference_over_rows(rows, rule_is_right, LEVEL, groups)
        if difference_over_rows(rows, rule_is_right, judge.level, groups).high < 0:
            below[name] = of_proportion_by_group(rows, groups)
        elif lead.low <= 0:
            doubtful[name] = lead
        else:
            ahead[name] = lead
    findings = []
    if below:
        findings.append(_below(results, below, rule, base))
    if doubtful:
        findings.append(_doubtful(EVERYONE if len(doubtful) == len(held) else "data", doubtful, rule, base))
    if ahead and not findings:
        findings.append(_fine(ahead, rule, base))
    return findings


def _below(results: Results, below: dict[str, Estimate], rule: str, base: Estimate) -> Finding:
    first = min(below, key=lambda name: below[name].value)
    others = [f"{quoted(name)} ({share(below[name].value)})" for name in below if name != first]
    # The baseline uses all rows: that it beats a learner with fewer says little about the learner.
    few = few_rows(results.learners[first])
    return Finding(
        code=CODE,
        level="note" if few else "warning",
        of=first,
        title="Below the geometric baseline",
        sentence=f"It predicts {percent(below[first])} of the rows correctly{few}; {rule}, without any learner, "
        f"reaches {percent(base)}.{f' Also below that: {joined(others)}.' if others else ''}",
        value=below[first],
        reference=f"baseline {percent(base)}",
        action="Give it a larger budget, or --fold-rows all, before you judge it."
        if few
        else "A rule without any settings is more accurate: check the settings of this learner, and how columns are "
        "scaled or encoded for it.",
    )


def _doubtful(of: str, leads: dict[str, Estimate], rule: str, base: Estimate) -> Finding:
    names = joined([f"{quoted(name)} ({signed(lead)})" for name, lead in leads.items()])
    return Finding(
        code=CODE,
        level="note",
        of=of,
        title="Not shown to beat the baseline",
        sentence=f"T{rule[1:]} predicts {percent(base)} of the rows correctly. These rows do not show that {names} "
        f"{'is' if len(leads) == 1 else 'are'} better (in parentheses: points ahead).",
        value=base,
        reference="what geometry alone reaches",
        action="That rule (classay.BaselineClassifier) may be enough: it has nothing to tune.",
    )


def _fine(leads: dict[str, Estimate], rule: str, base: Estimate) -> Finding:
    least = min(leads, key=lambda name: leads[name].value)
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title=TITLE,
        sentence=f"Every learner is more accurate than {rule}, which predicts {percent(base)} of the rows correctly; "
        f"the smallest lead is that of {quoted(least)}, {points(leads[least])}.",
        value=leads[least],
        reference=f"baseline {percent(base)}",
    )
