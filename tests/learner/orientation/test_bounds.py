import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

import classay
from classay.learner.orientation import bias as bounds_of


def test_chance_of_the_paper():
    expected = [0.96875, 0.8125, 0.5, 0.1875, 0.03125]
    assert [bounds_of.chance(z, 5, 2) for z in range(1, 6)] == pytest.approx(expected)


@given(st.integers(1, 60), st.integers(2, 12), st.data())
def test_chance_is_a_binomial_tail(h, c, data):
    z = data.draw(st.integers(0, h))
    assert bounds_of.chance(z, h, c) == pytest.approx(stats.binom.sf(z - 1, h, 1 / c), rel=1e-9)


def test_target_size_by_enumeration():
    labelings = np.array(np.meshgrid(*[range(3)] * 4)).reshape(4, -1)
    right = (labelings == 0).sum(axis=0)
    for z in range(5):
        assert bounds_of.target_size(z, 4, 3) == (right >= z).sum()


@given(hnp.arrays(float, 32, elements=st.floats(0, 1)).filter(lambda p: p.sum() > 0), st.integers(1, 5))
def test_bounds_hold_for_any_distribution(weights, z):
    p = weights / weights.sum()
    right = np.array([bin(number).count("1") for number in range(32)])
    q = p[right >= z].sum()
    h = -sum(x * math.log2(x) for x in p if x > 0)
    bias = q - bounds_of.chance(z, 5, 2)
    found = bounds_of.bounds(np.array([[q]]), h, 0.0, z, 5, 2)
    assert found.expressivity_least - 1e-9 <= h <= found.expressivity_tight + 1e-9
    assert h <= found.expressivity_lauw + 1e-9
    assert abs(bias) <= found.bias_lauw + 1e-9
    assert found.bias_low - 1e-9 <= bias <= found.bias_high + 1e-9
    assert found.capacity_least - 1e-9 <= found.capacity <= found.capacity_tight + 1e-9
    # The tight bound is never looser than the published one.
    assert found.expressivity_tight <= found.expressivity_lauw + 1e-9


@pytest.mark.parametrize("z", [1, 2, 3, 4, 5])
def test_the_tight_bound_is_reached(z):
    right = np.array([bin(number).count("1") for number in range(32)])
    inside = right >= z
    for q in (0.0, 0.3, 1.0):
        p = np.where(inside, q / inside.sum(), (1 - q) / max((~inside).sum(), 1))
        h = -sum(x * math.log2(x) for x in p if x > 0)
        assert bounds_of.most_expressivity(q, z, 5, 2) == pytest.approx(h)


def test_a_thousand_points_do_not_overflow():
    assert bounds_of.chance(900, 1000, 10) == 0 or bounds_of.chance(900, 1000, 10) < 1e-300
    assert bounds_of.most_expressivity(0.5, 900, 1000, 10) < 1000 * math.log2(10)


def test_a_constant_learner_is_not_below_what_is_possible():
    """Holdouts are always hit or never: each has an entropy of 0, though the mean mass is in between."""
    labels = np.ones((30, 4, 60), dtype=int)
    o = classay.orientation(classay.Labelings.from_arrays(labels, np.arange(60) % 3 > 0))
    for bound in o.bounds:
        assert bound.expressivity_least <= o.plugin.expressivity.value + 1e-9
        assert bound.expressivity_least == pytest.approx(0, abs=1e-12)
    assert 0.2 < np.mean([bound.bias + bound.chance for bound in o.bounds]) < 0.9


@pytest.mark.parametrize("seed", range(5))
def test_every_plain_estimate_is_within_its_bounds(seed):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.3, 0.3, size=(20, 1, 40)) * 0.8 + rng.beta(0.5, 0.5, size=40) * 0.2
    labels = (rng.random((20, 4, 40)) < p).astype(int)
    o = classay.orientation(classay.Labelings.from_arrays(labels, rng.integers(2, size=40)))
    for bound in o.bounds:
        assert bound.expressivity_least - 1e-9 <= bound.expressivity <= bound.expressivity_tight + 1e-9
        assert bound.capacity_least - 1e-9 <= bound.capacity <= bound.capacity_tight + 1e-9
        assert bound.capacity_tight <= bound.capacity_lauw + 1e-9


def test_the_least_capacity_is_reached_where_only_the_target_matters():
    """Half of the subsets always hit, half never: the subset tells one bit, and that is all."""
    right, wrong = np.zeros((1, 2, 2), dtype=int), np.ones((1, 2, 2), dtype=int)
    labels = np.concatenate([right] * 10 + [wrong] * 10)
    o = classay.orientation(classay.Labelings.from_arrays(labels, [0, 0]), holdout_size=2, holdouts=3)
    assert o.bounds[1].capacity_least == pytest.approx(1)
    assert o.plugin.capacity.value == pytest.approx(1)


def test_unknown_stochasticity_leaves_capacity_without_bounds():
    labels = np.random.default_rng(0).integers(2, size=(20, 1, 30))
    o = classay.orientation(classay.Labelings.from_arrays(labels, np.arange(30) % 2))
    assert all(math.isnan(getattr(o.bounds[0], f"capacity_{end}")) for end in ("least", "tight", "lauw"))
