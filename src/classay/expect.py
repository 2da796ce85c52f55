"""Checks of user input with uniform messages: what was given, what is expected, what to do."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from . import limits

T = TypeVar("T")


class InputError(ValueError):
    """A user's mistake. The message says what was given, what is expected and what to do."""


def whole(value: Any, name: str, *, at_least: int, why: str = "") -> int:
    """Return `value` as an int if it is a whole number of at least `at_least`, and not beyond the limit of its name."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not is_whole or value < at_least:
        raise InputError(
            f"`{name}` is {value!r}; expected a whole number of at least {at_least}." + (f" {why}" if why else "")
        )
    if name in limits.OF_PARAMETERS:
        within(int(value), limits.OF_PARAMETERS[name], f"`{name}`")
    return int(value)


def within(number: int, limit: str, what: str) -> int:
    """Return the number if it does not exceed the limit of this name; `what` begins the message: "`splits`"."""
    try:
        most = limits.limit_of(limit)
    except ValueError as error:
        raise InputError(str(error)) from None
    if number > most:
        shown_number = f"{number:,}" if number < 10**30 else f"a number of {len(str(number))} digits"
        raise InputError(f"{what} is {shown_number}; the limit is {most:,}. {limits.advice(limit)}")
    return number


def fraction(value: Any, name: str, *, why: str = "") -> float:
    """Return `value` as a float if it lies strictly between 0 and 1."""
    is_number = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
    if not is_number or not 0 < value < 1:
        raise InputError(f"`{name}` is {value!r}; expected a number between 0 and 1." + (f" {why}" if why else ""))
    return float(value)


def one_of(value: T, name: str, allowed: Iterable[T]) -> T:
    """Return `value` if it is among `allowed`; otherwise suggest the nearest."""
    options = list(allowed)
    if value not in options:
        raise InputError(
            f"`{name}` is {value!r}; expected one of {', '.join(map(repr, options))}."
            + nearest(str(value), [str(option) for option in options])
        )
    return value


def nearest(given: str, known: Iterable[str]) -> str:
    """Say which known names are close to the given one, as a sentence with a leading space, or nothing."""
    names = list(known)
    by_lower = {name.lower(): name for name in names}
    close = [by_lower[match] for match in difflib.get_close_matches(given.lower(), by_lower, n=3, cutoff=0.5)]
    return f" Did you mean {' or '.join(close)}?" if close else ""


def shown(values: Iterable[Any], most: int = 8) -> str:
    """List values for a message, cut after `most`."""
    items = [str(value) for value in values]
    cut = ", ".join(items[:most])
    return cut if len(items) <= most else f"{cut}, … ({len(items)} in all)"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, in the plural if needed.

    >>> counted(1, "learner"), counted(4, "learner"), counted(3, "class", "classes")
    ('1 learner', '4 learners', '3 classes')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


# Optional libraries, and how to install them.


EXTRAS = {"torch": "network", "safetensors": "network", "onnx": "onnx"}
"""Library -> the extra of classay that installs it."""


def need(library: str, purpose: str) -> None:
    """Refuse if a library is not installed, and say which extra to install."""
    if importlib.util.find_spec(library) is None:
        raise InputError(
            f'{purpose} needs {library}, which is not installed: pip install "classay[{EXTRAS[library]}]".'
        )
