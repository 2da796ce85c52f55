"""A report on predictions alone, without any learner: the same document, made of a table of predictions.

A *variant* (a model, a prompt) stands where a report on learners has a learner; a *run* is one repetition of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import charts
from ..arrays import AnyInts, Floats
from ..charts.style.parts import figures_chart
from ..classes.curve.curve import accuracy_curve
from ..classes.extrapolate.extrapolate import Extrapolation, extrapolate
from ..data.model.error_slices import Slices, slices
from ..engine.machine import versions
from ..expect import InputError, counted
from ..intervals import Estimate, around, by_group, crossed_standard_error, exact, of_proportion_by_group, within_limits
from ..learner.records.labelings import Labelings
from ..learner.records.prediction_table import NOTHING_PREDICTED
from ..learner.scores.reliability import bin_edges, bin_of
from ..learner.stability.stability import Stability, stability
from ..learner.versions.judges import Judges, judges
from ..learner.versions.repeats import Repeats
from ..result import plain
from .document import Cell, Figure, Picture, Report, Section, Sheet
from .document.learners_section import spec_of
from .document.phrases import joined, percent, quoted, share
from .findings_on_predictions import findings_on

MOST_SHOWN, MOST_CLASSES, BINS = 20, 20, 10
LEAST_CLASSES = 5


@dataclass(frozen=True)
class VariantResults:
    """The figures of one variant over items; `usual` is its most frequent prediction for each item."""

    name: str
    accuracy: Estimate
    usual: AnyInts
    slices: Slices | None
    why_no_slices: str
    overconfidence: Estimate | None
    predicted: Estimate


@dataclass(frozen=True)
class PredictionResults:
    """All results of a table of predictions; what could not be measured is None, and `why` has the reason."""

    name: str
    table: Labelings
    record: Labelings
    variants: dict[str, VariantResults]
    raters: Judges
    steady: Stability | None
    repeats: Repeats | None
    forecast: Extrapolation | None
    why: dict[str, str]

    @property
    def majority(self) -> float:
        """The share of the largest class."""
        return float(np.bincount(self.table.truth).max() / self.table.truth.size)


def predictions_report(
    table: Labelings,
    name: str = "predictions",
    command: str = "",
    random_state: int = 0,
    columns: dict[str, Any] | None = None,
) -> Report:
    """A complete report on a table of predictions: accuracy, confusion, calibration, slices, runs and variants.

    Parameters
    ----------
    table : what `prediction_table` sorted; it must have a truth
    name : name of the table, for the title
    command : the command that makes the report again
    random_state : seed of the search for slices
    columns : the columns of the file, by role; kept in the settings

    """
    results = measured(table, name, random_state)
    findings, unasked = findings_on(results)
    runs = f"{counted(len(table.variants), 'variant')} x {counted(len(table.runs), 'run')}"
    return Report(
        title=f"{name}: predictions compared",
        about={
            "name": name,
            "items": int(table.truth.size),
            "predictions": runs,
            "classes": plain(table.classes),
            "notes": list(table.notes),
        },
        findings=findings,
        unasked=unasked,
        figures=_figures(results),
        sections=(
            _accuracy_section(results),
            _confusion_section(results),
            _runs_section(results),
            _calibration_section(results),
            _slices_section(results),
            _classes_section(results),
            _methods_section(results, random_state),
        ),
        failed={},
        settings={"command": command, "seed": random_state, "columns": columns or {}, "versions": versions()},
    )


# Results


def measured(table: Labelings, name: str, seed: int) -> PredictionResults:
    """All results, before any of them is put into words."""
    record = replace(table, about={**table.about, "learner": {"name": name}})
    why: dict[str, str] = {}
    raters = judges(record)
    steady: Stability | None = None
    repeats: Repeats | None = None
    if table.labels.shape[0] * table.labels.shape[1] > 1:
        steady = stability(record, on="test")
    else:
        why["runs"] = "there is one run of one variant; ask every item again, and name the column with --run"
    if table.labels.shape[1] > 1:
        repeats = raters.repeats_needed(random_state=seed)
    return PredictionResults(
        name=name,
        table=table,
        record=record,
        variants={each: _variant(table, place, each, seed) for place, each in enumerate(table.variants)},
        raters=raters,
        steady=steady,
        repeats=repeats,
        forecast=_forecast(table, why),
        why=why,
    )


def _variant(table: Labelings, place: int, name: str, seed: int) -> VariantResults:
    right = _right(table, place)
    usual = _usual(table.labels[place], table.classes.size)
    wrong = usual != table.truth
    found: Slices | None = None
    why = ""
    if table.columns is None or not table.columns.shape[1]:
        why = "the table has no other columns"
    elif wrong.all() or not wrong.any():
        why = "all predictions are wrong" if wrong.all() else "no prediction is wrong"
    else:
        try:
            found = slices(table.columns, wrong, random_state=seed, groups=table.groups)
        except InputError as mistake:
            why = str(mistake)
    silent = np.flatnonzero(table.classes.astype(str) == NOTHING_PREDICTED)
    predicted = 1 - np.isin(table.labels[place], silent).mean(axis=0)
    confident = None
    if table.confidence is not None:
        gap = np.nanmean(table.confidence[place] - (table.labels[place] == table.truth), axis=0)
        known = np.isfinite(gap)
        if known.sum() > 1:
            groups = None if table.groups is None else table.groups[known]
            confident = _mean(gap[known][None, :], groups, -1.0)
    return VariantResults(
        name, _mean(right, table.groups), usual, found, why, confident, _mean(predicted[None, :], table.groups)
    )


def _right(table: Labelings, place: int) -> Floats:
    """(R, n): which predictions of a variant are right, without runs that are missing."""
    labels = table.labels[place]
    right: Floats = (labels[labels[:, 0] != -1] == table.truth).astype(float)
    return right


def _usual(labels: AnyInts, size: int) -> AnyInts:
    """The most frequent prediction for each item; of equally frequent ones the first in the order of classes."""
    there = labels[labels[:, 0] != -1].astype(np.int64)
    counts = np.bincount((there + np.arange(there.shape[1]) * size).ravel(), minlength=there.shape[1] * size)
    best: AnyInts = counts.reshape(-1, size).argmax(axis=1)
    return best


def _mean(values: Floats, groups: AnyInts | None, least: float = 0.0) -> Estimate:
    """The mean of (R, n) values over items; one run of right and wrong is a proportion."""
    per_item = values.mean(axis=0)
    if len(values) == 1 and np.isin(values, (0.0, 1.0)).all():
        return of_proportion_by_group(values[0] == 1, groups)
    table = by_group(per_item[None, :], groups)
    over = "over items" if groups is None else "over groups"
    error = crossed_standard_error(table) if table.shape[1] > 1 else math.inf
    return within_limits(around(float(per_item.mean()), error, kind=over, draws=table.shape[1]), least, 1.0)


def _forecast(table: Labelings, why: dict[str, str]) -> Extrapolation | None:
    size = table.classes.size
    if table.class_scores is None:
        why["classes"] = "there is no score for every class (--score p_*)"
        return None
    if size < LEAST_CLASSES:
        why["classes"] = f"there are {size} classes; a forecast needs at least {LEAST_CLASSES}"
        return None
    scores = table.class_scores[0, 0]
    known = np.isfinite(scores).all(axis=1)
    try:
        curve = accuracy_curve(scores[known], table.truth[known].astype(int), classes=np.arange(size))
        return extrapolate(curve, [2 * size, 10 * size])
    except InputError as mistake:
        why["classes"] = str(mistake)
        return None


def _figures(results: PredictionResults) -> tuple[Figure, ...]:
    figures = []
    raters = {each.name: each for each in results.raters.raters}
    for name, one in results.variants.items():
        values = {"accuracy": one.accuracy, "predicted": one.predicted}
        if raters[name].self_agreement.known:
            values["self_agreement"] = raters[name].self_agreement
            values["changed_items"] = raters[name].changed
        if one.overconfidence is not None:
            values["overconfidence"] = one.overconfidence
        if one.slices is not None:
            values["slices"] = exact(len(one.slices.slices), "count")
        figures += [Figure("learner", name, figure, value) for figure, value in values.items()]
    items, classes = results.table.truth.size, results.table.classes.size
    of_data = {"rows": exact(items, "count"), "classes": exact(classes, "count")}
    of_data["majority_share"] = exact(results.majority, "of these items")
    return (*figures, *(Figure("data", "data", name, value) for name, value in of_data.items()))


# Sections


def _accuracy_section(results: PredictionResults) -> Section:
    best = max(results.variants.values(), key=lambda one: one.accuracy.value)
    columns = ["variant", "accuracy", "predicted"]
    raters = {each.name: each for each in results.raters.raters}
    repeated = any(each.self_agreement.known for each in raters.values())
    columns += ["self_agreement", "changed_items"] if repeated else []
    confident = any(one.overconfidence is not None for one in results.variants.values())
    columns += ["overconfidence"] if confident else []
    rows: list[tuple[Cell, ...]] = []
    for name, one in results.variants.items():
        row: list[Cell] = [name, one.accuracy, one.predicted]
        row += [raters[name].self_agreement, raters[name].changed] if repeated else []
        row += [one.overconfidence] if confident else []
        rows.append(tuple(row))
    sheet = Sheet(
        "overview", "Variants side by side", tuple(columns), tuple(rows),
        f"Over {results.table.truth.size:,} items. Small numbers: 95 % interval, over items.", tuple(results.variants),
    )  # fmt: skip
    chart = figures_chart(
        {quoted(name): one.accuracy for name, one in results.variants.items()},
        "share of right predictions",
        "Accuracy",
        f"The largest class has {share(results.majority)} of the items.",
    )
    several = len(results.variants) > 1
    lead = (
        f"{quoted(best.name) + ' is the most accurate: it' if several else 'The predictions'} "
        f"{'predicts' if several else 'get'} {percent(best.accuracy)} of {results.table.truth.size:,} items "
        f"correctly; always predicting the largest class would get {share(results.majority)}."
    )
    picture = Picture(
        "accuracy", "Accuracy", "Share of items predicted correctly, with its interval.", spec_of(chart), sheet
    )
    return Section("accuracy", "Accuracy", lead, (picture,), (sheet,))


def _confusion_section(results: PredictionResults) -> Section:
    table = results.table
    size = table.classes.size
    sheets, pairs = [], []
    for name, one in list(results.variants.items())[:MOST_SHOWN]:
        counts = np.zeros((size, size), dtype=np.int64)
        np.add.at(counts, (table.truth.astype(int), one.usual), 1)
        wrong = counts - np.diag(np.diag(counts))
        if wrong.sum():
            true, said = np.unravel_index(int(wrong.argmax()), wrong.shape)
            pairs.append(
                f"{quoted(table.classes[true])} predicted as {quoted(table.classes[said])} ({wrong.max():,} times)"
            )
        order = np.argsort(-counts.sum(axis=1), kind="stable")[:MOST_CLASSES]
        order = order[counts.sum(axis=1)[order] > 0]
        if size <= MOST_CLASSES:
            columns = ("true class", *(str(each) for each in table.classes))
            rows: list[tuple[Cell, ...]] = [
                (str(table.classes[code]), *(int(each) for each in counts[code])) for code in order
            ]
        else:
            columns = ("true class", "items", "right", "most often predicted instead")
            rows = [
                (str(table.classes[code]), int(counts[code].sum()), float(counts[code, code] / counts[code].sum()),
                 str(table.classes[int(wrong[code].argmax())]) if wrong[code].any() else "")
                for code in order
            ]  # fmt: skip
        title = "True classes and predictions" + (f" of {name}" if len(results.variants) > 1 else "")
        note = "The most frequent prediction for each item." if len(table.runs) > 1 else ""
        sheets.append(Sheet(f"confusion/{name}", title, columns, tuple(rows), note))
    lead = (
        "Most frequent confusion: " + "; ".join(dict.fromkeys(pairs[:3])) + "." if pairs else "No prediction is wrong."
    )
    return Section("confusion", "Confusion", lead, (), tuple(sheets))


def _runs_section(results: PredictionResults) -> Section:
    title = "Asked again"
    if results.steady is None:
        return Section("runs", title, "", absent=results.why.get("runs", ""))
    steady, raters, repeats = results.steady, results.raters, results.repeats
    sentences, sheets, pictures = [], [], []
    again = [each for each in raters.raters if each.self_agreement.known]
    if again:
        worst = min(again, key=lambda each: each.self_agreement.value)
        sentences.append(
            f"Asked again, {quoted(worst.name)} predicts the same for {percent(worst.self_agreement)} of the items; "
            f"in {counted(worst.n_runs, 'run')} it changed its prediction for {percent(worst.changed)} of them."
        )
    if len(results.variants) > 1:
        sentences.append(f"Two variants agree on {percent(raters.agreement)} of the items.")
        if again and steady.same_subset.known and steady.stability.value < 1:
            sentences.append(
                f"Of the disagreement between variants, {share(min(steady.seed_share, 1.0))} is randomness: the same "
                "variant would disagree with itself as often."
            )
    if repeats is not None:
        number = counted(int(repeats.repeats.value), "run")
        sentences.append(
            f"{number} per item {'suffice' if repeats.repeats.value != 1 else 'suffices'} (between "
            f"{repeats.repeats.low:.0f} and {repeats.repeats.high:.0f}): then asking again gives at most "
            f"{repeats.share:.0%} of the variance of accuracy, or moves it by at most "
            f"{100 * repeats.precision:g} points."
        )
        rows: list[tuple[Cell, ...]] = [
            (int(runs), float(width), float(part)) for runs, width, part in repeats.to_frame().to_numpy()
        ]
        sheets.append(
            Sheet("repeats", "How many runs suffice", ("runs", "accuracy known to within", "share by asking again"),
                  tuple(rows), "Half the width of the 95 % interval of accuracy, over items.", sort=False)
        )  # fmt: skip
    flips = raters.items[raters.items["value"] > 0].head(MOST_SHOWN)
    if len(flips):
        cells = zip(flips["item"], flips["rater"], flips["usual"], flips["value"])
        rows = [(str(item), str(rater), str(usual), float(value)) for item, rater, usual, value in cells]
        sheets.append(
            Sheet("flips", "Items that change most", ("item", "variant", "usual prediction", "runs differ"),
                  tuple(rows), f"The first {len(rows)} of {int((raters.items['value'] > 0).sum()):,}.")
        )  # fmt: skip
    pictures.append(
        Picture("agreement", "Agreement", "How often runs of a variant agree, and variants with each other.",
                spec_of(raters.plot()), _agreement_sheet(raters))
    )  # fmt: skip
    return Section("runs", title, " ".join(sentences), tuple(pictures), tuple(sheets))


def _agreement_sheet(raters: Judges) -> Sheet:
    rows: list[tuple[Cell, ...]] = [(each.name, each.name, each.self_agreement) for each in raters.raters]
    rows += [(pair.one, pair.other, pair.agreement) for pair in raters.pairs]
    return Sheet("agreement", "Agreement", ("variant", "with", "self_agreement"), tuple(rows))


def _calibration_section(results: PredictionResults) -> Section:
    table = results.table
    if table.confidence is None:
        return Section("calibration", "Calibration", "", absent="there is no score (--score)")
    sheets, sentences = [], []
    for place, (name, one) in enumerate(results.variants.items()):
        if one.overconfidence is None:
            continue
        rows = _bins(table.confidence[place], table.labels[place] == table.truth)
        sheets.append(
            Sheet(f"calibration/{name}", f"Scores of {name}", ("score", "items", "mean score", "accuracy"), rows,
                  "Ten bins of equally many predictions. Calibrated: accuracy equals the mean score.", sort=False)
        )  # fmt: skip
        sentences.append(
            f"{quoted(name)}: its mean score minus its accuracy is {100 * one.overconfidence.value:+.1f} points."
        )
    chart = figures_chart(
        {quoted(name): one.overconfidence for name, one in results.variants.items() if one.overconfidence is not None},
        "mean score − accuracy", "Overconfidence", "Above 0: scores promise more than they keep.",
    ) if sheets else None  # fmt: skip
    pictures = (
        ()
        if chart is None
        else (Picture("overconfidence", "Overconfidence", "Mean score minus accuracy.", spec_of(chart), sheets[0]),)
    )
    return Section("calibration", "Calibration", " ".join(sentences[:3]), pictures, tuple(sheets))


def _bins(confidence: Floats, right: Any) -> tuple[tuple[Cell, ...], ...]:
    values, hits = confidence.ravel(), np.asarray(right).ravel()
    known = np.isfinite(values)
    values, hits = values[known], hits[known]
    place = bin_of(values, bin_edges(values))
    rows: list[tuple[Cell, ...]] = []
    for number in np.unique(place):
        own = place == number
        low, high = values[own].min(), values[own].max()
        rows.append(
            (
                f"{low:.3g} to {high:.3g}",
                int(own.sum()),
                float(values[own].mean()),
                of_proportion_by_group(hits[own], None),
            )
        )
    return tuple(rows)


def _slices_section(results: PredictionResults) -> Section:
    title = "Where predictions are wrong"
    found = {name: one.slices for name, one in results.variants.items() if one.slices is not None}
    if not found:
        why = next((one.why_no_slices for one in results.variants.values()), "")
        return Section("slices", title, "", absent=why)
    sheets = [_slices_sheet(name, each) for name, each in found.items() if each.slices]
    empty = [quoted(name) for name, each in found.items() if not each.slices]
    lead = "Ranges and categories of other columns with more errors: found on half of the items, confirmed on the rest."
    if empty:
        lead += f" For {joined(empty)} no slice stands out."
    pictures = tuple(
        Picture(f"slices/{name}", f"Where {name} is wrong", str(each).split(". ")[0] + ".",
                spec_of(charts.slices_chart(each)), _slices_sheet(name, each))
        for name, each in list(found.items())[:3] if each.slices
    )  # fmt: skip
    return Section("slices", title, lead, pictures, tuple(sheets))


def _slices_sheet(name: str, found: Slices) -> Sheet:
    rows: Sequence[tuple[Cell, ...]] = [
        (each.condition, each.size, each.rate, each.rest_rate, each.lift, each.q_value) for each in found.slices
    ]
    columns = ("where", "size", "error_rate", "rest_rate", "lift", "q_value")
    note = f"{counted(len(found.tested), 'slice')} tested, at a false-discovery rate of {found.q:g}."
    return Sheet(f"slices/{name}", f"Where {name} is wrong", columns, tuple(rows), note, (name,) * len(rows))


def _classes_section(results: PredictionResults) -> Section:
    forecast = results.forecast
    if forecast is None:
        return Section("classes", "More classes", "", absent=results.why.get("classes", ""))
    size = results.table.classes.size
    rows: list[tuple[Cell, ...]] = [(f"{size} classes (now)", forecast.curve.at(size))]
    rows += [(f"{k:,} classes", estimate) for k, estimate in zip(forecast.k, forecast.estimates)]
    sheet = Sheet("curve", "Accuracy by the number of classes", ("classes", "accuracy_now"), tuple(rows), sort=False)
    lead = (
        f"With equal weight for every class, the scores give {percent(forecast.curve.at(size))} right among {size} "
        f"classes; the forecast for {10 * size:,} classes of the same kind is {percent(forecast.estimates[-1])}."
    )
    chart = Picture("curve", sheet.title, "Accuracy with fewer and more classes.", spec_of(forecast.plot()), sheet)
    return Section("classes", "More classes", lead, (chart,))


def _methods_section(results: PredictionResults, seed: int) -> Section:
    table = results.table
    lead = (
        "Nothing was fitted. Intervals are over items (or their groups): they say what other items of the same kind "
        "would give, for these variants. Warnings use wider intervals: all warnings of a page together should be wrong "
        "in at most 5 % of pages."
    )
    rows: list[tuple[Cell, ...]] = [
        ("items", int(table.truth.size)), ("variants", len(table.variants)), ("runs", len(table.runs)), ("seed", seed),
    ]  # fmt: skip
    others = [] if table.columns is None else list(map(str, table.columns.columns))
    rows += [("other columns", ", ".join(others) or "none")]
    rows += [("note", note) for note in table.notes]
    sheet = Sheet("settings", "How this page was made", ("setting", "value"), tuple(rows), sort=False)
    return Section("methods", "Methods", lead, (), (sheet,))
