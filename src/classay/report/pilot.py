"""Pilot fits: how fast each learner is on these rows, from fits on few of them, each on four times the rows before."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints
from ..engine import work
from ..engine.pool import one_thread
from ..estimators.adapters import free_seeds
from ..estimators.scores import fit_scorer
from ..inputs import take
from .budget import TIMES, Speed, growth
from .cross_validated import fewer

FIRST, MOST = 250, 64_000
POINTS = 500
LONG_ENOUGH = 0.2
"""A fit of this many seconds shows how time grows; a shorter one is mostly overhead."""
PATIENCE = 10.0
"""A learner that takes this many times its seconds for one pilot fit is too slow."""


def speeds(
    learners: Mapping[str, Any],
    X: Any,
    codes: Ints,
    classes: NDArray[Any],
    *,
    most: int,
    seconds: float,
    seed: int,
) -> tuple[dict[str, Speed], list[str]]:
    """The speed of each learner that can be fitted, in about `seconds` each, and those that are too slow for that.

    `most` are the rows of a full fit. Pilot fits run in this process, which is running already.
    """
    rows = np.arange(codes.size) if codes.size <= MOST else fewer(np.arange(codes.size), codes, MOST, seed, 0)
    few, labels, known = take(X, rows), codes[rows], classes[codes[rows]]
    timed: dict[str, Speed] = {}
    slow: list[str] = []
    for name, learner in learners.items():
        try:
            with one_thread():
                speed = _time(learner, few, labels, known, most, seconds, seed)
        except work.TimeLimitExceeded:
            slow.append(name)
        else:
            timed |= {} if speed is None else {name: speed}
    return timed, slow


def _time(learner: Any, X: Any, codes: Ints, y: NDArray[Any], most: int, seconds: float, seed: int) -> Speed | None:
    """Time fits on more and more rows, until the next would take too long, or nothing more is to be learnt."""
    every = np.arange(codes.size)
    points = take(X, every[:POINTS])
    timed: list[tuple[int, float, float]] = []
    rows = min(max(FIRST, 5 * (int(codes.max()) + 1)), codes.size)
    begin = time.perf_counter()
    while True:
        chosen = every if rows >= codes.size else fewer(every, codes, rows, seed, rows)
        try:
            with work.time_limit(PATIENCE * seconds):
                one = (rows, *_one(learner, take(X, chosen), y[chosen], points, seed))
                if not timed and LONG_ENOUGH < one[1] < seconds / 4:
                    # The first fit of a process also imports modules.
                    one = (rows, *_one(learner, take(X, chosen), y[chosen], points, seed))
        except work.TimeLimitExceeded:
            if not timed:
                raise
            break
        except Exception:  # the full fit reports it
            break
        timed.append(one)
        passed = time.perf_counter() - begin
        sure = one[1] > LONG_ENOUGH and len(timed) > 2
        if sure or rows >= min(codes.size, most) or passed + TIMES * (one[1] + POINTS * one[2]) > seconds:
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


def _one(learner: Any, X: Any, y: NDArray[Any], points: Any, seed: int) -> tuple[float, float]:
    """Seconds of a fit, and of predictions for one point."""
    begin = time.perf_counter()
    scorer = fit_scorer(learner, X, y, seed, 0)
    fitted = time.perf_counter()
    scorer.predict(points)
    return fitted - begin, (time.perf_counter() - fitted) / len(points)
