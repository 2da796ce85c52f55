"""The accuracy curve and its band."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.naive_bayes import GaussianNB

import classay
from classay.classes.curve.jackknife import KNOTS, interval_limits
from classay.expect import InputError


def made(n=400, K=30, seed=0, lead=2.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    scores = rng.normal(size=(n, K))
    scores[np.arange(n), y] += lead
    return scores, y


def test_the_curve_ends_at_plain_accuracy():
    scores, y = made(390)
    curve = classay.accuracy_curve(scores, y)
    assert curve.n_classes == 30
    assert curve.accuracy[-1] == pytest.approx((scores.argmax(axis=1) == y).mean())
    pairs = scores < scores[np.arange(390), y][:, None]
    assert curve.accuracy[1] == pytest.approx(pairs.sum() / pairs[:, 1:].size)


def test_ties_are_ordered():
    scores, y = made()
    wrong, random, right = (
        classay.accuracy_curve(np.round(scores), y, ties=t).accuracy for t in ("wrong", "random", "right")
    )
    assert (wrong[1:] < random[1:]).all()
    assert (random[1:] < right[1:]).all()


def test_the_band_holds_the_curve_and_stays_within_limits():
    for lead in (0.0, 1.0, 3.0, 9.0):
        curve = classay.accuracy_curve(*made(lead=lead))
        assert (curve.low >= 0).all()
        assert (curve.low <= curve.accuracy).all()
        assert (curve.accuracy <= curve.high).all()
        assert (curve.high <= 1).all()
        assert curve.at(1).low == curve.at(1).high == 1
        assert (curve.high - curve.low)[1:].min() > 0


def test_a_higher_level_is_wider_and_more_classes_are_narrower():
    low, high = (classay.accuracy_curve(*made(), level=level) for level in (0.8, 0.99))
    assert ((high.high - high.low) > (low.high - low.low))[1:].all()
    few, many = (classay.accuracy_curve(*made(20 * K, K, lead=1.0)).at(10) for K in (20, 200))
    assert many.high - many.low < 0.6 * (few.high - few.low)


def test_a_perfect_curve_has_an_interval_by_the_number_of_classes():
    for K in (10, 100):
        curve = classay.accuracy_curve(np.tile(np.eye(K), (3, 1)) * 9, np.tile(np.arange(K), 3))
        assert (curve.accuracy == 1).all()
        assert (curve.high == 1).all()
        np.testing.assert_allclose(curve.low[1:], stats.beta.ppf(0.025, K + 0.5, 0.5))


def test_two_classes_tell_nothing_of_others():
    curve = classay.accuracy_curve(*made(40, 2))
    assert (curve.at(2).low, curve.at(2).high) == (0, 1)
    only_two_with_rows = classay.accuracy_curve(made(40, 9)[0], np.arange(40) % 2)
    assert only_two_with_rows.at(9).low == 0
    all_right = classay.accuracy_curve(np.eye(2), [0, 1])
    assert (all_right.low.tolist(), all_right.high.tolist()) == ([1, 0], [1, 1])


def test_limits_of_independent_trials_are_those_of_a_proportion():
    # Groups that each tell 1/G of the variance of a proportion: as many degrees of freedom as groups less one.
    p, n, G = 0.9, 200, 40
    low, high = interval_limits(np.array([p]), np.full((G, 1), p * (1 - p) / n), 50, 10**6, 0.95)
    trials = n * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, G - 1)) ** 2
    expected = stats.beta.ppf([0.025, 0.975], p * trials + 0.5, (1 - p) * trials + 0.5)
    np.testing.assert_allclose([low[0], high[0]], expected)


def test_errors_of_one_group_alone_tell_little():
    alone = np.zeros((40, 1))
    alone[0] = 0.04
    even, single = (
        interval_limits(np.array([0.95]), each, 50, 10**6, 0.95) for each in (np.full((40, 1), 1e-3), alone)
    )
    assert single[0] < even[0]
    assert single[1] > even[1]


def test_many_sizes_are_interpolated_between_knots():
    scores, y = made(1500, 500, lead=2.5)
    curve = classay.accuracy_curve(scores.astype(np.float32), y)
    assert KNOTS < 500
    assert (np.diff(curve.accuracy) <= 0).all()
    assert np.abs(np.diff(curve.high - curve.low, n=2)[20:]).max() < 1e-3


def test_estimates_and_tables():
    curve = classay.accuracy_curve(*made(), marginal=True)
    assert curve.at(5).value == curve.accuracy[4]
    assert curve.at(5).kind == "over classes"
    frame = curve.to_frame()
    assert list(frame.columns) == ["figure", "k", "value", "low", "high", "level", "kind"]
    assert len(frame) == 30
    told = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert told["ranks"] == {"name": "scores", "rows": 400, "classes": 30, "marginal": True, "notes": []}
    np.testing.assert_array_equal(curve.evidence().accuracy(), curve.accuracy)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ties": "luck"}, "random"),
        ({"level": 95}, "level"),
        ({"classes": ["a", "b"]}, "30 columns but `classes` has 2 names"),
        ({"retrain": True}, "needs a learner"),
        ({"learner": GaussianNB(), "classes": ["a"]}, "rows X and labels y"),
    ],
)
def test_bad_options_are_told(options, message):
    with pytest.raises(InputError, match=message):
        classay.accuracy_curve(*made(), **options)


def test_a_record_and_labels_are_too_much_and_scores_alone_too_little():
    scores, y = made()
    with pytest.raises(InputError, match="has its own y"):
        classay.accuracy_curve(classay.Ranks.from_scores(scores, y), y)
    with pytest.raises(InputError, match="`y` is missing"):
        classay.accuracy_curve(scores)


def test_more_classes_than_observed_are_referred_to_extrapolate():
    with pytest.raises(InputError, match=r"extrapolate\(curve, 31\)"):
        classay.accuracy_curve(*made()).at(31)
    with pytest.raises(InputError, match="at least 1"):
        classay.accuracy_curve(*made()).at(0)


def test_a_plan_needs_fewer_classes_with_more_rows_or_less_precision():
    rng, y = np.random.default_rng(0), np.arange(160) % 40
    curve = classay.accuracy_curve(rng.normal(size=(160, 40)) + 2 * np.eye(40)[y], y)
    for k in (10, 40, 200):
        plan, rough = curve.plan(k), curve.plan(k, 0.2)
        assert list(plan.classes) == sorted(plan.classes, reverse=True)
        assert all(few <= many for few, many in zip(rough.classes, plan.classes))
        assert plan.half == pytest.approx((classay.extrapolate(curve, k).high - classay.extrapolate(curve, k).low) / 2)
        assert len(plan.to_frame()) == len(plan.rows)
        assert "rows each" in str(plan)
        assert "is reached" in str(rough)
    with pytest.raises(InputError, match="width"):
        curve.plan(40, 2)
    # Nothing varies, or two classes say nothing about others: no number of rows was looked at.
    for scores in (np.eye(40)[y], -np.eye(40)[y], rng.normal(size=(160, 2))):
        with pytest.raises(InputError, match="at least 5 classes, some predictions right"):
            classay.accuracy_curve(scores, y % scores.shape[1]).plan(100)
