"""Cross-validated predictions and scores: each row is predicted by a fit that has not seen it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import seeds
from ...arrays import Floats, Ints, Mask
from ...engine import work
from ...estimators.adapters import short_name
from ...estimators.fit import guard, turn
from ...estimators.scores import Scorer, fit_scorer
from ...expect import InputError
from ...inputs import take
from ...splits import NOTHING, PerRow, at_even_steps, fold_of_rows, sorted_by_class, train_rows_of_fold

FOLDS = 5
MOSTLY = 0.9
"""Fits on this share of the available rows are as good as fits on all of them."""


@dataclass(frozen=True)
class HeldOut:
    """`labels[i]`: the class code that a fit without the fold of row `tested[i]` predicts; `scores` (n, c), if any.

    `rows` is the smallest number of rows of a fit, `available` what it could have been. `probabilities` (n, c) are
    those of `predict_proba`, if the learner has it.
    """

    labels: Ints
    scores: Floats | None
    rows: int
    tested: Ints
    available: int
    probabilities: Floats | None = None

    @property
    def is_full(self) -> bool:
        """Whether fits had nearly all rows that they could have."""
        return self.rows >= MOSTLY * self.available

    def right(self, codes: Ints) -> Mask:
        """Which of the tested rows are predicted correctly, given the codes of all rows."""
        return np.asarray(self.labels == codes[self.tested])


@dataclass(frozen=True)
class Folds:
    """The rows and their folds: what learners are fitted and tested on.

    `tested` are the rows to predict, in order: all of them, or a sample. `classes` are the labels of the codes.
    """

    X: Any
    codes: Ints
    classes: NDArray[Any]
    fold_of_row: Ints
    tested: Ints
    seed: int
    per_row: PerRow = NOTHING

    @classmethod
    def of(
        cls,
        X: Any,
        codes: Ints,
        classes: NDArray[Any] | None = None,
        seed: int = 0,
        tested: Ints | None = None,
        per_row: PerRow = NOTHING,
    ) -> Folds:
        """Five folds; rows that no fold has, as the first ones in time, are not tested."""
        folds = fold_of_rows(codes, FOLDS, seed, per_row)
        tested = np.arange(codes.size) if tested is None else tested
        names = np.arange(int(codes.max()) + 1) if classes is None else classes
        return cls(X, codes, names, folds, tested[folds[tested] >= 0], seed, per_row)

    @property
    def numbers(self) -> list[int]:
        """The folds that have rows to test."""
        return [int(fold) for fold in np.unique(self.fold_of_row[self.tested])]

    @property
    def available(self) -> int:
        """The smallest number of rows that a fit could have."""
        return min(train_rows_of_fold(self.fold_of_row, fold, self.per_row).size for fold in self.numbers)


@dataclass(frozen=True)
class _FoldJob:
    folds: Folds
    learners: tuple[Any, ...]
    rows: int | None


@dataclass(frozen=True)
class _FoldAnswers:
    labels: Ints
    scores: Floats | None
    probabilities: Floats | None
    rows: int


@dataclass(frozen=True)
class CrossValidation:
    """The predictions by learner, why others have none, and whether it was ended before all had theirs."""

    held_out: dict[str, HeldOut]
    failed: dict[str, str]
    interrupted: bool = False


def cross_validate(
    learners: Mapping[str, Any],
    folds: Folds,
    rows: int | None = None,
    executor: Executor | int | None = None,
    progress: bool = False,
    isolate: bool = False,
) -> CrossValidation:
    """For each fold, fit each learner on the other folds and predict this one: one fold of all learners, then the next.

    `rows` limits the number of rows of a fit, drawn by class; None: all.
    """
    names, numbers = list(learners), folds.numbers
    tasks = [(place, fold) for fold in numbers for place in range(len(names))]
    outcome = work.run(
        _predict_fold,
        tasks,
        shared=_FoldJob(folds, tuple(learners.values()), rows),
        executor=executor,
        progress=progress,
        label="cross-validation",
        isolate=isolate,
    )
    done: dict[int, dict[int, _FoldAnswers]] = {}
    for index, answers in outcome.results.items():
        place, fold = tasks[index]
        done.setdefault(place, {})[fold] = answers
    failed: dict[str, str] = {}
    for index, failure in outcome.failures.items():
        failed.setdefault(names[tasks[index][0]], str(failure).removeprefix("InputError: "))
    held = {
        names[place]: _joined(folds, by_fold) for place, by_fold in sorted(done.items()) if len(by_fold) == len(numbers)
    }
    return CrossValidation(held, failed, outcome.interrupted)


def _joined(folds: Folds, by_fold: dict[int, _FoldAnswers]) -> HeldOut:
    fold = folds.fold_of_row[folds.tested]
    labels = np.empty(folds.tested.size, dtype=np.int64)
    for number, each in by_fold.items():
        labels[fold == number] = each.labels
    return HeldOut(
        labels,
        _by_class(folds, {number: each.scores for number, each in by_fold.items()}),
        min(each.rows for each in by_fold.values()),
        folds.tested,
        folds.available,
        _by_class(folds, {number: each.probabilities for number, each in by_fold.items()}),
    )


def _by_class(folds: Folds, by_fold: dict[int, Floats | None]) -> Floats | None:
    """A number for every tested row and class, if every fold has them."""
    fold = folds.fold_of_row[folds.tested]
    joined = np.empty((folds.tested.size, folds.classes.size))
    for number, values in by_fold.items():
        if values is None:
            return None
        joined[fold == number] = values
    return joined


def _predict_fold(job: _FoldJob, task: tuple[int, int]) -> _FoldAnswers:
    """Labels and scores of the tested rows of one fold. Runs in a worker."""
    learner, fold, folds, rows = job.learners[task[0]], task[1], job.folds, job.rows
    train = train_rows_of_fold(folds.fold_of_row, fold, folds.per_row)
    if rows is not None and rows < train.size:
        train = fewer(train, folds.codes[train], rows, folds.seed, fold)
    here = take(folds.X, folds.tested[folds.fold_of_row[folds.tested] == fold])
    # In the user's labels: settings such as class_weight refer to them.
    scorer = fit_scorer(
        learner,
        take(folds.X, train),
        folds.classes[folds.codes[train]],
        folds.seed,
        fold,
        sample_weight=None if folds.per_row.weights is None else folds.per_row.weights[train],
    )
    answered = scorer.predict(here)
    labels = np.minimum(np.searchsorted(folds.classes, answered), folds.classes.size - 1)
    if (folds.classes[labels] != answered).any():
        raise InputError(f"{short_name(learner)} predicts labels that are not among the classes.")
    scores = probabilities = None
    if len(scorer.classes) == folds.classes.size:
        try:
            scores = scorer.scores(here)
        except InputError:
            scores = None
        probabilities = probabilities_of(scorer, here)
    return _FoldAnswers(labels, scores, probabilities, train.size)


def probabilities_of(scorer: Scorer, X: Any) -> Floats | None:
    """What `predict_proba` gives, if the learner has it and these are probabilities."""
    classifier = scorer.fitted.estimator
    if not hasattr(classifier, "predict_proba"):
        return None
    try:
        with turn, guard():
            given = np.asarray(classifier.predict_proba(X), dtype=float)
    except Exception:  # a learner may raise anything; its predictions stand
        return None
    fine = given.shape == (len(X), scorer.classes.size) and np.isfinite(given).all() and (given >= 0).all()
    return given if fine else None


def fewer(rows: Ints, codes: Ints, wanted: int, seed: int, *place: int) -> Ints:
    """A stratified subset of the rows: every class keeps its share, and at least one row."""
    generator = seeds.generator(seed, "fewer", *place)
    order = sorted_by_class(codes, generator)
    kept = at_even_steps(order, wanted, generator)
    absent = np.setdiff1d(codes, codes[kept])
    more = [order[codes[order] == code][:1] for code in absent]
    return np.sort(rows[np.concatenate([kept, *more])])
