"""One task of a sweep: fit a learner on one subset, several times, and keep what it answers at every value of a strand.

Where values share fits, a path answers for all of them; what it cannot answer is fitted value by value, as `record`
does it, so that an error is told of the value that it belongs to. Runs in a worker.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from .. import seeds
from ..engine import work
from ..learners import as_given, numbered
from . import examine
from .describe import is_sparse
from .refit import Answer, Bench, global_seed, headline, refit, turn
from .sweep_grid import with_settings
from .sweep_strands import Strand

Ints = NDArray[np.int64]
Task = tuple[int, int, tuple[int, ...]]  # strand, subset, refits


@dataclass(frozen=True)
class SweepBench:
    """What every task needs, sent once to each worker. The learner and the seeds of `bench` are those of a strand."""

    bench: Bench
    subsets: tuple[Ints, ...]
    strands: tuple[Strand, ...]


@dataclass
class Strip:
    """What the refits of one subset gave along a strand: an answer a value, and what fits that values share warned."""

    answers: list[Answer]
    said: list[set[str]]

    def only(self, places: Sequence[int], said: bool) -> Strip:
        """The answers at some of its values, with or without what was warned."""
        return Strip([self.answers[place] for place in places], self.said if said else [])


def refit_strand(shared: SweepBench, task: Task) -> Strip:
    """Fit one subset, several times, and ask at every value of a strand. Runs in a worker."""
    strand, rows = shared.strands[task[0]], shared.subsets[task[1]]
    bench = replace(shared.bench, learner=strand.learner, free=strand.free)
    if strand.path is None:
        return Strip([refit(bench, (task[1], rows, task[2]))], [set() for _ in task[2]])
    with turn:
        return _along(bench, strand, task[1], rows, task[2])


def empty(bench: Bench, refits: int) -> Answer:
    """Answers of refits that were not run."""
    n_probes = 0 if bench.probes is None else bench.probes.shape[0]
    quality, seconds = np.full((2, refits), np.nan)
    return Answer(
        bench.answers.empty((refits, bench.test.size)),
        bench.answers.empty((refits, n_probes)) if bench.probes is not None else None,
        quality,
        seconds,
        {},
        [set() for _ in range(refits)],
    )


def _along(bench: Bench, strand: Strand, subset: int, rows: Ints, refits: tuple[int, ...]) -> Strip:
    own = np.unique(rows)
    asked_rows = np.concatenate([bench.test, own])
    times = np.bincount(np.searchsorted(own, rows), minlength=own.size)
    truth = bench.answers.truth(bench.y[own])
    strip = Strip([empty(bench, len(refits)) for _ in strand.values], [set() for _ in refits])
    for place, repeat in enumerate(refits):
        X_train, y_train = examine.take(bench.X, rows), bench.y[rows]
        asked = _joined(examine.take(bench.X, asked_rows), bench.probes)
        told, numbers_of = numbered(bench.learner, y_train)
        begin, answered = time.perf_counter(), 0
        try:
            with warnings.catch_warnings(record=True) as caught, global_seed(bench.seed, subset, repeat) as process:
                warnings.simplefilter("always")
                fresh = clone(bench.learner)
                if bench.free:
                    own_seeds = seeds.integers(bench.seed, "refit", subset, repeat, count=len(bench.free))
                    fresh.set_params(**dict(zip(bench.free, own_seeds)))
                with work.limit(bench.time_limit):
                    given = strand.path.answers(fresh, strand.parameter, strand.values, X_train, told, asked)
                    for answer, found in zip(strip.answers, given):
                        predicted = found if isinstance(found, Exception) else as_given(found, numbers_of)
                        _keep(bench, answer, place, repeat, predicted, asked_rows.size, truth, times)
                        answered += 1
                if process.drawn():
                    for answer in strip.answers:
                        answer.drew = True
            strip.said[place] = {headline(each) for each in caught}
        except Exception:  # a path may raise anything; what it did not answer is fitted alone, and tells its error
            pass
        if answered:
            share = (time.perf_counter() - begin) / answered
            for answer in strip.answers[:answered]:
                answer.seconds[place] = share
        for number in range(answered, len(strand.values)):
            _fit_alone(bench, strand, number, strip.answers[number], subset, rows, place, repeat)
    return strip


def _keep(
    bench: Bench, answer: Answer, place: int, repeat: int, predicted: Any, asked: int, truth: Any, times: Any
) -> None:
    """Put what a path answered at one value where it belongs, an error among it."""
    n_probes = 0 if bench.probes is None else bench.probes.shape[0]
    try:
        if isinstance(predicted, Exception):
            raise predicted
        codes = bench.answers.read(predicted, asked + n_probes)
    except Exception as error:
        answer.errors[repeat] = f"{type(error).__name__}: {error}"
        return
    answer.test[place] = codes[: bench.test.size]
    answer.quality[place] = bench.answers.fit_quality(codes[bench.test.size : asked], truth, times)
    if answer.probes is not None:
        answer.probes[place] = codes[asked:]


def _fit_alone(
    bench: Bench, strand: Strand, number: int, answer: Answer, subset: int, rows: Ints, place: int, repeat: int
) -> None:
    learner = with_settings(bench.learner, {strand.parameter: strand.values[number]})
    one = refit(replace(bench, learner=learner), (subset, rows, (repeat,)))
    answer.test[place], answer.quality[place], answer.seconds[place] = one.test[0], one.quality[0], one.seconds[0]
    if answer.probes is not None and one.probes is not None:
        answer.probes[place] = one.probes[0]
    answer.errors.update(one.errors)
    answer.drew |= one.drew
    answer.warnings[place] = one.warnings[0]


def _joined(asked: Any, probes: Any) -> Any:
    """Test rows, own rows and probes as one table, so that a path is asked once."""
    if probes is None:
        return asked
    if isinstance(asked, pd.DataFrame):
        return pd.concat([asked, probes], ignore_index=True)
    if is_sparse(asked):
        stack: Any = sparse.vstack
        return stack([asked, probes], format="csr")
    return np.concatenate([asked, probes])
