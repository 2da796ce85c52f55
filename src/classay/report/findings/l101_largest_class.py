"""Is a learner better than always predicting the largest class?

- *A warning when:* Its cross-validated accuracy is not above the share of the largest class.
- *A note when:* It is above, but the 95 % interval of the difference, paired over rows, reaches 0; or it is not above,
  and its fits used fewer rows to stay within the budget.
- *Fine when:* The whole interval is above 0, for every learner.
- *Not checked when:* There are no cross-validated predictions.
"""

from __future__ import annotations

import numpy as np

from ...intervals import Estimate, of_proportion_by_group
from ..document import Finding, Unasked
from ..phrases import percent, points, quoted, share
from ..results import Results
from .rules import EVERYONE, Judge, Outcome, difference_over_rows, few_rows

CODE = "L101"
TITLE = "Better than the largest class"
LEVEL = 0.95
"""Confidence level of the difference to the largest class."""


def check(results: Results, judge: Judge) -> Outcome:
    """One finding per learner that is not shown to be better, or one that all are."""
    data = results.data
    largest = int(np.argmax(np.bincount(data.codes)))
    always = data.codes == largest
    label, chance = quoted(data.classes[largest]), share(float(always.mean()))
    findings: list[Finding] = []
    leads: dict[str, Estimate] = {}
    for name, learner in results.learners.items():
        if learner.held_out is None:
            continue
        correct = learner.held_out.right(data.codes)
        tested = learner.held_out.tested
        groups = data.groups_of(tested)
        chance = share(float(always[tested].mean()))
        lead = leads[name] = difference_over_rows(correct, always[tested], LEVEL, groups)
        if lead.low > 0:
            continue
        accuracy = of_proportion_by_group(correct, groups)
        findings.append(_not_better(name, accuracy, lead, few_rows(learner), label, chance))
    if not leads:
        return Unasked(CODE, TITLE, "there are no cross-validated predictions")
    return findings or [_fine(leads, label, chance)]


def _not_better(name: str, accuracy: Estimate, lead: Estimate, few: str, label: str, chance: str) -> Finding:
    clearly = lead.value <= 0
    return Finding(
        code=CODE,
        level="warning" if clearly and not few else "note",
        of=name,
        title="No better than the largest class" if clearly else "Not shown to beat the largest class",
        sentence=f"It predicts {percent(accuracy)} of the rows correctly{few}; always predicting class {label} would "
        f"reach {chance}{'' if clearly else f', which is lower by {points(lead)}'}.",
        value=accuracy,
        reference=f"always class {label}: {chance}",
        action="Do not quote its accuracy alone: check each class, and whether the columns are informative."
        if clearly
        else "More rows would show whether it is better. Until then, check each class.",
    )


def _fine(leads: dict[str, Estimate], label: str, chance: str) -> Finding:
    least = min(leads, key=lambda name: leads[name].value)
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title=TITLE,
        sentence=f"Every learner beats always predicting class {label}, which reaches {chance}; the smallest lead is "
        f"that of {quoted(least)}, {points(leads[least])}.",
        value=leads[least],
        reference=f"always class {label}: {chance}",
    )
