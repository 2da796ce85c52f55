"""Accuracy over all label sets: against enumeration, against exact fractions, and what must not change it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from classay.classes.ranks import evidence as module
from classay.classes.ranks.evidence import (
    TIES,
    Evidence,
    cost_of_label_sets,
    mean_over_label_sets,
    rank_chances,
    spread_weights,
    top_of_label_sets,
)
from classay.classes.ranks.ranks import Ranks
from classay.expect import InputError


def enumerated(scores: np.ndarray, y: np.ndarray, ties: str) -> np.ndarray:
    """The definition: every label set, every row; classes weigh alike."""
    n, K = scores.shape
    found = np.zeros(K)
    for row in range(n):
        weight = 1 / (np.unique(y).size * (y == y[row]).sum())
        others = [column for column in range(K) if column != y[row]]
        for k in range(1, K + 1):
            right = []
            for chosen in itertools.combinations(others, k - 1):
                rest = scores[row, list(chosen)]
                tied = int((rest == scores[row, y[row]]).sum())
                best = not (rest > scores[row, y[row]]).any()
                right.append(best * {"random": 1 / (1 + tied), "wrong": float(tied == 0), "right": 1.0}[ties])
            found[k - 1] += weight * np.mean(right)
    return found


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("distinct", [2, 3, 5, 1000])
def test_all_label_sets_of_eight_classes(ties, distinct):
    rng = np.random.default_rng(distinct)
    scores = rng.integers(distinct, size=(20, 8)).astype(float)
    y = rng.choice(8, size=20, p=np.arange(1, 9) / 36)
    found = Ranks.from_scores(scores, y).evidence(ties).accuracy()
    np.testing.assert_allclose(found, enumerated(scores, y, ties), rtol=0, atol=1e-12)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("K", [2, 3, 17, 40])
def test_every_rank_and_number_of_ties_against_fractions(K, ties):
    lower, tied = np.array([(low, tie) for low in range(K) for tie in range(K - low)]).T
    weights = np.random.default_rng(K).dirichlet(np.ones(lower.size))
    exact = []
    whole = sum(Fraction(float(weight)) for weight in weights)  # 1, but for rounding
    for k in range(1, K + 1):
        total = Fraction(0)
        for low, tie, weight in zip(lower.tolist(), tied.tolist(), weights):
            ways = {
                "wrong": Fraction(comb(low, k - 1)),
                "right": Fraction(comb(low + tie, k - 1)),
                "random": Fraction(comb(low + tie + 1, k) - comb(low, k), tie + 1),
            }[ties]
            total += Fraction(float(weight)) * ways / comb(K - 1, k - 1)
        exact.append(float(total / whole))
    evidence = Evidence(K, lower, tied, weights, ties=ties)
    np.testing.assert_allclose(evidence.accuracy(), exact, rtol=2e-15)
    np.testing.assert_allclose(module._by_recursion(evidence.beaten, K), exact, rtol=3e-15)


def test_many_classes_by_every_way_to_compute(monkeypatch):
    K = 3000
    beaten = np.random.default_rng(0).dirichlet(np.full(K, 0.05))
    sizes = np.unique(np.geomspace(1, K, 40).astype(np.int64))
    exact = [
        float(
            sum(Fraction(float(h)) * comb(j, int(k) - 1) for j, h in enumerate(beaten) if h) / comb(K - 1, int(k) - 1)
        )
        for k in sizes[[1, 10, 20, 30, -1]]
    ]
    at_once = mean_over_label_sets(beaten, sizes)
    np.testing.assert_allclose(at_once[[1, 10, 20, 30, -1]], exact, rtol=1e-14)
    np.testing.assert_allclose(mean_over_label_sets(beaten, np.arange(1, K + 1))[sizes - 1], at_once, rtol=2e-14)
    monkeypatch.setattr(module, "MOST_NUMBERS", 4 * K)
    np.testing.assert_allclose(mean_over_label_sets(beaten, sizes), at_once, rtol=1e-14)


def test_what_is_too_small_for_a_float_is_zero():
    K = 4000
    evidence = Evidence(K, np.array([K // 2]), np.array([0]), np.ones(1))
    curve = evidence.accuracy()
    assert curve[0] == 1
    assert (curve[K // 2 + 1 :] == 0).all()
    assert (np.diff(curve) <= 0).all()
    assert np.isfinite(curve).all()


@pytest.mark.parametrize("k", [0, 9, [1, 9], -1])
def test_sizes_that_were_not_observed_are_refused(k):
    with pytest.raises(InputError, match=r"from 1 to 8.*extrapolate"):
        Evidence(8, np.array([3]), np.array([0]), np.ones(1)).accuracy(k)


def test_shapes_of_sizes_are_kept():
    evidence = Evidence(8, np.array([3]), np.array([2]), np.ones(1))
    assert evidence.accuracy(3).shape == ()
    assert evidence.accuracy([[2, 3], [4, 5]]).shape == (2, 2)


tables = nps.arrays(float, st.tuples(st.integers(1, 12), st.integers(2, 9)), elements=st.integers(-4, 4).map(float))


@given(tables, st.sampled_from(TIES), st.data())
def test_one_class_is_always_right_and_more_never_help(scores, ties, data):
    y = np.array(data.draw(st.lists(st.integers(0, scores.shape[1] - 1), min_size=len(scores), max_size=len(scores))))
    curve = Ranks.from_scores(scores, y).evidence(ties).accuracy()
    assert curve[0] == 1
    assert (np.diff(curve) <= 1e-15).all()
    assert curve[-1] >= 0


@given(tables, st.sampled_from(TIES), st.data())
def test_only_the_order_of_scores_matters(scores, ties, data):
    n, K = scores.shape
    y = np.array(data.draw(st.lists(st.integers(0, K - 1), min_size=n, max_size=n)))
    order = np.array(data.draw(st.permutations(range(K))))
    before = Ranks.from_scores(scores, y).evidence(ties).accuracy()
    stretched = np.exp(scores * np.linspace(0.5, 1, n)[:, None]) + np.arange(n)[:, None]
    np.testing.assert_allclose(Ranks.from_scores(stretched, y).evidence(ties).accuracy(), before, atol=1e-14)
    moved = Ranks.from_scores(scores[:, order], np.argsort(order)[y]).evidence(ties).accuracy()
    np.testing.assert_allclose(moved, before, atol=1e-14)


@given(st.integers(1, 40), st.data())
def test_spread_gives_every_place_its_part(size, data):
    runs = data.draw(
        st.lists(
            st.integers(0, size - 1).flatmap(lambda a: st.tuples(st.just(a), st.integers(0, size - 1 - a))), max_size=8
        )
    )
    first, tied = np.array(runs, dtype=int).reshape(-1, 2).T
    weights = np.linspace(1, 2, len(runs))
    slow = np.zeros(size)
    for a, t, weight in zip(first, tied, weights):
        slow[a : a + t + 1] += weight / (t + 1)
    found = spread_weights(first, tied, weights, size)
    np.testing.assert_allclose(found, slow, rtol=1e-14)
    assert ((found == 0) == (slow == 0)).all()


# Ranks within label sets.


def ranks_enumerated(n_classes, k, beaten):
    """The share of label sets with each rank, for a row that beats the first `beaten` of the other classes."""
    ranks = [
        sum(other >= beaten for other in chosen) + 1 for chosen in itertools.combinations(range(n_classes - 1), k - 1)
    ]
    return [ranks.count(rank) / len(ranks) for rank in range(1, k + 1)]


@pytest.mark.parametrize(("n_classes", "k"), [(2, 2), (5, 3), (6, 6), (7, 2), (8, 5)])
def test_ranks_in_every_label_set(n_classes, k):
    found = rank_chances(n_classes, k, 1, k)
    for beaten in range(n_classes):
        np.testing.assert_allclose(found[beaten], ranks_enumerated(n_classes, k, beaten), atol=1e-12)


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
