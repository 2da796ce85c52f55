"""The section of a report that is about the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ... import charts
from ...expect import counted
from ..document import Cell, Picture, Section, Sheet
from ..phrases import percent, ruler
from ..results import DataResults, Results
from .learners import spec_of

MOST_CLASSES, MOST_ROWS = 50, 20


def data_section(parts: Results) -> Section:
    """Classes, hardest rows with their content, suspected labels."""
    data, found = parts.data, parts.complexity
    if found is None:
        return Section("data", "Data", "", (), (_classes(parts),), absent=parts.why.get("complexity", ""))
    suspects = found.suspects()
    lead = (
        f"{data.codes.size:,} rows, {counted(data.X.shape[1], 'column')}, {data.classes.size} classes. Taking "
        f"the nearest class by {ruler(found)} predicts {percent(found.baseline_accuracy)} of the rows correctly, "
        f"without any learner. Rows that look like another class than their label: {len(suspects):,}."
    )
    pictures = (
        Picture(
            "complexity",
            "How hard the rows of each class are",
            "Histogram of the complexity of rows, by class; the hardest class first.",
            spec_of(charts.complexity_histogram(found)),
            _classes(parts),
        ),
        Picture(
            "nearest",
            "Which classes are close to each other",
            "Share of the rows of each class that are nearest to each class centre.",
            spec_of(charts.nearest_classes(found)),
            _confused(parts),
        ),
    )
    sheets = (
        _classes(parts),
        _rows(
            parts,
            found.hardest(MOST_ROWS),
            "hardest",
            "Hardest rows",
            "By complexity. Hard rows can have the right label.",
        ),
        _rows(
            parts,
            suspects.head(MOST_ROWS),
            "suspects",
            "Labels to check",
            f"The likeliest {min(MOST_ROWS, len(suspects))} of {len(suspects):,}." if len(suspects) else "None.",
        ),
    )
    return Section("data", "Data", lead, pictures, tuple(sheet for sheet in sheets if sheet.rows))


def _classes(parts: Results) -> Sheet:
    data = parts.data
    counts = np.bincount(data.codes, minlength=data.classes.size)
    right = {
        name: np.bincount(data.codes, one.held_out.labels == data.codes, minlength=counts.size) / counts
        for name, one in parts.learners.items()
        if one.held_out is not None
    }
    order = np.argsort(-counts, kind="stable")
    columns = ["class", "rows", "share"]
    by_class = None if parts.complexity is None else parts.complexity.by_class.set_index("class")
    if by_class is not None:
        columns += ["complexity", "most similar to"]
        order = np.argsort(-by_class["complexity"].reindex(data.classes).to_numpy(), kind="stable")
    rows = []
    for code in order[:MOST_CLASSES]:
        label = data.classes[code]
        row: list[Cell] = [cell(label), int(counts[code]), float(counts[code] / counts.sum())]
        if by_class is not None:
            row += [cell(by_class.at[label, "complexity"]), cell(by_class.at[label, "nearest_other"])]
        rows.append((*row, *(float(values[code]) for values in right.values())))
    cut = f" The hardest {MOST_CLASSES} of {counts.size}." if counts.size > MOST_CLASSES else ""
    called = tuple(f"{name}: correct" for name in right)
    note = (
        f"Correct: share of the rows of the class that a fit on other rows predicts correctly.{cut}"
        if right
        else cut.strip()
    )
    return Sheet("classes", "Classes", (*columns, *called), tuple(rows), note)


def _confused(parts: Results) -> Sheet:
    assert parts.complexity is not None
    pairs = parts.complexity.confusion()
    pairs = pairs[pairs["nearer"] > 0].sort_values("nearer", ascending=False, kind="stable").head(MOST_CLASSES)
    rows = tuple(
        (cell(label), cell(nearest), count)
        for label, nearest, count in zip(pairs["label"], pairs["nearest"], pairs["nearer"].tolist())
    )
    return Sheet(
        "nearest", "Rows nearer to another class", ("label", "nearest class", "rows nearer to it"), rows, "", sort=True
    )


def _rows(parts: Results, chosen: pd.DataFrame, key: str, title: str, note: str) -> Sheet:
    assert parts.complexity is not None
    numbers: list[int] = chosen["row"].tolist()
    known = [row for row in numbers if parts.complexity.known[row]]
    speaking: dict[int, list[str]] = {}
    if known:
        why = parts.complexity.explain(known, top=3)
        for number, feature, amount in zip(why["row"].tolist(), why["feature"].tolist(), why["contribution"].tolist()):
            if amount > 0:
                speaking.setdefault(number, []).append(str(feature))
    rows, details = [], []
    for row, label, nearest, value in zip(numbers, chosen["label"], chosen["nearest"], chosen["complexity"]):
        columns = [name for name in speaking.get(row, []) if name in parts.data.X.columns]
        told = content(parts.data, row, columns) if columns else ", ".join(speaking.get(row, []))
        rows.append((row, cell(label), cell(nearest), float(value), told))
        details.append(_whole_row(parts.data, row, columns))
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
