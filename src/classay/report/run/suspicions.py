"""What may make the figures of a report wrong, whatever the learner: leaks, ties between rows, the test part."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ...arrays import Ints
from ...data.checks.part_shift import shift
from ...data.checks.row_dependence import dependence
from ...data.checks.target_leaks import leaks
from ...engine.work import time_limit
from ...expect import InputError
from ...learner.importance import Importance, importance
from ...tables.data import Data
from ..results import Suspicions
from .measures import NO_TIME, part_of
from .settings import Clock, Effort

REFITS, REPEATS = 6, 3
OF_ALL = 0.35
"""Share of the rows that a fit for the importance of columns uses."""
LEAST_COLUMNS, MOST_COLUMNS = 6, 100
"""Importance is measured for tables with so many columns."""

R = TypeVar("R")


def suspicions_of(data: Data, test_rows: Ints, seed: int, progress: bool = False) -> Suspicions:
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
            "dependence", lambda: dependence(data.table, data.y, groups=groups, random_state=seed, progress=progress)
        )
    else:
        why["dependence"] = "with times, fits are tested on later rows only"
    unlike = None
    if test is not None:
        X_test = test.table
        # Groups of equal rows are those of the training part alone.
        known = groups is not None and test.groups is not None and not data.copies_together
        both = np.concatenate([groups, test.groups]) if known else None
        unlike = tried("shift", lambda: shift(data.table, X_test, groups=both, random_state=seed, progress=progress))
    else:
        why["shift"] = "no test part was given (--test)"
    return Suspicions(
        leaks=tried(
            "leaks",
            lambda: leaks(data.table, data.y, target=data.target, groups=groups, random_state=seed, progress=progress),
        ),
        dependence=together,
        shift=unlike,
        test_rows=test_rows if test is None else None,
        why=why,
    )


def importance_of(
    data: Data, name: str | None, learners: Mapping[str, Any], effort: Effort, clock: Clock
) -> tuple[tuple[str, Importance] | None, str]:
    """The columns that this learner relies on, with its name, or why that is not known."""
    if name is None:
        return None, "there are no cross-validated predictions"
    if not LEAST_COLUMNS <= data.table.shape[1] <= MOST_COLUMNS:
        return None, f"it is asked for tables with {LEAST_COLUMNS} to {MOST_COLUMNS} columns"
    data = part_of(data, effort.limited(data.codes.size, OF_ALL), effort.seed)
    left = clock.end - time.monotonic()
    try:
        with time_limit(None if left == math.inf else max(left, 1e-3)):
            made = importance(
                learners[name],
                data.table,
                data.y,
                refits=REFITS,
                repeats=REPEATS,
                groups=data.per_row.groups,
                random_state=effort.seed,
            )
    except Exception as mistake:  # a learner may refuse a table with a shuffled column, or an array as a table
        return None, NO_TIME if clock.over else str(mistake)
    return (name, made), ""
