"""`MemorizingClassifier`, `MemorizingRegressor`: keep the known concept until new rows show that another is better.

`Memory` is the rule that both share; each has its own evidence: rows that only one concept has right, or errors. A
user may state the accuracy and the stability that are enough: Turney's "certain desired level" of both.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ... import expect, seeds
from ...arrays import Floats, Ints
from ...estimators.adapters import as_given, kind_of
from ...estimators.fit import fit_once
from ...inputs import is_sparse, take
from ...splits import by_other_folds, folds_by_class
from ..fitting import checks

OLD, NEW = "old", "new"
ROUNDING = 1e-12
"""Errors that differ by less than this share of the target are the same: rounding is no evidence."""
SHARE = 2
"""Predictions by cross-validation depend on each other: at level .01 the test of 100 rows errs in up to .02."""


Evidence = tuple[tuple[float, ...], float, str]  # figures of `history_`, their p-value, and words


class Memory(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """What both memories share: batches come in, a concept is kept or replaced, and `history_` says why."""

    KIND: ClassVar[str]
    FIGURES: ClassVar[tuple[str, ...]]
    DESIRED: ClassVar[tuple[str, str]]  # what the two desired levels are, of the first and of the third figure

    def __init__(
        self, learner: Any, alpha: float = 0.05, folds: int = 5, random_state: Any = 0, desired: Any = None
    ) -> None:
        self.learner = learner
        self.alpha = alpha
        self.folds = folds
        self.random_state = random_state
        self.desired = desired

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Forget everything and learn a concept."""
        return self._take(X, y, first=True)

    def partial_fit(self, X: Any, y: ArrayLike) -> Self:
        """Take one more batch, and keep the old concept or use the new one."""
        return self._take(X, y, first=not hasattr(self, "concept_"))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the concept in use."""
        self._check_rows(X)
        return as_given(self.concept_.predict(X), self._numbers_of)

    @abstractmethod
    def _checked_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """The target of some rows, refused if it is not of the memory's kind."""

    @abstractmethod
    def _evidence(self, truth: NDArray[Any], old: NDArray[Any], new: NDArray[Any]) -> Evidence:
        """The comparison of the predictions of both concepts."""

    def _check_rows(self, X: Any) -> None:
        check_is_fitted(self, "concept_")
        # The learner refuses a single row without brackets itself, with its own message.
        if len(getattr(X, "shape", (0, 0))) != 1:
            validate_data(self, X, reset=False, skip_check_array=True)

    def _check_settings(self) -> None:
        expect.fraction(self.alpha, "alpha")
        expect.whole(self.folds, "folds", at_least=2)
        if self.desired is not None:
            if np.shape(self.desired) != (2,):
                raise expect.InputError(f"`desired` is {self.desired!r}; expected two levels, {self.DESIRED}.")
            most = 1.0 if self.KIND == "classifier" else None
            for name, level in zip(self.DESIRED, self.desired):
                expect.number(level, f"desired {name}", at_least=0, at_most=most)
        kind = kind_of(checks.unfitted_learner(self.learner)[0])
        if kind not in (self.KIND, None):
            other = "MemorizingRegressor" if kind == "regressor" else "MemorizingClassifier"
            raise expect.InputError(
                f"`learner` is {type(self.learner).__name__}, a {kind}; expected a {self.KIND}. Use {other} for it."
            )

    def _take(self, X: Any, y: ArrayLike, first: bool, classes: ArrayLike | None = None) -> Self:
        self._check_settings()
        rows, target = self._checked(X, y, reset=first)
        news = self._check_classes(target, first, classes)
        if not first:
            return self._decide(rows, target, news)
        self._learn(rows, target)
        numbers = dict.fromkeys((*self.FIGURES, "p_value", "level"), float)
        kinds = {"batch": int, "rows": int, "kept": str, **numbers, "why": str}
        self.history_ = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
        return self._note(target, NEW, "It is the first batch.")

    def _checked(self, X: Any, y: ArrayLike, reset: bool) -> tuple[Any, NDArray[Any]]:
        """Rows unchanged, since the learner checks them, and the target."""
        validate_data(self, X, reset=reset, skip_check_array=True)
        if y is None:
            raise expect.InputError("requires y to be passed, but the target y is None.")  # scikit-learn's words
        target = self._checked_target(column_or_1d(y, warn=True))
        rows: Any = X if hasattr(X, "shape") else np.asarray(X)
        if is_sparse(rows):
            rows = rows.tocsr()
        noun = "values" if self.KIND == "regressor" else "labels"
        if not target.size:
            raise expect.InputError(f"`y` has 0 {noun}; expected at least one row. Were all dropped earlier?")
        if rows.ndim > 1 and rows.shape[0] != target.size:
            raise expect.InputError(f"`X` has {rows.shape[0]} rows but `y` has {target.size} {noun}; they must match.")
        return rows, target

    def _check_classes(self, target: NDArray[Any], first: bool, classes: ArrayLike | None) -> str:
        """Which classes are new, in words; none, if the target is a number."""
        return ""

    def _learn(self, rows: Any, target: NDArray[Any]) -> None:
        fitted = fit_once(self.learner, rows, target)
        self.concept_, self._numbers_of = fitted.estimator, fitted.indexed

    def _decide(self, rows: Any, target: NDArray[Any], news: str) -> Self:
        if target.size == 1 or (self.KIND == "classifier" and (target == target[0]).all()):
            kind = "class" if self.KIND == "classifier" else "row"
            return self._note(target, OLD, f"{news}The batch has one {kind}, so no new concept can be compared on it.")
        before = as_given(self.concept_.predict(rows), self._numbers_of)
        figures, p_value, words = self._evidence(target, before, self._left_out(rows, target))
        update = len(self.history_)
        level = float(self.alpha) / (SHARE * update * (update + 1))
        better = p_value <= level
        satisfied = self._satisfied(figures[0], figures[2]) if better else ""
        kept = NEW if better and not satisfied else OLD
        if kept == NEW:
            self._learn(rows, target)
        why = (
            f"{news}{words} (p = {p_value:.2g}): that {'shows' if better else 'does not show'} that the new one is "
            f"better, at level {level:.2g}.{satisfied}"
        )
        return self._note(target, kept, why, (*figures, p_value, level))

    def _satisfied(self, old: float, closeness: float) -> str:
        """Why a better concept is not used, if so: the old one is as good as desired, the new one not as close."""
        if self.desired is None:
            return ""
        sign, (enough, close) = 1 if self.KIND == "classifier" else -1, self.desired
        if sign * old < sign * enough or sign * closeness >= sign * close:
            return ""
        return (
            f" The old one is kept: its {self.DESIRED[0]} of {old:.3g} is as desired ({enough:g}), and the "
            f"{self.DESIRED[1]} of {closeness:.3g} is not ({close:g})."
        )

    def _left_out(self, rows: Any, target: NDArray[Any]) -> NDArray[Any]:
        """Predictions of concepts of the batch on rows that they were not learned from."""
        generator = seeds.generator(seeds.settle(self.random_state), "memory", len(self.history_))
        # Classes are spread evenly over the folds, so that no part lacks a class that has two rows.
        codes = np.zeros(target.size, dtype=np.int64) if self.KIND == "regressor" else target
        fold = folds_by_class(codes, min(int(self.folds), target.size), generator)

        def answers(_: int, others: Ints, asked: Ints) -> NDArray[Any]:
            known = target[others]
            if (known == known[0]).all():
                return np.repeat(known[:1], asked.size)
            return np.asarray(fit_once(self.learner, take(rows, others), known).predict(take(rows, asked)))

        return by_other_folds(fold, answers)

    def _note(self, target: NDArray[Any], kept: str, why: str, figures: tuple[float, ...] | None = None) -> Self:
        numbers = figures or (np.nan,) * (len(self.FIGURES) + 2)
        names = list(self.history_.columns)
        row = dict(zip(names, (len(self.history_) + 1, target.size, kept, *numbers, why)))
        self.history_ = pd.DataFrame([*self.history_.to_dict("records"), row], columns=names)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.learner).input_tags
        return tags


