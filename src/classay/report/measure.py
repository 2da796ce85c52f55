"""The work behind `characterize`: pilot fits, the plan, refits, cross-validated predictions, and all measurements."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
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
from ..inputs import split_by_share
from ..learner.fitting.schemes import HalfSplits
from ..learner.orientation.kinship import Kinship, kinship
from ..learner.orientation.orientation import orientation
from ..learner.record import record
from ..learner.records.labelings import Labelings
from ..learner.stability.stability import stability
from ..network.quality.quality import NetworkQuality
from .budget import (
    FOLDS,
    PROBES,
    BudgetSettings,
    Limits,
    Pilot,
    Plan,
    growth,
    plan,
    revised,
    time_text,
)
from .cross_validated import HeldOut, held_out
from .results import ClassesResults, DataResults, LearnerResults, Results

LEAST_CLASSES = 5
"""Smallest number of classes for a forecast of more classes."""
POINTS = 500
"""With this many test points, regions of disagreement are searched among them; with fewer, among probes."""


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """How learners are fitted: the keywords of `classay.record` that do not depend on the budget."""

    test_size: float
    seed: int
    executor: Executor | int | None
    store: str | Path | None
    progress: bool
    time_limit: float | None


@dataclass
class _Fits:
    """What was fitted, by learner, and why not."""

    records: dict[str, Labelings] = field(default_factory=dict)
    held_out: dict[str, HeldOut] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """Learners without a record."""
    not_held_out: dict[str, str] = field(default_factory=dict)
    """Learners with a record, but without cross-validated predictions."""
    interrupted: bool = False


def measure(
    data: DataResults,
    learners: Mapping[str, Any],
    networks: Mapping[str, NetworkQuality],
    budget: BudgetSettings,
    settings: FitSettings,
    command: str | None,
) -> Results:
    """All results of a report. A learner that fails is dropped; if all fail, that is an error."""
    train, _ = split_by_share(data.codes, settings.test_size, settings.seed)
    rows = data.codes.size
    limits = Limits(
        half=train.size // 2,
        others=rows - -(-rows // FOLDS),
        classes=data.classes.size,
        workers=workers(settings.executor),
    )
    HalfSplits(2, budget.size if isinstance(budget.size, int) else None).check(data.codes[train])
    stages = Stages(3 + 2 * len(learners), settings.progress)
    fits = _Fits()
    with stages.stage("Pilot fits"):
        pilots = {} if budget.is_plan else _pilots(data, learners, settings, limits.half, fits)
    if len(fits.failed) == len(learners):
        raise InputError("No learner could be fitted. " + _reasons(fits.failed))
    chosen = plan(pilots, budget, limits)
    estimated = f"; estimated time {time_text(chosen.seconds)}" if chosen.seconds else ""
    stages.say(f"{chosen.in_words(limits.half)}{estimated}.")
    _refit(data, learners, chosen, settings, stages, fits)
    if fits.records and budget.fold_rows is None:
        seconds = {name: labelings.seconds for name, labelings in fits.records.items()}
        chosen = revised(chosen, pilots, seconds, stages.passed, budget, limits)
    _cross_validate(data, learners, chosen, settings, stages, fits)
    if fits.interrupted and not fits.records:
        raise KeyboardInterrupt
    if fits.interrupted:
        done = {*fits.records, *fits.failed}
        fits.failed |= {name: "Interrupted before it started." for name in learners if name not in done}
    with stages.stage("Figures of learners"):
        by_learner: dict[str, LearnerResults] = {}
        for name, labelings in fits.records.items():
            try:
                by_learner[name] = _learner(
                    name, labelings, fits.held_out.get(name), fits.not_held_out.get(name, ""), data, settings.seed
                )
            except InputError as mistake:
                fits.failed[name] = _missing(labelings) if labelings.interrupted else str(mistake)
        if not by_learner:
            raise InputError("No learner gave results. " + _reasons(fits.failed))
    with stages.stage("Figures of data and classes"):
        why: dict[str, str] = {}
        akin = _kinship({name: fits.records[name] for name in by_learner}, settings.seed, why)
        geometry = _complexity(data, settings.seed, why)
        classes = _classes(data, by_learner, why)
    return Results(
        data=data,
        learners=by_learner,
        kinship=akin,
        complexity=geometry,
        classes=classes,
        networks=dict(networks),
        failed=fits.failed,
        why=why,
        settings=_settings(chosen, budget, settings, limits, stages, fits.interrupted, learners, command),
    )


def _reasons(failed: dict[str, str]) -> str:
    return " ".join(f"{name}: {why}" for name, why in failed.items())


def _refit(
    data: DataResults, learners: Mapping[str, Any], chosen: Plan, settings: FitSettings, stages: Stages, fits: _Fits
) -> None:
    """Record the refits of each learner, until interrupted."""
    scheme = HalfSplits(chosen.splits, chosen.size)
    for name, learner in learners.items():
        if name in fits.failed or fits.interrupted:
            continue
        with stages.stage(f"Refits of {name}"):
            try:
                refitted = record(
                    encoded(learner, data.X),
                    data.X,
                    data.labels,
                    scheme,
                    chosen.repeats,
                    test_size=settings.test_size,
                    probes="uniform",
                    random_state=settings.seed,
                    executor=settings.executor,
                    store=settings.store,
                    progress=settings.progress,
                    time_limit=settings.time_limit,
                    name=name,
                    n_probes=chosen.n_probes,
                )
                assert isinstance(refitted, Labelings)  # regressors were refused
                fits.records[name], fits.interrupted = refitted, refitted.interrupted
            except InputError as mistake:
                fits.failed[name] = str(mistake)
            except KeyboardInterrupt:
                fits.interrupted = True


def _cross_validate(
    data: DataResults, learners: Mapping[str, Any], chosen: Plan, settings: FitSettings, stages: Stages, fits: _Fits
) -> None:
    """Predict every row by a fit that has not seen it, for each learner with a record, until interrupted."""
    for name in fits.records:
        if fits.interrupted:
            fits.not_held_out[name] = "interrupted"
            continue
        with stages.stage(f"Cross-validated predictions of {name}"):
            try:
                fits.held_out[name] = held_out(
                    learners[name],
                    data.X,
                    data.codes,
                    chosen.fold_rows,
                    settings.seed,
                    settings.executor,
                    settings.progress,
                    name,
                    data.classes,
                )
            except InputError as mistake:
                fits.not_held_out[name] = str(mistake)
            except KeyboardInterrupt:
                fits.interrupted = True
                fits.not_held_out[name] = "interrupted"


def _settings(
    chosen: Plan,
    budget: BudgetSettings,
    settings: FitSettings,
    limits: Limits,
    stages: Stages,
    interrupted: bool,
    learners: Mapping[str, Any],
    command: str | None,
) -> dict[str, Any]:
    """The settings that the report shows, with the command that reproduces it."""
    numbers = {
        "splits": chosen.splits,
        "repeats": chosen.repeats,
        "size": "all" if chosen.size is None else chosen.size,
        "n_probes": chosen.n_probes,
        "fold_rows": "all" if chosen.fold_rows is None else chosen.fold_rows,
    }
    if command is None:
        keywords = ", ".join(f"{name}={value!r}" for name, value in numbers.items())
        command = f"classay.characterize(learners, X, y, {keywords}, random_state={settings.seed})"
    else:
        command += "".join(f" --{name.replace('_', '-')} {value}" for name, value in numbers.items())
    return {
        "budget": budget.seconds,
        "foreseen": chosen.seconds,
        "bought": chosen.in_words(limits.half),
        **numbers,
        "test_size": settings.test_size,
        "seed": settings.seed,
        "interrupted": interrupted,
        "seconds": stages.passed,
        "stages": stages.seconds,
        "versions": versions(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}, {limits.workers} workers",
        "learners": {name: " ".join(repr(one).split()) for name, one in learners.items()},
        "command": command,
    }


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
    regions = error_slices = None
    try:
        if labelings.truth.size >= POINTS or on_probes is None:
            regions = steady.regions(data.X.iloc[labelings.test_rows], random_state=seed)
        else:
            regions = on_probes.regions(random_state=seed)
    except InputError as too_little:
        why["regions"] = str(too_little)
    if held is not None:
        try:
            error_slices = slices(data.X, held.labels != data.codes, random_state=seed)
        except InputError as too_little:
            why["slices"] = str(too_little)
    return LearnerResults(
        name=name,
        labelings=labelings,
        orientation=oriented,
        stability=steady,
        on_probes=on_probes,
        regions=regions,
        held_out=held,
        slices=error_slices,
        why=why,
    )


def _kinship(records: dict[str, Labelings], seed: int, why: dict[str, str]) -> Kinship | None:
    whole = {name: labelings for name, labelings in records.items() if not labelings.interrupted}
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


def _classes(data: DataResults, learners: dict[str, LearnerResults], why: dict[str, str]) -> ClassesResults | None:
    """Forecast for more classes, of the best learner that gives scores."""
    size = data.classes.size
    if size < LEAST_CLASSES:
        why["classes"] = f"there are {size} classes; a forecast needs at least {LEAST_CLASSES}"
        return None
    scored = {name: one.held_out for name, one in learners.items() if one.held_out and one.held_out.scores is not None}
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


def _pilots(
    data: DataResults, learners: Mapping[str, Any], settings: FitSettings, half: int, fits: _Fits
) -> dict[str, Pilot]:
    """Pilot fits of each learner that can be fitted."""
    pilots: dict[str, Pilot] = {}
    for name, learner in learners.items():
        try:
            pilots[name] = _pilot(learner, data, settings, half)
        except InputError as mistake:
            fits.failed[name] = str(mistake)
    return pilots


def _pilot(learner: Any, data: DataResults, settings: FitSettings, half: int) -> Pilot:
    """Time a learner on one pair of subsets; where halves are large, on two smaller sizes, which show the growth."""
    ready = encoded(learner, data.X)
    least = 2 * data.classes.size
    sizes = [half] if half <= PILOT_ROWS[1] else sorted({max(rows, min(least, half)) for rows in PILOT_ROWS})
    timed = []
    for rows in sizes:
        labelings = record(
            ready,
            data.X,
            data.labels,
            HalfSplits(1, rows),
            1,
            test_size=settings.test_size,
            probes="uniform",
            random_state=settings.seed,
            executor=settings.executor,
            time_limit=settings.time_limit,
            n_probes=PROBES,
        )
        timed.append((rows, float(np.nanmin(labelings.seconds))))
    rows, _ = timed[-1]
    # The minimum shows how time grows; the mean predicts the sum of many. Only the first fit has to import modules.
    seconds = float(np.nanmean(labelings.seconds)) if len(sizes) > 1 else timed[-1][1]
    return Pilot(seconds, rows, growth(timed[0], timed[-1]), bool(free_seeds(ready)))


def workers(executor: Executor | int | None) -> int:
    """Number of fits that run at once."""
    return executor if isinstance(executor, int) else int(joblib.cpu_count())


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
