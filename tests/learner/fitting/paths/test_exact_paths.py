"""Exact paths, of ensembles, logistic regression and past saturation: bit for bit the labels of separate fits."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from separate_fits import TABLES, compare, drawn, fits_of, same
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from classay.learner.fitting.paths import path_for

pytestmark = pytest.mark.filterwarnings("ignore")  # learners that are stopped early say so


CASES_OF_LEARNERS = [
    (RandomForestClassifier(random_state=3), "n_estimators", 12),
    (RandomForestClassifier(random_state=np.random.RandomState(3), oob_score=True, max_samples=0.4), "n_estimators", 6),
    (RandomForestClassifier(random_state=3, warm_start=True, class_weight="balanced", max_depth=3), "n_estimators", 6),
    (ExtraTreesClassifier(random_state=3), "n_estimators", 12),
    (ExtraTreesClassifier(random_state=3, bootstrap=True, class_weight="balanced_subsample"), "n_estimators", 6),
    (AdaBoostClassifier(random_state=3), "n_estimators", 12),
    (AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), learning_rate=0.5, random_state=3), "n_estimators", 8),
    (AdaBoostClassifier(GaussianNB()), "n_estimators", 6),
    (GradientBoostingClassifier(random_state=3, max_depth=2), "n_estimators", 6),
    (GradientBoostingClassifier(random_state=3, subsample=0.5, max_features=2, init="zero"), "n_estimators", 5),
    (GradientBoostingClassifier(random_state=3, n_iter_no_change=1, tol=0.1, max_depth=2), "n_estimators", 5),
    (HistGradientBoostingClassifier(random_state=3, max_features=0.5, max_leaf_nodes=4), "max_iter", 6),
    (HistGradientBoostingClassifier(random_state=3, early_stopping=True, n_iter_no_change=1, tol=0.1), "max_iter", 5),
    (LogisticRegression(), "max_iter", 30),
    (LogisticRegression(C=100.0, fit_intercept=False, class_weight="balanced", warm_start=True), "max_iter", 30),
]


# Every family meets every table, every setting every other one.
CASES = [(*case, table) for i, case in enumerate(CASES_OF_LEARNERS) for j, table in enumerate(TABLES) if (i + j) % 2]


@pytest.mark.parametrize(("learner", "param_name", "most", "table"), CASES, ids=lambda part: str(part)[:40])
def test_every_value_is_as_if_fitted_by_itself_but_only_the_largest_is_fitted(
    monkeypatch, learner, param_name, most, table
):
    X, y = TABLES[table]
    fits = fits_of(monkeypatch, learner, param_name)
    values = [most, *range(1, most), most]  # in any order, and one twice
    compare(learner, param_name, values, *drawn(X, y), X)
    # The first fit is the shared one; then come the separate fits to compare with.
    assert fits == [most, *values]


# Values past saturation: one fit for all


SATURATING = [
    (LogisticRegression(solver="newton-cg"), "max_iter", [1, 2, 20, 40, 80]),
    (LogisticRegression(solver="newton-cholesky"), "max_iter", [1, 2, 20, 40]),
    (LogisticRegression(solver="saga", tol=0.01, random_state=0), "max_iter", [5, 400, 800]),
    (SGDClassifier(random_state=0), "max_iter", [1, 3, 200, 400]),
    (Perceptron(random_state=0), "max_iter", [1, 3, 200, 400]),
    (LinearSVC(random_state=0), "max_iter", [1, 5, 2000, 4000]),
    (SVC(), "max_iter", [1, 10, 2000, 4000]),
    (NuSVC(nu=0.1), "max_iter", [1, 10, 2000, 4000]),
    (MLPClassifier((4,), random_state=0, early_stopping=True, n_iter_no_change=2), "max_iter", [2, 100, 200]),
    (DecisionTreeClassifier(random_state=0), "max_depth", [1, 3, 20, None, 30]),
    (DecisionTreeClassifier(random_state=0, max_leaf_nodes=6), "max_depth", [2, 20, 30]),
    (ExtraTreeClassifier(random_state=0), "max_depth", [3, 30, 40, None]),
    (RandomForestClassifier(5, random_state=0), "max_depth", [3, 30, 40]),
]


@pytest.mark.parametrize("table", ["iris", "two classes"])
@pytest.mark.parametrize(("learner", "param_name", "values"), SATURATING, ids=lambda part: str(part)[:40])
def test_values_past_saturation_are_one_fit(monkeypatch, learner, param_name, values, table):
    X, y = TABLES[table]
    fits = fits_of(monkeypatch, learner, param_name)
    compare(learner, param_name, values, *drawn(X, y), X)
    # The last fits are those to compare with.
    fits = fits[: -len(values)]
    assert fits[0] == (None if None in values else max(values))
    assert len(fits) < len(values)
    assert len(fits) == len(set(fits))


def test_a_depth_that_is_just_reached_is_fitted_by_itself(monkeypatch):
    X, y = TABLES["two classes"]
    learner = DecisionTreeClassifier(random_state=0)
    depth = clone(learner).fit(X, y).get_depth()
    fits = fits_of(monkeypatch, learner, "max_depth")
    path = path_for(learner, "max_depth", [depth, depth + 1, depth + 2])
    list(path.answers(learner, "max_depth", [depth, depth + 1, depth + 2], X, y, X))
    assert fits == [depth + 2, depth]


# Where something is odd: invalid values, one class, one row, tables, sparse rows, several jobs


@pytest.mark.parametrize(
    ("learner", "param_name", "values"),
    [
        (RandomForestClassifier(random_state=0), "n_estimators", [0, 3, -1, 5]),
        (AdaBoostClassifier(random_state=0), "n_estimators", [3, 0, 5]),
        (GradientBoostingClassifier(random_state=0), "n_estimators", [3, 0, 5]),
        (HistGradientBoostingClassifier(random_state=0), "max_iter", [0, 3, 5]),
        (KNeighborsClassifier(), "n_neighbors", [0, 3, 76, 5, 75]),
        (KNeighborsClassifier(weights="distance"), "n_neighbors", [-2, 3, 76, 5]),
        (LogisticRegression(), "max_iter", [-1, 0, 3, 5]),
        (SGDClassifier(random_state=0), "max_iter", [0, 300, 400]),
        (SVC(), "max_iter", [-1, 0, -2, 300, 400]),
        (DecisionTreeClassifier(random_state=0), "max_depth", [0, 3, None]),
        (RandomForestClassifier(random_state=0), "n_estimators", [0, -1]),
    ],
    ids=lambda part: str(part)[:40],
)
def test_an_invalid_value_is_told_of_itself_and_the_others_complete(learner, param_name, values):
    X, y = TABLES["iris"]
    found = compare(learner, param_name, values, X[::2], y[::2], X)
    failed = [value for value, labels in zip(values, found, strict=True) if isinstance(labels, Exception)]
    assert failed
    assert all(value is not None and (value <= 0 or value > 75) for value in failed)


def test_what_fails_for_every_value_is_told_of_every_value():
    X, y = TABLES["iris"]
    found = compare(LogisticRegression(), "max_iter", [3, 5], X[:20], y[:20], X)  # the first 20 rows are one class
    assert all("at least 2 classes" in str(error) for error in found)


def test_one_class_and_one_row():
    X, y = TABLES["iris"]
    for learner, name in (
        (AdaBoostClassifier(), "n_estimators"),
        (KNeighborsClassifier(weights="distance"), "n_neighbors"),
        (RandomForestClassifier(random_state=0), "n_estimators"),
    ):
        compare(learner, name, [1, 2, 5], X[:20], y[:20], X)
    for learner, name in (
        (GradientBoostingClassifier(random_state=0), "n_estimators"),
        (HistGradientBoostingClassifier(random_state=0), "max_iter"),
        (AdaBoostClassifier(random_state=0), "n_estimators"),
        (KNeighborsClassifier(), "n_neighbors"),
    ):
        compare(learner, name, [1, 2, 5], X[:100], y[:100], X[60:61])


def test_tables_and_sparse_rows():
    X, y = TABLES["two classes"]
    frame = pd.DataFrame(X, columns=[f"column {place}" for place in range(X.shape[1])])
    few = sparse.csr_matrix(np.where(np.abs(X) < 1, 0.0, X))
    for learner, name in (
        (RandomForestClassifier(random_state=0), "n_estimators"),
        (AdaBoostClassifier(random_state=0), "n_estimators"),
        (GradientBoostingClassifier(random_state=0), "n_estimators"),
        (KNeighborsClassifier(), "n_neighbors"),
        (KNeighborsClassifier(weights="distance"), "n_neighbors"),
        (LogisticRegression(), "max_iter"),
    ):
        for rows in (frame, few):
            part = rows.iloc[:150] if rows is frame else rows[:150]
            compare(learner, name, [1, 2, 3, 5, 9], part, y[:150], rows)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_several_jobs(n_jobs):
    X, y = TABLES["whole numbers"]
    with parallel_config(backend="threading"):
        compare(KNeighborsClassifier(n_jobs=n_jobs), "n_neighbors", [1, 2, 3, 5, 8], *drawn(X, y), X)


def test_a_forest_of_several_jobs_answers_as_one_of_one_job():
    # By itself it does not answer the same twice: threads add their votes as they finish, which tips ties.
    X, y = TABLES["whole numbers"]
    values = [1, 2, 3, 5, 8]
    for_many, for_one = (RandomForestClassifier(random_state=0, n_jobs=n_jobs) for n_jobs in (2, 1))
    path = path_for(for_many, "n_estimators", values)
    found = list(path.answers(for_many, "n_estimators", values, *drawn(X, y), X))
    assert all(map(same, found, compare(for_one, "n_estimators", values, *drawn(X, y), X)))


def test_the_learner_stays_unfitted_and_its_generator_where_it_was():
    X, y = TABLES["iris"]
    learner = RandomForestClassifier(random_state=np.random.RandomState(5))
    before = learner.random_state.get_state()[1].copy()
    path = path_for(learner, "n_estimators", [2, 4])
    first, second = (list(path.answers(learner, "n_estimators", [2, 4], X, y, X)) for _ in range(2))
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))
    assert not hasattr(learner, "estimators_")
    assert (learner.random_state.get_state()[1] == before).all()
    assert learner.n_estimators == 100
