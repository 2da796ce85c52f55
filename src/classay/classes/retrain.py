"""`Retrained`: what a learner reaches when it is fitted anew on random label sets."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import seeds
from ..engine import work
from ..expect import InputError, whole
from ..intervals import Estimate, exact, of_mean, within_limits
from ..learners import short_name
from ..result import Result
from .ranks import Ranks
from .scoring import Bench, rank_bench

Ints = NDArray[np.int64]
KIND = "over label sets of these classes"
SIZES = 5


@dataclass(frozen=True, eq=False)
class Retrained(Result):
    """Accuracy of a learner fitted anew on random label sets of `k` classes; `draws` has that of each."""

    k: int
    accuracy: Estimate
    draws: NDArray[np.float64]

    def to_frame(self) -> pd.DataFrame:
        """One row a draw."""
        return pd.DataFrame({"k": self.k, "draw": np.arange(self.draws.size), "value": self.draws})

    def __str__(self) -> str:
        return f"Fitted anew on {self.draws.size} random label sets of {self.k} classes: accuracy {self.accuracy}."


def retrain(
    bench: Bench,
    sizes: Sequence[int] | None,
    draws: int,
    ties: str,
    level: float,
    executor: Executor | int | None,
    progress: bool,
) -> tuple[tuple[Retrained, ...], list[str]]:
    """Fit the learner on `draws` random label sets of each size, and test it on the test rows of the same classes.

    Returns what was found by size, and what has to be said.
    """
    able = np.unique(bench.codes[bench.test])
    wanted = sizes_of(sizes, able.size)
    draws = whole(draws, "draws", at_least=1)
    tasks = [(k, draw, ties) for k in wanted for draw in range(draws)]
    outcome = work.run(
        on_label_set,
        tasks,
        shared=bench,
        executor=executor,
        progress=progress,
        label=f"{short_name(bench.learner)} on label sets",
    )
    if not outcome.results:
        if outcome.interrupted:
            raise KeyboardInterrupt
        raise InputError(f"No label set could be learnt: {next(iter(outcome.failures.values()))}")
    notes = []
    if outcome.failures:
        first = next(iter(outcome.failures.values()))
        notes.append(f"{len(outcome.failures)} of {len(tasks)} label sets could not be learnt (first: {first}).")
    if outcome.interrupted:
        notes.append(f"Interrupted: {len(outcome.results)} of {len(tasks)} label sets were learnt.")
    found = []
    for k in wanted:
        values = np.array(
            [outcome.results[at] for at, task in enumerate(tasks) if task[0] == k and at in outcome.results]
        )
        if values.size == 1:
            found.append(Retrained(k, exact(values[0], "one label set", level), values))
        elif values.size:
            found.append(Retrained(k, within_limits(of_mean(values, level, KIND), 0.0, 1.0), values))
    return tuple(found), notes


def on_label_set(bench: Bench, task: tuple[int, int, str]) -> float:
    """Accuracy with one random label set. Runs in a worker."""
    k, draw, ties = task
    able = np.unique(bench.codes[bench.test])
    chosen = seeds.generator(bench.seed, "label set", k, draw).choice(able, k, replace=False)
    inside = np.isin(bench.codes, chosen)
    own = replace(
        bench,
        train=bench.train[inside[bench.train]],
        test=bench.test[inside[bench.test]],
        seed=seeds.integers(bench.seed, "fit on label set", k, draw, count=1)[0],
    )
    ranks: Ranks = rank_bench(own)
    return float(ranks.evidence(ties).accuracy([ranks.n_classes])[0])


def sizes_of(given: Sequence[int] | None, n_classes: int) -> list[int]:
    """Sizes of label sets: those given, or a few below all classes, evenly on a log scale."""
    if n_classes < 2:
        raise InputError("All test rows are of one class; at least 2 classes with test rows are needed to retrain on.")
    if given is None:
        spaced = np.unique(np.geomspace(2, n_classes, SIZES + 1).round().astype(int))
        return [int(k) for k in spaced[:-1]] or [2]
    wanted = sorted({whole(k, "sizes", at_least=2) for k in given})
    if not wanted or wanted[-1] > n_classes:
        raise InputError(
            f"`sizes` is {list(given)!r}; sizes from 2 to {n_classes}, the classes with test rows, are expected."
        )
    return wanted
