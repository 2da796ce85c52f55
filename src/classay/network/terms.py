"""On what terms walks are made: what nobody gave and has to be tried out. The step, and what a budget of time buys.

A pass of two rows and a few walks tell how long a row takes and how many steps a walk; from that come the rows walked
at once, the steps at most and how many walks there is time for. The trial is within the budget, too.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .stride import PATIENCE, STEPS, find_step

if TYPE_CHECKING:
    from .gather import Course

PILOT, FEWEST = 20, 2
"""Classes of the walks by which the step is found and the time is judged: at most, and at least where time is short."""
SEARCH, TRIAL = 0.25, 0.35
"""Shares of the budget by which the search for a step and the walks that judge the time are over."""
WALKED, WALKED_ALONE = 0.7, 0.85
"""Shares by which all walks are over, with walks of other steps to come after them and without."""
PASS = 0.02
"""Share of the budget that one pass of a batch may take, as time is looked at between passes."""
IN_HAND = 0.8
"""Share of the time that is planned for; cores take longer than seeds now and then."""
LEAST_WALKS = 4
"""The least plan: two classes, a seed of each and a core of each."""
LEAST_STEPS = 2 * STEPS
"""Walks that end sooner for want of time would not tell anything: hardly one arrives."""


@dataclass(frozen=True)
class Budget:
    """A time for everything that one call does, from the moment it began."""

    began: float
    seconds: float

    def at(self, share: float) -> float:
        """The moment at which this share of the time is over."""
        return self.began + share * self.seconds

    def left(self, share: float = 1.0) -> float:
        """Seconds until then."""
        return max(self.at(share) - time.monotonic(), 0.0)


@dataclass(frozen=True)
class Terms:
    """The step; the steps and rows at most; how many walks there is time for, None without a limit.

    `until` is the share of the budget after which no more is walked, `pace` the seconds that a row takes for a step.
    """

    step: float
    max_steps: int
    batch: int
    affordable: float | None = None
    until: float = 1.0
    pace: float = 0.0


def find_terms(
    course: Course, step: float | None, order: NDArray[np.integer], budget: Budget | None, sensitivity: bool
) -> Terms:
    """Try out what was not given. `order`: classes as they are drawn; `sensitivity`: other steps are to come after."""
    some = order[:PILOT]
    if budget is None:
        return Terms(find_step(course, some) if step is None else step, course.max_steps, course.batch)
    two = some[:FEWEST]
    course.walk(course.draw(two, 0), two, step=1.0, max_steps=0)  # one pass, however long it takes
    course.deadline = budget.at(SEARCH)
    rows = budget.left(SEARCH) / (2 * PATIENCE * course.pace)
    some = some[: int(np.clip(rows, FEWEST, PILOT))]
    course.step = find_step(course, some) if step is None else step
    least = min(LEAST_STEPS, course.max_steps)
    if rows < 1:  # there is time for the least plan alone, so that nothing needs to be judged
        passes, until = course.max_steps + 1.0, WALKED_ALONE
    else:
        passes, until = _passes(course, some, budget), WALKED if sensitivity else WALKED_ALONE
    left = IN_HAND * budget.left(until)
    most = int(np.clip(left / (LEAST_WALKS * course.pace) - 1, least, course.max_steps))
    passes = min(passes, most + 1)
    at_once = min(PASS * budget.seconds / course.pace, left / 2 / (passes * course.pace))
    walks = round(left / (passes * course.pace), 1)
    return Terms(course.step, most, int(np.clip(at_once, FEWEST, course.batch)), walks, until, course.pace)


def _passes(course: Course, some: NDArray[np.integer], budget: Budget) -> float:
    """How often a walk goes through the network, in the mean."""
    course.deadline = budget.at(TRIAL)
    trial = course.walk(course.draw(some, 0), some)
    if trial.interrupted:
        raise KeyboardInterrupt
    # A walk that was not over in time is taken to be as long as can be.
    return float(np.where(trial.finished, trial.steps + 1, course.max_steps + 1).mean())
