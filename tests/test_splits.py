"""Rows split by class, by group and by time: whole groups on one side, the past before the future."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay import HalfSplits, InputError, Subsets, seeds
from classay.splits import (
    NOTHING,
    PerRow,
    deal_groups,
    fold_of_rows,
    folds_by_class,
    per_row,
    split_by_share,
    split_every_class,
    split_rows,
    train_rows_of_fold,
)


@st.composite
def grouped(draw):
    """Class codes and groups: of any sizes, with one class or several in each."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=4, max_size=30))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    one_class = draw(st.booleans())
    codes = rng.integers(2, size=len(sizes))[groups] if one_class else rng.integers(3, size=groups.size)
    codes[:2] = [0, 1]
    order = rng.permutation(groups.size)
    return np.unique(codes[order], return_inverse=True)[1], groups[order]


@given(data=grouped(), test_size=st.floats(0.05, 0.5), seed=st.integers(0, 2**40))
def test_no_group_is_in_both_parts(data, test_size, seed):
    codes, groups = data
    try:
        train, test = split_rows(codes, test_size, seed, per_row(groups, rows=codes.size))
    except InputError:  # each group has a class of its own
        return
    assert not set(groups[train]) & set(groups[test])
    assert sorted([*train, *test]) == list(range(codes.size))
    assert test.size > 0
    assert train.size > 0


@given(data=grouped(), folds=st.integers(2, 6), seed=st.integers(0, 2**40))
def test_a_group_has_one_fold(data, folds, seed):
    codes, groups = data
    rows = per_row(groups, rows=codes.size)
    fold = fold_of_rows(codes, folds, seed, rows)
    assert all(len(set(fold[groups == group])) == 1 for group in groups)
    assert set(fold) == set(range(min(folds, np.unique(groups).size)))
    for number in range(fold.max() + 1):
        train = train_rows_of_fold(fold, number, rows)
        assert sorted([*train, *np.flatnonzero(fold == number)]) == list(range(codes.size))


def test_groups_are_dealt_by_class_and_by_rows():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(200), rng.integers(1, 8, 200))
    codes = rng.integers(4, size=200)[groups]
    part = deal_groups(codes, groups, np.array([0.8, 0.2]), np.random.default_rng(1))[groups]
    shares = np.bincount(codes[part == 1], minlength=4) / np.bincount(codes)
    assert shares == pytest.approx([0.2] * 4, abs=0.03)
    halves = deal_groups(codes, groups, np.array([0.5, 0.5]), np.random.default_rng(1))[groups]
    assert np.bincount(codes[halves == 0]) / np.bincount(codes) == pytest.approx([0.5] * 4, abs=0.03)
    again = deal_groups(codes, groups, np.array([0.5, 0.5]), np.random.default_rng(2))[groups]
    assert 0.3 < (halves == again).mean() < 0.7  # at random, and not only among equals


def test_very_many_groups_are_dealt_as_evenly():
    groups = np.repeat(np.arange(30_000), 2)
    codes = (np.arange(30_000) % 3)[groups]
    part = deal_groups(codes, groups, np.full(5, 0.2), np.random.default_rng(0))[groups]
    counts = np.array([np.bincount(codes[part == number], minlength=3) for number in range(5)])
    assert np.ptp(counts, axis=0).max() <= 4


def test_a_class_that_one_group_has_is_trained_on():
    groups = np.repeat(np.arange(10), 4)
    codes = np.where(groups == 3, 2, groups % 2)
    for seed in range(20):
        train, _ = split_rows(codes, 0.3, seed, per_row(groups, rows=40))
        assert 2 in codes[train]
    with pytest.raises(InputError, match="Each of the 10 groups has a class that no other group has"):
        split_rows(groups, 0.3, 0, per_row(groups, rows=40))


times = st.lists(st.integers(0, 12), min_size=4, max_size=40).filter(lambda values: len(set(values)) > 1)


@given(values=times, test_size=st.floats(0.05, 0.9))
def test_the_latest_rows_are_tested(values, test_size):
    time = np.array(values)
    train, test = split_rows(np.zeros(time.size, int), test_size, 0, per_row(time=time, rows=time.size))
    assert time[train].max() < time[test].min()  # rows of one time stay together
    assert sorted([*train, *test]) == list(range(time.size))


@given(values=times, folds=st.integers(1, 6))
def test_folds_in_time_are_trained_on_the_past(values, folds):
    time = np.array(values)
    rows = per_row(time=time, rows=time.size)
    fold = fold_of_rows(np.zeros(time.size, int), folds, 0, rows)
    assert fold.min() == -1
    assert fold.max() < folds
    for number in range(fold.max() + 1):
        train, test = train_rows_of_fold(fold, number, rows), np.flatnonzero(fold == number)
        assert train.size
        assert time[train].max() < time[test].min()


def test_blocks_in_time_by_hand():
    fold = fold_of_rows(np.zeros(9, int), 2, 0, per_row(time=[3, 1, 2, 9, 8, 7, 5, 6, 4], rows=9))
    assert fold.tolist() == [-1, -1, -1, 1, 1, 1, 0, 0, 0]


