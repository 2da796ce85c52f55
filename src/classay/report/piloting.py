"""Pilot fits: how long each learner takes, and from that the plan."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import joblib
import numpy as np

from ..encoding import encoded
from ..expect import InputError
from ..learner.labelings import Labelings
from ..learner.record import record
from ..learner.schemes import HalfSplits
from ..learners import free_seeds
from .parts import Data
from .plan import BY_FOLDS, LEAST_ON_FOLDS, ON_FOLDS, PROBES, Pilot, Plan, folds, growth, plan

PILOT_ROWS = (250, 1000)
"""Where halves are larger, a learner is timed on these, which tell how its time grows."""


def planned(
    data: Data,
    learners: Mapping[str, Any],
    wanted: dict[str, Any],
    common: dict[str, Any],
    half: int,
    others: int,
    executor: Executor | int | None,
    failed: dict[str, str],
) -> tuple[Plan, dict[str, Pilot]]:
    """The plan, after pilot fits unless nothing is left to choose, and what these told of each learner."""
    named = {name: wanted[name] for name in ("splits", "repeats", "n_probes")}
    size = half if wanted["size"] == "all" else wanted["size"]
    fold_rows = wanted["fold_rows"]
    if None not in (wanted["splits"], wanted["repeats"], size, fold_rows):
        n_probes = PROBES if wanted["n_probes"] is None else wanted["n_probes"]
        kept = None if size >= half else size
        return Plan(
            wanted["splits"], wanted["repeats"], kept, n_probes, None if fold_rows == "all" else fold_rows, 0.0
        ), {}
    pilots: dict[str, Pilot] = {}
    for name, learner in learners.items():
        try:
            pilots[name] = _pilot(learner, data, half, common)
        except InputError as mistake:
            failed[name] = str(mistake)
    if not pilots:
        return Plan(2, 1, None, 1, None, 0.0), {}
    made = plan(pilots, wanted["budget"], workers(executor), half, others, data.classes.size, size=size, **named)
    return (made if fold_rows is None else replace(made, fold_rows=None if fold_rows == "all" else fold_rows)), pilots


def again(
    made: Plan,
    pilots: dict[str, Pilot],
    records: dict[str, Labelings],
    passed: float,
    budget: float,
    executor: Executor | int | None,
    half: int,
    others: int,
) -> Plan:
    """The plan with rows of folds as the time that is left allows, now that refits have shown how long a fit takes."""
    rows = half if made.size is None else made.size
    timed = {
        name: replace(pilots[name], seconds=float(np.nanmean(one.seconds)), rows=rows)
        for name, one in records.items()
        if name in pilots and np.isfinite(one.seconds).any()
    }
    left = min(max(BY_FOLDS * budget - passed, LEAST_ON_FOLDS * budget), ON_FOLDS * budget)
    classes = len(next(iter(records.values())).classes)
    wider, _ = folds(timed, left, workers(executor), others, classes)
    most = others if made.fold_rows is None else made.fold_rows
    return made if wider is None or wider >= most else replace(made, fold_rows=wider)


def _pilot(learner: Any, data: Data, half: int, common: dict[str, Any]) -> Pilot:
    """Time a learner on one pair of subsets; where halves are large, on two smaller sizes, which tell the growth."""
    ready = encoded(learner, data.X)
    least = 2 * data.classes.size
    sizes = [half] if half <= PILOT_ROWS[1] else sorted({max(rows, min(least, half)) for rows in PILOT_ROWS})
    timed = []
    for rows in sizes:
        made = record(ready, data.X, data.labels, HalfSplits(1, rows), 1, probes="uniform", n_probes=PROBES, **common)
        timed.append((rows, float(np.nanmin(made.seconds))))
    rows, _ = timed[-1]
    # The least tells how time grows; a sum of many is foreseen by the mean. Only a first fit has to import things.
    seconds = float(np.nanmean(made.seconds)) if len(sizes) > 1 else timed[-1][1]
    return Pilot(seconds, rows, growth(timed[0], timed[-1]), bool(free_seeds(ready)))


def workers(executor: Executor | int | None) -> int:
    """How many fits are at work at once."""
    return executor if isinstance(executor, int) else int(joblib.cpu_count())
