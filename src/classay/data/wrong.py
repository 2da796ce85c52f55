"""What `slices` is handed beside a table: which of its rows are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from ..expect import InputError, nearest, shown


def checked_wrong(table: pd.DataFrame, wrong: Any) -> tuple[NDArray[np.bool_], str | None]:
    """Which rows are wrong, and the column that says so if it is one."""
    name = None
    if isinstance(wrong, str):
        if wrong not in table:
            raise InputError(
                f"`wrong` is {wrong!r}, and `table` has no such column.{nearest(wrong, table.columns)} "
                "Name a column of True and False, or pass an array such as table['label'] != table['predicted']."
            )
        name, wrong = wrong, table[wrong]
    elif isinstance(wrong, pd.Series) and len(wrong) == len(table) and not wrong.index.equals(table.index):
        raise InputError(
            "`wrong` is a Series with another index than `table`, so which row it means is unclear. Pass "
            "wrong.to_numpy() if both are in the same order, or wrong.reindex(table.index)."
        )
    given = wrong if isinstance(wrong, pd.Series) else np.asarray(wrong)
    if given.ndim != 1 or len(given) != len(table):
        shape = "×".join(map(str, given.shape)) or "no"
        raise InputError(f"`wrong` has {shape} entries and `table` {len(table)} rows; one for each row is expected.")
    values = pd.Series(given.array if isinstance(given, pd.Series) else given)
    gone = np.flatnonzero(values.isna())
    if gone.size:
        raise InputError(
            f"`wrong` is missing in {gone.size} of {len(values)} rows (row {shown(gone + 1, 5)}, counted from 1). "
            "Drop these rows, or decide: wrong.fillna(True)."
        )
    return _booleans(values), name


def _booleans(values: pd.Series[Any]) -> NDArray[np.bool_]:
    kinds: pd.Series[Any] = values.infer_objects()
    if types.is_bool_dtype(kinds.dtype):
        return np.asarray(kinds.to_numpy(dtype=bool))
    if types.is_numeric_dtype(kinds.dtype) and bool(kinds.isin([0, 1]).all()):
        return np.asarray(kinds.to_numpy(dtype=float) == 1)
    distinct = kinds.drop_duplicates()
    example = distinct.iloc[0]
    raise InputError(
        f"`wrong` holds {shown(map(repr, distinct.tolist()), 4)}; True or False is expected for each row. Say what is "
        f"meant, as in wrong == {example!r}."
    )