def test_groups_and_time_train_on_the_past_of_other_groups():
    time, groups = np.arange(20), np.array([0, 1, 2, 3, 4] * 3 + [5, 5, 0, 5, 0])
    rows = per_row(groups, time, rows=20)
    train, test = split_rows(np.zeros(20, int), 0.2, 0, rows)
    assert test.tolist() == [16, 17, 18, 19]
    assert train.tolist() == [1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14]  # group 0 and 5 are in the test part
    fold = fold_of_rows(np.zeros(20, int), 3, 0, rows)
    last = train_rows_of_fold(fold, 2, rows)
    assert not set(groups[last]) & set(groups[fold == 2])
    with pytest.raises(InputError, match="no group is left to train on"):
        split_rows(np.zeros(20, int), 0.2, 0, per_row([0, 1, 2, 3] * 5, time, rows=20))


def test_dates_in_any_form_give_the_same_order():
    days = pd.to_datetime(["2020-03-01", "2020-01-01", "2020-02-01", "2020-01-01"])
    forms = [days, pd.Series(days.tz_localize("UTC")), days.strftime("%Y-%m-%d").tolist(), [3.5, 1, 2, 1]]
    for form in forms:
        assert per_row(time=form, rows=4).time.tolist() == [2, 0, 1, 0]


def test_what_is_given_per_row_is_taken_with_the_rows():
    rows = per_row(list("abcda"), range(5), [1, 2, 0, 1, 3], rows=5)
    some = rows.take([4, 0])
    assert some.groups.tolist() == [0, 0]
    assert some.time.tolist() == [4, 0]
    assert some.weights.tolist() == [3, 1]
    assert list(rows.given) == ["groups", "time", "sample_weight"]
    assert NOTHING.take([1]).given == {}
    assert per_row(pd.DataFrame({"who": list("abcd")}, index=[7, 8, 9, 6]), rows=4).groups.tolist() == [0, 1, 2, 3]
    assert per_row(np.array([["a"], ["b"], ["c"], ["d"]]), rows=4).groups.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"groups": [1, 1, 2, 3, 3]}, "`groups` has 3 different values .1, 2, 3.; at least 4"),
        ({"groups": ["a", None, "b", "c", "d"]}, "`groups` is missing in 1 rows .first: 1."),
        ({"groups": [1, 2, 3]}, "`groups` has 3 values but `X` has 5 rows"),
        ({"groups": "patient"}, r"`groups` is 'patient'; expected one value per row.*X\['patient'\]"),
        ({"groups": np.ones((5, 2))}, r"`groups` has shape \(5, 2\)"),
        ({"groups": [[1], [2], [3], [4], [5, 6]]}, "`groups` is not an array"),
        ({"time": [1, 2, np.nan, 3, 4]}, "`time` is missing in 1 rows"),
        ({"time": list("abcde")}, "`time` has values such as 'a'; expected dates or numbers"),
        ({"time": [2, 2, 2, 2, 2]}, "`time` is 2 in every row"),
        ({"sample_weight": [1, 1, -1, 1, 1]}, "`sample_weight` is -1 in row 2"),
        ({"sample_weight": [1, 1, np.inf, 1, 1]}, "`sample_weight` is inf in row 2"),
        ({"sample_weight": [0] * 5}, "`sample_weight` is 0 in every row"),
        ({"sample_weight": list("abcde")}, "`sample_weight` has values such as 'a'"),
    ],
)
def test_mistakes_get_a_sentence(given, words):
    with pytest.raises(InputError, match=words):
        per_row(**given, rows=5)


def test_without_groups_and_time_the_rows_are_those_of_earlier_versions():
    """Computed with the version before groups and time."""
    codes = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0, 1, 2])
    assert split_rows(codes, 0.3, 7)[1].tolist() == [1, 8, 9, 13]
    assert split_by_share(codes, 0.3, 7)[1].tolist() == [1, 8, 9, 13]
    assert split_every_class(codes, 0.3, 7)[1].tolist() == [1, 3, 4, 9, 10]
    assert fold_of_rows(codes, 4, 7).tolist() == [3, 2, 1, 0, 2, 1, 0, 2, 0, 3, 1, 1, 0, 3, 2]
    assert folds_by_class(codes, 4, seeds.generator(7, "folds")).tolist() == fold_of_rows(codes, 4, 7).tolist()

    def drawn(scheme):
        plain = [rows.tolist() for rows, _ in scheme.draw(codes, 7)]
        weighted = scheme.draw(codes, 7, PerRow(time=np.arange(15), weights=np.ones(15)))
        assert plain == [rows.tolist() for rows, _ in weighted]
        return plain

    assert drawn(Subsets(2, 0.4)) == [[1, 2, 3, 7, 7, 8], [0, 1, 1, 3, 5, 10]]
    assert drawn(Subsets(2, 6, False)) == [[1, 2, 5, 6, 7, 12], [0, 1, 3, 4, 6, 14]]
    assert drawn(HalfSplits(1, stratify=True)) == [[0, 3, 6, 8, 10, 12, 13, 14], [1, 2, 4, 5, 7, 9, 11]]
    assert drawn(HalfSplits(1, 4, stratify=True)) == [[6, 8, 12, 13], [1, 4, 5, 11]]
