"""A column as the search for slices sees it: values by their place in order, gathered in a few bins.

Only the order of values counts, so any increasing transform of a column gives the same slices.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from ..expect import InputError
from .conditions import Condition, any_of, between, missing, none_of

Codes = NDArray[np.int32]
BINS = 12
MOST_CATEGORIES = 24
ISO_DATE = r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?"


@dataclass(frozen=True)
class Column:
    """Where each row's value stands (`codes`, −1 if missing) among `values`, and the bin it is in (`bins`).

    Of an ordered column, `values` are sorted and bin b holds the codes up to `tops[b]`. Of an unordered one, they
    come by how many rows have them, and each of the first has a bin of its own; one more bin holds all that are rare.
    The last bin is for missing values.
    """

    name: str
    values: pd.Index[Any]
    codes: Codes
    bins: NDArray[np.int8]
    tops: NDArray[np.int64]
    ordered: bool

    @property
    def n_bins(self) -> int:
        """Bins, that for missing values and, if unordered, that for rare ones included."""
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
        kept = len(self.tops)
        common = tuple(self.values[:kept])
        if bins == (kept + 1,):
            return missing(self.name)
        others = tuple(value for place, value in enumerate(common) if place not in bins)
        # Where no value is rare, all but one is shorter told by that one.
        if kept in bins or (len(self.values) == kept > 2 and len(others) <= 1):
            return none_of(self.name, others)
        return any_of(self.name, tuple(sorted((common[place] for place in bins), key=str)))


def column(series: pd.Series[Any], least: int) -> Column:
    """See a column of a table. A category needs `least` rows to have its own bin."""
    settled = settle(series)
    name = str(series.name)
    if is_ordered(settled):
        codes, values = _ranked(settled)
        tops = _tops(codes, len(values))
        # One more at the end, where code −1 finds the bin of missing values.
        bin_of_code = np.append(np.searchsorted(tops, np.arange(len(values))), len(tops)).astype(np.int8)
        return Column(name, values, codes, bin_of_code[codes], tops, ordered=True)
    try:
        found, values = pd.factorize(settled)
    except TypeError as error:
        kind = type(settled.dropna().iloc[0]).__name__
        raise InputError(
            f"Column {name!r} holds {kind} values; one number or text a row is expected. Spread it over several "
            "columns or leave it out."
        ) from error
    counts = np.bincount(found[found >= 0], minlength=len(values))
    # By frequency, then by name: the order of rows and columns makes no difference.
    order = sorted(range(len(values)), key=lambda place: (-counts[place], str(values[place])))
    places = np.empty(len(values) + 1, dtype=np.int32)
    places[order] = np.arange(len(values))
    places[-1] = -1
    codes = places[found]
    kept = min(int((counts >= least).sum()), MOST_CATEGORIES)
    bins = np.minimum(codes, kept)
    bins[codes < 0] = kept + 1
    return Column(name, pd.Index(values)[order], codes, bins.astype(np.int8), np.arange(kept), ordered=False)


def settle(series: pd.Series[Any]) -> pd.Series[Any]:
    """The column with values of one kind where they are hidden: objects that are numbers, texts that are dates."""
    if types.is_object_dtype(series.dtype):
        series = series.infer_objects()
        if types.is_object_dtype(series.dtype) and types.infer_dtype(series, skipna=True) in ("date", "decimal"):
            return _converted(series)
    if types.is_object_dtype(series.dtype) or isinstance(series.dtype, pd.StringDtype):
        filled = series.dropna()
        # Looking at one row first spares ordinary texts the pattern.
        looks = len(filled) > 0 and isinstance(filled.iloc[0], str) and len(filled.iloc[0]) < 40
        if looks and filled.iloc[0][:4].isdigit() and filled.astype(str).str.fullmatch(ISO_DATE).all():
            return _converted(series)
    return series


def is_ordered(series: pd.Series[Any]) -> bool:
    """Whether ranges of the column mean something: numbers, dates, durations and ordered categories."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return bool(dtype.ordered)
    if isinstance(dtype, pd.PeriodDtype):
        return True
    if types.is_bool_dtype(dtype) or types.is_complex_dtype(dtype):
        return False
    return types.is_numeric_dtype(dtype) or types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype)


def _converted(series: pd.Series[Any]) -> pd.Series[Any]:
    try:
        if types.infer_dtype(series, skipna=True) == "decimal":
            return series.astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return cast("pd.Series[Any]", pd.to_datetime(series, format="ISO8601"))
    except (ValueError, TypeError, Warning):  # no dates after all, or of several time zones
        return series


def _ranked(series: pd.Series[Any]) -> tuple[Codes, pd.Index[Any]]:
    """The place of each value among the sorted different ones, −1 for missing, and those."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iuf":
        numbers = series.to_numpy()
        if numbers.dtype == np.float16:  # which pandas has no index for
            numbers = numbers.astype(np.float32)
        gone = np.isnan(numbers) if numbers.dtype.kind == "f" else None
        if gone is None or not gone.any():
            values, codes = np.unique(numbers, return_inverse=True)
            return codes.astype(np.int32), pd.Index(values)
        values, present = np.unique(numbers[~gone], return_inverse=True)
        codes = np.full(len(numbers), -1)
        codes[~gone] = present
        return codes.astype(np.int32), pd.Index(values)
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.cat.remove_unused_categories()
        return series.cat.codes.to_numpy().astype(np.int32), series.cat.categories
    codes, found = pd.factorize(series, sort=True)
    return codes.astype(np.int32), pd.Index(found)


def _tops(codes: Codes, n_values: int) -> NDArray[np.int64]:
    """The highest code of each of about `BINS` bins of as many rows each; one bin a value if values are few."""
    if n_values <= BINS:
        return np.arange(n_values, dtype=np.int64)
    upto = np.cumsum(np.bincount(codes[codes >= 0], minlength=n_values))
    wanted = upto[-1] * np.arange(1, BINS) / BINS
    after = np.searchsorted(upto, wanted)
    nearer = np.where((after > 0) & (wanted - upto[after - 1] < upto[after] - wanted), after - 1, after)
    return np.unique(np.append(nearer, n_values - 1)).astype(np.int64)
