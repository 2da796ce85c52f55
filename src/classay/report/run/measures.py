"""From records and predictions to results: every figure of a learner, of the rows, and of the classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from ...arrays import Floats, Ints
from ...classes.curve.curve import accuracy_curve
from ...classes.extrapolate.extrapolate import extrapolate
from ...classes.information.information import information
from ...data.labels.wrong_labels import WrongLabels
from ...data.model.error_slices import Slices, slices
from ...data.model.new_rows import UnlikeKnown
from ...data.row_complexity import Complexity
from ...data.rows import complexity
from ...estimators.encoder import numbers, numbers_of_two
from ...expect import InputError
from ...inputs import take
from ...learner.fitting.checks import Setup
from ...learner.fitting.schemes import Retrain
from ...learner.orientation.kinship import Kinship, kinship
from ...learner.orientation.orientation import orientation
from ...learner.record import record
from ...learner.records.base import OutOfFold
from ...learner.records.labelings import Labelings
from ...learner.rounds import RecordRounds
from ...learner.scores.retrain_change import Retraining, retraining
from ...learner.stability.stability import stability
from ..model_check import ModelCheck, check_held_out
from ..results import ClassesResults, DataResults, LearnerResults, Results
from .clock import Clock
from .rows import sampled
from .settings import Effort

NO_TIME = "time was up"
REPLACED = 0.1
"""Share of the rows that a retraining replaces."""
LEAST_CLASSES, ENOUGH_CLASSES = 5, 20
"""Smallest number of classes for a forecast of more classes where it is asked for, and where it is not."""


def learner_results(
    name: str,
    labelings: Labelings,
    test_rows: Any,
    seed: int,
) -> LearnerResults:
    """Every figure of the refits of one learner. Raises InputError if the record is too small for any.

    `test_rows` is the table of its test points.
    """
    why: dict[str, str] = {}
    oriented = orientation(labelings, min(5, labelings.truth.size), random_state=seed)
    steady = stability(labelings, on="test")
    on_probes = stability(labelings, on="probes") if labelings.has_probes else None
    regions = None
    try:
        # Among test points, which are rows of the data: uniform probes lie where there may be no rows.
        regions = steady.regions(test_rows, random_state=seed)
    except InputError as too_little:
        why["regions"] = str(too_little)
    return LearnerResults(
        name=name,
        labelings=labelings,
        orientation=oriented,
        stability=steady,
        on_probes=on_probes,
        regions=regions,
        why=why,
    )


def slices_of(predicted: dict[str, OutOfFold], data: DataResults, seed: int, why: dict[str, str]) -> dict[str, Slices]:
    """Where errors concentrate among the rows that each learner predicts, of those of which this can be said."""
    made: dict[str, Slices] = {}
    for name, held in predicted.items():
        rows = data.X if held.rows.size == data.codes.size else take(data.X, held.rows)
        try:
            wrong, groups = ~held.right, held.groups
            made[name] = slices(rows, wrong, random_state=seed, groups=groups)
        except InputError as too_little:
            why["slices"] = str(too_little)
    return made


def kinship_of(records: dict[str, Labelings], seed: int, why: dict[str, str]) -> Kinship | None:
    """How similar the predictions of learners are, if there are two or more."""
    if len(records) < 2:
        why["kinship"] = "it needs at least 2 learners"
        return None
    try:
        return kinship(records, min(5, next(iter(records.values())).truth.size), random_state=seed)
    except InputError as mistake:
        why["kinship"] = str(mistake)
        return None


def complexity_of(
    data: DataResults, rows: Ints, seed: int, why: dict[str, str]
) -> tuple[Complexity | None, UnlikeKnown | None]:
    """How hard the rows are, of a large table those of a sample; and which rows of the test part are unlike them."""
    known = data.X if rows.size == data.codes.size else take(data.X, rows).reset_index(drop=True)
    try:
        X_test = None
        if data.test is None:
            X = numbers(known, data.texts)
        else:
            X, X_test = numbers_of_two(known, data.test.table(data.X.columns), data.texts)
        made = complexity(X, data.classes[data.codes[rows]], random_state=seed, groups=data.groups_of(rows))
    except InputError as mistake:
        why["complexity"] = str(mistake)
        return None, None
    try:
        return made, None if X_test is None else made.unlike_known(X_test)
    except InputError as mistake:
        why["unlike"] = str(mistake)
        return made, None


def checks_of(
    held_out: dict[str, OutOfFold], data: DataResults, measured: Ints, result: Complexity | None, seed: int
) -> dict[str, ModelCheck]:
    """Cross-validated predictions against the geometry, by learner; nothing without a complexity."""
    if result is None:
        return {}
    return {name: check_held_out(name, held, measured, result, data.X, seed) for name, held in held_out.items()}


def classes_of(
    data: DataResults, held_out: dict[str, OutOfFold], why: dict[str, str], wanted: bool | None = None
) -> ClassesResults | None:
    """Forecast for more classes, of the best learner that gives scores; `wanted`: also for fewer than 20 classes."""
    size = data.classes.size
    if wanted is False:
        why["classes"] = "it was not asked for"
        return None
    if size < LEAST_CLASSES:
        why["classes"] = f"there are {size} classes; a forecast needs at least {LEAST_CLASSES}"
        return None
    if size < ENOUGH_CLASSES and not wanted:
        why["classes"] = f"there are {size} classes; below {ENOUGH_CLASSES} a forecast is made with --more-classes only"
        return None
    if held_out and not any(held.is_full for held in held_out.values()):
        why["classes"] = "cross-validated fits had fewer than 90 % of the rows"
        return None
    scored = {name: held for name, held in held_out.items() if held.scores is not None and held.is_full}
    if not scored:
        why["classes"] = "no learner gives a score to every class"
        return None
    best = max(scored, key=lambda name: float(scored[name].right.mean()))
    try:
        curve = accuracy_curve(scored[best].scores, scored[best].truth, classes=np.arange(size))
        return ClassesResults(best, extrapolate(curve, [2 * size, 10 * size]), information(curve))
    except InputError as mistake:
        why["classes"] = str(mistake)
        return None


def wrong_labels_of(results: Results) -> WrongLabels | None:
    """How many labels are wrong, and which: by distances and, where it predicted all rows, by the best learner."""
    if results.complexity is None:
        return None
    best, measured = results.most_accurate, results.measured
    held = None if best is None else results.predicted[best]
    if held is None or held.scores is None or not np.isin(measured, held.rows).all():
        return results.complexity.wrong_labels(None)
    with np.errstate(invalid="ignore"):
        shares: Floats = special.softmax(held.scores[np.searchsorted(held.rows, measured)], axis=1)
    return results.complexity.wrong_labels(shares if np.isfinite(shares).all() else None)


def retrained(data: DataResults, learner: Any, name: str, effort: Effort, clock: Clock) -> Retraining | str:
    """What a retraining changes, or why not: fits of nearly full size that share nine tenths of their rows."""
    share = (1 - REPLACED) * (1 if data.test is not None else 1 - effort.test_size)
    data = part_of(data, effort.limited(data.codes.size, share), effort.seed)
    test, given = data.test, data.per_row
    try:
        refits = record(
            learner,
            data.for_learners,
            data.labels,
            Retrain(effort.retrains, REPLACED),
            repeats=effort.repeats,
            test_size=min(effort.test_size, effort.tested / data.codes.size),
            random_state=effort.seed,
            executor=effort.executor,
            store=effort.store,
            progress=effort.progress,
            time_limit=effort.time_limit,
            name=name,
            groups=given.groups,
            time=given.time,
            sample_weight=given.weights,
            X_test=None if test is None else test.X,
            y_test=None if test is None else test.y,
        )
    except InputError as mistake:
        return str(mistake)
    except KeyboardInterrupt:
        if not clock.over:
            raise
        return NO_TIME
    assert isinstance(refits, Labelings)
    if refits.interrupted and not clock.over:
        raise KeyboardInterrupt
    return NO_TIME if refits.interrupted else retraining(refits)


def predictions_of(
    folds: Setup, learners: Mapping[str, Any], effort: Effort, clock: Clock, isolate: bool = False
) -> tuple[dict[str, OutOfFold], dict[str, str]]:
    """Cross-validated predictions by learner, and why others have none; those that only lack time are in neither.

    One fold of every learner comes before the second fold of any.
    """
    rounds = RecordRounds(folds, learners, effort.executor, effort.store, effort.progress, isolate=isolate)
    with clock.limit():
        rounds.grow(list(learners), label="cross-validation")
    if rounds.interrupted and not clock.over:
        raise KeyboardInterrupt
    predicted, errors = {}, dict(rounds.failed)
    for name in [name for name in learners if rounds.splits.get(name) and name not in rounds.failed]:
        try:
            predicted[name] = rounds.record(name).out_of_fold()
        except InputError as mistake:
            errors[name] = str(mistake)
    return predicted, errors


def part_of(data: DataResults, most: int, seed: int) -> DataResults:
    """The data, or a sample of so many rows, drawn by class."""
    if data.codes.size <= most:
        return data
    rows = sampled(data.codes, most, seed)
    given = None if data.given is None else take(data.given, rows)
    table = take(data.X, rows).reset_index(drop=True)
    return replace(data, X=table, codes=data.codes[rows], per_row=data.per_row.take(rows), given=given)
