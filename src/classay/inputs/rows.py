"""Rows in the forms that users bring: arrays, DataFrames, sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..arrays import Floats
from ..expect import InputError, shown

# Rows are converted to dense float64 in blocks of this many numbers: 64 MB.
BLOCK = 2**23


def matrix(X: Any, name: str = "X", columns: int | None = None) -> Any:
    """Rows as a numeric array (of any float or integer type, or a memory map) or a CSR matrix, without a copy.

    Whether the values are finite is checked block by block in `blocks`, when they are read anyway.
    """
    if sparse.issparse(X):
        table: Any = X.tocsr()  # type: ignore[attr-defined]  # the stubs know the abstract kind only
    elif isinstance(X, pd.DataFrame):
        words = [column for column, kind in X.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
        if words:
            raise InputError(
                f"`{name}` has columns that are not numbers ({shown(words, 4)}); distances need numbers. "
                "Encode them first, or drop them."
            )
        table = X.to_numpy(dtype=float, na_value=np.nan)
    else:
        try:
            table = X if isinstance(X, np.ndarray) else np.asarray(X)
            table = table if table.dtype.kind in "biuf" else table.astype(float)
        except (ValueError, TypeError) as error:
            raise InputError(f"`{name}` is not a table of numbers ({error}). Encode text and dates first.") from error
    if table.ndim != 2:
        raise InputError(f"`{name}` has shape {table.shape}; expected a table of (rows, columns).")
    if 0 in table.shape:
        raise InputError(f"`{name}` has shape {table.shape}; expected at least one row and one column.")
    if columns is not None and table.shape[1] != columns:
        raise InputError(f"`{name}` has {table.shape[1]} columns; expected {columns}, as in the first rows.")
    return table


def blocks(table: Any, name: str = "X", most: int = BLOCK) -> Iterator[tuple[slice, Floats]]:
    """Blocks of rows as new dense float64 arrays, with their positions. Values that are not finite are refused."""
    step = max(1, most // table.shape[1])
    for start in range(0, table.shape[0], step):
        place = slice(start, min(start + step, table.shape[0]))
        part: Any = table[place]
        yield place, finite(part.toarray() if hasattr(part, "toarray") else part, name, start)


def finite(part: Any, name: str, start: int = 0) -> Floats:
    """A dense float64 copy, if every value is finite."""
    block = np.array(part, dtype=np.float64, order="C")
    with np.errstate(over="ignore", invalid="ignore"):
        clean = np.isfinite(block.sum())  # one sum clears nearly every table in one pass
    if not clean and not np.isfinite(block).all():
        row, column = np.argwhere(~np.isfinite(block))[0]
        kind = "NaN (missing)" if np.isnan(block[row, column]) else "infinite"
        raise InputError(
            f"`{name}` is {kind} in row {start + row}, column {column}; distances need finite numbers. Impute or "
            "drop such rows first."
        )
    return block


def is_sparse(X: Any) -> bool:
    """Whether X is one of SciPy's sparse matrices or arrays."""
    return bool(sparse.issparse(X))


def take(X: Any, rows: Any) -> Any:
    """Some rows of an array, sparse matrix or DataFrame; a slice of an array is a view."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def aligned(X: Any, names: tuple[str, ...], name: str = "X") -> Any:
    """A DataFrame with its columns in the order of `names`; anything without names unchanged."""
    if not isinstance(X, pd.DataFrame) or not names or names == _numbered(len(names)):
        return X
    own = [str(column) for column in X.columns]
    if own == list(names):
        return X
    if sorted(own) != sorted(names):
        missing, strange = [each for each in names if each not in own], [each for each in own if each not in names]
        raise InputError(
            f"`{name}` has other columns than the first rows: missing {shown(missing, 4) or 'none'}, additional "
            f"{shown(strange, 4) or 'none'}. Expected the same columns, in any order."
        )
    return X.iloc[:, [own.index(each) for each in names]]


def names_of_columns(X: Any, columns: int) -> tuple[str, ...]:
    """The names of the columns."""
    if isinstance(X, pd.DataFrame):
        return tuple(str(column) for column in X.columns)
    return _numbered(columns)


def _numbered(columns: int) -> tuple[str, ...]:
    return tuple(f"x{column}" for column in range(columns))
