"""The form of every check's result: what was tried, whether something was found, how large it may be, what to do.

The verdict is found, no, or undecided; no is a statement only with the largest effect that remains possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from ...expect import shown
from ...intervals import Estimate
from ...result import PARTS, Result, parts_of

FOUND, UNDECIDED, NOTHING = "found", "undecided", "no"


@dataclass(frozen=True)
class Looked:
    """One thing that a check looked at, such as a column: its verdict (found, undecided, no) and its figures."""

    name: str
    verdict: str
    figures: dict[str, Estimate]


class Check(Result):
    """The result of a check of the data. `actions` are what to do, by verdict; `unread` are columns not looked at."""

    unread: tuple[str, ...] = ()
    actions: ClassVar[dict[str, str]] = {
        FOUND: "Find out why before you trust a score.",
        UNDECIDED: "Add rows, or ask who collected them.",
        NOTHING: "Nothing needs to be done.",
    }

    def looked_at(self) -> tuple[Looked, ...]:
        """Everything that was looked at."""
        raise NotImplementedError

    @property
    def verdict(self) -> str:
        """Of the check as a whole: found, undecided or no."""
        verdicts = {looked.verdict for looked in self.looked_at()} or {UNDECIDED}
        return next((verdict for verdict in (FOUND, UNDECIDED) if verdict in verdicts), NOTHING)

    @property
    def advice(self) -> str:
        """What to do next."""
        return self.actions[self.verdict]

    @property
    def tried(self) -> tuple[str, ...]:
        """The names of everything that was looked at."""
        return tuple(looked.name for looked in self.looked_at())

    def largest(self, figure: str) -> Estimate | None:
        """The effect of which most remains possible, by this figure: its upper end."""
        known = [looked.figures[figure] for looked in self.looked_at() if figure in looked.figures]
        return max(known, key=lambda effect: effect.high, default=None)

    @property
    def not_looked_at(self) -> str:
        """A sentence on such columns, or nothing."""
        return f" Not looked at (texts, rare values, or too many columns): {shown(self.unread)}." if self.unread else ""

    def to_frame(self) -> pd.DataFrame:
        """One row per figure of what was looked at: name, verdict, figure, value, low, high, level, kind."""
        rows = [
            {"name": looked.name, "verdict": looked.verdict, "figure": figure, **parts_of(estimate)}
            for looked in self.looked_at()
            for figure, estimate in looked.figures.items()
        ]
        return pd.DataFrame(rows, columns=["name", "verdict", "figure", *PARTS])
