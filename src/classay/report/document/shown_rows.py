"""Rows of the data as people need to see them: what they hold, cut to what matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...arrays import Ints
from ...data.labels.wrong_labels import WrongLabels
from ...data.model.new_rows import UnlikeKnown
from ...data.row_complexity import Complexity
from ...tables.data import Data
from .document import Cell, Sheet

MOST_ROWS = 20
MOST_COLUMNS = 8
WHOLE_ROW = 40
"""Most columns of a row that is opened."""


@dataclass(frozen=True)
class ShownRows:
    """Rows that a page can show: row i of a result is row `place[i]` of `frame`, and `number[i]` of its source.

    `texts` are the texts that were embedded, one per row of a result: they are shown instead of columns.
    """

    frame: pd.DataFrame
    place: Ints
    number: Ints
    texts: Sequence[str] | None = None

    @classmethod
    def of(cls, data: Data, rows: Ints | None = None, texts: Sequence[str] | None = None) -> ShownRows:
        """Some rows of the data, numbered as in their source; default: all."""
        places = np.arange(len(data)) if rows is None else rows
        return cls(data.table, places, places if data.positions is None else data.positions[places], texts)

    def whole(self, row: int, first: Sequence[str] = ()) -> Sheet:
        """A row with its columns, the important ones first."""
        columns, place, number = columns_first(self.frame, first, WHOLE_ROW), int(self.place[row]), self.number[row]
        cells = tuple((name, cell(self.frame[name].iloc[place])) for name in columns)
        return Sheet(f"row/{number}", f"Row {number}", ("column", "value"), cells)

    def content(self, row: int, columns: Sequence[str]) -> str:
        """Some columns of a row with their values, such as radius 14.2, texture 30; or its text."""
        if self.texts is not None:
            return self.texts[row]
        return ", ".join(f"{name} {value_of(self.frame, int(self.place[row]), name)}" for name in columns)


def hardest_sheet(complexity: Complexity, labels: WrongLabels, rows: ShownRows, most: int = MOST_ROWS) -> Sheet:
    """The hardest rows without the labels to check."""
    hardest = complexity.hardest(most + labels.listed.size)
    hardest = hardest[~hardest["row"].isin(labels.listed)].head(most)
    note = "By complexity, without the labels to check: these rows are hard, and their label is not suspected."
    return _evidence_sheet("hardest", "Hardest rows", note, complexity, hardest, rows)


def suspects_sheet(complexity: Complexity, labels: WrongLabels, rows: ShownRows, most: int = MOST_ROWS) -> Sheet:
    """The labels to check; what their rows look like is the class that they likely have."""
    listed = labels.listed[:most]
    number = labels.number
    note = (
        f"The likeliest {listed.size} of {labels.listed.size:,}, of which about {labels.false_alarms:.0%} have the "
        f"right label. By {labels.used}, about {number.value:,.0f} [{number.low:,.0f}, {number.high:,.0f}] labels are "
        "wrong."
    )
    chosen = complexity.table(listed).assign(nearest=labels.likely[listed])
    return _evidence_sheet("suspects", "Labels to check", note, complexity, chosen, rows)


def _evidence_sheet(
    key: str, title: str, note: str, complexity: Complexity, chosen: pd.DataFrame, rows: ShownRows
) -> Sheet:
    """Rows of a result with the evidence for another class than their own."""
    numbers: list[int] = chosen["row"].tolist()
    known = [row for row in numbers if complexity.known[row]]
    against: dict[int, list[str]] = {}
    if known and rows.texts is None:
        why = complexity.explain(known, top=3)
        for row, feature, amount in zip(why["row"].tolist(), why["feature"].tolist(), why["contribution"].tolist()):
            if amount > 0:
                against.setdefault(row, []).append(str(feature))
    lines, details = [], []
    for row, label, nearest, value in zip(numbers, chosen["label"], chosen["nearest"], chosen["complexity"]):
        columns = [name for name in against.get(row, []) if name in rows.frame.columns]
        plain = columns or rows.texts is not None
        evidence = rows.content(row, columns) if plain else ", ".join(against.get(row, []))
        lines.append((int(rows.number[row]), cell(label), cell(nearest), float(value), evidence))
        details.append(rows.whole(row, columns))
    what = "text" if rows.texts is not None else "evidence for the other class"
    columns_shown = ("row", "label", "looks like", "complexity", what)
    return Sheet(key, title, columns_shown, tuple(lines), f"{note} Rows are counted from 0.", details=tuple(details))


def unlike_sheet(unlike: UnlikeKnown, rows: ShownRows, most: int = MOST_ROWS) -> Sheet:
    """The rows that are unlike the known ones, the most unusual first."""
    found = unlike.to_frame().head(most)
    lines: list[tuple[Cell, ...]] = []
    for row, predicted, distance, unusual in found.itertuples(index=False):
        shown = rows.content(row, columns_first(rows.frame, (), 4))
        lines.append((int(rows.number[row]), cell(predicted), float(distance), float(unusual), shown))
    return Sheet(
        "unlike",
        "Most unlike the known rows",
        ("row", "looks most like", "distance", "unusual", "text" if rows.texts is not None else "first columns"),
        tuple(lines),
        f"The first {len(lines)} of {unlike.flagged.size:,}. Unusual: share of known rows, and itself, that are at "
        "least as far from every class. Rows are counted from 0.",
        details=tuple(rows.whole(row) for row in found["row"].tolist()),
    )


def value_of(frame: pd.DataFrame, row: int, column: str) -> str:
    """A value as text, numbers to four digits."""
    value = frame[column].iloc[row]
    if pd.isna(value):
        return "missing"
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    return str(value)


def frame_sheet(
    key: str,
    title: str,
    frame: pd.DataFrame,
    columns: Mapping[str, str],
    note: str = "",
    of: str = "",
    sort: bool = True,
) -> Sheet:
    """Columns of a frame as a sheet, under other names."""
    rows = tuple(tuple(map(cell, row)) for row in frame[list(columns)].itertuples(index=False, name=None))
    return Sheet(key, title, tuple(columns.values()), rows, note, (of,) * len(rows) if of else (), sort=sort)


def cell(value: Any) -> Cell:
    """A value of the data as a cell of a sheet."""
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)) or value is pd.NA:
        return None
    if isinstance(value, np.generic):
        return cell(value.item())
    if isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def columns_first(frame: pd.DataFrame, first: Sequence[str], most: int = MOST_COLUMNS) -> list[str]:
    """Columns of a row to show: the important ones, then others up to `most`."""
    rest = [name for name in frame.columns if name not in first]
    return [*first, *rest][: max(most, len(first))]
