"""The time for a report as a deadline: which fits it allows, decided on fixed steps from the times measured so far.

Full-size fits come before many fits. Numbers change in large steps only, so that small differences in speed do not
change what is fitted: rows by `ROWS`, splits by `SPLITS`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..engine.progress import duration
from ..expect import InputError
from .cross_validated import FOLDS, HeldOut

SPLITS = (5, 10, 20, 50)
"""Rounds: the number of splits after each one."""
REPEATS = 2
"""Refits on each half: enough to separate training randomness from data; more splits are worth more than that."""
ROWS = (500_000, 200_000, 100_000, 50_000, 20_000, 10_000)
"""Numbers of rows of a fit if there is no time for all of them. With fewer, a learner is a different learner."""
TEST_POINTS = 20_000
"""Most test points, and most rows with cross-validated predictions: a share of them is known to within 0.7 points."""
PROBES = 2000
CHECK_SPLITS = 20
"""Splits of `classay check`, which does not depend on the speed of the machine."""
ON_FOLDS, MOST_ON_FOLDS, FOLDS_END = 0.5, 0.7, 0.85
"""Share of the time that is left for cross-validated fits, the most that they get where some learners are slow, and the
share of the budget at which they are ended."""
ON_FIGURES = 0.15
"""Share of the budget for figures and the page, until the first page shows how long they take."""
SURE = 0.9
"""A round starts if it should end within this share of the time that is left."""
AT_LATEST = 3.0
"""Until one learner has results, work goes on after the deadline, but not longer than this many times the budget."""
ALWAYS = 4.0
"""Folds, and a first round, that take no longer than these seconds are done even if the budget is shorter."""
LINEAR = 1.0
TIMES = 4
"""Each pilot fit has so many times the rows of the one before."""


@dataclass(frozen=True, kw_only=True)
class BudgetSettings:
    """The time for a report, and the numbers that depend on it. What is None is left to the budget.

    `splits` into halves, `repeats` refits on each, on `size` rows of the half, compared on `n_probes` probes;
    `fold_rows` rows for each cross-validated fit; `retrains` training samples to retrain on. Numbers of rows can be
    "all". `splits_of` and `fold_rows_of` are those of single learners; 0 splits leave a learner out. Without a time
    (`seconds` is None) nothing is left open.
    """

    seconds: float | None = 120.0
    splits: int | None = None
    repeats: int | None = None
    size: int | str | None = None
    n_probes: int | None = None
    fold_rows: int | str | None = None
    test_points: int | None = None
    retrains: int | None = None
    splits_of: Mapping[str, int] = field(default_factory=dict)
    fold_rows_of: Mapping[str, int | str] = field(default_factory=dict)

    @property
    def is_plan(self) -> bool:
        """Whether nothing that takes time is left to the budget."""
        return self.seconds is None or None not in (self.splits, self.size, self.fold_rows)


class Clock:
    """The time since the beginning, of which `spent` seconds had passed before, and the time that is left."""

    def __init__(self, seconds: float | None, spent: float = 0.0) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self.begin = time.monotonic() - spent

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.begin

    @property
    def left(self) -> float:
        """Seconds until the deadline; negative after it."""
        return self.seconds - self.passed

    def after(self, share: float, begin: float = -math.inf) -> bool:
        """Whether this share of the budget has passed, and a few seconds since `begin`."""
        return self.passed > max(share * self.seconds, begin + ALWAYS)


@dataclass(frozen=True)
class Speed:
    """Time of one fit on `rows` rows, and of predictions for one point, and how both grow with rows.

    `growth` and `point_growth` are exponents: 1 if twice the rows take twice the time. `random` is whether refits on
    the same rows differ.
    """

    rows: int
    fit: float
    point: float
    growth: float = LINEAR
    point_growth: float = 0.0
    random: bool = True

    def at(self, rows: int, points: int) -> float:
        """Estimated seconds of a fit on this number of rows, and of predictions for so many points."""
        return _scaled(self.fit, self.rows, rows, self.growth, 0.5) + points * _scaled(
            self.point, self.rows, rows, self.point_growth, 0.0
        )

    def measured(self, held: HeldOut) -> Speed:
        """The same with the times of cross-validated fits, which are nearer to those of refits."""
        return Speed(held.rows, held.fit_seconds, held.predict_seconds / 2, self.growth, self.point_growth, self.random)


def _scaled(seconds: float, old: int, new: int, growth: float, least: float) -> float:
    if new > old and growth < LINEAR:
        # Part of the time does not depend on rows, and the rest is linear. Far less with more rows is due to chance.
        part = (1 - TIMES ** -max(growth, least)) / (1 - 1 / TIMES)
        return float(seconds * (1 + part * (new / old - 1)))
    # Fewer rows must not save more than their share.
    return float(seconds * (new / old) ** (growth if new > old else min(max(growth, 0.0), LINEAR)))


def growth(few: tuple[int, float], many: tuple[int, float]) -> float:
    """The exponent by which time grows with rows, from two timings of (rows, seconds).

    >>> growth((100, 1.0), (200, 4.0))
    2.0
    """
    if few[0] == many[0] or few[1] <= 0 or many[1] <= 0:
        return LINEAR
    return min(math.log(many[1] / few[1]) / math.log(many[0] / few[0]), 3.0)


def steps(most: int) -> list[int]:
    """Numbers of rows to choose from, largest first; a step that saves less than a tenth is none."""
    return [most, *(rows for rows in ROWS if rows < 0.9 * most)]


def fold_rows_for(
    speeds: Mapping[str, Speed], left: float, most: int, points: int, workers: int
) -> tuple[dict[str, int], dict[str, float]]:
    """Rows for the cross-validated fits of each learner, and the seconds of those that are too slow for any.

    Of the time that is left, a share is for these fits. Every learner has an equal part of it; what it does not need
    goes to those that need more. One that needs more even with the fewest rows gets it as long as enough is left for
    refits. The fastest is never too slow.
    """

    def cost(speed: Speed, rows: int) -> float:
        # Predictions and scores are two calls.
        return FOLDS * speed.at(rows, 2 * points // FOLDS) / workers

    chosen: dict[str, int] = {}
    slow: dict[str, float] = {}
    fewest, used = steps(most)[-1], 0.0
    order = sorted(speeds, key=lambda name: cost(speeds[name], most))
    for place, name in enumerate(order):
        share = (max(ON_FOLDS * left, ALWAYS) - used) / (len(order) - place)
        rows = next((rows for rows in steps(most) if cost(speeds[name], rows) <= share), fewest)
        if chosen and used + cost(speeds[name], rows) > max(MOST_ON_FOLDS * left, ALWAYS):
            slow[name] = cost(speeds[name], fewest)
        else:
            chosen[name] = rows
            used += cost(speeds[name], rows)
    return chosen, slow


def size_for(
    speeds: Mapping[str, Speed], seconds: float, most: int, points: int, workers: int, splits: int, repeats: int
) -> tuple[int, dict[str, float]]:
    """Rows of each half for all learners, and the seconds of those that are too slow at any size.

    The most rows with which all others can do the first round. A learner that cannot do it in the time of all, even
    with the fewest rows, does not make the others use fewer. The fastest is never too slow.
    """

    def cost(name: str, rows: int) -> float:
        refits = 2 * splits * (repeats if speeds[name].random else 1)
        # The points are the test points and as many training rows.
        return refits * speeds[name].at(rows, points + min(rows, TEST_POINTS)) / workers

    fewest = steps(most)[-1]
    going = sorted(speeds, key=lambda name: cost(name, fewest))
    slow: dict[str, float] = {}
    while len(going) > 1 and sum(cost(name, fewest) for name in going) > max(seconds, ALWAYS):
        last = going.pop()
        slow[last] = cost(last, fewest)
    for rows in steps(most):
        if sum(cost(name, rows) for name in going) <= seconds:
            return rows, slow
    return fewest, slow


def next_round(
    seconds: Mapping[str, float], done: Mapping[str, int], splits: int, left: float
) -> tuple[list[str], float]:
    """Learners that can go on to this number of splits in the time that is left, and the seconds it should take.

    `seconds` is the time of one split of each. If all cannot, the slowest stays behind if it alone takes more than the
    others together: it has fewer splits then, and the others need not.
    """

    def cost(names: Sequence[str]) -> float:
        return sum((splits - done[name]) * seconds[name] for name in names)

    names = list(seconds)
    while names and cost(names) > SURE * left:
        slowest = max(names, key=lambda name: cost([name]))
        if len(names) == 1 or cost([slowest]) <= cost(names) / 2:
            return [], 0.0
        names.remove(slowest)
    return names, cost(names)


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


def enough(seconds: float) -> str:
    """A budget that should be enough, rounded up to a time that people would write.

    >>> enough(50), enough(400), enough(4000)
    ('1m', '10m', '2h')
    """
    usual = (20, 60, 120, 300, 600, 1200, 1800, 3600)
    best = next((each for each in usual if seconds <= each), 3600 * math.ceil(seconds / 3600))
    return f"{best}s" if best < 60 else f"{best // 60}m" if best < 3600 else f"{best // 3600}h"
