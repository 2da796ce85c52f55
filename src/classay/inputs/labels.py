"""Labels and classes: as numbers, booleans or text; as codes of sorted classes; as columns of a table of scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..arrays import Ints
from ..expect import InputError, shown

Codes = NDArray[np.int32]


def plain_labels(values: NDArray[Any]) -> NDArray[Any]:
    """Labels as numbers, booleans or text, which can be sorted and saved; objects become the type they hold."""
    if values.dtype == object:
        kinds = {type(value) for value in values.ravel()}
        try:
            held = np.asarray(values.tolist())
        except (ValueError, OverflowError):  # of unequal lengths, or too large
            held = values
        if len(kinds) <= 1 and held.shape == values.shape:
            values = held
        elif bytes in kinds and values.ndim == 1:  # numpy would spell them b'...'
            values = np.array(
                [each.decode(errors="backslashreplace") if isinstance(each, bytes) else str(each) for each in values]
            )
    if values.dtype.kind == "S":
        return np.char.decode(values, "utf-8", "backslashreplace")
    return values if values.dtype.kind in "biufU" else values.astype(str)


def label_array(y: ArrayLike, name: str = "y") -> NDArray[Any]:
    """Labels of any shape as numbers, booleans or text; a single column is flattened, missing ones are refused."""
    try:
        values = y.to_numpy() if isinstance(y, (pd.Series, pd.Index)) else np.asarray(y)
    except ValueError as error:
        raise InputError(f"`{name}` is not an array ({error}). All rows must have the same length.") from error
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    missing = np.flatnonzero(pd.isna(values.ravel()))
    if missing.size:
        raise InputError(
            f"`{name}` is missing (NaN) in {missing.size} rows (first: {shown(missing, 3)}); every row needs a label. "
            "Drop those rows first."
        )
    return plain_labels(values)


def labels(y: ArrayLike, name: str = "y", rows: int | None = None) -> NDArray[Any]:
    """One label per row, as numbers, booleans or text."""
    values = label_array(y, name)
    if values.ndim == 2:
        raise InputError(f"`{name}` has {values.shape[1]} columns; expected one label per row.")
    if values.ndim != 1:
        raise InputError(f"`{name}` has shape {values.shape}; expected one label per row.")
    if rows is not None and values.size != rows:
        table = name.replace("y", "X", 1)
        raise InputError(f"`{table}` has {rows} rows but `{name}` has {values.size} labels; they must match.")
    return values


def class_labels(y: ArrayLike, name: str, rows: int) -> NDArray[Any]:
    """One label per row; numbers with decimals are refused."""
    values = labels(y, name, rows)
    if values.dtype.kind == "f" and not (np.isfinite(values) & (values == np.round(values))).all():
        raise InputError(
            f"`{name}` has numbers such as {values[values != np.round(values)][0]:g}; expected class labels. "
            "For a continuous target, bin it first."
        )
    return values


def encode(values: NDArray[Any], classes: NDArray[Any]) -> Ints:
    """Codes of labels in sorted classes, -1 if a label is not among them."""
    if (values.dtype.kind == "U") != (classes.dtype.kind == "U"):
        raise InputError(
            f"Labels are {'text' if values.dtype.kind == 'U' else 'numbers'} such as {values[0].item()!r} here and "
            f"such as {classes[0].item()!r} before; expected the same labels throughout."
        )
    codes = np.searchsorted(classes, values)
    known = classes[np.minimum(codes, classes.size - 1)] == values
    return np.where(known, codes, -1).astype(np.int64)


def at_least_two(classes: NDArray[Any]) -> None:
    """Refuse a single class."""
    if classes.size < 2:
        raise InputError(f"`y` has 1 class ({classes[0].item()!r}); at least 2 are needed. Is the target column right?")


# Scores: a column for each class


def table_of(scores: Any, n_classes: int | None = None) -> NDArray[Any]:
    """Scores as an array (n, K) of numbers, without a copy of arrays and memory maps."""
    if isinstance(scores, pd.DataFrame):
        scores = scores.to_numpy()
    try:
        table = scores if isinstance(scores, np.ndarray) else np.asarray(scores)
        if table.dtype.kind == "c":
            raise TypeError("they are complex")
        table = table if table.dtype.kind in "biuf" else table.astype(float)
        if np.ma.isMaskedArray(table):  # what is masked is missing, whatever the value below
            table = np.ma.filled(table.astype(float), np.nan) if np.ma.is_masked(table) else table.data
    except (ValueError, TypeError) as error:
        raise InputError(
            f"`scores` is not a table of numbers ({error}). Expected a score for every row and class."
        ) from error
    if table.ndim != 2:
        raise InputError(f"`scores` has shape {table.shape}; expected (rows, classes).")
    if table.shape[1] < 2:
        raise InputError(
            f"`scores` has {table.shape[1]} column; at least 2 classes are needed. The scores of one class against "
            "another are two columns: np.column_stack([-s, s])."
        )
    if n_classes is not None and table.shape[1] != n_classes:
        raise InputError(f"`scores` has {table.shape[1]} columns but there are {n_classes} classes; they must match.")
    return table


def column_names(scores: Any, y: ArrayLike, classes: ArrayLike | None) -> NDArray[Any]:
    """The names of the columns: those given, those of a DataFrame, or 0, …, K − 1 if `y` has column numbers."""
    table = table_of(scores)
    columns: Any = scores.columns if isinstance(scores, pd.DataFrame) else pd.RangeIndex(table.shape[1])
    if classes is None and not (isinstance(columns, pd.RangeIndex) and columns.start == 0 and columns.step == 1):
        classes = columns
    if classes is None:
        names = np.arange(table.shape[1])
        columns_of(y, names, table.shape[0])
        return names
    names = class_names(classes)
    if names.size != table.shape[1]:
        raise InputError(
            f"`scores` has {table.shape[1]} columns but `classes` has {names.size} names; they must match."
        )
    return names


def class_names(classes: ArrayLike) -> NDArray[Any]:
    """Names of classes, each once."""
    names = label_array(classes, "classes")
    if names.ndim != 1 or names.size < 2:
        raise InputError(f"`classes` has shape {names.shape}; expected the names of at least 2 columns.")
    several, times = np.unique(names, return_counts=True)
    if several.size < names.size:
        raise InputError(
            f"`classes` has {shown(several[times > 1], 4)} more than once; each column needs its own name."
        )
    return names


def columns_of(y: ArrayLike, names: NDArray[Any], rows: int) -> Codes:
    """The column of each true class, given by name, or by number if it is not a name.

    If names are text and labels are numbers, or the other way round, they are compared as text: a table with a header
    of 1, 2, 3 has text as names.
    """
    values = label_array(y, "y")
    if values.ndim != 1:
        raise InputError(f"`y` has shape {values.shape}; expected one true class per row.")
    if values.size != rows:
        raise InputError(f"`scores` has {rows} rows but `y` has {values.size} labels; they must match.")
    if values.size == 0:
        return np.empty(0, dtype=np.int32)
    text = names.dtype.kind == "U"
    alike = text == (values.dtype.kind == "U")
    wanted, called = (values, names) if alike else (values.astype(str), names.astype(str))
    order = np.argsort(called)
    columns = order[np.minimum(np.searchsorted(called[order], wanted), names.size - 1)]
    strange = called[columns] != wanted
    if not strange.any():
        return columns.astype(np.int32)
    # Numbers are column positions only if none of them is a name: if some are names, the others are mistakes.
    if text and strange.all() and values.dtype.kind in "iu" and values.min() >= 0 and values.max() < names.size:
        return values.astype(np.int32)
    some = pd.unique(values[strange])
    if np.array_equal(names, np.arange(names.size)):
        raise InputError(
            f"`y` has {shown(some, 4)}, and the columns of `scores` are numbered 0 to {names.size - 1}. Pass "
            "classes=[...], the names of the columns in their order, such as `classifier.classes_`."
        )
    raise InputError(
        f"`y` has {shown(some, 4)}, which is not the name of a column ({shown(names, 4)}). Drop those rows, or add "
        "scores for those classes."
    )
