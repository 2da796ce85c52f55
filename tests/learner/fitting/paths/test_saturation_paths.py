"""Values past saturation: one fit for all, bit for bit the labels of separate fits."""

import pytest
from separate_fits import TABLES, compare, drawn, fits_of
from sklearn.base import clone
from sklearn.ensemble import (
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from classay.learner.fitting.paths import path_for

pytestmark = pytest.mark.filterwarnings("ignore")  # learners that are stopped early say so


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
