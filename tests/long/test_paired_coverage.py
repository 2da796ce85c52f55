"""How often paired intervals of a sweep hold the true difference, over new subsets and points. Run with `make long`."""

from __future__ import annotations

import numpy as np
import pytest

from classay import Labelings
from classay.learner.sweep.best_value import compared

RUNS = 400


@pytest.mark.parametrize("n_subsets", [20, 50])
@pytest.mark.parametrize("spread", [0.0, 1.5])
@pytest.mark.parametrize("figure", ["accuracy", "stability"])
def test_differences_are_held(n_subsets, spread, figure):
    """A subset is hard for both values; points differ in how easy they are; each value adds its own errors.

    A point is wrong with probability 1 − (1 − a·e)(1 − flip): a, uniform over subsets, e, over points.
    """
    flips, held, best = {1: 0.2, 2: 0.05}, 0, 0
    rng = np.random.default_rng(1)
    truth = _truth(flips, spread, figure)
    for _ in range(RUNS):
        hard = 0.4 * rng.random((n_subsets, 1, 1)) * rng.random(150) ** spread
        common = rng.random((n_subsets, 1, 150)) < hard
        records = {
            value: Labelings.from_arrays(common | (rng.random((n_subsets, 1, 150)) < flip), np.zeros(150, dtype=bool))
            for value, flip in flips.items()
        }
        found = compared("t", ("p",), records, {figure: 1.0}, "smallest", 0.95)
        best += found.best == 2
        difference = found.difference[1]
        held += difference.low <= truth <= difference.high
    print(f"{figure}, {n_subsets} subsets, spread {spread}: held in {held / RUNS:.1%}, best found in {best / RUNS:.1%}")
    assert held >= 0.92 * RUNS


def _truth(flips: dict[int, float], spread: float, figure: str) -> float:
    """The true difference between the two values, by averaging over many subsets and points."""
    rng = np.random.default_rng(0)
    hard = 0.4 * rng.random(4_000_000) * rng.random(4_000_000) ** spread
    if figure == "accuracy":
        right = {value: ((1 - hard) * (1 - flip)).mean() for value, flip in flips.items()}
        return float(right[1] - right[2])
    easy = 0.4 * rng.random(4_000_000) ** spread  # of a point; subsets are averaged within it
    agree = {}
    for value, flip in flips.items():
        wrong = 1 - (1 - easy / 2) * (1 - flip)
        agree[value] = (wrong**2 + (1 - wrong) ** 2).mean()
    return float(agree[1] - agree[2])
