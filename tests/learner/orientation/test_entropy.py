import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from worlds import NAMES, world

import classay
from classay.intervals import difference
from classay.learner.orientation import entropy
from classay.learner.orientation.entropy import binary_entropy, count, number_labelings

numbers = st.tuples(st.integers(1, 3), st.integers(2, 5), st.integers(2, 6)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, 7))
)


def test_plugin_by_hand():
    # One holdout; subset 0 answers a, a, b, b; subset 1 answers a, a, a, a.
    counts = count(np.array([[[0, 0, 1, 1], [0, 0, 0, 0]]]))
    np.testing.assert_allclose(entropy.plugin_within(counts), [[1.0, 0.0]])
    h = -0.75 * math.log2(0.75) - 0.25 * math.log2(0.25)
    np.testing.assert_allclose(entropy.plugin_overall(counts), [h])
    # Jackknife: 2·H − mean of H without each subset, which are 0 (only subset 1) and 1 (only subset 0).
    np.testing.assert_allclose(entropy.jackknife_overall(counts), [[2 * h, 2 * h - 1]])
    assert entropy.unrepeated(counts) == 2 / 8


@given(numbers)
def test_plugin_agrees_with_the_full_vector(drawn):
    counts = count(drawn)
    n_subsets, n_refits = drawn.shape[1:]
    for m, row in enumerate(drawn):
        shares = np.stack([np.bincount(each, minlength=8) / n_refits for each in row])

        def bits(p):
            return -sum(x * math.log2(x) for x in p if x > 0)

        np.testing.assert_allclose(entropy.plugin_within(counts)[m], [bits(p) for p in shares], atol=1e-12)
        np.testing.assert_allclose(entropy.plugin_overall(counts)[m], bits(shares.mean(0)), atol=1e-12)
        without = [bits(np.delete(shares, k, 0).mean(0)) for k in range(n_subsets)]
        expected = n_subsets * bits(shares.mean(0)) - (n_subsets - 1) * np.array(without)
        np.testing.assert_allclose(entropy.jackknife_overall(counts)[m], expected, atol=1e-9)


@settings(max_examples=30)
@given(numbers, st.randoms(use_true_random=False))
def test_names_and_order_make_no_difference(drawn, random):
    names = list(range(8))
    random.shuffle(names)
    renamed = np.array(names)[drawn][:, ::-1, ::-1]
    a, b = entropy.within(count(drawn), 3.0), entropy.within(count(renamed), 3.0)
    assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), abs=1e-6)
    c, d = entropy.overall(count(drawn), 3.0), entropy.overall(count(renamed), 3.0)
    assert (c.value, c.low, c.high) == pytest.approx((d.value, d.low, d.high), abs=1e-9)


@settings(max_examples=30)
@given(numbers)
def test_entropies_stay_within_what_is_possible(drawn):
    counts = count(drawn)
    for estimate in (entropy.within(counts, 3.0), entropy.overall(counts, 3.0)):
        assert -1e-9 <= estimate.low <= estimate.value + 1e-9
        assert estimate.value <= estimate.high + 1e-9 <= 3.0 + 2e-9


@pytest.mark.parametrize("name", NAMES)
def test_five_worlds(name):
    """The mean error of capacity, plain and corrected; tests/long has more worlds, refits and runs, and coverage."""
    plain, corrected = [], []
    for seed in range(6):
        answers, within, overall = world(name, 100, 10, seed)
        counts, truth = count(answers), overall - within
        plain.append(entropy.plugin_overall(counts).mean() - entropy.plugin_within(counts).mean() - truth)
        corrected.append(difference(entropy.overall(counts, 5.0), entropy.within(counts, 5.0)).value - truth)
    assert abs(np.mean(corrected)) <= 0.2
    assert abs(np.mean(corrected)) < abs(np.mean(plain))


def test_one_refit_shows_nothing_of_training_randomness():
    estimate = entropy.within(count(np.zeros((2, 5, 1), dtype=np.int64)), 5.0)
    assert not estimate.known
    assert (estimate.low, estimate.high) == (0.0, 5.0)


