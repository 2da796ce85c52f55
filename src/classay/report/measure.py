"""The work behind `characterize`: pilot fits, the plan, refits, cross-validated predictions, and all measurements."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from ..classes.curve.curve import accuracy_curve
from ..classes.extrapolate.extrapolate import extrapolation
from ..classes.information.information import implied_information
from ..data.complexity import Complexity, complexity
from ..data.slices import slices
from ..engine.archive import versions
from ..estimators.adapters import free_seeds
from ..estimators.encoder import encoded, numbers
from ..expect import InputError
from ..inputs.splits import split_by_share
from ..learner.fitting.schemes import HalfSplits
from ..learner.orientation.kinship import Kinship, kinship
from ..learner.orientation.orientation import orientation
from ..learner.record import record
from ..learner.records.labelings import Labelings
from ..learner.stability.stability import stability
from ..network.quality.quality import NetworkQuality
from .budget import BY_FOLDS, LEAST_ON_FOLDS, ON_FOLDS, PROBES, Pilot, Plan, folds, growth, plan, told
from .cross_validated import HeldOut, held_out
from .results import ClassesResults, DataResults, LearnerResults, Results

LEAST_CLASSES = 5
"""Smallest number of classes for a forecast of more classes."""
POINTS = 500
"""With this many test points, regions of disagreement are searched among them; with fewer, among probes."""


def measure(
    data: DataResults,
    learners: Mapping[str, Any],
    networks: Mapping[str, NetworkQuality],
    wanted: dict[str, Any],
    seed: int,
    executor: Executor | int | None,
    store: str | Path | None,
    progress: bool,
    time_limit: float | None,
    command: str | None,
) -> Results:
    """All results of a report. A learner that fails is dropped; if all fail, that is an error."""
    train, _ = split_by_share(data.codes, wanted["test_size"], seed)
    half, others = train.size // 2, data.codes.size - -(-data.codes.size // 5)
    HalfSplits(2, wanted["size"] if isinstance(wanted["size"], int) else None).check(data.codes[train])
    stages = Stages(3 + 2 * len(learners), progress)
    failed: dict[str, str] = {}
    common: dict[str, Any] = {
        "test_size": wanted["test_size"],
        "random_state": seed,
        "executor": executor,
        "time_limit": time_limit,
    }
    with stages.stage("Pilot fits"):
        chosen, pilots = planned(data, learners, wanted, common, half, others, executor, failed)
    if len(failed) == len(learners):
        raise InputError("No learner could be fitted. " + " ".join(f"{name}: {why}" for name, why in failed.items()))
    stages.say(chosen.told(half) + (f"; estimated time {told(chosen.foreseen)}." if chosen.foreseen else "."))
    records: dict[str, Labelings] = {}
    held: dict[str, HeldOut] = {}
    why_not: dict[str, str] = {}
    interrupted = False
    scheme = HalfSplits(chosen.splits, chosen.size)
    for name, learner in learners.items():
        if name in failed or interrupted:
            continue
        with stages.stage(f"Refits of {name}"):
            try:
                records[name] = record(
                    encoded(learner, data.X),
                    data.X,
                    data.labels,
                    scheme,
                    chosen.repeats,
                    probes="uniform",
                    n_probes=chosen.n_probes,
                    store=store,
                    progress=progress,
                    name=name,
                    **common,
                )
                interrupted = records[name].interrupted
            except InputError as mistake:
                failed[name] = str(mistake)
            except KeyboardInterrupt:
                interrupted = True
    if records and wanted["fold_rows"] is None:
        chosen = again(chosen, pilots, records, stages.passed, wanted["budget"], executor, half, others)
    for name in records:
        if interrupted:
            why_not[name] = "interrupted"
            continue
        with stages.stage(f"Cross-validated predictions of {name}"):
            try:
                held[name] = held_out(
                    learners[name],
                    data.X,
                    data.codes,
                    chosen.fold_rows,
                    seed,
                    executor,
                    progress,
                    name,
                    data.classes,
                )
            except InputError as mistake:
                why_not[name] = str(mistake)
            except KeyboardInterrupt:
                interrupted = True
                why_not[name] = "interrupted"
    if interrupted and not records:
        raise KeyboardInterrupt
    if interrupted:
        failed |= {name: "Interrupted before it started." for name in learners if name not in {*records, *failed}}
    with stages.stage("Figures of learners"):
        found: dict[str, LearnerResults] = {}
        for name, labelings in records.items():
            try:
                found[name] = _learner(name, labelings, held.get(name), why_not.get(name, ""), data, seed)
            except InputError as mistake:
                failed[name] = _missing(labelings) if labelings.interrupted else str(mistake)
        if not found:
            raise InputError("No learner gave results. " + " ".join(f"{name}: {why}" for name, why in failed.items()))
    with stages.stage("Figures of data and classes"):
        why: dict[str, str] = {}
        akin = _kinship(records, found, seed, why)
        geometry = _complexity(data, seed, why)
        classes = _classes(data, found, why)
    settings = {
        "budget": wanted["budget"],
        "foreseen": chosen.foreseen,
        "bought": chosen.told(half),
        "splits": chosen.splits,
        "repeats": chosen.repeats,
        "size": "all" if chosen.size is None else chosen.size,
        "n_probes": chosen.n_probes,
        "fold_rows": "all" if chosen.fold_rows is None else chosen.fold_rows,
        "test_size": wanted["test_size"],
        "seed": seed,
        "interrupted": interrupted,
        "seconds": stages.passed,
        "stages": stages.seconds,
        "versions": versions(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}, {workers(executor)} workers",
        "learners": {name: " ".join(repr(one).split()) for name, one in learners.items()},
    }
    settings["command"] = call(settings) if command is None else command_again(command, settings)
    return Results(data, found, akin, geometry, classes, dict(networks), failed, why, settings)


def _missing(labelings: Labelings) -> str:
    """Why an interrupted learner has no results."""
    present = labelings.present
    return f"Interrupted after {int(present.sum())} of {present.size} refits, too few to measure anything."


def _learner(
    name: str, labelings: Labelings, held: HeldOut | None, why_not: str, data: DataResults, seed: int
) -> LearnerResults:
    """Every figure of one learner. Raises InputError if the record is too small for any."""
    why = {} if held is not None else {"held_out": why_not, "slices": why_not}
    oriented = orientation(labelings, min(5, labelings.truth.size), random_state=seed)
    steady = stability(labelings, on="test")
    on_probes = stability(labelings, on="probes") if labelings.has_probes else None
    regions = found = None
    try:
        if labelings.truth.size >= POINTS or on_probes is None:
            regions = steady.regions(data.X.iloc[labelings.test_rows], random_state=seed)
        else:
            regions = on_probes.regions(random_state=seed)
    except InputError as too_little:
        why["regions"] = str(too_little)
    if held is not None:
        try:
            found = slices(data.X, held.labels != data.codes, random_state=seed)
        except InputError as too_little:
            why["slices"] = str(too_little)
    return LearnerResults(name, labelings, oriented, steady, on_probes, regions, held, found, why)


def _kinship(
    records: dict[str, Labelings], found: dict[str, LearnerResults], seed: int, why: dict[str, str]
) -> Kinship | None:
    whole = {name: records[name] for name in found if not records[name].interrupted}
    if len(whole) < 2:
        why["kinship"] = "it needs at least 2 learners"
        return None
    try:
        return kinship(whole, min(5, next(iter(whole.values())).truth.size), random_state=seed)
    except InputError as mistake:
        why["kinship"] = str(mistake)
        return None


def _complexity(data: DataResults, seed: int, why: dict[str, str]) -> Complexity | None:
    try:
        return complexity(numbers(data.X), data.labels, random_state=seed)
    except InputError as mistake:
        why["complexity"] = str(mistake)
        return None


def _classes(data: DataResults, found: dict[str, LearnerResults], why: dict[str, str]) -> ClassesResults | None:
    """Forecast for more classes, of the best learner that gives scores."""
    size = data.classes.size
    if size < LEAST_CLASSES:
        why["classes"] = f"there are {size} classes; a forecast needs at least {LEAST_CLASSES}"
        return None
    scored = {name: one.held_out for name, one in found.items() if one.held_out and one.held_out.scores is not None}
    if not scored:
        why["classes"] = "no learner gives a score to every class"
        return None
    best = max(scored, key=lambda name: float((scored[name].labels == data.codes).mean()))
    try:
        curve = accuracy_curve(scored[best].scores, data.codes, classes=np.arange(size))
        return ClassesResults(best, extrapolation(curve, [2 * size, 10 * size]), implied_information(curve))
    except InputError as mistake:
        why["classes"] = str(mistake)
        return None


# Pilot fits: how long each learner takes, and from that the plan.


PILOT_ROWS = (250, 1000)
"""Where halves are larger, a learner is timed on these numbers of rows, which show how its time grows."""


def planned(
    data: DataResults,
    learners: Mapping[str, Any],
    wanted: dict[str, Any],
    common: dict[str, Any],
    half: int,
    others: int,
    executor: Executor | int | None,
    failed: dict[str, str],
) -> tuple[Plan, dict[str, Pilot]]:
    """The plan, after pilot fits unless nothing is left to choose, and the pilot fits of each learner."""
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
    """The plan with fewer fold rows if the time left requires it, now that refits show how long a fit takes."""
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


def _pilot(learner: Any, data: DataResults, half: int, common: dict[str, Any]) -> Pilot:
    """Time a learner on one pair of subsets; where halves are large, on two smaller sizes, which show the growth."""
    ready = encoded(learner, data.X)
    least = 2 * data.classes.size
    sizes = [half] if half <= PILOT_ROWS[1] else sorted({max(rows, min(least, half)) for rows in PILOT_ROWS})
    timed = []
    for rows in sizes:
        made = record(ready, data.X, data.labels, HalfSplits(1, rows), 1, probes="uniform", n_probes=PROBES, **common)
        timed.append((rows, float(np.nanmin(made.seconds))))
    rows, _ = timed[-1]
    # The minimum shows how time grows; the mean predicts the sum of many. Only the first fit has to import modules.
    seconds = float(np.nanmean(made.seconds)) if len(sizes) > 1 else timed[-1][1]
    return Pilot(seconds, rows, growth(timed[0], timed[-1]), bool(free_seeds(ready)))


def workers(executor: Executor | int | None) -> int:
    """Number of fits that run at once."""
    return executor if isinstance(executor, int) else int(joblib.cpu_count())


# The call or command that reproduces the figures, with the numbers that the budget set.


def chosen(settings: dict[str, Any]) -> dict[str, Any]:
    """The numbers that a budget sets."""
    return {name: settings[name] for name in ("splits", "repeats", "size", "n_probes", "fold_rows")}


def call(settings: dict[str, Any]) -> str:
    """The Python call that reproduces the figures."""
    named = ", ".join(f"{name}={value!r}" for name, value in chosen(settings).items())
    return f"classay.characterize(learners, X, y, {named}, random_state={settings['seed']})"


def command_again(command: str, settings: dict[str, Any]) -> str:
    """The command that reproduces the figures: it names the numbers that the budget set."""
    named = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in chosen(settings).items())
    return f"{command} {named}"


# The stages of an assay: the current one, printed on stderr, and how long each took.


class Stages:
    """Measures seconds by stage, and prints each stage as it begins if wanted."""

    def __init__(self, total: int, wanted: bool) -> None:
        self.total, self.number, self.wanted = total, 0, wanted
        self.seconds: dict[str, float] = {}
        self.begin = time.monotonic()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """One stage. Its time is recorded, also if it ends early."""
        self.number += 1
        self.say(f"[{self.number}/{self.total}] {name}")
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - begin

    def say(self, text: str) -> None:
        """Print a line on stderr, if wanted."""
        if self.wanted:
            print(text, file=sys.stderr, flush=True)

    @property
    def passed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.begin
