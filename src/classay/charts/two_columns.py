"""Which two columns of the rows make a plane to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..expect import InputError, nearest, shown
from ..seeds import generator
from .grid import Floats

SAMPLE, MOST_COLUMNS = 20_000, 2_000
"""Columns are compared on so many rows, and no more of them than these: beyond, no two tell much."""


class Table:
    """Rows by column: a DataFrame, an array or a sparse matrix; `known` names its columns where it does not."""

    def __init__(self, rows: Any, n_rows: int, known: Sequence[str] = ()) -> None:
        self.rows: Any = rows
        if isinstance(self.rows, pd.DataFrame):
            self.names = [str(name) for name in self.rows.columns]
        else:
            self.rows = self.rows.tocsc() if hasattr(self.rows, "tocsc") else np.asarray(self.rows)
        if len(self.rows.shape) != 2 or self.rows.shape[0] != n_rows or not self.rows.shape[1]:
            raise InputError(f"`X` has shape {self.rows.shape}; the {n_rows} rows that were measured are expected.")
        if not isinstance(self.rows, pd.DataFrame):
            same = len(known) == self.rows.shape[1]
            self.names = list(known) if same else [f"x{place}" for place in range(self.rows.shape[1])]

    def numeric(self) -> list[int]:
        """The places of columns of numbers."""
        if not isinstance(self.rows, pd.DataFrame):
            return list(range(self.rows.shape[1]))
        return [place for place, kind in enumerate(self.rows.dtypes) if pd.api.types.is_numeric_dtype(kind)]

    def column(self, place: int, rows: Any = slice(None)) -> Floats:
        """A column as numbers, NaN where there is none."""
        if isinstance(self.rows, pd.DataFrame):
            series = self.rows.iloc[rows, place]
            return np.asarray(series.to_numpy(dtype=float, na_value=np.nan))
        part = self.rows[:, [place]]
        dense = part.toarray() if hasattr(part, "toarray") else part
        return np.asarray(dense[rows, 0], dtype=float)

    def place(self, name: str | int, option: str) -> int:
        """Where the named column is."""
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool) and 0 <= name < len(self.names):
            place = int(name)
        elif str(name) in self.names:
            place = self.names.index(str(name))
        else:
            raise InputError(
                f"`{option}` is {name!r}, which is no column of `X`.{nearest(str(name), self.names)} It has "
                f"{shown(self.names)}."
            )
        if place not in self.numeric():
            raise InputError(f"`{option}` is {name!r}, a column without numbers; a numeric one is expected.")
        if not np.isfinite(self.column(place)).any():
            raise InputError(f"`{option}` is {name!r}, a column without any finite number.")
        return place


def chosen(
    table: Table, x: str | int | None, y: str | int | None, groups: NDArray[Any], first_choice: tuple[str, ...]
) -> tuple[int, int]:
    """The places of two columns: those named, then `first_choice`, then those in which groups of rows differ most."""
    first = None if x is None else table.place(x, "x")
    second = None if y is None else table.place(y, "y")
    if first is not None and second is not None:
        return first, second
    order = _by_spread(groups, table)
    preferred = [place for name in first_choice for place in order if table.names[place] == name]
    rest = [place for place in dict.fromkeys([*preferred, *order]) if place not in (first, second)]
    if len(rest) < (first is None) + (second is None):
        raise InputError("`X` has fewer than 2 columns of numbers that vary; a plane needs two.")
    if first is None:
        first = rest.pop(0)
    return first, rest[0] if second is None else second


def _by_spread(groups: NDArray[Any], table: Table) -> list[int]:
    """Numeric columns, those first in which the means of groups differ most beside the spread within them."""
    rows = np.arange(len(groups))
    if rows.size > SAMPLE:
        rows = np.sort(generator(0, "columns").permutation(rows)[:SAMPLE])
    _, codes = np.unique(groups[rows], return_inverse=True)
    found = []
    for place in table.numeric()[:MOST_COLUMNS]:
        column = table.column(place, rows)
        there = np.isfinite(column)
        values, own = column[there], codes[there]
        if not values.size or np.ptp(values) == 0:
            continue
        values = (values - values.mean()) / np.ptp(values)
        counts = np.bincount(own)
        means = np.bincount(own, values) / np.maximum(counts, 1)
        between, total = float(counts @ means**2), float(values @ values)
        found.append((-between / total, place))
    return [place for _, place in sorted(found)]
