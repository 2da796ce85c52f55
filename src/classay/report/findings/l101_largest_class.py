"""Is a learner better than always predicting the largest class?

- *A warning when:* Its accuracy is not above the share of the largest class, and its scores are not shown to rank rows
  better than chance.
- *A note when:* Its accuracy is not shown to be above that share (the 95 % interval of the difference, paired over
  rows, reaches 0), but its scores rank rows better than chance, or its accuracy is higher.
- *Fine when:* The whole interval is above 0, for every learner.
- *Not checked when:* Fits had fewer than 90 % of the rows, or fewer than 20 rows are of other classes.
- *Judged by:* Cross-validated predictions; where accuracy cannot show it, by how well the scores rank rows
  (AUC).
"""

from __future__ import annotations

import numpy as np

from ...intervals import Estimate, of_proportion_by_group
from ..cross_validated import HeldOut
from ..document import Finding, Unasked
from ..document.phrases import percent, points, quoted, share
from ..results import Results
from ..score_ranks import EVENTS, ranks_by_row
from .rules import (
    EVERYONE,
    Judge,
    Outcome,
    difference_over_rows,
    every_learner,
    fit_size,
    full_folds,
    mean_over_rows,
    without_full_folds,
)

CODE = "L101"
TITLE = "Better than the largest class"
LEVEL = 0.95
"""Confidence level of the difference to the largest class."""


def check(results: Results, judge: Judge) -> Outcome:
    """One finding per learner that is not shown to be better, or one that all are."""
    data, held = results.data, full_folds(results)
    if not held:
        return without_full_folds(results, CODE, TITLE)
    largest = int(np.argmax(np.bincount(data.codes)))
    always = data.codes == largest
    if int((~always).sum()) < EVENTS:
        return Unasked(CODE, TITLE, f"fewer than {EVENTS} rows are not of the largest class")
    label, chance = quoted(data.classes[largest]), share(float(always.mean()))
    findings: list[Finding] = []
    leads: dict[str, Estimate] = {}
    for name, each in held.items():
        correct, groups = each.right(data.codes), data.groups_of(each.tested)
        lead = leads[name] = difference_over_rows(correct, always[each.tested], LEVEL, groups)
        if lead.low <= 0:
            accuracy = of_proportion_by_group(correct, groups)
            findings.append(_not_better(name, each, accuracy, lead, _ranking(each, results), label, chance))
    return findings or [_fine(leads, every_learner(held, results), label, chance)]


def _ranking(held: HeldOut, results: Results) -> Estimate | None:
    """How well its scores rank rows, if it has any."""
    ranks = ranks_by_row(held, results.data.codes)
    return None if ranks is None else mean_over_rows(ranks, LEVEL, results.data.groups_of(held.tested))


def _not_better(
    name: str, held: HeldOut, accuracy: Estimate, lead: Estimate, auc: Estimate | None, label: str, chance: str
) -> Finding:
    ranks = auc is not None and auc.low > 0.5
    clearly = lead.value <= 0
    scores = ""
    if auc is not None:
        scores = f" Its scores rank rows {'better than chance' if ranks else 'no better than chance'} (AUC {auc:.2f})."
    if ranks:
        title, action = (
            "Accuracy does not show what it has learnt",
            "Judge it by its scores (metric roc_auc or average_precision), and set the threshold by your costs.",
        )
    elif clearly:
        title, action = (
            "No better than the largest class",
            "Do not use it as it is: check whether the columns are informative, and the recall of each class.",
        )
    else:
        title, action = (
            "Not shown to beat the largest class",
            "More rows would show whether it is better. Until then, check the recall of each class.",
        )
    return Finding(
        code=CODE,
        level="warning" if clearly and not ranks else "note",
        of=name,
        title=title,
        sentence=f"It predicts {percent(accuracy)} of the rows correctly ({fit_size(held)}); always predicting class "
        f"{label} would reach {chance}{'' if clearly else f', which is lower by {points(lead)}'}.{scores}",
        value=accuracy,
        reference=f"always class {label}: {chance}",
        action=action,
    )


def _fine(leads: dict[str, Estimate], learners: str, label: str, chance: str) -> Finding:
    least = min(leads, key=lambda name: leads[name].value)
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title=TITLE,
        sentence=f"{learners} beats always predicting class {label}, which reaches {chance}; the smallest lead is "
        f"that of {quoted(least)}, {points(leads[least])}.",
        value=leads[least],
        reference=f"always class {label}: {chance}",
    )
