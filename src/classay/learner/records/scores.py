"""`Scores`: the probability or decision value that every refit gave to the classes, beside its labels.

Up to `MOST_FULL` classes, all scores are kept: 4 bytes a class and prediction. With more classes, the record is
compact: the score of the true class, the three best classes and their scores, 28 bytes a prediction.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import AnyInts, Floats
from ...estimators.adapters import as_given
from ...estimators.fit import Fitted
from ...estimators.scores import DECISION, PROBABILITY, SUM_REACH, ClassScores, scores_of
from ...expect import InputError, one_of
from ...inputs import label_array
from .base import require

MOST_FULL = 20
"""Up to this number of classes the scores of all classes are kept."""
COMPACT = ("true", "top 1", "top 2", "top 3", "class 1", "class 2", "class 3")
"""Columns of a compact record: scores of the true and the three best classes, and the codes of the latter."""
KINDS = ("", PROBABILITY, DECISION)
"""What a refit gave, by code: nothing, probabilities, or decision values."""

Float32s = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of K subsets x R refits on n points.

    `values[k, r, i, c]` is the score of class c of the record's `classes`, as 32-bit floats; `kind` is "probability"
    (0 to 1, sum 1 over classes) or "decision" (any number, higher is more likely; of two classes, the second has the
    negative of the first). A missing refit is NaN. A class that a subset did not have has probability 0, and a decision
    value of NaN. `columns` names the last axis: the classes, or `COMPACT` where there are more than 20 of them.
    """

    values: Float32s
    kind: str
    columns: tuple[str, ...]

    @property
    def compact(self) -> bool:
        """Whether only the true and the three best classes are kept."""
        return self.columns == COMPACT

    @property
    def probabilities(self) -> bool:
        return self.kind == PROBABILITY

    @property
    def present(self) -> NDArray[np.bool_]:
        """(K, R): which refits gave scores."""
        first = self.values[:, :, 0, 1:2] if self.compact else self.values[:, :, 0]
        return np.asarray(~np.isnan(first).all(axis=2))

    @property
    def positive(self) -> Float32s:
        """(K, R, n): the score of the second of two classes."""
        if self.values.shape[3] != 2:
            raise InputError(f"The record has {len(self.columns)} classes; a positive class needs two.")
        return self.values[..., 1]

    def true(self, truth: AnyInts) -> Float32s:
        """(K, R, n): the score of the true class."""
        if self.compact:
            return self.values[..., 0]
        return np.asarray(np.take_along_axis(self.values, truth.astype(np.intp)[None, None, :, None], axis=3)[..., 0])

    def top(self) -> tuple[AnyInts, Float32s]:
        """(K, R, n): the class with the highest score, the first of equals, and that score."""
        if self.compact:
            codes: AnyInts = np.nan_to_num(self.values[..., 4], nan=-1.0).astype(np.int64)
            return codes, self.values[..., 1]
        known = np.where(np.isnan(self.values), -np.inf, self.values)
        best: AnyInts = known.argmax(axis=3)
        return best, np.take_along_axis(self.values, best[..., None], axis=3)[..., 0]

    def margin(self) -> Float32s:
        """(K, R, n): the highest score minus the second highest."""
        if self.compact:
            return self.values[..., 1] - self.values[..., 2]
        known = np.where(np.isnan(self.values), -np.inf, self.values)
        ordered = np.partition(known, -2, axis=3)
        return np.asarray(ordered[..., -1] - ordered[..., -2])

    def take(self, subsets: AnyInts, refits: AnyInts) -> Scores:
        """Those of some subsets (K',) and some refits of each (K', R')."""
        return replace(self, values=self.values[subsets[:, None], refits])

    def expect_full(self, purpose: str) -> None:
        """Refuse a compact record where the scores of all classes are needed."""
        if self.compact:
            raise InputError(
                f"{purpose} needs the scores of all classes; with more than {MOST_FULL} classes the record has those "
                "of the true and the three best classes only."
            )

    def expect_valid(self, answers: NDArray[Any] | None, classes: int) -> None:
        """Raise a ValueError if these cannot be the scores of the refits that gave `answers`."""
        values = self.values
        fits = values.ndim == 4 and answers is not None and values.shape == (*answers.shape, len(self.columns))
        require(fits, f"scores have shape {values.shape}")
        require(values.dtype == np.float32 and not np.isinf(values).any(), "scores are not finite 32-bit numbers")
        numbers, codes = (values[..., :4], values[..., 4:]) if self.compact else (values, values[..., :0])
        require(not self.probabilities or not ((numbers < 0) | (numbers > 1)).any(), "probabilities are out of range")
        known = codes[~np.isnan(codes)]
        whole = not ((known < 0) | (known >= classes) | (known != np.floor(known))).any()
        require(bool(whole), "classes of scores are out of range")

    def header(self) -> dict[str, Any]:
        """What a file keeps beside the values."""
        return {"kind": self.kind, "columns": "compact" if self.compact else "classes"}


def names_of(classes: NDArray[Any], compact: bool) -> tuple[str, ...]:
    return COMPACT if compact else tuple(str(each) for each in classes.tolist())


def scores_from_file(header: Any, values: NDArray[Any], classes: NDArray[Any]) -> Scores:
    """Scores from what a file keeps. A ValueError says what cannot be."""
    known = isinstance(header, dict) and header.get("kind") in KINDS[1:]
    require(known, "it does not say of which kind its scores are")
    require(header.get("columns") in ("compact", "classes"), "it does not say what the columns of its scores are")
    return Scores(values, str(header["kind"]), names_of(classes, header["columns"] == "compact"))


