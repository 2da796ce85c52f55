"""Do rows contradict each other?

- *A note when:* Rows that are equal in every column have different labels.
- *Fine when:* No row repeats another, with the same label or another. With duplicates alone, only D204 is reported.
"""

from __future__ import annotations

from ...intervals import exact
from ..document import Finding
from ..phrases import share
from ..results import Results
from .rules import Judge, Outcome

CODE = "D203"
TITLE = "Contradictory rows"


def check(results: Results, judge: Judge) -> Outcome:
    """One note on contradictory rows, or one finding that no row repeats another."""
    contradictory, duplicate = results.data.repeated_rows
    rows = results.data.codes.size
    if contradictory:
        return [_contradictory(contradictory, rows)]
    return [] if duplicate else [_fine(rows)]


def _contradictory(contradictory: int, rows: int) -> Finding:
    return Finding(
        code=CODE,
        level="note",
        of="data",
        title=TITLE,
        sentence=f"{contradictory:,} of {rows:,} rows are equal in every column to rows with another label: no "
        f"classifier can predict more than {share(1 - contradictory / rows)} of the rows correctly.",
        value=exact(contradictory, "count"),
        reference="0: no contradictions",
        action="Is a column missing that separates them, or are labels wrong?",
    )


def _fine(rows: int) -> Finding:
    return Finding(
        code=CODE,
        level="fine",
        of="data",
        title="No row repeats or contradicts another",
        sentence=f"All {rows:,} rows differ in some column.",
        value=exact(0, "count"),
        reference="0: no contradictions",
    )
