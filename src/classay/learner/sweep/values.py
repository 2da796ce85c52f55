"""Values of a parameter as text, as on a command line: `1:200:5`, `0.1,1,10`, `1e-3:1e3:log7`. Parsed, never run."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from typing import Any

from ...expect import InputError

MOST, LONGEST = 10_000, 300
FORMS = "start:stop:step (1:200:5), start:stop:logN (1e-3:1e3:log7) or a list (0.1,1,10)"
WORDS = {"none": None, "true": True, "false": False}
WHOLE = re.compile(r"[+-]?\d+$")


def values_from_text(text: str) -> list[Any]:
    """The values that a text describes. A range includes its end if a step reaches it.

    >>> values_from_text("1:20:5"), values_from_text("0.1:0.3:0.1"), values_from_text("1:1000:log4")
    ([1, 6, 11, 16], [0.1, 0.2, 0.3], [1, 10, 100, 1000])
    >>> values_from_text("5,10,None"), values_from_text("linear,rbf")
    ([5, 10, None], ['linear', 'rbf'])
    """
    if not text.strip(" ,"):
        raise InputError(f"--values is empty; expected {FORMS}.")
    if ":" not in text:
        parts = [part.strip() for part in text.split(",")]
        if not all(parts):
            raise InputError(f"--values {text!r} has nothing between two commas; expected {FORMS}.")
        return [_value(part) for part in parts]
    parts = [part.strip() for part in text.split(":")]
    if len(parts) not in (2, 3):
        raise InputError(f"--values {text!r} has {len(parts)} parts; expected {FORMS}.")
    start, stop = (_number(part, text) for part in parts[:2])
    whole = all(WHOLE.match(part) for part in parts[:2])
    step = parts[2] if len(parts) == 3 else "1"
    if step.lower().startswith("log"):
        return _powers(start, stop, step[3:], whole, text)
    stride = _number(step, text)
    if stride == 0 or (stop - start) * stride < 0:
        raise InputError(f"--values {text!r} goes from {start} to {stop} in steps of {stride}, which gives no value.")
    # Decimal, so that three steps of 0.1 are 0.3.
    steps = (stop - start) / stride
    if steps >= MOST:
        raise InputError(f"--values {text!r} is {steps:,.0f} values or more; the limit is {MOST:,}.")
    values = [start + number * stride for number in range(int(steps) + 1)]
    return [int(value) for value in values] if whole and WHOLE.match(step) else [float(value) for value in values]


def _powers(start: Decimal, stop: Decimal, count: str, whole: bool, text: str) -> list[Any]:
    if not count.isdigit() or not 2 <= int(count) <= MOST:
        raise InputError(f"--values {text!r}: `log` needs a number of values after it, from 2 to {MOST:,}; {FORMS}.")
    if start <= 0 or stop <= 0:
        raise InputError(f"--values {text!r}: values at equal ratios need ends above 0, got {start} and {stop}.")
    ends, last = (math.log10(float(start)), math.log10(float(stop))), int(count) - 1
    # Rounded to 12 digits, so that powers of ten are exact.
    powers = [float(f"{10 ** (ends[0] + (ends[1] - ends[0]) * number / last):.12g}") for number in range(last + 1)]
    return list(dict.fromkeys(round(value) for value in powers)) if whole else powers


def _number(part: str, text: str) -> Decimal:
    try:
        number = Decimal(part)
    except InvalidOperation:
        raise InputError(f"--values {text!r}: {part!r} is not a number; expected {FORMS}.") from None
    # Beyond this it is not a float; and an exponent of a million would take forever.
    if not number.is_finite() or not -300 < number.adjusted() < 300:
        raise InputError(f"--values {text!r}: {part!r} is out of range; expected {FORMS}.")
    return number


def _value(part: str) -> Any:
    """A whole number, a number, None, True, False, or a word."""
    if len(part) > LONGEST:
        raise InputError(f"--values has a value of {len(part)} characters; the limit is {LONGEST}.")
    if part.lower() in WORDS:
        return WORDS[part.lower()]
    if WHOLE.match(part):
        return int(part)
    try:
        number = float(part)
    except ValueError:
        return part.strip("'\"")
    if not math.isfinite(number):
        raise InputError(f"--values has {part!r}; expected finite numbers.")
    return number
