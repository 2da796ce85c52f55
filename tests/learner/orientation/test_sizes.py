import dataclasses

import numpy as np
import pytest

import classay
from classay import InputError, Labelings
from classay.learner.orientation.entropy_parts import HoldoutLabels, countable_size, parts

FIVE = (1, 2, 3, 4, 5)


def following(n_subsets, refits, n_points, n_classes, seed=0, follow=0.5, random=0.0):
    """Each subset has its own label at every point with probability `follow`; a refit then errs with `random`."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_points)
    own = rng.integers(n_classes, size=(n_subsets, 1, n_points))
    base = np.where(rng.random((n_subsets, 1, n_points)) < follow, own, truth)
    noise = rng.integers(n_classes, size=(n_subsets, refits, n_points))
    return Labelings.from_arrays(np.where(rng.random((n_subsets, refits, n_points)) < random, noise, base), truth)


@pytest.fixture(scope="module")
def many_classes():
    """26 classes, as letters: five points cannot be counted."""
    return following(60, 5, 200, 26, follow=0.12, random=0.1)


def test_capacity_is_never_said_to_be_nothing_where_it_cannot_be_counted(many_classes):
    """It was 0.00 [0, 5.27] where one, two and three points had shown more."""
    five = classay.orientation(many_classes, holdout_size=5)
    one = classay.orientation(many_classes, holdout_size=1)
    assert one.capacity.value > 0.1
    assert five.capacity.value == five.capacity.low >= one.capacity.low > 0
    assert five.capacity.kind.startswith("at least")
    assert f"at least {five.capacity.value:.3g}" in str(five)
    assert any("Capacity is at least" in note and "it cannot be less" in note for note in five.notes)


@pytest.mark.slow
def test_a_lower_limit_is_no_estimate():
    """Guessers have no capacity; "at least 0.16 bits, nor be less" was the estimate of one point."""
    wrong = 0
    for seed in range(12):
        labels = np.random.default_rng(seed).integers(10, size=(60, 3, 50))
        o = classay.orientation(Labelings.from_arrays(labels, np.arange(50) % 10), holdout_size=5, holdouts=30)
        wrong += o.capacity.known and o.capacity.value > 0
        assert o.capacity.known or any("Capacity is between 0 and" in note for note in o.notes)
    assert wrong <= 1


def test_the_usual_size_can_be_counted_and_is_said(many_classes):
    o = classay.orientation(many_classes)
    assert o.holdout_size == countable_size(many_classes) < 5
    assert o.capacity.kind == "of these training rows, over subsets and holdouts"
    assert any("not 5: labelings of more points hardly repeat" in note for note in o.notes)
    # The same points as when it is asked for.
    asked = classay.orientation(many_classes, holdout_size=o.holdout_size)
    np.testing.assert_array_equal(o.holdouts, asked.holdouts)
    with pytest.raises(InputError, match="holdout_size=5"):
        o.bias[4]


def test_two_classes_always_have_five_points_if_there_are_as_many():
    o = classay.orientation(following(6, 2, 30, 2, follow=0.8))
    assert o.holdout_size == 5
    assert 4 in o.bias
    assert classay.orientation(following(30, 2, 3, 2)).holdout_size == 3


@pytest.mark.parametrize("seed", range(3))
def test_curves_rise_and_add_up(seed):
    curve = classay.orientation(following(40, 5, 100, 2, seed, follow=0.2, random=0.1), FIVE)
    assert curve.identified >= 3
    for figure in (curve.expressivity, curve.capacity, curve.stochasticity):
        counted = [figure[size].value for size in curve.sizes if size <= curve.identified]
        assert counted == sorted(counted)
    limits = [curve.capacity[size].value for size in curve.sizes if size > curve.identified]
    assert limits == sorted(limits)
    for size in range(1, curve.identified + 1):
        total = curve.capacity[size].value + curve.stochasticity[size].value
        assert curve.expressivity[size].value == pytest.approx(total)


@pytest.mark.parametrize("independent", [True, False])
def test_independent_points_reach_the_ceiling_and_copies_stay_below(independent):
    """Labels that follow the subset on their own: information adds up over points."""
    labels = np.random.default_rng(0).integers(2, size=(2000, 1, 30 if independent else 1))
    labels = np.broadcast_to(labels, (2000, 2, 30))
    curve = classay.orientation(Labelings.from_arrays(labels, np.arange(30) % 2, classes=[0, 1]), FIVE, holdouts=20)
    for size in (1, 2, 3):
        assert curve.capacity[size].value == pytest.approx(size if independent else 1, abs=0.05)
        assert curve.ceiling[size] == pytest.approx(size, abs=0.05)


def test_a_deterministic_learner_has_no_other_part_and_one_refit_leaves_it_unknown():
    record = following(40, 1, 60, 2)
    curve = classay.orientation(dataclasses.replace(record, deterministic=True), holdout_size=(1, 3))
    for size in (1, 3):
        assert curve.capacity[size].value == pytest.approx(curve.expressivity[size].value)
    curve = classay.orientation(record, holdout_size=(2,))
    assert not curve.capacity[2].known
    assert curve.expressivity[2].known
    assert f"expressivity in bits by number of points, 2: {curve.expressivity[2]}" in str(curve)
    assert "Capacity and stochasticity are unknown" in str(curve)


@pytest.fixture(scope="module")
def guesses():
    """Refits that depend on nothing: their entropy is the number of points times log2 of 3."""
    labels = np.random.default_rng(0).integers(3, size=(20, 3, 40))
    return Labelings.from_arrays(labels, np.arange(40) % 3)


def test_the_limit_of_stochasticity_is_at_least_that_of_five_points(guesses):
    """It fell from 10.3 [7.05, 11.8] bits to at least 4.57, though a labeling of more points varies no less."""
    many = classay.orientation(guesses, holdout_size=12, holdouts=20)
    five = parts(HoldoutLabels(guesses.complete(), many.holdouts[:, :5], 3)).stochasticity
    assert many.stochasticity.prefix
    assert many.stochasticity.value == many.stochasticity.low >= five.low
    assert many.expressivity.low >= many.stochasticity.low


@pytest.mark.slow
def test_limits_rise_over_the_sizes_that_were_asked_for(guesses):
    curve = classay.orientation(guesses, holdout_size=(5, 6, 7, 8, 10, 12), holdouts=20)
    assert curve.stochasticity[12].prefix
    for figure in (curve.expressivity, curve.capacity, curve.stochasticity):
        least = 0.0
        for each in figure.values():
            if each.prefix:
                assert each.low <= each.value <= each.high
                assert each.value >= least - 1e-9
            least = max(least, each.low)
    for size in curve.sizes:
        assert curve.expressivity[size].low >= curve.stochasticity[size].low - 1e-9
