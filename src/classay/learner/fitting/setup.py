"""The inputs of `record` and `sweep`, checked and prepared before any fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import expect, seeds
from ...arrays import Ints
from ...estimators.adapters import free_seeds
from ...inputs.splits import split_by_share
from ...notes import Note
from . import checks, provenance
from .codec import Codec
from .probes import probes as drawn_probes
from .schemes import Scheme, Subsets
from .task import Bench


@dataclass(frozen=True)
class Setup:
    """Checked data, parts, scheme and seed; `codes` is the class of each row, `notes` what the user should know."""

    learner: Any
    X: Any
    y: NDArray[Any]
    codec: Codec
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
    notes: tuple[Note, ...]

    def about(self, name: str | None) -> dict[str, Any]:
        """The provenance of a record of the learner."""
        return provenance.everything(
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

    def draw(self) -> tuple[list[Ints], list[Note]]:
        """The training rows of every subset, and notes about them."""
        drawn = list(self.scheme.draw(self.codes[self.train], self.seed))
        forced = sum(by_hand for _, by_hand in drawn)
        return [self.train[rows] for rows, _ in drawn], [
            Note("subsets-completed", count=forced, subsets=self.scheme.n)
        ] if forced else []

    def bench(self, learner: Any) -> Bench:
        """What refits of a learner need."""
        free = tuple(free_seeds(learner))
        return Bench(learner, self.X, self.y, self.codec, self.test, self.probes, free, self.seed, self.time_limit)


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
) -> Setup:
    """Check everything, split the rows and draw the probes. The parameters are those of `record`."""
    scheme = Subsets() if scheme is None else scheme
    if not isinstance(scheme, Scheme):
        raise expect.InputError(f"`scheme` is {scheme!r}; expected Subsets(...) or HalfSplits(...).")
    repeats = expect.whole(repeats, "repeats", at_least=1)
    test_size = expect.fraction(test_size, "test_size")
    time_limit = checks.time_limit(time_limit)
    seed = seeds.settle(random_state)
    learner, of_learner = checks.learner(learner)
    X, labels, of_data = checks.data(X, y)
    codec, codes = checks.codec(learner, labels)
    train, test = split_by_share(codes, test_size, seed)
    classes, tested = np.unique(codes).size, np.unique(codes[test]).size
    of_parts = [Note("classes-not-tested", count=classes - tested, classes=classes)] if tested < classes else []
    scheme.check(codes[train])
    probing = drawn_probes(probes, n_probes, X, test, seed)
    return Setup(
        learner=learner,
        X=X,
        y=labels,
        codec=codec,
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
