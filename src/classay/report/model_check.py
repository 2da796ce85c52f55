"""What is asked of a model's predictions: against the geometry, its errors by complexity and confidence, and slices."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ..arrays import Floats, Ints, Mask
from ..data.model.baseline import ComplexityAgainst, VersusBaseline
from ..data.model.error_slices import Slices, slices
from ..data.row_complexity import Complexity
from ..estimators.scores import fit_scorer
from ..estimators.trial import ready
from ..expect import InputError, counted, nearest, shown
from ..inputs import class_labels, encode
from ..learner.fitting.folds import Folds
from ..learner.record import record
from ..learner.records.base import OutOfFold
from ..learner.records.labelings import Labelings
from ..learner.records.scores import ranking_and_probabilities
from .run.settings import FOLDS

ADDED = ("complexity", "confidence")
"""What is known of a row besides its columns, and searched for slices like a column."""
OFF_ONE = 0.01
"""Probabilities of a row may add up to 1 up to this."""
MOST_COLUMNS = 100
"""Each column alone is searched in tables with at most so many columns."""


@dataclass(frozen=True)
class ModelPredictions:
    """The class that a model predicts for each row, and its probabilities and confidence, as far as they are known."""

    predicted: NDArray[Any]
    probabilities: Floats | None = None
    confidence: Floats | None = None

    @classmethod
    def of_probabilities(
        cls, shares: Floats, classes: NDArray[Any], predicted: NDArray[Any] | None = None
    ) -> ModelPredictions:
        """From probabilities in the order of the classes; confidence is that of the prediction."""
        if predicted is None:
            return cls(classes[shares.argmax(axis=1)], shares, shares.max(axis=1))
        return cls(predicted, shares, _of_prediction(shares, predicted, classes))

    @classmethod
    def given(
        cls,
        predictions: ArrayLike | None,
        probabilities: ArrayLike | None,
        confidence: ArrayLike | None,
        classes: NDArray[Any],
        labels: NDArray[Any],
        source: str = "",
    ) -> ModelPredictions:
        """What a user gives, checked: one prediction for each of the `labels`, of a class of the data or among these.

        source : the file that they come from, for errors; empty if they are arguments
        """
        of = f"{source}: " if source else ""
        shares = None if probabilities is None else _checked_shares(probabilities, classes, labels.size, of)
        sure = None if confidence is None else _checked_confidence(confidence, labels.size, of)
        if predictions is None:
            if shares is None:
                raise InputError(f"{of}there are no predictions; expected classes, probabilities, or both.")
            return cls.of_probabilities(shares, classes)
        if np.ndim(predictions) == 1 and (count := np.shape(predictions)[0]) != labels.size:
            raise InputError(
                f"{of}There are {counted(count, 'prediction')} for {labels.size} rows; expected one for each row, in "
                "the same order."
            )
        predicted = _spelled(class_labels(predictions, "predictions", labels.size), classes, labels, of)
        return cls(predicted, None, sure) if shares is None else cls.of_probabilities(shares, classes, predicted)

    @classmethod
    def of_learner(
        cls, predicted: NDArray[Any], probabilities: Floats | None, scores: Floats | None, classes: NDArray[Any]
    ) -> ModelPredictions:
        """From what a learner gives: its probabilities, or a confidence made of its scores, a column for each class."""
        if probabilities is not None and probabilities.shape[1] == classes.size:
            total = probabilities.sum(axis=1, keepdims=True)
            if (np.abs(total - 1) <= OFF_ONE).all():
                return cls.of_probabilities(probabilities / total, classes, predicted)
        if scores is None or scores.shape[1] != classes.size:
            return cls(predicted)
        with np.errstate(invalid="ignore"):
            shares = special.softmax(scores, axis=1)
        # Scores are on no scale of probabilities: their shares only rank rows.
        known = np.isfinite(shares).all()
        return cls(predicted, None, _of_prediction(shares, predicted, classes)) if known else cls(predicted)

    def wrong(self, labels: NDArray[Any]) -> Mask:
        """Which rows are predicted wrongly."""
        # Wide enough for both: a shorter text would cut a longer one to another class.
        kind = np.result_type(self.predicted, labels)
        return np.asarray(self.predicted.astype(kind) != labels.astype(kind))


@dataclass(frozen=True)
class Given:
    """What a user gives of a model's predictions, before the rows are known."""

    predictions: ArrayLike | None
    probabilities: ArrayLike | None = None
    confidence: ArrayLike | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what is given."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name) is not None)

    def checked(self, classes: NDArray[Any], labels: NDArray[Any]) -> ModelPredictions:
        """The predictions for rows with these labels, of classes that were trained on."""
        return ModelPredictions.given(self.predictions, self.probabilities, self.confidence, classes, labels)


