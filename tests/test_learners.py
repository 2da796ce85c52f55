"""Learners of any package: short names, and classes in the words that they take."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import classay
from classay.learners import as_given, free_seeds, has_seed, numbered, short_name

X, CODES = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[CODES]


class Open(ClassifierMixin, BaseEstimator):
    """Takes its parameters as **others, as XGBoost and LightGBM do."""

    def __init__(self, **others):
        self.others = {"depth": None, "gap": float("nan"), **others}

    def get_params(self, deep=True):
        return dict(self.others)


def test_only_what_was_changed_is_named():
    assert short_name(Open()) == "Open"
    assert short_name(Open(depth=3, more="x")) == "Open(depth=3, more='x')"

    class Needy(Open):
        def __init__(self, **others):
            super().__init__(needed=others["needed"])

    assert short_name(Needy(needed=1)).startswith("Needy(")


class CatBoostClassifier(Open):
    """Lists only what was set, as CatBoost does."""

    __module__ = "catboost.core"

    def predict(self, rows):
        return rows

    def __init__(self, **others):
        self.others = others

    def set_params(self, **given):
        self.others |= given
        return self


def test_seeds_that_are_not_listed():
    free = CatBoostClassifier()
    assert free_seeds(free) == ["random_seed"]
    assert free_seeds(free.set_params(random_seed=3)) == []
    assert free_seeds(CatBoostClassifier(random_state=3)) == []
    assert has_seed(CatBoostClassifier(random_state=3))
    assert free_seeds(make_pipeline(StandardScaler(), CatBoostClassifier())) == ["catboostclassifier__random_seed"]
    assert free_seeds(Open(random_seed=None)) == ["random_seed"]


def test_others_are_told_the_labels_themselves():
    told, classes = numbered(GaussianNB(), WORDS)
    assert told is WORDS
    assert classes is None
    assert as_given(told, classes) is WORDS


@pytest.fixture
def xgboost():
    return pytest.importorskip("xgboost", reason="XGBoost is not installed")


def test_xgboost_is_told_numbers_without_a_gap(xgboost):
    learner = make_pipeline(StandardScaler(), xgboost.XGBClassifier())
    told, classes = numbered(learner, np.array(["c", "a", "c"]))
    assert told.tolist() == [1, 0, 1]
    assert as_given([1, 0, 0], classes).tolist() == ["c", "a", "a"]
    numbers = np.array([0.5, 2.5])
    assert numbered(xgboost.XGBRegressor(), numbers)[0] is numbers
    assert short_name(xgboost.XGBClassifier(max_depth=2)) == "XGBClassifier(max_depth=2)"


def test_xgboost_takes_words_wherever_a_learner_is_fitted(xgboost):
    learner = xgboost.XGBClassifier(n_estimators=3, n_jobs=1)
    few = {"scheme": classay.Subsets(4, 0.4), "repeats": 2, "executor": 1}
    by_word, by_code = (classay.record(learner, X, y, probes="uniform", **few) for y in (WORDS, CODES))
    np.testing.assert_array_equal(by_word.labels, by_code.labels)
    np.testing.assert_array_equal(by_word.probe_labels, by_code.probe_labels)
    assert by_word.classes.tolist() == ["setosa", "versicolor", "virginica"]
    assert by_word.test_accuracy.mean() > 0.8
    swept = [classay.sweep(learner, X, y, "n_estimators", [1, 3], holdouts=5, **few) for y in (WORDS, CODES)]
    np.testing.assert_array_equal(swept[0].records[3].labels, swept[1].records[3].labels)
    np.testing.assert_array_equal(swept[0].records[3].labels, by_word.labels)
    curves = [classay.curve_of_learner(learner, X, y).accuracy for y in (WORDS, CODES)]
    np.testing.assert_array_equal(*curves)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = classay.characterize({"boosted": learner}, X, WORDS, budget=8, executor=1)
    assert found.report.sections


def test_a_regressor_of_xgboost_learns_its_numbers(xgboost):
    target = X[:, 0] * 10
    found = classay.record(
        xgboost.XGBRegressor(n_estimators=20, n_jobs=1), X, target, classay.Subsets(3), 1, executor=1
    )
    assert np.abs(found.values - found.truth).mean() < 5
    assert not np.isin(found.values, target).any()
