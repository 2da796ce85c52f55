"""Whole groups in subsets and halves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay import HalfSplits, InputError, Subsets
from classay.learner.fitting.schemes import COMPLETED
from classay.splits import per_row


@st.composite
def grouped(draw):
    sizes = draw(st.lists(st.integers(1, 9), min_size=6, max_size=25))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    codes = rng.integers(2, size=groups.size)
    for code in (0, 1):  # each class in two groups
        codes[np.searchsorted(groups, [code, code + 2])] = code
    return codes, groups


def whole(rows, groups):
    """Whether rows are those of whole groups, each group a number of times."""
    times = np.bincount(rows, minlength=groups.size)
    return all(len(set(times[groups == group])) == 1 for group in np.unique(groups))


@given(data=grouped(), size=st.floats(0.2, 0.9), replace=st.booleans(), seed=st.integers(0, 2**40))
def test_subsets_are_whole_groups(data, size, replace, seed):
    codes, groups = data
    rows = per_row(groups, rows=codes.size)
    scheme = Subsets(3, size, replace)
    if scheme.rows(codes.size) < 2:
        return
    scheme.check(codes, rows)
    for drawn, added in scheme.draw(codes, seed, rows):
        assert whole(drawn, groups)
        assert set(codes[drawn]) == {0, 1}
        assert replace or drawn.size == np.unique(drawn).size or added == COMPLETED
        # Within half a group of the wanted number, unless a class was missing.
        assert added == COMPLETED or abs(drawn.size - scheme.rows(codes.size)) <= 5 or drawn.size < 10


@given(data=grouped(), by_class=st.booleans(), seed=st.integers(0, 2**40))
def test_no_group_is_in_both_halves(data, by_class, seed):
    codes, groups = data
    rows = per_row(groups, rows=codes.size)
    scheme = HalfSplits(3, stratify=by_class)
    try:
        scheme.check(codes, rows)
    except InputError:
        assert by_class
        return
    halves = [drawn for drawn, _ in scheme.draw(codes, seed, rows)]
    for one, other in zip(halves[::2], halves[1::2]):
        assert not set(groups[one]) & set(groups[other])
        assert sorted([*one, *other]) == list(range(codes.size))
        assert min(one.size, other.size) > 0


@given(data=grouped(), by_class=st.booleans(), seed=st.integers(0, 2**40))
def test_smaller_halves_are_parts_of_them(data, by_class, seed):
    codes, groups = data
    rows = per_row(groups, rows=codes.size)
    halves = [drawn for drawn, _ in HalfSplits(3, 0.25, by_class).draw(codes, seed, rows)]
    for one, other in zip(halves[::2], halves[1::2]):
        assert not set(groups[one]) & set(groups[other])
        assert whole(one, groups)
        assert whole(other, groups)


def test_the_first_subsets_do_not_depend_on_how_many_there_are():
    groups, codes = np.repeat(np.arange(20), 3), np.repeat(np.arange(20), 3) % 2
    rows = per_row(groups, rows=60)
    for few, many in ((Subsets(2), Subsets(5)), (HalfSplits(1), HalfSplits(4))):
        first = [drawn.tolist() for drawn, _ in few.draw(codes, 3, rows)]
        assert first == [drawn.tolist() for drawn, _ in many.draw(codes, 3, rows)][: len(first)]


def test_subsets_have_about_the_wanted_rows():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(100), rng.integers(1, 12, 100))
    codes = rng.integers(2, size=groups.size)
    for replace in (True, False):
        sizes = [drawn.size for drawn, _ in Subsets(50, 0.3, replace).draw(codes, 0, per_row(groups, rows=codes.size))]
        assert np.abs(np.array(sizes) - 0.3 * codes.size).max() <= 6
    with_twins = [drawn for drawn, _ in Subsets(20, 1.0).draw(codes, 0, per_row(groups, rows=codes.size))]
    kept = np.mean([np.unique(groups[drawn]).size / 100 for drawn in with_twins])
    assert kept == pytest.approx(1 - np.exp(-1), abs=0.05)  # a bootstrap of groups


def test_a_class_of_one_group_cannot_be_in_both_halves():
    groups = np.repeat(np.arange(8), 4)
    codes = np.where(groups == 0, 2, groups % 2)
    with pytest.raises(InputError, match="1 classes have training rows in only one group"):
        HalfSplits(2, stratify=True).check(codes, per_row(groups, rows=32))
    HalfSplits(2).check(codes, per_row(groups, rows=32))
    halves = [codes[rows] for rows, _ in HalfSplits(2).draw(codes, 0, per_row(groups, rows=32))]
    assert [2 in half for half in halves].count(True) == 2  # in one half of each split, and nothing is put in
    drawn = list(Subsets(6, 0.2).draw(codes, 0, per_row(groups, rows=32)))
    assert all(2 in codes[rows] for rows, _ in drawn)
    assert any(added == COMPLETED for _, added in drawn)
