"""Learners of any package: short names, and classes in the words that they take."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import classay
from classay.estimators.adapters import as_given, free_seeds, has_seed, kind_of, numbered, parameters_of, short_name

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
    assert parameters_of(CatBoostClassifier(depth=3)) == {"others": None, "depth": 3}
    assert parameters_of(GaussianNB()) == GaussianNB().get_params()


def test_others_are_told_the_labels_themselves():
    told, classes = numbered(GaussianNB(), WORDS)
    assert told is WORDS
    assert classes is None
    assert as_given(told, classes) is WORDS


class Foreign:
    """Has what a classifier needs, and nothing of scikit-learn."""

    def get_params(self, deep=True):
        return {}

    def set_params(self, **given):
        return self

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([np.asarray(X)[y == each].mean(axis=0) for each in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[((np.asarray(X)[:, None] - self.means_) ** 2).sum(axis=2).argmin(axis=1)]


@pytest.mark.slow
def test_a_learner_that_does_not_say_what_it_is():
    assert kind_of(Foreign()) is None
    assert kind_of(GaussianNB()) == "classifier"
    found = classay.characterize({"foreign": Foreign()}, X, WORDS, budget=5, executor=1)
    assert found.report.figure("foreign", "accuracy").value > 0.8
    monitor = classay.DriftMonitor(Foreign(), random_state=0)
    monitor.fit(X, CODES)


def test_a_learner_that_cannot_be_copied_is_told():
    class Stubborn(GaussianNB):
        def __init__(self, priors=None, var_smoothing=1e-9):
            super().__init__(priors=[1, 2], var_smoothing=var_smoothing)

    with pytest.raises(classay.InputError, match="Stubborn cannot be copied, as every refit needs: "):
        classay.record(Stubborn(priors=[1, 2, 3]), X, CODES, classay.Subsets(3), executor=1)


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


@pytest.mark.slow
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
    curves = [classay.accuracy_curve(X, y, learner=learner).accuracy for y in (WORDS, CODES)]
    np.testing.assert_array_equal(*curves)
    search = GridSearchCV(make_pipeline(StandardScaler(), learner), {"xgbclassifier__max_depth": [1, 2]}, cv=2)
    assert classay.record(search, X, WORDS, classay.Subsets(2, 0.5), 1, executor=1).test_accuracy.mean() > 0.8
    memory = classay.MemorizingClassifier(learner).partial_fit(X[::2], WORDS[::2], classes=np.unique(WORDS))
    some = CODES > 0  # a batch that lacks a class
    memory.partial_fit(X[some], WORDS[some])
    assert (memory.predict(X) == WORDS).mean() > 0.6
    assert memory.predict_proba(X).shape == (150, 3)
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
