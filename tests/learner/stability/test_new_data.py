"""Figures of data like these: their variance by hand, what is withheld, and coverage over data sets."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from classay import HalfSplits, Labelings, Subsets, orientation, record, stability
from classay.learner.stability.new_data import agreements, row_variance, sample_variance


def test_agreements_of_all_pairs_by_hand():
    answers = np.random.default_rng(0).integers(3, size=(6, 2, 20))
    table = agreements(answers, np.equal)
    for one, two in itertools.combinations(range(6), 2):
        pairs = [(answers[one, r] == answers[two, s]).mean() for r in range(2) for s in range(2)]
        assert table[one, two] == table[two, one] == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("over_splits", [0.0, 1.0])
def test_the_variance_by_hand(over_splits):
    table = np.random.default_rng(1).random((6, 6))
    table = (table + table.T) / 2
    for split, level in enumerate((0.4, 0.5, 0.7)):
        table[2 * split, 2 * split + 1] = table[2 * split + 1, 2 * split] = over_splits * level
    rest, of_samples = [], []
    for r, s in itertools.permutations(range(3), 2):
        a = [[table[2 * r + i, 2 * s + j] for j in (0, 1)] for i in (0, 1)]
        rest.append((a[0][0] + a[1][1] - a[0][1] - a[1][0]) ** 2 / 4)
    for r in range(3):
        others = [place for place in range(6) if place // 2 != r]
        of_samples.append((table[2 * r, others].mean() - table[2 * r + 1, others].mean()) ** 2)
    less = np.var([0.4, 0.5, 0.7], ddof=1) * over_splits
    assert less < np.mean(rest)
    assert row_variance(table) == pytest.approx(np.mean(rest) + np.mean(of_samples) - less)
    # Splits that differ a lot: what single samples add remains.
    table[[0, 1], [1, 0]] = 9.0
    assert row_variance(table) == pytest.approx(np.mean(of_samples))


@pytest.mark.parametrize("part", ["one", "both"])
def test_effects_of_single_rows_are_found(part):
    """Agreement that is a sum over rows, of those in one sample or in both."""
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
    # Rows in one: W = Σ g², V = 0. Rows in both: W = V = Σ (g/2)². Splits of these rows do not differ.
    whole = (effect**2).sum()
    assert found == pytest.approx(whole if part == "one" else whole / 2, rel=0.25)


def test_effects_of_single_rows_on_accuracy_are_found():
    """The mean of both halves is half of the sum over all rows, so its variance over data sets is Σ g²/4."""
    rng = np.random.default_rng(3)
    effect, halves = rng.normal(size=60), []
    for _ in range(200):
        order = rng.permutation(60)
        halves += [effect[order[:30]].sum(), effect[order[30:]].sum()]
    expected = (effect**2).sum() / 4
    for two_fold in (False, True):
        assert sample_variance(np.array(halves), two_fold) == pytest.approx(expected, rel=0.25)


def test_what_splits_of_the_same_rows_average_out_is_taken_off():
    accuracy = np.array([0.9, 0.7, 0.8, 0.6, 0.9, 0.9])
    of_split = np.mean([0.2**2, 0.2**2, 0]) / 4
    assert sample_variance(accuracy, two_fold=True) == pytest.approx(of_split)
    assert sample_variance(accuracy, two_fold=False) == pytest.approx(of_split / 2)


def cloud(seed, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("settings", [{}, {"test_size": 0, "probes": "data", "n_probes": 60}])
def test_intervals_for_other_data_are_over_groups_if_there_are_some(settings, grouped):
    """Their kind said "points" though points of a group were counted once."""
    X, y = cloud(0)
    groups = np.repeat(np.arange(24), 5) if grouped else None
    X = X + np.random.default_rng(1).normal(size=(24, 3))[groups] if grouped else X
    labelings = record(GaussianNB(), X, y, HalfSplits(8), 1, groups=groups, **settings, executor=1)
    found = stability(labelings)
    of_points = labelings.groups_of("probes" if settings else "test")
    kind = "of data like these, over data sets and"
    assert found.stability_new_data.kind == f"{kind} {'points' if of_points is None else 'groups'}"
    assert found.accuracy_new_data.kind == f"{kind} {'groups' if grouped else 'points'}"
    pairs = [(found.stability_new_data, found.stability), (found.accuracy_new_data, found.accuracy)]
    numbers = stability(record(LinearRegression(), X, X[:, 0] + y, HalfSplits(8), 1, groups=groups, executor=1))
    assert numbers.stability_new_data.kind == f"{kind} {'groups' if grouped else 'points'}"
    for new, these in (*pairs, (numbers.stability_new_data, numbers.stability)):
        assert new.value == pytest.approx(these.value)
        assert new.low < these.low < new.value < new.high
        assert f"for data like these, [{new.low:.3g}, {new.high:.3g}]" in f"{found} {numbers}"


def test_it_is_withheld_where_refits_are_not_those_of_two_samples():
    X, y = cloud(0)
    overlap = stability(record(GaussianNB(), X, y, Subsets(8), 1, executor=1))
    assert not overlap.stability_new_data.known
    assert not overlap.accuracy_new_data.known
    assert "overlap" in overlap.stability_new_data.kind
    assert "for data like these" not in str(overlap)
    by_class = stability(record(GaussianNB(), X, y, HalfSplits(8, stratify=True), 1, executor=1))
    assert "by class" in by_class.stability_new_data.kind
    assert any(note.startswith("The halves were dealt by class") for note in by_class.notes)
    assert "by class" in by_class.accuracy_new_data.kind
    arrays = Labelings.from_arrays(np.random.default_rng(0).integers(2, size=(8, 30)), [0, 1] * 15, halves=True)
    assert stability(arrays).stability_new_data.known


def test_accuracy_without_an_error_still_has_an_interval():
    X = np.repeat([[0.0], [9.0]], 40, axis=0) + np.random.default_rng(0).random((80, 1))
    found = stability(record(GaussianNB(), X, [0] * 40 + [1] * 40, HalfSplits(8), 1, executor=1))
    assert found.accuracy_new_data.value == 1
    assert 0.5 < found.accuracy_new_data.low < 0.9


def test_every_interval_names_its_population():
    X, y = cloud(0)
    for settings in ({}, {"test_size": 0, "probes": "uniform", "n_probes": 50}):
        labelings = record(
            DecisionTreeClassifier(max_depth=2, splitter="random"), X, y, HalfSplits(6), 2, **settings, executor=1
        )
        kinds = [*stability(labelings).to_frame()["kind"], labelings.accuracy().kind, labelings.accuracy("train").kind]
        if not settings:
            kinds += orientation(labelings).to_frame()["kind"].tolist()
        for kind in kinds:
            assert re.search("of (these rows|these training rows|these refits|these subsets|data like these)", kind), (
                kind
            )


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
