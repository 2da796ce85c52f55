"""`compared`: the rows of a table in which one value stands to another as asked, and those that can tell.

Sides are columns or fixed values. They are compared if they are of one kind; what would be false in every row because
a number stands beside a text is refused instead.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from .expect import InputError

Mask = NDArray[np.bool_]
TEXT, NUMBER, DATE, DURATION, MIXED = "text", "number", "date", "duration", "mixed"
INFERRED = {
    "string": TEXT,
    "boolean": NUMBER,
    "integer": NUMBER,
    "floating": NUMBER,
    "mixed-integer-float": NUMBER,
    "decimal": NUMBER,
}
WRITTEN = {DATE: "'2024-01-31'", DURATION: "'2 days' or '01:30:00'"}


def compared(text: str, compare: Callable[[Any, Any], Any], left: Any, right: Any) -> tuple[Mask, Mask]:
    """Which rows meet `left compare right`, and which can tell; at least one side is a column. `text` is for errors.

    >>> meets, known = compared("size > 1", operator.gt, pd.Series([1.0, 2.0, None]), 1)
    >>> meets.tolist(), known.tolist()
    ([False, True, False], [True, True, False])
    """
    series = [side for side in (left, right) if isinstance(side, pd.Series)]
    known = np.logical_and.reduce([side.notna().to_numpy(dtype=bool) for side in series])
    left, right = _alike(text, left, right)
    if compare not in (operator.eq, operator.ne) and TEXT in (_kind(left), _kind(right)):
        raise InputError(f"{text!r} asks for the order of texts; == or != is expected, or numbers or dates.")
    one, two = (side.to_numpy()[known] if isinstance(side, pd.Series) else side for side in (left, right))
    meets = np.zeros(len(known), dtype=bool)
    try:
        meets[known] = np.asarray(compare(one, two), dtype=bool)
    except (TypeError, OverflowError) as error:
        raise InputError(f"{text!r} compares values that cannot be compared ({error}).") from error
    return meets, known


def settled(column: pd.Series[Any]) -> pd.Series[Any]:
    """The column with its values as they are: categories as what they stand for, days as dates, all in one time."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        # Whole numbers and truth values have no room for a missing one.
        gaps = bool(column.isna().any())
        column = column.astype(object).infer_objects() if gaps else column.astype(column.cat.categories.dtype)
    if types.is_object_dtype(column.dtype) and types.infer_dtype(column, skipna=True) == "date":
        return pd.to_datetime(column)
    return column


def _alike(text: str, left: Any, right: Any) -> tuple[Any, Any]:
    """Both sides, if they are of one kind; a text beside dates or durations is read as one."""
    kinds = _kind(left), _kind(right)
    for kind, read in ((DATE, _dates), (DURATION, _durations)):
        if kind in kinds and TEXT in kinds:
            try:
                left, right = (read(side) if _kind(side) == TEXT else side for side in (left, right))
            except (ValueError, TypeError) as error:
                raise InputError(
                    f"{text!r} compares {kind}s with a text that is none. Write {WRITTEN[kind]}."
                ) from error
            kinds = kind, kind
    if kinds[0] != kinds[1] and MIXED not in kinds:
        hint = f" Write {WRITTEN[DURATION]}." if DURATION in kinds else ""
        raise InputError(
            f"{text!r} compares {kinds[0]} with {kinds[1]}, which are never equal. Texts stand in quotes ('1'), "
            f"numbers and True or False do not.{hint}"
        )
    return _one_time(left, right) if kinds[0] == DATE else (left, right)


def _kind(side: Any) -> str:
    """What a side of a comparison is: text, number (truth values too, as 0 and 1), date, duration or mixed."""
    if isinstance(side, str):
        return TEXT
    if isinstance(side, (pd.Timestamp, pd.Timedelta)):
        return DATE if isinstance(side, pd.Timestamp) else DURATION
    if not isinstance(side, pd.Series):
        return NUMBER
    if types.is_datetime64_any_dtype(side.dtype):
        return DATE
    if types.is_timedelta64_dtype(side.dtype):
        return DURATION
    if types.is_numeric_dtype(side.dtype) or types.is_bool_dtype(side.dtype):
        return NUMBER
    return INFERRED.get(types.infer_dtype(side, skipna=True), MIXED)


def _dates(side: Any) -> Any:
    return pd.to_datetime(side, format="ISO8601") if isinstance(side, pd.Series) else pd.Timestamp(side)


def _durations(side: Any) -> Any:
    return pd.to_timedelta(side)


def _one_time(left: Any, right: Any) -> tuple[Any, Any]:
    """Dates as times without a zone, which numpy compares: if one side has a zone, both in UTC."""
    zones = [_times(side).tz for side in (left, right)]
    if zones != [None, None]:
        # What has no zone is read in that of the other side.
        left, right = _in_utc(left, zones[0], zones[1]), _in_utc(right, zones[1], zones[0])
    left, right = (side if isinstance(side, pd.Series) else side.to_datetime64() for side in (left, right))
    return left, right


def _in_utc(side: Any, own: Any, other: Any) -> Any:
    if own is None:
        # An hour that the clock goes through twice cannot be told; one that it leaves out begins after it.
        side = _times(side).tz_localize(other, ambiguous="NaT", nonexistent="shift_forward")
    return _times(_times(side).tz_convert("UTC")).tz_localize(None)


def _times(side: Any) -> Any:
    return side.dt if isinstance(side, pd.Series) else side
