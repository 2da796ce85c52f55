"""What may make the figures of a report wrong, whatever the learner: leaks, ties between rows, the test part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pandas as pd

from ..arrays import Ints
from ..data.dependence import Dependence, dependence
from ..data.leaks import Leaks, leaks
from ..data.shift import Shift, shift
from ..expect import InputError

if TYPE_CHECKING:
    from .results import DataResults

R = TypeVar("R")


@dataclass(frozen=True)
class Suspicions:
    """The checks of the data; what could not be checked is None, and `why` says why.

    `test_rows` are the rows that every refit was tested on, if they are rows of the data.
    """

    leaks: Leaks | None = None
    dependence: Dependence | None = None
    shift: Shift | None = None
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
        X_test = test.X if isinstance(test.X, pd.DataFrame) else pd.DataFrame(test.X, columns=data.X.columns)
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
