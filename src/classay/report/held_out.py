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
) -> HeldOut:
    """Fit a learner on the other folds, for each of five folds by class, and ask it on this one.

    `rows` limits how many rows a fit has, drawn by class. Raises InputError if a fit fails.
    """
    folds = assign_folds(codes, FOLDS, seed)
    bench = _Bench(encoded(learner, X), X, codes, folds, rows, seed)
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
    classifier, known, _ = fitted(bench.learner, take(bench.X, train), bench.codes[train], bench.seed, fold)
    labels = np.asarray(classifier.predict(here)).astype(np.int64)
    if not np.array_equal(known, classifier.classes_):  # it was told numbers without a gap
        labels = known[labels]
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
