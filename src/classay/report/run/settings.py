"""How much is fitted, where, and until when; afterwards what was done, in words and as settings, to repeat it."""

from __future__ import annotations

import math
import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...engine import work
from ...engine.machine import machine, versions
from ...engine.progress import duration
from ...expect import InputError, counted
from ...learner.fitting.checks import Setup
from ...printable import printable

FOLDS = 5
"""Folds of cross-validated predictions."""
SPLITS = (5, 10, 20, 50)
"""Rounds: the number of splits after each one."""
WITHOUT_DEADLINE = 20
"""Splits where there is no deadline, as in `classay check`."""
ROWS = 50_000
"""Most rows of a fit, and most rows with figures of their own."""
TEST_POINTS = 20_000
"""Most test points, and most rows with cross-validated predictions: a share of them is known to within 0.7 points."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """What is asked of a report: how much is fitted, where, and what is measured.

    `rows` is the limit of rows (None: none), `seconds` the deadline (None: none). Learners are compared by the first of
    the `metrics`; those of `contrast` are only a contrast. `command` is the one that made the report, for display.
    """

    seed: int
    seconds: float | None = 120.0
    splits: int | None = None
    repeats: int = 2
    rows: int | None = ROWS
    n_probes: int = 2000
    retrains: int = 10
    test_size: float = 0.3
    executor: Executor | int | None = None
    store: str | Path | None = None
    progress: bool = False
    time_limit: float | None = None
    metrics: tuple[str, ...] = ()
    more_classes: bool | None = None
    contrast: frozenset[str] = frozenset()
    command: str | None = None

    def ladder(self, each_round: bool) -> list[int]:
        """The number of splits after each round; in one go if nothing can end it and nobody looks in between."""
        last = self.splits or (WITHOUT_DEADLINE if self.seconds is None else SPLITS[-1])
        between = [splits for splits in SPLITS if splits < last] if each_round or self.seconds is not None else []
        return [*between, last]

    def limited(self, rows: int, share: float = 1.0) -> int:
        """How many of so many rows may be used if a fit uses this share of them."""
        return rows if self.rows is None else min(rows, int(self.rows / share))

    @property
    def tested(self) -> int:
        """The most rows that are predicted."""
        return TEST_POINTS if self.rows is None else min(TEST_POINTS, self.rows)

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers of fits and rows, by the names of the parameters."""
        limit = "all" if self.rows is None else self.rows
        return {"repeats": self.repeats, "rows": limit, "n_probes": self.n_probes, "retrains": self.retrains}

    @property
    def keywords(self) -> dict[str, Any]:
        """Metrics and classes, if they were given, as keywords of `characterize`."""
        metrics = {"metric": list(self.metrics) if len(self.metrics) > 1 else self.metrics[0]} if self.metrics else {}
        return metrics | ({} if self.more_classes is None else {"more_classes": self.more_classes})


def settings_of(
    effort: Effort, setup: Setup, splits: int, learners: Mapping[str, Any], given: Sequence[str], **more: Any
) -> dict[str, Any]:
    """The settings that a page shows, with the command or call that repeats it without a deadline.

    `given` are arguments by name, such as groups; `more` has the number of folds, and settings that are only shown.
    """
    half = setup.train.size // 2
    size = effort.limited(half)
    # A page that ended before any refit is repeated with the first round.
    numbers = {"splits": splits or SPLITS[0], **effort.numbers}
    if effort.command is None:
        numbers |= {"test_size": effort.test_size} if effort.test_size != 0.3 else {}
        keywords = ", ".join(f"{name}={value!r}" for name, value in (numbers | effort.keywords).items())
        named = "".join(f"{each}={each}, " for each in given)
        command = f"classay.characterize(learners, X, y, {named}budget=None, {keywords}, random_state={effort.seed})"
    else:
        options = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in numbers.items())
        command = f"{effort.command} --budget none {options}"
    return {
        "budget": effort.seconds,
        "fitted": ". ".join(_in_words(effort, setup, splits, more["folds"], size, half)),
        "splits": splits,
        **effort.numbers,
        "size": "all" if size >= half else size,
        "half": half,
        "test_size": effort.test_size,
        "seed": effort.seed,
        **more,
        "versions": versions(),
        "machine": ", ".join([*machine().values(), f"Python {platform.python_version()}"]),
        "learners": {name: " ".join(repr(one).split()) for name, one in learners.items()},
        "command": command,
    }


def _in_words(effort: Effort, setup: Setup, splits: int, folds: int, size: int, half: int) -> Iterator[str]:
    limit = "" if effort.rows is None else f" on at most {effort.rows:,} rows"
    yield f"{counted(folds, 'fit')}{limit} for cross-validated predictions"
    if splits:
        rows = "all" if size >= half else f"{size:,} of"
        yield (
            f"{counted(splits, 'split')} of the training part into halves, {counted(effort.repeats, 'refit')} on "
            f"{rows} {half:,} rows of each half, compared on {setup.test.size:,} test points and "
            f"{int(setup.probes.shape[0]):,} probes"
        )
    if splits and effort.retrains:
        yield f"{counted(effort.retrains, 'retraining')} on samples of nearly full size"


# The clock of a report: one deadline, which is an automatic Ctrl-C, and how long each stage took.


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

    def limit(self, times: int = 1) -> AbstractContextManager[None]:
        """Fits inside end at the deadline, or after so many times the budget; those that are done are kept."""
        return work.deadline(self.end + (times - 1) * (self.seconds or 0))

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
