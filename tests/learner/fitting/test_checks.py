"""Bad input: each is refused before any fit, saying what was given, what is expected and what to do."""

import warnings

import numpy as np
import pandas as pd
import pytest
from rough_learners import Duck, Tallied, fits
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.ensemble import IsolationForest, StackingClassifier
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from classay import HalfSplits, InputError, Subsets, record
from classay.learner.fitting import checks
from classay.tables.data import rows_and_labels

X, Y = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
FEW = Subsets(4, 0.2)
LISTS = [[row] for row in range(150)]
DAYS = np.array(["2020-01-01", "2021-01-01", "2022-01-01"])


def with_value(value, row=3, column=1):
    changed = X.copy()
    changed[row, column] = value
    return changed


def labels_with(value, row=5):
    changed = Y.astype(object)
    changed[row] = value
    return changed


BAD_DATA = {
    "one class": (X, np.full(150, "spam"), r"`y` has 1 class \('spam'\); at least 2 are needed.*target column right"),
    "one class, a number": (X, np.zeros(150), r"`y` has 1 class \(0.0\)"),
    "a label short": (X, Y[:-1], r"`X` has 150 rows but `y` has 149 labels; they must match"),
    "NaN in y": (X, np.where(X[:, 0] > 7.6, np.nan, Y), r"`y` is missing \(NaN\) in 5 rows \(first: 117, 118.*Drop"),
    "None in y": (X, labels_with(None), r"`y` is missing .* in 1 row \(first: 5\)"),
    "pd.NA in y": (X, pd.Series(labels_with(pd.NA), dtype="Int64"), r"`y` is missing .* in 1 row"),
    "NaN among texts": (X, pd.Series(labels_with(np.nan)).map(str, na_action="ignore"), r"`y` is missing"),
    "NaT in y": (X, pd.Series(pd.Timestamp(0), index=range(150)).where(Y == 1), r"`y` is missing .* in 100 rows"),
    "inf in y": (X, np.where(Y == 2, np.inf, Y), r"`y` has infinite values; expected class labels"),
    "continuous y": (X, X[:, 0], r"`y` has 35 different numbers such as 4.3; expected class labels.*bin it"),
    "continuous y, as objects": (X, X[:, 0].astype(object), r"`y` has 35 different numbers such as 4.3"),
    "a class for each row": (X, np.arange(150), r"Each of the 150 rows has its own class.*target column"),
    "two columns of y": (X, np.column_stack([Y, Y]), r"`y` has 2 columns; expected one label per row"),
    "two columns of y, a DataFrame": (X, FRAME[["a", "b"]], r"`y` has 2 columns"),
    "y of three axes": (X, np.zeros((150, 1, 1)), r"`y` has shape \(150, 1, 1\)"),
    "y a number": (X, 3, r"`y` has shape \(\)"),
    "ragged y": (X, [[0, 1], [0]] * 75, r"`y` has rows with several labels.*one by one"),
    "inf in X": (with_value(np.inf), Y, r"`X` has 1 infinite values, in: column 1\. Replace or drop"),
    "-inf beside NaN": (np.vstack([with_value(-np.inf)[:149], [[np.nan] * 4]]), Y, r"1 infinite values, in: column 1"),
    "inf and -inf": (np.vstack([with_value(np.inf)[:149], [[-np.inf] * 4]]), Y, r"5 infinite values"),
    "inf in a DataFrame": (FRAME.assign(e="text", c=with_value(np.inf)[:, 1]), Y, r"1 infinite values, in: c\."),
    "inf in a nullable column": (FRAME.assign(c=pd.array(with_value(np.inf)[:, 1], "Float64")), Y, r"in: c\."),
    "inf in a sparse matrix": (sparse.csr_matrix(with_value(np.inf)), Y, r"`X` has 1 infinite values\. Replace"),
    "all columns constant": (np.ones((150, 3)), Y, r"Every column of `X` is constant \(3 in all\); nothing"),
    "all constant, one of them NaN": (np.ones((150, 2)) * [1, np.nan], Y, r"constant \(2 in all\)"),
    "all constant, a DataFrame": (pd.DataFrame({"a": [1] * 150, "b": ["x"] * 150}), Y, r"`X` is constant"),
    "all constant texts": (np.full((150, 2), "x"), Y, r"Every column of `X` is constant"),
    "X of one axis": (X[:, 0], Y, r"`X` has shape \(150,\); expected a table of \(rows, columns\)"),
    "X of three axes": (np.zeros((150, 2, 2)), Y, r"`X` has shape \(150, 2, 2\)"),
    "X is nothing": (None, Y, r"`X` or `y` is missing"),
    "X without columns": (np.empty((150, 0)), Y, r"`X` has no columns; expected at least one"),
    "X without columns, a DataFrame": (pd.DataFrame(index=range(150)), Y, r"`X` has no columns"),
    "no rows": (np.empty((0, 4)), [], r"`X` and `y` have no rows"),
    "no rows, a DataFrame": (FRAME[:0], [], r"`X` and `y` have no rows"),
    "ragged X": ([[1, 2], [3]] * 75, Y, r"`X` is not an array.*All rows must have the same length"),
    "columns of the same name": (FRAME.set_axis(["a", "a", "b", "a"], axis=1), Y, r"same name \(a\)\. Give each"),
    "lists in cells": (FRAME.assign(e=LISTS), Y, r"Column 'e' of `X` contains list values; expected one number"),
    "lists in cells of an array": (FRAME.assign(e=LISTS).to_numpy(), Y, r"Column 4 of `X` contains list"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD_DATA)
def test_bad_data(what, tmp_path):
    data, labels, said = BAD_DATA[what]
    with pytest.raises(InputError, match=said):
        record(Tallied(tmp_path / "fits"), data, labels, FEW, executor=1)
    assert fits(tmp_path / "fits") == 0


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        (KMeans(3), r"`learner` is KMeans, a clusterer; expected a classifier"),
        (IsolationForest(), r"`learner` is IsolationForest, an outlier detector"),
        (GaussianMixture(3), r"`learner` is GaussianMixture, a density estimator"),
        (GaussianNB, r"`learner` is the class GaussianNB; expected an instance: GaussianNB\(\)"),
        ("GaussianNB", r"`learner` is 'GaussianNB', which has no fit and no predict and no get_params"),
        (None, r"`learner` is None, which has no fit"),
        (StandardScaler(), r"which has no predict; expected a scikit-learn classifier"),
        (make_pipeline(StandardScaler()), r"which has no predict"),
    ],
)
def test_what_is_no_learner(learner, said):
    with pytest.raises(InputError, match=said):
        record(learner, X, Y, FEW, executor=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scheme": 10}, r"`scheme` is 10; expected Subsets\(...\), HalfSplits\(...\), Retrain\(...\) or Folds\(cv\)"),
        ({"scheme": Subsets}, r"`scheme` is <class.*Subsets\(...\)"),
        ({"repeats": 0}, r"`repeats` is 0; expected a whole number of at least 1"),
        ({"repeats": 2.5}, r"`repeats` is 2.5"),
        ({"test_size": 0}, r"`test_size` is 0: each half is then tested.*HalfSplits"),
        ({"test_size": 30}, r"`test_size` is 30"),
        ({"test_size": "a third"}, r"`test_size` is 'a third'"),
        ({"random_state": -1}, r"`random_state` is -1; expected a whole number from 0 up"),
        ({"random_state": "seed"}, r"`random_state` is 'seed'.*random_state=0"),
        ({"executor": 0}, r"`executor` is 0"),
        ({"executor": "two"}, r"`executor` is 'two'; expected a concurrent.futures.Executor"),
        ({"probes": X[:, :3]}, r"`probes` has shape \(150, 3\); expected rows of 4 columns"),
        ({"probes": X[0]}, r"`probes` has shape \(4,\)"),
        ({"probes": X[:0]}, r"`probes` has shape \(0, 4\)"),
        ({"probes": "unifrom"}, r"`probes` is 'unifrom'; expected one of.*Did you mean uniform"),
        ({"probes": lambda rng, n: 1 / 0}, r"a function that failed.*ZeroDivisionError"),
        ({"probes": lambda rng, n: rng.normal(size=(n, 3))}, r"`probes` has shape \(10000, 3\)"),
        ({"probes": "uniform", "n_probes": 1}, r"`n_probes` is 1; expected a whole number of at least 2"),
        ({"probes": [[1, 2, 3, 4], [1]]}, r"`probes` is not an array"),
        ({"X": FRAME, "probes": X}, r"`probes` must be a DataFrame with the columns of `X`: a, b, c, d"),
        ({"X": FRAME, "probes": FRAME[["b", "a", "c"]]}, r"`probes` lacks d; expected the columns of `X`: a, b"),
        (
            {"X": FRAME, "probes": FRAME.assign(bb=1)},
            r"`probes` has a column 'bb', which `X` does not have.*Did you mean b",
        ),
        ({"X": FRAME, "probes": FRAME[:0]}, r"`probes` has shape \(0, 4\)"),
    ],
)
def test_bad_options(options, said, tmp_path):
    with pytest.raises(InputError, match=said):
        record(**{"learner": Tallied(tmp_path / "fits"), "X": X, "y": Y, "scheme": FEW, "executor": 1, **options})
    assert fits(tmp_path / "fits") == 0


