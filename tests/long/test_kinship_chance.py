"""How often equal learners are told apart by their distance, by simulation. Run with `make long`."""

from __future__ import annotations

import numpy as np
import pytest
from erring import erring

import classay

RUNS = 100
DISTANCES = ("jensen_shannon", "euclidean", "angle")


@pytest.mark.parametrize("size", [1, 5, 20])
def test_equal_learners(size):
    flips = np.random.default_rng(0).uniform(0, 0.4, size=60)
    apart = dict.fromkeys(DISTANCES, 0)
    for seed in range(RUNS):
        two = {name: erring(100 * seed + place, flips) for place, name in enumerate("ab")}
        kin = classay.kinship(two, holdout_size=size, holdouts=20, random_state=seed)
        for distance in DISTANCES:
            apart[distance] += getattr(kin, distance)[0, 1] > kin.floor[distance][0, 1]
    counts = {name: int(count) for name, count in apart.items()}
    print(f"equal learners, holdouts of {size}: told apart in {counts} of {RUNS} runs")
    # Meant to be one in twenty; at worst it is one in eight, by the Euclidean distance with five points.
    assert all(count <= RUNS / 6 for count in apart.values())
