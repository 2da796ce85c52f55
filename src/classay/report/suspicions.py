"""What may make the figures of a report wrong, whatever the learner: leaks, ties between rows, the test part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..arrays import Ints
from ..data.checks.part_shift import Shift, shift
from ..data.checks.row_dependence import Dependence, dependence
from ..data.checks.target_leaks import Leaks, leaks
from ..expect import InputError
from ..learner.importance import Importance, importance

if TYPE_CHECKING:
    from .cross_validated import HeldOut
    from .results import DataResults

REFITS, REPEATS, POINTS = 6, 3, 500
LEAST_COLUMNS, MOST_COLUMNS = 6, 100
"""Importance is measured for tables with so many columns."""

R = TypeVar("R")


@dataclass(frozen=True)
class Suspicions:
    """The checks of the data; what could not be checked is None, and `why` says why.

    `importance` has the most accurate learner and which columns it relies on. `test_rows` are the rows that every
    refit was tested on, if they are rows of the data.
    """

    leaks: Leaks | None = None
    dependence: Dependence | None = None
    shift: Shift | None = None
    importance: tuple[str, Importance] | None = None
    test_rows: Ints | None = None
    why: dict[str, str] = field(default_factory=dict)

    @property
    def leak(self) -> bool:
        """Whether a column gives the label away: then labels that contradict it are no surprise."""
        return self.leaks is not None and bool(self.leaks.found)

    @property
    def rows_belong_together(self) -> bool:
        """Whether accuracy on shuffled rows promises too much."""
        return self.dependence is not None and bool(self.dependence.found)


def suspicions_of(data: DataResults, test_rows: Ints, seed: int, progress: bool = False) -> Suspicions:
    """Check the data of a report. The time that it takes does not grow beyond some thousand rows of each check."""
    why: dict[str, str] = {}
    groups, test = data.per_row.groups, data.test

    def tried(name: str, measure: Callable[[], R]) -> R | None:
        try:
            return measure()
        except InputError as mistake:
            why[name] = str(mistake)
            return None

    together = None
    if data.per_row.time is None:
        together = tried(
            "dependence",
            lambda: dependence(data.X, data.labels, groups=groups, random_state=seed, progress=progress),
        )
    else:
        why["dependence"] = "with times, fits are tested on later rows only"
    unlike = None
    if test is not None:
        X_test = test.table(data.X.columns)
        # Groups of equal rows are those of the training part alone.
        known = groups is not None and test.groups is not None and not data.copies_together
        both = np.concatenate([groups, test.groups]) if known else None
        unlike = tried("shift", lambda: shift(data.X, X_test, groups=both, random_state=seed, progress=progress))
    else:
        why["shift"] = "no test part was given (--test)"
    return Suspicions(
        leaks=tried(
            "leaks",
            lambda: leaks(data.X, data.labels, target=data.target, groups=groups, random_state=seed, progress=progress),
        ),
        dependence=together,
        shift=unlike,
        test_rows=test_rows if test is None else None,
        why=why,
    )


def importance_of(
    data: DataResults, learners: Mapping[str, Any], held_out: Mapping[str, HeldOut], seconds: float, seed: int
) -> tuple[tuple[str, Importance] | None, str]:
    """The most accurate learner and the columns that it relies on, or why not: it may take so many seconds."""
    if not held_out:
        return None, "there are no cross-validated predictions"
    if not LEAST_COLUMNS <= data.X.shape[1] <= MOST_COLUMNS:
        return None, f"it is asked for tables with {LEAST_COLUMNS} to {MOST_COLUMNS} columns"
    best = max(held_out, key=lambda name: float(held_out[name].right(data.codes).mean()))
    held = held_out[best]
    predictions = REFITS * REPEATS * data.X.shape[1] * min(POINTS, data.codes.size)
    if REFITS * held.fit_seconds + predictions * held.predict_seconds > seconds:
        return None, "it would take too long"
    try:
        groups = data.per_row.groups
        made = importance(
            learners[best], data.X, data.labels, refits=REFITS, repeats=REPEATS, groups=groups, random_state=seed
        )
    except Exception as mistake:  # a learner may refuse a table with a shuffled column, or an array as a table
        return None, str(mistake)
    return (best, made), ""
