"""What was read of a table: each column's kind and use, cells and rows that were lost, renamed headers, classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..expect import InputError, counted, shown
from ..frames import pandas_of
from ..inputs import is_sparse, names_of_columns
from ..printable import html_of
from ..result import plain
from . import kinds
from .kinds import LEFT_OUT, ColumnAudit, Format

ASKED = "dropped as asked"
MOST_COLUMNS = 12


@dataclass(frozen=True)
class Audit:
    """What was read of a table.

    rows_read: rows of the source. rows: those that were kept.
    renamed: old and new name of each header that was changed.
    dropped_rows: why, how many, and the first of them, counted from 1 without the header.
    classes: each label as text, with its number of rows.
    notes: what else a reader of the results should know.
    """

    source: str
    rows_read: int
    rows: int
    columns: tuple[ColumnAudit, ...]
    renamed: tuple[tuple[str, str], ...] = ()
    dropped_rows: tuple[tuple[str, int, tuple[int, ...]], ...] = ()
    classes: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()

    def used_as(self, use: str) -> str | None:
        """The first column with a use: target, text."""
        return next((column.name for column in self.columns if column.use == use), None)

    @property
    def formats(self) -> dict[str, Format]:
        """How each column was read, to read another file in the same way."""
        return {column.name: column.format for column in self.columns if column.format is not None}

    @property
    def losses(self) -> tuple[str, ...]:
        """A sentence for all that was lost: rows, cells, columns."""
        rows = [
            f"Dropped {counted(count, 'row')} of {self.rows_read}, {why} (row {shown(first, 5)}"
            f"{', …' if count > len(first) else ''}, counted from 1)."
            for why, count, first in self.dropped_rows
        ]
        cells = [column.loss for column in self.columns if column.loss and column.use != LEFT_OUT]
        return (*rows, *cells, *self._dropped_columns())

    def _dropped_columns(self) -> list[str]:
        dropped = [column for column in self.columns if column.use == LEFT_OUT and column.why != ASKED]
        reasons = {
            kinds.EMPTY: "without any value",
            kinds.IDENTIFIER: "because every value is unique",
            kinds.TEXT: "because another column has the texts to use",
            "": "because the first table does not use it",
        }
        known = {column.name: column.kind if column.kind in reasons else "" for column in dropped}
        return [
            f"Dropped, {reason}: {shown(names)}."
            for kind, reason in reasons.items()
            if (names := [name for name, its in known.items() if its == kind])
        ]

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each thing to know that is not a loss: renamed headers, how unusual columns were read."""
        renamed = [f"{old!r} → {new!r}" for old, new in self.renamed]
        unusual = [column for column in self.columns if column.notable and column.use != LEFT_OUT]
        lines = [f"Renamed: {shown(renamed)}."] if renamed else []
        lines += [f"Column {column.name!r} ({column.kind}): {column.why}." for column in unusual[:MOST_COLUMNS]]
        if len(unusual) > MOST_COLUMNS:
            lines.append(f"{len(unusual) - MOST_COLUMNS} more columns are described in the audit (--json).")
        return tuple(lines)

    def _column_rows(self) -> list[dict[str, Any]]:
        names = ("name", "kind", "use", "why", "missing", "unparsed")
        return [
            {name: getattr(column, name) for name in names}
            | {"examples": [{"row": row, "text": text} for row, text in column.examples]}
            for column in self.columns
        ]

    def to_frame(self) -> pd.DataFrame:
        """One row per column."""
        names = ["name", "kind", "use", "why", "missing", "unparsed", "examples"]
        frame = pd.DataFrame(self._column_rows(), columns=names).rename(columns={"name": "column"})
        frame["examples"] = [", ".join(f"row {row}: {text}" for row, text in each.examples) for each in self.columns]
        return frame

    def _repr_html_(self) -> str:
        return html_of(str(self), lambda: (self.to_frame(), "to_frame()"))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows, and the text where there is no HTML."""
        return {"text/plain": str(self), "text/html": self._repr_html_()}

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "source": self.source,
            "rows_read": self.rows_read,
            "rows": self.rows,
            "columns": self._column_rows(),
            "renamed": [{"old": old, "new": new} for old, new in self.renamed],
            "dropped_rows": [
                {"why": why, "count": count, "rows": list(rows)} for why, count, rows in self.dropped_rows
            ],
            "classes": [{"label": label, "count": count} for label, count in self.classes],
            "notes": plain(self.notes),
            "losses": list(self.losses),
        }

    def __str__(self) -> str:
        used = [column.kind for column in self.columns if column.use in (kinds.FEATURE, kinds.TEXT)]
        words = {kinds.CATEGORY: "categories", kinds.TEXT: "text", kinds.EMPTY: "empty", kinds.CONSTANT: "constant"}
        by_kind = {kind: used.count(kind) for kind in dict.fromkeys(used)}
        summary = [f"{count} {words.get(kind, f'{kind}s' if count > 1 else kind)}" for kind, count in by_kind.items()]
        head = f"{self.source}: {counted(self.rows, 'row')}, {counted(len(used), 'column')}"
        if self.classes:
            head += f", {counted(len(self.classes), 'class', 'classes')}"
        lines = [f"{head}." + (f" Columns: {', '.join(summary)}." if summary else "")]
        if self.classes:
            lines.append(f"Rows per class: {shown((f'{label} {count}' for label, count in self.classes), 6)}.")
        return "\n".join([*lines, *self.notes, *self.remarks, *self.losses])


def audit_frame(X: Any, y: Any = None, name: str = "data") -> Audit:
    """Describe a table given in Python. Its values stay as they are, so that nothing is ever lost.

    >>> print(audit_frame(pd.DataFrame({"size": [1.5, 2.0], "hue": ["red", "blue"]}), ["a", "b"]))
    data: 2 rows, 2 columns, 2 classes. Columns: 1 number, 1 categories.
    Rows per class: a 1, b 1.
    """
    X, y = pandas_of(X), pandas_of(y, "y")
    if is_sparse(X):
        rows, width = X.shape
        columns = [ColumnAudit(column, kinds.NUMBER, "numbers") for column in names_of_columns(X, width)]
    else:
        table = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X).reshape(len(X), -1), copy=False)
        rows, names = len(table), names_of_columns(X, table.shape[1])
        columns = [_described(table.iloc[:, place].rename(column)) for place, column in enumerate(names)]
    return Audit(name, rows, rows, tuple(columns), classes=() if y is None else class_counts(np.asarray(y).ravel()))


def class_counts(labels: Iterable[Any]) -> tuple[tuple[str, int], ...]:
    """Each label as text with its number of rows, in the order of the classes."""
    counts = pd.Series(labels).value_counts(sort=False)
    try:
        counts = counts.sort_index()
    except TypeError:  # numbers and text together have no order
        counts = counts.sort_index(key=lambda labels: labels.map(str))
    return tuple((str(label), int(count)) for label, count in counts.items())


def _described(column: pd.Series[Any]) -> ColumnAudit:
    try:
        return kinds.described(column)
    except (InputError, TypeError) as problem:  # a learner may be able to read what files may not have
        missing = int(column.isna().sum())
        return ColumnAudit(str(column.name), kinds.CATEGORY, str(problem).rstrip("."), missing=missing)
