"""`Slice`: rows in which errors gather, with its figures and its rank among others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..intervals import Estimate, of_proportion
from .boxes import Box, Half, Stretch
from .columns import Column, settle
from .conditions import Condition, Range, shown
from .held_out import Verdict
from .repeats import nesting
from .wrong import checked_columns, checked_table

Mask = NDArray[np.bool_]
EDGES = ("feature", "low", "high", "values")
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
FRAME = ("rank", "condition", *EDGES, *(f"other_{name}" for name in EDGES), *FIGURES)


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

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return tuple(condition.feature for condition in self.conditions)

    def rows(self, table: pd.DataFrame) -> Mask:
        """Which rows of any table with the same columns are in this slice."""
        frame = checked_table(table)
        names = checked_columns(frame, self.features, None)
        settled = {name: settle(frame[name]) for name in names}
        inside = np.ones(len(frame), dtype=bool)
        for each in self.conditions:
            inside &= each.rows(settled[each.feature])
        return inside

    def as_row(self) -> dict[str, Any]:
        """Its row in `Slices.to_frame()`."""
        row: dict[str, Any] = {"rank": self.rank, "condition": self.condition}
        for prefix, condition in zip(("", "other_"), self.conditions):
            row[f"{prefix}feature"] = condition.feature
            if isinstance(condition, Range):
                row |= {f"{prefix}low": condition.low, f"{prefix}high": condition.high}
            else:
                row[f"{prefix}values"] = condition.text.removeprefix(shown(condition.feature)).strip()
        figures = {name: getattr(self, name) for name in FIGURES if hasattr(self, name)}
        rate = self.error_rate
        ends = {"error_rate": rate.value, "rate_low": rate.low, "rate_high": rate.high, "value": rate.value}
        return row | figures | ends

    def __str__(self) -> str:
        rate = self.error_rate
        inside = f", within rank {self.nested_under}," if self.nested_under else ""
        return (
            f"{self.condition}{inside} ({self.size} rows, {rate:.3g} wrong against {self.rest_rate:.3g} elsewhere, "
            f"q {told_small(self.q_value)})"
        )


def told_small(value: float) -> str:
    """«= 0.012», or «< 1e-15»: beyond that, digits tell nothing."""
    return f"= {value:.2g}" if value >= 1e-15 else "< 1e-15"


def ranked(
    standing: list[Verdict], columns: tuple[Column, ...], wrong: Mask, half: Half, level: float
) -> tuple[tuple[Slice, ...], tuple[Mask, ...]]:
    """Slices in the order of their excess errors, and which rows are in them."""
    whole = Half(columns, wrong, np.arange(len(wrong)))
    made = []
    for each in standing:
        conditions = conditions_of(each.box, columns)
        rows = whole.inside(each.box)
        size, errors = int(rows.sum()), int((rows & wrong).sum())
        rate = replace(of_proportion(each.errors, each.size, level), kind="of a proportion, rows not searched")
        rest = (half.errors - each.errors) / (half.n - each.size)
        one = Slice(
            condition=" and ".join(condition.text for condition in conditions),
            conditions=conditions,
            size=size,
            share=size / len(wrong),
            errors=errors,
            table_rate=errors / size,
            error_rate=rate,
            rest_rate=rest,
            lift=rate.value / (half.errors / half.n),
            p_value=each.p_value,
            q_value=each.q_value,
            excess_errors=size * max(rate.low - rest, 0.0),
            rank=0,
            nested_under=None,
        )
        made.append((one, rows))
    made.sort(key=lambda pair: (-pair[0].excess_errors, pair[0].p_value))
    masks = tuple(rows for _, rows in made)
    holders = nesting(list(masks))
    ranked = (
        replace(one, rank=place + 1, nested_under=None if holder is None else holder + 1)
        for place, ((one, _), holder) in enumerate(zip(made, holders))
    )
    return tuple(ranked), masks


def conditions_of(box: Box, columns: tuple[Column, ...]) -> tuple[Condition, ...]:
    return tuple(
        columns[part.column].range(part.low, part.high)
        if isinstance(part, Stretch)
        else columns[part.column].among(part.bins)
        for part in box
    )
