"""Classes weighted by how often each is the true one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

import classay
from classay.expect import InputError

SCORES = np.array([[3.0, 1, 0], [3, 1, 0], [3, 1, 0], [1, 0, 2], [0, 1, 2], [2, 1, 0]])
Y = np.array([0, 0, 0, 1, 2, 2])


def test_by_hand():
    ranks = classay.Ranks.from_scores(SCORES, Y)
    # By class: 1, 0 and .5 right.
    for prior, expected in (
        (None, 0.5),
        ("rows", 4 / 6),
        ("zipf", (1 + 0.5 * 0.5) / (1 + 1 / 2 + 1 / 3)),
        ([2, 1, 1], 0.625),
        ([6, 3, 3], 0.625),
        ({0: 0, 1: 1, 2: 1}, 0.25),
    ):
        found = ranks.with_prior(prior)
        assert found.evidence().accuracy([3])[0] == pytest.approx(expected)
        assert classay.accuracy_curve(ranks, prior=prior).accuracy[-1] == pytest.approx(expected)


def test_equal_weights_are_no_prior():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(120, 12)), np.arange(120) % 12
    plain, even = classay.accuracy_curve(scores, y), classay.accuracy_curve(scores, y, prior=np.ones(12))
    np.testing.assert_allclose(plain.accuracy, even.accuracy, atol=1e-12)
    np.testing.assert_allclose(plain.low, even.low, atol=1e-9)
    assert classay.extrapolate(plain, 50).value == pytest.approx(classay.extrapolate(even, 50).value)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ("zip", "zipf"),
        ([1, 2], "one weight for each of 3"),
        ([1, -1, 1], "from 0 up"),
        ([0, 0, 0], "from 0 up"),
        ({0: 1, 1: 1}, "lacks 2"),
        (["a", "b", "c"], "expected weights"),
    ],
)
def test_bad_priors(prior, words):
    with pytest.raises(InputError, match=words):
        classay.accuracy_curve(SCORES, Y, prior=prior)


def test_bounds_are_for_equal_weights():
    with pytest.raises(InputError, match="prior"):
        classay.accuracy_curve(SCORES, Y, prior="rows").bayes_bound()
    found = classay.information(classay.accuracy_curve(SCORES, Y, prior="rows"))
    assert found.implied.known
    assert not found.bound.known
    assert "prior" in found.bound.kind


def test_two_classes_with_many_rows_have_a_binomial_interval():
    rng = np.random.default_rng(0)
    y = np.arange(20_000) % 2
    right = rng.random(20_000) < 0.853
    scores = np.eye(2)[np.where(right, y, 1 - y)]
    curve = classay.accuracy_curve(scores, y)
    found = curve.over_rows()
    exact = binomtest(int(right.sum()), 20_000).proportion_ci(method="exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-6)
    assert found.kind == "over rows, these classes fixed"
    assert (curve.at(2).low, curve.at(2).high) == (0, 1)
    assert "the interval over rows is [0.8" in str(curve)


def test_intervals_over_rows_at_the_ends():
    y = np.arange(30) % 3
    assert classay.accuracy_curve(np.eye(3)[y], y).over_rows().high == 1
    assert classay.accuracy_curve(-np.eye(3)[y], y).over_rows().low == 0
    assert classay.accuracy_curve(np.eye(3)[y], y).over_rows(1).low == 1
    # Classes with few rows count as much, so there are fewer trials than rows.
    some = classay.accuracy_curve(SCORES, Y).over_rows()
    even = classay.accuracy_curve(SCORES, Y, prior="rows").over_rows()
    assert some.high - some.low > even.high - even.low
