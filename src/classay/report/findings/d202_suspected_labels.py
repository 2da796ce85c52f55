"""Are labels wrong, and do they limit the accuracy?

- *A warning when:* At least 1 % of the labels are wrong, by the lower end of the estimate (from distances and the best
  learner's cross-validated probabilities), and at least that many rows can be named. Rows that equal a row with another
  label do not count (D203).
- *A note when:* Some labels are suspected, but fewer, or wrong labels are indistinguishable from overlap.
- *Fine when:* No label is suspected.
- *Not checked when:* There is no baseline, there are no cross-validated predictions, or a column gives the label away
  (D205).
"""

from __future__ import annotations

import math

from ...data.wrong_labels import WrongLabels
from ...intervals import exact
from ..document import Finding, Unasked
from ..label_quality import best_learner, labels_of
from ..results import Results
from .rules import Judge, Outcome

CODE = "D202"
TITLE = "Suspected labels"
BASIS = "folds"
LEAST_SHARE = 0.01
"""Share of wrong labels, at least, that is worth a warning."""


def check(results: Results, judge: Judge) -> Outcome:
    """One finding: how many labels are wrong, how many can be named, and whether that limits the accuracy."""
    if results.suspicions.leak:
        return Unasked(CODE, TITLE, "a column gives the label away (D205): labels that it contradicts are no surprise")
    if results.complexity is None or best_learner(results) is None:
        return Unasked(CODE, TITLE, results.why.get("complexity", "there are no cross-validated predictions"))
    labels = labels_of(results)
    rows = results.measured.size
    # Rows that equal a row with another label are reported as such: nobody can know which label is wrong.
    named = int((~results.data.contradicted_rows[results.measured[labels.listed]]).sum())
    share = judge.widened(labels.share) if labels.share.known else labels.share
    if share.known and share.low >= LEAST_SHARE and named >= max(3, math.ceil(LEAST_SHARE * rows)):
        return [_warning(labels, rows)]
    return [_note(labels, rows) if labels.listed.size or not labels.share.known else _fine(labels)]


def _warning(labels: WrongLabels, rows: int) -> Finding:
    return Finding(
        code=CODE,
        level="warning",
        of="data",
        title=TITLE,
        sentence=f"{_count(labels, rows)} {labels.answer}",
        value=exact(labels.listed.size, "count"),
        reference="0 if all labels are right",
        action="Check the rows below, likeliest first, and correct wrong labels before you tune anything.",
    )


def _note(labels: WrongLabels, rows: int) -> Finding:
    return Finding(
        code=CODE,
        level="note",
        of="data",
        title=TITLE,
        sentence=f"{_count(labels, rows)} {labels.answer}" if labels.share.known else labels.answer,
        value=exact(labels.listed.size, "count"),
        reference="0 if all labels are right",
        action="Check the first of them." if labels.listed.size else "Have some rows labelled twice to find out.",
    )


def _count(labels: WrongLabels, rows: int) -> str:
    number = labels.number
    return (
        f"About {number.value:,.0f} [{number.low:,.0f}, {number.high:,.0f}] of {rows:,} labels are wrong, by "
        f"{labels.used}; {labels.listed.size:,} of them can be named, about {labels.false_alarms:.0%} wrongly."
    )


def _fine(labels: WrongLabels) -> Finding:
    return Finding(
        code=CODE,
        level="fine",
        of="data",
        title="No label is suspected",
        sentence=f"No row is clearly labelled wrongly. {labels.answer}",
        value=exact(0, "count"),
        reference=f"at most {labels.number.high:,.0f} wrong labels",
    )
