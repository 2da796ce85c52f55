"""`Region`: rows of a table in which an outcome is higher than elsewhere, with its figures and its rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..expect import InputError
from ..intervals import Estimate
from .boxes import Box, Half, Stretch
from .columns import Column, settle
from .conditions import Condition, Range, shown
from .held_out import Verdict
from .outcome import Outcome
from .repeats import nesting
from .table import checked_columns, checked_table

Mask = NDArray[np.bool_]
EDGES = ("feature", "low", "high", "values")
WHERE = ("rank", "condition", *EDGES, *(f"other_{name}" for name in EDGES))


@dataclass(frozen=True)
class Region:
    """Rows in which an outcome is higher than elsewhere.

    `rate` is of rows that were not searched, so it is honest, and so are `rest_rate` (those outside the region) and
    `lift` (rate over that of all rows). `size`, `share`, `total` and `table_rate` are of the whole table; `table_rate`
    is optimistic, as half of it was searched. `q_value` corrects `p_value` for all regions tested. `excess` = size ·
    (lower end of rate − rest_rate), at least 0; `rank` 1 has the most of it. `nested_under` is the rank of a larger
    region that holds at least 80 % of these rows, or None.
    """

    condition: str
    conditions: tuple[Condition, ...]
    size: int
    share: float
    total: float
    table_rate: float
    rate: Estimate
    rest_rate: float
    lift: float
    p_value: float
    q_value: float
    excess: float
    rank: int
    nested_under: int | None

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return tuple(condition.feature for condition in self.conditions)

    def rows(self, table: pd.DataFrame) -> Mask:
        """Which rows of any table with the same columns are in it."""
        return rows_that_meet(self.conditions, table)

    def where(self) -> dict[str, Any]:
        """Its rank and conditions as a row of a table, under the names of `WHERE`."""
        return where(self.rank, self.condition, self.conditions)


class RowsOfRegions:
    """For results with regions: which rows are in each of them. It comes first among the bases.

    A truth value for every row and region does not belong into to_dict(), so `masks` is no field but an InitVar.
    """

    CALLED: ClassVar[str] = "regions"

    def __post_init__(self, masks: tuple[Mask, ...]) -> None:
        object.__setattr__(self, "_masks", masks)

    def rows(self, i: int) -> Mask:
        """Which rows of the table are in the region at place `i`, counted from 0."""
        masks: tuple[Mask, ...] = self._masks  # type: ignore[attr-defined]
        if not isinstance(i, (int, np.integer)) or not 0 <= i < len(masks):
            raise InputError(f"`i` is {i!r}; there are {len(masks)} {self.CALLED}, counted from 0.")
        return masks[i].copy()


def where(rank: int, condition: str, conditions: tuple[Condition, ...]) -> dict[str, Any]:
    """A rank and conditions as a row of a table."""
    row: dict[str, Any] = {"rank": rank, "condition": condition}
    for prefix, each in zip(("", "other_"), conditions):
        row[f"{prefix}feature"] = each.feature
        if isinstance(each, Range):
            row |= {f"{prefix}low": each.low, f"{prefix}high": each.high}
        else:
            row[f"{prefix}values"] = each.text.removeprefix(shown(each.feature)).strip()
    return row


def rows_that_meet(conditions: tuple[Condition, ...], table: pd.DataFrame) -> Mask:
    """Which rows of a table meet all of the conditions."""
    frame = checked_table(table)
    names = checked_columns(frame, tuple(each.feature for each in conditions), None)
    settled = {name: settle(frame[name]) for name in names}
    inside = np.ones(len(frame), dtype=bool)
    for each in conditions:
        inside &= each.rows(settled[each.feature])
    return inside


def told_small(value: float) -> str:
    """«= 0.012», or «< 1e-15»: beyond that, digits tell nothing."""
    return f"= {value:.2g}" if value >= 1e-15 else "< 1e-15"


def ranked(
    standing: list[Verdict], columns: tuple[Column, ...], outcome: Outcome, half: Half
) -> tuple[tuple[Region, ...], tuple[Mask, ...]]:
    """Regions in the order of their excess, and which rows of the table are in them; `half` is what tested them."""
    whole = Half(columns, outcome, np.arange(outcome.n))
    made = []
    for each in standing:
        conditions = conditions_of(each.box, columns)
        rows = whole.inside(each.box)
        size, total = int(rows.sum()), outcome.of(rows)
        one = Region(
            condition=" and ".join(condition.text for condition in conditions),
            conditions=conditions,
            size=size,
            share=size / outcome.n,
            total=total,
            table_rate=total / size,
            rate=each.rate,
            rest_rate=each.rest_rate,
            lift=each.rate.value / (half.outcome.total / half.n),
            p_value=each.p_value,
            q_value=each.q_value,
            excess=size * max(each.rate.low - each.rest_rate, 0.0),
            rank=0,
            nested_under=None,
        )
        made.append((one, rows))
    made.sort(key=lambda pair: (-pair[0].excess, pair[0].p_value))
    masks = tuple(rows for _, rows in made)
    holders = nesting(list(masks))
    regions = (
        replace(one, rank=place + 1, nested_under=None if holder is None else holder + 1)
        for place, ((one, _), holder) in enumerate(zip(made, holders))
    )
    return tuple(regions), masks


def conditions_of(box: Box, columns: tuple[Column, ...]) -> tuple[Condition, ...]:
    """What a box says, column by column."""
    return tuple(
        columns[part.column].range(part.low, part.high)
        if isinstance(part, Stretch)
        else columns[part.column].among(part.bins)
        for part in box
    )
