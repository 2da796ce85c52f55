"""What `record` and `sweep` are handed, checked and laid out before any fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import expect, seeds
from ..learners import free_seeds
from . import describe, examine
from .answers import Answers
from .probes import probes as drawn_probes
from .refit import Bench
from .schemes import Scheme, Subsets, split

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Prepared:
    """Data, parts, scheme and seed, all found good; `codes` is the class of each row, `notes` what has to be said."""

    learner: Any
    X: Any
    y: NDArray[Any]
    answers: Answers
    codes: Ints
    train: Ints
    test: Ints
    probes: Any
    probe_kind: str
    scheme: Scheme
    repeats: int
    test_size: float
    seed: int
    time_limit: float | None
    notes: tuple[str, ...]

    def about(self, name: str | None) -> dict[str, Any]:
        """The provenance of a record of the learner."""
        return describe.everything(
            self.learner,
            name,
            self.X,
            self.y,
            self.probes,
            self.scheme,
            self.repeats,
            self.test_size,
            self.seed,
            probe_kind=self.probe_kind,
        )

    def draw(self) -> tuple[list[Ints], list[str]]:
        """The training rows of every subset, and what has to be said of them."""
        drawn = list(self.scheme.draw(self.codes[self.train], self.seed))
        forced = sum(by_hand for _, by_hand in drawn)
        said = f"{forced} of {self.scheme.n} subsets missed a class in every draw; one row of it was put in."
        return [self.train[rows] for rows, _ in drawn], [said] if forced else []

    def bench(self, learner: Any) -> Bench:
        """What refits of a learner need."""
        free = tuple(free_seeds(learner))
        return Bench(learner, self.X, self.y, self.answers, self.test, self.probes, free, self.seed, self.time_limit)


def prepare(
    learner: Any,
    X: Any,
    y: ArrayLike,
    scheme: Scheme | None,
    repeats: int,
    test_size: float,
    probes: Any,
    random_state: int | np.random.Generator | None,
    time_limit: float | None,
    n_probes: int,
) -> Prepared:
    """Check everything, split the rows and draw the probes. The parameters are those of `record`."""
    scheme = Subsets() if scheme is None else scheme
    if not isinstance(scheme, Scheme):
        raise expect.InputError(f"`scheme` is {scheme!r}; Subsets(...) or HalfSplits(...) is expected.")
    repeats = expect.whole(repeats, "repeats", at_least=1)
    test_size = expect.fraction(test_size, "test_size")
    time_limit = examine.time_limit(time_limit)
    seed = seeds.settle(random_state)
    learner, of_learner = examine.learner(learner)
    X, labels, of_data = examine.data(X, y)
    answers, codes = examine.answers(learner, labels)
    train, test, of_parts = split(codes, test_size, seed)
    scheme.check(codes[train])
    probing = drawn_probes(probes, n_probes, X, test, seed)
    return Prepared(
        learner=learner,
        X=X,
        y=labels,
        answers=answers,
        codes=codes,
        train=train,
        test=test,
        probes=None if probing is None else probing.rows,
        probe_kind="given" if probing is None else probing.kind,
        scheme=scheme,
        repeats=repeats,
        test_size=test_size,
        seed=seed,
        time_limit=time_limit,
        notes=(*of_learner, *of_data, *of_parts),
    )
