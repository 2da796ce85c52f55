"""From records and predictions to results: every figure of a learner, of the rows, and of the classes."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from ...arrays import Floats, Ints
from ...classes.curve.curve import accuracy_curve
from ...classes.extrapolate.extrapolate import extrapolate
from ...classes.information.information import information
from ...data.labels.wrong_labels import FALSE_ALARMS, WrongLabels
from ...data.model.error_slices import Slices, slices
from ...data.row_complexity import Complexity
from ...data.rows import complexity
from ...data.text import embed
from ...estimators.encoder import numbers, numbers_of_two
from ...expect import InputError, shown
from ...inputs import take
from ...learner.fitting.schemes import Retrain
from ...learner.orientation.kinship import Kinship, kinship
from ...learner.orientation.orientation import orientation
from ...learner.record import record
from ...learner.records.base import OutOfFold
from ...learner.records.labelings import Labelings
from ...learner.rounds import RecordRounds
from ...learner.scores.comparison import ACCURACY, RANKING, metric_for, scored
from ...learner.scores.retrain_change import Retraining, retraining
from ...learner.stability.stability import stability
from ...tables.data import Data
from ..results import ClassesResults, LearnerResults, ModelCheck, Results, best_of
from .rows import sampled
from .settings import Clock, Effort

NO_TIME = "time was up"
REPLACED = 0.1
"""Share of the rows that a retraining replaces."""
LEAST_CLASSES, ENOUGH_CLASSES = 5, 20
"""Smallest number of classes for a forecast of more classes where it is asked for, and where it is not."""
ADDED = ("complexity", "confidence")
"""What is known of a row besides its columns, and searched for slices like a column."""
OFF_ONE = 0.01
"""Probabilities of a row may add up to 1 up to this."""
MOST_COLUMNS = 100
"""Each column alone is searched in tables with at most so many columns."""


@dataclass(frozen=True, kw_only=True)
class GeometryOptions:
    """How rows are measured: as in `classay.complexity`, and for a column of text as in `classay.embed`.

    `false_alarms` is the share of the labels to check that may be right, and half of it of rows unlike the known ones.
    """

    distance: str = "auto"
    covariance: str = "auto"
    aim: str = "fit"
    paper: bool = False
    false_alarms: float = FALSE_ALARMS
    embed_texts: bool = False
    text_model: str = "wordllama"
    cache: str | Path | None = None

    @property
    def of_complexity(self) -> dict[str, Any]:
        """The keywords of `complexity`."""
        return {"distance": self.distance, "covariance": self.covariance, "aim": self.aim, "paper": self.paper}


USUAL = GeometryOptions()


def learner_results(name: str, labelings: Labelings, test_rows: Any, seed: int) -> LearnerResults:
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
    return LearnerResults(name, labelings, oriented, steady, on_probes, regions, test_rows, why)


def slices_of(results: Results, seed: int, why: dict[str, str]) -> dict[str, Slices]:
    """Where errors concentrate among the rows that each model predicts, of those of which this can be said."""
    made: dict[str, Slices] = {}
    table = results.rows.table
    if not table.shape[1]:
        why["slices"] = "there are no other columns"
        return made
    for name, held in results.predicted.items():
        if name in results.contrast:  # not shown
            continue
        rows = table if held.rows.size == len(table) else take(table, held.rows)
        try:
            made[name] = slices(rows, ~held.right, random_state=seed, groups=held.groups)
        except InputError as too_little:
            why["slices"] = str(too_little)
    return made


def with_predictions(
    results: Results,
    seed: int,
    metrics: tuple[str, ...] = (),
    more_classes: bool | None = None,
    options: GeometryOptions = USUAL,
) -> Results:
    """The results with all figures of its predictions: slices, against the geometry, more classes, labels, metrics."""
    why = dict(results.why)
    asked = [name for name in results.predicted if name not in results.contrast]
    made = replace(results, slices=slices_of(results, seed, why), checks=checks_of(results, asked, seed), why=why)
    made = replace(made, classes=classes_of(results, why, more_classes))
    return with_metrics(replace(made, labels=wrong_labels_of(results, options.false_alarms)), seed, metrics)


def with_metrics(results: Results, seed: int, metrics: tuple[str, ...] = ()) -> Results:
    """The results with the metrics of its predictions, which cost little."""
    full = {name: held for name, held in results.predicted.items() if held.is_full}
    metric = metric_for(next(iter(metrics), None), full)
    # What costs nothing is shown besides the metric that was asked for.
    usual = (ACCURACY, RANKING) if results.rows.classes.size == 2 else (ACCURACY,)
    by_metric = {
        each: {name: one for name, held in full.items() if (one := scored(each, name, held, seed)) is not None}
        for each in dict.fromkeys((metric, *metrics, *usual))
    }
    return replace(results, metric=metric, scored=by_metric.pop(metric), more_metrics=by_metric)


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


def with_row_figures(
    results: Results, rows: Ints, seed: int, options: GeometryOptions = USUAL, on_test: bool = False
) -> tuple[Results, tuple[str, ...]]:
    """The results with how hard rows are and which test rows are unlike them, and remarks on how they were measured.

    rows : of a large table, a sample
    on_test : whether to measure how hard test rows are, by the others
    """
    data = results.data
    known = data if rows.size == len(data) else replace(data.take(rows), test=data.test)
    settings, test = options.of_complexity, known.test
    try:
        X, X_test, texts, remarks = _as_numbers(known, options)
        made = measured = complexity(X, known.y, groups=known.groups, random_state=seed, **settings)
        if on_test and test is not None:
            groups = known.groups
            if groups is not None and test.groups is not None:
                groups = np.concatenate([groups, test.groups])
            settings |= {"X_eval": X_test, "y_eval": test.y}
            measured = complexity(X, known.y, groups=groups, random_state=seed, **settings)
    except InputError as mistake:
        if on_test or options != USUAL:
            raise
        return replace(results, why=results.why | {"complexity": str(mistake)}), ()
    results = replace(results, complexity=measured, texts=texts)
    if test is None:
        return results, remarks
    try:
        # Known rows must not count in their own geometry: otherwise new ones look unusual.
        outside = made
        if options.paper:
            outside = complexity(X, known.y, distance=made.distance, groups=known.groups, random_state=seed)
        return replace(results, unlike=outside.unlike_known(X_test, options.false_alarms / 2)), remarks
    except InputError as mistake:
        return replace(results, why=results.why | {"unlike": str(mistake)}), remarks


def _as_numbers(data: Data, options: GeometryOptions) -> tuple[Any, Any, tuple[str, ...] | None, tuple[str, ...]]:
    """Rows and test rows as numbers, the texts that were embedded, and remarks on how they were converted."""
    tables = [part.table for part in (data, data.test) if part is not None]
    if options.embed_texts and data.text is not None:
        texts = [table[data.text].fillna("").tolist() for table in tables]
        others = [column for column in tables[0].columns if column != data.text]
        unused = f" Other columns are not used for distances: {shown(others)}." if others else ""
        vectors = [embed(part, options.text_model, options.cache) for part in texts]
        remark = f"Texts of {data.text!r}, embedded by {options.text_model}.{unused}"
        return vectors[0], vectors[-1], tuple(texts[-1]), (remark,)
    gaps = sum(int(table.isna().any(axis=1).sum()) for table in tables)
    count = f"{gaps} of {sum(map(len, tables))} rows"
    remarks = (f"{count} have missing values: numbers were filled with the median of their column.",) if gaps else ()
    # The paper inverts every covariance as it is, which all indicators of a category would not allow.
    independent = options.paper and options.distance in ("auto", "mahalanobis", "correlation")
    if data.test is None:
        return numbers(tables[0], data.texts, independent=independent), None, None, remarks
    two = numbers_of_two(tables[0], tables[1], data.texts, independent=independent)
    return *two, None, remarks


def checks_of(results: Results, names: Iterable[str], seed: int) -> dict[str, ModelCheck]:
    """Predictions of these models against the geometry of the rows; nothing without a complexity."""
    if results.complexity is None:
        return {}
    return {name: check_model(name, results.predicted[name], results, seed) for name in names}


def check_model(name: str, held: OutOfFold, results: Results, seed: int) -> ModelCheck:
    """Compare a model with the geometry, on those measured rows that it predicts."""
    assert results.complexity is not None
    rows, at, places = np.intersect1d(results.measured, held.rows, assume_unique=True, return_indices=True)
    whole = rows.size == len(results.complexity)
    result = results.complexity if whole else _part(results.complexity, at)
    table = results.rows.table
    searched = table if rows.size == len(table) else table.iloc[rows].reset_index(drop=True)
    confidence = confidence_of(held)
    added = {"complexity": result.values, "confidence": None if confidence is None else confidence[places]}
    names = {each: each if each not in searched else f"{each} (classay)" for each in ADDED if added[each] is not None}
    searched = searched.assign(**{new: added[each] for each, new in names.items()})
    versus = result.versus(held.classes[held.labels[places]])
    check = ModelCheck(name, versus, None, None, searched, tuple(names.values()))
    wrong = ~held.right[places]
    if wrong.all() or not wrong.any():
        return replace(check, why=f"Every prediction is {'wrong' if wrong.all() else 'right'}.")
    check = replace(check, against=result.against(wrong, added["confidence"]))
    try:
        groups, narrow = result.evidence.row_groups, searched.shape[1] <= MOST_COLUMNS
        found = slices(searched, wrong, by_column=narrow, random_state=seed, groups=groups)
    except InputError as too_little:
        return replace(check, why=str(too_little))
    return replace(check, known_slices=found)


def _part(result: Complexity, rows: Ints) -> Complexity:
    """The figures of some rows, by the same geometry; not for its methods, which measure rows again."""
    per_row = ("values", "labels", "predicted", "nearest", "own_distance", "nearest_distance", "known")
    evidence = copy(result.evidence)
    evidence.row_groups = None if evidence.row_groups is None else evidence.row_groups[rows]
    return replace(result, distances=None, evidence=evidence, **{name: getattr(result, name)[rows] for name in per_row})


def probabilities_of(held: OutOfFold) -> Floats | None:
    """Its probabilities with a sum of 1 in every row, if they are probabilities."""
    if held.probabilities is None:
        return None
    total = held.probabilities.sum(axis=1, keepdims=True)
    return held.probabilities / total if (np.abs(total - 1) <= OFF_ONE).all() else None


def confidence_of(held: OutOfFold) -> Floats | None:
    """The probability of each prediction; of scores, which are on no such scale, a share that only ranks rows."""
    if held.confidence is not None:
        return held.confidence
    shares = probabilities_of(held)
    if shares is None and held.scores is not None:
        with np.errstate(invalid="ignore"):
            shares = special.softmax(held.scores, axis=1)
    if shares is None or not np.isfinite(shares).all():
        return None
    return np.asarray(shares[np.arange(held.labels.size), held.labels])


def classes_of(results: Results, why: dict[str, str], wanted: bool | None = None) -> ClassesResults | None:
    """Forecast for more classes, of the best learner that gives scores; `wanted`: also for fewer than 20 classes."""
    size, held_out = results.rows.classes.size, results.predicted
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
    ranked = {name: held for name, held in held_out.items() if held.scores is not None and held.is_full}
    if not ranked:
        why["classes"] = "no learner gives a score to every class"
        return None
    best = best_of(ranked)
    try:
        curve = accuracy_curve(ranked[best].scores, ranked[best].truth, classes=np.arange(size))
        return ClassesResults(best, extrapolate(curve, [2 * size, 10 * size]), information(curve))
    except InputError as mistake:
        why["classes"] = str(mistake)
        return None


def wrong_labels_of(results: Results, false_alarms: float = FALSE_ALARMS) -> WrongLabels | None:
    """How many labels are wrong, and which: by distances and, where it predicted all rows, by the best learner."""
    if results.complexity is None:
        return None
    best, measured = results.most_accurate, results.measured
    held = None if best is None else results.predicted[best]
    shares: Floats | None = None
    if held is not None and np.isin(measured, held.rows).all():
        places = np.searchsorted(held.rows, measured)
        if not results.given and held.scores is not None:
            with np.errstate(invalid="ignore"):
                shares = special.softmax(held.scores[places], axis=1)
        elif (probabilities := probabilities_of(held)) is not None:
            # A test part may have classes that the geometry does not know.
            shares = probabilities[places][:, np.isin(held.classes, results.complexity.classes)]
        shares = shares if shares is not None and np.isfinite(shares).all() else None
    return results.complexity.wrong_labels(shares, false_alarms)


def retrained(data: Data, learner: Any, name: str, effort: Effort, clock: Clock) -> Retraining | str:
    """What a retraining changes, or why not: fits of nearly full size that share nine tenths of their rows."""
    share = (1 - REPLACED) * (1 if data.test is not None else 1 - effort.test_size)
    data = part_of(data, effort.limited(data.codes.size, share), effort.seed)
    test, given = data.test, data.per_row
    try:
        refits = record(
            learner,
            data.X,
            data.y,
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
    rounds: RecordRounds, clock: Clock, folds: int | None = None, times: int = 1
) -> tuple[dict[str, OutOfFold], dict[str, str], int]:
    """Cross-validated predictions by learner, why others have none, and how many folds they are of.

    `folds`: fit so many folds; None: all; `times`: in so many times the budget. If time ends before, they are of the
    folds that all learners have completed, without learners that have none: these are in neither. So nothing but the
    number of folds depends on the clock.
    """
    with clock.limit(times):
        rounds.grow(list(rounds.learners), folds, label="cross-validation")
    if rounds.interrupted and not clock.over:
        raise KeyboardInterrupt
    predicted, errors = {}, dict(rounds.failed)
    complete = {name: number for name, number in rounds.splits.items() if number and name not in errors}
    done = min(complete.values(), default=0)
    for name in [each for each in rounds.learners if each in complete]:
        try:
            predicted[name] = rounds.record(name).out_of_fold(folds=done)
        except InputError as mistake:
            errors[name] = str(mistake)
    return predicted, errors, done


def part_of(data: Data, most: int, seed: int) -> Data:
    """The data, or a sample of so many rows, drawn by class."""
    return data if len(data) <= most else replace(data.take(sampled(data.codes, most, seed)), test=data.test)
