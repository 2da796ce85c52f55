"""The distributions of labelings, the bias to any target, and the bounds of the plain estimates."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

import classay
from classay import InputError, Labelings
from classay.learner.orientation.bias import bounds, chance, most_expressivity

LABELS = np.array([[["a", "b", "a"], ["a", "b", "b"]], [["a", "b", "a"], ["a", "b", "a"]]])
"""Two subsets, two refits, three points."""
RIGHT = np.array([bin(number).count("1") for number in range(32)])
"""Labels right of each labeling of five points of two classes."""


def bits(p):
    return -sum(x * math.log2(x) for x in p if x > 0)


def test_matrix_and_vector_by_hand():
    small = classay.orientation(Labelings.from_arrays(LABELS, ["a", "b", "b"]), holdout_size=3, holdouts=1)
    matrix = small.matrix()
    assert list(matrix.columns) == [0, 1]
    assert matrix.index.names == [f"point {point}" for point in small.holdouts[0]]
    by_points = matrix.reorder_levels(["point 0", "point 1", "point 2"])
    assert by_points.loc[("a", "b", "a")].tolist() == [0.5, 1.0]
    assert by_points.loc[("a", "b", "b")].tolist() == [0.5, 0.0]
    vector = small.vector()
    assert sorted(vector) == [0.25, 0.75]
    assert small.plugin.expressivity.value == pytest.approx(bits(vector))
    every = small.vector(every=True)
    assert (len(every), (every > 0).sum()) == (2**3, 2)
    assert every.sum() == pytest.approx(1)
    with pytest.raises(InputError, match="0 to 0"):
        small.vector(1)


@pytest.mark.parametrize(("size", "classes"), [(1, 3), (3, 3), (4, 2)])
def test_the_vectors_give_the_plain_figures(size, classes):
    """The paper's algorithm to the letter: vectors over all c^h labelings, and what is in the target of each."""
    rng = np.random.default_rng(0)
    truth = np.arange(20) % classes
    o = classay.orientation(Labelings.from_arrays(rng.integers(classes, size=(8, 4, 20)), truth), size, 10)
    for points, (holdout, row) in zip(o.holdouts, o.per_holdout.iterrows()):
        matrix, vector = o.matrix(holdout, every=True), o.vector(holdout, every=True)
        assert len(vector) == classes**size
        assert matrix.sum().to_numpy() == pytest.approx(np.ones(8))
        assert bits(vector) == pytest.approx(row.expressivity)
        within = np.mean([bits(matrix[subset]) for subset in matrix])
        assert (within, bits(vector) - within) == pytest.approx((row.stochasticity, row.capacity))
        right = (np.array(vector.index.tolist()).reshape(-1, size) == truth[points]).sum(axis=1)
        for z in range(1, size + 1):
            assert vector[right >= z].sum() - (right >= z).mean() == pytest.approx(row[f"bias_{z}"], abs=1e-12)


@pytest.fixture(scope="module")
def guesses():
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=40)
    labels = np.where(rng.random((20, 3, 40)) < 0.4, rng.integers(3, size=(20, 3, 40)), truth)
    return classay.orientation(Labelings.from_arrays(labels, truth), holdout_size=4)


def test_a_target_of_thresholds_is_the_bias(guesses):
    for z in range(1, 5):
        expected = guesses.bias[z]
        for target in (z, lambda predicted, truth, z=z: (predicted == truth).sum(axis=-1) >= z):
            estimate = guesses.bias(target=target)
            assert estimate.value == pytest.approx(expected.value)
            assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))
    assert guesses.bias(target=0).value == 0


@pytest.mark.slow
def test_a_target_of_labelings_is_the_mass_less_the_share(guesses):
    target = [(0, 0, 0, 0), (1, 1, 1, 1), (0, 0, 0, 0)]
    vectors = [guesses.vector(holdout) for holdout in range(len(guesses.holdouts))]
    mass = np.mean([sum(vector.get(labeling, 0.0) for labeling in set(target)) for vector in vectors])
    assert guesses.bias(target=target).value == pytest.approx(mass - 2 / 3**4)
    assert guesses.bias(target=list(itertools.product(range(3), repeat=4))).value == pytest.approx(0)


def test_a_target_may_have_its_size_given(guesses):
    def never_two(predicted, truth):
        return (predicted != 2).all(axis=-1)

    assert guesses.bias(target=never_two).value == pytest.approx(guesses.bias(target=never_two, size=2**4).value)
    with pytest.raises(InputError, match="at most"):
        guesses.bias(target=never_two, size=82)
    labels = np.random.default_rng(0).integers(10, size=(5, 2, 30))
    large = classay.orientation(Labelings.from_arrays(labels, np.arange(30) % 10), holdout_size=6)
    with pytest.raises(InputError, match="size"):
        large.bias(target=never_two)
    with pytest.raises(InputError, match="every"):
        large.vector(every=True)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (9, "at most 4"),
        ([(0, 1)], "expected 4 labels"),
        ([(0, 1, 2, "x")], "expected 4 labels"),
        (lambda predicted, truth: True, "one True or False per labeling"),
        ([0, 1, 0, 1], r"has 0, which is no labeling; expected a collection of labelings, such as \[\(0, 1, "),
        (True, "`target` is True; expected a collection"),
        (None, "`target` is None; expected a collection"),
        ("0101", "`target` is '0101'; expected a collection"),
        ([], "`target` is empty"),
        ([[[0], [1], [0], [1]]], "expected 4 labels"),
        (lambda predicted, truth: 0.5, "returned float64 values such as 0.5; expected True or False"),
        (lambda predicted: True, "`target` failed: TypeError"),
    ],
)
def test_targets_that_cannot_be(guesses, target, message):
    with pytest.raises(InputError, match=message):
        guesses.bias(target=target)


