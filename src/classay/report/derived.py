"""From records and predictions to results: every figure of a learner, of the rows, and of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Ints
from ..classes.curve.curve import accuracy_curve
from ..classes.extrapolate.extrapolate import extrapolate
from ..classes.information.information import information
from ..data.model.error_slices import Slices, slices
from ..data.model.new_rows import UnlikeKnown
from ..data.row_complexity import Complexity
from ..data.rows import complexity
from ..estimators.encoder import numbers, numbers_of_two
from ..expect import InputError
from ..inputs import take
from ..learner.orientation.kinship import Kinship, kinship
from ..learner.orientation.orientation import orientation
from ..learner.records.labelings import Labelings
from ..learner.stability.stability import stability
from .cross_validated import HeldOut
from .model_check import ModelCheck, check_held_out
from .results import ClassesResults, DataResults, LearnerResults

LEAST_CLASSES, ENOUGH_CLASSES = 5, 20
"""Smallest number of classes for a forecast of more classes where it is asked for, and where it is not."""


def learner_results(
    name: str,
    labelings: Labelings,
    test_rows: Any,
    seed: int,
    wrapped: str = "",
) -> LearnerResults:
    """Every figure of one learner. Raises InputError if the record is too small for any.

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
        wrapped=wrapped,
    )


def slices_of(held: HeldOut, data: DataResults, seed: int) -> Slices | str:
    """Where errors concentrate among the rows with cross-validated predictions, or why this cannot be said."""
    try:
        rows = data.X if held.tested.size == data.codes.size else take(data.X, held.tested)
        return slices(rows, ~held.right(data.codes), random_state=seed, groups=data.groups_of(held.tested))
    except InputError as too_little:
        return str(too_little)


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
    held_out: dict[str, HeldOut], data: DataResults, measured: Ints, result: Complexity | None, seed: int
) -> dict[str, ModelCheck]:
    """Cross-validated predictions against the geometry, by learner; nothing without a complexity."""
    if result is None:
        return {}
    return {name: check_held_out(name, held, measured, result, data.X, seed) for name, held in held_out.items()}


def classes_of(
    data: DataResults, held_out: dict[str, HeldOut], why: dict[str, str], wanted: bool | None = None
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
    best = max(scored, key=lambda name: float(scored[name].right(data.codes).mean()))
    try:
        curve = accuracy_curve(scored[best].scores, data.codes[scored[best].tested], classes=np.arange(size))
        return ClassesResults(best, extrapolate(curve, [2 * size, 10 * size]), information(curve))
    except InputError as mistake:
        why["classes"] = str(mistake)
        return None
