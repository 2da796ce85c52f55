"""Did fits issue warnings?

- *A note when:* A fit issued a warning, for example that it did not converge.
- *Not reported when:* No fit did.
"""

from __future__ import annotations

from ...intervals import exact
from ...notes import Note
from ..document import Finding
from ..phrases import one_line
from ..results import Results
from .rules import Judge, Outcome

CODE = "L107"
TITLE = "Fits issued warnings"


def check(results: Results, judge: Judge) -> Outcome:
    """One note per learner and warning."""
    return [
        _warned(name, note)
        for name, learner in results.learners.items()
        for note in learner.labelings.notes
        if isinstance(note, Note) and note.code == "refits-warned"
    ]


def _warned(name: str, note: Note) -> Finding:
    times, refits = note.numbers["count"], note.numbers["refits"]
    return Finding(
        code=CODE,
        level="note",
        of=name,
        title=TITLE,
        sentence=f"{times:,} of {refits:,} refits issued a warning: {one_line(note.subject).rstrip(':.')}.",
        value=exact(times, "count"),
        reference=f"{refits} refits",
        action="Allow more iterations (max_iter), or scale the columns."
        if "Convergence" in note.subject
        else "Check whether the warning matters.",
    )
