"""Scores of every class from a fitted classifier of any package."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from ..arrays import Floats
from ..expect import InputError
from .adapters import as_given, short_name
from .fit import Fitted, fit_once, guard, seeded, turn


def fit_scorer(
    learner: Any, X: Any, y: NDArray[Any], seed: int, *place: int, sample_weight: Floats | None = None
) -> Fitted:
    """Fit a classifier for its scores. Every free `random_state` is set by seed and place."""
    with guard() as watched:
        try:
            fitted = fit_once(learner, X, y, seeded(learner, seed, "fit", *place), sample_weight=sample_weight)
        except Exception as error:  # a learner may raise anything
            raise InputError(f"{short_name(learner)} could not be fitted: {type(error).__name__}: {error}") from error
    if not hasattr(fitted.estimator, "classes_"):
        raise InputError(f"{short_name(learner)} has no `classes_` when fitted; expected a classifier.")
    return replace(fitted, warnings=tuple(watched.warnings()))


def scores_of(classifier: Any, X: Any) -> NDArray[Any]:
    """Scores (n, K) of a fitted classifier, in the order of its `classes_`."""
    for verb in ("decision_function", "predict_log_proba", "predict_proba"):
        if hasattr(classifier, verb):
            if verb == "decision_function" and _votes_by_pairs(classifier):
                continue  # three classes have three pairs, so the shape does not show it
            # The log of a probability of 0 is −inf, which is as it should be.
            with turn, warnings.catch_warnings(), np.errstate(divide="ignore"):
                warnings.simplefilter("ignore", RuntimeWarning)
                try:
                    scores = np.asarray(getattr(classifier, verb)(X))
                except Exception as error:  # for example a category that the training rows did not have
                    reason = f"{type(error).__name__}: {error}"
                    raise InputError(f"{short_name(classifier)} could not score the test rows: {reason}") from error
            if scores.ndim == 1:  # two classes, scored by one number
                scores = np.column_stack([-scores, scores])
            if scores.shape[1] != len(classifier.classes_):
                continue  # one-against-one votes, for example
            return scores
    raise InputError(
        f"{short_name(classifier)} does not score every class; `decision_function`, `predict_log_proba` or "
        "`predict_proba` is needed. SVC needs probability=True or decision_function_shape='ovr'."
    )


def _votes_by_pairs(classifier: Any) -> bool:
    """Whether `decision_function` has a column for each pair of classes, as of SVC(decision_function_shape="ovo")."""
    shapes = [
        value
        for name, value in classifier.get_params(deep=True).items()
        if name.split("__")[-1] == "decision_function_shape"
    ]
    return "ovo" in shapes and len(classifier.classes_) > 2


# Labels and scores of one refit in one pass.


PROBABILITY, DECISION = "probability", "decision"
SUM_REACH = 1e-3
"""Probabilities of a row that do not sum to 1 within this are none."""
BY_LARGEST_PROBABILITY = (
    RandomForestClassifier,
    ExtraTreesClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    ExtraTreeClassifier,
)
"""Classifiers whose `predict` is the class of the largest `predict_proba`, exactly: both for the price of one."""


@dataclass(frozen=True)
class ClassScores:
    """Scores (n, C) of rows for the `classes` of a fitted classifier; `kind` is "probability" or "decision"."""

    kind: str
    values: NDArray[Any]
    classes: NDArray[Any]


def may_score(learner: Any) -> bool:
    """Whether an unfitted learner may give scores; some, such as StackingClassifier, only know once they are fitted."""
    return any(hasattr(learner, name) for name in ("predict_proba", "decision_function", "final_estimator"))


def labels_and_scores(fitted: Fitted, X: Any, scored: int) -> tuple[NDArray[Any], ClassScores | str]:
    """Predictions for all rows, as labels of the user, and scores of the first `scored` rows, or why there are none.

    Scores are probabilities where the classifier has `predict_proba`, decision values otherwise. The labels are those
    of `predict`, exactly. Earlier steps of a Pipeline transform the rows once.
    """
    estimator = fitted.estimator
    while type(estimator) is Pipeline and getattr(estimator, "transform_input", None) is None:
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator.steps[-1][1]
    if _by_largest_probability(estimator):
        probabilities = estimator.predict_proba(X)
        labels = np.asarray(estimator.classes_).take(np.argmax(probabilities, axis=1), axis=0)
        scores = _read_scores(PROBABILITY, probabilities[:scored], estimator, fitted)
        return as_given(labels, fitted.indexed), scores
    verb = next((name for name in ("predict_proba", "decision_function") if hasattr(estimator, name)), None)
    if verb is None or (verb == "decision_function" and _votes_by_pairs(estimator)):
        return Fitted(estimator, fitted.indexed).predict(X), ""
    first = X.iloc[:scored] if hasattr(X, "iloc") else X[:scored]
    first = first.copy()  # `predict` may write into its input
    labels = Fitted(estimator, fitted.indexed).predict(X)
    try:
        values = getattr(estimator, verb)(first)
    except Exception as error:  # a learner may raise anything; its labels are still good
        return labels, f"{verb} failed: {type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    return labels, _read_scores(PROBABILITY if verb == "predict_proba" else DECISION, values, estimator, fitted)


def _by_largest_probability(estimator: Any) -> bool:
    if type(estimator) is KNeighborsClassifier:
        return bool(estimator.weights == "uniform")
    return type(estimator) in BY_LARGEST_PROBABILITY


def _read_scores(kind: str, values: Any, estimator: Any, fitted: Fitted) -> ClassScores | str:
    """Scores as one column per class, or why they are none."""
    if not hasattr(estimator, "classes_"):
        return "it has no classes_, so its scores cannot be assigned to classes"
    classes = replace(fitted, estimator=estimator).classes
    scores = np.asarray(values, dtype=float)
    if scores.ndim == 2 and scores.shape[1] == 1 and len(classes) == 2:
        scores = scores[:, 0]
    if scores.ndim == 1 and len(classes) == 2:  # two classes, scored by one number
        scores = np.column_stack([1 - scores if kind == PROBABILITY else -scores, scores])
    if scores.ndim != 2 or scores.shape[1] != len(classes):
        return f"scores of {len(classes)} classes have shape {scores.shape}"
    if not np.isfinite(scores).all():
        return "some scores are not finite"
    if kind == PROBABILITY:
        if ((scores < -1e-6) | (scores > 1 + 1e-6)).any() or (np.abs(scores.sum(axis=1) - 1) > SUM_REACH).any():
            return "predict_proba gives numbers that are no probabilities"
        scores = scores.clip(0.0, 1.0)
    return ClassScores(kind, scores, classes)
