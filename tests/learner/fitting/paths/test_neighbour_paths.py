"""The path of nearest neighbours: bit for bit the labels of separate fits, ties included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from separate_fits import ALGORITHMS, TABLES, WEIGHTS, compare, compare_neighbours, drawn, fits_of
from sklearn.neighbors import KNeighborsClassifier

from classay.learner.fitting.paths import path_for

pytestmark = pytest.mark.filterwarnings("ignore")  # learners that are stopped early say so


# Every two of table, algorithm and weights meet; all three do in tests/long.
CASES = [
    (table, algorithm, weights)
    for i, table in enumerate(TABLES)
    for j, algorithm in enumerate(ALGORITHMS)
    for k, weights in enumerate(WEIGHTS)
    if (i + j + k) % 2
]


@pytest.mark.parametrize(("table", "algorithm", "weights"), CASES)
def test_neighbours_every_k_even_where_distances_are_tied(table, algorithm, weights):
    compare_neighbours(table, algorithm, weights)


def test_neighbours_every_k_on_whole_numbers():
    X, y = TABLES["whole numbers"]
    compare(KNeighborsClassifier(), "n_neighbors", range(1, len(y) // 2 + 1), *drawn(X, y), X)


def test_a_tie_across_the_last_place_is_decided_as_a_separate_fit_decides():
    # Five rows at the same distance from 0, of two classes: for k = 1…4 it depends on the search which are taken.
    X = np.array([[1.0], [-1.0], [1.0], [-1.0], [1.0], [9.0]])
    y = np.array([0, 1, 0, 1, 1, 0])
    found = compare(KNeighborsClassifier(algorithm="kd_tree"), "n_neighbors", range(1, 7), X, y, np.zeros((3, 1)))
    assert len(found) == 6


@pytest.mark.slow
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), kinds=st.integers(2, 4), columns=st.integers(1, 3), classes=st.integers(2, 4))
def test_every_k_on_small_tables_full_of_ties(seed, kinds, columns, classes):
    draw = np.random.default_rng(seed)
    X, y = draw.integers(0, kinds, (24, columns)) / 10, draw.integers(0, classes, 24)
    algorithm, weights = draw.choice(["auto", "brute", "kd_tree"]), draw.choice(["uniform", "distance"])
    learner = KNeighborsClassifier(algorithm=str(algorithm), weights=str(weights))
    compare(learner, "n_neighbors", range(1, 17), X[:16], y[:16], X)


def test_neighbours_are_searched_once_or_once_on_each_side_of_half(monkeypatch):
    X, y = TABLES["two classes"]
    learner = KNeighborsClassifier()
    fits = fits_of(monkeypatch, learner, "n_neighbors")
    path = path_for(learner, "n_neighbors", [1, 5, 9, 100])
    list(path.answers(learner, "n_neighbors", [1, 5, 9, 100], X[:120], y[:120], X))
    assert fits == [9, 100]
    fits.clear()
    list(path.answers(learner.set_params(algorithm="brute"), "n_neighbors", [1, 5, 9, 100], X[:120], y[:120], X))
    assert fits == [100]
