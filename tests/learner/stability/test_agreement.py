"""Agreement without going through pairs equals agreement by going through them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classay.learner.stability import agreement as module
from classay.learner.stability.agreement import agreement, chance_agreement, closeness, kappa


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
def test_labels_and_numbers(seed, splits, refits, points, classes, halves):
    rng = np.random.default_rng(seed)
    labels, values = (
        rng.integers(classes, size=(2 * splits, refits, points)),
        rng.normal(size=(2 * splits, refits, points)),
    )
    for answers, compared, same in (
        (labels, agreement(labels, classes, halves), np.equal),
        (values, closeness(values, 0.5, halves), lambda one, two: np.abs(one - two) <= 0.5),
    ):
        per_point, per_refit = by_loop(answers, halves, same)
        np.testing.assert_allclose(compared.per_point, per_point)
        np.testing.assert_allclose(compared.per_refit, per_refit)
        np.testing.assert_allclose(compared.table.mean(axis=0), per_point, atol=1e-12)
        assert len(compared.table) == (splits if halves else 2 * splits)
        assert compared.value == pytest.approx(per_point.mean())
        if refits > 1:
            alike = [same(answers[:, r], answers[:, s]) for r, s in itertools.combinations(range(refits), 2)]
            np.testing.assert_allclose(compared.within, np.mean(alike, axis=0))
        else:
            assert compared.within.shape == (0, points)
    shares = np.array([np.bincount(subset.ravel(), minlength=classes) / subset.size for subset in labels])
    expected = np.mean([shares[one] @ shares[two] for one, two in pairs_of(2 * splits, halves)])
    assert chance_agreement(labels, classes, halves).mean() == pytest.approx(expected)


def test_blocks_of_points_make_no_difference(monkeypatch):
    labels = np.random.default_rng(0).integers(3, size=(6, 2, 50))
    whole = agreement(labels, 3, halves=False)
    monkeypatch.setattr(module, "BLOCK", 84)
    for name in ("table", "per_point", "per_refit", "within"):
        np.testing.assert_allclose(getattr(agreement(labels, 3, halves=False), name), getattr(whole, name))


def test_tolerance_counts_its_own_end():
    values = np.array([[[1.0]], [[1.5]], [[2.5]]])
    assert closeness(values, 0.5, halves=False).value == pytest.approx(1 / 3)
    assert closeness(values, 0.0, halves=False).value == 0.0
    assert closeness(values, 2.0, halves=False).value == 1.0


def kappa_of(labels, n_classes, halves):
    return kappa(agreement(labels, n_classes, halves), chance_agreement(labels, n_classes, halves))


def test_kappa_by_hand():
    """Two raters, ten points: the table that every textbook has."""
    labels = np.array([[[0] * 5 + [1] * 5], [[0] * 4 + [1] * 6]])
    assert chance_agreement(labels, 2, halves=True).mean() == pytest.approx(0.5 * 0.4 + 0.5 * 0.6)
    value, table = kappa_of(labels, 2, halves=True)
    assert (value, table.mean()) == pytest.approx(((0.9 - 0.5) / (1 - 0.5),) * 2)  # Cohen's kappa


@pytest.mark.parametrize("halves", [True, False])
def test_refits_that_are_constants_drawn_at_random_have_kappa_0(halves):
    """With shares pooled over refits, kappa was −1/(K − 1) here: 40 refits, −0.0256 whatever they predict."""
    for seed in range(50):
        labels = np.random.default_rng(seed).integers(2, size=(40, 1, 1)).repeat(30, axis=2)
        assert kappa_of(labels, 2, halves)[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("halves", [True, False])
def test_the_kappa_table_is_the_slope(halves):
    """Adding a little of one point, or of one split, moves kappa as its column, or its row, says."""
    labels = np.random.default_rng(0).integers(3, size=(8, 2, 40))
    labels[:, :, :20] = 1
    value, table = kappa_of(labels, 3, halves)
    copies = 400
    more, _ = kappa_of(np.concatenate([np.repeat(labels, copies, axis=2), labels[:, :, 30:31]], axis=2), 3, halves)
    assert (more - value) * 40 * copies == pytest.approx(table[:, 30].mean() - value, rel=0.01)
    if halves:
        longer, _ = kappa_of(np.concatenate([np.tile(labels, (copies, 1, 1)), labels[2:4]]), 3, halves)
        assert (longer - value) * 4 * copies == pytest.approx(table[1].mean() - value, rel=0.01)
