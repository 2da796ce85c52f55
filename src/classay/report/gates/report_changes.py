"""A report against an earlier one: which figures changed by more than their intervals explain."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...intervals import Estimate, difference
from ...result import plain
from ..document import Report
from ..document.glossary import TERMS, term_of
from ..document.phrases import printed

ORDER = ("worse", "changed", "better", "")
"""What a change is, in the order in which changes are listed; "" if it may be chance."""


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
    def texts(self) -> tuple[str, str, str, str, str]:
        """Whose figure it is, the old and the new one, the change with its interval, and the verdict."""
        old, new = (printed(each, TERMS.get(self.name)).text for each in (self.old, self.new))
        gap = self.change
        change = f"{gap.value:+.3g}\n[{gap.low:+.3g}, {gap.high:+.3g}]" if gap.known else "unknown"
        return f"{self.of}: {term_of(self.name).label}", old, new, change, self.verdict


@dataclass(frozen=True)
class ReportChanges:
    """All figures that two reports share, those that got worse first; `notes` says what cannot be compared."""

    changes: tuple[FigureChange, ...]
    notes: tuple[str, ...]

    @property
    def regression_shown(self) -> bool:
        """Whether a figure is shown to be worse."""
        return any(each.verdict == "worse" for each in self.changes)


def changes_between(old: Report, new: Report, min_effect: float = 0.0) -> ReportChanges:
    """Every figure of both reports: old, new, and the change with its interval.

    The two figures are taken as independent: reports do not keep predictions. On the same rows they are positively
    correlated, so the interval is then wider than necessary, and a change that is shown is shown. For a paired
    comparison, compare predictions or records. A change counts if its interval excludes all up to `min_effect`.
    """
    before = {(each.subject, each.of, each.name): each.estimate for each in old.figures}
    changes, notes = [], []
    for each in new.figures:
        place = (each.subject, each.of, each.name)
        if place in before and each.name != "seconds_per_fit":
            changes.append(_change(place, before[place], each.estimate, min_effect))
    for age, report, other in (("old", old, new), ("new", new, old)):
        if alone := [name for name in report.learners if name not in other.learners]:
            notes.append(f"Only the {age} report has {', '.join(alone)}.")
    for name in ("rows", "classes"):
        if plain(old.about.get(name)) != plain(new.about.get(name)):
            notes.append(f"The reports are about other data: their {name} differ.")
            break
    changes.sort(key=lambda change: ORDER.index(change.verdict))
    return ReportChanges(tuple(changes), tuple(notes))


def _change(place: tuple[str, str, str], old: Estimate, new: Estimate, min_effect: float) -> FigureChange:
    if not (old.known and new.known):
        return FigureChange(*place, old, new, Estimate(math.nan, -math.inf, math.inf, kind="unknown"), "")
    change = difference(new, old, "taken as independent")
    up, down = change.low > min_effect, change.high < -min_effect
    verdict = ""
    if up or down:
        better = term_of(place[2]).better
        verdict = "changed" if not better else "better" if (better == "high") == up else "worse"
    return FigureChange(*place, old, new, change, verdict)
