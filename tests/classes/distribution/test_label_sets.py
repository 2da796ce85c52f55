"""Ranks within random label sets: against enumeration, and against accuracy."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay.classes.distribution.label_sets import cost_of_label_sets, rank_chances, top_of_label_sets
from classay.classes.ranks.ranks import mean_over_label_sets


def enumerated(n_classes, k, beaten):
    """The share of label sets with each rank, for a row that beats the first `beaten` of the other classes."""
    ranks = [sum(other >= beaten for other in chosen) + 1 for chosen in combinations(range(n_classes - 1), k - 1)]
    return [ranks.count(rank) / len(ranks) for rank in range(1, k + 1)]


@pytest.mark.parametrize(("n_classes", "k"), [(2, 2), (5, 3), (6, 6), (7, 2), (8, 5)])
def test_every_label_set(n_classes, k):
    found = rank_chances(n_classes, k, 1, k)
    for beaten in range(n_classes):
        np.testing.assert_allclose(found[beaten], enumerated(n_classes, k, beaten), atol=1e-12)


def test_by_hand():
    # 4 others, 3 beaten: among 2 of the 4, the one above is there in 3 of 6 pairs.
    assert rank_chances(5, 3, 1, 3)[3].tolist() == pytest.approx([0.5, 0.5, 0.0])


def test_many_classes_are_exact():
    found = rank_chances(2000, 300, 1, 3)[1900]
    exact = [Fraction(comb(99, r) * comb(1900, 299 - r), comb(1999, 299)) for r in range(3)]
    np.testing.assert_allclose(found, [float(each) for each in exact], rtol=1e-9)


@given(st.integers(2, 30), st.data())
def test_ranks_are_a_distribution(n_classes, data):
    k = data.draw(st.integers(2, n_classes))
    weights = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n_classes, max_size=n_classes))) + 1e-9
    weights /= weights.sum()
    np.testing.assert_allclose(rank_chances(n_classes, k, 1, k).sum(axis=1), 1, atol=1e-9)
    tops = [top_of_label_sets(weights, m, np.array([k]))[0] for m in range(1, k + 1)]
    assert tops[0] == pytest.approx(mean_over_label_sets(weights, np.array([k]))[0], abs=1e-9)
    assert (np.diff(tops) >= -1e-12).all()
    assert tops[-1] == 1
    cost = cost_of_label_sets(weights, k, lambda rank: rank > 1)
    assert cost == pytest.approx(1 - tops[0], abs=1e-9)


def test_the_mean_rank_is_linear():
    weights = np.array([0.2, 0.3, 0.5])
    # A row that beats L of 2 others meets (2 − L)·(k − 1)/2 of them above it, on average.
    expected = 1 + (0.2 * 2 + 0.3 * 1) / 2
    assert cost_of_label_sets(weights, 2, lambda rank: rank) == pytest.approx(expected)
