"""The form of every check's result: what was looked at, and for each of them whether something was found."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

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
    """The result of a check of the data."""

    def looked_at(self) -> tuple[Looked, ...]:
        """Everything that was looked at."""
        raise NotImplementedError

    @property
    def verdict(self) -> str:
        """Of the check as a whole: found, undecided or no."""
        verdicts = {looked.verdict for looked in self.looked_at()}
        return next((verdict for verdict in (FOUND, UNDECIDED) if verdict in verdicts), NOTHING)

    def to_frame(self) -> pd.DataFrame:
        """One row per figure of what was looked at: name, verdict, figure, value, low, high, level, kind."""
        rows = [
            {"name": looked.name, "verdict": looked.verdict, "figure": figure, **parts_of(estimate)}
            for looked in self.looked_at()
            for figure, estimate in looked.figures.items()
        ]
        return pd.DataFrame(rows, columns=["name", "verdict", "figure", *PARTS])
