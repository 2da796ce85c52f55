from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from voters import simulated

from classay.learner.preference.curve import fitted, rounds, spread


def coins(curve, seed=0):
    rng = np.random.default_rng(seed)
    return lambda p: (rng.random(p.size) < curve(p)).astype(float)


def test_two_places_by_hand():
    """Of 100 coins each, 30 at p = 0.4 and 70 at 0.6: symmetric around 0.5, and tests of a saturated model."""
    p, shares = np.repeat([0.4, 0.6], 100), np.tile(np.repeat([0.0, 1.0, 0.0], [70, 30, 0]), 2)
    shares[100:] = 1 - shares[100:]
    curve = fitted(p, shares, 0.95)
    np.testing.assert_allclose(curve.mean(np.array([0.4, 0.5, 0.6])), [0.3, 0.5, 0.7], atol=0.001)
    crossing = curve.crossing()
    assert crossing.value == pytest.approx(0.5, abs=0.001)
    assert crossing.high - 0.5 == pytest.approx(0.5 - crossing.low, abs=0.001)
    # That 0.4 is the crossing: its coins have mean ½ then, and the others are as before.
    log_likelihood = 30 * np.log(0.3) + 70 * np.log(0.7)
    assert -curve.evidence(0.4) == pytest.approx(2 * (log_likelihood - 100 * np.log(0.5)), rel=0.01)
    assert curve.dispersion == pytest.approx(1, abs=0.02)
    assert curve.limit == pytest.approx(stats.chi2.ppf(0.95, 1), rel=0.05)


@pytest.mark.parametrize("budget", [10, 40, 300])
def test_all_alike_leaves_room_for_others_and_is_exclusive(budget):
    for value, side in ((1.0, 1), (0.0, -1)):
        curve = simulated(lambda p, value=value: np.full(p.size, value), budget)
        assert curve.side(0.5) == side
        share = curve.share(0.5)
        assert share.high - share.low > 0.001
        assert share.value == pytest.approx(value, abs=0.01)
        if budget >= 40:  # of 10 fits only two or three are at either end
            assert curve.side(0.0) == curve.side(1.0) == side


def test_ties_prefer_nothing():
    curve = simulated(lambda p: np.full(p.size, 0.5), 100)
    assert [curve.side(p) for p in (0.0, 0.5, 1.0)] == [0, 0, 0]
    assert (curve.crossing().low, curve.crossing().high) == (0, 1)
    assert curve.share(0.5).low < 0.5 < curve.share(0.5).high


def test_a_step_is_found_between_two_places():
    crossing = simulated(lambda p: (p > 0.3712).astype(float), 200).crossing()
    assert crossing.low < 0.3712 < crossing.high
    assert 0 < crossing.high - crossing.low < 0.02


@pytest.mark.parametrize("truth", [0.2, 0.5, 0.9])
def test_a_crossing_is_found(truth):
    held = 0
    for seed in range(8):
        crossing = simulated(coins(lambda p: stats.norm.cdf((p - truth) / 0.05), seed), 300).crossing()
        held += crossing.low <= truth <= crossing.high
        assert abs(crossing.value - truth) < 0.05
        assert crossing.high - crossing.low < 0.1
    assert held >= 6


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]), min_size=12, max_size=40), st.floats(0, 1))
def test_figures_never_contradict_each_other(shares, middle):
    """p* and the difference at 0.5 are two readings of one test, whatever the trials are."""
    p = spread(len(shares))
    curve = fitted(p, np.array(shares), 0.95, (middle / 2, (1 + middle) / 2))
    crossing, share, side = curve.crossing(), curve.share(0.5), curve.side(0.5)
    assert 0 <= crossing.low <= crossing.value <= crossing.high <= 1
    assert 0 <= share.low <= share.value <= share.high <= 1
    assert share.low < share.high
    assert (side > 0) == (share.low > 0.5) == (crossing.high < 0.5)
    assert (side < 0) == (share.high < 0.5) == (crossing.low > 0.5)
    assert curve.side(0.0) <= side <= curve.side(1.0)
    assert (np.diff(curve.z(np.linspace(0, 1, 50))) >= 0).all()


@pytest.mark.parametrize("budget", [10, 11, 13, 47, 60, 600])
def test_the_budget_is_spent_and_any_round_is_spread(budget):
    assert sum(rounds(budget)) == budget
    assert {0.0, 0.5, 1.0} <= set(spread(rounds(budget)[0]).tolist())
    assert (spread(8, (0.2, 0.4)).min(), spread(8, (0.2, 0.4)).max()) == pytest.approx((0.2, 0.4))
