"""The order of batches in time: each begins where what came before it has ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...expect import InputError
from ...splits import time_column


@dataclass(frozen=True)
class TimeSpan:
    """The first and the last time of some rows: numbers, or dates as ISO text."""

    first: float | str
    last: float | str

    @classmethod
    def of(cls, time: Any, rows: int) -> TimeSpan | None:
        """That of rows with these times; None if there are none."""
        if time is None:
            return None
        column = time_column(time, rows)
        ends = column.min(), column.max()
        if isinstance(ends[0], pd.Timestamp):
            return cls(ends[0].isoformat(), ends[1].isoformat())
        return cls(float(ends[0]), float(ends[1]))

    def then(self, after: TimeSpan) -> TimeSpan:
        """With the rows of a batch that comes after; an error if it does not."""
        if isinstance(self.last, str) != isinstance(after.first, str):
            raise InputError(
                f"`time` is such as {after.first} in the batch and such as {self.first} before; expected dates in both "
                "or numbers in both."
            )
        last, first = (_comparable(each) for each in (self.last, after.first))
        try:
            early = first < last
        except TypeError as error:
            raise InputError(
                f"`time` has dates with and without a time zone ({error}). Use the same in all."
            ) from error
        if early:
            raise InputError(
                f"`time` of the batch begins at {after.first}, before the end of what came before it ({self.last}). "
                "Pass batches in the order of time, without overlap."
            )
        return TimeSpan(self.first, after.last)


def _comparable(time: float | str) -> Any:
    return pd.Timestamp(time) if isinstance(time, str) else time
