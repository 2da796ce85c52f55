"""Pilot fits: how fast each learner is on these rows, from fits on few of them, each on four times the rows before."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints
from ..engine import work
from ..estimators.adapters import free_seeds
from ..estimators.scores import fit_scorer
from ..inputs import take
from .budget import Speed, growth
from .cross_validated import fewer

FIRST, TIMES, MOST = 250, 4, 64_000
POINTS = 500
LONG_ENOUGH = 0.2
"""A fit of this many seconds shows how time grows; a shorter one is mostly overhead."""


@dataclass(frozen=True)
class _Pilot:
    """A few rows, in random order, and the learners. `most` rows are those of a full fit."""

    learners: tuple[Any, ...]
    X: Any
    y: NDArray[Any]
    most: int
    seconds: float
    seed: int


def speeds(
    learners: Mapping[str, Any],
    X: Any,
    codes: Ints,
    classes: NDArray[Any],
    *,
    most: int,
    seconds: float,
    seed: int,
    executor: Executor | int | None = None,
    isolate: bool = False,
    stop: Callable[[], bool] | None = None,
) -> tuple[dict[str, Speed], list[str]]:
    """The speed of each learner that can be fitted, in about `seconds` each, and those that did not finish."""
    rows = np.arange(codes.size) if codes.size <= MOST else fewer(np.arange(codes.size), codes, MOST, seed, 0)
    shared = _Pilot(tuple(learners.values()), take(X, rows), classes[codes[rows]], most, seconds, seed)
    outcome = work.run(_time, range(len(learners)), shared=shared, executor=executor, isolate=isolate, stop=stop)
    if outcome.interrupted:
        raise KeyboardInterrupt
    names = list(learners)
    timed = {names[place]: speed for place, speed in outcome.results.items() if speed is not None}
    ended = {*outcome.results, *outcome.failures}
    return timed, [name for place, name in enumerate(names) if place not in ended]


def _time(pilot: _Pilot, place: int) -> Speed | None:
    """Time fits on more and more rows, until the next would take too long, or nothing more is to be learnt."""
    learner = pilot.learners[place]
    codes = np.unique(pilot.y, return_inverse=True)[1]
    every = np.arange(codes.size)
    points = take(pilot.X, every[:POINTS])
    timed: list[tuple[int, float, float]] = []
    rows = min(max(FIRST, 5 * (int(codes.max()) + 1)), codes.size)
    begin = time.perf_counter()
    while True:
        chosen = every if rows >= codes.size else fewer(every, codes, rows, pilot.seed, rows)
        try:
            timed.append((rows, *_one(learner, pilot, chosen, points)))
            if len(timed) == 1 and LONG_ENOUGH < timed[0][1] < pilot.seconds / 4:
                # The first fit of a process also imports modules.
                timed[0] = (rows, *_one(learner, pilot, chosen, points))
        except Exception:  # the full fit reports it
            break
        _, fit, _ = timed[-1]
        passed = time.perf_counter() - begin
        sure = fit > LONG_ENOUGH and len(timed) > 2
        if sure or rows >= min(codes.size, pilot.most) or passed + TIMES**1.5 * fit > pilot.seconds:
            break
        rows = min(TIMES * rows, codes.size)
    if not timed:
        return None
    last, before = timed[-1], timed[-2] if len(timed) > 1 else timed[-1]
    return Speed(
        last[0],
        last[1],
        last[2],
        growth((before[0], before[1]), (last[0], last[1])),
        growth((before[0], before[2]), (last[0], last[2])) if len(timed) > 1 else 0.0,
        bool(free_seeds(learner)),
    )


def _one(learner: Any, pilot: _Pilot, rows: Ints, points: Any) -> tuple[float, float]:
    """Seconds of a fit, and of predictions for one point."""
    begin = time.perf_counter()
    scorer = fit_scorer(learner, take(pilot.X, rows), pilot.y[rows], pilot.seed, 0)
    fitted = time.perf_counter()
    scorer.predict(points)
    return fitted - begin, (time.perf_counter() - fitted) / len(points)
