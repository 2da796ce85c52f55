"""How often equal learners are told apart by their distance, by simulation. Run with `make long`."""

from __future__ import annotations

import numpy as np
import pytest
from erring import erring
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import classay

RUNS = 200
DISTANCES = ("jensen_shannon", "euclidean", "angle")


@pytest.mark.parametrize("size", [1, 5, 20])
def test_equal_learners(size):
    flips = np.random.default_rng(0).uniform(0, 0.4, size=60)
    apart, squared = dict.fromkeys(DISTANCES, 0), []
    for seed in range(RUNS):
        two = {name: erring(100 * seed + place, flips) for place, name in enumerate("ab")}
        kin = classay.kinship(two, holdout_size=size, holdouts=20, random_state=seed)
        squared.append(kin.jensen_shannon[0, 1] ** 2)
        for distance in DISTANCES:
            apart[distance] += getattr(kin, distance)[0, 1] > kin.floor[distance][0, 1]
    counts = {name: int(count) for name, count in apart.items()}
    print(f"equal learners, holdouts of {size}: told apart in {counts} of {RUNS} runs")
    # One in twenty; the limit is three standard errors above.
    assert all(count <= 0.05 * RUNS + 3 * (0.05 * 0.95 * RUNS) ** 0.5 for count in apart.values())
    # Two equal learners are at 0.
    assert np.mean(squared) < 0.005


@pytest.mark.parametrize("same_fits", [False, True])
def test_equal_learners_on_the_same_subsets(same_fits):
    """Trees with other seeds on the same subsets: each pair depends on its training rows."""
    X, y = load_breast_cancer(return_X_y=True)
    apart = 0
    for seed in range(RUNS // 2):
        two = {
            name: classay.record(
                DecisionTreeClassifier(max_features=5, random_state=place if same_fits else None),
                X[:, :10],
                y,
                classay.Subsets(20, size=60),
                repeats=1 if same_fits else 2,
                random_state=seed,
                executor=1,
            )
            for place, name in enumerate("ab")
        }
        kin = classay.kinship(two, holdouts=20, random_state=seed)
        apart += kin.jensen_shannon[0, 1] > kin.floor["jensen_shannon"][0, 1]
    print(f"equal trees on the same subsets: apart in {apart} of {RUNS // 2} runs")
    assert apart <= 0.05 * RUNS / 2 + 3 * (0.05 * 0.95 * RUNS / 2) ** 0.5
