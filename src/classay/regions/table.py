"""What a search is handed: a table, and the columns of it to search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ..expect import InputError, nearest, shown


def checked_table(table: Any) -> pd.DataFrame:
    """The table with texts as names of columns, if it has rows and each column its own name."""
    if not isinstance(table, pd.DataFrame):
        raise InputError(
            f"`table` is {type(table).__name__}; a pandas DataFrame is expected. Wrap it: pd.DataFrame(...)."
        )
    frame = table.rename(columns=str)
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        rows, columns = frame.shape
        raise InputError(f"`table` has {rows} rows and {columns} columns; there is nothing to search.")
    if not frame.columns.is_unique:
        twins = frame.columns[frame.columns.duplicated()].unique()
        raise InputError(f"`table` has columns of the same name ({shown(twins)}). Give each its own name.")
    return frame


def checked_columns(table: pd.DataFrame, columns: Iterable[str] | None, without: str | None) -> list[str]:
    """The columns to search, sorted: their order in the table makes no difference."""
    if columns is None:
        return sorted(name for name in table.columns if name != without)
    if isinstance(columns, str):
        raise InputError(f"`columns` is the text {columns!r}; a list of names is expected: columns=[{columns!r}].")
    names = [str(name) for name in columns]
    for name in names:
        if name not in table:
            raise InputError(
                f"`table` has no column {name!r}.{nearest(name, table.columns)} It has {shown(table.columns)}."
            )
    if not names:
        raise InputError("`columns` is empty; name at least one, or leave it out to search all.")
    if without in names:
        raise InputError(f"`columns` names {without!r}, which says what is wrong. Search the others.")
    return sorted(set(names))