# What looks bad and is not


def test_a_class_with_one_row_stays_in_the_training_part():
    labels = np.where(np.arange(150) == 70, 3, Y)
    labelings = record(GaussianNB(), X, labels, Subsets(4, 0.3), executor=1)
    assert labelings.notes[0] == "1 of 4 classes have no row in the test part: too few rows."
    assert 70 not in labelings.test_rows
    assert all(70 in rows for rows in labelings.train_rows)
    assert labelings.classes.tolist() == [0, 1, 2, 3]


def test_a_class_put_in_by_hand_is_told():
    rows = np.random.default_rng(0).normal(size=(3000, 2))
    labels = np.arange(3000) == 7
    labelings = record(DecisionTreeClassifier(), rows, labels, Subsets(5, 2), repeats=2, executor=1)
    assert "5 of 5 subsets missed a class in every draw; one row of it was added." in labelings.notes
    assert all(7 in rows for rows in labelings.train_rows)


def test_a_class_with_one_row_cannot_be_dealt_to_both_halves():
    labels = np.where(np.arange(150) == 70, 3, Y)
    with pytest.raises(InputError, match=r"1 classes have only one training row.*use stratify=False"):
        record(GaussianNB(), X, labels, HalfSplits(2, stratify=True), executor=1)
    lacking = record(DecisionTreeClassifier(), X, labels, HalfSplits(2), 1, executor=1)
    said = [note for note in lacking.notes if note.code in ("subsets-lack-classes", "classes-not-trained")]
    assert lacking.present.all()
    assert len(said) == 1  # the row is in one half of each split, or in the test part


