import itertools
import pickle

import numpy as np
import pytest

import classay
from classay import InputError, Labelings

LABELS = np.array([[["a", "b", "a"], ["a", "b", "b"]], [["a", "b", "a"], ["a", "b", "a"]]])
"""Two subsets, two refits, three points."""


@pytest.fixture
def small():
    return classay.orientation(Labelings.from_arrays(LABELS, ["a", "b", "b"]), holdout_size=3, holdouts=1)


def test_matrix_and_vector_by_hand(small):
    matrix = small.matrix()
    assert list(matrix.columns) == [0, 1]
    assert matrix.index.names == [f"point {point}" for point in small.holdouts[0]]
    by_points = matrix.reorder_levels(["point 0", "point 1", "point 2"])
    assert by_points.loc[("a", "b", "a")].tolist() == [0.5, 1.0]
    assert by_points.loc[("a", "b", "b")].tolist() == [0.5, 0.0]
    vector = small.vector()
    assert sorted(vector) == [0.25, 0.75]
    assert vector.name == "probability"
    entropy = -(vector * np.log2(vector)).sum()
    assert small.plugin.expressivity.value == pytest.approx(entropy)


def test_every_labeling_has_a_row_if_asked(small):
    whole = small.vector(every=True)
    assert len(whole) == 2**3
    assert whole.sum() == pytest.approx(1)
    assert (whole > 0).sum() == 2


def test_one_point():
    o = classay.orientation(Labelings.from_arrays(LABELS, ["a", "b", "b"]), holdout_size=1, holdouts=2)
    for holdout in range(2):
        assert o.vector(holdout).sum() == pytest.approx(1)
        assert len(o.vector(holdout, every=True)) == 2


def test_the_vectors_give_the_plain_figures():
    rng = np.random.default_rng(0)
    o = classay.orientation(Labelings.from_arrays(rng.integers(3, size=(8, 4, 20)), np.arange(20) % 3), 3, 10)
    for holdout, row in o.per_holdout.iterrows():
        matrix = o.matrix(holdout)
        assert matrix.sum().to_numpy() == pytest.approx(np.ones(8))
        p = o.vector(holdout)
        assert -(p * np.log2(p)).sum() == pytest.approx(row.expressivity)
        inside = -(matrix * np.log2(matrix.where(matrix > 0, 1))).sum().mean()
        assert inside == pytest.approx(row.stochasticity)


@pytest.fixture
def guesses():
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=40)
    labels = np.where(rng.random((20, 3, 40)) < 0.4, rng.integers(3, size=(20, 3, 40)), truth)
    return classay.orientation(Labelings.from_arrays(labels, truth), holdout_size=4)


def test_a_target_of_thresholds_is_the_bias(guesses):
    for z in range(1, 5):
        expected = guesses.bias[z]
        for target in (z, lambda predicted, truth, z=z: (predicted == truth).sum(axis=-1) >= z):
            found = guesses.bias(target=target)
            assert found.value == pytest.approx(expected.value)
            assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert guesses.bias(target=0).value == 0


@pytest.mark.slow
def test_a_target_of_labelings_is_the_mass_less_the_share(guesses):
    target = [(0, 0, 0, 0), (1, 1, 1, 1), (0, 0, 0, 0)]
    mass = np.mean(
        [
            sum(guesses.vector(holdout).get(labeling, 0.0) for labeling in set(target))
            for holdout in range(len(guesses.holdouts))
        ]
    )
    assert guesses.bias(target=target).value == pytest.approx(mass - 2 / 3**4)
    everything = list(itertools.product(range(3), repeat=4))
    assert guesses.bias(target=everything).value == pytest.approx(0)


def test_a_target_may_have_its_size_given(guesses):
    def never_two(predicted, truth):
        return (predicted != 2).all(axis=-1)

    assert guesses.bias(target=never_two).value == pytest.approx(guesses.bias(target=never_two, size=2**4).value)
    with pytest.raises(InputError, match="at most"):
        guesses.bias(target=never_two, size=82)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (9, "at most 4"),
        ([(0, 1)], "expected 4 labels"),
        ([(0, 1, 2, "x")], "expected 4 labels"),
        (lambda predicted, truth: True, "one True or False per labeling"),
        ([0, 1, 0, 1], r"has 0, which is no labeling; expected a collection of labelings, such as \[\(0, 1, "),
        (4.0, "`target` is 4.0; expected a collection of labelings"),
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


def test_too_many_labelings_to_try_need_a_size():
    labels = np.random.default_rng(0).integers(10, size=(5, 2, 30))
    o = classay.orientation(Labelings.from_arrays(labels, np.arange(30) % 10), holdout_size=6)
    with pytest.raises(InputError, match="size"):
        o.bias(target=lambda predicted, truth: (predicted == truth).all(axis=-1))
    with pytest.raises(InputError, match="every"):
        o.vector(every=True)


def test_without_its_record_it_says_so_and_with_it_works_again(guesses):
    alone = pickle.loads(pickle.dumps(guesses.detached()))
    assert alone.bias[2] == guesses.bias[2]
    for ask in (alone.vector, lambda: alone.bias(target=2)):
        with pytest.raises(InputError, match="record"):
            ask()
    again = alone.attached(guesses.bias.own_record())
    assert again.bias(target=2).value == pytest.approx(guesses.bias[2].value)
    with pytest.raises(InputError, match="0 to 99"):
        guesses.vector(100)
