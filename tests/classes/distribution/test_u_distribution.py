"""The distribution of U: closed forms, agreement with `extrapolate`, and the questions that it decides."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

import classay
from classay.classes.extrapolate.beaten_share import BeatenShare, combine
from classay.classes.extrapolate.methods import METHODS, SHARES, normal_family
from classay.expect import InputError


def scores_of(n_classes=30, rows=6, lead=2.0, seed=0):
    truth = np.repeat(np.arange(n_classes), rows)
    noise = np.random.default_rng(seed).normal(size=(truth.size, n_classes))
    return noise + lead * np.eye(n_classes)[truth], truth


@pytest.fixture(scope="module")
def ranks():
    return classay.Ranks.from_scores(*scores_of(), kernel=True)


@pytest.fixture(scope="module")
def distribution(ranks):
    return classay.u_distribution(ranks)


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


def test_a_single_member_is_itself():
    assert combine([np.array([0.3])]).tolist() == [0.3]
    assert combine([np.array([0.2]), np.array([0.8])]) == pytest.approx(0.5)


@pytest.mark.parametrize("method", SHARES)
def test_accuracy_is_that_of_the_method(ranks, method):
    found = combine([make(ranks.evidence()).accuracy([50, 1000]) for make in SHARES[method]])
    # The weights of moments need not sum to 1, those of a distribution do.
    tolerance = 1e-4 if method == "moments" else 2e-6
    np.testing.assert_allclose(found, METHODS[method](ranks.evidence(), [50, 1000]), atol=tolerance)


def test_the_default_is_that_of_extrapolate(ranks, distribution):
    for k in (10, 100, 5000):
        one, two = distribution.accuracy(k), classay.extrapolate(classay.accuracy_curve(ranks), k)
        assert (one.value, one.low) == pytest.approx((two.value, two.low), abs=1e-9)


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
    even = classay.u_distribution(classay.Ranks.from_scores(np.eye(8)[np.arange(16) % 8], np.arange(16) % 8))
    found = even.largest(0.9)
    assert not found.known
    assert "every prediction was right" in found.kind


def test_the_band_is_a_distribution_function(distribution):
    assert (np.diff(distribution.below) >= -1e-9).all()
    assert (distribution.low <= distribution.below).all()
    assert (distribution.below <= distribution.high).all()
    assert distribution.resolution == pytest.approx(1 - 1 / 30)


def test_it_is_written_in_words_and_json(distribution):
    text = str(distribution)
    assert "At least half right up to" in text
    assert "among the first 5" in text
    assert set(json.loads(json.dumps(distribution.to_dict(), allow_nan=False))) >= {"u", "below", "members"}
    assert len(distribution.to_frame()) == 81


def test_bad_input(distribution, ranks):
    with pytest.raises(InputError, match="`m`"):
        distribution.top(0, 10)
    with pytest.raises(InputError, match="at most 1e\\+12"):
        distribution.accuracy(10**13)
    with pytest.raises(InputError, match="function of an array of ranks"):
        distribution.cost(10, np.eye(3))
    with pytest.raises(InputError, match="one finite cost"):
        distribution.cost(10, lambda rank: np.ones(2))
    with pytest.raises(InputError, match="failed"):
        distribution.cost(10, lambda rank: rank["a"])
    with pytest.raises(InputError, match="between 0 and 1"):
        distribution.largest(1.5)
    with pytest.raises(InputError, match="line"):
        classay.u_distribution(ranks, method="line")
    with pytest.raises(InputError, match="at least 5"):
        classay.u_distribution(classay.Ranks.from_scores(*scores_of(n_classes=4)))
    with pytest.raises(InputError, match="accuracy_curve"):
        classay.u_distribution(np.ones(3))