# How refits keep scores


@dataclass(frozen=True)
class ScoreForm:
    """How the scores of one refit are kept: those of all `classes`, or compact.

    With `both`, in 64 bits: scores to rank by, and after them probabilities, as out-of-fold figures need them.
    """

    classes: NDArray[Any]
    both: bool = False

    @property
    def compact(self) -> bool:
        """Whether only the true and the three best classes are kept."""
        return bool(self.classes.size > MOST_FULL) and not self.both

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.both else np.float32)

    @property
    def width(self) -> int:
        return len(COMPACT) if self.compact else int(self.classes.size) * (2 if self.both else 1)

    def bytes_of(self, answers: int) -> int:
        """Memory of the scores of so many predictions."""
        return self.dtype.itemsize * self.width * answers

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        return np.full((*shape, self.width), np.nan, dtype=self.dtype)

    def read(self, scored: ClassScores, truth: AnyInts | None) -> Float32s:
        """The scores (n, width) of one refit; `truth` are the true classes, None of points that have none."""
        codes = np.searchsorted(self.classes, scored.classes)
        if (codes >= self.classes.size).any() or (self.classes[codes] != scored.classes).any():
            raise ValueError("it scores classes that the data do not have")
        absent = 0.0 if scored.kind == PROBABILITY else np.nan
        full = np.full((len(scored.values), self.classes.size), absent)
        full[:, codes] = scored.values
        if not self.compact:
            return full.astype(np.float32)
        rows = np.arange(len(full))
        # Stable, so that of equal scores the first class counts as the best.
        best = np.argsort(np.where(np.isnan(full), np.inf, -full), axis=1, kind="stable")[:, :3]
        true = np.full(len(full), np.nan) if truth is None else full[rows, truth]
        return np.column_stack([true, np.take_along_axis(full, best, axis=1), best]).astype(np.float32)


def ranking_and_probabilities(fitted: Fitted, X: Any, classes: NDArray[Any]) -> Floats:
    """(n, 2C): what ranks best (decision values, else log-probabilities), then probabilities; NaN where there are none.

    A fit whose training rows lack a class gives neither: its numbers are not comparable with those of other fits.
    """
    size = classes.size
    both = np.full((X.shape[0], 2 * size), np.nan)
    estimator = fitted.estimator
    if not hasattr(estimator, "classes_"):
        return both
    if not np.array_equal(as_given(label_array(estimator.classes_, "classes_"), fitted.indexed), classes):
        return both
    with suppress(InputError):  # its labels are still good
        both[:, :size] = scores_of(estimator, X.copy())
    if hasattr(estimator, "predict_proba"):
        try:
            values = np.asarray(estimator.predict_proba(X), dtype=float)
        except Exception:  # a learner may raise anything; its labels are still good
            return both
        if values.shape == (len(both), size) and np.isfinite(values).all() and (values >= 0).all():
            both[:, size:] = values
    return both


# Scores from elsewhere


def is_probability(values: NDArray[Any]) -> bool:
    """Whether numbers (…, C) are probabilities: from 0 to 1, with a sum of 1 over classes."""
    within = values.size > 0 and bool((values >= 0).all() and (values <= 1).all())
    return within and bool((np.abs(values.sum(axis=-1) - 1) <= SUM_REACH).all())


def scores_from_arrays(
    scores: ArrayLike, name: str, answers: NDArray[Any], classes: NDArray[Any], order: NDArray[Any] | None, kind: Any
) -> Scores:
    """Scores of predictions (K, R, n), given as (…, C), or of two classes as one number each, that of the second.

    `order` has the classes of the columns, if they are not in order; without a `kind`, numbers from 0 to 1 that sum to
    1 over classes are probabilities.
    """
    try:
        values = np.asarray(scores, dtype=float)
    except (ValueError, TypeError) as error:
        raise InputError(f"`{name}` is not an array of numbers ({error}). All rows must be equally long.") from error
    shape = values.shape
    kind = None if kind is None else one_of(kind, "score_kind", KINDS[1:])
    least, most = (values.min(), values.max()) if values.size else (0.0, 0.0)
    if classes.size == 2 and values.ndim in (2, 3) and shape in (answers.shape, (len(answers), answers.shape[2])):
        kind = kind or (PROBABILITY if least >= 0 and most <= 1 else DECISION)
        values = np.stack([1 - values if kind == PROBABILITY else -values, values], axis=-1)
    values = values[:, None] if values.ndim == 3 and answers.shape[1] == 1 else values
    if values.shape != (*answers.shape, classes.size):
        raise InputError(
            f"`{name}` has shape {shape} but there are {answers.shape[0]} subsets, {answers.shape[1]} refits, "
            f"{answers.shape[2]} points and {classes.size} classes; expected (subsets, refits, points, classes), or "
            "for two classes (subsets, refits, points)."
        )
    if not np.isfinite(values).all():
        raise InputError(f"`{name}` has values that are missing or infinite; every point needs a finite number.")
    if order is not None:
        values = values[..., np.argsort(order)]
    sums = is_probability(values)
    if kind == PROBABILITY and not sums:
        raise InputError(
            f"`{name}` are given as probabilities but are not all from 0 to 1 with a sum of 1 over classes. Normalise "
            "them, or pass score_kind='decision'."
        )
    kind = kind or (PROBABILITY if sums else DECISION)
    return Scores(values.astype(np.float32), kind, names_of(classes, compact=False))
