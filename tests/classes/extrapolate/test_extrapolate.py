import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from classay.classes.curve.curve import accuracy_curve
from classay.classes.extrapolate.back_test import BackTest, back_test, narrow_ratio, trusted_ratio
from classay.classes.extrapolate.extrapolate import BY_NAME, METHODS, extrapolate, extrapolation
from classay.classes.extrapolate.methods import basis_of, family_parameters, moments_of_basis
from classay.classes.information.channel import mean_top
from classay.classes.ranks.ranks import Evidence, Ranks
from classay.expect import InputError
from classay.intervals import Estimate


def scores_of(n_classes=30, rows=6, lead=2.0, seed=0):
    truth = np.repeat(np.arange(n_classes), rows)
    noise = np.random.default_rng(seed).normal(size=(truth.size, n_classes))
    return noise + lead * np.eye(n_classes)[truth], truth


@pytest.fixture(scope="module")
def curve():
    return accuracy_curve(*scores_of(), marginal=True)


def test_it_covers_a_known_curve(curve):
    for k in (60, 300):
        found = extrapolate(curve, k)
        assert found.low <= float(mean_top(2.0, k)) <= found.high
        assert found.low < found.value < found.high
        assert "extrapolated" in found.kind


def test_up_to_all_classes_nothing_is_extrapolated(curve):
    found = extrapolate(curve, 10)
    assert found.value == curve.accuracy[9]
    assert "not extrapolated" in found.kind


def test_more_classes_are_not_easier_and_less_certain(curve):
    found = extrapolation(curve, [40, 400, 10**9]).estimates
    assert found[0].value > found[1].value
    assert max(each.high for each in found) <= curve.high[-1]
    assert found[2].value < 0.01


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers(method):
    ranks = Ranks.from_scores(*scores_of(), marginal=True, kernel=True)
    found = extrapolate(accuracy_curve(ranks), 60, method=method)
    assert found.known
    assert abs(found.value - float(mean_top(2.0, 60))) < 0.15


def test_stretching_scores_changes_nothing(curve):
    scores, y = scores_of()
    stretch = np.random.default_rng(3).uniform(0.5, 2, size=(y.size, 1))
    other = accuracy_curve(scores * stretch + 5 * stretch, y, marginal=True)
    assert extrapolate(other, 100).value == pytest.approx(extrapolate(curve, 100).value, abs=1e-6)


def test_the_same_seed_gives_the_same_bits(curve):
    one, two = (extrapolation(curve, [60], method="moments", random_state=4) for _ in range(2))
    assert one.estimates == two.estimates
    assert one.trusted == two.trusted


def test_all_right_is_not_identified():
    y = np.repeat(np.arange(20), 5)
    found = extrapolate(accuracy_curve(np.eye(20)[y], y), 1000)
    assert math.isnan(found.value)
    assert "every prediction was right" in found.kind
    assert 0 < found.low < found.high == 1


def test_all_wrong_is_not_identified():
    y = np.repeat(np.arange(20), 5)
    found = extrapolate(accuracy_curve(-np.eye(20)[y], y), 1000)
    assert math.isnan(found.value)
    assert found.low == 0


def test_all_right_says_nothing_of_how_far_to_trust_it():
    y = np.repeat(np.arange(20), 5)
    found = extrapolation(accuracy_curve(np.eye(20)[y], y), [1000])
    assert found.back_tests
    assert math.isnan(found.trusted)
    assert "a back-test is uninformative" in str(found)


def test_the_level_asked_for_is_that_of_every_interval(curve):
    narrow, wide = (extrapolation(curve, [10, 60], level=level).estimates for level in (0.5, 0.99))
    assert [estimate.level for estimate in (*narrow, *wide)] == [0.5, 0.5, 0.99, 0.99]
    assert narrow[0] == replace(accuracy_curve(curve.ranks, level=0.5).at(10), kind=narrow[0].kind)
    for small, large in zip(narrow, wide):
        assert small.value == large.value
        assert large.low < small.low < small.high < large.high


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_one_class_alone_leave_all_possible(method):
    scores, y = scores_of(n_classes=12, rows=6, lead=1.0)
    ranks = Ranks.from_scores(scores[y == 3], y[y == 3], kernel=True)
    found = extrapolate(accuracy_curve(ranks), 100, method=method)
    assert math.isnan(found.value)
    assert (found.low, found.high) == (0, 1)


@pytest.mark.parametrize("method", METHODS)
def test_five_classes_are_the_fewest(method):
    ranks = Ranks.from_scores(*scores_of(n_classes=5, lead=1.0), kernel=True)
    found = extrapolate(accuracy_curve(ranks), 6, method=method)
    assert 0 <= found.low < found.high <= 1


def test_a_few_errors_leave_much_possible():
    scores, y = scores_of(n_classes=6, rows=3, lead=3.2, seed=1)
    found = extrapolate(accuracy_curve(scores, y), 10**5)
    assert math.isnan(found.value)
    assert "not identified" in found.kind
    assert found.low < 0.3
    assert found.high > 0.7


def test_the_result_tells_all(curve):
    found = extrapolation(curve, [20, 100])
    assert set(found.by_method) == set(BY_NAME) - {"kernel"}
    assert found.by_method["line"][0] == curve.accuracy[19]
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


def test_a_learner_that_is_not_marginal_is_said():
    found = extrapolation(accuracy_curve(*scores_of(), marginal=False), [60])
    assert "the theory does not hold" in str(found)


