import math

import numpy as np
import pytest
from erring import erring as learner
from scipy.spatial.distance import jensenshannon

import classay
from classay import InputError
from classay.learner.orientation.kinship import _distances, _plane


def test_distances_by_hand():
    p = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]])
    found = _distances(p)
    assert found["jensen_shannon"][0, 1] == pytest.approx(1.0)
    assert found["euclidean"][0, 1] == pytest.approx(math.sqrt(2))
    assert found["angle"][0, 1] == pytest.approx(90)
    assert found["angle"][0, 2] == pytest.approx(45)
    assert found["jensen_shannon"][0, 2] == pytest.approx(jensenshannon(p[0], p[2], base=2))
    for matrix in found.values():
        np.testing.assert_array_equal(np.diag(matrix), 0)
        np.testing.assert_allclose(matrix, matrix.T, rtol=1e-12)


def test_likes_are_near_and_unlikes_far():
    low, high = np.full(80, 0.05), np.full(80, 0.45)
    k = classay.kinship({"a": learner(0, low), "b": learner(1, low), "c": learner(2, high)})
    assert k.jensen_shannon[0, 1] < 1.1 * k.floor["jensen_shannon"][0, 1]
    assert k.jensen_shannon[0, 2] > 1.2 * k.floor["jensen_shannon"][0, 2]
    clusters = k.clusters(2)
    assert clusters["a"] == clusters["b"] != clusters["c"]
    assert "a and b predict most alike" in str(k)


@pytest.mark.parametrize("size", [1, 5, 20])
def test_equal_learners_are_seldom_called_apart(size):
    flips = np.random.default_rng(0).uniform(0, 0.4, size=60)
    apart = dict.fromkeys(("jensen_shannon", "euclidean", "angle"), 0)
    for seed in range(6):
        two = {name: learner(100 * seed + place, flips) for place, name in enumerate("ab")}
        k = classay.kinship(two, holdout_size=size, holdouts=20, random_state=seed)
        for distance in apart:
            apart[distance] += getattr(k, distance)[0, 1] > k.floor[distance][0, 1]
    # One in twenty by chance. As one look at what tests/long finds in many runs.
    assert all(count <= 2 for count in apart.values()), apart


def test_a_floor_is_not_so_high_that_nothing_is_above():
    flips = np.full(60, 0.1)
    other = np.where(np.arange(60) < 30, 0.3, 0.1)
    k = classay.kinship({"a": learner(0, flips), "b": learner(1, other)})
    assert k.jensen_shannon[0, 1] > k.floor["jensen_shannon"][0, 1]


def test_a_learner_is_its_own_twin():
    record = learner(0, np.full(30, 0.2))
    k = classay.kinship({"a": record, "b": record})
    assert k.jensen_shannon[0, 1] == 0
    assert k.angle[0, 1] == pytest.approx(0, abs=1e-5)


def test_learners_may_differ_in_refits():
    flips = np.full(30, 0.2)
    k = classay.kinship({"a": learner(0, flips, 1), "b": learner(1, flips, 6)})
    assert 0 < k.jensen_shannon[0, 1] < 0.5


def test_a_plane_keeps_distances_that_fit_in_it():
    points = np.random.default_rng(1).normal(size=(6, 2))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    plane, kept = _plane(distances)
    np.testing.assert_allclose(np.linalg.norm(plane[:, None] - plane[None], axis=2), distances, atol=1e-9)
    assert kept == pytest.approx(1)


def test_two_alike_do_not_divide_by_zero():
    plane, kept = _plane(np.zeros((3, 3)))
    np.testing.assert_array_equal(plane, 0)
    assert kept == 1


@pytest.mark.parametrize("given", [{}, {"a": learner(0, np.full(10, 0.1))}, [1, 2], {"a": 1, "b": 2}])
def test_too_few_or_no_records(given):
    with pytest.raises(InputError, match="record"):
        classay.kinship(given)


def test_other_points_are_refused():
    with pytest.raises(InputError, match="other test points"):
        classay.kinship({"a": learner(0, np.full(10, 0.1)), "b": learner(0, np.full(12, 0.1))})
