"""`Finding`: one thing that the figures say, with what it is measured against and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from ..intervals import Estimate

LEVELS = ("warning", "note", "fine")
"""Act on it; know it; checked, and all is well."""


@dataclass(frozen=True)
class Finding:
    """One plain sentence that the figures bear out.

    `code` is stable over versions (`L102`); the letter is the subject: L learner, D data, S slices, C classes,
    N network. `level` is warning, note or fine. `of` is the learner or network that it is about, or "data" or
    "classes". `value` is the figure, `reference` what makes it meaningful (chance for this number of classes, the
    baseline of this data, another learner), `sentence` says it, `action` is what to do next ("" if nothing).
    """

    code: str
    level: str
    of: str
    title: str
    sentence: str
    value: Estimate
    reference: str
    action: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.code} {self.of}: {self.sentence}", self.action) if part)


@dataclass(frozen=True)
class Unasked:
    """A finding that could not be looked for, and why, in one line."""

    code: str
    title: str
    why: str

    def __str__(self) -> str:
        return f"{self.code} {self.title}: {self.why}"
