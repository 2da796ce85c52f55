"""What a time budget allows: the number of splits, refits and rows, estimated from a few pilot fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats
from ..engine.progress import duration
from ..expect import InputError

LADDER = ((50, 10), (30, 10), (30, 5), (20, 5), (20, 3), (15, 3), (12, 2), (10, 2))
"""Splits and refits of each half, from the largest useful number to the smallest that measures anything."""
FOLDS = 5
ON_REFITS, ON_FOLDS = 0.55, 0.2
"""Shares of the budget; the rest is for measuring, drawing and underestimated times."""
BY_FOLDS, LEAST_ON_FOLDS = 0.85, 0.05
"""When folds should be done, as a share of the budget, and their share even if refits took longer than estimated."""
LEAST_ROWS = 300
"""To save time, fits never get fewer rows than this, or than five per class: a learner on a handful of rows is a
different learner, and much of the time of a fit does not depend on the number of rows."""
PROBES = 2000
LINEAR = 1.0


@dataclass(frozen=True, kw_only=True)
class BudgetSettings:
    """The time for a report, and the numbers that depend on it. What is None is left to the budget.

    `splits` into halves, `repeats` refits on each, on `size` rows of the half, compared on `n_probes` probes; and
    `fold_rows` rows for each cross-validated fit. Numbers of rows can be "all".
    """

    seconds: float
    splits: int | None = None
    repeats: int | None = None
    size: int | str | None = None
    n_probes: int | None = None
    fold_rows: int | str | None = None

    @property
    def is_plan(self) -> bool:
        """Whether nothing is left to the budget, so that no pilot fits are needed."""
        return None not in (self.splits, self.repeats, self.size, self.fold_rows)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What fits can use: `half` rows of each half, `others` outside of a fold, and this many `workers` at once.

    The number of `classes` limits how few rows are enough.
    """

    half: int
    others: int
    classes: int
    workers: int