def test_no_variation_is_zero_with_an_interval_that_is_not():
    estimate = entropy.within(count(np.tile(np.arange(20)[:, None], (3, 1, 5)).reshape(3, 20, 5)), 5.0)
    assert (estimate.value, estimate.low) == (0.0, 0.0)
    # Of 20 subsets none varied: those that do are rarer than 1 − .05^(1/20), but may have all five bits.
    assert estimate.high == pytest.approx(5 * (1 - 0.05 ** (1 / 20)))


def test_more_refits_narrow_the_range():
    ranges = [entropy.within(count(world("flips", 100, refits, 0)[0]), 5.0) for refits in (2, 5, 20)]
    widths = [estimate.high - estimate.low for estimate in ranges]
    assert widths == sorted(widths, reverse=True)
    # Every labeling is new: the entropy may be anything from log2 of the refits to all there is.
    estimate = entropy.within(count(np.arange(30 * 4).reshape(1, 30, 4)), 200.0)
    assert estimate.low < 10
    assert estimate.high > 100


def test_two_hundred_refits():
    answers, within, _ = world("dirichlet", 12, 200, 3)
    estimate = entropy.within(count(answers), 5.0)
    assert estimate.low < within < estimate.high
    assert estimate.value == pytest.approx(within, abs=0.3)


@pytest.mark.parametrize(
    ("n_subsets", "refits", "seed"), [(10, 3, 2), (20, 5, 2), (20, 10, 1), (50, 5, 1), (50, 10, 3)]
)
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_two_points_have_a_range_that_can_be_computed(n_subsets, refits, seed, share):
    """The linear programme had no solution where the fit has slightly more than four cells."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((n_subsets, refits, 2)) < share).astype(int)
    found = entropy.within(count((labels @ [1, 2])[None]), 2.0)
    truth = 2 * binary_entropy(np.array(share))
    assert found.kind == entropy.KIND
    assert found.low - 0.1 <= truth <= found.high + 0.1
    assert found.high - found.low < 1.5


def test_a_solver_that_gives_up_is_not_blamed_on_refits(monkeypatch):
    monkeypatch.setattr(entropy, "_extreme", lambda *limits: None)
    rng = np.random.default_rng(0)
    o = classay.orientation(classay.Labelings.from_arrays(rng.integers(2, size=(20, 5, 10)), np.arange(10) % 2), 2)
    assert o.stochasticity.kind == entropy.UNSOLVED
    assert (o.stochasticity.low, o.stochasticity.high) == (0.0, o.expressivity.high)
    assert any("could not be computed" in note for note in o.notes)
    assert not any("Record with more repeats" in note for note in o.notes)


labels_and_holdouts = st.tuples(st.integers(2, 5), st.integers(1, 4), st.integers(2, 6), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.int8, (*shape[:2], shape[2]), elements=st.integers(0, 2)),
        hnp.arrays(np.int64, (3, shape[3]), elements=st.integers(0, shape[2] - 1)),
    )
)


@given(labels_and_holdouts)
def test_counts_agree_with_counting_by_hand(drawn):
    labels, holdouts = drawn
    n_subsets, n_refits, _ = labels.shape
    counts = count(number_labelings(labels, holdouts, 3))
    for m, holdout in enumerate(holdouts):
        by_subset = [Counter(tuple(labels[k, r][holdout]) for r in range(n_refits)) for k in range(n_subsets)]
        overall = sum(by_subset, Counter())
        here = counts.holdout == m
        cells = [(k, times, overall[labeling]) for k in range(n_subsets) for labeling, times in by_subset[k].items()]
        assert sorted(zip(counts.subset[here], counts.count[here], counts.total[here])) == sorted(cells)
        for k in range(n_subsets):
            for times in range(1, n_refits + 1):
                expected = sum(value == times for value in by_subset[k].values())
                assert counts.histogram[m, k, times] == expected


def test_large_holdouts_are_counted_and_not_enumerated():
    rng = np.random.default_rng(0)
    labels = rng.integers(10, size=(20, 3, 300)).astype(np.int8)
    labels[1] = labels[0]
    numbers = number_labelings(labels, rng.permutation(300)[None, :200], 10)
    np.testing.assert_array_equal(numbers[:, 0], numbers[:, 1])
    assert np.unique(numbers).size == 19 * 3
    # Labels that differ only in the first of many points stay apart.
    labels = np.zeros((2, 1, 120), dtype=np.int8)
    labels[1, 0, 0] = 1
    assert np.unique(number_labelings(labels, np.arange(120)[None], 7)).size == 2
