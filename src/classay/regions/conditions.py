"""Conditions on one column in the user's own units: which rows meet them, and their text.

Missing counts as a value: a row without a value meets `Missing` and no other condition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..arrays import Mask

LONGEST_TEXT = 40
"""Maximum length of a value or a name in a condition."""
DAY = pd.Timedelta(days=1)
EXTRA_DIGITS = 3
"""Extra digits beyond those that matter relative to the width of a range, if fewer would read as 0."""


@dataclass(frozen=True)
class Range:
    """`low` ≤ value ≤ `high`, both values of the data; None: no limit on this side. `text` may round them."""

    feature: str
    low: Any
    high: Any
    text: str

    @property
    def opposite(self) -> str:
        """The text of all other values; empty if they are on both sides."""
        name, _, rest = self.text.rpartition(" ≥ " if self.high is None else " ≤ ")
        if (self.low is None) == (self.high is None) or not name:
            return ""
        return f"{name} {'<' if self.high is None else '>'} {rest}"

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

    @property
    def opposite(self) -> str:
        """The text of all other values."""
        return none_of(self.feature, self.values).text if len(self.values) == 1 else ""

    def rows(self, column: pd.Series[Any]) -> Mask:
        """Which rows of a column meet it."""
        return column.isin(list(self.values)).to_numpy(dtype=bool)


@dataclass(frozen=True)
class NoneOf(AnyOf):
    """There is a value, and it is none of `values`."""

    @property
    def opposite(self) -> str:
        return any_of(self.feature, self.values).text if len(self.values) == 1 else ""

    def rows(self, column: pd.Series[Any]) -> Mask:
        return (column.notna() & ~column.isin(list(self.values))).to_numpy(dtype=bool)


@dataclass(frozen=True)
class Missing:
    """There is no value."""

    feature: str
    text: str
    opposite = ""

    def rows(self, column: pd.Series[Any]) -> Mask:
        """Which rows of a column meet it."""
        return column.isna().to_numpy(dtype=bool)


Condition = Range | AnyOf | Missing


def missing(feature: str) -> Missing:
    """`income is missing`."""
    return Missing(feature, f"{short_text(feature)} is missing")


def any_of(feature: str, values: tuple[Any, ...]) -> AnyOf:
    """`job = student`, `job in {student, retired}`."""
    names = ", ".join(map(short_text, values))
    return AnyOf(feature, values, f"{short_text(feature)} {f'= {names}' if len(values) == 1 else f'in {{{names}}}'}")


def none_of(feature: str, values: tuple[Any, ...]) -> NoneOf:
    """`job ≠ student`; for many values, `city is none of the 24 most common`; for none, `job is not missing`."""
    what = f"is none of the {len(values)} most common" if values else "is not missing"
    what = f"≠ {short_text(values[0])}" if len(values) == 1 else what
    return NoneOf(feature, values, f"{short_text(feature)} {what}")


def between(feature: str, values: pd.Index[Any], low: int, high: int) -> Range:
    """A range from the position of its lowest to that of its highest value among all sorted `values` of a column.

    An end at the first or last value is open. Numbers are shown with as few digits as select the same rows, and with
    three significant digits relative to the width of the range if that would take many; `low` and `high` are exact.

    >>> ages = pd.Index([21, 29, 30, 37, 45, 46, 60])
    >>> between("age", ages, 2, 4).text, between("age", ages, 0, 3).text, between("age", ages, 5, 6).text
    ('age 30–45', 'age ≤ 40', 'age ≥ 46')
    """
    first, last = low == 0, high == len(values) - 1
    bottom, top = None if first else _python_value(values[low]), None if last else _python_value(values[high])
    from_text, to_text = _end_texts(values, low, high)
    if first and last:
        text = "is not missing"
    elif low == high:
        bottom = top = _python_value(values[low])
        text = f"= {_exact_text(values[low])}"
    elif first or last:
        text = f"≤ {to_text}" if first else f"≥ {from_text}"
    else:
        # A dash between numbers that contain one themselves, as -3–-1 or dates, is hard to read.
        text = f"{from_text}{' to ' if '-' in from_text + to_text else '–'}{to_text}"
    return Range(feature, bottom, top, f"{short_text(feature)} {text}")


def short_text(value: Any) -> str:
    """A user's name or value on one line, shortened if it is long."""
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in str(value)).split()) or "''"
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1].rstrip() + "…"


def _end_texts(values: pd.Index[Any], low: int, high: int) -> tuple[str, str]:
    if isinstance(values, pd.DatetimeIndex):
        in_days = values[high] - values[low] > 3 * DAY
        pattern = "%Y-%m-%d" if in_days else "%Y-%m-%d %H:%M"
        return values[low].strftime(pattern), values[high].strftime(pattern)
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return short_text(values[low]), short_text(values[high])
    numbers = values.to_numpy()
    # An open end does not define a width: a far outlier would dominate. Use the middle of the column then.
    left = numbers[low] if low > 0 else numbers[len(numbers) // 10]
    right = numbers[high] if high < len(numbers) - 1 else numbers[-1 - len(numbers) // 10]
    width = abs(float(right) - float(left))
    if not (math.isfinite(width) and width > 0):
        return _exact_text(numbers[low]), _exact_text(numbers[high])
    power = round(math.log10(width)) - 2
    if numbers.dtype.kind in "iu":
        power = max(power, 0)
    before = numbers[low - 1].item() if low > 0 else -math.inf
    after = numbers[high + 1].item() if high < len(numbers) - 1 else math.inf
    # The negative of the high end is a low end: one rule for both.
    below, fine_below = _roundest(numbers[low].item(), before, power)
    above, fine_above = _roundest(-numbers[high].item(), -after, power)
    return _number_text(below, fine_below), _number_text(-above, fine_above)


def _roundest(value: float, before: float, power: int) -> tuple[float, int]:
    """The roundest number above `before` and up to `value`, and the power of ten that it takes.

    If that takes too many digits, `value` rounded; but not to 0, which many rows may have, if a few more digits
    distinguish them.
    """
    if not math.isfinite(value):
        return value, power
    vanishes = bool(value) and not round(value, -power)
    for finest in range(power + 2, power - (EXTRA_DIGITS if vanishes else 0) - 1, -1):
        # Whole numbers stay whole numbers: beyond 2^53 a float would lose precision.
        step = 10**finest if finest >= 0 else 10.0**finest
        rounded = value // step * step if isinstance(value, int) else math.floor(value / step + 1e-9) * step
        if before < rounded <= value:
            return rounded, min(finest, power)
    return round(value, -power), power


def _number_text(value: float, power: int) -> str:
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    if value and not 1e-5 <= abs(value) < 1e15:
        return f"{value:.{max(math.floor(math.log10(abs(value))) - power + 1, 3)}g}"
    text = f"{value + 0.0:.{max(-power, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _exact_text(value: Any) -> str:
    if isinstance(value, pd.Timestamp):
        return str(value.date()) if value == value.normalize() else value.strftime("%Y-%m-%d %H:%M:%S")
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else short_text(value)


def _python_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
