"""A column as the search for slices uses it: values by rank, grouped in a few bins.

Only the order of values matters, so any increasing transform of a column gives the same slices.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from ..expect import InputError, nearest, shown, unique_names
from ..frames import pandas_of
from .conditions import Condition, any_of, between, missing, none_of

Codes = NDArray[np.int32]
BINS = 12
MOST_CATEGORIES = 24
ISO_DATE = r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?"


@dataclass(frozen=True)
class Column:
    """The rank of each row's value (`codes`, −1 if missing) among `values`, and its bin (`bins`).

    For an ordered column, `values` are sorted and bin b contains the codes up to `tops[b]`. For an unordered one, they
    are sorted by frequency, and each of the first has its own bin; one more bin contains all rare ones. The last bin is
    for missing values.
    """

    name: str
    values: pd.Index[Any]
    codes: Codes
    bins: NDArray[np.int8]
    tops: NDArray[np.int64]
    ordered: bool

    @property
    def n_bins(self) -> int:
        """Bins, including that for missing values and, if unordered, that for rare ones."""
        return len(self.tops) + (1 if self.ordered else 2)

    @property
    def varies(self) -> bool:
        """Whether rows are in more than one bin, so that there is something to search."""
        return bool(self.bins.size) and bool((self.bins != self.bins[0]).any())

    def range(self, low: int, high: int) -> Condition:
        """The condition on codes of an ordered column; −1 is missing."""
        return missing(self.name) if high < 0 else between(self.name, self.values, low, high)

    def among(self, bins: tuple[int, ...]) -> Condition:
        """The condition on bins of an unordered column."""
        n_common = len(self.tops)
        common = tuple(self.values[:n_common])
        if bins == (n_common + 1,):
            return missing(self.name)
        others = tuple(value for place, value in enumerate(common) if place not in bins)
        # If no value is rare, all but one is shorter to describe by that one.
        if n_common in bins or (len(self.values) == n_common > 2 and len(others) <= 1):
            return none_of(self.name, others)
        return any_of(self.name, tuple(sorted((common[place] for place in bins), key=str)))


def bin_column(series: pd.Series[Any], min_rows: int) -> Column:
    """Read a column of a table. A category needs `least` rows to have its own bin."""
    typed = infer_type(series)
    name = str(series.name)
    if is_ordered(typed):
        codes, values = _sorted_codes(typed)
        tops = _bin_tops(codes, len(values))
        # One more at the end, where code −1 finds the bin of missing values.
        bin_of_code = np.append(np.searchsorted(tops, np.arange(len(values))), len(tops)).astype(np.int8)
        return Column(name, values, codes, bin_of_code[codes], tops, ordered=True)
    try:
        raw_codes, values = pd.factorize(typed)
    except TypeError as error:
        kind = type(typed.dropna().iloc[0]).__name__
        raise InputError(
            f"Column {name!r} contains {kind} values; expected one number or text per row. Spread it over several "
            "columns or drop it."
        ) from error
    counts = np.bincount(raw_codes[raw_codes >= 0], minlength=len(values))
    # By frequency, then by name: the order of rows and columns makes no difference.
    order = sorted(range(len(values)), key=lambda place: (-counts[place], str(values[place])))
    places = np.empty(len(values) + 1, dtype=np.int32)
    places[order] = np.arange(len(values))
    places[-1] = -1
    codes = places[raw_codes]
    n_common = min(int((counts >= min_rows).sum()), MOST_CATEGORIES)
    bins = np.minimum(codes, n_common)
    bins[codes < 0] = n_common + 1
    return Column(name, pd.Index(values)[order], codes, bins.astype(np.int8), np.arange(n_common), ordered=False)


def infer_type(series: pd.Series[Any]) -> pd.Series[Any]:
    """The column with values of their real type: objects that are numbers, text that is dates."""
    if types.is_object_dtype(series.dtype):
        series = series.infer_objects()
        if types.is_object_dtype(series.dtype) and types.infer_dtype(series, skipna=True) in ("date", "decimal"):
            return _dates_or_floats(series)
    if types.is_object_dtype(series.dtype) or isinstance(series.dtype, pd.StringDtype):
        present = series.dropna()
        # Looking at one row first avoids matching the pattern against ordinary text.
        is_short_text = len(present) > 0 and isinstance(present.iloc[0], str) and len(present.iloc[0]) < 40
        if is_short_text and present.iloc[0][:4].isdigit() and present.astype(str).str.fullmatch(ISO_DATE).all():
            return _dates_or_floats(series)
    return series


def is_ordered(series: pd.Series[Any]) -> bool:
    """Whether ranges of the column are meaningful: numbers, dates, durations and ordered categories."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return bool(dtype.ordered)
    if isinstance(dtype, pd.PeriodDtype):
        return True
    if types.is_bool_dtype(dtype) or types.is_complex_dtype(dtype):
        return False
    return types.is_numeric_dtype(dtype) or types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype)


