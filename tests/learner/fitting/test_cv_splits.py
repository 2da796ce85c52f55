"""Splitters of scikit-learn and index pairs as subsets."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, PredefinedSplit, ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

import classay
from classay import HalfSplits, InputError, Splits, record

X, y = load_wine(return_X_y=True)
groups = np.arange(y.size) // 6


def cv_record(cv, **options):
    return record(GaussianNB(), X, y, Splits(cv), 1, executor=1, **options)


def test_a_splitter_runs_on_the_training_part():
    labelings = cv_record(ShuffleSplit(7, train_size=0.5, random_state=3))
    train = np.setdiff1d(np.arange(y.size), labelings.test_rows)
    expected = [np.sort(train[rows]) for rows, _ in ShuffleSplit(7, train_size=0.5, random_state=3).split(train)]
    assert [rows.tolist() for rows in labelings.train_rows] == [rows.tolist() for rows in expected]
    assert [note.code for note in labelings.notes] == ["splitter-on-training-part"]
    assert labelings.about["scheme"]["kind"] == "Splits"
    assert not labelings.halves
    assert classay.stability(labelings).n_subsets == 7


def test_cv_is_short_for_the_scheme():
    one, other = cv_record(5), record(GaussianNB(), X, y, cv=5, repeats=1, executor=1)
    assert len(one.train_rows) == 5
    assert all(np.array_equal(a, b) for a, b in zip(one.train_rows, other.train_rows))
    with pytest.raises(InputError, match=r"`scheme` is HalfSplits.* and `cv` is given too"):
        record(GaussianNB(), X, y, HalfSplits(2), cv=5)


def test_a_splitter_without_a_seed_gets_that_of_the_record():
    first, again = (cv_record(ShuffleSplit(4), random_state=1) for _ in range(2))
    other = cv_record(ShuffleSplit(4), random_state=2)
    assert np.array_equal(first.labels, again.labels)
    assert not all(np.array_equal(a, b) for a, b in zip(first.train_rows, other.train_rows))
    splitter = ShuffleSplit(4)
    cv_record(splitter)
    assert splitter.random_state is None  # the user's own is not touched


def test_splitters_by_group_get_the_groups():
    labelings = cv_record(GroupKFold(4), groups=groups)
    train = np.setdiff1d(np.arange(y.size), labelings.test_rows)
    for rows in labelings.train_rows:
        assert not set(groups[rows]) & set(groups[np.setdiff1d(train, rows)])
        assert not set(groups[rows]) & set(groups[labelings.test_rows])
    folds = cv_record(4, groups=groups)  # a number of folds keeps groups together too
    for rows in folds.train_rows:
        assert not set(groups[rows]) & set(groups[np.setdiff1d(train, rows)])
    with pytest.raises(InputError, match=r"LeaveOneGroupOut\(\) cannot split the 1\d\d training rows"):
        cv_record(LeaveOneGroupOut())


def test_a_splitter_by_order_gets_rows_in_the_order_of_time():
    time = np.random.default_rng(0).permutation(y.size)
    labelings = cv_record(TimeSeriesSplit(4), time=time)
    latest = [time[rows].max() for rows in labelings.train_rows]
    assert latest == sorted(latest)
    assert all(time[rows].max() + 1 == rows.size for rows in labelings.train_rows)


def test_pairs_with_common_test_rows():
    test = np.arange(0, 178, 6)
    rest = np.setdiff1d(np.arange(178), test)
    labelings = cv_record([(rest[::2], test), (rest[1::2], np.append(test, rest[0]))])
    assert labelings.test_rows.tolist() == test.tolist()
    assert [rows.tolist() for rows in labelings.train_rows] == [rest[::2].tolist(), rest[1::2].tolist()]
    assert labelings.about["test_size"] is None
    masks = cv_record(iter([(np.isin(np.arange(178), rest[::2]), test), (rest[1::2], test)]))
    assert np.array_equal(masks.labels, labelings.labels)


def test_pairs_with_a_given_test_part():
    pairs = list(PredefinedSplit(np.arange(100) % 4).split())
    labelings = record(
        GaussianNB(), X[::2], y[::2], cv=[(a[a < 89], b) for a, b in pairs], repeats=1, executor=1, X_test=X[1::2],
        y_test=y[1::2],
    )  # fmt: skip
    assert labelings.labels.shape == (4, 1, 89)


def test_regressors_get_plain_folds():
    predictions = record(Ridge(), *load_diabetes(return_X_y=True), cv=4, repeats=1, executor=1)
    assert predictions.values.shape[0] == 4


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (1, "`cv` is 1; expected a whole number of at least 2"),
        ("kfold", "`cv` is 'kfold'; expected a scikit-learn splitter"),
        (3.5, "`cv` is 3.5; expected a scikit-learn splitter"),
        ([], "`cv` is a list of 0"),
        ([(1, 2, 3)], "not all of them pairs"),
        ([([0, 1], [2]), ([0.5], [2])], "float64 values"),
        ([([0, 100], [2]), ([0, 500], [2])], "from 0 to 500; expected row numbers from 0 to 177"),
        ([([0, 100], [2]), ([1, 101], [3])], "no row that every pair tests"),
        ([([0, 100], [2]), ([2, 101], [2])], "1 rows that one pair trains on and every pair tests"),
        ([([0, 100], [2])], "`cv` gives 1 split; at least 2"),
        ([([0, 100], [2]), ([0, 1], [2])], "training rows of one class in 1 of 2 splits"),
        ([([0, 100], [2]), ([], [2])], "a pair without training rows"),
    ],
)
def test_mistakes_get_a_sentence_before_any_fit(cv, words):
    with pytest.raises(InputError, match=words):
        record(GaussianNB(), X, y, cv=cv)


def test_pairs_go_with_neither_time_nor_divided_groups():
    pairs = [(np.arange(0, 100), np.arange(150, 178)), (np.arange(50, 140), np.arange(150, 178))]
    with pytest.raises(InputError, match="`time` and index pairs are both given"):
        cv_record(pairs, time=np.arange(178))
    with pytest.raises(InputError, match="6 groups of `groups` have rows that `cv` trains on and rows that it tests"):
        cv_record(pairs, groups=np.arange(178) % 6)