def _of_prediction(shares: Floats, predicted: NDArray[Any], classes: NDArray[Any]) -> Floats:
    """The share of each prediction, 0 for a class that was not trained on."""
    codes = encode(predicted, np.asarray(classes.tolist()))  # of a table, classes are objects
    return np.asarray(np.where(codes < 0, 0.0, shares[np.arange(codes.size), codes]))


def _checked_shares(probabilities: ArrayLike, classes: NDArray[Any], rows: int, of: str) -> Floats:
    try:
        table = np.asarray(probabilities, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{of}probabilities are not all numbers; expected one for each row and class.") from None
    if table.shape != (rows, classes.size):
        shape = " x ".join(map(str, table.shape)) or "one number"
        raise InputError(
            f"{of}probabilities are {shape}; expected {rows} rows x {classes.size} classes ({shown(classes, 5)})."
        )
    odd = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if odd.size:
        raise InputError(f"{of}probabilities are missing in {counted(odd.size, 'row')}, first in row {odd[0]}.{FROM_0}")
    total = table.sum(axis=1, keepdims=True)
    odd = np.flatnonzero((table < 0).any(axis=1) | (np.abs(total[:, 0] - 1) > OFF_ONE))
    if odd.size:
        row = ", ".join(f"{value:.3g}" for value in table[odd[0], :5])
        raise InputError(
            f"{of}probabilities do not add up to 1, or are negative, in {counted(odd.size, 'row')}, first in row "
            f"{odd[0]} ({row}{', …' if table.shape[1] > 5 else ''}).{FROM_0} Pass predict_proba, not scores or percent."
        )
    return np.asarray(table / total)


FROM_0 = " Rows are counted from 0."


def _checked_confidence(confidence: ArrayLike, rows: int, of: str) -> Floats:
    try:
        values = np.asarray(confidence, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (rows,) or not np.isfinite(values).all():
        raise InputError(f"{of}confidence must be a finite number for each of the {rows} rows.")
    return values


def _spelled(predicted: NDArray[Any], classes: NDArray[Any], labels: NDArray[Any], of: str) -> NDArray[Any]:
    """Predictions in the spelling of the classes: 1.0 and "1" are the class 1. Any other class is an error."""
    known = (*labels.tolist(), *classes.tolist())
    by_text = {_plain_text(each): each for each in known} | {str(each): each for each in known}
    spelled, unknown = [], []
    for each in predicted.tolist():
        text = _plain_text(each)
        found = by_text.get(str(each), by_text.get(text))
        spelled.append(found)
        if found is None:
            unknown.append(text)
    if unknown:
        names = list(dict.fromkeys(unknown))
        raise InputError(
            f"{of}{counted(len(unknown), 'prediction')} of {predicted.size} "
            f"{'is not a class' if len(unknown) == 1 else 'are not classes'} of the data: {shown(names, 4)}; expected "
            f"{shown(classes, 5)}.{nearest(names[0], map(str, classes))} Is it the right column?"
        )
    return np.asarray(spelled)


def _plain_text(label: Any) -> str:
    """A label as text, whole numbers without a point."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


@dataclass(frozen=True)
class ModelCheck:
    """The results for one model; what its errors do not allow is None, and `why` says so.

    `slices` are of the columns alone. `known_slices` are of `searched`: the columns of the rows, their complexity, and
    the model's confidence, under names (`added`) that no column has. These two are apart because complexity knows the
    label: slices of it are the clearest, and would push out those that say which rows to look at.
    """

    name: str
    predictions: ModelPredictions
    versus: VersusBaseline
    against: ComplexityAgainst | None
    slices: Slices | None
    known_slices: Slices | None
    by_column: pd.DataFrame | None
    searched: pd.DataFrame
    added: tuple[str, ...] = ()
    why: str = ""


def check_model(
    name: str,
    result: Complexity,
    frame: pd.DataFrame,
    predictions: ModelPredictions,
    groups: Any = None,
    seed: int = 0,
    columns_alone: bool = True,
) -> ModelCheck:
    """Compare a model with the geometry on the rows of `result`, whose columns are in `frame`.

    columns_alone : whether to also search slices of the columns alone; a report has them already
    """
    versus = result.versus(predictions.predicted)
    wrong = predictions.wrong(result.labels)
    own = searched = frame.reset_index(drop=True)
    added = {"complexity": result.values, "confidence": predictions.confidence}
    names = {each: each if each not in searched else f"{each} (classay)" for each in ADDED if added[each] is not None}
    searched = searched.assign(**{new: added[each] for each, new in names.items()})
    check = ModelCheck(name, predictions, versus, None, None, None, None, searched, tuple(names.values()))
    if wrong.all() or not wrong.any():
        return replace(check, why=f"Every prediction is {'wrong' if wrong.all() else 'right'}.")
    check = replace(check, against=result.against(wrong, predictions.confidence))
    options: dict[str, Any] = {"random_state": seed, "groups": groups}
    try:
        if columns_alone:
            check = replace(check, slices=slices(own, wrong, **options))
        known = slices(searched, wrong, by_column=searched.shape[1] <= MOST_COLUMNS, **options)
        check = replace(check, known_slices=known, by_column=known.by_column)
    except InputError as too_little:
        return replace(check, why=str(too_little))
    return check


def check_held_out(
    name: str, held: OutOfFold, measured: Ints, result: Complexity, frame: pd.DataFrame, seed: int
) -> ModelCheck:
    """The same of cross-validated predictions, on those measured rows that have one.

    `measured` are the rows of `result`, in order; `frame` has all rows of the data.
    """
    rows, at, places = np.intersect1d(measured, held.rows, assume_unique=True, return_indices=True)
    known = result if rows.size == len(result) else _part(result, at)
    classes = result.classes
    shares, scores = (None if each is None else each[places] for each in (held.probabilities, held.scores))
    predictions = ModelPredictions.of_learner(classes[held.labels[places]], shares, scores, classes)
    part = frame if rows.size == len(frame) else frame.iloc[rows]
    return check_model(name, known, part, predictions, known.evidence.row_groups, seed, columns_alone=False)


def _part(result: Complexity, rows: Ints) -> Complexity:
    """The figures of some rows, by the same geometry; not for its methods, which measure rows again."""
    per_row = ("values", "labels", "predicted", "nearest", "own_distance", "nearest_distance", "known")
    evidence = copy(result.evidence)
    evidence.row_groups = None if evidence.row_groups is None else evidence.row_groups[rows]
    return replace(result, distances=None, evidence=evidence, **{name: getattr(result, name)[rows] for name in per_row})


def predictions_of(
    learner: Any,
    X: Any,
    labels: NDArray[Any],
    classes: NDArray[Any],
    X_test: Any = None,
    groups: Any = None,
    texts: tuple[str, ...] = (),
    seed: int = 0,
) -> ModelPredictions:
    """Predictions of a learner: for the test rows by a fit on all others, or cross-validated without test rows."""
    usable = ready(learner, X, labels, seed, texts).learner
    if X_test is None:
        folds = record(usable, X, labels, Folds(FOLDS), groups=groups, random_state=seed, executor=1)
        assert isinstance(folds, Labelings)
        held = folds.out_of_fold()
        return ModelPredictions.of_learner(classes[held.labels], held.probabilities, held.scores, classes)
    fitted = fit_scorer(usable, X, labels, seed)
    both = np.split(ranking_and_probabilities(fitted, X_test, classes), 2, axis=1)
    scores, probabilities = (None if np.isnan(each).any() else each for each in both)
    return ModelPredictions.of_learner(fitted.predict(X_test), probabilities, scores, classes)