def test_without_its_record_it_says_so_and_with_it_works_again(guesses):
    alone = pickle.loads(pickle.dumps(guesses.detached()))
    assert alone.bias[2] == guesses.bias[2]
    for ask in (alone.vector, lambda: alone.bias(target=2)):
        with pytest.raises(InputError, match="record"):
            ask()
    again = alone.attached(guesses.bias.own_record())
    assert again.bias(target=2).value == pytest.approx(guesses.bias[2].value)


@given(st.integers(1, 60), st.integers(2, 12), st.data())
def test_chance_is_a_binomial_tail(h, c, data):
    z = data.draw(st.integers(0, h))
    assert chance(z, h, c) == pytest.approx(stats.binom.sf(z - 1, h, 1 / c), rel=1e-9)


def test_chance_and_bound_of_a_thousand_points():
    assert chance(900, 1000, 10) < 1e-300
    assert most_expressivity(0.5, 900, 1000, 10) < 1000 * math.log2(10)


@given(hnp.arrays(float, 32, elements=st.floats(0, 1)).filter(lambda p: p.sum() > 0), st.integers(1, 5))
def test_bounds_hold_for_any_distribution(weights, z):
    p = weights / weights.sum()
    q, h = p[z <= RIGHT].sum(), bits(p)
    limits = bounds(np.array([[q]]), 0.0, z, 5, 2)
    assert limits.expressivity_least - 1e-9 <= h <= limits.expressivity_tight + 1e-9
    assert limits.bias_low - 1e-9 <= q - chance(z, 5, 2) <= limits.bias_high + 1e-9
    assert limits.capacity_least - 1e-9 <= h <= limits.capacity_tight + 1e-9
    # The tight bound is never looser than the published one.
    assert limits.expressivity_tight <= limits.expressivity_lauw + 1e-9


@pytest.mark.parametrize("z", [1, 2, 3, 4, 5])
def test_the_tight_bound_is_reached(z):
    inside = z <= RIGHT
    for q in (0.0, 0.3, 1.0):
        p = np.where(inside, q / inside.sum(), (1 - q) / max((~inside).sum(), 1))
        assert most_expressivity(q, z, 5, 2) == pytest.approx(bits(p))


def test_a_constant_learner_is_not_below_what_is_possible():
    """Holdouts are always hit or never: each has an entropy of 0, though the mean mass is in between."""
    labels = np.ones((30, 4, 60), dtype=int)
    o = classay.orientation(Labelings.from_arrays(labels, np.arange(60) % 3 > 0))
    for bound in o.bounds:
        assert bound.expressivity_least <= o.plugin.expressivity.value + 1e-9
        assert bound.expressivity_least == pytest.approx(0, abs=1e-12)
    assert 0.2 < np.mean([o.bias[bound.threshold].value + bound.chance for bound in o.bounds]) < 0.9


@pytest.mark.parametrize("seed", range(5))
def test_every_plain_estimate_is_within_its_bounds(seed):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.3, 0.3, size=(20, 1, 40)) * 0.8 + rng.beta(0.5, 0.5, size=40) * 0.2
    labels = (rng.random((20, 4, 40)) < p).astype(int)
    o = classay.orientation(Labelings.from_arrays(labels, rng.integers(2, size=40)))
    for bound in o.bounds:
        for name in ("expressivity", "capacity"):
            least, most = getattr(bound, f"{name}_least"), getattr(bound, f"{name}_tight")
            assert least - 1e-9 <= getattr(o.plugin, name).value <= most + 1e-9


def test_the_least_capacity_is_reached_where_only_the_target_matters():
    """Half of the subsets always hit, half never: the subset tells one bit, and that is all."""
    labels = np.repeat([0, 1], 10)[:, None, None].repeat(2, axis=1).repeat(2, axis=2)
    o = classay.orientation(Labelings.from_arrays(labels, [0, 0]), holdout_size=2, holdouts=3)
    assert o.bounds[1].capacity_least == pytest.approx(1)
    assert o.plugin.capacity.value == pytest.approx(1)


def test_unknown_stochasticity_leaves_capacity_without_bounds():
    labels = np.random.default_rng(0).integers(2, size=(20, 1, 30))
    o = classay.orientation(Labelings.from_arrays(labels, np.arange(30) % 2))
    assert all(math.isnan(getattr(o.bounds[0], f"capacity_{end}")) for end in ("least", "tight"))
