"""Stability of data like these: the contrasts by hand, what is withheld, and coverage over data sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from classay import HalfSplits, Labelings, Subsets, record, stability
from classay.learner.stability.new_data import agreements, row_variance


def test_agreements_of_all_pairs_by_hand():
    answers = np.random.default_rng(0).integers(3, size=(6, 2, 20))
    table = agreements(answers, np.equal)
    for one, two in itertools.combinations(range(6), 2):
        pairs = [(answers[one, r] == answers[two, s]).mean() for r in range(2) for s in range(2)]
        assert table[one, two] == table[two, one] == pytest.approx(np.mean(pairs))


def test_the_contrasts_by_hand():
    table = np.random.default_rng(1).random((6, 6))
    table = (table + table.T) / 2
    crossed, between = [], []
    for r, s in itertools.permutations(range(3), 2):
        a = [[table[2 * r + i, 2 * s + j] for j in (0, 1)] for i in (0, 1)]
        crossed.append((a[0][0] + a[1][1] - a[0][1] - a[1][0]) ** 2 / 4)
    for r in range(3):
        others = [place for place in range(6) if place // 2 != r]
        between.append((table[2 * r, others].mean() - table[2 * r + 1, others].mean()) ** 2 / 2)
    assert row_variance(table) == pytest.approx(np.mean(crossed) / 2 + np.mean(between))


@pytest.mark.parametrize("part", ["one", "both"])
def test_effects_of_single_rows_are_found(part):
    """Agreement that is a sum over rows, of those in one sample or in both: what half of W + 2V is made for."""
    rng = np.random.default_rng(2)
    rows, splits = 60, 40
    effect = rng.normal(size=rows)
    inside = np.zeros((2 * splits, rows), dtype=bool)
    for split in range(splits):
        order = rng.permutation(rows)
        inside[2 * split, order[:30]] = inside[2 * split + 1, order[30:]] = True
    both = inside[:, None] & inside[None]
    in_part = both if part == "both" else inside[:, None] ^ inside[None]
    found = row_variance((in_part * effect).sum(axis=2))
    # g1 only: W = Σ g1², V = 0. g2 only: W = Σ (g2/2)², 2V = Σ (g2/2)².
    whole = (effect**2).sum()
    expected = whole / 2 if part == "one" else (whole / 4 + whole / 4) / 2
    assert found == pytest.approx(expected, rel=0.25)


def cloud(seed, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def test_both_intervals_are_named_and_the_second_is_wider():
    X, y = cloud(0)
    found = stability(record(GaussianNB(), X, y, HalfSplits(8), 1, probes="uniform", n_probes=200, executor=1))
    these, new = found.stability, found.stability_new_data
    assert these.kind == "of these rows, over subsets and points"
    assert new.kind == "of data like these, over data sets and points"
    assert new.value == these.value
    assert new.low < these.low < these.high < new.high
    assert found.accuracy.kind == "of these training rows, over subsets and points"
    frame = found.to_frame().set_index("figure")
    assert frame.loc["stability_new_data", "kind"] == new.kind
    assert found.to_dict()["stability_new_data"]["low"] == new.low
    assert f"for data like these, [{new.low:.3g}, {new.high:.3g}]" in str(found)
    numbers = record(LinearRegression(), X, X[:, 0] + y, HalfSplits(8), 1, executor=1)
    assert stability(numbers).stability_new_data.low < stability(numbers).stability.low


def test_it_is_withheld_where_refits_are_not_those_of_two_samples():
    X, y = cloud(0)
    overlap = stability(record(GaussianNB(), X, y, Subsets(8), 1, executor=1))
    assert not overlap.stability_new_data.known
    assert "overlap" in overlap.stability_new_data.kind
    assert "for data like these" not in str(overlap)
    by_class = stability(record(GaussianNB(), X, y, HalfSplits(8, stratify=True), 1, executor=1))
    assert "by class" in by_class.stability_new_data.kind
    assert any(note.startswith("The halves were dealt by class") for note in by_class.notes)
    arrays = Labelings.from_arrays(np.random.default_rng(0).integers(2, size=(8, 30)), [0, 1] * 15, halves=True)
    assert stability(arrays).stability_new_data.known


def test_the_majority_learner_on_balanced_labels():
    """Two samples of balanced labels have the same majority half of the time; stratified halves said 0.93."""
    values, held = [], 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(201, 2)), rng.integers(2, size=201)
        found = stability(record(DummyClassifier(), X, y, HalfSplits(10), 1, executor=1, random_state=seed))
        values.append(found.stability.value)
        held += found.stability_new_data.low <= 0.5 <= found.stability_new_data.high
    assert abs(np.mean(values) - 0.5) < 4 * np.std(values) / np.sqrt(20)
    assert held >= 15
