"""What this room is handed, looked at once: rows as numbers, labels as codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..expect import InputError, shown

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Rows are turned into dense float64 a block of so many numbers at a time: 64 MB.
BLOCK = 2**23


def matrix(X: Any, name: str = "X", columns: int | None = None) -> Any:
    """Rows as a numeric array (of any float or integer type, or a memory map) or a CSR matrix, without a copy.

    Whether the values are finite is asked block by block in `blocks`, when they are read anyway.
    """
    if sparse.issparse(X):
        table: Any = X.tocsr()  # type: ignore[attr-defined]  # the stubs know the abstract kind only
    elif isinstance(X, pd.DataFrame):
        words = [column for column, kind in X.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
        if words:
            raise InputError(
                f"`{name}` has columns that are not numbers ({shown(words, 4)}); distances need numbers. "
                "Encode them first, or leave them out."
            )
        table = X.to_numpy(dtype=float, na_value=np.nan)
    else:
        try:
            table = X if isinstance(X, np.ndarray) else np.asarray(X)
            table = table if table.dtype.kind in "biuf" else table.astype(float)
        except (ValueError, TypeError) as error:
            raise InputError(f"`{name}` is no table of numbers ({error}). Encode texts and dates first.") from error
    if table.ndim != 2:
        raise InputError(f"`{name}` has shape {table.shape}; a table of (rows, columns) is expected.")
    if 0 in table.shape:
        raise InputError(f"`{name}` has shape {table.shape}; at least one row and one column are expected.")
    if columns is not None and table.shape[1] != columns:
        raise InputError(f"`{name}` has {table.shape[1]} columns; {columns} are expected, as in the first rows.")
    return table


def blocks(table: Any, name: str = "X", most: int = BLOCK) -> Iterator[tuple[slice, Floats]]:
    """Blocks of rows as fresh dense float64 arrays, with where they are. Values that are not finite are refused."""
    step = max(1, most // table.shape[1])
    for start in range(0, table.shape[0], step):
        place = slice(start, min(start + step, table.shape[0]))
        part: Any = table[place]
        yield place, finite(part.toarray() if hasattr(part, "toarray") else part, name, start)


def finite(part: Any, name: str, start: int = 0) -> Floats:
    """A dense float64 copy, if every value is finite."""
    block = np.array(part, dtype=np.float64, order="C")
    with np.errstate(over="ignore", invalid="ignore"):
        clean = np.isfinite(block.sum())  # one sum finds nearly every table clean in one pass
    if not clean and not np.isfinite(block).all():
        row, column = np.argwhere(~np.isfinite(block))[0]
        kind = "NaN (missing)" if np.isnan(block[row, column]) else "infinite"
        raise InputError(
            f"`{name}` is {kind} in row {start + row}, column {column}; distances need finite numbers. Impute or "
            "drop such rows first."
        )
    return block


def take(table: Any, rows: Any) -> Any:
    """Some rows; a slice of an array is a view."""
    return table[rows]


def aligned(X: Any, names: tuple[str, ...], name: str = "X") -> Any:
    """A DataFrame with its columns in the order of `names`; anything without names as it is."""
    if not isinstance(X, pd.DataFrame) or not names or names == _numbered(len(names)):
        return X
    own = [str(column) for column in X.columns]
    if own == list(names):
        return X
    if sorted(own) != sorted(names):
        missing, strange = [each for each in names if each not in own], [each for each in own if each not in names]
        raise InputError(
            f"`{name}` has other columns than the first rows: without {shown(missing, 4) or 'none'}, and with "
            f"{shown(strange, 4) or 'none'} beside. The same columns are expected, in any order."
        )
    return X.iloc[:, [own.index(each) for each in names]]


def names_of(X: Any, columns: int) -> tuple[str, ...]:
    """What the columns are called."""
    if isinstance(X, pd.DataFrame):
        return tuple(str(column) for column in X.columns)
    return _numbered(columns)


def _numbered(columns: int) -> tuple[str, ...]:
    return tuple(f"x{column}" for column in range(columns))


def labels(y: ArrayLike, name: str, rows: int) -> NDArray[Any]:
    """Labels as an array of numbers, booleans or text, one a row."""
    values = y.to_numpy() if isinstance(y, (pd.Series, pd.Index)) else np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"`{name}` has shape {values.shape}; one label a row is expected.")
    if values.size != rows:
        of = name.replace("y", "X", 1)
        raise InputError(f"`{of}` has {rows} rows and `{name}` {values.size} labels; as many are expected.")
    missing = np.flatnonzero(pd.isna(values))
    if missing.size:
        raise InputError(
            f"`{name}` is missing (NaN) in {missing.size} rows (first: {shown(missing, 3)}); every row needs a label. "
            "Drop those rows first."
        )
    if values.dtype.kind in "OTS":
        # Objects of one kind become what they hold; a mix is told apart by its text.
        kinds = {type(value) for value in values.tolist()}
        if len(kinds) == 1 and not issubclass(next(iter(kinds)), (str, bytes)):
            held = np.asarray(values.tolist())
            values = held if held.ndim == 1 and held.dtype.kind in "biuf" else values.astype(str)
        else:
            values = np.array(
                [
                    item.decode(errors="backslashreplace") if isinstance(item, bytes) else str(item)
                    for item in values.tolist()
                ]
            )
    if values.dtype.kind == "f" and not (np.isfinite(values) & (values == np.round(values))).all():
        raise InputError(
            f"`{name}` has numbers such as {values[values != np.round(values)][0]:g}; class labels are expected. "
            "For a continuous target, bin it first."
        )
    return values if values.dtype.kind in "biufU" else values.astype(str)


def encode(values: NDArray[Any], classes: NDArray[Any]) -> Ints:
    """Codes of labels in sorted classes, -1 where a label is not among them."""
    if (values.dtype.kind == "U") != (classes.dtype.kind == "U"):
        raise InputError(
            f"Labels are {'text' if values.dtype.kind == 'U' else 'numbers'} such as {values[0].item()!r} here and "
            f"such as {classes[0].item()!r} before; the same words are expected throughout."
        )
    codes = np.searchsorted(classes, values)
    found = classes[np.minimum(codes, classes.size - 1)] == values
    return np.where(found, codes, -1).astype(np.int64)


def at_least_two(classes: NDArray[Any]) -> None:
    """Refuse one class alone."""
    if classes.size < 2:
        raise InputError(f"`y` has 1 class ({classes[0].item()!r}); at least 2 are needed. Is the target column right?")
