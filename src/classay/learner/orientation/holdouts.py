"""Which test points are grouped into holdouts, and what an interval over holdouts is about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import expect, seeds
from ..records.base import TRAINING, Refits

USUAL_SIZE = 5
"""Points of a holdout in the paper."""


def draw_holdouts(
    n_points: int, holdout_size: int | None, holdouts: int, random_state: int | np.random.Generator | None
) -> NDArray[np.int64]:
    """Random holdouts, (M, h), each without repetition. None: five points, or all if there are fewer."""
    size = min(USUAL_SIZE, n_points) if holdout_size is None else expect.whole(holdout_size, "holdout_size", at_least=1)
    number = expect.whole(holdouts, "holdouts", at_least=1)
    if size > n_points:
        raise expect.InputError(
            f"`holdout_size` is {size}, but there are {n_points} test points. Use a smaller holdout or a larger "
            "test part."
        )
    generator = seeds.generator(seeds.settle(random_state), "holdouts")
    # Smaller holdouts are the first points of those of five, so that figures of different sizes are of the same points.
    drawn = max(size, min(USUAL_SIZE, n_points))
    return np.stack([generator.choice(n_points, drawn, replace=False)[:size] for _ in range(number)])


def interval_kind(record: Refits) -> str:
    """What intervals over subsets and holdouts are about: these training rows, or all data like them."""
    over = "over variants and holdouts" if record.of_predictions else "over subsets and holdouts"
    return record.about_population(over, TRAINING)