def test_back_test_by_hand(curve):
    found = back_test(curve, lambda evidence, k: np.full(len(k), evidence.n_classes / 100), seed=0)
    assert [test.foreseen.tolist() for test in found] == [[0.15] * 10, [0.08] * 10]
    assert found[0].actual == curve.accuracy[-1]
    assert found[0].lean == pytest.approx(0.15 - curve.accuracy[-1])
    assert found[0].error == pytest.approx(abs(found[0].lean))


def test_the_limit_of_trust_grows_with_the_logarithm():
    tests = (
        BackTest(50, 2.0, 0.5, np.array([0.52, 0.48])),  # .02 for log 2
        BackTest(25, 4.0, 0.5, np.array([0.53, 0.47])),  # .03 for log 4, which is slower
    )
    assert trusted_ratio(tests) == pytest.approx(2 ** (0.05 / 0.02 / 1.959964), rel=1e-6)
    assert trusted_ratio(tests, level=0.6826895) == pytest.approx(2 ** (0.05 / 0.02), rel=1e-6)
    assert trusted_ratio((BackTest(50, 2.0, 0.5, np.array([0.5])),)) == 100
    assert math.isnan(trusted_ratio(()))


def test_trust_ends_where_the_interval_reaches_too_far():
    narrow, wide, unknown = Estimate(0.5, 0.46, 0.54), Estimate(0.5, 0.44, 0.53), Estimate(math.nan, 0.0, 1.0)
    assert narrow_ratio([20, 40, 80], [narrow, narrow, wide], 10) == 4
    assert narrow_ratio([20, 40], [unknown, narrow], 10) == 1
    assert narrow_ratio([20, 40], [narrow, narrow], 10) == 4


def test_few_classes_have_no_back_test():
    found = extrapolation(accuracy_curve(*scores_of(n_classes=6)), [12])
    assert found.back_tests == ()
    assert "too few for a back-test" in str(found)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"k": 0}, "at least 1"),
        ({"k": 2.5}, "whole number"),
        ({"k": 10**13}, "at most"),
        ({"k": 60, "method": "linear"}, "line"),
        ({"k": 60, "level": 2}, "level"),
        ({"k": 60, "method": "kernel"}, "kernel=True"),
    ],
)
def test_bad_input(curve, arguments, words):
    with pytest.raises(InputError, match=words):
        extrapolate(curve, **arguments)


def test_more_bad_input(curve):
    with pytest.raises(InputError, match="empty"):
        extrapolation(curve, [])
    with pytest.raises(InputError, match="accuracy_curve"):
        extrapolate(np.ones(3), 10)
    with pytest.raises(InputError, match="at least 5"):
        extrapolate(accuracy_curve(*scores_of(n_classes=4)), 10)
    assert extrapolate(accuracy_curve(*scores_of(n_classes=4)), 3).known


def test_a_basis_of_the_user():
    # U = V^(1/a) with V uniform: E U^(k−1) = a/(a + k − 1).
    n_classes = 50
    beaten = stats.betabinom.pmf(np.arange(n_classes), n_classes - 1, 8.0, 1.0)
    lower = np.arange(n_classes)
    evidence = Evidence(n_classes, lower, np.zeros_like(lower), beaten / beaten.sum())
    found = moments_of_basis(evidence, [200], basis_of([stats.beta(a, 1).cdf for a in (2, 8, 32)]))
    assert found[0] == pytest.approx(8 / 207, abs=2e-3)


def test_a_basis_is_for_moments_and_rises_to_one(curve):
    found = extrapolate(curve, 60, method="moments", basis=[stats.beta(a, 1).cdf for a in (2, 10, 50, 200)])
    assert abs(found.value - float(mean_top(2.0, 60))) < 0.15
    with pytest.raises(InputError, match="`basis` is for method"):
        extrapolate(curve, 60, basis=[stats.beta(2, 1).cdf])
    for basis, words in (([], "empty"), ([lambda u: 1 - u], "rise with u"), ([lambda u: u["a"]], "failed")):
        with pytest.raises(InputError, match=words):
            extrapolate(curve, 60, method="moments", basis=basis)


def test_the_parameters_of_the_families_are_reported():
    beaten = np.zeros(200)
    z, weights = np.polynomial.hermite_e.hermegauss(60)
    for place, weight in zip(1.5 + 0.7 * z, weights / weights.sum()):
        beaten += weight * stats.binom.pmf(np.arange(200), 199, stats.norm.cdf(place))
    lower = np.arange(200)
    found = family_parameters(Evidence(200, lower, np.zeros_like(lower), beaten / beaten.sum()))
    assert found["two_parameter"] == pytest.approx({"mu": 1.5, "nu": 0.7}, abs=0.02)
    assert found["implied"]["nats"] > 0


def test_parameters_are_in_the_result(curve):
    found = extrapolation(curve, [60])
    assert set(found.parameters) == {"two_parameter", "calibrated", "implied"}
    assert found.to_dict()["parameters"]["two_parameter"]["nu"] > 0


def test_scores_that_are_only_an_order_are_said():
    scores, y = scores_of()
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        votes = np.log(np.round(shares, 1))  # as of ten trees: mostly −inf
    found = extrapolation(accuracy_curve(votes, y), [60])
    assert "half of the default" in str(found)
    assert "normal shape" in str(found)
