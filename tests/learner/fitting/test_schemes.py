"""How rows are split and samples drawn: by class, by position, in whole groups, in time, and refused before any fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rough_learners import Tallied, fits
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

import classay
from classay import HalfSplits, InputError, Retrain, Subsets, record
from classay.learner.fitting import schemes
from classay.learner.fitting.schemes import AS_DRAWN, COMPLETED, REDRAWN
from classay.splits import per_row, split_by_share


def codes_of(*counts, seed=0):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))


class_counts = st.lists(st.integers(1, 12), min_size=2, max_size=6).filter(lambda counts: max(counts) > 1)


@given(counts=class_counts, test_size=st.floats(0.01, 0.99), seed=st.integers(0, 2**40))
def test_a_split_is_disjoint_complete_and_by_class(counts, test_size, seed):
    codes = codes_of(*counts)
    train, test = split_by_share(codes, test_size, seed)
    assert sorted([*train, *test]) == list(range(codes.size))
    assert list(train) == sorted(train)
    assert list(test) == sorted(test)
    assert test.size > 0
    in_test = np.bincount(codes[test], minlength=len(counts))
    for count, taken in zip(counts, in_test):
        assert taken <= count - 1  # every class stays in the training part
        share = test_size * count
        assert min(np.floor(share), count - 1) <= taken <= np.ceil(share)


@pytest.mark.parametrize(
    ("counts", "test_size", "expected"),
    [
        ((50, 50, 50), 0.2, (10, 10, 10)),
        ((12, 17, 21), 0.3, (4, 5, 6)),  # 3.6, 5.1, 6.3: 15 in all, and the largest remainder is the first
        ((7, 7, 6), 0.25, (2, 2, 1)),  # 1.75, 1.75, 1.5: 5 in all
        ((100, 1, 1), 0.2, (20, 0, 0)),
        ((2, 2), 0.9, (1, 1)),  # at least one of each class stays
        ((30, 2), 0.01, (1, 0)),  # never empty
        ((100, 100), 0.29, (29, 29)),  # though 0.29 * 100 is less than 29
    ],
)
def test_largest_remainders(counts, test_size, expected):
    codes = codes_of(*counts)
    _, test = split_by_share(codes, test_size, 0)
    assert tuple(np.bincount(codes[test], minlength=len(counts))) == expected


def test_a_split_says_which_classes_cannot_be_tested():
    labelings = classay.record(
        GaussianNB(), np.arange(102.0)[:, None], codes_of(100, 1, 1), Subsets(3, size=0.9), 1, executor=1
    )
    note, again = labelings.notes
    assert again.code in ("subsets-redrawn", "subsets-completed")
    assert note == "2 of 3 classes have no row in the test part: too few rows."
    assert (note.code, note.numbers) == ("classes-not-tested", {"count": 2, "classes": 3})


@pytest.mark.parametrize(
    ("size", "rows"), [(0.15, 15), (0.29, 29), (0.57, 57), (0.999, 99), (40, 40), (np.int64(40), 40)]
)
@pytest.mark.parametrize("replace", [True, False])
def test_sizes(size, rows, replace):
    subsets = [drawn for drawn, _ in Subsets(5, size, replace).draw(codes_of(60, 40), 0)]
    assert [drawn.size for drawn in subsets] == [rows] * 5
    repeated = any(np.unique(drawn).size < drawn.size for drawn in subsets)
    assert repeated == replace


def test_more_rows_than_there_are_need_replacement_and_fewer_than_classes_are_too_few():
    Subsets(4, 3).check(codes_of(9, 9, 9))
    with pytest.raises(InputError, match=r"2 rows .* for 3 classes"):
        Subsets(4, 2).check(codes_of(9, 9, 9))
    codes = codes_of(6, 4)
    Subsets(2, 30, True).check(codes)
    Subsets(2, 10, False).check(codes)
    with pytest.raises(InputError, match=r"11 rows cannot be drawn without replacement from 10.*replace=True"):
        Subsets(2, 11, False).check(codes)


@given(counts=class_counts, extra=st.integers(0, 8), replace=st.booleans(), seed=st.integers(0, 2**40))
def test_every_class_is_in_every_subset(counts, extra, replace, seed):
    codes = codes_of(*counts)
    size = len(counts) + extra
    if not replace:
        size = min(size, codes.size)
    for drawn, _ in Subsets(4, size, replace).draw(codes, seed):
        assert drawn.size == size
        assert list(drawn) == sorted(drawn)
        assert drawn[0] >= 0
        assert drawn[-1] < codes.size
        assert set(codes[drawn]) == set(codes)
        if not replace:
            assert np.unique(drawn).size == size


@given(counts=class_counts, first=st.integers(2, 6), more=st.integers(0, 6), seed=st.integers(0, 2**40))
def test_subset_k_is_the_same_whatever_the_number_of_subsets(counts, first, more, seed):
    codes = codes_of(*counts)
    for scheme in (Subsets(first, len(counts)), Subsets(first, len(counts), replace=False)):
        longer = schemes.Subsets(first + more, scheme.size, scheme.replace)
        for (few, few_by_hand), (many, many_by_hand) in zip(scheme.draw(codes, seed), longer.draw(codes, seed)):
            np.testing.assert_array_equal(few, many)
            assert few_by_hand == many_by_hand


@pytest.mark.parametrize("replace", [True, False])
def test_a_class_put_in_by_hand_is_flagged(replace):
    codes = codes_of(2000, 1, 1, 1)
    by_hand = []
    for drawn, forced in Subsets(10, 4, replace).draw(codes, 3):
        assert sorted(codes[drawn]) == [0, 1, 2, 3]
        by_hand.append(forced == COMPLETED)
    assert all(by_hand)  # twenty draws of 4 rows out of 2003 do not find three single rows
    assert {how for _, how in Subsets(10, 100).draw(codes_of(50, 50), 3)} == {AS_DRAWN}


def test_subsets_are_random_differ_with_the_seed_and_are_not_by_class_shares():
    drawn = [tuple(rows) for seed in (0, 1) for rows, _ in Subsets(10, 20).draw(codes_of(50, 50), seed)]
    assert len(set(drawn)) == 20
    codes = codes_of(500, 500)
    shares = [codes[drawn].mean() for drawn, _ in Subsets(200, 100).draw(codes, 0)]
    # The binomial spread of 100 draws is 0.05; shares fixed by class would have none.
    assert 0.04 < np.std(shares) < 0.06
    assert abs(np.mean(shares) - 0.5) < 0.02


def test_the_plain_draw_keeps_subsets_without_a_class_and_both_ways_are_said():
    codes = codes_of(45, 5)
    plain = list(Subsets(200, 10, every_class=False).draw(codes, 0))
    lacking = np.mean([1 not in codes[rows] for rows, _ in plain])
    assert {how for _, how in plain} == {AS_DRAWN}
    assert abs(lacking - 0.9**10) < 0.1  # each of ten rows misses the class with probability 0.9
    again = [how for _, how in Subsets(200, 10).draw(codes, 0)]
    assert again.count(REDRAWN) == round(200 * lacking)  # the first draws are the same
    Subsets(5, 2, every_class=False).check(codes_of(9, 9, 9))

    X = np.random.default_rng(0).normal(size=(50, 2))
    for scheme, code in (
        (Subsets(20, 8), "subsets-redrawn"),
        (Subsets(20, 8, every_class=False), "subsets-lack-classes"),
    ):
        notes = [
            note.code
            for note in record(GaussianNB(), X, codes, scheme, 1, executor=1).notes
            if note.code != "refits-warned"
        ]
        assert notes[0] == code


@pytest.mark.parametrize(("stratify", "truth"), [(False, 0.504), (True, None)])
def test_halves_are_independent_samples_unless_they_are_dealt_by_class(stratify, truth):
    """Two samples of 80 balanced labels have the same majority in half of the cases (ties go to the first class)."""
    agree = []
    for seed in range(60):
        codes = np.random.default_rng(seed).integers(2, size=160)
        majority = [int(codes[rows].mean() > 0.5) for rows, _ in HalfSplits(10, stratify=stratify).draw(codes, seed)]
        agree.append(np.equal(majority[::2], majority[1::2]).mean())
    if truth is None:
        assert np.mean(agree) > 0.85  # figures of samples whose class shares are those of the rows
    else:
        assert abs(np.mean(agree) - truth) < 4 * np.std(agree) / np.sqrt(60)


@given(counts=st.lists(st.integers(2, 11), min_size=2, max_size=6), by_class=st.booleans(), seed=st.integers(0, 2**40))
def test_halves_are_disjoint_complete_and_balanced(counts, by_class, seed):
    codes = codes_of(*counts)
    scheme = HalfSplits(3, stratify=by_class)
    scheme.check(codes)
    drawn = [rows for rows, _ in scheme.draw(codes, seed)]
    assert len(drawn) == scheme.n == 6
    for one, other in zip(drawn[::2], drawn[1::2]):
        assert sorted([*one, *other]) == list(range(codes.size))
        assert list(one) == sorted(one)
        if not by_class:
            assert one.size - other.size in (0, 1)
            continue
        shares = [np.bincount(codes[half], minlength=len(counts)) for half in (one, other)]
        assert np.abs(shares[0] - shares[1]).max() <= 1
        assert min(shares[0].min(), shares[1].min()) >= 1
        assert abs(one.size - other.size) <= 1


def test_pair_i_of_halves_is_the_same_whatever_the_number_of_pairs():
    codes = codes_of(9, 12)
    few, many = ([tuple(rows) for rows, _ in HalfSplits(m).draw(codes, 4)] for m in (2, 5))
    assert few == many[:4]
    assert len(set(many)) == 10


def test_the_spare_row_goes_to_either_half():
    sizes = {next(iter(HalfSplits(1, stratify=True).draw(codes_of(5, 4), seed)))[0].size for seed in range(20)}
    assert sizes == {4, 5}


def test_halves_need_two_rows_of_each_class():
    with pytest.raises(
        InputError, match=r"2 classes have only one training row; two are needed.*merge.*stratify=False"
    ):
        HalfSplits(2, stratify=True).check(codes_of(10, 1, 1))
    HalfSplits(2).check(codes_of(10, 1, 1))
    with pytest.raises(InputError, match="training part has 3 rows; two halves need at least 4"):
        HalfSplits(2).check(codes_of(3))


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        (lambda: Subsets(1), r"`Subsets\(n\)` is 1; .*at least 2.*One subset cannot show"),
        (lambda: Subsets(0), r"`Subsets\(n\)` is 0"),
        (lambda: Subsets(10.0), r"`Subsets\(n\)` is 10.0"),
        (lambda: Subsets(True), r"`Subsets\(n\)` is True"),
        (lambda: Subsets(5, 0.0), r"`Subsets\(size\)` is 0.0; expected a number between 0 and 1.*whole number of rows"),
        (lambda: Subsets(5, 1.5), r"`Subsets\(size\)` is 1.5"),
        (lambda: Subsets(5, 1), r"`Subsets\(size\)` is 1; .*at least 2"),
        (lambda: Subsets(5, True), r"`Subsets\(size\)` is True"),
        (lambda: Subsets(5, float("nan")), r"`Subsets\(size\)` is nan"),
        (lambda: Subsets(5, "half"), r"`Subsets\(size\)` is 'half'"),
        (lambda: Subsets(5, 0.5, "yes"), r"`Subsets\(replace\)` is 'yes'; expected True or False"),
        (lambda: Subsets(5, 0.5, True, 1), r"`Subsets\(every_class\)` is 1; expected True or False"),
        (lambda: HalfSplits(0), r"`HalfSplits\(m\)` is 0; .*at least 1"),
        (lambda: HalfSplits(2, "half"), r"`HalfSplits\(size\)` is 'half'; expected a number between 0 and 1"),
        (lambda: HalfSplits(2, None, "y"), r"`HalfSplits\(stratify\)` is 'y'; expected True or False"),
    ],
)
def test_schemes_that_are_none(scheme, said):
    with pytest.raises(InputError, match=said):
        scheme()


@pytest.mark.parametrize("size", [3, 0.15])
def test_a_subset_smaller_than_the_number_of_classes_is_refused_before_any_fit(size, tmp_path):
    X, y = np.arange(50.0).reshape(25, 2), np.repeat(np.arange(5), 5)  # 20 training rows, 15 % of them are 3
    with pytest.raises(InputError, match=r"would have 3 rows \(.* of 20 training rows\) for 5 classes.*larger subset"):
        record(Tallied(tmp_path / "fits"), X, y, Subsets(5, size), executor=1)
    assert fits(tmp_path / "fits") == 0


# Whole groups in subsets and halves


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


# Samples of a retraining: what they share, in time, with groups, and what is refused


X, Y = make_classification(500, random_state=0)


def rows_of(labelings):
    return [set(each.tolist()) for each in labelings.train_rows]


@pytest.mark.parametrize("replaced", [0.05, 0.1, 0.3])
def test_two_samples_share_the_rest_of_their_rows(replaced):
    samples = rows_of(record(GaussianNB(), X, Y, Retrain(10, replaced), executor=1))
    assert {len(each) for each in samples} == {round((1 - replaced) * 400)}
    shared = [len(a & b) / len(a) for place, a in enumerate(samples) for b in samples[:place]]
    assert np.mean(shared) == pytest.approx(1 - replaced, abs=0.01)


def test_with_time_the_oldest_rows_make_room_for_newer_ones():
    time = np.random.default_rng(0).permutation(500)
    labelings = record(GaussianNB(), X, Y, Retrain(6), executor=1, time=time)
    windows = [np.sort(time[each]) for each in labelings.train_rows]
    size = int(400 / 1.2)
    assert all(window.size == size and np.ptp(window) == size - 1 for window in windows)
    lag = Retrain(6).lag
    assert lag == 3
    for before, after in zip(windows, windows[lag:]):
        assert len(np.setdiff1d(after, before)) == pytest.approx(0.1 * size, abs=1.5)
    assert windows[-1].max() < 400
    assert windows[0].min() == 0


def test_with_groups_whole_groups_are_drawn():
    groups = np.arange(500) // 10
    labelings = record(GaussianNB(), X, Y, Retrain(4), executor=1, groups=groups)
    for each in labelings.train_rows:
        assert all((np.bincount(groups[each])[np.unique(groups[each])] == 10).tolist())


def test_what_is_refused():
    with pytest.raises(InputError, match=r"`Retrain\(n\)` is 1"):
        Retrain(1)
    with pytest.raises(InputError, match=r"`Retrain\(replaced\)` is 1.5"):
        Retrain(5, 1.5)
    with pytest.raises(InputError, match="would replace 0 of"):
        Retrain(5, 0.001).check(np.arange(50) % 2)
    codes = np.repeat([0, 1], 50)
    with pytest.raises(InputError, match="windows in time have rows of one class only"):
        Retrain(5, 0.9).check(codes, per_row(time=np.arange(100), rows=100))
    with pytest.raises(InputError, match=r"expected Subsets\(...\), HalfSplits\(...\), Retrain\(...\)"):
        record(GaussianNB(), X, Y, "retrain")
