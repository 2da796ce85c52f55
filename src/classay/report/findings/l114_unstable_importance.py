"""Does a learner rely on other columns when it is retrained?

- *A note when:* Two refits on halves of the training rows share fewer of their three leading columns than half-way
  between random orders and the same order (the mean over pairs of six refits). Leading: predictions get worst when the
  column is shuffled.
- *Fine when:* They share at least four fifths of them.
- *Not reported when:* It is in between.
- *Not checked when:* There are fewer than 6 columns or more than 100, or it would take more than a tenth of the time
  that is left.
"""

from __future__ import annotations

from ...learner.importance import Importance
from ..document import Finding, Unasked
from ..document.phrases import joined, percent, quoted, share
from ..results import Results
from .rules import Judge, Outcome

CODE = "L114"
TITLE = "Which columns matter changes on retraining"
STABLE = 0.8


def check(results: Results, judge: Judge) -> Outcome:
    """One finding on the most accurate learner."""
    measured = results.suspicions.importance
    if measured is None:
        return Unasked(CODE, TITLE, results.suspicions.why.get("importance", "it was not measured"))
    name, found = measured
    if found.overlap.value < (1 + found.chance) / 2 and found.overlap.value < STABLE:
        return [_note(name, found)]
    return [_fine(name, found)] if found.overlap.value >= STABLE else []


def _note(name: str, found: Importance) -> Finding:
    frame = found.to_frame().head(found.first)
    named = [
        f"{quoted(column)} (rank {best} to {worst})"
        for column, best, worst in frame[["column", "best_rank", "worst_rank"]].to_numpy().tolist()
    ]
    return Finding(
        code=CODE,
        level="note",
        of=name,
        title=TITLE,
        sentence=f"Two of {len(found.per_refit)} refits on halves of the training rows share {percent(found.overlap)} "
        f"of their {found.first} most important columns; random orders would share {share(found.chance)}. On average "
        f"the first are {joined(named)}.",
        value=found.overlap,
        reference=f"random orders: {share(found.chance)}",
        action="Do not read one fit's importances as facts. If columns carry the same information, keep one of them "
        "or judge them together; otherwise none may matter much.",
    )


def _fine(name: str, found: Importance) -> Finding:
    first = [quoted(column) for column in found.to_frame()["column"].head(found.first)]
    return Finding(
        code=CODE,
        level="fine",
        of=name,
        title="The same columns matter in every refit",
        sentence=f"Refits of {quoted(name)} share {percent(found.overlap)} of their {found.first} most important "
        f"columns: {joined(first)}.",
        value=found.overlap,
        reference=f"random orders: {share(found.chance)}",
    )
