"""Expected cost with more classes."""

from __future__ import annotations

import numpy as np
import pytest

import classay
from classay.expect import InputError


def scores_of(n_classes=20, rows=5, lead=1.5, seed=0):
    truth = np.repeat(np.arange(n_classes), rows)
    noise = np.random.default_rng(seed).normal(size=(truth.size, n_classes))
    return noise + lead * np.eye(n_classes)[truth], truth


@pytest.mark.parametrize("ties", ["random", "wrong", "right"])
def test_costs_of_zero_and_one_are_one_less_accuracy(ties):
    scores, y = scores_of()
    scores = scores.round(1)
    risk = classay.extrapolate(classay.risk_curve(scores, y, 1 - np.eye(20), ties=ties), 100)
    accuracy = classay.extrapolate(classay.accuracy_curve(scores, y, ties=ties), 100)
    assert risk.value == pytest.approx(1 - accuracy.value, abs=1e-9)
    assert (risk.low, risk.high) == pytest.approx((1 - accuracy.high, 1 - accuracy.low), abs=1e-6)


def test_costs_have_units():
    scores, y = scores_of()
    costs = np.random.default_rng(1).random((20, 20))
    np.fill_diagonal(costs, 0)
    one, ten = (classay.extrapolate(classay.risk_curve(scores, y, unit * costs), 60) for unit in (1, 10))
    assert ten.value == pytest.approx(10 * one.value)
    assert ten.high == pytest.approx(10 * one.high)


def test_right_predictions_may_cost_too():
    scores, y = scores_of()
    costs = 2.0 - 1.5 * np.eye(20)
    accuracy = classay.extrapolate(classay.accuracy_curve(scores, y), 60).value
    found = classay.extrapolate(classay.risk_curve(scores, y, costs), 60)
    assert found.value == pytest.approx(2 - 1.5 * accuracy, abs=1e-6)


def test_observed_sizes_are_not_extrapolated():
    scores, y = scores_of()
    risk = classay.risk_curve(scores, y, 1 - np.eye(20))
    assert classay.extrapolate(risk, 10) == risk.at(10)
    with pytest.raises(InputError, match="level"):
        classay.extrapolate(risk, 10, level=0.5)
    with pytest.raises(InputError, match="extrapolate"):
        risk.at(21)


def test_the_parts_are_the_whole():
    scores, y = scores_of()
    risk = classay.risk_curve(scores, y, np.random.default_rng(2).normal(size=(20, 20)))
    np.testing.assert_allclose(risk.of_right + risk.of_wrong, risk.risk, atol=1e-12)
    found = classay.extrapolate(risk, 50)
    assert risk.least <= found.low <= found.value <= found.high <= risk.most


def test_costs_by_distance_fall_with_more_classes():
    rng = np.random.default_rng(3)

    def world(n_classes, rows):
        means = rng.normal(size=(n_classes, 6))
        y = np.repeat(np.arange(n_classes), rows)
        x = means[y] + 0.6 * rng.normal(size=(y.size, 6))
        return 2 * x @ means.T - (means**2).sum(axis=1), y, np.linalg.norm(means[:, None] - means, axis=2)

    truth = np.mean([(lambda s, y, d: d[s.argmax(axis=1), y].mean())(*world(300, 4)) for _ in range(6)])
    scores, y, distances = world(80, 6)
    found = classay.extrapolate(classay.risk_curve(scores, y, distances), 300)
    assert found.low <= truth <= found.high
    assert abs(found.value - truth) < 0.15
