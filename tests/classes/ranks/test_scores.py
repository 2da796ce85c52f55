"""Ranks from learners and embeddings, and learners fitted anew on fewer classes."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import classay
from classay.classes.ranks.scores import is_marginal
from classay.estimators.scores import fit_scorer
from classay.expect import InputError
from classay.splits import split_every_class

IRIS = load_iris(return_X_y=True)
OF_TEXT = make_pipeline(OneHotEncoder(), LogisticRegression())


def curve_of(learner, X, y, **options):
    return classay.accuracy_curve(X, y, learner=learner, **options)


def blobs(K=12, rows=10, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(K), rows)
    return rng.normal(size=(K, d))[y] * 2 + rng.normal(size=(y.size, d)), y


@pytest.mark.parametrize(
    "learner",
    [
        GaussianNB(),
        LinearDiscriminantAnalysis(),
        LogisticRegression(max_iter=500),
        KNeighborsClassifier(),
        DecisionTreeClassifier(),
        RandomForestClassifier(5),
        SVC(),
        Perceptron(),
        make_pipeline(StandardScaler(), GaussianNB()),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_plain_accuracy_is_that_of_predict(learner):
    X, y = blobs()
    curve = curve_of(learner, X, y)
    train, test = split_every_class(y, 0.5, 0)
    classifier = fit_scorer(learner, X[train], y[train], 0)
    assert curve.ranks.truth.size == 60
    by_predict = (classifier.predict(X[test]) == y[test]).mean()
    # Where probabilities tie, `predict` takes the first and the curve any of them.
    assert curve.accuracy[-1] == pytest.approx(by_predict, abs=0.12 if (curve.ranks.tied > 0).any() else 1e-12)


@pytest.mark.parametrize("kind", ["frame", "sparse", "text labels", "object labels"])
def test_every_kind_of_data(kind):
    X, y = IRIS
    expected = curve_of(MultinomialNB(), X, y).accuracy
    if kind == "frame":
        X, y = pd.DataFrame(X, columns=list("abcd")), pd.Series(y)
    elif kind == "sparse":
        X = sparse.csr_array(X)
    else:
        y = np.array(["ant", "bee", "cat"], dtype=object if kind == "object labels" else str)[y]
    np.testing.assert_allclose(curve_of(MultinomialNB(), X, y).accuracy, expected)


def test_the_split_is_by_class_and_every_class_is_trained():
    codes = np.repeat(np.arange(5), [1, 2, 3, 10, 100])
    train, test = split_every_class(codes, 0.3, 0)
    assert np.bincount(codes[test], minlength=5).tolist() == [0, 1, 1, 3, 30]
    assert sorted([*train, *test]) == list(range(116))
    assert not np.array_equal(test, split_every_class(codes, 0.3, 1)[1])


def test_a_class_of_one_row_competes_only():
    X, y = blobs()
    ranks = classay.Ranks.from_learner(GaussianNB(), np.vstack([X, X[:1] + 1]), [*y, 99])
    assert ranks.n_classes == 13
    assert "1 of 13 classes have no test rows" in str(ranks)


class Forgetful(ClassifierMixin, BaseEstimator):
    """Scores only the classes below its limit."""

    def __init__(self, limit=3):
        self.limit = limit

    def fit(self, X, y):
        kept = y < self.limit
        self.inner_ = GaussianNB().fit(X[kept], y[kept])
        self.classes_ = self.inner_.classes_
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


def test_classes_that_a_learner_drops_are_left_out_and_said():
    X, y = blobs(5)
    ranks = classay.Ranks.from_learner(Forgetful(), X, y)
    assert ranks.classes.tolist() == [0, 1, 2]
    assert ranks.truth.size == 15
    curve = curve_of(Forgetful(), X, y, retrain=True, draws=2, executor=1)
    assert all(one.k < 3 for one in curve.retrained)
    assert "does not score 2 of 5 classes (3, 4); they and their 10 test rows are left out" in str(ranks)


def test_the_same_seed_gives_the_same_bits():
    X, y = blobs()
    first, again, other = (
        classay.Ranks.from_learner(RandomForestClassifier(3), X, y, random_state=seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.lower, again.lower)
    assert not np.array_equal(first.lower, other.lower)


def test_warnings_of_a_fit_become_notes():
    X, y = blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranks = classay.Ranks.from_learner(LogisticRegression(max_iter=1), X, y)
    assert any("ConvergenceWarning" in note for note in ranks.notes)


@pytest.mark.parametrize(
    ("learner", "told", "word"),
    [
        (GaussianNB(), True, "is marginal"),
        (NearestCentroid(), True, "own centre"),
        (make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()), True, "nearly is: the covariance is shared"),
        (GridSearchCV(GaussianNB(), {}), True, "GaussianNB is marginal"),
        (LogisticRegression(), False, "not marginal"),
        (DecisionTreeClassifier(), False, "not marginal"),
        (Forgetful(), None, ""),
    ],
)
def test_the_kind_of_learner_tells_whether_it_is_marginal(learner, told, word):
    found, why = is_marginal(learner)
    assert found is told
    assert word in why


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_embeddings_by_the_nearest_mean(metric):
    X, y = blobs(8, 12)
    X = X + np.array([5, 0, 0, 0])
    ranks = classay.Ranks.from_embeddings(X, y, metric=metric)
    train, test = split_every_class(y, 0.5, 0)
    means = np.array([X[train][y[train] == code].mean(axis=0) for code in range(8)])
    if metric == "cosine":
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        means = np.array([unit[train][y[train] == code].mean(axis=0) for code in range(8)])
        scores = unit[test] @ (means / np.linalg.norm(means, axis=1, keepdims=True)).T
    else:
        scores = -((X[test][:, None] - means) ** 2).sum(axis=2)
    expected = classay.Ranks.from_scores(scores, y[test])
    np.testing.assert_array_equal(ranks.lower, expected.lower)
    np.testing.assert_allclose(ranks.z, expected.z, rtol=1e-9)
    assert ranks.marginal is True
    assert metric in ranks.name


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: curve_of(GaussianNB, *IRIS), "unfitted scikit-learn classifier"),
        (lambda: curve_of(GaussianNB(), IRIS[0], IRIS[1][:9]), "150 rows but `y` has"),
        (lambda: curve_of(GaussianNB(), IRIS[0], np.zeros(150)), "at least 2 are needed"),
        (lambda: curve_of(GaussianNB(), IRIS[0], np.arange(150)), "its own class"),
        (lambda: curve_of(GaussianNB(), IRIS[0], IRIS[0][:, 0]), "such as 5.1; expected class labels"),
        (lambda: curve_of(GaussianNB(), *IRIS, test_size=1), "test_size"),
        (lambda: curve_of(GaussianNB(), *IRIS, ties="x"), "random"),
        (lambda: curve_of(MultinomialNB(), -IRIS[0], IRIS[1]), "MultinomialNB could not be fitted"),
        (lambda: curve_of(StandardScaler(), *IRIS), "no `classes_`"),
        (lambda: curve_of(LinearRegression(), *IRIS), "a regressor; expected a classifier"),
        (lambda: curve_of(GaussianNB(), *IRIS, retrain=[2, 4]), "sizes from 2 to 3"),
        (lambda: curve_of(GaussianNB(), *IRIS, retrain=True, draws=0), "draws"),
        (lambda: classay.Ranks.from_embeddings(*IRIS, metric="cos"), "cosine"),
        (lambda: classay.Ranks.from_embeddings(IRIS[0] * np.nan, IRIS[1]), r"NaN \(missing\) in row 0"),
        (lambda: classay.Ranks.from_embeddings(IRIS[0][0], [1]), r"\(rows, columns\)"),
        (lambda: classay.Ranks.from_embeddings([["a"]] * 4, [0, 0, 1, 1]), "not a table of numbers"),
        (lambda: curve_of(SVC(decision_function_shape="ovo"), *IRIS), "does not score every class"),
        (lambda: curve_of(OF_TEXT, np.arange(150)[:, None], IRIS[1]), "could not score the test rows"),
        (
            lambda: curve_of(GaussianNB(), IRIS[0], np.r_[np.zeros(149), 1], retrain=True),
            "of one class",
        ),
    ],
)
def test_bad_input_is_told(call, message):
    with pytest.raises(InputError, match=message):
        call()


class Unfittable(GaussianNB):
    """Raises what is no user's mistake when it is fitted."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted before all was looked at")