def _has(verb: str) -> Any:
    """Whether the concept has a method, or the learner while there is no concept yet."""

    def check(self: MemorizingClassifier) -> bool:
        getattr(getattr(self, "concept_", self.learner), verb)  # raises AttributeError by the right name
        return True

    return check


class MemorizingClassifier(ClassifierMixin, Memory):  # type: ignore[misc]  # no types
    """A learner with a memory: batch after batch, it keeps its concept until the new one is shown to be better.

    Both concepts predict the rows of the batch: the old one, which has not seen them, as it is; the new one by refits
    that leave out the rows they predict. Let b be the rows that only the new one has right, c those that only the old
    one has right. The new concept is used if b is larger than c beyond chance: an exact binomial test, one-sided, at
    the level alpha/(2·j(j + 1)) for update j. All levels together are alpha/2; the other half is for the predictions of
    the new concept, which depend on each other because its refits share rows. So, however many batches come, a concept
    that is no better replaces the old one with probability of about alpha at most. Otherwise the old one is kept, since
    keeping it changes no prediction.

    With `desired` levels of accuracy and stability, the old concept is also kept if it has that accuracy on the batch
    and the better one agrees with it on fewer rows than that. If it falls short of the accuracy, stability yields.

    `fit` starts again; `partial_fit` takes one more batch. It misleads if batches are small: the new concept, learned
    from a part of one batch, is then poor, and few rows show little, so the old one stays although a change would pay
    off later. It looks at one batch at a time: a drift so slow that no batch shows it is accepted late.

    Parameters
    ----------
    learner : a scikit-learn classifier; each batch gets a fresh copy
    alpha : probability of a change without reason over all updates; a smaller one needs more evidence for a change
    folds : number of parts of a batch for evaluating the new concept
    random_state : seed of the folds
    desired : (accuracy, stability), such as (0.9, 0.95): the accuracy that is enough, and the share of rows on which a
        new concept must then agree with the old one; None to use the better concept

    Attributes
    ----------
    concept_ : the classifier in use
    classes_ : all classes so far, and those given in `classes`
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

    KIND = "classifier"
    FIGURES = ("old_accuracy", "new_accuracy", "agreement", "only_new_right", "only_old_right")
    DESIRED = ("accuracy", "agreement")

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Take one more batch, and keep the old concept or use the new one. `classes`: all that may ever occur."""
        return self._take(X, y, not hasattr(self, "concept_"), classes)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities by the concept in use; 0 for classes that it has not seen."""
        return self._spread(X, "predict_proba", 0.0)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores by the concept in use; −∞ for classes that it has not seen."""
        return self._spread(X, "decision_function", -np.inf)

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

    def _checked_target(self, y: NDArray[Any]) -> NDArray[Any]:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return y

    def _evidence(self, truth: NDArray[Any], old: NDArray[Any], new: NDArray[Any]) -> Evidence:
        was_right, is_right = old == truth, new == truth
        gained, lost = int((is_right & ~was_right).sum()), int((was_right & ~is_right).sum())
        p_value = float(stats.binomtest(gained, gained + lost, alternative="greater").pvalue) if gained else 1.0
        figures = (float(was_right.mean()), float(is_right.mean()), float((new == old).mean()), gained, lost)
        words = f"Only the new concept is right on {gained} rows, only the old one on {lost}"
        return figures, p_value, words

    def _check_classes(self, target: NDArray[Any], first: bool, classes: ArrayLike | None) -> str:
        declared = np.unique(target if classes is None else np.asarray(classes))
        known: NDArray[Any] = declared if first else self.classes_
        if classes is not None and not np.array_equal(declared, known):
            raise expect.InputError(
                f"`classes` differs from the classes so far ({expect.shown(known)}). To start again, call fit."
            )
        strange = np.setdiff1d(target, known)
        of_texts = [labels.dtype.kind in "OU" for labels in (target, known)]
        if strange.size and (classes is not None or of_texts[0] != of_texts[1]):
            raise expect.InputError(
                f"The batch has the labels {expect.shown(strange, 4)}, which are not among {expect.shown(known, 4)}. "
                "Add them to `classes`, or pass labels of the same kind."
            )
        self.classes_: NDArray[Any] = np.union1d(known, strange)
        noun = "New class" if strange.size == 1 else "New classes"
        return f"{noun}: {expect.shown(strange, 4)}, in {np.isin(target, strange).sum()} rows. " if strange.size else ""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.learner).classifier_tags
        if inner is not None:
            tags.classifier_tags.multi_class = inner.multi_class
            tags.classifier_tags.poor_score = inner.poor_score
        return tags


