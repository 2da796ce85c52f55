"""Exact paths where something is odd: invalid values, one class, one row, tables, sparse rows, several jobs."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from separate_fits import TABLES, compare, drawn, same
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from classay.learner.fitting.paths import path_for

pytestmark = pytest.mark.filterwarnings("ignore")  # learners that are stopped early say so


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
