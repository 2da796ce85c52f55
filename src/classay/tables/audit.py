"""What was read of a table: each column's kind and use, cells and rows that were lost, renamed headers, classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..expect import InputError, counted, shown
from ..frames import pandas_of
from ..inputs import names_of_columns
from ..printable import html_of
from ..result import plain
from . import kinds

FEATURE, TARGET, GROUPS, TIME, WEIGHT, LEFT_OUT = "feature", "target", "groups", "time", "weight", "left out"
ASKED = "dropped as asked"
MOST_COLUMNS = 12


@dataclass(frozen=True)
class ColumnAudit:
    """One column: what it is, what it is used for, and why; cells that are missing, and cells that were not read.

    kind: number, category, boolean, date, text, identifier, constant or empty.
    use: feature, target, text, groups, time, weight or left out.
    missing: cells without a value, with those that became missing.
    unparsed: cells that became missing because they are not of the column's kind; `examples` are some of them, each
        with its row, counted from 1 without the header.
    notable: whether there is more to say than the kind.
    """

    name: str
    kind: str
    use: str
    why: str
    missing: int = 0
    unparsed: int = 0
    examples: tuple[tuple[int, str], ...] = ()
    notable: bool = False

    @property
    def loss(self) -> str:
        """A sentence on the cells that became missing, or nothing."""
        if not self.unparsed:
            return ""
        examples = [f"row {row}: {_short(text)!r}" for row, text in self.examples]
        more = ", …" if self.unparsed > len(examples) else ""
        what = {kinds.DATE: "a date", kinds.NUMBER: "a number"}.get(self.kind, "a value of this column")
        what = f"not {what}" if not self.why.endswith("infinite ones become missing") else "infinite"
        cells = f"{self.unparsed} cells are {what} and were" if self.unparsed > 1 else f"1 cell is {what} and was"
        return f"Column {self.name!r}: {cells} read as missing ({', '.join(examples)}{more})."


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

    def to_frame(self) -> pd.DataFrame:
        """One row per column."""
        rows = [
            {
                "column": column.name,
                "kind": column.kind,
                "use": column.use,
                "why": column.why,
                "missing": column.missing,
                "unparsed": column.unparsed,
                "examples": ", ".join(f"row {row}: {text}" for row, text in column.examples),
            }
            for column in self.columns
        ]
        names = ["column", "kind", "use", "why", "missing", "unparsed", "examples"]
        return pd.DataFrame(rows, columns=names)

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
            "columns": [
                {
                    "name": column.name,
                    "kind": column.kind,
                    "use": column.use,
                    "why": column.why,
                    "missing": column.missing,
                    "unparsed": column.unparsed,
                    "examples": [{"row": row, "text": text} for row, text in column.examples],
                }
                for column in self.columns
            ],
            "renamed": [{"old": old, "new": new} for old, new in self.renamed],
            "dropped_rows": [
                {"why": why, "count": count, "rows": list(rows)} for why, count, rows in self.dropped_rows
            ],
            "classes": [{"label": label, "count": count} for label, count in self.classes],
            "notes": plain(self.notes),
            "losses": list(self.losses),
        }

    def __str__(self) -> str:
        used = [column for column in self.columns if column.use in (FEATURE, kinds.TEXT)]
        by_kind = {kind: sum(column.kind == kind for column in used) for kind in dict.fromkeys(c.kind for c in used)}
        words = {kinds.CATEGORY: "categories", kinds.TEXT: "text", kinds.EMPTY: "empty", kinds.CONSTANT: "constant"}
        summary = ", ".join(
            f"{count} {words.get(kind, f'{kind}s' if count > 1 else kind)}" for kind, count in by_kind.items()
        )
        head = f"{self.source}: {counted(self.rows, 'row')}, {counted(len(used), 'column')}"
        if self.classes:
            head += f", {counted(len(self.classes), 'class', 'classes')}"
        lines = [f"{head}." + (f" Columns: {summary}." if summary else "")]
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
    if isinstance(X, pd.DataFrame):
        columns = tuple(_described(str(column), X.iloc[:, place]) for place, column in enumerate(X.columns))
        rows = len(X)
    elif sparse.issparse(X):
        rows, width = X.shape  # type: ignore[attr-defined]  # the stubs know the abstract kind only
        columns = tuple(ColumnAudit(each, kinds.NUMBER, FEATURE, "numbers") for each in names_of_columns(X, width))
    else:
        table = np.asarray(X)
        rows = len(table)
        flat = table.reshape(rows, -1) if rows else table
        columns = tuple(
            _described(each, pd.Series(flat[:, place]))
            for place, each in enumerate(names_of_columns(X, flat.shape[1] if flat.ndim == 2 else 0))
        )
    return Audit(name, rows, rows, columns, classes=() if y is None else class_counts(np.asarray(y).ravel()))


def class_counts(labels: Iterable[Any]) -> tuple[tuple[str, int], ...]:
    """Each label as text with its number of rows, in the order of the classes."""
    counts = pd.Series(labels).value_counts(sort=False)
    try:
        counts = counts.sort_index()
    except TypeError:  # numbers and text together have no order
        counts = counts.sort_index(key=lambda labels: labels.map(str))
    return tuple((str(label), int(count)) for label, count in counts.items())


def column_audit(name: str, read: kinds.Column, use: str, kind: str = "", why: str = "") -> ColumnAudit:
    """The audit of a column as read; `kind` and `why` replace its own."""
    kept = kind or read.kind, why or read.why
    return ColumnAudit(name, kept[0], use, kept[1], read.missing, read.unparsed, read.examples, read.notable)


def _described(name: str, column: pd.Series[Any]) -> ColumnAudit:
    try:
        return column_audit(name, kinds.described(column), FEATURE)
    except (InputError, TypeError) as problem:  # a learner may be able to read what files may not have
        return ColumnAudit(name, kinds.CATEGORY, FEATURE, str(problem).rstrip("."), int(column.isna().sum()))


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
