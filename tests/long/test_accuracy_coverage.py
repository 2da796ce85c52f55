"""How often the interval of accuracy holds the truth over subsets and points, for learners that are mostly right.

None of these worlds was used to choose the rule (`intervals.bounded`).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from classay import Labelings

RUNS = 400


def chances(name: str, subsets: int, points: int, rng: np.random.Generator) -> np.ndarray:
    """The chance that a refit on each subset is wrong on each point, (subsets, points)."""
    if name == "few hard rows":  # 4 % of rows are wrong in most refits, the others hardly ever
        return np.where(rng.random(points) < 0.04, 0.7, 0.002) * np.ones((subsets, 1))
    if name == "samples matter":  # what is hard varies with the sample, and so does how much
        return expit(-4.5 + 1.5 * rng.normal(size=points) + 1.0 * rng.normal(size=(subsets, 1)))
    if name == "boundary":  # a few rows near the boundary change sides with the sample
        return (np.abs(rng.normal(size=points)) + 0.08 * rng.normal(size=(subsets, 1)) < 0.05).astype(float)
    return np.full((subsets, points), 0.15)  # "refits err on their own"


NAMES = ["few hard rows", "samples matter", "boundary", "refits err on their own"]


@pytest.mark.parametrize(("subsets", "points"), [(8, 30), (8, 400), (30, 80), (100, 400)])
@pytest.mark.parametrize("name", NAMES)
def test_accuracy(name, subsets, points):
    rng = np.random.default_rng(7)
    truth = 1 - np.mean([chances(name, 200, 2000, rng).mean() for _ in range(100)])
    held, width = 0, 0.0
    for _ in range(RUNS):
        wrong = rng.random((subsets, 2, points)) < chances(name, subsets, points, rng)[:, None]
        estimate = Labelings.from_arrays(wrong.astype(int), np.zeros(points, dtype=int), classes=[0, 1]).accuracy()
        held += estimate.low <= truth <= estimate.high
        width += (estimate.high - estimate.low) / RUNS
    print(f"{name}, {subsets} subsets x {points} points: {truth:.3f} held in {held / RUNS:.1%}, mean width {width:.3f}")
    assert held >= 0.92 * RUNS
