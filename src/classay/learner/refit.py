"""One task of `record`: fit a learner on one subset, several times, and keep what it answers. Runs in a worker."""

from __future__ import annotations

import random
import threading
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .. import seeds
from ..engine import work
from . import examine
from .labelings import MISSING, code_type, plain

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Bench:
    """What every refit needs, sent once to each worker."""

    learner: Any
    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    test: Ints
    probes: Any
    free: tuple[str, ...]
    seed: int
    time_limit: float | None


@dataclass
class Answer:
    """What the refits of one subset gave; rows are refits."""

    labels: NDArray[np.integer]
    probe_labels: NDArray[np.integer] | None
    train_accuracy: NDArray[np.float64]
    seconds: NDArray[np.float64]
    errors: dict[int, str]
    warnings: list[set[str]]

    def same_twice(self) -> bool:
        """Whether the first two refits agree on everything."""
        arrays = [self.labels, self.train_accuracy]
        if self.probe_labels is not None:
            arrays.append(self.probe_labels)
        return not self.errors and all(np.array_equal(array[0], array[1]) for array in arrays)


Task = tuple[int, Ints, tuple[int, ...]]  # subset, its training rows, its refits

# Warning filters and global generators belong to the process, so refits on threads of one process take turns.
_turn = threading.RLock()


def refit(bench: Bench, task: Task) -> Answer:
    """Fit the learner on one subset, several times, and label the test points. Runs in a worker."""
    with _turn:
        return _refit(bench, *task)


def _refit(bench: Bench, subset: int, rows: Ints, refits: tuple[int, ...]) -> Answer:
    own = np.unique(rows)
    # Test points and training rows are labelled in one call: half the overhead of two.
    asked_rows = np.concatenate([bench.test, own])
    # Accuracy on the training rows counts a row as often as it was drawn.
    times = np.bincount(np.searchsorted(own, rows), minlength=own.size)
    truth = np.searchsorted(bench.classes, bench.y[own])
    codes = code_type(bench.classes.size)
    n_probes = 0 if bench.probes is None else bench.probes.shape[0]
    labels = np.full((len(refits), bench.test.size), MISSING, dtype=codes)
    probe_labels = np.full((len(refits), n_probes), MISSING, dtype=codes)
    train_accuracy, seconds = np.full((2, len(refits)), np.nan)
    errors: dict[int, str] = {}
    said: list[set[str]] = [set() for _ in refits]
    for place, repeat in enumerate(refits):
        # Anew for each refit, because a learner may write into what it is given.
        X_train, y_train, X_asked = examine.take(bench.X, rows), bench.y[rows], examine.take(bench.X, asked_rows)
        begin = time.perf_counter()
        try:
            with warnings.catch_warnings(record=True) as caught, _global_seed(bench.seed, subset, repeat):
                warnings.simplefilter("always")
                fresh = clone(bench.learner)
                if bench.free:
                    own_seeds = seeds.integers(bench.seed, "refit", subset, repeat, count=len(bench.free))
                    fresh.set_params(**dict(zip(bench.free, own_seeds)))
                with work.limit(bench.time_limit):
                    fresh.fit(X_train, y_train)
                asked = _codes(fresh.predict(X_asked), bench.classes, asked_rows.size)
                if bench.probes is not None:
                    probe_labels[place] = _codes(fresh.predict(bench.probes.copy()), bench.classes, n_probes)
            labels[place] = asked[: bench.test.size]
            train_accuracy[place] = np.average(asked[bench.test.size :] == truth, weights=times)
            said[place] = {_headline(each) for each in caught}
        except Exception as error:  # a learner may raise anything; the others go on
            errors[repeat] = f"{type(error).__name__}: {error}"
        seconds[place] = time.perf_counter() - begin
    kept = probe_labels if bench.probes is not None else None
    return Answer(labels, kept, train_accuracy, seconds, errors, said)


def _headline(warning: warnings.WarningMessage) -> str:
    first = str(warning.message).strip().partition("\n")[0]
    return f"{warning.category.__name__}: {first}"


class _global_seed:
    """Seed numpy's and Python's global generators for learners that draw from them, and put them back after."""

    def __init__(self, seed: int, subset: int, refit: int) -> None:
        self.seed = seeds.integers(seed, "global", subset, refit, count=1)[0]

    def __enter__(self) -> None:
        self.before = np.random.get_state(), random.getstate()
        np.random.seed(self.seed)
        random.seed(self.seed)

    def __exit__(self, *_: object) -> None:
        np.random.set_state(self.before[0])
        random.setstate(self.before[1])


def _codes(answers: Any, classes: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Turn what a classifier answers into codes; an answer that is no known class is an error."""
    given = np.asarray(answers)
    if given.shape not in ((count,), (count, 1)):
        raise ValueError(f"it answered an array of shape {given.shape} for {count} rows; one label a row is expected")
    given = plain(given.reshape(count))
    if classes.dtype.kind == "U":
        given = given.astype(str)
    codes = np.minimum(np.searchsorted(classes, given), classes.size - 1)
    strange = classes[codes] != given
    if strange.any():
        raise ValueError(f"it answered {given[strange][0].item()!r}, which is not among the classes")
    return codes


def joined(first: Answer, second: Answer) -> Answer:
    """The refits of one subset from two tasks."""
    probe_labels = None
    if first.probe_labels is not None and second.probe_labels is not None:
        probe_labels = np.concatenate([first.probe_labels, second.probe_labels])
    return Answer(
        np.concatenate([first.labels, second.labels]),
        probe_labels,
        np.concatenate([first.train_accuracy, second.train_accuracy]),
        np.concatenate([first.seconds, second.seconds]),
        first.errors | second.errors,
        first.warnings + second.warnings,
    )
