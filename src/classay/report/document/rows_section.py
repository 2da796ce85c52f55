"""The sections of a report on rows: how hard they are, which labels to check, and how models do on them.

The sections on models are the same where these are learners and where only their predictions are known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ... import charts
from ...arrays import Floats
from ...data.checks.verdicts import FOUND, UNDECIDED
from ...data.model.baseline import MEASURES, ComplexityAgainst
from ...data.model.new_rows import UnlikeKnown
from ...expect import counted
from ...intervals import exact
from ...learner.records.base import OutOfFold
from ..results import ModelCheck, Results
from .document import Cell, Picture, Section, Sheet
from .learners_section import spec_of
from .phrases import counted_rows, distance_in_words, percent, points, quoted, share
from .shown_rows import MOST_ROWS, ShownRows, cell, frame_sheet, hardest_sheet, suspects_sheet, unlike_sheet

MOST_CLASSES = 50
TITLE = "How hard are the rows? (complexity)"
GEOMETRY, ERRORS, UNLIKE = "geometry", "complexity_errors", "unlike"
FEW_ROWS = 10
"""So many rows are listed where the list is not folded."""
Checks = Mapping[str, ModelCheck]
"""The checks of models by name; where it is the only one, also "the model"."""


def data_section(results: Results) -> Section:
    """Classes, hardest rows with their content, suspected labels."""
    data, complexity, labels = results.rows, results.complexity, results.labels
    if complexity is None or labels is None:
        why = results.why.get("complexity", "")
        title = TITLE if results.rows_known else "Classes"
        return Section("data", title, "", (), (_classes(results),), absent=why, folded=results.fitted)
    rows, size = ShownRows.of(data, results.measured, results.texts), results.measured.size
    part = f" Geometry is measured on a sample of {size:,} of them, drawn by class." if size < len(data) else ""
    lead = (
        f"{counted_rows(len(data))}, {counted(data.table.shape[1], 'column')}, {data.classes.size} classes.{part} "
        f"Taking the nearest class by {distance_in_words(complexity)} predicts "
        f"{percent(complexity.baseline_accuracy)} of the rows correctly, without any learner. {labels.answer}"
    )
    pictures: tuple[Picture, ...] = (
        Picture(
            "complexity",
            "How hard the rows of each class are",
            "Histogram of the complexity of rows, by class; the hardest class first.",
            spec_of(charts.complexity_histogram(complexity)),
            _classes(results),
        ),
        Picture(
            "nearest",
            "Which classes are close to each other",
            "Share of the rows of each class that are nearest to each class centre.",
            spec_of(charts.nearest_classes(complexity)),
            _confused(results),
        ),
    )
    if labels.share.known:
        text = "Estimated share of wrong labels, and the share of errors that they explain, with intervals."
        pictures += (Picture("wrong_labels", "Wrong labels", text, spec_of(labels.plot())),)
    sheets = (_classes(results), hardest_sheet(complexity, labels, rows), suspects_sheet(complexity, labels, rows))
    return Section("data", TITLE, lead, pictures, tuple(sheet for sheet in sheets if sheet.rows), folded=True)


def _classes(results: Results) -> Sheet:
    data = results.rows
    counts = np.bincount(data.codes, minlength=data.classes.size)
    right = {name: _right_by_class(held) for name, held in results.predicted.items()}
    order = np.argsort(-counts, kind="stable")
    columns = ["class", "rows", "share"]
    by_class = None if results.complexity is None else results.complexity.by_class.set_index("class")
    if by_class is not None:
        columns += ["complexity", "most often confused with"]
        hard = np.nan_to_num(by_class["complexity"].reindex(data.classes).to_numpy(dtype=float), nan=-1.0)
        order = np.argsort(-hard, kind="stable")
    rows = []
    for code in order[:MOST_CLASSES]:
        label = data.classes[code]
        row: list[Cell] = [cell(label), int(counts[code]), float(counts[code] / counts.sum())]
        if by_class is not None and label in by_class.index:
            row += [cell(by_class.at[label, "complexity"]), cell(by_class.at[label, "confused_with"])]
        rows.append((*row, *(cell(float(values[code])) for values in right.values())))
    cut = f" The hardest {MOST_CLASSES} of {counts.size}." if counts.size > MOST_CLASSES else ""
    called = tuple(f"{name}: correct" for name in right)
    by = "a fit on other rows" if results.fitted else "a model"
    note = f"Correct: share of the rows of the class that {by} predicts correctly.{cut}" if right else cut.strip()
    return Sheet("classes", "Classes", (*columns, *called), tuple(rows), note)


def _right_by_class(held: OutOfFold) -> Floats:
    """The share of the rows of each class that is predicted correctly; NaN if none was predicted."""
    counts = np.bincount(held.truth, minlength=held.classes.size)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(held.truth, held.correct, minlength=held.classes.size) / counts)


def _confused(results: Results) -> Sheet:
    assert results.complexity is not None
    pairs = results.complexity.neighbours()
    pairs = pairs[pairs["nearer"] > 0].sort_values("nearer", ascending=False, kind="stable").head(MOST_CLASSES)
    columns = {"label": "label", "nearest": "nearest class", "nearer": "rows nearer to it"}
    return frame_sheet("nearest", "Rows nearer to another class", pairs, columns)


# Models against the geometry: do they beat it, does complexity show their errors, and which rows are like nothing?


def geometry_section(results: Results) -> Section:
    """Whether models beat the nearest class: paired differences by three measures, beside the largest class."""
    checks, folded = results.checks, results.fitted
    title = f"{'Do they' if len(checks) > 1 else 'Does it'} beat the geometry? (nearest class)"
    if not checks:
        return Section(GEOMETRY, title, "", absent=_no_checks(results), folded=folded)
    best = most_accurate(checks)
    picture = Picture(
        f"{GEOMETRY}/{best.name}",
        f"{sentence_name(best.name)} and the nearest class",
        "Share of right predictions, by three measures that weigh classes differently, with intervals.",
        spec_of(best.versus.plot()),
    )
    return Section(GEOMETRY, title, beats(best), (picture,), (_gains(checks),), folded=folded)


def _no_checks(results: Results) -> str:
    if results.predicted:
        return results.why.get("complexity", "there is no complexity of the rows")
    return "there are no cross-validated predictions" if results.fitted else "no learner and no predictions were given"


def beats(check: ModelCheck) -> str:
    """Whether a model beats the nearest class, in words."""
    versus = check.versus
    return (
        f"{comparison(check, 'nearest class', percent(versus.model['accuracy']))} "
        f"Always predicting the largest class is right for {share(versus.majority)}. "
        f"{counted_rows(versus.only_model, verb=True)} right by {quoted(check.name)} alone, "
        f"{versus.only_baseline:,} by the nearest class alone (p = {versus.p_value:.2g})."
    )


def comparison(check: ModelCheck, other: str, accuracy: str) -> str:
    """A model, the other side by its name, and the difference between their accuracies."""
    versus = check.versus
    verdict = {"yes": "beats", "no": "is below", "not shown": "is not shown to beat"}[versus.verdict]
    return (
        f"{sentence_name(check.name)} {verdict} the {other}: {accuracy} of {counted_rows(versus.rows, verb=True)} "
        f"predicted correctly, {share(versus.baseline['accuracy'].value)} by the nearest class, a difference of "
        f"{points(versus.difference['accuracy'])}."
    )


def by_measure(check: ModelCheck) -> tuple[tuple[Cell, ...], ...]:
    """Each measure of a model, of the nearest class, and their difference."""
    figures = (check.versus.model, check.versus.baseline, check.versus.difference)
    return tuple((measure.replace("_", " "), *(each[measure] for each in figures)) for measure in MEASURES)


def _gains(checks: Checks) -> Sheet:
    rows: list[tuple[Cell, ...]] = [(check.name, *row) for check in checks.values() for row in by_measure(check)]
    of = tuple(str(row[0]) for row in rows)
    columns: tuple[str, ...] = ("learner", "measure", "its figure", "nearest class", "difference")
    if len(checks) == 1:  # its name in every line would say nothing
        rows, columns = [row[1:] for row in rows], columns[1:]
    return Sheet(
        GEOMETRY,
        "By two measures",
        columns,
        tuple(rows),
        "Difference: on the same rows, with its interval; above 0, the model is better. Balanced accuracy is the mean "
        "recall of the classes. "
        f"Intervals: {next(iter(checks.values())).versus.difference['accuracy'].kind}.",
        of,
        sort=False,
    )


def errors_section(results: Results) -> Section:
    """Whether complexity, known before training, and the model's confidence rank its errors."""
    checks, folded = results.checks, results.fitted
    title = "Does complexity show the errors? (AUC, confidence)"
    ranked = {name: check.against for name, check in checks.items() if check.against is not None}
    if not ranked:
        why = next((check.why for check in checks.values()), _no_checks(results))
        return Section(ERRORS, title, "", absent=why, folded=folded)
    best = most_accurate({name: checks[name] for name in ranked})
    pictures = tuple(_errors_picture(name, against) for name, against in ranked.items())
    sheet = Sheet(
        ERRORS,
        "Which ranks errors first?",
        ("learner", "AUC of complexity", "AUC of its confidence", "difference", "rank correlation of both"),
        tuple(
            (
                name,
                against.auc,
                against.auc_confidence if against.auc_confidence.known else None,
                against.difference if against.difference.known else None,
                None if math.isnan(against.correlation) else exact(against.correlation),
            )
            for name, against in ranked.items()
        ),
        "AUC: probability that a wrong row has the higher complexity, or the lower confidence, than a right one; 0.5 "
        "says nothing about errors. Complexity is measured with the label of the row, confidence without.",
        tuple(ranked),
    )
    assert best.against is not None
    return Section(ERRORS, title, _ranking(best.name, best.against), pictures, (sheet,), folded=folded)


