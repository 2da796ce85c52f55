"""Batches that arrive after a reference: what they must have, their order in time, and whether rows have moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api import types
from scipy import stats

from ...expect import InputError, shown
from ...frames import pandas_of
from ...inputs import aligned, at_least_two, encode, is_sparse
from ...splits import time_column
from ...tables.data import rows_and_labels


def reference(X: Any, y: ArrayLike, numbers: bool) -> tuple[Any, NDArray[Any]]:
    """Rows and target of a reference: numbers for a regressor, or labels, of which there must be two."""
    rows, values = _rows_and_target(X, y, numbers)
    if not numbers:
        at_least_two(np.unique(values))
    return rows, values


def batch(X: Any, y: ArrayLike, like: Any, classes: NDArray[Any] | None) -> tuple[Any, NDArray[Any]]:
    """Rows and target of a batch in the form of the reference: columns matched by name, with its categories.

    `classes` are those of the reference, None if its target is a number; a batch may have others.
    """
    X = pandas_of(X)
    if isinstance(like, pd.DataFrame) != isinstance(X, pd.DataFrame):
        kind, wanted = ("array", "DataFrame") if isinstance(like, pd.DataFrame) else ("DataFrame", "array")
        raise InputError(f"The batch has another form than the reference: expected a {wanted}, got {kind}.")
    if np.shape(X)[:1] == np.shape(y)[:1] == (1,):
        raise InputError("The batch has 1 row; at least 2 are needed. Merge it with the next one, or drop it.")
    rows, values = _rows_and_target(X, y, numbers=classes is None)
    if isinstance(like, pd.DataFrame):
        columns = aligned(rows, list(like.columns), "X", named=True)
        rows = pd.DataFrame({name: _column(columns.iloc[:, at], like[name]) for at, name in enumerate(like.columns)})
    elif rows.shape[1] != like.shape[1]:
        raise InputError(
            f"The batch has {rows.shape[1]} columns but the reference has {like.shape[1]}; they must match."
        )
    if classes is None:
        return rows, values
    codes = encode(values, classes)
    if codes.min() == codes.max() >= 0:
        raise InputError(
            f"`y` has 1 class ({values[0].item()!r}); at least 2 are needed. No concept can be learned from such a "
            "batch: merge it with the next one, or drop it."
        )
    return rows, classes[codes] if codes.min() >= 0 else values


def _rows_and_target(X: Any, y: ArrayLike, numbers: bool) -> tuple[Any, NDArray[Any]]:
    """A copy of rows and target with rows counted from 0, so that changes to the user's own data have no effect."""
    if is_sparse(X):
        raise InputError("`X` is sparse; expected a dense array or a DataFrame. Use X.toarray() if it is small.")
    rows, values, _ = rows_and_labels(X, y)
    if numbers and values.dtype.kind == "U":
        raise InputError(
            f"`y` contains text such as {values[0].item()!r}, but a regressor learns numbers. Did you mean a "
            "classifier?"
        )
    if numbers and not np.isfinite(values.astype(float)).all():
        raise InputError("`y` has infinite values. Replace them, or drop those rows.")
    own = rows.reset_index(drop=True).copy() if isinstance(rows, pd.DataFrame) else np.array(rows)
    return own, values.astype(float) if numbers else values.copy()


def _column(column: pd.Series[Any], like: pd.Series[Any]) -> pd.Series[Any]:
    if column.isna().all():
        return column
    kinds = kind(column), kind(like)
    categories = like.dtype.categories if isinstance(like.dtype, pd.CategoricalDtype) else None
    # Categories may be numbers, which a batch may contain as plain numbers.
    if kinds[0] != kinds[1] and categories is None:
        raise InputError(f"The column {like.name!r} contains {kinds[0]} in the batch but {kinds[1]} in the reference.")
    if kinds[1] != "texts":
        return column
    seen = set(like.dropna().unique() if categories is None else categories)
    strange = [value for value in column.dropna().unique().tolist() if value not in seen]
    if strange:
        raise InputError(
            f"The column {like.name!r} has categories in the batch that the reference does not have: "
            f"{shown(map(repr, strange), 4)}. Map them to known ones, leave these rows out, or fit the monitor again."
        )
    return column.astype(like.dtype)


