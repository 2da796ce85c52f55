"""Weights of rows reach the fits that take them, by scikit-learn's rules."""

import os

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from classay import InputError
from classay.estimators.fit import expect_weights, fit_once, weight_requests
from classay.estimators.scores import fit_scorer, scores_of

X, y = load_wine(return_X_y=True)
logistic = LogisticRegression(max_iter=3000)


class Seen(ClassifierMixin, BaseEstimator):
    """A classifier that keeps the weights of its last fit."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.weights_ = sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


LEARNERS = {
    "plain": GaussianNB(),
    "pipeline": make_pipeline(StandardScaler(), logistic),
    "pipeline in a pipeline": make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), GaussianNB())),
    "search": GridSearchCV(make_pipeline(StandardScaler(), GaussianNB()), {"gaussiannb__var_smoothing": [1e-9, 0.1]}),
    "search by a name": GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, scoring="f1_macro"),
    "search by two": GridSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9]}, scoring=["f1_macro", "accuracy"], refit="accuracy"
    ),
    "search by a scorer": GridSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9]}, scoring={"r": make_scorer(recall_score, average="macro")}, refit="r"
    ),
    "calibrated": CalibratedClassifierCV(make_pipeline(StandardScaler(), GaussianNB())),
    "bagging": BaggingClassifier(make_pipeline(StandardScaler(), DecisionTreeClassifier()), 5, random_state=0),
    "voting": VotingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier(random_state=0))]),
    "stacking": StackingClassifier([("a", GaussianNB())], logistic),
    "one against rest": OneVsRestClassifier(GaussianNB()),
    "boosting": AdaBoostClassifier(n_estimators=5, random_state=0),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_weights_change_the_fit(name):
    learner = LEARNERS[name]
    weights = np.where(y == 1, 0.02, 1.0)
    before = repr(learner), weight_requests(learner)
    expect_weights(learner)
    fitted = fit_once(learner, X, y, sample_weight=weights)
    assert 0 < getattr(fitted.estimator, "best_score_", 1.0) <= 1
    weighted = fitted.predict(X)
    plain = fit_once(learner, X, y).predict(X)
    assert (weighted == 1).sum() < (plain == 1).sum()
    assert (repr(learner), weight_requests(learner)) == before
    assert not sklearn.get_config()["enable_metadata_routing"]


def test_tuned_thresholds_of_two_classes():
    learner = TunedThresholdClassifierCV(GaussianNB())
    expect_weights(learner)
    assert fit_once(learner, X, y == 1, sample_weight=np.ones(y.size)).predict(X).dtype == bool


def test_regressors():
    learner = make_pipeline(StandardScaler(), TransformedTargetRegressor(Ridge()))
    expect_weights(learner)
    weighted = fit_once(learner, X, y.astype(float), sample_weight=np.where(y == 1, 1e-3, 1.0)).predict(X)
    assert not np.allclose(weighted, fit_once(learner, X, y.astype(float)).predict(X))


@pytest.mark.parametrize(
    "learner",
    [
        KNeighborsClassifier(),
        LinearDiscriminantAnalysis(),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        BaggingClassifier(KNeighborsClassifier()),
    ],
)
def test_learners_that_cannot_take_weights(learner):
    with pytest.raises(InputError, match="cannot use weights of rows"):
        expect_weights(learner)


def test_without_a_request_only_predictors_are_weighted():
    weights = np.linspace(0, 1, y.size)
    fitted = fit_once(make_pipeline(StandardScaler(), Seen()), X, y, sample_weight=weights).estimator
    assert np.array_equal(fitted[-1].weights_, weights)
    assert np.allclose(fitted[0].mean_, X.mean(axis=0))


def test_requests_of_the_user_are_respected():
    weights = np.linspace(0, 1, y.size)
    with sklearn.config_context(enable_metadata_routing=True):
        scaled = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), Seen())
        refused = make_pipeline(StandardScaler(), Seen().set_fit_request(sample_weight=False))
    fitted = fit_once(scaled, X, y, sample_weight=weights).estimator
    assert fitted[-1].weights_ is None
    assert np.allclose(fitted[0].mean_, np.average(X, axis=0, weights=weights))
    assert weight_requests(scaled) == {"standardscaler.fit": True}
    with pytest.raises(InputError, match="none that requested them"):
        expect_weights(refused)
    assert weight_requests(clone(refused)) == {"seen.fit": False}


def test_scorers_are_weighted_too():
    weights = np.where(y == 1, 1e-3, 1.0)
    fits = (fit_scorer(GaussianNB(), X, y, 0, sample_weight=given) for given in (weights, None))
    weighted, plain = (scores_of(fitted.estimator, X) for fitted in fits)
    assert not np.allclose(weighted, plain)


def test_a_weight_of_two_is_a_row_twice():
    twice = np.arange(0, y.size, 3)
    rows = np.append(np.arange(y.size), twice)
    weights = np.ones(y.size)
    weights[twice] = 2
    bayes = GaussianNB(var_smoothing=0)  # its smoothing is by the variance without weights
    one, other = fit_once(bayes, X, y, sample_weight=weights), fit_once(bayes, X[rows], y[rows])
    assert np.allclose(one.estimator.predict_proba(X), other.estimator.predict_proba(X))
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    one, other = fit_once(tree, X, y, sample_weight=weights), fit_once(tree, X[rows], y[rows])
    assert np.allclose(one.estimator.predict_proba(X), other.estimator.predict_proba(X))
    # The scaler of a pipeline has no weights and sees more rows in the second; the means of the classes are the same.
    scaled = make_pipeline(StandardScaler(), bayes)
    both = (fit_once(scaled, X, y, sample_weight=weights), fit_once(scaled, X[rows], y[rows]))
    assert np.allclose(*(each.estimator[0].inverse_transform(each.estimator[1].theta_) for each in both))


class Asks(LogisticRegression):
    """Says which process its parallel tasks run in."""

    def fit(self, X, y):
        self.processes_ = set(joblib.Parallel(n_jobs=2)(joblib.delayed(os.getpid)() for _ in range(4)))
        return super().fit(X, y)


def test_a_learner_starts_no_processes():
    """They would outlive a run that is killed."""
    fitted = fit_once(Asks(), np.arange(8.0).reshape(8, 1), np.array([0, 1] * 4))
    assert fitted.estimator.processes_ == {os.getpid()}
