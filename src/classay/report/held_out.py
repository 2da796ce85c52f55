"""What a learner answers on every row when it has not seen it: cross-validated labels and scores."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import seeds
from ..classes.scoring import fitted, scores_of, take
from ..data.crossfit import assign_folds
from ..encoding import encoded
from ..engine import work
from ..expect import InputError
from ..learners import as_given, numbered, short_name
from .plan import FOLDS

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HeldOut:
    """`labels[i]`: the class code that a fit without the fold of row i answers; `scores` (n, c), if it gives any."""

    labels: Ints
    scores: Floats | None
    rows: int


@dataclass(frozen=True)
class _Bench:
    learner: Any
    X: Any
    codes: Ints
    classes: NDArray[Any]
    folds: Ints
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
    """Fit a learner on the other folds, for each of five folds by class, and ask it on this one.

    `rows` limits how many rows a fit has, drawn by class; `classes` are what the codes stand for. Raises InputError if
    a fit fails.
    """
    folds = assign_folds(codes, FOLDS, seed)
    bench = _Bench(
        encoded(learner, X), X, codes, np.arange(codes.max() + 1) if classes is None else classes, folds, rows, seed
    )
    outcome = work.run(_ask, range(FOLDS), shared=bench, executor=executor, progress=progress, label=label)
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


def _ask(bench: _Bench, fold: int) -> tuple[Ints, Floats | None, int]:
    """Labels and scores of the rows of one fold. Runs in a worker."""
    train = np.flatnonzero(bench.folds != fold)
    if bench.rows is not None and bench.rows < train.size:
        train = _fewer(train, bench.codes[train], bench.rows, bench.seed, fold)
    here = take(bench.X, np.flatnonzero(bench.folds == fold))
    # In the user's words: settings such as class_weight go by them.
    given = bench.classes[bench.codes]
    classifier, known, _ = fitted(bench.learner, take(bench.X, train), given[train], bench.seed, fold)
    _, numbers_of = numbered(bench.learner, given[train])
    answered = as_given(classifier.predict(here), numbers_of)
    labels = np.minimum(np.searchsorted(bench.classes, answered), bench.classes.size - 1)
    if (bench.classes[labels] != answered).any():
        raise InputError(f"{short_name(bench.learner)} answers with labels that are not among the classes.")
    scores = None
    if len(known) == int(bench.codes.max()) + 1:
        try:
            scores = scores_of(classifier, here)
        except InputError:
            scores = None
    return labels, scores, train.size


def _fewer(rows: Ints, codes: Ints, wanted: int, seed: int, fold: int) -> Ints:
    """Some of the rows, at even steps of an order by class: every class keeps its share, and at least one row."""
    generator = seeds.generator(seed, "fewer", fold)
    order = generator.permutation(rows.size)
    order = order[np.argsort(codes[order], kind="stable")]
    kept = order[((np.arange(wanted) + generator.random()) * rows.size / wanted).astype(np.int64)]
    absent = np.setdiff1d(codes, codes[kept])
    more = [order[codes[order] == code][:1] for code in absent]
    return np.sort(rows[np.concatenate([kept, *more])])
