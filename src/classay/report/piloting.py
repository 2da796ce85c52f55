"""Pilot fits: how long each learner takes, and from that the plan."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any

import joblib
import numpy as np

from ..encoding import encoded
from ..expect import InputError
from ..learner import examine
from ..learner.record import record
from ..learner.schemes import HalfSplits
from .parts import Data
from .plan import PROBES, Pilot, Plan, growth, plan

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
) -> Plan:
    """The plan, after pilot fits unless nothing is left to choose."""
    named = {name: wanted[name] for name in ("splits", "repeats", "n_probes")}
    size = half if wanted["size"] == "all" else wanted["size"]
    folds = wanted["fold_rows"]
    if None not in (wanted["splits"], wanted["repeats"], size, folds):
        n_probes = PROBES if wanted["n_probes"] is None else wanted["n_probes"]
        kept = None if size >= half else size
        return Plan(wanted["splits"], wanted["repeats"], kept, n_probes, None if folds == "all" else folds, 0.0)
    pilots = {}
    for name, learner in learners.items():
        try:
            pilots[name] = _pilot(learner, data, half, common)
        except InputError as mistake:
            failed[name] = str(mistake)
    if not pilots:
        return Plan(2, 1, None, 1, None, 0.0)
    made = plan(pilots, wanted["budget"], workers(executor), half, others, data.classes.size, size=size, **named)
    if folds is None:
        return made
    return Plan(made.splits, made.repeats, made.size, made.n_probes, None if folds == "all" else folds, made.foreseen)


def _pilot(learner: Any, data: Data, half: int, common: dict[str, Any]) -> Pilot:
    """Time a learner on one pair of subsets; where halves are large, on two smaller sizes, which tell the growth."""
    ready = encoded(learner, data.X)
    least = 2 * data.classes.size
    sizes = [half] if half <= PILOT_ROWS[1] else sorted({max(rows, min(least, half)) for rows in PILOT_ROWS})
    timed = []
    for rows in sizes:
        made = record(ready, data.X, data.labels, HalfSplits(1, rows), 1, probes="uniform", n_probes=PROBES, **common)
        timed.append((rows, float(np.nanmin(made.seconds))))
    rows, seconds = timed[-1]
    return Pilot(seconds, rows, growth(timed[0], timed[-1]), bool(examine.free_seeds(ready)))


def workers(executor: Executor | int | None) -> int:
    """How many fits are at work at once."""
    return executor if isinstance(executor, int) else int(joblib.cpu_count())
