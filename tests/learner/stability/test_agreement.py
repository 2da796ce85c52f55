"""Agreement without going through pairs equals agreement by going through them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classay.learner.stability import agreement as module
from classay.learner.stability.agreement import agreement
from classay.learner.stability.closeness import closeness


def pairs_of(subsets, halves):
    return [(k, k + 1) for k in range(0, subsets, 2)] if halves else list(itertools.combinations(range(subsets), 2))


def by_loop(answers, halves, same):
    """Per point and per refit, pair by pair."""
    subsets, refits, points = answers.shape
    at_point, seen = np.zeros(points), 0
    of_refit, times = np.zeros((subsets, refits)), np.zeros((subsets, refits))
    for k, other in pairs_of(subsets, halves):
        for r, s in itertools.product(range(refits), repeat=2):
            alike = same(answers[k, r], answers[other, s])
            at_point += alike
            seen += 1
            for place in ((k, r), (other, s)):
                of_refit[place] += alike.mean()
                times[place] += 1
    return at_point / seen, of_refit / times


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3), st.integers(1, 7), st.integers(2, 5), st.booleans())
def test_labels(seed, splits, refits, points, classes, halves):
    labels = np.random.default_rng(seed).integers(classes, size=(2 * splits, refits, points))
    found = agreement(labels, classes, halves)
    per_point, per_refit = by_loop(labels, halves, np.equal)
    np.testing.assert_allclose(found.per_point, per_point)
    np.testing.assert_allclose(found.per_refit, per_refit)
    np.testing.assert_allclose(found.table.mean(axis=0), per_point, atol=1e-12)
    assert len(found.table) == (splits if halves else 2 * splits)
    assert found.value == pytest.approx(per_point.mean())
    if refits > 1:
        same = [labels[:, r] == labels[:, s] for r, s in itertools.combinations(range(refits), 2)]
        np.testing.assert_allclose(found.within, np.mean(same, axis=0))
    else:
        assert found.within.shape == (0, points)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3), st.integers(1, 7), st.booleans())
def test_numbers(seed, splits, refits, points, halves):
    values = np.random.default_rng(seed).normal(size=(2 * splits, refits, points))
    found = closeness(values, 0.5, halves)
    per_point, per_refit = by_loop(values, halves, lambda one, two: np.abs(one - two) <= 0.5)
    np.testing.assert_allclose(found.per_point, per_point)
    np.testing.assert_allclose(found.per_refit, per_refit)


def test_blocks_of_points_make_no_difference(monkeypatch):
    labels = np.random.default_rng(0).integers(3, size=(6, 2, 50))
    whole = agreement(labels, 3, halves=False)
    monkeypatch.setattr(module, "BLOCK", 84)
    for name in ("table", "per_point", "per_refit", "within", "expected"):
        np.testing.assert_allclose(getattr(agreement(labels, 3, halves=False), name), getattr(whole, name))


def test_the_order_of_subsets_and_the_names_of_classes_make_no_difference():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=(7, 2, 30))
    found = agreement(labels, 4, halves=False)
    moved = agreement(np.array([2, 0, 3, 1])[labels][rng.permutation(7)][:, ::-1], 4, halves=False)
    np.testing.assert_allclose(moved.per_point, found.per_point)
    assert moved.chance == pytest.approx(found.chance)


def test_tolerance_counts_its_own_end():
    values = np.array([[[1.0]], [[1.5]], [[2.5]]])
    assert closeness(values, 0.5, halves=False).value == pytest.approx(1 / 3)
    assert closeness(values, 0.0, halves=False).value == 0.0
    assert closeness(values, 2.0, halves=False).value == 1.0


def test_kappa_by_hand():
    """Two raters, ten points: the table that every textbook has."""
    one, two = [0] * 5 + [1] * 5, [0] * 4 + [1] * 6
    found = agreement(np.array([[one], [two]]), 2, halves=True)
    assert found.chance == pytest.approx(0.5 * 0.4 + 0.5 * 0.6)
    assert found.kappa_table().mean() == pytest.approx((0.9 - 0.5) / (1 - 0.5))  # Cohen's kappa


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3), st.integers(1, 7), st.integers(2, 5), st.booleans())
def test_chance_is_over_the_pairs_that_are_compared(seed, splits, refits, points, classes, halves):
    labels = np.random.default_rng(seed).integers(classes, size=(2 * splits, refits, points))
    shares = np.array([np.bincount(subset.ravel(), minlength=classes) / subset.size for subset in labels])
    expected = np.mean([shares[one] @ shares[two] for one, two in pairs_of(2 * splits, halves)])
    assert agreement(labels, classes, halves).chance == pytest.approx(expected)


@pytest.mark.parametrize("halves", [True, False])
def test_refits_that_are_constants_drawn_at_random_have_kappa_0(halves):
    """With shares pooled over refits, kappa was −1/(K − 1) here: 40 refits, −0.0256 whatever they predict."""
    values = []
    for seed in range(50):
        labels = np.random.default_rng(seed).integers(2, size=(40, 1, 1)).repeat(30, axis=2)
        found = agreement(labels, 2, halves)
        values.append((found.value - found.chance) / (1 - found.chance))
    np.testing.assert_allclose(values, 0.0, atol=1e-12)


@pytest.mark.parametrize("halves", [True, False])
def test_the_kappa_table_is_the_slope(halves):
    """Adding a little of one point, or of one split, moves kappa as its column, or its row, says."""
    labels = np.random.default_rng(0).integers(3, size=(8, 2, 40))
    labels[:, :, :20] = 1
    found = agreement(labels, 3, halves)
    copies = 400
    more = agreement(np.concatenate([np.repeat(labels, copies, axis=2), labels[:, :, 30:31]], axis=2), 3, halves)
    kappa = [(each.value - each.chance) / (1 - each.chance) for each in (found, more)]
    slope = (kappa[1] - kappa[0]) * (40 * copies)
    assert slope == pytest.approx(found.kappa_table()[:, 30].mean() - kappa[0], rel=0.01)
    if halves:
        longer = agreement(np.concatenate([np.tile(labels, (copies, 1, 1)), labels[2:4]]), 3, halves)
        gain = (longer.value - longer.chance) / (1 - longer.chance) - kappa[0]
        assert gain * 4 * copies == pytest.approx(found.kappa_table()[1].mean() - kappa[0], rel=0.01)
