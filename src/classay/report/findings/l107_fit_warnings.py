"""Did fits issue warnings?

- *A note when:* A fit issued a warning, for example that it did not converge.
- *Not reported when:* No fit did.
"""

from __future__ import annotations

from ...intervals import exact
from ...notes import Note
from ..document import Finding
from ..document.phrases import one_line, percent
from ..results import LearnerResults, Results
from .rules import Judge, Outcome

CODE = "L107"
TITLE = "Fits issued warnings"


def check(results: Results, judge: Judge) -> Outcome:
    """One note per learner and warning."""
    return [
        _warned(name, note, learner)
        for name, learner in results.learners.items()
        for note in learner.labelings.notes
        if isinstance(note, Note) and note.code == "refits-warned"
    ]


def _warned(name: str, note: Note, learner: LearnerResults) -> Finding:
    times, refits = note.numbers["count"], note.numbers["refits"]
    converged, changed = "Convergence" not in note.subject, learner.more_iterations
    action = "Check whether the warning matters."
    if not converged:
        action = "Allow more iterations (max_iter)" + ("." if learner.scales else ", or scale the columns.")
    effect = (
        "" if converged or changed is None else f" Ten times the iterations change {percent(changed)} of predictions."
    )
    return Finding(
        code=CODE,
        level="note",
        of=name,
        title=TITLE,
        sentence=f"{times:,} of {refits:,} refits issued a warning: {one_line(note.subject).rstrip(':.')}.{effect}",
        value=exact(times, "count"),
        reference=f"{refits} refits",
        action=action,
    )
