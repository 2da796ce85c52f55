"""Checks of user input with uniform messages: what was given, what is expected, what to do."""

from __future__ import annotations

import difflib
import importlib.util
import os
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class InputError(ValueError):
    """A user's mistake. The message says what was given, what is expected and what to do."""


def whole(value: Any, name: str, *, at_least: int, why: str = "") -> int:
    """Return `value` as an int if it is a whole number of at least `at_least`, and not beyond the limit of its name."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not is_whole or value < at_least:
        raise _wrong(value, name, f"a whole number of at least {at_least}", why)
    if name in OF_PARAMETERS:
        within(int(value), OF_PARAMETERS[name], f"`{name}`")
    return int(value)


def within(number: int, limit: str, what: str) -> int:
    """Return the number if it does not exceed the limit of this name; `what` begins the message: "`splits`"."""
    try:
        most = limit_of(limit)
    except ValueError as error:
        raise InputError(str(error)) from None
    if number > most:
        shown_number = f"{number:,}" if number < 10**30 else f"a number of {len(str(number))} digits"
        raise InputError(f"{what} is {shown_number}; the limit is {most:,}. {advice(limit)}")
    return number


def number(
    value: Any,
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
    why: str = "",
) -> float:
    """Return `value` as a float if it is a finite number within the bounds that are given.

    >>> number(2, "tolerance", above=0)
    2.0
    """
    low = above if above is not None else at_least
    high = below if below is not None else at_most
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    beyond = not is_number or not np.isfinite(value)
    beyond = beyond or (low is not None and (value < low or value == above))
    if beyond or (high is not None and (value > high or value == below)):
        raise _wrong(value, name, _range_in_words(above, at_least, below, at_most), why)
    return float(value)


def _range_in_words(above: float | None, at_least: float | None, below: float | None, at_most: float | None) -> str:
    if above is not None and below is not None:
        return f"a number between {above:g} and {below:g}"
    if at_least is not None and at_most is not None:
        return f"a number from {at_least:g} to {at_most:g}"
    bounds = {"above": above, "of at least": at_least, "below": below, "of at most": at_most}
    words = " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)
    return f"a number {words}" if words else "a finite number"


def fraction(value: Any, name: str, *, why: str = "") -> float:
    """Return `value` as a float if it lies strictly between 0 and 1."""
    return number(value, name, above=0, below=1, why=why)


def flag(value: Any, name: str, *, why: str = "") -> bool:
    """Return `value` as a bool if it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise _wrong(value, name, "True or False", why)
    return bool(value)


def _wrong(value: Any, name: str, expected: str, why: str) -> InputError:
    return InputError(f"`{name}` is {short(value, 200)}; expected {expected}." + (f" {why}" if why else ""))


def short(value: Any, most: int = 60) -> str:
    """A value as a message shows it, cut if it is long."""
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"


def one_of(value: T, name: str, allowed: Iterable[T]) -> T:
    """Return `value` if it is among `allowed`; otherwise suggest the nearest."""
    options = list(allowed)
    if value not in options:
        close = nearest(str(value), [str(option) for option in options])
        raise _wrong(value, name, f"one of {', '.join(map(repr, options))}", close.strip())
    return value


def unique_names(names: Iterable[Any], what: str = "`X`", hint: str = "") -> None:
    """Refuse columns of `what` that have the same name."""
    twins = [name for name, count in Counter(names).items() if count > 1]
    if twins:
        raise InputError(f"{what} has columns with the same name ({shown(twins)}). Give each its own name.{hint}")


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


EXTRAS = {"torch": "network", "safetensors": "network", "onnx": "onnx", "mlflow": "mlflow"}
"""Library -> the extra of classay that installs it."""


def need(library: str, purpose: str) -> None:
    """Refuse if a library is not installed, and say which extra to install."""
    if importlib.util.find_spec(library) is None:
        raise InputError(
            f'{purpose} needs {library}, which is not installed: pip install "classay[{EXTRAS[library]}]".'
        )


# Limits of what is read and computed, so that a typo or a hostile file is refused and nothing hangs
#
# Each has a name, and an environment variable raises it: CLASSAY_LIMITS="subsets=1000000,holdouts=5000000".


VARIABLE = "CLASSAY_LIMITS"
LIMITS = {
    # Numbers that are asked for
    "subsets": 100_000,
    "repeats": 10_000,
    "holdouts": 1_000_000,
    "probes": 10_000_000,
    "attributes": 10_000,
    "draws": 1_000_000,
    "fits": 10_000_000,
    "training_rows": 100_000_000,
    "workers": 10_000,
    "walks": 100_000,
    "score_bytes": 2**30,
    # Files
    "file_bytes": 2**36,
    "rows": 100_000_000,
    "columns": 100_000,
    "cell_characters": 1_000_000,
    "label_characters": 1_000,
    "array_bytes": 2**36,
    "graph_nodes": 1_000_000,
}
"""Name -> the largest value that is accepted."""
OF_MEMORY = {"array_bytes"}
"""Limits that are never above the memory of this machine, unless the environment raises them."""
OF_PARAMETERS = {
    "Subsets(n)": "subsets",
    "HalfSplits(m)": "subsets",
    "Retrain(n)": "subsets",
    "splits": "subsets",
    "repeats": "repeats",
    "holdouts": "holdouts",
    "n_probes": "probes",
    "attributes": "attributes",
    "draws": "draws",
    "budget": "fits",
    "n_samples": "training_rows",
    "executor": "workers",
    "starts": "walks",
    "origins": "walks",
    "max_steps": "fits",
}
"""Parameter, as messages name it -> the limit that holds for it."""


def limit_of(name: str) -> int:
    """The limit of this name, as raised or lowered by the environment.

    >>> limit_of("subsets")
    100000
    """
    usual = min(LIMITS[name], _memory()) if name in OF_MEMORY else LIMITS[name]
    return _raised(os.environ.get(VARIABLE, "")).get(name, usual)


def advice(name: str) -> str:
    """How to raise a limit.

    >>> advice("rows")
    'If you need more, set the environment variable CLASSAY_LIMITS=rows=NUMBER.'
    """
    return f"If you need more, set the environment variable {VARIABLE}={name}=NUMBER."


@cache
def _memory() -> int:
    """Bytes of memory of this machine; where that is unknown, more than any."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**63


@cache
def _raised(text: str) -> dict[str, int]:
    """The limits in the variable. What is not a known name and a whole number is an error: it would limit nothing."""
    raised = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = part.partition("=")
        if name.strip() not in LIMITS or not number.strip().isdecimal() or len(number) > 18:
            raise ValueError(
                f"{VARIABLE} has {part[:80]!r}; expected NAME=NUMBER, separated by commas, with names from "
                f"{', '.join(LIMITS)}."
            )
        raised[name.strip()] = int(number)
    return raised
