"""Tables of labelled rows: columns to learn from and labels, from any of the `sources`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from pandas.api import types

from .expect import InputError, nearest, shown
from .sources import BUILT_IN, Source, found_at

__all__ = ["BUILT_IN", "Table", "read", "read_frame"]


@dataclass(frozen=True)
class Table:
    """Labelled rows: the columns to learn from, the label of each row, and what was decided while reading."""

    name: str
    X: pd.DataFrame
    y: pd.Series[Any]
    target: str
    notes: tuple[str, ...] = ()


def read(source: str | Path, target: str | None = None, text: str | None = None) -> Table:
    """A table by built-in name, from a file, or from OpenML.

    source: one of `BUILT_IN`; a .csv or .tsv (also .gz, .bz2, .xz), .parquet, .arff or .npz file (arrays X
        and y); `openml:NAME` or `openml:ID`.
    target: the column with the labels. Default: the one the source names, else the last, and `notes` says so.
    text: a column of texts to keep although every row has its own, and never the target.

    Columns without any value, and texts of which every row has its own, are left out, and `notes` says so.
    Labels keep their spelling; whole numbers written as 1.0 become 1.

    >>> table = read("breast_cancer")
    >>> table.X.shape, sorted(set(table.y))
    ((569, 30), ['benign', 'malignant'])
    """
    name, found = found_at(source)
    return _table(name, found, target, text)


def read_frame(source: str | Path) -> pd.DataFrame:
    """All columns of a table as they are, for what has no target: predictions, logs. Sources are those of `read`."""
    name, found = found_at(source)
    return _framed(name, found)


def _framed(name: str, found: Source) -> pd.DataFrame:
    """The rows, numbered from 0, if there are any and each column has its own name."""
    frame = found.frame.rename(columns=str).reset_index(drop=True)
    if not frame.columns.is_unique:
        twins = frame.columns[frame.columns.duplicated()]
        raise InputError(f"{name!r} has columns of the same name ({shown(twins)}). Give each its own name.")
    if frame.empty:
        raise InputError(f"{name!r} has a header ({shown(frame.columns)}) but no rows.")
    return frame


def _table(name: str, found: Source, target: str | None, text: str | None = None) -> Table:
    """Split columns into features and labels, and check both."""
    frame = _framed(name, found)
    notes = list(found.notes)
    wanted = target if target is not None else found.target
    for given in (wanted, text):
        if given is not None and given not in frame:
            raise InputError(
                f"{name!r} has no column {given!r}.{nearest(given, frame.columns)} It has {shown(frame.columns)}."
            )
    if text is not None and text == wanted:
        raise InputError(f"The column {text!r} is named both as target and as text; two columns are expected.")
    empty = [column for column in frame.columns[frame.isna().all()] if column != wanted]
    if empty:
        frame = frame.drop(columns=empty)
        notes.append(f"Left out, without any value: {shown(empty)}.")
    if frame.shape[1] < 2:
        raise InputError(
            f"{name!r} has one column with values ({shown(frame.columns)}); one to learn from and one with "
            "labels are needed. Is the separator a comma, a semicolon or a tab?"
        )
    if wanted is None:
        wanted = str([column for column in frame.columns if column != text][-1])
        notes.append(f"Target: last column {wanted!r}. Use --target to choose another.")
    y = _labels(frame[wanted])
    X = frame.drop(columns=wanted)
    identifiers = [column for column in X if column != text and _is_identifier(X[column])]
    if identifiers:
        X = X.drop(columns=identifiers)
        notes.append(f"Left out, as every row has its own value: {shown(identifiers)}.")
    if X.shape[1] == 0:
        raise InputError(f"{name!r} has nothing to learn from: every row has its own value of {shown(identifiers)}.")
    return Table(name, X, y, wanted, tuple(notes))


def _labels(y: pd.Series[Any]) -> pd.Series[Any]:
    """The labels as plain values: texts, whole numbers or booleans; an error if they are no classes."""
    gone = np.flatnonzero(y.isna())
    if gone.size:
        raise InputError(
            f"The target {y.name!r} is missing in {gone.size} of {len(y)} rows (row {shown(gone + 1, 5)}, "
            "counted from 1). Drop these rows, or respell a label that is a word such as 'None' or 'NA'."
        )
    values: Any = y.astype(y.cat.categories.dtype) if isinstance(y.dtype, pd.CategoricalDtype) else y
    numeric = types.is_numeric_dtype(values.dtype) and not types.is_bool_dtype(values.dtype)
    if types.is_object_dtype(values.dtype) and types.infer_dtype(values) not in (
        "string",
        "boolean",
        "integer",
    ):
        values = values.map(str)  # mixed values cannot be sorted, and classes are
    if types.is_float_dtype(values.dtype):
        numbers = values.to_numpy(dtype=float)
        whole = bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())
        values = values.astype("int64") if whole and np.abs(numbers).max() < 2**53 else values
    else:
        whole = True
    distinct = int(values.nunique())
    if distinct > (max(20, len(y) / 2) if whole else min(20, len(y) / 2)):
        looks = "it looks like a regression target" if numeric else "it looks like text or an identifier"
        raise InputError(
            f"The target {y.name!r} has {distinct} different values in {len(y)} rows; {looks}, and classes "
            "are expected. Is the target column right?"
        )
    if distinct < 2:
        raise InputError(
            f"`y` has 1 class ({values.tolist()[0]!r}); at least 2 are needed. Is the target column right?"
        )
    return cast("pd.Series[Any]", values)


def _is_identifier(column: pd.Series[Any]) -> bool:
    """Whether a column names its rows instead of describing them."""
    if types.is_numeric_dtype(column.dtype):
        # The row numbers that pandas writes with to_csv: in a sorted file they give the labels away.
        return str(column.name).startswith("Unnamed: ") and types.is_integer_dtype(column) and column.is_unique
    if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
        return False
    try:
        return len(column) > 20 and bool(column.notna().all()) and column.is_unique
    except TypeError as error:
        raise InputError(
            f"Column {column.name!r} holds {type(column.iloc[0]).__name__} values; one number or text a row "
            "is expected. Spread it over several columns or leave it out."
        ) from error