def _ranking(name: str, against: ComplexityAgainst) -> str:
    first, last = (float(rate) for rate in against.curve["error_rate"].iloc[[0, -1]])
    text = (
        f"{sentence_name(name)} errs in {share(first)} of the easiest rows by complexity, which is known before any "
        f"training, and in {share(last)} of the hardest."
    )
    if not against.auc_confidence.known:
        return text
    gap = against.difference
    better = "better" if gap.high < 0 else "worse" if gap.low > 0 else "about as well"
    rank = f"ranks them {better} (AUC {against.auc_confidence.value:.2f})"
    return f"{text} Its own confidence, which does not know the label as complexity does, {rank}."


def _errors_picture(name: str, against: ComplexityAgainst) -> Picture:
    key, columns = f"{ERRORS}/{name}", {"low": "complexity from", "high": "to", "rows": "rows", "errors": "errors"}
    columns |= {"error_rate": "error rate", "rate_low": "low end", "rate_high": "high end"}
    title = f"Errors of {quoted(name)} by complexity"
    return Picture(
        key,
        title,
        "Error rate in ranges of complexity with about equally many rows, the easiest first, with intervals.",
        spec_of(against.plot()),
        frame_sheet(key, title, against.curve, columns, sort=False),
    )


def unlike_section(results: Results) -> Section:
    """Test rows that are unlike anything in the training rows, at a stated rate of false alarms."""
    title, unlike, test = "Which test rows are like nothing known?", results.unlike, results.data.test
    if unlike is None or test is None:
        why = results.why.get("unlike", "no test part was given (--test)")
        return Section(UNLIKE, title, "", absent=why, folded=results.fitted)
    rows = ShownRows.of(test, texts=None if results.part is None else results.texts)
    picture = Picture(
        UNLIKE,
        "Rows unlike the known ones",
        "Share of the test rows that are farther from every class than nearly all known rows, beside what is usual "
        "for rows of the same kind.",
        spec_of(unlike.plot()),
    )
    sheet = unlike_sheet(unlike, rows, MOST_ROWS if results.fitted else FEW_ROWS)
    return Section(UNLIKE, title, str(unlike), (picture,), (sheet,) if sheet.rows else (), folded=results.fitted)


def unlike_in_words(unlike: UnlikeKnown) -> str:
    """Whether test rows are unlike the known ones, in one sentence of a verdict; what is unknown is reported."""
    if unlike.verdict == UNDECIDED:
        return str(unlike)
    words = "are" if unlike.verdict == FOUND else "are not shown to be"
    return (
        f"By distances, the test rows {words} unlike the training rows: {share(unlike.share.value)} are farther from "
        f"every class, or from all rows, than {share(1 - unlike.false_alarms)} of these."
    )


def most_accurate(checks: Checks) -> ModelCheck:
    """The model that is right most often."""
    return max(checks.values(), key=lambda check: check.versus.model["accuracy"].value)


def sentence_name(name: str) -> str:
    """A name at the start of a sentence."""
    return "The model" if name == "the model" else quoted(name)
