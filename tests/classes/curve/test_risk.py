"""Expected cost over all label sets: against enumeration, and against accuracy where costs are 0 and 1."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import classay
from classay.classes.curve.risk import count_costs
from classay.classes.ranks.counts import class_groups
from classay.classes.ranks.evidence import TIES, class_weights
from classay.expect import InputError


def risk_of(scores, y, costs, **options):
    return classay.accuracy_curve(scores, y, **options).risk(costs, scores)


def enumerated(scores, y, costs, ties):
    """The definition: every label set, every row; ties among wrong answers are broken at random."""
    K = scores.shape[1]
    found = np.zeros(K)
    for row, true in enumerate(y):
        weight = 1 / (np.unique(y).size * (y == true).sum())
        for k in range(1, K + 1):
            each = []
            for chosen in itertools.combinations([c for c in range(K) if c != true], k - 1):
                labels = [true, *chosen]
                best = [c for c in labels if scores[row, c] == max(scores[row, labels])]
                if true in best and len(best) > 1 and ties != "random":
                    best = [true] if ties == "right" else [c for c in best if c != true]
                each.append(np.mean([costs[c, true] for c in best]))
            found[k - 1] += weight * np.mean(each)
    return found


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("distinct", [1, 2, 4, 1000])
def test_every_label_set(ties, distinct):
    rng = np.random.default_rng(distinct)
    scores, y = rng.integers(distinct, size=(25, 6)).astype(float), rng.integers(6, size=25)
    costs = rng.normal(size=(6, 6))
    found = risk_of(scores, y, costs, ties=ties)
    np.testing.assert_allclose(found.risk, enumerated(scores, y, costs, ties), rtol=0, atol=1e-12)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from(TIES), st.integers(2, 12), st.sampled_from([2, 5, 1000]))
def test_costs_of_zero_and_one_are_one_less_accuracy(seed, ties, K, distinct):
    rng = np.random.default_rng(seed)
    scores, y = rng.integers(distinct, size=(15, K)), rng.integers(K, size=15)
    risk = risk_of(scores, y, 1 - np.eye(K), ties=ties).risk
    accuracy = classay.Ranks.from_scores(scores, y).evidence(ties).accuracy()
    np.testing.assert_allclose(risk, 1 - accuracy, atol=1e-14)


def test_without_a_group_is_counting_fewer_classes():
    rng = np.random.default_rng(0)
    K, n = 50, 200
    scores, y, costs = rng.integers(30, size=(n, K)), rng.integers(K, size=n), rng.random((K, K))
    group = class_groups(K, 20)
    _, without = count_costs(scores, classay.Ranks.from_scores(scores, y), class_weights(y, K), costs, group, "random")
    for left_out in (0, 7, 19):
        kept = np.flatnonzero(group != left_out)
        rows = np.isin(y, kept)
        own = np.searchsorted(kept, y[rows])
        direct = risk_of(scores[rows][:, kept], own, costs[np.ix_(kept, kept)]).risk
        share = np.unique(own).size / np.unique(y).size
        np.testing.assert_allclose(without[left_out].curve() / share, direct, atol=1e-13)


def test_costs_scale_and_shift():
    rng = np.random.default_rng(0)
    scores, y, costs = rng.normal(size=(60, 12)), np.arange(60) % 12, rng.random((12, 12))
    plain, other = risk_of(scores, y, costs), risk_of(scores, y, 3 * costs - 2)
    np.testing.assert_allclose(other.risk, 3 * plain.risk - 2, atol=1e-13)
    np.testing.assert_allclose(other.low, 3 * plain.low - 2, atol=1e-12)


def test_the_interval_is_that_of_the_accuracy_curve_but_for_its_shape():
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 200
    scores = rng.normal(size=(2000, 200)) + 2 * np.eye(200)[y]
    risk, accuracy = risk_of(scores, y, 1 - np.eye(200)).at(100), classay.accuracy_curve(scores, y).at(100)
    assert risk.high - risk.low == pytest.approx(accuracy.high - accuracy.low, rel=0.3)
    assert risk.low < 1 - accuracy.value < risk.high


def test_two_classes_are_too_few_for_an_interval():
    found = risk_of([[0.0, 1], [0, 1]], [0, 1], [[0, 5], [1, 0]])
    assert found.risk.tolist() == [0, 0.5]
    assert (found.at(2).low, found.at(2).high) == (0, 5)


def test_a_table_of_costs_goes_by_its_labels():
    scores, costs = [[3.0, 1, 2], [2, 1, 0], [0, 1, 2]], np.array([[0, 9, 1], [1, 0, 1], [1, 1, 0]])
    table = pd.DataFrame(costs, index=list("abc"), columns=list("abc")).loc[list("cab"), list("bca")]
    found = risk_of(scores, ["a", "b", "c"], table, classes=["a", "b", "c"])
    assert found.risk.tolist() == [0, 1.5, 3]


@pytest.mark.parametrize(
    ("costs", "options", "message"),
    [
        (np.ones((2, 2)), {}, r"shape \(2, 2\) and there are 3 classes"),
        (np.full((3, 3), np.nan), {}, "expected finite numbers"),
        ([["a"] * 3] * 3, {}, "not a table of numbers"),
        (np.ones((3, 3)), {"prior": "rows"}, "equal weight"),
    ],
)
def test_bad_input_is_told(costs, options, message):
    with pytest.raises(InputError, match=message):
        risk_of(np.eye(3), [0, 1, 2], costs, **options)


def test_other_scores_than_those_of_the_curve():
    curve = classay.accuracy_curve(np.eye(3), [0, 1, 2])
    with pytest.raises(InputError, match="rank otherwise"):
        curve.risk(np.ones((3, 3)), -np.eye(3))
    with pytest.raises(InputError, match=r"shape \(2, 3\)"):
        curve.risk(np.ones((3, 3)), np.eye(3)[:2])
