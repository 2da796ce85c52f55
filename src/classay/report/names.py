"""Whom a report is about: names of learners and networks, numbered, and what charts call them."""

from __future__ import annotations

from collections.abc import Iterator

from ..charts.theme import COLOURS
from ..charts.words import labels, printable
from .document import Report, Sheet


class Names:
    """Learners and networks of a report by number. The page speaks of them by number only, as a name may be anything.

    Learners come first, in the order in which charts colour them.
    """

    def __init__(self, report: Report) -> None:
        found = dict.fromkeys(report.learners)
        found |= dict.fromkeys(each.of for each in report.figures if each.subject == "network")
        found |= dict.fromkeys(report.failed)
        for section in report.sections:
            found |= dict.fromkeys(name for name in (section.group,) if name)
            for sheet in _sheets(*section.sheets, *(each.sheet for each in section.pictures)):
                found |= dict.fromkeys(name for name in sheet.of if name)
        self.place = {name: number for number, name in enumerate(found)}
        self.coloured = len(report.learners)

    def __getitem__(self, name: str) -> int | None:
        """The number of a name, or None if nobody is called so."""
        return self.place.get(name)

    def colour(self, number: int | None) -> str:
        """The colour that charts give to a learner; "" for others."""
        return COLOURS[number % len(COLOURS)] if number is not None and number < self.coloured else ""

    def aliases(self) -> list[list[str]]:
        """For each number what charts may call it: the name as it can be printed, and its short label."""
        return [[printable(name), label] for name, label in zip(self.place, labels(list(self.place)))]


def _sheets(*sheets: Sheet | None) -> Iterator[Sheet]:
    for sheet in sheets:
        if sheet is not None:
            yield sheet
            yield from _sheets(*sheet.details)
