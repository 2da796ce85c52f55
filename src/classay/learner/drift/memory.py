"""`MemorizingClassifier`: keep the known concept until new rows show that another one is better."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ... import expect, seeds
from ...estimators.adapters import as_given, kind_of
from ...estimators.fit import fit_once
from ...inputs import is_sparse, take
from ...splits import folds_by_class
from ..fitting import checks

OLD, NEW = "old", "new"
COLUMNS = {
    "batch": int,
    "rows": int,
    "kept": str,
    "old_accuracy": float,
    "new_accuracy": float,
    "agreement": float,
    "only_new_right": float,
    "only_old_right": float,
    "p_value": float,
    "level": float,
    "why": str,
}
FIGURES = list(COLUMNS)[3:-1]
SHARE = 2
"""Predictions by cross-validation depend on each other: at level .01 the test of 100 rows errs in up to .02."""


def _has(verb: str) -> Any:
    """Whether the concept has a method, or the learner while there is no concept yet."""

    def check(self: MemorizingClassifier) -> bool:
        getattr(getattr(self, "concept_", self.learner), verb)  # raises AttributeError by the right name
        return True

    return check


class MemorizingClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """A learner with a memory: batch after batch, it keeps its concept until the new one is shown to be better.

    Both concepts predict the rows of the batch: the old one, which has not seen them, as it is; the new one by refits
    that leave out the rows they predict. Let b be the rows that only the new one has right, c those that only the old
    one has right. The new concept is used if b is larger than c beyond chance: an exact binomial test, one-sided, at
    the level alpha/(2·j(j + 1)) for update j. All levels together are alpha/2; the other half is for the predictions of
    the new concept, which depend on each other because its refits share rows. So, however many batches come, a concept
    that is no better replaces the old one with probability of about alpha at most. Otherwise the old one is kept, since
    keeping it changes no prediction.

    `fit` starts again; `partial_fit` takes one more batch. It misleads if batches are small: the new concept, learned
    from a part of one batch, is then poor, and few rows show little, so the old one stays although a change would pay
    off later. It looks at one batch at a time: a drift so slow that no batch shows it is accepted late.

    Parameters
    ----------
    learner : a scikit-learn classifier; each batch gets a fresh copy
    alpha : probability of a change without reason over all updates; a smaller one needs more evidence for a change
    folds : number of parts of a batch for evaluating the new concept
    random_state : seed of the folds

    Attributes
    ----------
    concept_ : the classifier in use
    classes_ : all classes, as first given
    history_ : one row per batch: what was kept, the figures, and the reason in words

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> memory = MemorizingClassifier(LogisticRegression()).fit(X[:100], X[:100, 0] > 0)
    >>> memory.partial_fit(X[100:], X[100:, 0] > 0).history_["kept"].tolist()
    ['new', 'old']

    References
    ----------
    Turney, Technical Note: Bias and the Quantification of Stability, Machine Learning 20 (1995), section 3.

    """

    def __init__(self, learner: Any, alpha: float = 0.05, folds: int = 5, random_state: Any = 0) -> None:
        self.learner = learner
        self.alpha = alpha
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> MemorizingClassifier:
        """Forget everything and learn a concept."""
        self._check_settings()
        rows, labels = self._checked(X, y, reset=True)
        self.classes_ = np.unique(labels)
        return self._begin(rows, labels)

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> MemorizingClassifier:
        """Take one more batch, and keep the old concept or use the new one. `classes`: all that may ever occur."""
        self._check_settings()
        if not hasattr(self, "concept_"):
            rows, labels = self._checked(X, y, reset=True)
            self.classes_ = np.unique(labels if classes is None else np.asarray(classes))
            self._refuse_strangers(labels)
            return self._begin(rows, labels)
        rows, labels = self._checked(X, y, reset=False)
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise expect.InputError(
                f"`classes` differs from the first batch ({expect.shown(self.classes_)}). To start again, call fit."
            )
        self._refuse_strangers(labels)
        self._decide(rows, labels)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the concept in use."""
        self._check_rows(X)
        return as_given(self.concept_.predict(X), self._numbers_of)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities by the concept in use; 0 for classes that it has not seen."""
        return self._spread(X, "predict_proba", 0.0)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores by the concept in use; −∞ for classes that it has not seen."""
        return self._spread(X, "decision_function", -np.inf)

    def _check_rows(self, X: Any) -> None:
        check_is_fitted(self, "concept_")
        # The learner refuses a single row without brackets itself, with its own message.
        if len(getattr(X, "shape", (0, 0))) != 1:
            validate_data(self, X, reset=False, skip_check_array=True)

    def _spread(self, X: Any, verb: str, absent: float) -> NDArray[np.float64]:
        """Scores or probabilities of the concept for its classes, in columns of all classes."""
        self._check_rows(X)
        scores: NDArray[np.float64] = getattr(self.concept_, verb)(X)
        known = as_given(self.concept_.classes_, self._numbers_of)
        if np.array_equal(known, self.classes_):
            return scores
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        spread = np.full((len(scores), self.classes_.size), absent)
        spread[:, np.searchsorted(self.classes_, known)] = scores
        return spread

    def _check_settings(self) -> None:
        expect.fraction(self.alpha, "alpha")
        expect.whole(self.folds, "folds", at_least=2)
        if kind_of(checks.unfitted_learner(self.learner)[0]) == "regressor":
            raise expect.InputError(f"`learner` is {type(self.learner).__name__}, a regressor; expected a classifier.")

    def _checked(self, X: Any, y: ArrayLike, reset: bool) -> tuple[Any, NDArray[Any]]:
        """Rows unchanged, since the learner checks them, and labels."""
        validate_data(self, X, reset=reset, skip_check_array=True)
        if y is None:
            raise expect.InputError("requires y to be passed, but the target y is None.")  # scikit-learn's words
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        rows: Any = X if hasattr(X, "shape") else np.asarray(X)
        if is_sparse(rows):
            rows = rows.tocsr()
        if not labels.size:
            raise expect.InputError("`y` has 0 labels; expected at least one row. Were all dropped earlier?")
        if rows.ndim > 1 and rows.shape[0] != labels.size:
            raise expect.InputError(f"`X` has {rows.shape[0]} rows but `y` has {labels.size} labels; they must match.")
        return rows, labels

    def _refuse_strangers(self, labels: NDArray[Any]) -> None:
        strange = np.setdiff1d(labels, self.classes_)
        if strange.size:
            raise expect.InputError(
                f"The batch has classes that the first batch did not have: {expect.shown(strange, 4)}. Pass all of "
                "them in `classes` at the first partial_fit."
            )

    def _begin(self, rows: Any, labels: NDArray[Any]) -> MemorizingClassifier:
        self._learn(rows, labels)
        self.history_ = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS.items()})
        self._note(labels, NEW, "It is the first batch.")
        return self

    def _learn(self, rows: Any, labels: NDArray[Any]) -> None:
        fitted = fit_once(self.learner, rows, labels)
        self.concept_, self._numbers_of = fitted.estimator, fitted.indexed

    def _decide(self, rows: Any, labels: NDArray[Any]) -> None:
        if (labels == labels[0]).all():
            return self._note(labels, OLD, "The batch has one class, so no new concept can be learned from it.")
        answers = self._left_out(rows, labels)
        before = as_given(self.concept_.predict(rows), self._numbers_of)
        was_right, is_right = before == labels, answers == labels
        gained, lost = int((is_right & ~was_right).sum()), int((was_right & ~is_right).sum())
        update = len(self.history_)
        level = float(self.alpha) / (SHARE * update * (update + 1))
        p_value = float(stats.binomtest(gained, gained + lost, alternative="greater").pvalue) if gained else 1.0
        kept = NEW if p_value <= level else OLD
        if kept == NEW:
            self._learn(rows, labels)
        accuracy = float(was_right.mean()), float(is_right.mean())
        agreement = float((answers == before).mean())
        why = (
            f"Only the new concept is right on {gained} rows, only the old one on {lost} (p = {p_value:.2g}): that "
            f"{'shows' if kept == NEW else 'does not show'} that the new one is better, at level {level:.2g}."
        )
        return self._note(labels, kept, why, dict(zip(FIGURES, (*accuracy, agreement, gained, lost, p_value, level))))

    def _left_out(self, rows: Any, labels: NDArray[Any]) -> NDArray[Any]:
        """Predictions of concepts of the batch on rows that they were not learned from."""
        folds = min(int(self.folds), labels.size)
        generator = seeds.generator(seeds.settle(self.random_state), "memory", len(self.history_))
        # By class, so that no part lacks a class that has two rows.
        fold = folds_by_class(labels, folds, generator)
        answers = np.empty_like(labels)
        for number in range(folds):
            asked, others = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            known = labels[others]
            if (known == known[0]).all():
                answers[asked] = known[0]
            else:
                answers[asked] = fit_once(self.learner, take(rows, others), known).predict(take(rows, asked))
        return answers

    def _note(self, labels: NDArray[Any], kept: str, why: str, figures: dict[str, float] | None = None) -> None:
        shown = figures or dict.fromkeys(FIGURES, np.nan)
        row = {"batch": len(self.history_) + 1, "rows": labels.size, "kept": kept, **shown, "why": why}
        self.history_ = pd.DataFrame([*self.history_.to_dict("records"), row], columns=list(COLUMNS))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.learner)
        tags.input_tags = inner.input_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags
