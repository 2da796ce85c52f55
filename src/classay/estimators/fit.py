"""One fit of a learner, as all of classay does it: a fresh copy, its seeds set, labels in a form that it accepts.

`fit_once` fits. `guard` keeps what a fit does to the process apart: warnings are collected, global generators are
seeded and put back. Warning filters and global generators belong to the process, so guarded fits on its threads take
turns.
"""

from __future__ import annotations

import random
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..arrays import Floats
from .adapters import as_given, numbered
from .weights import fit_weighted

turn = threading.RLock()


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator; `indexed` are the classes that its predictions index, None if they are labels already."""

    estimator: Any
    indexed: NDArray[Any] | None

    def predict(self, X: Any) -> NDArray[Any]:
        """Its predictions, as labels of the user."""
        return as_given(self.estimator.predict(X), self.indexed)


def fresh_copy(learner: Any, random_states: Mapping[str, int]) -> Any:
    """An unfitted copy, with these seeds."""
    fresh = clone(learner)
    if random_states:
        fresh.set_params(**random_states)
    return fresh


def fit_once(
    learner: Any,
    X: Any,
    y: NDArray[Any],
    random_states: Mapping[str, int] | None = None,
    limit: AbstractContextManager[Any] | None = None,
    sample_weight: Floats | None = None,
) -> Fitted:
    """Fit a copy of the learner on all rows. `limit` surrounds the fit alone, to stop one that takes too long."""
    fresh = fresh_copy(learner, random_states or {})
    labels, indexed = numbered(fresh, y)
    with limit or nullcontext():
        if sample_weight is None:
            fresh.fit(X, labels)
        else:
            fit_weighted(fresh, X, labels, sample_weight)
    return Fitted(fresh, indexed)


class Watched:
    """What happened inside `guard`."""

    def __init__(self, caught: list[warnings.WarningMessage], begin: tuple[bytes, int] | None) -> None:
        self._caught, self._begin = caught, begin

    def warnings(self) -> list[str]:
        """Category and first line of each warning, in order, each once."""
        return list(dict.fromkeys(_headline(each) for each in self._caught))

    def drew(self) -> bool:
        """Whether numpy's global generator was used. Python's is not checked: other threads of a cluster use it."""
        return self._begin is not None and _numpy_state() != self._begin


@contextmanager
def guard(process_seed: int | None = None) -> Iterator[Watched]:
    """Collect warnings; with a seed, also seed the global generators of numpy and Python, and put them back after."""
    with turn, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if process_seed is None:
            yield Watched(caught, None)
            return
        before = np.random.get_state(), random.getstate()
        np.random.seed(process_seed)
        random.seed(process_seed)
        try:
            yield Watched(caught, _numpy_state())
        finally:
            np.random.set_state(before[0])
            random.setstate(before[1])


def _headline(warning: warnings.WarningMessage) -> str:
    first = str(warning.message).strip().partition("\n")[0]
    return f"{warning.category.__name__}: {first}"


def _numpy_state() -> tuple[bytes, int]:
    _, keys, place, *_ = np.random.get_state()
    return np.asarray(keys).tobytes(), int(place)
