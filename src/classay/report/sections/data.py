"""The sections of a report on the data, and on the slices of it in which errors concentrate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ... import charts
from ...arrays import Floats
from ...data.complexity import Complexity
from ...data.complexity_tables import row_table
from ...data.slices import Slice
from ...data.wrong_labels import WrongLabels
from ...expect import counted
from ..cross_validated import HeldOut
from ..document import Cell, Picture, Section, Sheet
from ..label_quality import labels_of
from ..phrases import distance_in_words, joined, percent, quoted
from ..results import DataResults, LearnerResults, Results
from .against_geometry import against_geometry
from .learners import spec_of

MOST_CLASSES, MOST_ROWS = 50, 20
TITLE, SLICES = "How hard are the rows? (complexity)", "Where do errors concentrate? (slices)"


def data_section(results: Results) -> Section:
    """Classes, hardest rows with their content, suspected labels."""
    data, complexity = results.data, results.complexity
    if complexity is None:
        return Section(
            "data", TITLE, "", (), (_classes(results),), absent=results.why.get("complexity", ""), folded=True
        )
    labels = labels_of(results)
    hardest = complexity.hardest(MOST_ROWS + labels.listed.size)
    hardest = hardest[~hardest["row"].isin(labels.listed)].head(MOST_ROWS)
    lead = (
        f"{data.codes.size:,} rows, {counted(data.X.shape[1], 'column')}, {data.classes.size} classes."
        f"{_sampled(results)} Taking "
        f"the nearest class by {distance_in_words(complexity)} predicts {percent(complexity.baseline_accuracy)} of "
        f"the rows correctly, without any learner. {labels.answer}"
    )
    pictures = (
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
    sheets = (
        _classes(results),
        against_geometry(results),
        _rows(
            results,
            hardest,
            "hardest",
            "Hardest rows",
            "By complexity, without the labels to check: these rows are hard although their label is probably right.",
        ),
        _rows(results, _suspects(complexity, labels), "suspects", "Labels to check", _of_suspects(labels)),
    )
    return Section("data", TITLE, lead, pictures, tuple(sheet for sheet in sheets if sheet.rows), folded=True)


def _suspects(complexity: Complexity, labels: WrongLabels) -> pd.DataFrame:
    """The rows to check; what they look like is the class that they likely have."""
    rows = labels.listed[:MOST_ROWS]
    return row_table(complexity, rows).assign(nearest=labels.likely[rows])


def _of_suspects(labels: WrongLabels) -> str:
    shown, number = min(MOST_ROWS, labels.listed.size), labels.number
    return (
        f"The likeliest {shown} of {labels.listed.size:,}, of which about {labels.false_alarms:.0%} have the right "
        f"label. By {labels.used}, about {number.value:,.0f} [{number.low:,.0f}, {number.high:,.0f}] labels are wrong."
    )


def _sampled(results: Results) -> str:
    """A sentence if this is about a sample of the rows."""
    measured = results.measured.size
    whole = results.data.codes.size
    return f" Geometry is measured on a sample of {measured:,} of them, drawn by class." if measured < whole else ""


def _classes(results: Results) -> Sheet:
    data = results.data
    counts = np.bincount(data.codes, minlength=data.classes.size)
    right = {
        name: _right_by_class(data, one.held_out) for name, one in results.learners.items() if one.held_out is not None
    }
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
        if by_class is not None:
            row += [cell(by_class.at[label, "complexity"]), cell(by_class.at[label, "confused_with"])]
        rows.append((*row, *(float(values[code]) for values in right.values())))
    cut = f" The hardest {MOST_CLASSES} of {counts.size}." if counts.size > MOST_CLASSES else ""
    called = tuple(f"{name}: correct" for name in right)
    note = (
        f"Correct: share of the rows of the class that a fit on other rows predicts correctly.{cut}"
        if right
        else cut.strip()
    )
    return Sheet("classes", "Classes", (*columns, *called), tuple(rows), note)


def _right_by_class(data: DataResults, held: HeldOut) -> Floats:
    """The share of the tested rows of each class that is predicted correctly; NaN if none was tested."""
    codes = data.codes[held.tested]
    with np.errstate(invalid="ignore"):
        return np.bincount(codes, held.right(data.codes), minlength=data.classes.size) / np.bincount(
            codes, minlength=data.classes.size
        )


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


def _rows(results: Results, chosen: pd.DataFrame, key: str, title: str, note: str) -> Sheet:
    assert results.complexity is not None
    numbers: list[int] = chosen["row"].tolist()
    known = [row for row in numbers if results.complexity.known[row]]
    against: dict[int, list[str]] = {}
    if known:
        why = results.complexity.explain(known, top=3)
        for number, feature, amount in zip(why["row"].tolist(), why["feature"].tolist(), why["contribution"].tolist()):
            if amount > 0:
                against.setdefault(number, []).append(str(feature))
    rows, details = [], []
    for place, label, nearest, value in zip(numbers, chosen["label"], chosen["nearest"], chosen["complexity"]):
        row = int(results.measured[place])
        columns = [name for name in against.get(place, []) if name in results.data.X.columns]
        evidence = content(results.data, row, columns) if columns else ", ".join(against.get(place, []))
        rows.append((row, cell(label), cell(nearest), float(value), evidence))
        details.append(_whole_row(results.data, row, columns))
    return Sheet(
        key,
        title,
        ("row", "label", "looks like", "complexity", "evidence for the other class"),
        tuple(rows),
        f"{note} Rows are counted from 0.",
        details=tuple(details),
    )


def _whole_row(data: DataResults, row: int, first: list[str]) -> Sheet:
    names = columns_first(data, first, 40)
    return Sheet(
        f"row/{row}", f"Row {row}", ("column", "value"), tuple((name, cell(data.X[name].iloc[row])) for name in names)
    )


# Where errors concentrate.


MOST_IN_SLICE = 15


def slices_section(results: Results) -> Section:
    """Where the errors of each learner concentrate."""
    searched = {name: one for name, one in results.learners.items() if one.slices is not None}
    if not searched:
        why = next(iter(results.learners.values())).why.get("slices", "there are no cross-validated predictions")
        return Section("slices", SLICES, "", absent=why, folded=True)
    sheets = [_slices(results, name, one) for name, one in searched.items()]
    none = [quoted(sheet.key.removeprefix("slices/")) for sheet in sheets if not sheet.rows]
    lead = (
        "Ranges and categories of one or two columns in which a learner is wrong more often than elsewhere: found in "
        "one part of the rows, confirmed in the others. Open one to see its rows."
    )
    tested = next(one.held_out.tested.size for one in searched.values() if one.held_out is not None)
    if tested < results.data.codes.size:
        lead += f" Searched among {tested:,} of {results.data.codes.size:,} rows, those with predictions."
    lead += f" No slice stands out for {joined(none)}." if none else ""
    filled = [(name, one) for name, one in searched.items() if one.slices is not None and one.slices.slices]
    pictures: tuple[Picture, ...] = ()
    if filled:
        name, one = max(filled, key=lambda item: _accuracy(results, item[1]))
        pictures = (_picture(name, one),)
    return Section("slices", SLICES, lead, pictures, tuple(sheet for sheet in sheets if sheet.rows), folded=True)


def _picture(name: str, one: LearnerResults) -> Picture:
    assert one.slices is not None
    return Picture(
        f"slices/{name}",
        f"Error rates of {name}",
        f"Error rates in the slices in which {name} is wrong most often, with intervals, compared with all rows.",
        spec_of(charts.slices_chart(one.slices)),
        None,
    )


def _accuracy(results: Results, one: LearnerResults) -> float:
    """How often it is right: the chart shows the learner that one would choose."""
    return 0.0 if one.held_out is None else float(one.held_out.right(results.data.codes).mean())


def _slices(results: Results, name: str, one: LearnerResults) -> Sheet:
    assert one.slices is not None
    rows = tuple(
        (each.condition, each.size, each.error_rate, each.rest_rate, each.lift, each.q_value)
        for each in one.slices.slices
    )
    details = tuple(_inside(results, one, place, each) for place, each in enumerate(one.slices.slices))
    return Sheet(
        f"slices/{name}",
        f"Where {name} is wrong",
        ("where", "size", "error_rate", "rest_rate", "lift", "q_value"),
        rows,
        f"{one.slices.n_errors:,} of {one.slices.n_rows:,} rows are predicted wrongly; "
        f"{counted(len(one.slices.tested), 'slice')} tested.",
        (name,) * len(rows),
        details,
    )


def _inside(results: Results, one: LearnerResults, place: int, each: Slice) -> Sheet:
    """Rows of a slice, errors first."""
    assert one.slices is not None
    assert one.held_out is not None
    data, held = results.data, one.held_out
    places = np.flatnonzero(one.slices.rows(place))
    wrong = held.labels[places] != data.codes[held.tested[places]]
    shown = np.concatenate([places[wrong], places[~wrong]])[:MOST_IN_SLICE]
    names = columns_first(data, each.features)
    return Sheet(
        f"slice/{one.name}/{place}",
        f"Rows where {each.condition}",
        ("row", "label", "prediction", *names),
        tuple(
            (
                int(row),
                cell(data.classes[data.codes[row]]),
                cell(data.classes[predicted]),
                *(cell(data.X[name].iloc[row]) for name in names),
            )
            for row, predicted in zip(held.tested[shown], held.labels[shown])
        ),
        f"{shown.size} of {places.size:,} rows, errors first. Rows are counted from 0.",
    )


# Rows of the data as people need to see them: what they hold, cut to what matters.


MOST_COLUMNS = 8


def content(data: DataResults, row: int, columns: Sequence[str]) -> str:
    """Some columns of a row with their values, such as radius 14.2, texture 30."""
    return ", ".join(f"{name} {value_of(data.X, row, name)}" for name in columns)


def value_of(frame: pd.DataFrame, row: int, column: str) -> str:
    """A value as text, numbers to four digits."""
    value = frame[column].iloc[row]
    if pd.isna(value):
        return "missing"
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    return str(value)


def cell(value: Any) -> Cell:
    """A value of the data as a cell of a sheet."""
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)) or value is pd.NA:
        return None
    if isinstance(value, np.generic):
        return cell(value.item())
    if isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def columns_first(data: DataResults, first: Sequence[str], most: int = MOST_COLUMNS) -> list[str]:
    """Columns of a row to show: the important ones, then others up to `most`."""
    rest = [name for name in data.X.columns if name not in first]
    return [*first, *rest][: max(most, len(first))]
