"""What this room is handed, looked at once: scores as a table, true classes as column numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..expect import InputError, shown

Ints = NDArray[np.int32]


def table_of(scores: Any, n_classes: int | None = None) -> NDArray[Any]:
    """Scores as an array (n, K) of numbers, without a copy of arrays and memory maps."""
    if isinstance(scores, pd.DataFrame):
        scores = scores.to_numpy()
    try:
        table = scores if isinstance(scores, np.ndarray) else np.asarray(scores)
        if table.dtype.kind == "c":
            raise TypeError("they are complex")
        table = table if table.dtype.kind in "biuf" else table.astype(float)
        if np.ma.isMaskedArray(table):  # what is masked is missing, whatever lies below
            table = np.ma.filled(table.astype(float), np.nan) if np.ma.is_masked(table) else table.data
    except (ValueError, TypeError) as error:
        raise InputError(
            f"`scores` is no table of numbers ({error}). A score for every row and class is expected."
        ) from error
    if table.ndim != 2:
        raise InputError(f"`scores` has shape {table.shape}; (rows, classes) is expected.")
    if table.shape[1] < 2:
        raise InputError(
            f"`scores` has {table.shape[1]} column; at least 2 classes are needed. The scores of one class against "
            "another are two columns: np.column_stack([-s, s])."
        )
    if n_classes is not None and table.shape[1] != n_classes:
        raise InputError(
            f"`scores` has {table.shape[1]} columns and there are {n_classes} classes; as many are expected."
        )
    return table


def column_names(scores: Any, y: ArrayLike, classes: ArrayLike | None) -> NDArray[Any]:
    """The names of the columns: those given, those of a DataFrame, or 0, …, K − 1 if `y` holds column numbers."""
    table = table_of(scores)
    columns: Any = scores.columns if isinstance(scores, pd.DataFrame) else pd.RangeIndex(table.shape[1])
    if classes is None and not (isinstance(columns, pd.RangeIndex) and columns.start == 0 and columns.step == 1):
        classes = columns
    if classes is None:
        names = np.arange(table.shape[1])
        columns_of(y, names, table.shape[0])
        return names
    names = names_of(classes)
    if names.size != table.shape[1]:
        raise InputError(
            f"`scores` has {table.shape[1]} columns and `classes` {names.size} names; as many are expected."
        )
    return names


def names_of(classes: ArrayLike) -> NDArray[Any]:
    """Names of classes, each once."""
    names = plain(classes, "classes")
    if names.ndim != 1 or names.size < 2:
        raise InputError(f"`classes` has shape {names.shape}; the names of at least 2 columns are expected.")
    several, times = np.unique(names, return_counts=True)
    if several.size < names.size:
        raise InputError(
            f"`classes` has {shown(several[times > 1], 4)} more than once; each column needs its own name."
        )
    return names


def columns_of(y: ArrayLike, names: NDArray[Any], rows: int) -> Ints:
    """The column of each true class, given by name, or by number where no name is meant.

    Names that are text and labels that are numbers, or the other way round, are compared as text: a table with a header
    of 1, 2, 3 has text for names.
    """
    values = plain(y, "y")
    if values.ndim != 1:
        raise InputError(f"`y` has shape {values.shape}; one true class a row is expected.")
    if values.size != rows:
        raise InputError(f"`scores` has {rows} rows and `y` {values.size} labels; as many are expected.")
    if values.size == 0:
        return np.empty(0, dtype=np.int32)
    text = names.dtype.kind == "U"
    alike = text == (values.dtype.kind == "U")
    wanted, called = (values, names) if alike else (values.astype(str), names.astype(str))
    order = np.argsort(called)
    found = order[np.minimum(np.searchsorted(called[order], wanted), names.size - 1)]
    strange = called[found] != wanted
    if not strange.any():
        return found.astype(np.int32)
    # Numbers stand for columns only if none of them is a name: some being names, the others are mistaken.
    if text and strange.all() and values.dtype.kind in "iu" and values.min() >= 0 and values.max() < names.size:
        return values.astype(np.int32)
    some = pd.unique(values[strange])
    if np.array_equal(names, np.arange(names.size)):
        raise InputError(
            f"`y` has {shown(some, 4)}, and the columns of `scores` are numbered 0 to {names.size - 1}. Pass "
            "classes=[...], the names of the columns in their order, such as `classifier.classes_`."
        )
    raise InputError(
        f"`y` has {shown(some, 4)}, which no column is called ({shown(names, 4)}). Drop those rows, or score those "
        "classes, too."
    )


def plain(values: ArrayLike, name: str) -> NDArray[Any]:
    """Labels as numbers, booleans or text; missing ones are refused."""
    array = values.to_numpy() if isinstance(values, (pd.Series, pd.Index)) else np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    missing = np.flatnonzero(pd.isna(array.ravel()))
    if missing.size:
        raise InputError(
            f"`{name}` is missing (NaN) in {missing.size} places (first: {shown(missing, 3)}). Drop those rows first."
        )
    if array.dtype == object:
        kinds = {type(value) for value in array.ravel().tolist()}
        held = np.asarray(array.tolist())
        array = held if len(kinds) == 1 and held.shape == array.shape else array
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "backslashreplace")
    return array if array.dtype.kind in "biufU" else array.astype(str)
