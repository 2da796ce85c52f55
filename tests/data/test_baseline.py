from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid
from sklearn.utils.estimator_checks import parametrize_with_checks

from classay.data.model.baseline import BaselineClassifier
from classay.data.rows import complexity
from classay.expect import InputError


@parametrize_with_checks(
    [
        BaselineClassifier(),
        BaselineClassifier(distance="euclidean", temperature=1),
        BaselineClassifier(distance="mahalanobis"),
        BaselineClassifier(distance="gaussian", covariance="shared"),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_it_is_what_complexity_measures():
    X, y = load_digits(return_X_y=True)
    for distance in ("euclidean", "correlation", "gaussian"):
        classifier = BaselineClassifier(distance, temperature=2).fit(X, y)
        c = complexity(X, y, distance, cross_fit=False, temperature=2)
        assert (classifier.predict(X) == c.predicted).all()
        with np.errstate(divide="ignore"):
            values = -np.log(classifier.predict_proba(X)[np.arange(len(y)), y])
        easy = values < 30
        np.testing.assert_allclose(values[easy], c.values[easy], rtol=1e-6, atol=1e-9)


def test_it_is_nearest_centroid_and_linear_discriminants():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    near = BaselineClassifier("euclidean").fit(X, names)
    assert (near.predict(X) == NearestCentroid().fit(X, names).predict(X)).all()
    # Ours divides the pooled scatter by n − c, scikit-learn by n.
    linear = BaselineClassifier("gaussian", temperature=147 / 150, covariance="shared").fit(X, names)
    expected = LinearDiscriminantAnalysis(solver="svd").fit(X, names).predict_proba(X)
    np.testing.assert_allclose(linear.predict_proba(X), expected, atol=1e-9)


def test_temperature_changes_probabilities_and_not_predictions():
    X, y = load_iris(return_X_y=True)
    sharp, soft = (BaselineClassifier("mahalanobis", temperature=tau).fit(X, y) for tau in (0.1, 10))
    assert (sharp.predict(X) == soft.predict(X)).all()
    assert sharp.predict_proba(X).max(axis=1).mean() > soft.predict_proba(X).max(axis=1).mean() + 0.2


def test_auto_says_what_it_chose():
    X, y = load_digits(return_X_y=True)
    classifier = BaselineClassifier().fit(X, y)
    c = complexity(X, y)
    assert (classifier.distance_, classifier.temperature_) == (c.distance, c.temperature)
    assert classifier.tried_["distance"][0] == c.distance


def test_mistakes_are_explained():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match="Did you mean"):
        BaselineClassifier("euclid").fit(X, y)
    with pytest.raises(InputError, match="1 class"):
        BaselineClassifier().fit(X, np.zeros(150))


def test_threshold_is_a_proportion_of_rows_not_seen():
    X, y = load_digits(return_X_y=True)
    threshold = complexity(X, y, "mahalanobis").baseline_accuracy
    assert threshold.low < threshold.value < threshold.high
    assert threshold.kind == "of a proportion"
    # Labels at random: one in ten, whatever the distance, and with rows in their own geometry more.
    noise = np.random.default_rng(0).integers(10, size=y.size)
    chance = complexity(X, noise, "mahalanobis").baseline_accuracy
    assert chance.value == pytest.approx(0.1, abs=0.03)
    assert complexity(X, noise, "mahalanobis", cross_fit=False, temperature=1).baseline_accuracy.value > 0.2
