"""The bare loop that recording is held against: fit and predict on a warm pool, and nothing else."""

from __future__ import annotations

import warnings
from typing import Any

import loky
import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from classay import Labelings, seeds
from classay.engine.pool import THREAD_VARIABLES
from classay.estimators.adapters import free_seeds

_held: tuple[Any, ...] = ()  # in a worker: what every task needs


class Bare:
    """The refits of a record, done again with the same rows and seeds by two workers who hold the data already."""

    def __init__(self, learner: Any, X: Any, y: Any, record: Labelings, seed: int, workers: int) -> None:
        names = free_seeds(learner)
        n_subsets, n_refits = record.present.shape
        settings = [
            [
                dict(zip(names, seeds.integers(seed, "refit", subset, refit, count=len(names))))
                for refit in range(n_refits)
            ]
            for subset in range(n_subsets)
        ]
        self.n_subsets = n_subsets
        self.pool = loky.ProcessPoolExecutor(
            workers,
            timeout=None,
            initializer=_settle,
            initargs=(learner, X, y, record.train_rows, record.test_rows, settings),
            env=dict.fromkeys(THREAD_VARIABLES, "1"),
        )

    def run(self, own_rows: bool, n_subsets: int | None = None) -> np.ndarray:
        """Answers on the test part, (K, R, n). With `own_rows`, each refit labels its training rows as well."""
        tasks = [self.pool.submit(_subset, subset, own_rows) for subset in range(n_subsets or self.n_subsets)]
        return np.stack([task.result() for task in tasks])

    def close(self) -> None:
        self.pool.shutdown(wait=True)


def _settle(*held: Any) -> None:
    global _held
    _held = held
    threadpool_limits(limits=1)  # as the record's workers do
    warnings.simplefilter("ignore")


def _subset(subset: int, own_rows: bool) -> np.ndarray:
    learner, X, y, train_rows, test_rows, settings = _held
    X_train, y_train, X_test = X[train_rows[subset]], y[train_rows[subset]], X[test_rows]
    answers = []
    for setting in settings[subset]:
        fresh = clone(learner).set_params(**setting)
        fresh.fit(X_train, y_train)
        answers.append(fresh.predict(X_test))
        if own_rows:
            (fresh.predict(X_train) == y_train).mean()
    return np.stack(answers)
