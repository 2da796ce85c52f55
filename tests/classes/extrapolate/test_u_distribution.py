"""The distribution of U: closed forms, agreement with `extrapolate`, and the questions that it decides."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from class_worlds import led_scores
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

import classay
from classay.classes.extrapolate.methods import METHODS, BeatenShare, normal_family
from classay.classes.extrapolate.u_distribution import BackTest
from classay.expect import InputError


@pytest.fixture(scope="module")
def curve():
    return classay.accuracy_curve(*led_scores())


@pytest.fixture(scope="module")
def distribution(curve):
    return curve.u_distribution()


def uniform():
    family = normal_family()
    return BeatenShare(family.places, family.weights)


def test_a_uniform_share_is_guessing():
    sizes = np.array([1, 2, 10, 1000])
    np.testing.assert_allclose(uniform().accuracy(sizes), 1 / sizes, rtol=1e-6)
    np.testing.assert_allclose(uniform().top(3, sizes), np.minimum(3 / sizes, 1), rtol=1e-6)
    np.testing.assert_allclose(uniform().below([0.1, 0.5, 0.99]), [0.1, 0.5, 0.99], atol=2e-4)
    assert uniform().mean_cost(11, lambda rank: rank) == pytest.approx(6)


@given(st.floats(-3, 6), st.integers(1, 6), st.integers(2, 400))
def test_one_place_is_a_binomial_number(z, m, k):
    share = BeatenShare(np.array([z]), np.ones(1))
    expected = binom.cdf(m - 1, k - 1, norm.sf(z))
    assert share.top(m, k) == pytest.approx(expected, abs=1e-10)
    assert share.mean_cost(k, lambda rank: rank > m) == pytest.approx(1 - expected, abs=1e-9)
    assert share.accuracy(k) == pytest.approx(norm.cdf(z) ** (k - 1), abs=1e-12)


def test_rows_that_beat_all_or_none():
    share = BeatenShare(np.array([-np.inf, 0.0, np.inf]), np.array([0.2, 0.3, 0.5]))
    np.testing.assert_allclose(share.accuracy([1, 2, 10**12]), [1, 0.65, 0.5])
    np.testing.assert_allclose(share.below([0.0, 0.4, 0.6, 1.0]), [0.2, 0.2, 0.5, 1.0])
    assert share.mean_cost(5, lambda rank: rank - 1) == pytest.approx(0.2 * 4 + 0.3 * 2)


def test_far_out_nothing_is_lost():
    share = BeatenShare(np.array([norm.isf(1e-12)]), np.ones(1))
    assert share.accuracy(10**12) == pytest.approx(math.exp(-1), rel=1e-6)
    assert share.top(2, 10**12) == pytest.approx(2 * math.exp(-1), rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_accuracy_is_that_of_extrapolate(curve, method):
    assert curve.u_distribution(method).accuracy(100) == classay.extrapolate(curve, 100, method)


@given(st.integers(0, 10**6), st.floats(0.3, 1.5), st.floats(2.0, 5.0))
@settings(max_examples=3)
def test_no_end_rises_with_k_from_either_door(seed, hard, easy):
    """The upper end was .097 with 200 classes and .237 with 500. As text: an unknown value does not equal itself."""
    rng, y = np.random.default_rng(seed), np.arange(60) % 15
    scores = rng.normal(size=(60, 15)) + rng.choice([hard, easy], 15)[y][:, None] * np.eye(15)[y]
    curve = classay.accuracy_curve(scores, y)
    sizes = [15, 16, 17, 29, 30, 31, 55, 200, 500, 10**4, 10**9]
    found = curve.u_distribution()
    for m in (1, 3):
        ends = np.array([[one.low, one.high] for one in (found.top(m, k) for k in sizes)])
        assert (np.diff(ends, axis=0) <= 1e-12).all()
    assert list(map(str, found.accuracies(sizes))) == list(map(str, classay.extrapolate(curve, sizes).estimates))
    assert str(found.accuracy(55)) == str(classay.extrapolate(curve, 55))


def test_a_back_test_that_leans_widens_one_side(curve):
    found = curve.u_distribution()
    parts = found.parts(lambda share: share.accuracy([300.0]))
    for foreseen in (0.2, 0.9):
        test = BackTest.of(15, 30, float(curve.accuracy[-1]), np.full(10, foreseen))
        low, high = replace(found, back_tests=(test,)).limits(parts, 1.0)
        assert (low < found.limits(parts)[0], high > found.limits(parts)[1]) == (foreseen > 0.5, foreseen < 0.5)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_distributions(curve, method):
    for member in curve.u_distribution(method).members:
        assert member.weights.min() >= 0
        assert member.weights.sum() == pytest.approx(1)
        assert member.accuracy(1) == pytest.approx(1)


def test_implied_is_a_normal_shift(curve):
    distribution = curve.u_distribution("implied")
    lead = math.sqrt(2 * classay.information(curve).nats["implied"].value)
    table = distribution.to_frame()
    np.testing.assert_allclose(table["value"], norm.cdf(norm.ppf(table["u"]) - lead), atol=2e-3)


def test_figures_agree_with_each_other(distribution):
    for k in (12, 300):
        assert distribution.cost(k, lambda rank: rank > 1).value == pytest.approx(1 - distribution.accuracy(k).value)
        tops = [distribution.top(m, k).value for m in (1, 2, 5)]
        assert tops == sorted(tops)
        of_five = distribution.cost(k, lambda rank: rank > 5)
        assert of_five.value == pytest.approx(1 - tops[-1])
        assert of_five.low == pytest.approx(1 - distribution.top(5, k).high)
    assert distribution.top(5, 4).value == 1
    assert distribution.accuracy(1).value == 1


def test_costs_move_with_their_units(distribution):
    one = distribution.cost(200, lambda rank: np.log(rank))
    two = distribution.cost(200, lambda rank: 10 - 3 * np.log(rank))
    assert two.value == pytest.approx(10 - 3 * one.value, rel=1e-6)
    assert distribution.cost(200, lambda rank: np.full(rank.shape, 7.0)).value == 7


@pytest.mark.parametrize("accuracy", [0.9, 0.6, 0.3, 0.1])
def test_the_largest_set_is_the_inverse(distribution, accuracy):
    found = distribution.largest(accuracy)
    k = int(found.value)
    assert distribution.accuracy(k).value >= accuracy > distribution.accuracy(k + 1).value
    assert found.low <= found.value <= found.high


def test_the_largest_set_at_its_ends(distribution):
    assert distribution.largest(0.999).value <= 2
    even = classay.accuracy_curve(np.eye(8)[np.arange(16) % 8], np.arange(16) % 8).u_distribution()
    found = even.largest(0.9)
    assert not found.known
    assert "every prediction was right" in found.kind


def test_top_m_is_bounded_below_by_accuracy_where_it_is_not_identified():
    """Among the first two of more classes, [0, 1] was all that was said of a curve without an error."""
    perfect = classay.accuracy_curve(np.eye(20)[np.arange(60) % 20], np.arange(60) % 20).u_distribution()
    assert not perfect.top(2, 50).known
    assert perfect.top(2, 50).low == perfect.top(1, 50).low > 0.5


def test_the_band_is_a_distribution_function(distribution):
    table = distribution.to_frame()
    assert (np.diff(table["value"]) >= -1e-9).all()
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()


def test_it_is_written_in_words_and_json(distribution):
    text = str(distribution)
    assert "At least half right up to" in text
    assert "among the first 5" in text
    assert set(json.loads(json.dumps(distribution.to_dict(), allow_nan=False))) >= {"u", "below", "method"}
    assert len(distribution.to_frame()) == 81


def test_kept_rows_lose_what_the_model_says(curve):
    distribution = curve.u_distribution("two_parameter")
    found = distribution.nested(90)
    (member,) = distribution.members
    ratio = float(member.accuracy(90) / member.accuracy(30))
    assert found.kept.value == pytest.approx(curve.accuracy[-1] * ratio)
    assert found.added.value == pytest.approx(float(member.accuracy(90)))
    assert found.accuracy.value == pytest.approx(found.kept.value / 3 + found.added.value * 2 / 3)
    assert found.now.kind == "over rows, these classes fixed"


def test_what_is_known_makes_the_interval_narrower():
    scores, y = led_scores(rows=20, lead=0.0)
    # Classes differ much, so other classes are uncertain, and these are not.
    scores += np.where(y % 2, 0.5, 4.0)[:, None] * np.eye(30)[y]
    found = classay.accuracy_curve(scores, y).nested(33)
    assert found.kept.high - found.kept.low < found.added.high - found.added.low
    assert found.kept.low < found.kept.value < found.kept.high
    text = str(found)
    assert "3 more like them" in text
    assert len(found.to_frame()) == 4
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda curve, found: found.top(0, 10), "`m`"),
        (lambda curve, found: found.accuracy(10**13), "at most 1e\\+12"),
        (lambda curve, found: found.cost(10, np.eye(3)), "function of an array of ranks"),
        (lambda curve, found: found.cost(10, lambda rank: np.ones(2)), "one finite cost"),
        (lambda curve, found: found.cost(10, lambda rank: rank["a"]), "failed"),
        (lambda curve, found: found.largest(1.5), "between 0 and 1"),
        (lambda curve, found: curve.u_distribution("kernel"), "kernel"),
        (lambda curve, found: classay.accuracy_curve(*led_scores(4)).u_distribution(), "at least 5"),
        (lambda curve, found: found.nested(30), "more than that"),
    ],
)
def test_bad_input(curve, distribution, ask, words):
    with pytest.raises(InputError, match=words):
        ask(curve, distribution)
