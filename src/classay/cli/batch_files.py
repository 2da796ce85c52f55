"""Batches as files: in which order they come, and how they are read against their reference."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import expect

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Batch:
    """Rows and labels of one file."""

    name: str
    X: pd.DataFrame
    y: Any


@dataclass(frozen=True)
class Reference(Batch):
    """The reference: also which column has the labels, which columns were left out of it, and what to say of it."""

    target: str
    left_out: frozenset[str]
    notes: tuple[str, ...]


def natural(name: str) -> list[tuple[int, int, str]]:
    """What to sort file names by: numbers as numbers, so that batch 10 comes after batch 9.

    >>> sorted(["b10.csv", "b9.csv", "a.csv"], key=natural)
    ['a.csv', 'b9.csv', 'b10.csv']
    """
    parts = re.split(r"(\d+)", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]


def read_reference(file: str, target: str | None) -> Reference:
    """The reference from a file."""
    from .. import tables

    table = tables.read(file, target)
    left_out = set(tables.read_frame(file).columns) - set(table.X.columns) - {table.target}
    return Reference(table.name, table.X, table.y, table.target, frozenset(left_out), table.notes)


def read_batch(file: str, start: Reference) -> Batch:
    """A batch from a file, with the columns of the reference; a mistake names the file."""
    import numpy as np

    from .. import tables
    from ..learner import batches
    from ..learner.answers import plain

    try:
        table = tables.read(file, start.target)
        frame = tables.read_frame(file)
        # What `read` leaves out of this file alone, such as a column without values, the reference may have.
        kept = [name for name in frame if name in start.X or (name in table.X and name not in start.left_out)]
        X = frame[kept].copy()
        for name in X.columns.intersection(start.X.columns):
            X[name] = _in_words_of(start.X[name], X[name])
        found = Batch(table.name, X, _in_words_of(start.y, table.y))
        batches.batch(found.X, found.y, start.X, np.unique(plain(start.y.to_numpy())))
    except expect.InputError as mistake:
        raise expect.InputError(f"{Path(file).name}: {mistake}") from mistake
    return found


def _in_words_of(like: pd.Series[Any], column: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers as texts where the reference has texts: a file in which every code is a number does not tell that."""
    from pandas.api import types

    from ..learner.batches import kind

    if kind(like) != "texts" or str(like.dtype) == "category" or kind(column) != "numbers":
        return column
    known = column.dropna()
    # Beside a missing value, whole numbers were read as 1.0.
    if types.is_float_dtype(known.dtype) and (known == known.round()).all():
        known = known.astype("int64")
    return known.astype(str).reindex(column.index)
