"""A report against an earlier one: which figures changed by more than their intervals explain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...intervals import Estimate, difference
from ...result import plain
from ..document import Report
from ..document.glossary import TERMS
from ..document.phrases import printed

WORSE, BETTER, CHANGED, SAME = "worse", "better", "changed", ""


@dataclass(frozen=True)
class FigureChange:
    """A figure in both reports, and new − old. `verdict` is worse, better, changed, or nothing if it may be chance."""

    subject: str
    of: str
    name: str
    old: Estimate
    new: Estimate
    change: Estimate
    verdict: str

    @property
    def label(self) -> str:
        """Its name in words."""
        return TERMS[self.name].label if self.name in TERMS else self.name

    @property
    def old_text(self) -> str:
        """The old figure as text."""
        return printed(self.old, TERMS.get(self.name)).text

    @property
    def new_text(self) -> str:
        """The new figure as text."""
        return printed(self.new, TERMS.get(self.name)).text

    @property
    def change_text(self) -> str:
        """The change with its interval."""
        if not self.change.known:
            return "unknown"
        return f"{self.change.value:+.3g}\n[{self.change.low:+.3g}, {self.change.high:+.3g}]"


@dataclass(frozen=True)
class ReportChanges:
    """All figures that two reports share, those that got worse first; `notes` says what cannot be compared."""

    changes: tuple[FigureChange, ...]
    notes: tuple[str, ...]

    @property
    def regression_shown(self) -> bool:
        """Whether a figure is shown to be worse."""
        return any(each.verdict == WORSE for each in self.changes)

    def of(self, subject: str, of: str, name: str) -> FigureChange | None:
        """The change of one figure, if both reports have it."""
        key = (subject, of, name)
        return next((each for each in self.changes if (each.subject, each.of, each.name) == key), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        values: dict[str, Any] = plain(self)
        return values


def changes_between(old: Report, new: Report, min_effect: float = 0.0) -> ReportChanges:
    """Every figure of both reports: old, new, and the change with its interval.

    The two figures are taken as independent: reports do not keep predictions. On the same rows they are positively
    correlated, so the interval is then wider than necessary, and a change that is shown is shown. For a paired
    comparison, compare predictions or records. A change counts if its interval excludes all up to `min_effect`.
    """
    before = {(each.subject, each.of, each.name): each.estimate for each in old.figures}
    changes, notes = [], []
    for each in new.figures:
        key = (each.subject, each.of, each.name)
        if key in before and each.name != "seconds_per_fit":
            changes.append(_change(key, before[key], each.estimate, min_effect))
    gone = [name for name in old.learners if name not in new.learners]
    if gone:
        notes.append(f"Only the old report has {', '.join(gone)}.")
    for name in ("rows", "classes"):
        if plain(old.about.get(name)) != plain(new.about.get(name)):
            notes.append(f"The reports are about other data: their {name} differ.")
            break
    order = (WORSE, CHANGED, BETTER, SAME)
    changes.sort(key=lambda change: order.index(change.verdict))
    return ReportChanges(tuple(changes), tuple(notes))


def _change(key: tuple[str, str, str], old: Estimate, new: Estimate, min_effect: float) -> FigureChange:
    subject, of, name = key
    if not (old.known and new.known):
        return FigureChange(*key, old, new, Estimate(math.nan, -math.inf, math.inf, kind="unknown"), SAME)
    change = difference(new, old, "taken as independent")
    up, down = change.low > min_effect, change.high < -min_effect
    verdict = SAME
    if up or down:
        better = TERMS[name].better if name in TERMS else ""
        verdict = CHANGED if not better else BETTER if (better == "high") == up else WORSE
    return FigureChange(subject, of, name, old, new, change, verdict)
