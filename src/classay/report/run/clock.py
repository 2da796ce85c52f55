"""The clock of a report: one deadline, which is an automatic Ctrl-C, and how long each stage took."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from ...engine import work
from ...engine.progress import duration
from ...expect import InputError
from ...printable import printable


class Clock:
    """The deadline, in seconds from now (None: none), and the seconds of each stage, printed if wanted."""

    def __init__(self, seconds: float | None, progress: bool = False) -> None:
        self.seconds, self.progress = seconds, progress
        self.begin = time.monotonic()
        self.end = math.inf if seconds is None else self.begin + seconds
        self.stages: dict[str, float] = {}

    @property
    def over(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.end

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.begin

    def limit(self) -> AbstractContextManager[None]:
        """Fits inside end at the deadline; those that are done are kept."""
        return work.deadline(self.end)

    @contextmanager
    def stage(self, name: str, remark: str = "") -> Iterator[None]:
        """One stage. Its time is recorded, also if it ends early."""
        self.say(f"{name}{': ' if remark else ''}{remark}")
        begin = time.monotonic()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + time.monotonic() - begin

    def say(self, text: str) -> None:
        """Print a line on stderr, if wanted."""
        if self.progress:
            print(printable(text), file=sys.stderr, flush=True)


def seconds_of(text: str | float) -> float | None:
    """A time as people write it (90, "90s", "2m", "2 min", "1h"), in seconds; None for "none".

    >>> seconds_of("2m"), seconds_of("1.5h"), seconds_of(30), seconds_of("none")
    (120.0, 5400.0, 30.0, None)
    """
    units = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}
    words = str(text).strip().lower()
    if words == "none":
        return None
    number = words.rstrip("abcdefghijklmnopqrstuvwxyz ")
    try:
        seconds = float(number) * units[words[len(number) :].strip()]
    except (ValueError, KeyError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(f"The budget is {text!r}; expected a positive time, such as 90s, 2m or 1h, or none.")
    return seconds


def time_text(seconds: float) -> str:
    """A time as text, with one decimal if it is short."""
    return f"{seconds:.1f} s" if seconds < 10 else duration(seconds)
