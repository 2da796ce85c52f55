"""`MemorizingRegressor`: keep the known concept until new rows show that another one is nearer to the truth."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import RegressorMixin
from sklearn.utils import assert_all_finite, get_tags

from ... import expect
from ...arrays import Floats, Ints
from .memory import Evidence, Memory

ROUNDING = 1e-12
"""Errors that differ by less than this share of the target are the same: rounding is no evidence."""
NO_NUMBERS = "USTMm"
"""Kinds of arrays that are no numbers, though numpy makes numbers of them: text, dates and durations."""


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
    alpha : probability of a change without reason over all updates; a smaller one needs more evidence for a change
    folds : number of parts of a batch for evaluating the new concept
    random_state : seed of the folds

    Attributes
    ----------
    concept_ : the regressor in use
    history_ : one row per batch: what was kept, the figures, and the reason in words

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

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Forget everything and learn a concept."""
        self._check_settings()
        return self._begin(*self._checked(X, y, reset=True))

    def partial_fit(self, X: Any, y: ArrayLike) -> Self:
        """Take one more batch, and keep the old concept or use the new one."""
        self._check_settings()
        if not hasattr(self, "concept_"):
            return self._begin(*self._checked(X, y, reset=True))
        return self._decide(*self._checked(X, y, reset=False))

    def _checked_target(self, y: NDArray[Any]) -> Floats:
        wrong = y[:1] if y.dtype.kind in NO_NUMBERS else y[:0]
        if y.dtype.kind == "O":
            wrong = y[[_is_no_number(each) for each in y]]
        if wrong.size:
            raise expect.InputError(
                f"`y` contains {_as_python(wrong[0])}; expected numbers. Did you mean MemorizingClassifier?"
            )
        values: Floats = y.astype(float)
        assert_all_finite(values, input_name="y")
        return values

    def _cannot_learn(self, y: NDArray[Any]) -> str:
        return "The batch has one row, so no new concept can be compared on it." if y.size == 1 else ""

    def _fold_classes(self, y: NDArray[Any]) -> Ints:
        return np.zeros(y.size, dtype=np.int64)

    def _evidence(self, truth: NDArray[Any], old: NDArray[Any], new: NDArray[Any]) -> Evidence:
        before, after = np.abs(old - truth), np.abs(new - truth)
        difference = before - after
        # Not the largest truth or new prediction of all rows: one outlier would make every difference a rounding error.
        scale = np.maximum(np.maximum(np.abs(truth), np.abs(new)), np.abs(old).max())
        difference[np.abs(difference) <= ROUNDING * scale] = 0.0
        nearer, farther = int((difference > 0).sum()), int((difference < 0).sum())
        figures = (before.mean(), after.mean(), np.abs(new - old).mean(), nearer, farther)
        words = (
            f"The mean absolute error of the new concept is {after.mean():.4g}, that of the old one "
            f"{before.mean():.4g}; the new one is nearer to the truth on {nearer} rows, the old one on {farther}"
        )
        return Evidence(dict(zip(self.FIGURES, map(float, figures))), paired_p_value(difference), words)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.learner).regressor_tags
        if inner is not None:
            tags.regressor_tags.poor_score = inner.poor_score
        return tags


def paired_p_value(differences: Floats) -> float:
    """The p-value of "the mean difference is not above 0": Student's t, and at least 2⁻ⁿ for n differences ≠ 0.

    No n signs that are + or − with equal chance show more than 2⁻ⁿ, however little the differences vary.

    >>> paired_p_value(np.array([1.0, 1.0, 1.0]))
    0.125
    """
    n, mean, deviation = differences.size, float(differences.mean()), float(differences.std(ddof=1))
    if mean <= 0:
        return 1.0 if deviation == 0 else float(stats.t.sf(mean * math.sqrt(n) / deviation, n - 1))
    tail = 0.0 if deviation == 0 else float(stats.t.sf(mean * math.sqrt(n) / deviation, n - 1))
    return max(tail, 2.0 ** -int((differences != 0).sum()))


def _is_no_number(value: Any) -> bool:
    if isinstance(value, (str, bytes)):
        return True
    try:
        float(value)
    except (TypeError, ValueError):
        return True
    return False


def _as_python(value: Any) -> str:
    """A value of an array in the spelling of Python; a time without numpy's nanoseconds."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return str(value.astype(f"{value.dtype.kind}8[s]"))
    return repr(value.item() if isinstance(value, np.generic) else value)
