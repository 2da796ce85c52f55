"""Conditions on one column in the user's own units: which rows meet them, and how they read.

Missing is a value of its own: a row without a value meets `Missing` and no other condition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
LONGEST = 40
"""Letters of a value or a name in a condition."""
DAY = pd.Timedelta(days=1)
FINER = 3
"""Digits more than matter beside the width of a range, where fewer would read as 0."""


@dataclass(frozen=True)
class Range:
    """`low` ≤ value ≤ `high`, both values of the data; None: no end on this side. `text` may round them."""

    feature: str
    low: Any
    high: Any
    text: str

    def rows(self, column: pd.Series[Any]) -> Mask:
        """Which rows of a column meet it."""
        inside = column.notna().to_numpy(dtype=bool)
        if self.low is not None:
            inside = inside & (column >= self.low).to_numpy(dtype=bool, na_value=False)
        if self.high is not None:
            inside = inside & (column <= self.high).to_numpy(dtype=bool, na_value=False)
        return inside


@dataclass(frozen=True)
class AnyOf:
    """The value is one of `values`."""

    feature: str
    values: tuple[Any, ...]
    text: str

    def rows(self, column: pd.Series[Any]) -> Mask:
        """Which rows of a column meet it."""
        return column.isin(list(self.values)).to_numpy(dtype=bool)


@dataclass(frozen=True)
class NoneOf:
    """There is a value, and it is none of `values`."""

    feature: str
    values: tuple[Any, ...]
    text: str

    def rows(self, column: pd.Series[Any]) -> Mask:
        """Which rows of a column meet it."""
        return (column.notna() & ~column.isin(list(self.values))).to_numpy(dtype=bool)


@dataclass(frozen=True)
class Missing:
    """There is no value."""

    feature: str
    text: str

    def rows(self, column: pd.Series[Any]) -> Mask:
        """Which rows of a column meet it."""
        return column.isna().to_numpy(dtype=bool)


Condition = Range | AnyOf | NoneOf | Missing


def missing(feature: str) -> Missing:
    """«income is missing»."""
    return Missing(feature, f"{shown(feature)} is missing")


def any_of(feature: str, values: tuple[Any, ...]) -> AnyOf:
    """«job = student», «job in {student, retired}»."""
    names = ", ".join(map(shown, values))
    return AnyOf(feature, values, f"{shown(feature)} {f'= {names}' if len(values) == 1 else f'in {{{names}}}'}")


def none_of(feature: str, values: tuple[Any, ...]) -> NoneOf:
    """«job ≠ student»; of many values, «city is none of the 24 most common»; of none, «job is not missing»."""
    if not values:
        what = "is not missing"
    elif len(values) == 1:
        what = f"≠ {shown(values[0])}"
    else:
        what = f"is none of the {len(values)} most common"
    return NoneOf(feature, values, f"{shown(feature)} {what}")


def between(feature: str, values: pd.Index[Any], low: int, high: int) -> Range:
    """A range from the place of its lowest to that of its highest value among all sorted `values` of a column.

    An end at the first or last value is open. Numbers are shown with as few digits as tell the same rows, and with
    three that matter beside the width of the range where that would take many; `low` and `high` are exact.

    >>> ages = pd.Index([21, 29, 30, 37, 45, 46, 60])
    >>> between("age", ages, 2, 4).text, between("age", ages, 0, 3).text, between("age", ages, 5, 6).text
    ('age 30–45', 'age ≤ 40', 'age ≥ 46')
    """
    first, last = low == 0, high == len(values) - 1
    bottom, top = None if first else _plain(values[low]), None if last else _plain(values[high])
    name = shown(feature)
    if first and last:
        return Range(feature, None, None, f"{name} is not missing")
    if low == high:
        return Range(feature, _plain(values[low]), _plain(values[high]), f"{name} = {_exactly(values[low])}")
    from_text, to_text = _ends(values, low, high)
    if first:
        return Range(feature, bottom, top, f"{name} ≤ {to_text}")
    if last:
        return Range(feature, bottom, top, f"{name} ≥ {from_text}")
    # A dash between numbers that have one themselves, as -3–-1 or dates, is hard to read.
    dash = " to " if "-" in from_text + to_text else "–"
    return Range(feature, bottom, top, f"{name} {from_text}{dash}{to_text}")


def shown(value: Any) -> str:
    """A name or value of the user's on one line, cut where it is long."""
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in str(value)).split()) or "''"
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def _ends(values: pd.Index[Any], low: int, high: int) -> tuple[str, str]:
    if isinstance(values, pd.DatetimeIndex):
        long = values[high] - values[low] > 3 * DAY
        pattern = "%Y-%m-%d" if long else "%Y-%m-%d %H:%M"
        return values[low].strftime(pattern), values[high].strftime(pattern)
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return shown(values[low]), shown(values[high])
    numbers = values.to_numpy()
    # An open end is no measure of width: a far outlier would be. The middle of the column then is.
    left = numbers[low] if low > 0 else numbers[len(numbers) // 10]
    right = numbers[high] if high < len(numbers) - 1 else numbers[-1 - len(numbers) // 10]
    width = abs(float(right) - float(left))
    if not (math.isfinite(width) and width > 0):
        return _exactly(numbers[low]), _exactly(numbers[high])
    power = round(math.log10(width)) - 2
    if numbers.dtype.kind in "iu":
        power = max(power, 0)
    before = numbers[low - 1].item() if low > 0 else -math.inf
    after = numbers[high + 1].item() if high < len(numbers) - 1 else math.inf
    # The negative of the high end is a low end: one rule for both.
    below, fine_below = _round(numbers[low].item(), before, power)
    above, fine_above = _round(-numbers[high].item(), -after, power)
    return _digits(below, fine_below), _digits(-above, fine_above)


def _round(value: float, before: float, power: int) -> tuple[float, int]:
    """The roundest number above `before` and up to `value`, and the power of ten that it takes.

    If that takes too many digits, `value` rounded; but not to 0, which many rows may have, if a few digits more tell
    them apart.
    """
    if not math.isfinite(value):
        return value, power
    vanishes = bool(value) and not round(value, -power)
    for finest in range(power + 2, power - (FINER if vanishes else 0) - 1, -1):
        # Whole numbers stay whole numbers: beyond 2^53 a float would lose them.
        step = 10**finest if finest >= 0 else 10.0**finest
        rounded = value // step * step if isinstance(value, int) else math.floor(value / step + 1e-9) * step
        if before < rounded <= value:
            return rounded, min(finest, power)
    return round(value, -power), power


def _digits(value: float, power: int) -> str:
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    if value and not 1e-5 <= abs(value) < 1e15:
        return f"{value:.{max(math.floor(math.log10(abs(value))) - power + 1, 3)}g}"
    text = f"{value + 0.0:.{max(-power, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _exactly(value: Any) -> str:
    if isinstance(value, pd.Timestamp):
        return str(value.date()) if value == value.normalize() else value.strftime("%Y-%m-%d %H:%M:%S")
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else shown(value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
