"""Are there copies of rows?

- *A note when:* Rows occur more than once with the same label.
- *Not reported when:* There are none; D203 then says whether rows contradict each other.
"""

from __future__ import annotations

from ...intervals import exact
from ..document import Finding
from ..results import Results
from .rules import Judge, Outcome

CODE = "D204"
TITLE = "Duplicate rows"


def check(results: Results, judge: Judge) -> Outcome:
    """One note if there are duplicates."""
    _, duplicate = results.data.repeated_rows
    return [_duplicate(duplicate, results.data.codes.size)] if duplicate else []


def _duplicate(duplicate: int, rows: int) -> Finding:
    return Finding(
        code=CODE,
        level="note",
        of="data",
        title=TITLE,
        sentence=f"{duplicate:,} of {rows:,} rows repeat an earlier one, including the label. If one copy is in the "
        "training part and another in the test part, accuracy is too high.",
        value=exact(duplicate, "count"),
        reference="0: no duplicates",
        action="Drop the rows if they are copies; keep them if equal cases really are frequent.",
    )
