"""The section of a report on the data: how hard the rows are, by class, and which labels to check."""

from __future__ import annotations

import numpy as np

from ... import charts
from ...arrays import Floats
from ...expect import counted
from ...learner.records.base import OutOfFold
from ..results import Results
from .document import Cell, Picture, Section, Sheet
from .learners_section import spec_of
from .phrases import counted_rows, distance_in_words, percent
from .shown_rows import ShownRows, cell, hardest_sheet, suspects_sheet

MOST_CLASSES = 50
TITLE = "How hard are the rows? (complexity)"


def data_section(results: Results) -> Section:
    """Classes, hardest rows with their content, suspected labels."""
    data, complexity, labels = results.rows, results.complexity, results.labels
    if complexity is None or labels is None:
        why = results.why.get("complexity", "")
        title = TITLE if results.rows_known else "Classes"
        return Section("data", title, "", (), (_classes(results),), absent=why, folded=results.fitted)
    rows = ShownRows.of(data, results.measured, results.texts)
    lead = (
        f"{counted_rows(len(data))}, {counted(data.table.shape[1], 'column')}, {data.classes.size} classes."
        f"{_sampled(results)} Taking "
        f"the nearest class by {distance_in_words(complexity)} predicts {percent(complexity.baseline_accuracy)} of "
        f"the rows correctly, without any learner. {labels.answer}"
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
    sheets = (
        _classes(results),
        hardest_sheet(complexity, labels, rows),
        suspects_sheet(complexity, labels, rows),
    )
    return Section("data", TITLE, lead, pictures, tuple(sheet for sheet in sheets if sheet.rows), folded=True)


def _sampled(results: Results) -> str:
    """A sentence if this is about a sample of the rows."""
    measured = results.measured.size
    whole = len(results.rows)
    return f" Geometry is measured on a sample of {measured:,} of them, drawn by class." if measured < whole else ""


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
    rows = tuple(
        (cell(label), cell(nearest), count)
        for label, nearest, count in zip(pairs["label"], pairs["nearest"], pairs["nearer"].tolist())
    )
    return Sheet(
        "nearest", "Rows nearer to another class", ("label", "nearest class", "rows nearer to it"), rows, "", sort=True
    )
