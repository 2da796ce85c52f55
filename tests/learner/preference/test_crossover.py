from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from classay.intervals import of_proportion
from classay.learner.preference.crossover import Search, between, mean_share


def run(search, curve, seed=0):
    """Search with coins: an answer is 1 with the probability that the curve says."""
    rng = np.random.default_rng(seed)
    while asked := search.ask():
        search = search.tell(asked, [(rng.random(times) < curve(place)).astype(float) for place, times in asked])
    return search


def test_a_mean_of_coins_has_wilsons_interval_with_students_quantile():
    coins = np.repeat([0.0, 1.0], [14, 6])
    found = mean_share(coins, 0.95)
    # Wilson's interval takes the variance with n, ours with n − 1, and Student's quantile: both a little wider.
    wilson = of_proportion(6, 20)
    assert found.value == pytest.approx(0.3)
    assert wilson.low - 0.03 < found.low < wilson.low
    assert wilson.high < found.high < wilson.high + 0.03


def test_answers_that_hardly_vary_have_students_interval():
    shares = 0.4 + 0.01 * np.random.default_rng(0).normal(size=30)
    found = mean_share(shares, 0.95)
    reach = stats.t.ppf(0.975, 29) * shares.std(ddof=1) / np.sqrt(30)
    assert found.high - found.low == pytest.approx(2 * reach, rel=0.01)


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_the_same_answer_always_leaves_room_for_others(value):
    found = mean_share(np.full(20, value), 0.95)
    rare = 1 - 0.025 ** (1 / 20)  # as often as it may occur and still be missed 20 times in 2.5 %
    assert (found.low, found.high) == pytest.approx((value * (1 - rare), value * (1 - rare) + rare))


def test_two_places_by_hand():
    # Means .3 and .7 lie symmetrically around a half, so the crossing is half way.
    below, above = np.repeat([0.0, 1.0], [70, 30]), np.repeat([0.0, 1.0], [30, 70])
    found = between(0.4, 0.6, below, above, 0.95)
    assert found.value == pytest.approx(0.5)
    assert found.high - 0.5 == pytest.approx(0.5 - found.low)
    # Fieller: (z at p)² = t²·variance at the ends.
    z, slope = stats.norm.ppf([0.3, 0.7]), np.diff(stats.norm.ppf([0.3, 0.7]))[0]
    error = below.std(ddof=1) / (10 * stats.norm.pdf(z[0]))
    part = (found.high - 0.4) / 0.2
    t = stats.t.ppf(0.975, 198)
    assert (z[0] + part * slope) ** 2 == pytest.approx(t**2 * error**2 * ((1 - part) ** 2 + part**2))


def test_two_places_that_do_not_rise_tell_nothing():
    coins = np.repeat([0.0, 1.0], [10, 10])
    assert between(0.4, 0.6, coins, coins, 0.95) is None
    assert between(0.4, 0.6, np.full(20, 0.3), np.full(20, 0.7), 0.95) is None  # a step, somewhere between
    assert between(0.4, 0.6, np.zeros(20), np.ones(20), 0.95) is None


@pytest.mark.parametrize("truth", [0.2, 0.5, 0.9])
def test_a_crossing_is_found(truth):
    held = 0
    for seed in range(8):
        search = run(Search(600, 0.03), lambda p: stats.norm.cdf((p - truth) / 0.05), seed)
        found = search.crossing()
        held += found.low <= truth <= found.high
        assert abs(found.value - truth) < 0.04
        assert found.high - found.low <= 0.06 or search.asked > 450
        assert search.asked <= 600
    assert held >= 6


def test_a_step_ends_in_a_bracket():
    search = run(Search(600, 0.01), lambda p: float(p > 0.3712))
    found = search.crossing()
    assert found.kind == "a bracket"
    assert found.low <= 0.3712 <= found.high
    assert found.high - found.low <= 0.02


@pytest.mark.parametrize(("height", "sides"), [(0.9, (True, True)), (0.1, (False, False))])
def test_a_curve_that_stays_on_one_side_is_given_up_early(height, sides):
    search = run(Search(600, 0.02), lambda p: height)
    assert (search.side(0.0), search.side(1.0)) == sides
    assert search.asked <= 250


def test_a_curve_at_one_half_is_not_told():
    search = run(Search(600, 0.02), lambda p: 0.5)
    assert None in (search.side(0.0), search.side(1.0))
    assert search.asked <= 600


def test_a_curve_that_falls_is_noticed():
    search = run(Search(400, 0.02), lambda p: 0.05 if p in (0.0, 1.0) else 0.95)
    assert not search.rises
    assert run(Search(400, 0.02), lambda p: p).rises


def test_the_budget_is_never_exceeded_and_failed_answers_count():
    search = Search(100, 0.001)
    rng = np.random.default_rng(0)
    while asked := search.ask():
        answers = [(rng.random(times) < place).astype(float)[: max(times - 1, 1)] for place, times in asked]
        search = search.tell(asked, answers)
    assert search.asked <= 100
    assert search.shares.size < search.asked


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60))
def test_intervals_of_means_hold_the_mean(shares):
    found = mean_share(np.array(shares), 0.9)
    assert 0 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1
