"""Cross-validated predictions and scores: each row is predicted by a fit that has not seen it."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import seeds
from ..arrays import Floats, Ints
from ..data.cross_fit import assign_folds
from ..engine import work
from ..estimators.adapters import short_name
from ..estimators.encoder import encoded
from ..estimators.scores import fit_scorer
from ..expect import InputError
from ..inputs import at_even_steps, sorted_by_class, take
from .budget import FOLDS


@dataclass(frozen=True)
class HeldOut:
    """`labels[i]`: the class code that a fit without the fold of row i predicts; `scores` (n, c), if there are any."""

    labels: Ints
    scores: Floats | None
    rows: int


@dataclass(frozen=True)
class _Folds:
    learner: Any
    X: Any
    codes: Ints
    classes: NDArray[Any]
    fold_of_row: Ints
    rows: int | None
    seed: int


def held_out(
    learner: Any,
    X: Any,
    codes: Ints,
    rows: int | None = None,
    seed: int = 0,
    executor: Executor | int | None = None,
    progress: bool = False,
    label: str = "",
    classes: NDArray[Any] | None = None,
) -> HeldOut:
    """For each of five stratified folds, fit a learner on the other folds and predict this one.

    `rows` limits the number of rows of a fit, drawn by class; `classes` are the labels of the codes. Raises InputError
    if a fit fails.
    """
    folds = assign_folds(codes, FOLDS, seed)
    shared = _Folds(
        encoded(learner, X), X, codes, np.arange(codes.max() + 1) if classes is None else classes, folds, rows, seed
    )
    outcome = work.run(_predict_fold, range(FOLDS), shared=shared, executor=executor, progress=progress, label=label)
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failures:
        raise InputError(str(next(iter(outcome.failures.values()))))
    labels = np.empty(codes.size, dtype=np.int64)
    scored = [outcome.results[fold][1] for fold in range(FOLDS)]
    scores = None if any(each is None for each in scored) else np.empty((codes.size, int(codes.max()) + 1))
    for fold in range(FOLDS):
        here = folds == fold
        labels[here] = outcome.results[fold][0]
        if scores is not None:
            scores[here] = scored[fold]
    return HeldOut(labels, scores, min(outcome.results[fold][2] for fold in range(FOLDS)))


def _predict_fold(folds: _Folds, fold: int) -> tuple[Ints, Floats | None, int]:
    """Labels and scores of the rows of one fold. Runs in a worker."""
    train = np.flatnonzero(folds.fold_of_row != fold)
    if folds.rows is not None and folds.rows < train.size:
        train = _fewer(train, folds.codes[train], folds.rows, folds.seed, fold)
    here = take(folds.X, np.flatnonzero(folds.fold_of_row == fold))
    # In the user's labels: settings such as class_weight refer to them.
    scorer = fit_scorer(folds.learner, take(folds.X, train), folds.classes[folds.codes[train]], folds.seed, fold)
    answered = scorer.predict(here)
    labels = np.minimum(np.searchsorted(folds.classes, answered), folds.classes.size - 1)
    if (folds.classes[labels] != answered).any():
        raise InputError(f"{short_name(folds.learner)} predicts labels that are not among the classes.")
    scores = None
    if len(scorer.classes) == int(folds.codes.max()) + 1:
        try:
            scores = scorer.scores(here)
        except InputError:
            scores = None
    return labels, scores, train.size


def _fewer(rows: Ints, codes: Ints, wanted: int, seed: int, fold: int) -> Ints:
    """A stratified subset of the rows: every class keeps its share, and at least one row."""
    generator = seeds.generator(seed, "fewer", fold)
    order = sorted_by_class(codes, generator)
    kept = at_even_steps(order, wanted, generator)
    absent = np.setdiff1d(codes, codes[kept])
    more = [order[codes[order] == code][:1] for code in absent]
    return np.sort(rows[np.concatenate([kept, *more])])
