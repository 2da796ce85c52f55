"""Forecasts for more classes: known curves, what is not identified, back-tests, and the checks of the theory."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from class_worlds import class_ranks, easy_and_hard, heavy_tails, led_scores, twins
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import poisson

from classay.classes.curve.curve import accuracy_curve
from classay.classes.extrapolate.extrapolate import (
    BackTest,
    back_test,
    class_pair_ratio,
    extrapolate,
    from_refits,
    narrow_ratio,
    pair_ratio,
    training_changes,
    trusted_ratio,
)
from classay.classes.extrapolate.methods import METHODS, BeatenShare
from classay.classes.information.channel import mean_top
from classay.classes.ranks.scores import Retrained
from classay.expect import InputError
from classay.intervals import Estimate


@pytest.fixture(scope="module")
def curve():
    return accuracy_curve(*led_scores(), marginal=True)


def test_it_covers_a_known_curve(curve):
    for k in (60, 300):
        found = extrapolate(curve, k)
        assert found.low <= float(mean_top(2.0, k)) <= found.high
        assert found.low < found.value < found.high
        assert "extrapolated" in found.kind


def test_more_classes_are_not_easier_and_less_certain(curve):
    found = extrapolate(curve, [40, 400, 10**9]).estimates
    assert found[0].value > found[1].value
    assert max(each.high for each in found) <= curve.high[-1]
    assert found[2].value < 0.01


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers(method, curve):
    found = extrapolate(curve, 60, method=method)
    assert found.known
    assert abs(found.value - float(mean_top(2.0, 60))) < 0.15
    fewest = extrapolate(accuracy_curve(*led_scores(n_classes=5, lead=1.0)), 6, method=method)
    assert 0 <= fewest.low < fewest.high <= 1
    scores, y = led_scores(n_classes=12, rows=6, lead=1.0)
    one_class = extrapolate(accuracy_curve(scores[y == 3], y[y == 3]), 100, method=method)
    assert math.isnan(one_class.value)
    assert (one_class.low, one_class.high) == (0, 1)


def test_stretching_scores_changes_nothing(curve):
    scores, y = led_scores()
    stretch = np.random.default_rng(3).uniform(0.5, 2, size=(y.size, 1))
    other = accuracy_curve(scores * stretch + 5 * stretch, y, marginal=True)
    assert extrapolate(other, 100).value == pytest.approx(extrapolate(curve, 100).value, abs=1e-6)


@pytest.mark.parametrize(("sign", "words"), [(1, "every prediction was right"), (-1, "no prediction was right")])
def test_all_right_or_all_wrong_is_not_identified(sign, words):
    y = np.repeat(np.arange(20), 5)
    found = extrapolate(accuracy_curve(sign * np.eye(20)[y], y), [1000])
    (estimate,) = found.estimates
    assert math.isnan(estimate.value)
    assert words in estimate.kind
    assert (estimate.low > 0, estimate.high == 1) == (sign > 0, sign > 0)
    assert found.back_tests
    assert math.isnan(found.trusted)
    assert "a back-test is uninformative" in str(found)


def test_the_level_of_the_curve_is_that_of_every_interval(curve):
    narrow, wide = (extrapolate(accuracy_curve(curve.ranks, level=level), [10, 60]).estimates for level in (0.5, 0.99))
    assert [estimate.level for estimate in (*narrow, *wide)] == [0.5, 0.5, 0.99, 0.99]
    for small, large in zip(narrow, wide):
        assert small.value == large.value
        assert large.low < small.low < small.high < large.high


def test_a_few_errors_leave_much_possible():
    few = extrapolate(accuracy_curve(*led_scores(n_classes=6)), [12])
    assert few.back_tests == ()
    assert "too few for a back-test" in str(few)
    scores, y = led_scores(n_classes=6, rows=3, lead=3.2, seed=1)
    found = extrapolate(accuracy_curve(scores, y), 10**5)
    assert math.isnan(found.value)
    assert "not identified" in found.kind
    assert found.low < 0.3
    assert found.high > 0.7


def test_the_result_tells_all(curve):
    found = extrapolate(curve, [20, 100])
    assert found.estimates[0].value == curve.accuracy[19]
    assert "not extrapolated" in found.estimates[0].kind
    assert set(found.by_method) == set(METHODS)
    assert found.by_method["implied"][0] == curve.accuracy[19]
    assert found.path_k[-1] == 100
    assert found.path[-1] == found.estimates[1]
    assert [test.n_classes for test in found.back_tests] == [15, 8]
    text = str(found)
    for words in ("with 100", "Back-test", "by combined", "30 observed classes"):
        assert words in text
    frame = found.to_frame()
    assert {"accuracy", "by method", "back-test from 15 classes"} <= set(frame["figure"])
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["back_tests"][0]["error"] == found.back_tests[0].error


def test_back_test_by_hand(curve):
    def beaten(evidence):  # by so many classes that two of them leave an accuracy of K/100
        return BeatenShare(np.array([-np.inf, np.inf]), np.array([1, 0]) + evidence.n_classes / 100 * np.array([-1, 1]))

    found = back_test(curve, (beaten,), seed=0)
    assert [test.foreseen.tolist() for test in found] == [[0.15] * 10, [0.08] * 10]
    assert found[0].actual == curve.accuracy[-1]
    assert found[0].lean == pytest.approx(0.15 - curve.accuracy[-1])
    assert found[0].error == pytest.approx(abs(found[0].lean))


def test_the_limit_of_trust_grows_with_the_logarithm():
    tests = (
        BackTest.of(50, 100, 0.5, np.array([0.52, 0.48])),  # .02 for log 2
        BackTest.of(25, 100, 0.5, np.array([0.53, 0.47])),  # .03 for log 4, which is slower
    )
    assert trusted_ratio(tests) == pytest.approx(2 ** (0.05 / 0.02 / 1.959964), rel=1e-6)
    assert trusted_ratio(tests, level=0.6826895) == pytest.approx(2 ** (0.05 / 0.02), rel=1e-6)
    assert trusted_ratio((BackTest.of(50, 100, 0.5, np.array([0.5])),)) == 100
    assert math.isnan(trusted_ratio(()))


def test_trust_ends_where_the_interval_reaches_too_far():
    narrow, wide, unknown = Estimate(0.5, 0.46, 0.54), Estimate(0.5, 0.44, 0.53), Estimate(math.nan, 0.0, 1.0)
    assert narrow_ratio([20, 40, 80], [narrow, narrow, wide], 10) == 4
    assert narrow_ratio([20, 40], [unknown, narrow], 10) == 1
    assert narrow_ratio([20, 40], [narrow, narrow], 10) == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"k": 0}, "at least 1"),
        ({"k": 2.5}, "whole number"),
        ({"k": 10**13}, "at most"),
        ({"k": 60, "method": "imply"}, "implied"),
        ({"k": [60, 0]}, "at least 1"),
        ({"k": []}, "empty"),
        ({"k": 10, "curve": np.ones(3)}, "accuracy_curve"),
        ({"k": 10, "curve": accuracy_curve(*led_scores(n_classes=4))}, "at least 5"),
    ],
)
def test_bad_input(curve, arguments, words):
    with pytest.raises(InputError, match=words):
        extrapolate(**{"curve": curve} | arguments)


def test_scores_that_are_only_an_order_are_said():
    scores, y = led_scores()
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        votes = np.log(np.round(shares, 1))  # as of ten trees: mostly −inf
    found = extrapolate(accuracy_curve(votes, y), [60])
    assert "half of the default" in str(found)
    assert "normal shape" in str(found)


# Classes that come in pairs.


@given(st.lists(st.tuples(st.floats(0.01, 8), st.floats(0.05, 1)), min_size=1, max_size=6))
def test_mixtures_of_poisson_numbers_have_a_ratio_of_at_most_one(parts):
    rates, weights = np.array(parts).T
    chances = poisson.pmf(np.arange(400)[:, None], rates) @ (weights / weights.sum())
    assert pair_ratio(chances[::-1] / chances.sum()) <= 1 + 1e-9


def test_twins_are_found_and_said_and_others_are_not():
    curves = [accuracy_curve(class_ranks(twins, 150, np.random.default_rng(seed))) for seed in range(4)]
    assert sum(class_pair_ratio(curve) is not None for curve in curves) >= 3
    assert "come in pairs" in str(extrapolate(curves[0], [1000]))
    for source in (easy_and_hard, heavy_tails):
        for seed in range(4):
            assert class_pair_ratio(accuracy_curve(class_ranks(source, 60, np.random.default_rng(seed)))) is None


# Learners whose training changes with the number of classes.


def curve_with(shift, sizes=(5, 10, 15)):
    truth = np.repeat(np.arange(20), 10)
    scores = np.random.default_rng(0).normal(size=(200, 20)) + 2 * np.eye(20)[truth]
    curve = accuracy_curve(scores, truth)
    refits = []
    for k in sizes:
        value = float(curve.accuracy[k - 1]) + shift
        refits.append(Retrained(k, Estimate(value, value - 0.02, value + 0.02), np.full(3, value)))
    return replace(curve, retrained=tuple(refits))


@pytest.mark.parametrize(("shift", "changes"), [(0.0, False), (0.01, False), (0.06, True), (-0.06, True)])
def test_refits_off_the_curve(shift, changes):
    curve = curve_with(shift)
    assert training_changes(curve) is changes
    text = str(extrapolate(curve, [60]))
    assert ("Training changes with k" in text) is changes
    dependent = replace(curve, ranks=replace(curve.ranks, marginal=False))
    notes = str(extrapolate(dependent, [60])), str(extrapolate(replace(dependent, retrained=()), [60]))
    assert ["retrain=True" in note for note in notes] == [False, True]
    assert (f"differ from the curve by {shift:+.2g}" in notes[0]) is not changes
    one_size = curve_with(shift, (5,))
    assert not training_changes(one_size)
    assert "refits" not in extrapolate(one_size, [60]).by_method


def test_refits_on_a_normal_curve_continue_it():
    curve = curve_with(0.0)
    exact = tuple(replace(one, accuracy=Estimate(float(mean_top(2.0, one.k)), 0.0, 1.0)) for one in curve.retrained)
    found = from_refits(replace(curve, retrained=exact), [60])[0]
    assert found == pytest.approx(float(mean_top(2.0, 60)), abs=0.05)
    assert extrapolate(curve, [10, 60]).by_method["refits"][0] == curve.accuracy[9]
