"""Is the test part unlike the training part?

- *A warning when:* A forest distinguishes test rows from training rows with an AUC of 0.6 or more, cross-fitted, and
  the 99.9 % interval is above 0.5. Columns that differ by themselves are named (p, times the number of columns, below
  .001).
- *Fine when:* It is not.
- *Not checked when:* No test part was given.
"""

from __future__ import annotations

from ...data.shift import Shift
from ..document import Finding, Unasked
from ..document.phrases import joined, quoted
from ..results import Results
from .rules import Judge, Outcome

CODE = "D208"
TITLE = "The test part is unlike the training part"


def check(results: Results, judge: Judge) -> Outcome:
    """One finding on whether the parts are alike."""
    measured = results.suspicions.shift
    if measured is None or not measured.auc.known:
        return Unasked(CODE, TITLE, results.suspicions.why.get("shift", "too few groups are in one of the parts"))
    return [_warning(measured) if measured.unlike else _fine(measured)]


def _auc(measured: Shift) -> str:
    return f"{measured.auc.value:.2f} ({measured.auc.low:.2f} to {measured.auc.high:.2f}; 0.5: not at all)"


def _warning(measured: Shift) -> Finding:
    named = [f"{quoted(each.column)} ({each.train} in training, {each.test} in test)" for each in measured.columns[:3]]
    more = len(measured.columns) - 3
    cause = (
        f"These columns differ most: {joined(named)}{f', and {more} more' if more > 0 else ''}."
        if named
        else "No single column differs; the columns are related in another way."
    )
    return Finding(
        code=CODE,
        level="warning",
        of="data",
        title=TITLE,
        sentence=f"A forest distinguishes test rows from training rows with an AUC of {_auc(measured)}. {cause} "
        "Figures on "
        "the test part are about other rows than learners were trained on.",
        value=measured.auc,
        reference="0.5: alike",
        action="Find out why: another time, place or way of recording. If rows like those of the test part are what "
        "you will predict, train on rows like them; if not, draw the test part anew.",
    )


def _fine(measured: Shift) -> Finding:
    return Finding(
        code=CODE,
        level="fine",
        of="data",
        title="The test part is like the training part",
        sentence=f"A forest distinguishes test rows from training rows with an AUC of {_auc(measured)}.",
        value=measured.auc,
        reference="0.5: alike",
    )