@dataclass(frozen=True)
class Pilot:
    """Time of one refit and its predictions on `rows` rows, how it grows with rows, and whether it is `random`.

    `growth` is the exponent: 1 if twice the rows take twice the time.
    """

    seconds: float
    rows: int
    growth: float
    random: bool

    def at(self, rows: int) -> float:
        """Estimated seconds for a fit on this number of rows."""
        # Less time with more rows is due to chance, and fewer rows must not save more than their share.
        growth = max(self.growth, LINEAR) if rows > self.rows else min(max(self.growth, 0.0), LINEAR)
        return float(self.seconds * (rows / self.rows) ** growth)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The fits of each learner: the same for all, so that they can be compared.

    The numbers are those of `BudgetSettings`, with None for all rows; `seconds` is the estimated time.
    """

    splits: int
    repeats: int
    size: int | None
    n_probes: int
    fold_rows: int | None
    seconds: float = 0.0

    def in_words(self, half: int) -> str:
        """The plan as a text."""
        rows = "all" if self.size is None else f"{self.size:,} of"
        folds = "" if self.fold_rows is None else f" on {self.fold_rows:,} rows each"
        return (
            f"{self.splits} splits of the training part into halves, {self.repeats} refits on {rows} {half:,} rows of "
            f"each half, compared on the test part and on {self.n_probes:,} probes; {FOLDS} fits{folds} for "
            "cross-validated predictions"
        )


def plan(pilots: Mapping[str, Pilot], settings: BudgetSettings, limits: Limits) -> Plan:
    """The highest step of the ladder that fits the budget; below its last step, fewer rows. Given numbers are kept."""
    budget = ON_REFITS * settings.seconds

    def refits(splits: int, repeats: int, rows: int) -> float:
        fits = (2 * splits * (repeats if one.random else 1) * one.at(rows) for one in pilots.values())
        return sum(fits) / limits.workers

    steps = [
        (m if settings.splits is None else settings.splits, r if settings.repeats is None else settings.repeats)
        for m, r in LADDER
    ]
    size = limits.half if isinstance(settings.size, str) else settings.size
    rows = limits.half if size is None else size
    splits, repeats = next((step for step in steps if refits(*step, rows) <= budget), steps[-1])
    if size is None and refits(splits, repeats, rows) > budget:
        rows = _rows_for(budget, lambda n: refits(splits, repeats, n), limits.half, limits.classes)
    fold_rows, on_folds = folds(pilots, ON_FOLDS * settings.seconds, limits)
    if settings.fold_rows is not None:
        fold_rows = None if isinstance(settings.fold_rows, str) else settings.fold_rows
    return Plan(
        splits=splits,
        repeats=repeats,
        size=None if rows >= limits.half else rows,
        n_probes=PROBES if settings.n_probes is None else settings.n_probes,
        fold_rows=fold_rows,
        seconds=refits(splits, repeats, rows) + on_folds if pilots else 0.0,
    )


def folds(pilots: Mapping[str, Pilot], seconds: float, limits: Limits) -> tuple[int | None, float]:
    """Number of rows on which the folds of all learners can be fitted in `seconds` (None: all), and the time it takes.

    It is called again after the refits, which measure the time of a fit better than pilot fits.
    """

    def cost(rows: int) -> float:
        return FOLDS * sum(one.at(rows) for one in pilots.values()) / limits.workers

    most = limits.others
    rows = most if cost(most) <= seconds else _rows_for(seconds, cost, most, limits.classes)
    return (None if rows >= most else rows), cost(rows)


def revised(
    made: Plan,
    pilots: Mapping[str, Pilot],
    seconds: Mapping[str, Floats],
    passed: float,
    settings: BudgetSettings,
    limits: Limits,
) -> Plan:
    """The plan with fewer fold rows if the time left requires it, now that refits show how long a fit takes.

    `seconds` has the time of each refit, by learner; `passed` is the time since the start.
    """
    rows = limits.half if made.size is None else made.size
    timed = {
        name: replace(pilots[name], seconds=float(np.nanmean(each)), rows=rows)
        for name, each in seconds.items()
        if name in pilots and np.isfinite(each).any()
    }
    budget = settings.seconds
    left = min(max(BY_FOLDS * budget - passed, LEAST_ON_FOLDS * budget), ON_FOLDS * budget)
    fold_rows, _ = folds(timed, left, limits)
    most = limits.others if made.fold_rows is None else made.fold_rows
    return made if fold_rows is None or fold_rows >= most else replace(made, fold_rows=fold_rows)


def _rows_for(seconds: float, cost: Callable[[int], float], most: int, classes: int) -> int:
    """The largest number of rows within the time, to about 2 %; but at least the minimum for a useful fit."""
    low, high = min(max(LEAST_ROWS, 5 * classes), most), most
    while high - low > max(low // 50, 1):
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle) <= seconds else (low, middle)
    return low


def growth(few: tuple[int, float], many: tuple[int, float]) -> float:
    """The exponent by which time grows with rows, from two timings of (rows, seconds).

    >>> growth((100, 1.0), (200, 4.0))
    2.0
    """
    if few[0] == many[0] or few[1] <= 0 or many[1] <= 0:
        return LINEAR
    return min(math.log(many[1] / few[1]) / math.log(many[0] / few[0]), 3.0)


def seconds_of(text: str | float) -> float:
    """A time as people write it (90, "90s", "2m", "2 min", "1h"), in seconds.

    >>> seconds_of("2m"), seconds_of("1.5h"), seconds_of(30)
    (120.0, 5400.0, 30.0)
    """
    units = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}
    time = str(text).strip().lower()
    number = time.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = time[len(number) :].strip()
    try:
        seconds = float(number) * units[unit]
    except (ValueError, KeyError):
        raise InputError(f"The budget is {text!r}; expected a time, such as 90s, 2m or 1h.") from None
    if not 0 < seconds < math.inf:
        raise InputError(f"The budget is {text!r}; expected a positive time, such as 90s, 2m or 1h.")
    return seconds


def time_text(seconds: float) -> str:
    """A time as text, with one decimal if it is short."""
    return f"{seconds:.1f} s" if seconds < 10 else duration(seconds)
