"""Is there a class that a learner hardly ever finds?

- *A warning when:* The upper end of the recall of a class (90 %, one-sided) is below half its share: naming rows at
  random would find more than twice as many of them.
- *A note when:* The same of the rarer of two classes, with less than 5 % of the rows, and scores rank it better than
  chance: labels at the usual threshold hide what the learner knows.
- *Fine when:* This holds for no learner and no class.
- *Not checked when:* There are no cross-validated predictions, or no class has 20 rows.
- *Judged by:* Cross-validated predictions, for classes with at least 20 rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...intervals import Estimate, exact, of_proportion_by_group
from ..cross_validated import HeldOut
from ..document import Finding, Unasked
from ..document.phrases import joined, quoted, share
from ..results import Results
from ..score_ranks import EVENTS, classes_with_rows, ranks_of_class
from .rules import EVERYONE, Judge, Outcome, fit_size, full_folds, mean_over_rows, without_full_folds

CODE = "L105"
TITLE = "A class is hardly ever found"
BASIS = "folds"
LEVEL, RECALL_LEVEL = 0.95, 0.8
"""Confidence levels of the AUC, and of the recall: its upper end is then one-sided at 90 %."""
HALF, RARE = 0.5, 0.05
"""Below this share of its own share, the recall of a class is hardly any; below this share of rows, a class is rare."""


class _Missed(NamedTuple):
    """A class that is hardly ever found: rows, how many were found, its share, and how well scores rank it."""

    label: str
    rows: int
    found: int
    share: float
    auc: Estimate | None
    of_two: bool

    @property
    def is_ranked(self) -> bool:
        """Whether scores know more of a rare class than labels show."""
        return self.auc is not None and self.auc.low > 0.5 and self.share < RARE and self.of_two


def check(results: Results, judge: Judge) -> Outcome:
    """One finding per learner that misses a class, or one that none does."""
    held = full_folds(results)
    if not held:
        return without_full_folds(results, CODE, TITLE)
    if not classes_with_rows(results.data.codes):
        return Unasked(CODE, TITLE, f"no class has {EVENTS} rows")
    findings = []
    for name, each in held.items():
        missed = _missed(each, results)
        for ranked in (False, True):
            some = [one for one in missed if one.is_ranked == ranked]
            if some:
                findings.append(_finding(name, each, some, ranked))
    return findings or [_fine(results)]


def _missed(held: HeldOut, results: Results) -> list[_Missed]:
    data = results.data
    codes, right, groups = data.codes[held.tested], held.right(data.codes), data.groups_of(held.tested)
    judged, shares = classes_with_rows(codes), np.bincount(data.codes) / data.codes.size
    missed = []
    for code in judged:
        own = codes == code
        recall = of_proportion_by_group(right[own], None if groups is None else groups[own], RECALL_LEVEL)
        if recall.high < HALF * shares[code]:
            ranks = ranks_of_class(held, data.codes, code)
            auc = None if ranks is None else mean_over_rows(ranks, LEVEL, groups)
            label = quoted(data.classes[code])
            found, two = int(right[own].sum()), data.classes.size == 2
            missed.append(_Missed(label, int(own.sum()), found, float(shares[code]), auc, two))
    return missed


def _finding(name: str, held: HeldOut, missed: list[_Missed], ranked: bool) -> Finding:
    named = joined([f"{one.label} ({one.found:,} of {one.rows:,} rows)" for one in missed[:3]])
    more = f" and {len(missed) - 3} more" if len(missed) > 3 else ""
    first = missed[0]
    scores = (
        "" if first.auc is None else f" Its scores rank rows of class {first.label} with an AUC of {first.auc:.2f}."
    )
    return Finding(
        code=CODE,
        level="note" if ranked else "warning",
        of=name,
        title="A rare class needs a threshold" if ranked else TITLE,
        sentence=f"Of {'class' if len(missed) == 1 else 'classes'} {named}{more} it finds fewer than random naming "
        f"would ({fit_size(held)}); together they are {share(sum(one.share for one in missed))} of the rows.{scores}",
        value=exact(len(missed), "count"),
        reference="half the share of the class",
        action="Use its scores, with a threshold set by your costs, instead of its labels."
        if ranked
        else "Weight the classes (class_weight='balanced'), change the threshold, or add rows of these classes.",
    )


def _fine(results: Results) -> Finding:
    judged = len(classes_with_rows(results.data.codes))
    few = results.data.classes.size - judged
    return Finding(
        code=CODE,
        level="fine",
        of=EVERYONE,
        title="No class is missed",
        sentence=f"No learner is shown to find fewer rows of a class than random naming would"
        f"{f'; {few} of {few + judged} classes have fewer than {EVENTS} rows and were not judged' if few else ''}.",
        value=exact(0, "count"),
        reference=f"{judged} classes",
    )
