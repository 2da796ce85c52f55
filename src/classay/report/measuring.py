"""The work behind `characterize`: pilot fits, the plan, refits, cross-validated answers, and every room's measures."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

from ..classes.curve import accuracy_curve
from ..classes.extrapolate import extrapolation
from ..classes.information import implied_information
from ..data.complexity import Complexity, complexity
from ..data.slices import slices
from ..encoding import encoded, numbers
from ..engine.archive import versions
from ..expect import InputError
from ..learner.kinship import Kinship, kinship
from ..learner.labelings import Labelings
from ..learner.orientation import orientation
from ..learner.record import record
from ..learner.schemes import HalfSplits, split
from ..learner.stability import stability
from ..network.quality import NetworkQuality
from .held_out import HeldOut, held_out
from .parts import Classes, Data, Learner, Parts
from .piloting import again, planned, workers
from .plan import told
from .repeating import call, command_again
from .stages import Stages

LEAST_CLASSES = 5
"""Below this many classes nothing is said of more of them."""
POINTS = 500
"""With so many test points regions of disagreement are sought among them; with fewer, among probes."""


def measure(
    data: Data,
    learners: Mapping[str, Any],
    networks: Mapping[str, NetworkQuality],
    wanted: dict[str, Any],
    seed: int,
    executor: Executor | int | None,
    store: str | Path | None,
    progress: bool,
    time_limit: float | None,
    command: str | None,
) -> Parts:
    """All parts of a report. A learner that fails is left out; if all do, that is an error."""
    train, _, _ = split(data.codes, wanted["test_size"], seed)
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
    stages.say(chosen.told(half) + (f": about {told(chosen.foreseen)} foreseen." if chosen.foreseen else "."))
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
        with stages.stage(f"Cross-validated answers of {name}"):
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
        failed |= {name: "Interrupted before it was begun." for name in learners if name not in {*records, *failed}}
    with stages.stage("Figures of learners"):
        found: dict[str, Learner] = {}
        for name, labelings in records.items():
            try:
                found[name] = _learner(name, labelings, held.get(name), why_not.get(name, ""), data, seed)
            except InputError as mistake:
                failed[name] = _missing(labelings) if labelings.interrupted else str(mistake)
        if not found:
            raise InputError("No learner gave figures. " + " ".join(f"{name}: {why}" for name, why in failed.items()))
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
    return Parts(data, found, akin, geometry, classes, dict(networks), failed, why, settings)


def _missing(labelings: Labelings) -> str:
    """Why an interrupted learner has no figures."""
    present = labelings.present
    return f"Interrupted after {int(present.sum())} of {present.size} refits, which are too few to measure anything."


def _learner(name: str, labelings: Labelings, held: HeldOut | None, why_not: str, data: Data, seed: int) -> Learner:
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
    return Learner(name, labelings, oriented, steady, on_probes, regions, held, found, why)


def _kinship(
    records: dict[str, Labelings], found: dict[str, Learner], seed: int, why: dict[str, str]
) -> Kinship | None:
    whole = {name: records[name] for name in found if not records[name].interrupted}
    if len(whole) < 2:
        why["kinship"] = "one learner has no kin"
        return None
    try:
        return kinship(whole, min(5, next(iter(whole.values())).truth.size), random_state=seed)
    except InputError as mistake:
        why["kinship"] = str(mistake)
        return None


def _complexity(data: Data, seed: int, why: dict[str, str]) -> Complexity | None:
    try:
        return complexity(numbers(data.X), data.labels, random_state=seed)
    except InputError as mistake:
        why["complexity"] = str(mistake)
        return None


def _classes(data: Data, found: dict[str, Learner], why: dict[str, str]) -> Classes | None:
    """What more classes would do to the best learner that gives scores."""
    size = data.classes.size
    if size < LEAST_CLASSES:
        why["classes"] = f"there are {size} classes; from {LEAST_CLASSES} on, more can be foreseen"
        return None
    scored = {name: one.held_out for name, one in found.items() if one.held_out and one.held_out.scores is not None}
    if not scored:
        why["classes"] = "no learner gives a score to every class"
        return None
    best = max(scored, key=lambda name: float((scored[name].labels == data.codes).mean()))
    try:
        curve = accuracy_curve(scored[best].scores, data.codes, classes=np.arange(size))
        return Classes(best, extrapolation(curve, [2 * size, 10 * size]), implied_information(curve))
    except InputError as mistake:
        why["classes"] = str(mistake)
        return None
