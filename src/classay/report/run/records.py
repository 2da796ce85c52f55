"""Records that were given instead of learners: what they predict for each row, beside the rows or without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ...arrays import AnyInts, Floats, Ints
from ...engine.machine import versions
from ...estimators.scores import fit_scorer
from ...estimators.trial import ready
from ...expect import InputError, counted, nearest, shown
from ...inputs import class_labels, encode
from ...learner.fitting.folds import Folds
from ...learner.record import record
from ...learner.records.base import OutOfFold, Refits
from ...learner.records.labelings import Labelings, expect_record
from ...learner.records.scores import ranking_and_probabilities
from ...learner.stability.stability import stability
from ...learner.versions.judges import judges
from ...splits import PerRow
from ...tables.data import Data
from ..results import LearnerResults, Results, RunsResults
from .measures import OFF_ONE, USUAL, GeometryOptions, kinship_of, learner_results, with_predictions, with_row_figures
from .settings import FOLDS
from .suspicions import suspicions_of

MODEL = "the model"
"""The name of a model of which only predictions are given."""
Records = dict[str, Labelings]


def records_of(learners: Any) -> Records:
    """The records by name, if what is given in place of learners are records; else none."""
    if isinstance(learners, Labelings):
        return {learners.name: learners}
    if isinstance(learners, Refits):
        expect_record(learners, "learners")  # says that it is the record of a regressor
    if not isinstance(learners, Mapping) or not any(isinstance(one, Refits) for one in learners.values()):
        return {}
    return {str(name): expect_record(one, str(name)) for name, one in learners.items()}


def results_of(
    records: Records,
    data: Data | None,
    seed: int,
    *,
    metrics: tuple[str, ...] = (),
    more_classes: bool | None = None,
    options: GeometryOptions = USUAL,
    checks: bool = True,
    name: str = "predictions",
    settings: Mapping[str, Any] | None = None,
    **more: Any,
) -> Results:
    """All results of rows and of predictions that were given, without fitting anything.

    `data` are the rows, None if only predictions are known. `checks`: whether to check the data for leaks, rows that
    belong together and an unlike test part. `more` are further fields of the results, such as networks.
    """
    results = Results(_rows_of_records(records, name) if data is None else data, rows_known=data is not None, **more)
    if data is not None:
        results, remarks = with_row_figures(results, np.arange(len(data)), seed, options, on_test=True)
        both = data.groups_in_both
        seen = [f"{both} group{' is' if both == 1 else 's are'} in both parts; the model may have seen them."]
        results = replace(
            results,
            data=replace(data, notes=(*data.notes, *remarks, *(seen if both else ()))),
            part=None if data.test is None else _test_rows(data),
        )
        if checks:
            results = replace(results, suspicions=suspicions_of(data, np.arange(len(results.rows)), seed))
        else:
            reason = "it was not asked for (`checks=True`, --checks)"
            unasked = replace(results.suspicions, why=dict.fromkeys(("leaks", "dependence", "shift"), reason))
            results = replace(results, suspicions=unasked)
    else:
        results = replace(results, why={"complexity": results.no_rows, "unlike": results.no_rows})
    results = _with_records(results, records, seed)
    # Scores that were given for many classes allow a forecast without further fits.
    wanted = True if more_classes is None and data is None else more_classes
    results = with_predictions(results, seed, metrics, wanted, options)
    return replace(results, settings={**(settings or {}), "seed": seed, "versions": versions()})


def _rows_of_records(records: Records, name: str) -> Data:
    """What records know of their rows: labels, groups, and other columns."""
    first = next(iter(records.values()))
    for record_name, other in records.items():
        if other.truth.size != first.truth.size or (first.classes[first.truth] != other.classes[other.truth]).any():
            raise InputError(f"The record {record_name!r} is about other rows than the first; expected the same rows.")
    columns = first.columns if first.columns is not None else pd.DataFrame(index=range(first.truth.size))
    groups = None if first.groups is None else first.groups.astype(np.int64)
    codes = first.truth.astype(np.int64)
    notes = tuple(dict.fromkeys(note for one in records.values() for note in one.notes))
    return Data(
        columns, first.classes[codes], codes, first.classes, per_row=PerRow(groups=groups), name=name, notes=notes
    )


def _test_rows(data: Data) -> Data:
    """The test rows with all of their classes, also those that were not trained on."""
    assert data.test is not None
    labels = np.concatenate([data.y, data.test.y])  # wide enough for both: a shorter text would cut a longer one
    classes, codes = np.unique(labels, return_inverse=True)
    return replace(data.test, classes=classes, codes=codes[len(data) :].astype(np.int64), name=data.name)


# What records predict


def _with_records(results: Results, records: Records, seed: int) -> Results:
    """The results with the predictions of every record: one per row, and what refits show."""
    predicted: dict[str, OutOfFold] = {}
    refits: dict[str, Labelings] = {}
    places: dict[str, Ints] = {}
    for name, one in records.items():
        places[name] = _places(name, one, results)
        if one.by_fold or len(one.labels) == 1 or one.of_predictions:
            variants = _predictions(name, one, several=len(records) > 1)
            predicted |= {variant: replace(held, rows=places[name]) for variant, held in variants.items()}
        else:
            refits[name] = one
    learners: dict[str, LearnerResults] = {}
    why, failed = dict(results.why), dict(results.failed)
    for name, one in refits.items():
        points = results.rows.take(places[name]).table
        try:
            learners[name] = learner_results(name, one, points, seed)
        except InputError as mistake:
            failed[name] = str(mistake)
            continue
        if not results.rows_known:
            learners[name] = replace(learners[name], why={"regions": results.no_rows})
    if predicted:
        part = _with_classes_of(results.rows, predicted)
        results = replace(results, part=results.part if part is results.rows else part)
        predicted = {name: _in_classes_of(results.rows, held) for name, held in predicted.items()}
    akin = kinship_of({name: one.labelings for name, one in learners.items()}, seed, why)
    runs = _runs(records, why, seed)
    return replace(
        results, predicted=predicted, learners=learners, given=records, kinship=akin, runs=runs, why=why, failed=failed
    )


def _predictions(name: str, one: Labelings, several: bool) -> dict[str, OutOfFold]:
    """One prediction per row: of folds, or of every variant."""
    if one.by_fold:
        return {name: one.out_of_fold()}
    if not one.of_predictions or (several and len(one.variants) == 1):
        return {name: _of_variant(one, 0)}
    names = [f"{name}: {variant}" for variant in one.variants] if several else list(one.variants)
    return {variant: _of_variant(one, place) for place, variant in enumerate(names)}


def _of_variant(one: Labelings, place: int) -> OutOfFold:
    """The most frequent prediction of all runs of a variant, and the share of runs that are right."""
    there = one.labels[place][:, 0] != -1  # a variant may have fewer runs than another
    labels = one.labels[place][there].astype(np.int64)
    usual = labels[0] if len(labels) == 1 else _usual(labels, one.classes.size)
    right = labels == one.truth
    scores = probabilities = confidence = None
    if one.full_scores is not None:
        n = one.truth.size
        both = one.full_scores[there, place * n : (place + 1) * n].mean(axis=0)
        scores, probabilities = (None if np.isnan(half).any() else half for half in np.split(both, 2, axis=1))
    elif one.scores is not None and not one.scores.compact:
        table = one.scores.values[place][there].astype(float).mean(axis=0)
        scores, probabilities = table, table if one.scores.probabilities else None
    if one.confidence is not None:
        known = one.confidence[place][there]
        with np.errstate(invalid="ignore"):
            gap = np.where(np.isnan(known).all(axis=0), np.nan, np.nansum(known - right, axis=0))
            confidence = gap / np.maximum((~np.isnan(known)).sum(axis=0), 1) + right.mean(axis=0)
    return OutOfFold(
        labels=usual,
        truth=one.truth.astype(np.int64),
        classes=one.classes,
        rows=one.test_rows.astype(np.int64),
        scores=scores,
        probabilities=probabilities,
        groups=None if one.groups is None else one.groups.astype(np.int64),
        confidence=confidence,
        share_right=None if len(labels) == 1 else right.mean(axis=0),
    )


def _usual(labels: AnyInts, size: int) -> Ints:
    """The most frequent prediction for each row; of equally frequent ones the first in the order of classes."""
    counts = np.bincount((labels + np.arange(labels.shape[1]) * size).ravel(), minlength=labels.shape[1] * size)
    return np.asarray(counts.reshape(-1, size).argmax(axis=1), dtype=np.int64)


def _with_classes_of(rows: Data, predicted: Mapping[str, OutOfFold]) -> Data:
    """The rows with all classes that are predicted, also those that no row has."""
    every = [rows.classes, *(held.classes for held in predicted.values())]
    kind = np.result_type(rows.y, *every)
    classes = np.unique(np.concatenate([names.astype(kind) for names in every]))
    if classes.size == rows.classes.size:
        return rows
    return replace(rows, classes=classes, codes=np.searchsorted(classes, rows.y.astype(kind)).astype(np.int64))


def _places(name: str, one: Labelings, results: Results) -> Ints:
    """The rows that a record predicts, by their numbers in those that are measured; an error if it is about others."""
    rows, places = results.rows, one.test_rows.astype(np.int64)
    if not results.rows_known:
        return np.arange(one.truth.size)
    if results.part is not None and places.min() >= len(results.data):  # `record` counts test rows after the others
        places = places - len(results.data)
    if places.max() >= len(rows):
        what = "rows" if results.part is None else "test rows"
        raise InputError(
            f"{name!r} predicts row {places.max()}, but there are {len(rows)} {what}; expected one prediction for each."
        )
    labels, kind = one.classes[one.truth], np.result_type(one.classes, rows.y)
    differ = labels.astype(kind) != rows.y[places].astype(kind)
    if differ.any():
        first = int(np.argmax(differ))
        raise InputError(
            f"{name!r} is about rows with other labels: its row {first} has {labels[first]!s}, the data "
            f"{rows.y[places][first]!s}. Pass the rows that it predicts, in the same order."
        )
    return places


def _in_classes_of(rows: Data, held: OutOfFold) -> OutOfFold:
    """Predictions as codes of the classes of the rows that they are about."""
    kind = np.result_type(held.classes, rows.classes)
    classes = rows.classes.astype(kind)
    order = np.argsort(classes)  # numbers as texts have another order
    place = order[np.searchsorted(classes, held.classes.astype(kind), sorter=order)]

    def by_class(table: Floats | None) -> Floats | None:
        if table is None:
            return None
        placed = np.zeros((len(table), classes.size))
        placed[:, place] = table
        return placed

    return replace(
        held,
        classes=rows.classes,
        labels=place[held.labels],
        truth=place[held.truth],
        groups=rows.groups_of(held.rows),
        probabilities=by_class(held.probabilities),
        scores=by_class(held.scores) if place.size == classes.size else None,
    )


def _runs(records: Records, why: dict[str, str], seed: int) -> RunsResults | None:
    """How far runs and variants agree, of a record of predictions."""
    one = next((one for one in records.values() if one.of_predictions), None)
    if one is None or one.labels.shape[0] * one.labels.shape[1] < 2:
        why["runs"] = "there is one run of one variant; ask every item again, and name the column with --run"
        return None
    raters = judges(one)
    try:
        repeats = raters.repeats_needed(random_state=seed) if one.labels.shape[1] > 1 else None
        return RunsResults(raters, stability(one, on="test"), repeats)
    except InputError as missing:
        why["runs"] = str(missing)
        return None


# Predictions of a model for the rows of a table


def record_of_learner(name: str, learner: Any, data: Data, seed: int) -> Labelings:
    """Predictions of a learner: for the test rows by a fit on all others, or cross-validated without test rows."""
    if data.groups_in_both:
        raise InputError(
            f"{data.groups_in_both} groups of `groups` have rows in `X` and in `X_test`; a group must be in one of "
            "them. Move its rows to one side, or leave `groups` out."
        )
    usable = ready(learner, data.X, data.y, seed, data.texts).learner
    if data.test is None:
        folds = record(
            usable, data.X, data.y, Folds(FOLDS), groups=data.groups, random_state=seed, executor=1, name=name
        )
        assert isinstance(folds, Labelings)
        return folds
    fitted = fit_scorer(usable, data.X, data.y, seed)
    both = ranking_and_probabilities(fitted, data.test.X, data.classes)
    return _one_record(name, fitted.predict(data.test.X), data.test.y, data.classes, both)


def record_of_predictions(
    predictions: ArrayLike | None,
    probabilities: ArrayLike | None,
    confidence: ArrayLike | None,
    classes: NDArray[Any],
    labels: NDArray[Any],
    name: str = MODEL,
    source: str = "",
) -> Labelings:
    """The record of what a model predicts for rows with these labels, checked.

    A prediction is a class of the data, or one of the `labels`. source : the file that they come from, for errors;
    empty if they are arguments
    """
    of = f"{source}: " if source else ""
    shares = None if probabilities is None else _checked_shares(probabilities, classes, labels.size, of)
    sure = None if confidence is None else _checked_confidence(confidence, labels.size, of)
    if predictions is None:
        if shares is None:
            raise InputError(f"{of}there are no predictions; expected classes, probabilities, or both.")
        predicted = classes[shares.argmax(axis=1)]
    else:
        if np.ndim(predictions) == 1 and (count := np.shape(predictions)[0]) != labels.size:
            raise InputError(
                f"{of}There are {counted(count, 'prediction')} for {labels.size} rows; expected one for each row, in "
                "the same order."
            )
        predicted = _spelled(class_labels(predictions, "predictions", labels.size), classes, labels, of)
    both = None if shares is None else np.concatenate([np.full_like(shares, np.nan), shares], axis=1)
    made = _one_record(name, predicted, labels, classes, both)
    return made if sure is None else replace(made, confidence=sure[None, None])


def _one_record(
    name: str, predicted: NDArray[Any], labels: NDArray[Any], classes: NDArray[Any], both: NDArray[Any] | None
) -> Labelings:
    """A record of one prediction per row; `both` are scores and probabilities of the `classes`, side by side."""
    every = np.unique(np.concatenate([np.asarray(classes.tolist()), labels, predicted]))
    made = Labelings.from_arrays(predicted[None], labels, classes=every, name=name)
    if both is None:
        return made
    place = encode(np.asarray(classes.tolist()), every)
    full = np.zeros((labels.size, 2, every.size))
    full[:, :, place] = both.reshape(labels.size, 2, classes.size)
    full[:, np.isnan(full).any(axis=(0, 2))] = np.nan
    if every.size > classes.size:
        full[:, 0] = np.nan  # scores of a class that was not trained on are unknown
    return replace(made, full_scores=full.reshape(1, labels.size, -1))


def _checked_shares(probabilities: ArrayLike, classes: NDArray[Any], rows: int, of: str) -> NDArray[Any]:
    try:
        table = np.asarray(probabilities, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{of}probabilities are not all numbers; expected one for each row and class.") from None
    if table.shape != (rows, classes.size):
        shape = " x ".join(map(str, table.shape)) or "one number"
        raise InputError(
            f"{of}probabilities are {shape}; expected {rows} rows x {classes.size} classes ({shown(classes, 5)})."
        )
    odd = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if odd.size:
        raise InputError(f"{of}probabilities are missing in {counted(odd.size, 'row')}, first in row {odd[0]}.{FROM_0}")
    total = table.sum(axis=1, keepdims=True)
    odd = np.flatnonzero((table < 0).any(axis=1) | (np.abs(total[:, 0] - 1) > OFF_ONE))
    if odd.size:
        row = ", ".join(f"{value:.3g}" for value in table[odd[0], :5])
        raise InputError(
            f"{of}probabilities do not add up to 1, or are negative, in {counted(odd.size, 'row')}, first in row "
            f"{odd[0]} ({row}{', …' if table.shape[1] > 5 else ''}).{FROM_0} Pass predict_proba, not scores or percent."
        )
    return np.asarray(table / total)


FROM_0 = " Rows are counted from 0."


def _checked_confidence(confidence: ArrayLike, rows: int, of: str) -> NDArray[Any]:
    try:
        values = np.asarray(confidence, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (rows,) or not np.isfinite(values).all():
        raise InputError(f"{of}confidence must be a finite number for each of the {rows} rows.")
    return values


def _spelled(predicted: NDArray[Any], classes: NDArray[Any], labels: NDArray[Any], of: str) -> NDArray[Any]:
    """Predictions in the spelling of the classes: 1.0 and "1" are the class 1. Any other class is an error."""
    known = (*labels.tolist(), *classes.tolist())
    by_text = {_plain_text(label): label for label in known} | {str(label): label for label in known}
    texts = [_plain_text(label) for label in predicted.tolist()]
    spelled = [by_text.get(str(label), by_text.get(text)) for label, text in zip(predicted.tolist(), texts)]
    unknown = [text for text, label in zip(texts, spelled) if label is None]
    if unknown:
        names = list(dict.fromkeys(unknown))
        raise InputError(
            f"{of}{counted(len(unknown), 'prediction')} of {predicted.size} "
            f"{'is not a class' if len(unknown) == 1 else 'are not classes'} of the data: {shown(names, 4)}; expected "
            f"{shown(classes, 5)}.{nearest(names[0], map(str, classes))} Is it the right column?"
        )
    return np.asarray(spelled)


def _plain_text(label: Any) -> str:
    """A label as text, whole numbers without a point."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
