"""Do rows contradict each other?

- *A note when:* Rows that are equal in every column have different labels.
- *Fine when:* No row repeats another, with the same label or another. With duplicates alone, only D204 is reported.
"""

from __future__ import annotations

from ...intervals import exact
from ..document import Finding
from ..document.phrases import share
from ..results import Results
from .rules import Judge, Outcome

CODE = "D203"
TITLE = "Contradictory rows"


def check(results: Results, judge: Judge) -> Outcome:
    """One note on contradictory rows, or one finding that no row repeats another."""
    data = results.data
    contradictory = int(data.contradicted_rows.sum())
    if contradictory:
        return [_contradictory(contradictory, data.surely_wrong, data.codes.size)]
    return [] if data.duplicates else [_fine(data.codes.size)]


def _contradictory(contradictory: int, wrong: int, rows: int) -> Finding:
    return Finding(
        code=CODE,
        level="note",
        of="data",
        title=TITLE,
        sentence=f"{contradictory:,} of {rows:,} rows are equal in every column to a row with another label. Any "
        f"classifier predicts at least {wrong:,} of them wrongly: none can be right on more than "
        f"{share(1 - wrong / rows)} of the rows.",
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
