"""`Slice`: rows in which errors gather, with its figures and its rank among others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..intervals import Estimate
from ..regions.conditions import Condition
from ..regions.region import WHERE, Region, rows_that_meet, told_small, where

Mask = NDArray[np.bool_]
FIGURES = (
    "size",
    "share",
    "errors",
    "table_rate",
    "error_rate",
    "rate_low",
    "rate_high",
    "rest_rate",
    "lift",
    "p_value",
    "q_value",
    "excess_errors",
    "nested_under",
    "value",
)
FRAME = (*WHERE, *FIGURES)


@dataclass(frozen=True)
class Slice:
    """Rows in which errors gather.

    `error_rate` is of the rows that were not searched, so it is honest, and so are `rest_rate` (those outside the
    slice) and `lift` (error rate over that of all rows). `size`, `share`, `errors` and `table_rate` are of the whole
    table; `table_rate` is optimistic, as half of it was searched. `p_value` is Fisher's exact test, one-sided;
    `q_value` corrects it for all slices tested. `excess_errors` = size · (lower end of error_rate − rest_rate), at
    least 0: errors that would not be there if the slice were like the rest, cautiously. `rank` 1 has the most of them.
    `nested_under` is the rank of a larger slice that holds at least 80 % of these rows, or None.
    """

    condition: str
    conditions: tuple[Condition, ...]
    size: int
    share: float
    errors: int
    table_rate: float
    error_rate: Estimate
    rest_rate: float
    lift: float
    p_value: float
    q_value: float
    excess_errors: float
    rank: int
    nested_under: int | None

    @classmethod
    def of(cls, region: Region) -> Slice:
        """A region in which the outcome is an error."""
        own = {name: getattr(region, name) for name in cls.__dataclass_fields__ if hasattr(region, name)}
        return cls(**own, errors=int(region.total), error_rate=region.rate, excess_errors=region.excess)

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return tuple(condition.feature for condition in self.conditions)

    def rows(self, table: pd.DataFrame) -> Mask:
        """Which rows of any table with the same columns are in this slice."""
        return rows_that_meet(self.conditions, table)

    def as_row(self) -> dict[str, Any]:
        """Its row in `Slices.to_frame()`."""
        figures = {name: getattr(self, name) for name in FIGURES if hasattr(self, name)}
        rate = self.error_rate
        ends = {"error_rate": rate.value, "rate_low": rate.low, "rate_high": rate.high, "value": rate.value}
        return where(self.rank, self.condition, self.conditions) | figures | ends

    def __str__(self) -> str:
        rate = self.error_rate
        inside = f", within rank {self.nested_under}," if self.nested_under else ""
        return (
            f"{self.condition}{inside} ({self.size} rows, {rate:.3g} wrong against {self.rest_rate:.3g} elsewhere, "
            f"q {told_small(self.q_value)})"
        )
