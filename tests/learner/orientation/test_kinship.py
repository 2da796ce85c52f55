import dataclasses
import math

import numpy as np
import pytest
from erring import erring as learner
from scipy.spatial.distance import jensenshannon

import classay
from classay import InputError
from classay.learner.orientation.kinship import _arranged


def certain(labels):
    """A learner whose subsets all predict these labels."""
    return classay.Labelings.from_arrays(np.tile(labels, (10, 1, 1)), np.zeros(len(labels), dtype=int), classes=[0, 1])


def test_distances_by_hand():
    # One holdout of two points, all subsets alike: no variance, so that debiased is plain.
    halves = classay.Labelings.from_arrays(np.tile([[0, 0], [1, 1]], (10, 1, 1)), [0, 0])
    k = classay.kinship({"a": certain([0, 0]), "b": certain([1, 1]), "c": halves}, holdout_size=2, holdouts=1)
    p = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    for found in (k.plain, {name: getattr(k, name) for name in k.plain}):
        assert found["jensen_shannon"][0, 1] == pytest.approx(1.0, abs=0.02)
        assert found["euclidean"][0, 1] == pytest.approx(math.sqrt(2), abs=0.02)
        assert found["angle"][0, 1] == pytest.approx(90, abs=1.5)
        assert found["angle"][0, 2] == pytest.approx(45, abs=1.5)
        assert found["jensen_shannon"][0, 2] == pytest.approx(jensenshannon(p[0], p[2], base=2), abs=0.02)
        for matrix in found.values():
            np.testing.assert_array_equal(np.diag(matrix), 0)
            np.testing.assert_allclose(matrix, matrix.T, rtol=1e-12)
    assert k.plain["jensen_shannon"][0, 2] == pytest.approx(jensenshannon(p[0], p[2], base=2))


@pytest.mark.parametrize("size", [1, 5, 20])
def test_equal_learners_are_not_apart(size):
    """They were .04, .23 and .96 apart, by chance alone."""
    flips = np.random.default_rng(0).uniform(0, 0.4, size=60)
    found = []
    for seed in range(5):
        two = {name: learner(100 * seed + place, flips) for place, name in enumerate("ab")}
        k = classay.kinship(two, holdout_size=size, holdouts=20, random_state=seed)
        assert k.plain["jensen_shannon"][0, 1] > 0.02
        found.append(k.jensen_shannon[0, 1] ** 2)
    assert np.mean(found) < 0.01


def test_unequal_learners_are_as_far_apart_as_they_are():
    """One point at a time, the distance of two coins is known."""
    low, high = 0.1, 0.3
    divergence = jensenshannon([low, 1 - low], [high, 1 - high], base=2)
    found = []
    for seed in range(5):
        two = {"a": learner(2 * seed, np.full(300, low), 1), "b": learner(2 * seed + 1, np.full(300, high), 1)}
        k = classay.kinship(two, holdout_size=1, holdouts=150, random_state=seed)
        found.append(k.jensen_shannon[0, 1])
        assert k.p_value[0, 1] == pytest.approx(1 / 200)
    assert np.mean(found) == pytest.approx(divergence, abs=0.015)


def test_same_subsets_stay_paired():
    """Two learners that follow the subset, and each other but for a little, are told apart by pairs alone."""
    rng = np.random.default_rng(0)
    truth = np.arange(40) % 2
    base = np.where(rng.random((40, 1, 40)) < 0.3, 1 - truth, truth)
    other = base.copy()
    other[:, :, :8] = truth[:8]
    rows = tuple(np.arange(place, place + 5) for place in range(40))
    records = [
        dataclasses.replace(classay.Labelings.from_arrays(each, truth, deterministic=True), train_rows=rows)
        for each in (base, other)
    ]
    paired = classay.kinship({"a": records[0], "b": records[1]})
    apart = classay.kinship({"a": records[0], "b": dataclasses.replace(records[1], train_rows=rows[::-1])})
    assert paired.floor["jensen_shannon"][0, 1] < apart.floor["jensen_shannon"][0, 1]
    assert paired.jensen_shannon[0, 1] > paired.floor["jensen_shannon"][0, 1]


def test_likes_are_near_and_unlikes_far():
    low, high = np.full(80, 0.05), np.full(80, 0.45)
    k = classay.kinship({"a": learner(0, low), "b": learner(1, low), "c": learner(2, high)})
    assert k.jensen_shannon[0, 1] < 1.5 * k.floor["jensen_shannon"][0, 1]
    assert k.jensen_shannon[0, 2] > 1.2 * k.floor["jensen_shannon"][0, 2]
    clusters = k.clusters(2)
    assert clusters["a"] == clusters["b"] != clusters["c"]
    assert "a and b predict most alike" in str(k)


def test_a_learner_is_its_own_twin_and_may_differ_in_refits():
    flips = np.full(30, 0.2)
    k = classay.kinship({"a": learner(0, flips), "b": learner(0, flips)})
    assert k.jensen_shannon[0, 1] == 0
    assert k.angle[0, 1] == pytest.approx(0, abs=1e-5)
    k = classay.kinship({"a": learner(0, flips, 1), "b": learner(1, flips, 6)})
    assert k.jensen_shannon[0, 1] < 0.2 < k.plain["jensen_shannon"][0, 1] < 0.5


def test_a_plane_keeps_distances_that_fit_in_it():
    points = np.random.default_rng(1).normal(size=(6, 2))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    _, plane, kept = _arranged(distances).values()
    np.testing.assert_allclose(np.linalg.norm(plane[:, None] - plane[None], axis=2), distances, atol=1e-9)
    assert kept == pytest.approx(1)
    _, alike, kept = _arranged(np.zeros((3, 3))).values()
    np.testing.assert_array_equal(alike, 0)
    assert kept == 1


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ({}, "at least two records"),
        ({"a": learner(0, np.full(10, 0.1))}, "at least two records"),
        ([1, 2], "at least two records"),
        ({"a": 1, "b": 2}, "record"),
        ({"a": learner(0, np.full(10, 0.1)), "b": learner(0, np.full(12, 0.1))}, "other test points"),
    ],
)
def test_records_that_cannot_be_compared(records, message):
    with pytest.raises(InputError, match=message):
        classay.kinship(records)
