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
from ..learners import as_given, numbered
from . import examine
from .answers import Answers

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Bench:
    """What every refit needs, sent once to each worker."""

    learner: Any
    X: Any
    y: NDArray[Any]
    answers: Answers
    test: Ints
    probes: Any
    free: tuple[str, ...]
    seed: int
    time_limit: float | None


@dataclass
class Answer:
    """What the refits of one subset gave; rows are refits."""

    test: NDArray[Any]
    probes: NDArray[Any] | None
    quality: NDArray[np.float64]
    seconds: NDArray[np.float64]
    errors: dict[int, str]
    warnings: list[set[str]]
    drew: bool = False

    def same_twice(self) -> bool:
        """Whether the first two refits agree on everything; not if they drew from numpy's global generator.

        On few points dice may well fall the same way twice.
        """
        if self.drew:
            return False
        arrays = [self.test, self.quality]
        if self.probes is not None:
            arrays.append(self.probes)
        return not self.errors and all(np.array_equal(array[0], array[1]) for array in arrays)


Task = tuple[int, Ints, tuple[int, ...]]  # subset, its training rows, its refits

# Warning filters and global generators belong to the process, so refits on threads of one process take turns.
turn = threading.RLock()


def refit(bench: Bench, task: Task) -> Answer:
    """Fit the learner on one subset, several times, and ask it on the test points. Runs in a worker."""
    with turn:
        return _refit(bench, *task)


def _refit(bench: Bench, subset: int, rows: Ints, refits: tuple[int, ...]) -> Answer:
    own = np.unique(rows)
    # Test points and training rows are asked in one call: half the overhead of two.
    asked_rows = np.concatenate([bench.test, own])
    # Quality on the training rows counts a row as often as it was drawn.
    times = np.bincount(np.searchsorted(own, rows), minlength=own.size)
    answers = bench.answers
    truth = answers.truth(bench.y[own])
    n_probes = 0 if bench.probes is None else bench.probes.shape[0]
    on_test = answers.empty((len(refits), bench.test.size))
    on_probes = answers.empty((len(refits), n_probes))
    quality, seconds = np.full((2, len(refits)), np.nan)
    errors: dict[int, str] = {}
    said: list[set[str]] = [set() for _ in refits]
    drew = False
    for place, repeat in enumerate(refits):
        # Anew for each refit, because a learner may write into what it is given.
        X_train, y_train, X_asked = examine.take(bench.X, rows), bench.y[rows], examine.take(bench.X, asked_rows)
        begin = time.perf_counter()
        try:
            with warnings.catch_warnings(record=True) as caught, global_seed(bench.seed, subset, repeat) as process:
                warnings.simplefilter("always")
                fresh = clone(bench.learner)
                if bench.free:
                    own_seeds = seeds.integers(bench.seed, "refit", subset, repeat, count=len(bench.free))
                    fresh.set_params(**dict(zip(bench.free, own_seeds)))
                told, numbers_of = numbered(fresh, y_train)
                with work.limit(bench.time_limit):
                    fresh.fit(X_train, told)
                asked = answers.read(as_given(fresh.predict(X_asked), numbers_of), asked_rows.size)
                if bench.probes is not None:
                    predicted = as_given(fresh.predict(bench.probes.copy()), numbers_of)
                    on_probes[place] = answers.read(predicted, n_probes)
                drew |= process.drawn()
            on_test[place] = asked[: bench.test.size]
            quality[place] = answers.fit_quality(asked[bench.test.size :], truth, times)
            said[place] = {headline(each) for each in caught}
        except Exception as error:  # a learner may raise anything; the others go on
            errors[repeat] = f"{type(error).__name__}: {error}"
        seconds[place] = time.perf_counter() - begin
    kept = on_probes if bench.probes is not None else None
    return Answer(on_test, kept, quality, seconds, errors, said, drew)


def headline(warning: warnings.WarningMessage) -> str:
    first = str(warning.message).strip().partition("\n")[0]
    return f"{warning.category.__name__}: {first}"


class global_seed:
    """Seed numpy's and Python's global generators for learners that draw from them, and put them back after."""

    def __init__(self, seed: int, subset: int, refit: int) -> None:
        self.seed = seeds.integers(seed, "global", subset, refit, count=1)[0]

    def __enter__(self) -> global_seed:
        self.before = np.random.get_state(), random.getstate()
        np.random.seed(self.seed)
        random.seed(self.seed)
        self.begin = _state()
        return self

    def drawn(self) -> bool:
        """Whether anything was drawn from numpy's since. Python's tells nothing: other threads of a cluster use it."""
        return _state() != self.begin

    def __exit__(self, *_: object) -> None:
        np.random.set_state(self.before[0])
        random.setstate(self.before[1])


def _state() -> tuple[bytes, int]:
    _, keys, place, *_ = np.random.get_state()
    return np.asarray(keys).tobytes(), int(place)


def joined(first: Answer, second: Answer) -> Answer:
    """The refits of one subset from two tasks."""
    probes = None
    if first.probes is not None and second.probes is not None:
        probes = np.concatenate([first.probes, second.probes])
    return Answer(
        np.concatenate([first.test, second.test]),
        probes,
        np.concatenate([first.quality, second.quality]),
        np.concatenate([first.seconds, second.seconds]),
        first.errors | second.errors,
        first.warnings + second.warnings,
        first.drew or second.drew,
    )
