"""Notes of a record: facts for its reader, kept as data. Their English is written here and nowhere else.

A `Note` is a `str`, so it prints and joins like one; code that needs the fact reads `code`, `subject` and `numbers`,
and never the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

TEXTS = {
    # of any record
    "text": "{subject}",  # a sentence from a record that an older version wrote
    # of refits of a learner
    "learner-was-fitted": "The learner was already fitted; only its settings are used.",
    "constant-column": "1 constant column: {subject}.",
    "constant-columns": "{count} constant columns: {subject}.",
    "classes-not-tested": "{count} of {classes} classes have no row in the test part: too few rows.",
    "classes-not-trained": "{count} of {classes} classes have no row in the training part, so no refit can predict "
    "them.",
    "rows-of-tested-groups": "{count} rows are neither trained on nor tested: earlier rows of groups that are in the "
    "test part.",
    "rows-not-predicted": "{count} rows are in no fold, so no fit predicts them.",
    "subsets-redrawn": "{count} of {subsets} subsets lacked a class and were drawn again, so figures are of subsets "
    "with every class; Subsets(every_class=False) draws once.",
    "subsets-completed": "{count} of {subsets} subsets missed a class in every draw; one row of it was added.",
    "subsets-lack-classes": "{count} of {subsets} training subsets lack a class, as samples of this size may; they are "
    "used as drawn.",
    "halves-by-class": "The halves were dealt by class, so figures are of samples with the class shares of these rows; "
    "refits on independent samples agree less.",
    "seed-fixed": "Its random_state is fixed, so refits cannot differ: stochasticity is 0 by your choice.",
    "refits-not-run": "Interrupted: {count} of {refits} refits were not run.",
    "refits-failed": "{count} of {refits} refits failed; see `failures`.",
    "probes-not-stored": "The comparison points are not stored (sparse, too large or of unusual types); the "
    "predictions on them are.",
    "scores-not-kept": "Scores are not kept: they would take {bytes:,} bytes, and the limit is {limit:,} (score_bytes "
    "in CLASSAY_LIMITS).",
    "scores-missing": "{count} of {refits} refits gave no scores.",
    "subsets-run": "Interrupted: {count} of {subsets} subsets were run.",
    "values-not-measured": "Too little was done to measure anything at {subject}.",
    "values-fitted-alone": "{subject} needs scores, which shared fits do not give: every value was fitted separately.",
    "learner-wrapped": "It does not take the table as it is; changed inside each fit: {subject}.",
    "refits-warned": "{count} of {refits} refits warned: {subject}",
    # of ranks
    "classes-without-rows": "{count} of {classes} classes have no test rows; they compete, but the mean is over the "
    "other classes.",
    "many-ties": "If the true class does not win outright, it ties on average with {mean:.3g} of {others} others, "
    "so the curve is coarse: pass unrounded scores, such as log-probabilities.",
    "z-unknown": "In {count} of {rows} rows a score is −inf or all other scores are equal: their ranks count, but "
    "how far the true class stands out (z) is unknown.",
    "fit-warned": "The fit warned: {subject}",
    "classes-not-scored": "The learner does not score {count} of {classes} classes ({subject}); they and their {rows} "
    "test rows are left out.",
    "label-sets-failed": "{count} of {sets} label sets could not be learned (first: {subject}).",
    "label-sets-interrupted": "Interrupted: {count} of {sets} label sets were learned.",
    # of prototypes and the head they belong to
    "head-used-again": "It is used {count} times in a pass; the last use counts.",
    "head-shares-weight": "It shares its weight with {subject}.",
    "head-scaled": "The network multiplies its output by {scale:.4g}, which is part of the head here.",
    "head-shifted": "The network multiplies its output by {scale:.4g} and adds constants, which are part of the head "
    "here.",
    "head-not-output": "Its output is not the output of the network.",
    "classes-sampled": "A random sample of {count} of the {classes} classes was walked to.",
    "origins-sampled": "Each class was reached from {subject} of {others}, drawn at random.",
    "starts-reduced": "{count} of the {starts} starts were walked.",
    "walks-limited": "At most {limit} walks were asked for, so {count} of {walks} were planned.",
    "batches-reduced": "Memory was sufficient for batches of {count} rows, not {rows}.",
    "steps-not-compared": "It was interrupted before walks with other steps.",
    "walks-interrupted": "It was interrupted after {count} of {walks} walks.",
}
"""Code -> sentence, with `{subject}` and numbers by name."""


class Note(str):
    """One fact: `code` says which, `subject` names what it is about, `numbers` how many or how much.

    >>> note = Note("refits-failed", count=3, refits=500)
    >>> note, note.numbers["count"]
    ('3 of 500 refits failed; see `failures`.', 3)
    """

    code: str
    subject: str
    numbers: dict[str, Any]

    def __new__(cls, code: str, subject: str = "", **numbers: Any) -> Note:
        note = super().__new__(cls, TEXTS[code].format(subject=subject, **numbers))
        note.code, note.subject, note.numbers = code, subject, numbers
        return note

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        return (self.code, self.subject), self.numbers

    def to_json(self) -> dict[str, Any]:
        """The fact as plain JSON values, as records keep it."""
        return {"code": self.code, "subject": self.subject, "numbers": self.numbers}


def notes_to_json(notes: Iterable[str]) -> list[Any]:
    """Notes as a record keeps them."""
    return [note.to_json() if isinstance(note, Note) and note.code != "text" else str(note) for note in notes]


def notes_from_json(kept: Iterable[Any]) -> tuple[Note, ...]:
    """Notes of a record that was read. A sentence, as older versions wrote it, and an unknown code stay sentences.

    >>> notes_from_json(["1 constant column: a.", {"code": "refits-failed", "subject": "", "numbers": {}}])[0].code
    'text'
    """
    return tuple(_note(each) for each in kept)


def _note(kept: Any) -> Note:
    if isinstance(kept, dict):
        try:
            return Note(kept["code"], kept["subject"], **kept["numbers"])
        except (KeyError, TypeError, IndexError, ValueError):
            return Note("text", str(kept.get("subject") or kept.get("code")))
    return Note("text", str(kept))
