"""The baseline: predict the nearest class. Any trained classifier must beat it to be worth its training."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import expect
from ..arrays import Floats
from ..intervals import Estimate
from ..seeds import settle
from ..splits import fold_of_rows
from .complexity import complexity
from .covariance import COVARIANCES
from .cross_fit import CrossFit, check_temperature
from .distance_choice import choose_distance
from .distances import DISTANCES
from .geometry import Geometry


class BaselineClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Predict the class whose geometry is nearest: f(x) = argmin_c δ(x, c), a scikit-learn classifier without training.

    `predict_proba` is the softmax of −δ(x, c)/τ, so that −log of the probability of a row's label is its complexity.
    With `euclidean` it is the nearest-centroid classifier, with `gaussian` quadratic discriminant analysis, with
    `gaussian` and `covariance="shared"` linear discriminant analysis.

    Parameters
    ----------
    distance : auto (the lowest cross-fitted mean complexity), euclidean, cosine, mahalanobis, correlation, gaussian or
        whitened_cosine
    temperature : a number, "auto" to fit it by cross-fitting, None for 1; predictions do not depend on it
    covariance : auto (one per class, shrunk if there are few rows), full, shared or diagonal
    random_state : seed of the folds

    Attributes
    ----------
    classes_, geometry_, distance_, covariance_, temperature_, notes_ : the fitted values

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> round(float(BaselineClassifier(distance="euclidean").fit(X, y).score(X, y)), 3)
    0.927

    References
    ----------
    Kour et al., Classifier Data Quality, equation 8.

    """

    def __init__(
        self,
        distance: str = "auto",
        temperature: float | str | None = "auto",
        covariance: str = "auto",
        random_state: Any = 0,
    ) -> None:
        self.distance = distance
        self.temperature = temperature
        self.covariance = covariance
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> BaselineClassifier:
        """Compute the geometry of the classes."""
        expect.one_of(self.distance, "distance", ("auto", *DISTANCES))
        expect.one_of(self.covariance, "covariance", COVARIANCES)
        tau = check_temperature(self.temperature)
        table, target = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(target)
        self.classes_, codes = np.unique(target, return_inverse=True)
        if self.classes_.size < 2:
            raise expect.InputError(
                f"`y` has 1 class ({self.classes_[0]!r}); at least 2 are needed. Is the target column right?"
            )
        # Codes instead of labels: whatever scikit-learn allows as a label stays unchanged in `classes_`.
        self.geometry_ = Geometry.fit(table, codes)
        seed = settle(self.random_state)
        self.distance_, self.covariance_, self.temperature_ = self.distance, self.covariance, tau or 1.0
        self.notes_: tuple[str, ...] = ()
        if self.distance == "auto" or tau is None:
            rows = CrossFit(self.geometry_, table, codes, folds=fold_of_rows(codes, 5, seed))
            choice = choose_distance(rows, self.distance, self.covariance, tau, codes.size, seed)
            self.distance_, self.covariance_, self.temperature_ = choice.distance, choice.covariance, choice.temperature
            self.tried_, self.notes_ = choice.tried, choice.notes
        self._metric = CrossFit(self.geometry_, table, codes).whole_metric(self.distance_, self.covariance_)
        return self

    def distances(self, X: Any) -> Floats:
        """(rows, classes) distances, not divided by the temperature."""
        check_is_fitted(self)
        table = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self._metric.measure(table)[self.distance_]

    def predict(self, X: Any) -> NDArray[Any]:
        """The nearest class."""
        distances = self.distances(X)
        nearest: NDArray[Any] = self.classes_[distances.argmin(axis=1)]
        return nearest

    def predict_proba(self, X: Any) -> Floats:
        """Softmax of −δ/τ."""
        closeness = -self.distances(X) / self.temperature_
        closeness -= closeness.max(axis=1, keepdims=True)
        share: Floats = np.exp(closeness)
        share /= share.sum(axis=1, keepdims=True)
        return share

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def baseline_threshold(
    X: Any,
    y: ArrayLike,
    distance: str = "auto",
    cross_fit: int | str = 5,
    covariance: str = "auto",
    random_state: int | np.random.Generator | None = 0,
    level: float = 0.95,
    groups: Any = None,
) -> Estimate:
    """The accuracy that any classifier must beat: that of the nearest class, on rows that its geometry has not seen.

    Share of rows with argmin_c δ(x, c) = y, cross-fitted, with Wilson's interval; 0 to 1. A trained classifier below
    its upper end has not shown any benefit. With `distance="auto"` the distance is chosen on the same rows, by
    complexity and not by accuracy, which makes the figure very slightly too high: a harder test. Like any accuracy, it
    misleads on imbalanced classes: check the recall of each in `complexity(X, y).by_class`. `groups` are as there.

    >>> from sklearn.datasets import load_iris
    >>> baseline_threshold(*load_iris(return_X_y=True), distance="euclidean")
    0.933 [0.882, 0.963]
    """
    result = complexity(
        X,
        y,
        distance=distance,
        cross_fit=cross_fit,
        covariance=covariance,
        random_state=random_state,
        level=level,
        temperature="auto" if distance == "auto" else 1,
        groups=groups,
    )
    return result.baseline_accuracy