class MemorizingRegressor(RegressorMixin, Memory):  # type: ignore[misc]  # no types
    """A regressor with a memory: batch after batch, it keeps its concept until the new one is shown to be better.

    Both concepts predict the rows of the batch, as in `MemorizingClassifier`: the old one as it is, the new one by
    refits that leave out the rows they predict. Let d be, row by row, the absolute error of the old one minus that of
    the new one. The new concept is used if the mean of d is above 0 beyond chance: Student's t, one-sided, at the level
    alpha/(2·j(j + 1)) for update j, with a p-value of at least 2⁻ⁿ for n rows with d ≠ 0; a d that is but a rounding
    error counts as 0. So "better" means a smaller mean absolute error. A row with an extreme target counts no more than
    others: d is never larger than the difference of the two predictions, however far away the truth is.

    `fit` starts again; `partial_fit` takes one more batch. It misleads as `MemorizingClassifier` does, and in three
    more ways: a concept with a smaller mean absolute error may have a larger squared one, if noise is skewed; rare rows
    on which the new concept errs far more, and that the batch lacks, are not counted; and with heavy-tailed noise a
    learner of means (such as LinearRegression) varies so much that another concept often *is* better without a change.

    Parameters
    ----------
    learner : a scikit-learn regressor; each batch gets a fresh copy
    alpha, folds, random_state : as in `MemorizingClassifier`; so are `concept_` and `history_`
    desired : (error, difference): the mean absolute error that is enough, and how far a new concept may then be from
        the old one, in mean absolute difference of predictions; None to use the better concept

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.normal(size=(300, 2)), 0.3 * rng.normal(size=300)
    >>> memory = MemorizingRegressor(Ridge()).fit(X[:100], X[:100, 0] + noise[:100])
    >>> memory = memory.partial_fit(X[100:200], X[100:200, 0] + noise[100:200])
    >>> memory.partial_fit(X[200:], X[200:, 1] + noise[200:]).history_["kept"].tolist()
    ['new', 'old', 'new']

    References
    ----------
    Turney, Technical Note: Bias and the Quantification of Stability, Machine Learning 20 (1995), section 3.

    """

    KIND = "regressor"
    FIGURES = ("old_error", "new_error", "difference", "new_nearer", "old_nearer")
    DESIRED = ("error", "difference")

    def _checked_target(self, y: NDArray[Any]) -> Floats:
        kind = y.dtype.kind
        wrong = []
        if kind in "OUST":  # numpy makes numbers of text, and of dates
            wrong = [value for value in y.tolist() if not isinstance(value, (Real, Decimal))]
        elif kind in "mM":
            wrong = [str(value) for value in y[:1].astype(f"{kind}8[s]")]
        if wrong:
            raise expect.InputError(f"`y` contains {wrong[0]!r}; expected numbers. Did you mean MemorizingClassifier?")
        values: Floats = y.astype(float)
        assert_all_finite(values, input_name="y")
        return values

    def _evidence(self, truth: NDArray[Any], old: NDArray[Any], new: NDArray[Any]) -> Evidence:
        before, after = np.abs(old - truth), np.abs(new - truth)
        difference = before - after
        # Not the largest truth or new prediction of all rows: one outlier would make every difference a rounding error.
        scale = np.maximum(np.maximum(np.abs(truth), np.abs(new)), np.abs(old).max())
        difference[np.abs(difference) <= ROUNDING * scale] = 0.0
        nearer, farther = int((difference > 0).sum()), int((difference < 0).sum())
        figures = tuple(map(float, (before.mean(), after.mean(), np.abs(new - old).mean(), nearer, farther)))
        words = (
            f"The mean absolute error of the new concept is {after.mean():.4g}, that of the old one "
            f"{before.mean():.4g}; the new one is nearer to the truth on {nearer} rows, the old one on {farther}"
        )
        return figures, paired_p_value(difference), words

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.learner).regressor_tags
        if inner is not None:
            tags.regressor_tags.poor_score = inner.poor_score
        return tags


def paired_p_value(differences: Floats) -> float:
    """The p-value of "the mean difference is not above 0": Student's t, and at least 2⁻ⁿ for n differences ≠ 0.

    No n signs that are + or − with equal chance show more than 2⁻ⁿ, however little the differences vary.
    """
    n, mean, deviation = differences.size, float(differences.mean()), float(differences.std(ddof=1))
    if deviation == 0:
        tail = 0.0 if mean > 0 else 1.0
    else:
        tail = float(stats.t.sf(mean * math.sqrt(n) / deviation, n - 1))
    return max(tail, 2.0 ** -int((differences != 0).sum())) if mean > 0 else tail
