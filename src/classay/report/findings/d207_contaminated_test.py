"""Are rows of the test part also in the training part?

- *A warning when:* At least 1 % more of the test rows equal a training row in every column than training rows equal
  each other; the 99.9 % interval of the share is also above that.
- *A note when:* Test rows equal training rows, but no more often than training rows equal each other.
- *Fine when:* No test row equals a training row.
- *Not checked when:* No test part was given.
"""

from __future__ import annotations

from ...data.shift import Shift
from ..document import Finding, Unasked
from ..document.phrases import percent, share
from ..results import Results
from .rules import Judge, Outcome

CODE = "D207"
TITLE = "Test rows are in the training part"


def check(results: Results, judge: Judge) -> Outcome:
    """One finding on rows in both parts."""
    measured = results.suspicions.shift
    if measured is None:
        return Unasked(CODE, TITLE, results.suspicions.why.get("shift", "it was not measured"))
    if measured.contaminated:
        return [_found(measured, "warning")]
    return [_found(measured, "note" if measured.copies.value else "fine")]


def _found(measured: Shift, level: str) -> Finding:
    usual = f"training rows that equal another training row: {share(measured.usual_copies)}"
    if level == "fine":
        sentence = f"None of {measured.n_test:,} test rows equals a training row."
    else:
        sentence = (
            f"{percent(measured.copies)} of {measured.n_test:,} test rows equal a training row in every column; "
            f"{share(measured.usual_copies)} of the training rows equal another one."
        )
    if level == "warning":
        sentence += " Accuracy on such rows is that of training rows."
    return Finding(
        code=CODE,
        level=level,
        of="data",
        title={"fine": "No test row is in the training part", "note": "Some test rows equal training rows"}.get(
            level, TITLE
        ),
        sentence=sentence,
        value=measured.copies,
        reference=usual,
        action="Drop these rows from one of the parts, and find out how they came into both."
        if level == "warning"
        else "",
    )
