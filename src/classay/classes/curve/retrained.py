"""A learner fitted on all classes for its ranks, and refitted on random label sets for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ... import seeds
from ...engine import work
from ...estimators.adapters import short_name
from ...expect import InputError, whole
from ...intervals import Estimate, exact, of_mean, within_limits
from ...notes import Note
from ..ranks.ranks import Ranks
from ..ranks.scores import LearnerSplit, rank_split

KIND = "over label sets of these classes"
SIZES = 5


@dataclass(frozen=True, eq=False)
class Retrained:
    """Accuracy of a learner refitted on random label sets of `k` classes; `draws` has that of each."""

    k: int
    accuracy: Estimate
    draws: NDArray[np.float64]


def rank_and_retrain(
    split: LearnerSplit,
    retrain: bool | Sequence[int],
    draws: int,
    ties: str,
    marginal: bool | None,
    level: float,
    executor: Executor | int | None,
    progress: bool,
    name: str | None,
) -> tuple[Ranks, tuple[Retrained, ...]]:
    """The ranks of a learner fitted on all classes, and its accuracy on label sets if wanted; see `accuracy_curve`."""
    if retrain is False:
        return rank_split(split, marginal, name), ()
    sizes = None if retrain is True else retrain
    label_set_sizes(sizes, np.unique(split.codes[split.test]).size)  # before any fit
    whole(draws, "draws", at_least=1)
    ranks = rank_split(split, marginal, name)
    # Rows of classes that the learner does not score are left out here too.
    scored = np.isin(split.classes[split.codes[split.test]], ranks.classes)
    split = replace(split, test=split.test[scored])
    retrained, notes = retrain_on_label_sets(split, sizes, draws, ties, level, executor, progress)
    return replace(ranks, notes=(*ranks.notes, *notes)), retrained


def retrain_on_label_sets(
    split: LearnerSplit,
    sizes: Sequence[int] | None,
    draws: int,
    ties: str,
    level: float,
    executor: Executor | int | None,
    progress: bool,
) -> tuple[tuple[Retrained, ...], list[Note]]:
    """Fit the learner on `draws` random label sets of each size, and test it on the test rows of the same classes.

    Returns the results by size, and notes.
    """
    wanted = label_set_sizes(sizes, np.unique(split.codes[split.test]).size)
    tasks = [(k, draw, ties) for k in wanted for draw in range(draws)]
    label = f"{short_name(split.learner)} on label sets"
    outcome = work.run(accuracy_on_label_set, tasks, shared=split, executor=executor, progress=progress, label=label)
    if not outcome.results:
        if outcome.interrupted:
            raise KeyboardInterrupt
        raise InputError(f"No label set could be learned: {next(iter(outcome.failures.values()))}")
    notes = []
    if outcome.failures:
        first = next(iter(outcome.failures.values()))
        notes.append(Note("label-sets-failed", str(first), count=len(outcome.failures), sets=len(tasks)))
    if outcome.interrupted:
        notes.append(Note("label-sets-interrupted", count=len(outcome.results), sets=len(tasks)))
    by_size = []
    for k in wanted:
        values = np.array(
            [outcome.results[at] for at, task in enumerate(tasks) if task[0] == k and at in outcome.results]
        )
        if values.size == 1:
            by_size.append(Retrained(k, exact(values[0], "one label set", level), values))
        elif values.size:
            by_size.append(Retrained(k, within_limits(of_mean(values, level, KIND), 0.0, 1.0), values))
    return tuple(by_size), notes


def accuracy_on_label_set(split: LearnerSplit, task: tuple[int, int, str]) -> float:
    """Accuracy with one random label set. Runs in a worker."""
    k, draw, ties = task
    testable = np.unique(split.codes[split.test])
    label_set = seeds.generator(split.seed, "label set", k, draw).choice(testable, k, replace=False)
    inside = np.isin(split.codes, label_set)
    own = replace(
        split,
        train=split.train[inside[split.train]],
        test=split.test[inside[split.test]],
        seed=seeds.integers(split.seed, "fit on label set", k, draw, count=1)[0],
    )
    ranks: Ranks = rank_split(own)
    return float(ranks.evidence(ties).accuracy([ranks.n_classes])[0])


def label_set_sizes(sizes: Sequence[int] | None, n_classes: int) -> list[int]:
    """Sizes of label sets: those given, or a few below all classes, evenly on a log scale."""
    if n_classes < 2:
        raise InputError("All test rows are of one class; at least 2 classes with test rows are needed to retrain on.")
    if sizes is None:
        spaced = np.unique(np.geomspace(2, n_classes, SIZES + 1).round().astype(int))
        return [int(k) for k in spaced[:-1]] or [2]
    wanted = sorted({whole(k, "retrain", at_least=2) for k in sizes})
    if not wanted or wanted[-1] > n_classes:
        raise InputError(
            f"`retrain` is {list(sizes)!r}; expected sizes from 2 to {n_classes}, the classes with test rows."
        )
    return wanted
