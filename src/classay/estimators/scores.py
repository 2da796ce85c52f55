"""Scores of every class from a fitted classifier of any package."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import seeds
from ..arrays import Floats
from ..expect import InputError
from ..inputs import label_array
from .adapters import as_given, free_seeds, short_name
from .fit import Fitted, fit_once, guard, turn


@dataclass(frozen=True)
class Scorer:
    """A fitted classifier, the classes that it scores, in their order, and the warnings of its fit."""

    fitted: Fitted
    classes: NDArray[Any]
    warnings: tuple[str, ...]

    def predict(self, X: Any) -> NDArray[Any]:
        """Its predictions, as labels of the user."""
        return self.fitted.predict(X)

    def scores(self, X: Any) -> NDArray[Any]:
        """Scores (n, K) in the order of `classes`: `decision_function`, `predict_log_proba` or `predict_proba`."""
        return scores_of(self.fitted.estimator, X)


def fit_scorer(
    learner: Any, X: Any, y: NDArray[Any], seed: int, *place: int, sample_weight: Floats | None = None
) -> Scorer:
    """Fit a classifier for its scores. Every free `random_state` is set by seed and place."""
    free = free_seeds(learner)
    random_states = dict(zip(free, seeds.integers(seed, "fit", *place, count=len(free)))) if free else {}
    with guard() as watched:
        try:
            fitted = fit_once(learner, X, y, random_states, sample_weight=sample_weight)
        except Exception as error:  # a learner may raise anything
            raise InputError(f"{short_name(learner)} could not be fitted: {type(error).__name__}: {error}") from error
    if not hasattr(fitted.estimator, "classes_"):
        raise InputError(f"{short_name(learner)} has no `classes_` when fitted; expected a classifier.")
    classes = as_given(label_array(fitted.estimator.classes_, "classes_"), fitted.indexed)
    return Scorer(fitted, classes, tuple(watched.warnings()))


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