def _dates_or_floats(series: pd.Series[Any]) -> pd.Series[Any]:
    try:
        if types.infer_dtype(series, skipna=True) == "decimal":
            return series.astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return cast("pd.Series[Any]", pd.to_datetime(series, format="ISO8601"))
    except (ValueError, TypeError, Warning):  # not dates after all, or of several time zones
        return series


def _sorted_codes(series: pd.Series[Any]) -> tuple[Codes, pd.Index[Any]]:
    """The rank of each value among the sorted distinct ones, −1 for missing, and those."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.cat.remove_unused_categories()
        return series.cat.codes.to_numpy().astype(np.int32), series.cat.categories
    if series.dtype == np.float16:  # which pandas has no index for
        series = series.astype(np.float32)
    codes, distinct = pd.factorize(series, sort=True)
    return codes.astype(np.int32), pd.Index(distinct)


def _bin_tops(codes: Codes, n_values: int) -> NDArray[np.int64]:
    """The highest code of each of about `BINS` bins of equally many rows; one bin per value if there are few values."""
    if n_values <= BINS:
        return np.arange(n_values, dtype=np.int64)
    upto = np.cumsum(np.bincount(codes[codes >= 0], minlength=n_values))
    wanted = upto[-1] * np.arange(1, BINS) / BINS
    after = np.searchsorted(upto, wanted)
    nearer = np.where((after > 0) & (wanted - upto[after - 1] < upto[after] - wanted), after - 1, after)
    return np.unique(np.append(nearer, n_values - 1)).astype(np.int64)


# The inputs of a search: a table, and the columns of it to search.


def checked_table(table: Any) -> pd.DataFrame:
    """The table with text as column names; an error if it has no rows or two columns have the same name."""
    table = pandas_of(table, "table")
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"`table` is {type(table).__name__}; expected a DataFrame. Wrap it: pd.DataFrame(...).")
    frame = table.rename(columns=str)
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        rows, columns = frame.shape
        raise InputError(f"`table` has {rows} rows and {columns} columns; there is nothing to search.")
    unique_names(frame.columns, "`table`")
    return frame


def checked_columns(table: pd.DataFrame, columns: Iterable[str] | None, without: str | None) -> list[str]:
    """The columns to search, sorted: their order in the table makes no difference."""
    if columns is None:
        return sorted(name for name in table.columns if name != without)
    if isinstance(columns, str):
        raise InputError(f"`columns` is the text {columns!r}; expected a list of names: columns=[{columns!r}].")
    names = [str(name) for name in columns]
    for name in names:
        if name not in table:
            raise InputError(
                f"`table` has no column {name!r}.{nearest(name, table.columns)} It has {shown(table.columns)}."
            )
    if not names:
        raise InputError("`columns` is empty; pass at least one, or leave it out to search all.")
    if without in names:
        raise InputError(f"`columns` includes {without!r}, which marks the errors. Search the others.")
    return sorted(set(names))
