"""Which path is taken, through which Pipelines, and how a third party adds one."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from separate_fits import TABLES, alone, compare, same
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import classay
from classay.engine.pool import TimeLimitExceeded
from classay.learner.fitting.paths import SharedPath, path_for, register, shared


@pytest.mark.parametrize(
    "values",
    [[1.0, 2.0], [True, False], ["1", "2"], [None, 3], [[1], [2]], [3], [3, 3], [], [1, np.float64(2)]],
    ids=str,
)
def test_values_that_a_path_does_not_know_are_fitted_one_by_one(values):
    assert path_for(RandomForestClassifier(), "n_estimators", values) is None
    assert path_for(KNeighborsClassifier(), "n_neighbors", values) is None


def test_numbers_of_numpy_are_numbers():
    values = list(np.arange(1, 6))
    X, y = TABLES["iris"]
    compare(KNeighborsClassifier(), "n_neighbors", values, X[::2], y[::2], X)
    assert path_for(DecisionTreeClassifier(), "max_depth", [*values, None]) is not None


class _Mine(RandomForestClassifier):
    """A forest that may predict in a way of its own."""


@pytest.mark.parametrize(
    ("learner", "param_name"),
    [
        (RandomForestClassifier(), "max_features"),
        (RandomForestClassifier(), "no_such_parameter"),
        (RandomForestRegressor(), "n_estimators"),
        (_Mine(), "n_estimators"),
        (BaggingClassifier(DecisionTreeClassifier()), "estimator__max_depth"),
        (KNeighborsClassifier(weights=lambda distances: distances), "n_neighbors"),
        (KNeighborsClassifier(metric="cosine"), "n_neighbors"),
        (KNeighborsClassifier(metric="minkowski", metric_params={"w": [1, 2, 3, 4]}), "n_neighbors"),
        (DecisionTreeClassifier(ccp_alpha=0.1), "max_depth"),
        (make_pipeline(PCA(2), DecisionTreeClassifier()), "pca__n_components"),
        (make_pipeline(PCA(2), DecisionTreeClassifier()), "decisiontreeclassifier"),
        (Pipeline([("scale", StandardScaler()), ("last", "passthrough")]), "last__n_estimators"),
        (RandomForestClassifier, "n_estimators"),
        (object(), "n_estimators"),
    ],
    ids=lambda part: str(part)[:60].split(" at 0x")[0],
)
def test_what_has_no_path(learner, param_name):
    assert path_for(learner, param_name, [1, 2, 3]) is None


def test_the_path_says_what_it_is():
    for learner, param_name, kind, exact in (
        (RandomForestClassifier(), "n_estimators", "prefixes of the ensemble", True),
        (AdaBoostClassifier(), "n_estimators", "predictions by stage", True),
        (KNeighborsClassifier(), "n_neighbors", "one neighbour search, running votes", True),
        (LogisticRegression(), "max_iter", "the iterates of the solver", True),
        (LogisticRegression(solver="newton-cg"), "max_iter", "one fit past convergence", True),
        (DecisionTreeClassifier(), "max_depth", "the full tree, cut", False),
        (RandomForestClassifier(), "max_depth", "the full trees, cut", False),
        (RandomForestClassifier(random_state=0), "max_depth", "one fit past the full depth", True),
    ):
        path = path_for(
            make_pipeline(StandardScaler(), learner), f"{type(learner).__name__.lower()}__{param_name}", [1, 2]
        )
        assert (kind, exact) == (path.KIND, path.EXACT)


class _Counted(TransformerMixin, BaseEstimator):
    """A step that counts how often it is fitted and fitted-and-transformed at once."""

    times: ClassVar[list[str]] = []

    def fit(self, X, y=None):
        self.times.append("fit")
        self.n_features_in_ = X.shape[1]
        return self

    def fit_transform(self, X, y=None):
        self.times.append("fit_transform")
        self.n_features_in_ = X.shape[1]
        return X

    def transform(self, X):
        self.times.append("transform")
        return X


@pytest.mark.filterwarnings("ignore")
def test_through_pipelines():
    X, y = TABLES["wine, words"]
    numbers = [1, 2, 3, 8]
    for learner, name in (
        (make_pipeline(StandardScaler(), LogisticRegression()), "logisticregression__max_iter"),
        (
            make_pipeline(StandardScaler(), PCA(5, svd_solver="randomized", random_state=1), KNeighborsClassifier()),
            "kneighborsclassifier__n_neighbors",
        ),
        (
            Pipeline(
                [("outer", StandardScaler()), ("inner", make_pipeline(PCA(3), AdaBoostClassifier(random_state=0)))]
            ),
            "inner__adaboostclassifier__n_estimators",
        ),
        (Pipeline([("alone", RandomForestClassifier(random_state=0))]), "alone__n_estimators"),
        (
            Pipeline([("nothing", "passthrough"), ("forest", RandomForestClassifier(random_state=0))]),
            "forest__n_estimators",
        ),
    ):
        compare(learner, name, numbers, X[::2], y[::2], X)


def test_earlier_steps_are_fitted_and_applied_once():
    X, y = TABLES["iris"]
    _Counted.times.clear()
    learner = make_pipeline(_Counted(), RandomForestClassifier(random_state=0))
    path = path_for(learner, "randomforestclassifier__n_estimators", [1, 2, 3, 0])
    list(path.answers(learner, "randomforestclassifier__n_estimators", [1, 2, 3, 0], X, y, X))
    assert _Counted.times == ["fit_transform", "transform"]


def test_a_step_that_scales_in_place():
    X, y = TABLES["two classes"]
    learner = make_pipeline(StandardScaler(copy=False), KNeighborsClassifier())
    path = path_for(learner, "kneighborsclassifier__n_neighbors", [1, 5, 9])
    found = list(
        path.answers(learner, "kneighborsclassifier__n_neighbors", [1, 5, 9], X[:120].copy(), y[:120], X.copy())
    )
    for value, labels in zip([1, 5, 9], found, strict=True):
        assert same(
            labels, alone(learner, "kneighborsclassifier__n_neighbors", value, X[:120].copy(), y[:120], X.copy())
        )


def test_through_the_encoding_of_tables():
    X, y = TABLES["iris"]
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    table["hue"] = np.where(X[:, 0] > 6, "red", None)
    learner = classay.encoded(RandomForestClassifier(random_state=0), table)
    assert isinstance(learner, Pipeline)
    compare(learner, "learner__n_estimators", [1, 2, 5, 0], table[::2], y[::2], table)
    inner = make_pipeline(StandardScaler(), KNeighborsClassifier())
    compare(
        classay.encoded(inner, table), "learner__kneighborsclassifier__n_neighbors", [1, 4], table[::2], y[::2], table
    )


def test_a_step_that_fails_is_told_of_every_value():
    X, y = TABLES["iris"]
    learner = make_pipeline(PCA(99), RandomForestClassifier(random_state=0))
    found = compare(learner, "randomforestclassifier__n_estimators", [1, 2, 3], X, y, X)
    assert all(isinstance(error, ValueError) for error in found)


class Booster(ClassifierMixin, BaseEstimator):
    """Like the boosters of xgboost and lightgbm: `predict` takes how many of its trees are to be used."""

    fitted_trees: ClassVar[list[int]] = []

    def __init__(self, n_estimators=10, random_state=None):
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X, y):
        if self.n_estimators < 1:
            raise ValueError(f"n_estimators={self.n_estimators}: at least one tree")
        self.fitted_trees.append(self.n_estimators)
        self.ensemble_ = RandomForestClassifier(self.n_estimators, random_state=self.random_state).fit(X, y)
        self.classes_ = self.ensemble_.classes_
        return self

    def predict(self, X, iteration_range=None):
        trees = self.ensemble_.estimators_[slice(*iteration_range) if iteration_range else slice(None)]
        return self.classes_[np.mean([tree.predict_proba(X) for tree in trees], axis=0).argmax(axis=1)]


@pytest.fixture
def registry():
    before = list(shared.PATHS)
    yield
    shared.PATHS[:] = before


@pytest.mark.usefixtures("registry")
def test_a_third_party_adds_a_path_with_one_small_class():
    X, y = TABLES["two classes"]
    learner = make_pipeline(StandardScaler(), Booster(random_state=0))
    assert path_for(learner, "booster__n_estimators", [2, 4, 8]) is None

    @register
    class TreesOfBoosters(SharedPath):
        LEARNERS: ClassVar = {Booster: ("n_estimators",)}
        KIND, EXACT = "prefixes of the trees", True

        @classmethod
        def read(cls, booster, values, asked):
            for value in values:
                yield value, booster.predict(asked, iteration_range=(0, value))

    assert path_for(learner, "booster__n_estimators", [2, 4, 8]) is TreesOfBoosters
    Booster.fitted_trees.clear()
    compare(learner, "booster__n_estimators", [2, 0, 8, 4], X[:120], y[:120], X)
    assert Booster.fitted_trees == [8, 2, 8, 4]  # once for all, then those to compare with


class _Broken(SharedPath):
    """A path that gets to its second value and no further."""

    KIND, EXACT = "broken", True
    error: Exception

    @classmethod
    def applies(cls, learner, param_name, values):
        return type(learner) is Booster

    @classmethod
    def along(cls, learner, param_name, values, X, y, asked):
        yield values[0], np.zeros(len(asked), dtype=int)
        raise cls.error


def test_what_a_path_does_not_get_to_is_fitted_by_itself():
    X, y = TABLES["two classes"]
    _Broken.error = RuntimeError("no further")
    first, second, third = _Broken.answers(Booster(random_state=0), "n_estimators", [1, 2, 3], X, y, X)
    assert (first == 0).all()
    assert same(second, alone(Booster(random_state=0), "n_estimators", 2, X, y, X))
    assert same(third, alone(Booster(random_state=0), "n_estimators", 3, X, y, X))


def test_a_limit_on_time_ends_the_walk():
    X, y = TABLES["two classes"]
    _Broken.error = TimeLimitExceeded("took longer")
    with pytest.raises(TimeLimitExceeded):
        list(_Broken.answers(Booster(), "n_estimators", [1, 2, 3], X, y, X))