def test_some_constant_columns_are_told():
    wide = np.column_stack([X, np.ones(150), np.full(150, np.nan)])
    _, _, notes = rows_and_labels(wide, Y)
    assert notes == ["2 constant columns: column 4, column 5."]
    assert rows_and_labels(FRAME.assign(e="x"), Y)[2] == ["1 constant column: e."]
    assert rows_and_labels(X, Y)[2] == []
    assert (
        record(GaussianNB(), np.column_stack([X, np.ones(150)]), Y, FEW, executor=1)
        .notes[0]
        .startswith("1 constant column")
    )


@pytest.mark.parametrize(
    "data",
    [X.tolist(), FRAME, sparse.csc_matrix(X), np.asfortranarray(X), X.astype(object), [tuple(row) for row in X]],
    ids=["lists", "DataFrame", "sparse", "Fortran", "objects", "tuples"],
)
def test_rows_in_every_form(data):
    expected = record(DecisionTreeClassifier(), X, Y, FEW, repeats=2, executor=1)
    got = record(DecisionTreeClassifier(), data, Y, FEW, repeats=2, executor=1)
    np.testing.assert_array_equal(got.labels, expected.labels)
    np.testing.assert_array_equal(got.train_accuracy, expected.train_accuracy)


@pytest.mark.parametrize(
    "kind", ["bool", "int8", "uint8", "float16", "Int64", "boolean", "timedelta64[ns]", "datetime64[ns]", "category"]
)
def test_columns_of_every_kind_are_looked_at_without_harm(kind):
    column = pd.Series(np.arange(150) % 2).astype(kind)
    frame = FRAME.assign(e=column)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        looked_at, _, notes = rows_and_labels(frame, Y)
    assert looked_at is frame
    assert notes == []


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pd.DataFrame({"y": Y}), Y),
        (pd.DataFrame({"y": pd.array(Y, "Int64")}), Y),
        (pd.DataFrame({"y": Y.astype(str)}), Y.astype(str)),
        (Y[:, None], Y),
        (Y.tolist(), Y),
        (pd.Series(Y, index=np.arange(150) * 7), Y),
        (pd.Index(Y), Y),
        (pd.array(Y, "Int64"), Y),
        (pd.Series(Y, dtype="category"), Y),
        (pd.Categorical(Y.astype(str), categories=["2", "1", "0", "unused"]), Y.astype(str)),
        (pd.Series(Y == 1, dtype="boolean"), Y == 1),
        (pd.Series(Y.astype(str), dtype="string"), Y.astype(str)),
        (Y.astype(object), Y),
        ((Y == 1).astype(object), Y == 1),
        (np.array(["ä", "b", "c"])[Y].astype(object), np.array(["ä", "b", "c"])[Y]),
        (np.char.encode(np.array(["ä", "b", "c"])[Y], "utf-8"), np.array(["ä", "b", "c"])[Y]),
        (np.array([1, "a", 2.5], object)[Y], np.array(["1", "a", "2.5"])[Y]),
        (DAYS.astype("M8[D]")[Y], DAYS[Y]),
    ],
)  # fmt: skip
def test_labels_in_every_form(labels, expected):
    _, found, _ = rows_and_labels(X, labels)
    assert found.dtype.kind == expected.dtype.kind
    assert found.tolist() == expected.tolist()


def test_a_learner_without_scikit_learn_and_one_that_predicts_only_once_fitted_are_taken():
    learner, notes = checks.unfitted_learner(Duck(3))
    assert (learner.shift, notes) == (3, [])
    stack = StackingClassifier([("a", GaussianNB())])
    assert not hasattr(stack, "predict")
    assert type(checks.unfitted_learner(stack)[0]) is StackingClassifier