def kind(column: pd.Series[Any]) -> str:
    """What a column contains: numbers (booleans too), times or text (categories too)."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "texts"
    if types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype):
        return "numbers"
    if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
        return "times"
    inferred = types.infer_dtype(column, skipna=True)
    return "numbers" if inferred in ("integer", "floating", "boolean", "mixed-integer-float") else "texts"


# The order of batches in time: each begins where what came before it has ended.


def last_time(time: Any, rows: int, before: Any = None) -> float | str | None:
    """The last time of some rows, a number or a date as ISO text; an error if they begin `before` that of others."""
    if time is None:
        return None
    column = time_column(time, rows)
    first, last = (
        end.isoformat() if isinstance(end, pd.Timestamp) else float(end) for end in (column.min(), column.max())
    )
    if before is None:
        return last
    if isinstance(before, str) != isinstance(first, str):
        raise InputError(
            f"`time` is such as {first} in the batch and such as {before} before; expected dates in both or numbers in "
            "both."
        )
    try:
        early = pd.Timestamp(first) < pd.Timestamp(before) if isinstance(first, str) else first < before
    except TypeError as error:
        raise InputError(f"`time` has dates with and without a time zone ({error}). Use the same in all.") from error
    if early:
        raise InputError(
            f"`time` of the batch begins at {first}, before the end of what came before it ({before}). Pass batches in "
            "the order of time, without overlap."
        )
    return last


# Whether the rows of a batch are unlike those of the reference, column by column, whatever their labels.


LEAST_EXPECTED = 5
"""Categories with fewer expected rows in the batch are counted together: the chi-squared test needs about so many."""


def row_shift(reference: Any, batch: Any) -> tuple[float, str]:
    """The p-value of "the batch's rows come from the reference's distribution", and the column with the smallest one.

    Numbers by the test of Kolmogorov and Smirnov, categories and the share of missing values by chi-squared; the lowest
    p-value counts, times the number of tests. It does not see columns that only go together in another way.
    """
    if not isinstance(reference, pd.DataFrame):
        names = [f"column {place}" for place in range(reference.shape[1])]
        reference, batch = pd.DataFrame(reference, columns=names), pd.DataFrame(batch, columns=names)
    tests = [
        (p_value, str(name))
        for name in reference.columns
        for p_value in _p_values(reference[name].reset_index(drop=True), batch[name].reset_index(drop=True))
    ]
    lowest, name = min(tests, default=(1.0, ""))
    return min(1.0, lowest * len(tests)) if tests else 1.0, name


def _p_values(own: pd.Series[Any], other: pd.Series[Any]) -> list[float]:
    p_values = []
    if own.isna().any() or other.isna().any():
        p_values.append(_by_counts(own.isna(), other.isna()))
    own, other = own.dropna(), other.dropna()
    if not own.size or not other.size:
        return p_values
    times = types.is_datetime64_any_dtype(own)
    if not times and (types.is_bool_dtype(own) or not types.is_numeric_dtype(own)):
        return [*p_values, _by_counts(own.astype(str), other.astype(str))]
    one, two = (part.astype("int64") if times else part.astype(float) for part in (own, other))
    return [*p_values, float(stats.ks_2samp(one, two, method="asymp").pvalue)]


def _by_counts(own: pd.Series[Any], other: pd.Series[Any]) -> float:
    counts = pd.DataFrame({"own": own.value_counts(), "other": other.value_counts()}).fillna(0.0)
    expected = counts.sum(axis=1) * len(other) / (len(own) + len(other))
    rare = (expected < LEAST_EXPECTED).to_numpy()
    table = np.vstack([counts.to_numpy()[~rare], counts.to_numpy()[rare].sum(axis=0, keepdims=True)])
    table = table[table.sum(axis=1) > 0]
    return float(stats.chi2_contingency(table).pvalue) if len(table) > 1 else 1.0
