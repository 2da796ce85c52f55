"""Which test points are looked at together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import expect, seeds


def draw_holdouts(
    n_points: int, holdout_size: int, holdouts: int, random_state: int | np.random.Generator | None
) -> NDArray[np.int64]:
    """Random holdouts, (M, h), each without repetition."""
    size = expect.whole(holdout_size, "holdout_size", at_least=1)
    number = expect.whole(holdouts, "holdouts", at_least=1)
    if size > n_points:
        raise expect.InputError(
            f"`holdout_size` is {size}, but there are {n_points} test points. Use a smaller holdout or a larger "
            "test part."
        )
    generator = seeds.generator(seeds.settle(random_state), "holdouts")
    return np.stack([generator.choice(n_points, size, replace=False) for _ in range(number)])
