"""How long a step of a walk should be: found by a short search, so that a walk takes a dozen steps or two.

A step that is too long overshoots and jumps from class to class; one that is too short costs time for the same figures.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .gather import Course

TRIED = (0.1, 0.02, 0.5)
"""Steps first tried, over √dimension: inputs of spread 1 lie about √dimension from the origin."""
STEPS = 12
"""The straight way from start to end, in steps."""
PATIENCE = 60


def find_step(course: Course, targets: NDArray[np.integer]) -> float:
    """A twelfth of the median straight way of a few walks. Where hardly any arrives, the first step tried.

    A way measured in a few long strides is too long, so it is measured once more with the step it gave. Where time is
    up meanwhile, those that have arrived are gone by.
    """
    starts = course.draw(targets, 0)
    root = math.sqrt(starts[0].numel())

    def way(step: float) -> tuple[float, float]:
        found = course.walk(starts, targets, step=step, max_steps=PATIENCE)
        if found.interrupted:
            raise KeyboardInterrupt  # nothing is lost yet that could be kept
        arrived = found.converged & (found.steps > 0)
        # Of those that came to an end, half must have arrived; of none, nothing is known.
        if not arrived.any() or arrived.sum() < 0.5 * found.finished.sum():
            return math.nan, 0.0
        return float(np.median(found.distance[arrived])), float(np.median(found.steps[arrived]))

    for tried in TRIED:
        far, steps = way(tried * root)
        if steps:
            if steps < STEPS / 2:
                again, steps = way(far / STEPS)
                far = again if steps else far
            return _round(far / STEPS)
    return _round(TRIED[0] * root)


def _round(step: float) -> float:
    """To two digits, so that it can be given again."""
    return float(f"{step:.2g}")