@pytest.mark.parametrize("options", [{"retrain": [9]}, {"retrain": True, "draws": 0}])
def test_options_of_retraining_are_looked_at_before_any_fit(options):
    with pytest.raises(InputError, match="expected") as told:
        curve_of(Unfittable(), *IRIS, **options)
    assert "fitted" not in str(told.value)


def test_retraining_a_marginal_learner_follows_the_curve():
    X, y = load_digits(return_X_y=True)
    curve = curve_of(GaussianNB(var_smoothing=0.05), X, y, retrain=[2, 5, 10], draws=25, executor=1)
    assert [one.k for one in curve.retrained] == [2, 5, 10]
    for one in curve.retrained[:2]:
        # Five standard errors: the label sets are drawn, the curve is over all of them.
        assert one.draws.mean() == pytest.approx(curve.accuracy[one.k - 1], abs=5 * one.draws.std() / 5 + 0.003)
    # There is one label set of all classes, and the learner throws no dice.
    assert np.ptp(curve.retrained[2].draws) == 0
    assert curve.retrained[2].draws[0] == pytest.approx(curve.accuracy[-1], abs=1e-12)
    assert "Refitted on random label sets" in str(curve)
    assert (curve.to_frame()["figure"] == "retrained accuracy").sum() == 3


@pytest.mark.parametrize("workers", [lambda: ThreadPoolExecutor(3), pytest.param(lambda: 2, marks=pytest.mark.slow)])
def test_retraining_is_the_same_on_any_number_of_workers(workers):
    X, y = blobs()
    one, several = (
        curve_of(RandomForestClassifier(2), X, y, retrain=[3], draws=6, executor=executor).retrained[0]
        for executor in (1, workers())
    )
    np.testing.assert_array_equal(one.draws, several.draws)


def test_default_sizes_are_a_few_below_all_classes():
    X, y = blobs(20, 4)
    curve = curve_of(GaussianNB(), X, y, retrain=True, draws=1, executor=1)
    sizes = [one.k for one in curve.retrained]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 2
    assert sizes[-1] < 20
    assert len(sizes) == 5
    assert curve.retrained[0].accuracy.kind == "one label set"


class Fussy(GaussianNB):
    """Refuses label sets without class 0."""

    def fit(self, X, y):
        if 0 not in y:
            raise ValueError("no zero")
        return super().fit(X, y)


def test_label_sets_that_fail_are_counted():
    X, y = blobs(6)
    curve = curve_of(Fussy(), X, y, retrain=[3], draws=12, executor=1)
    kept = curve.retrained[0].draws.size
    assert 0 < kept < 12
    assert any(f"{12 - kept} of 12 label sets could not be learned" in note for note in curve.ranks.notes)
