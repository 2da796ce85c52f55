"""Tables of labelled rows, from any source: columns to learn from, labels, and an audit of what was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from ..arrays import Ints
from ..expect import InputError, counted, nearest, shown, unique_names, within
from . import kinds
from .audit import ASKED, Audit, class_counts
from .cells import NumberFormat, cells, number_format, numbers_of, refuse_odd
from .data import Data
from .kinds import (
    FEATURE,
    LEFT_OUT,
    TARGET,
    TIME,
    WEIGHT,
    Column,
    ColumnAudit,
    differ_in_spelling,
    is_identifier,
    labels,
    read_column,
    read_column_as,
    rows_without,
    spelled,
    with_thousands,
)
from .sources import load_source
from .text_files import LoadedTable, Wanted


@dataclass(frozen=True)
class Source:
    """One source as read, before its rows are checked as `Data`.

    per_row: groups, time and weight, where they were named.
    positions: where the rows are in the source, if some were dropped.
    """

    X: pd.DataFrame
    y: pd.Series[Any]
    audit: Audit
    per_row: dict[str, pd.Series[Any]] = field(default_factory=dict)
    positions: Ints | None = None

    @property
    def text(self) -> str | None:
        """The column that is text to embed."""
        return self.audit.used_as(kinds.TEXT)

    @property
    def target(self) -> str:
        """The column with the labels."""
        return str(self.y.name)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the results should know, and what was lost."""
        return (*self.audit.notes, *self.audit.losses)


@dataclass(frozen=True)
class Roles:
    """Columns that users named, and what for."""

    target: str | None = None
    text: str | None = None
    groups: str | None = None
    time: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()
    numbers: bool = False
    """Whether the target is a number, and not one of some classes."""

    def named(self) -> list[tuple[str, str]]:
        """What for, and the column."""
        roles = [("target", self.target), ("text", self.text), ("groups", self.groups), ("time", self.time)]
        roles += [("weight", self.weight), *(("drop", name) for name in self.drop)]
        return [(role, name) for role, name in roles if name is not None]

    def beside_target(self) -> frozenset[str]:
        """Columns that cannot be the target."""
        return frozenset(name for role, name in self.named() if role != "target")


def read_table(
    source: str | Path,
    target: str | None = None,
    text: str | None = None,
    groups: str | None = None,
    time: str | None = None,
    weight: str | None = None,
    test: str | Path | None = None,
    *,
    drop: Iterable[str] = (),
    like: Data | None = None,
    new_classes: bool = False,
    numbers: bool = False,
) -> Data:
    """A table by built-in name, from a file, or from OpenML.

    source: one of `sources.BUILT_IN`; a .csv or .tsv (also .gz, .bz2, .xz), .parquet, .arff or .npz file (arrays X
        and y); `openml:NAME` or `openml:ID`; `-` for standard input.
    target: the column with the labels. Default: the one the source names, else the last, with a note.
    text: the column of texts to embed; never the target. Without it, a column of sentences is an error, unless there
        is nothing else to learn from.
    groups, time, weight: columns with the group, the time and the weight of each row. They are not learned from.
    test: a second source with the rows to test on; it is read in the same way, as `Data.test`.
    drop: columns not to use.
    new_classes: whether the test rows may have classes that the others do not have.
    numbers: whether the target is a number, as regressors learn it, and not one of some classes.
    like: a table that was read before. Columns are read in the same way; those that it does not use are dropped.

    A column is numbers if at least 95 % of its values are, in one format; the rest becomes missing. Percent, currency,
    thousands and decimal commas are read. Words for missing, such as ? and n/a, are missing. Whole numbers with leading
    zeros are codes and stay text. Columns without any value, and text columns with a different value in every row, are
    dropped. Rows without a label are dropped if they are at most 5 %. Labels keep their spelling; whole numbers are
    numbers. `Data.audit` says what was decided for each column.

    >>> table = read_table("breast_cancer")
    >>> table.X.shape, table.classes.tolist()
    ((569, 30), ['benign', 'malignant'])
    """
    roles = Roles(target, text, groups, time, weight, tuple([drop] if isinstance(drop, str) else drop), numbers)
    first = read_source(source, roles, like)
    if like is not None:
        return _with_source(like.further(first.X, first.y), first)
    part: dict[str, Any] = {"groups": first.per_row.get("groups")}
    second = None
    if test is not None:
        second = _test_source(test, replace(roles, target=first.target, text=first.text), first, new_classes)
        part |= {"X_test": second.X, "y_test": second.y}
        if "groups" in first.per_row and "groups" in second.per_row:
            part["groups"] = pd.concat([first.per_row["groups"], second.per_row["groups"]], ignore_index=True)
    data = Data.of(
        first.X,
        first.y,
        time=first.per_row.get(TIME),
        sample_weight=first.per_row.get(WEIGHT),
        target=first.target,
        numbers=numbers,
        new_classes=new_classes,
        **part,
    )
    if data.test is not None and second is not None:
        data = replace(data, test=_with_source(data.test, second))
    return _with_source(data, first)


def _with_source(data: Data, source: Source) -> Data:
    audit, notes = source.audit, source.notes  # the audit has the columns that are constant
    return replace(data, name=audit.source, notes=notes, as_read=audit, text=source.text, positions=source.positions)


def read_source(
    source: str | Path, roles: Roles, like: Data | Source | None = None, optional: frozenset[str] = frozenset()
) -> Source:
    """Read one source, without a look at whether anything can be learned. optional: roles that may be absent."""
    texts = {roles.groups} if roles.groups is not None else set()
    if like is not None:
        # Numbers in a form that programs do not write must be read from their text.
        plain = (None, NumberFormat())
        texts |= {name for name, format in like.audit.formats.items() if format.text or format.number not in plain}
    name, loaded = load_source(source, Wanted(roles.target, roles.beside_target(), frozenset(texts), like is None))
    return _labelled_rows(name, loaded, roles, like, optional)


def read_frame(source: str | Path) -> pd.DataFrame:
    """All columns of a table unchanged, for data without a target: predictions, logs. Sources as in `read_table`."""
    name, loaded = load_source(source, Wanted(codes=False, labelled=False))
    frame = _checked_frame(name, loaded)
    if loaded.decimal_comma:
        for column in frame.select_dtypes(exclude="number"):
            found = cells(frame[column])
            written = number_format(found, decimal_comma=True)
            if written is not None and written.decimal == "," and not (written.thousands or written.unit):
                values = numbers_of(found.texts, written)
                if not np.isnan(values).any():
                    frame[column] = found.spread(values, np.nan)
    return frame


def _checked_frame(name: str, loaded: LoadedTable) -> pd.DataFrame:
    """The rows, numbered from 0; an error if there are none or two columns have the same name."""
    frame = loaded.frame.rename(columns=str).reset_index(drop=True)
    unique_names(frame.columns, repr(name))
    within(len(frame), "rows", f"The number of rows of {name!r}")
    within(frame.shape[1], "columns", f"The number of columns of {name!r}")
    if frame.empty:
        raise InputError(f"{name!r} has a header ({shown(frame.columns)}) but no rows.")
    return frame


def _labelled_rows(
    name: str, loaded: LoadedTable, named: Roles, like: Data | Source | None, optional: frozenset[str]
) -> Source:
    frame = _checked_frame(name, loaded)
    roles = _existing(name, frame, loaded, named, optional, like)
    target = _target_of(name, frame, roles)
    notes = list(loaded.notes)
    if roles.target is None:
        notes.append(f"Target: last column {target!r}. Use --target to choose another.")
        roles = replace(roles, target=target)
    columns = _read_columns(frame, loaded, roles, like)
    read_target = _number_target if roles.numbers else _class_target
    y, gone, columns[target] = read_target(frame[target], loaded, like)
    columns = _with_uses(name, frame, columns, roles, like)
    features = [column for column in frame if columns[str(column)].use in (FEATURE, kinds.TEXT)]
    if like is not None:
        features = list(like.X.columns)
        if absent := [column for column in features if column not in columns]:
            first = like.audit.source
            raise InputError(f"{name!r} does not have the columns {shown(absent)} of {first!r}; expected the same.")
        if not roles.numbers and not types.is_numeric_dtype(like.y.dtype):
            y = y.map(str)
    elif (text := next((each for each, audit in columns.items() if audit.use == kinds.TEXT), None)) != roles.text:
        notes.append(f"Text: {text!r}, the only column to learn from. Use --text to choose another.")
    kept = np.delete(np.arange(len(frame)), gone)
    frame = frame.iloc[kept].reset_index(drop=True) if gone.size else frame
    X = frame[features]
    spellings = "" if roles.numbers else differ_in_spelling(y)
    notes += [note for note in (spellings, _copies(X, y)) if note]
    first_gone = tuple(int(row) + 1 for row in gone[:5])
    audit = Audit(
        name,
        kept.size + gone.size,
        len(y),
        tuple(columns[str(column)] for column in frame),
        loaded.renamed,
        ((f"whose target {target!r} is missing", gone.size, first_gone),) if gone.size else (),
        () if roles.numbers else class_counts(y),
        tuple(notes),
    )
    for_rows = {"groups": roles.groups, TIME: roles.time, WEIGHT: roles.weight}
    per_row = {role: _role(frame[of], columns[of], kept) for role, of in for_rows.items() if of is not None}
    return Source(X, y, audit, per_row, kept if gone.size else None)


def _target_of(name: str, frame: pd.DataFrame, roles: Roles) -> str:
    """The target as named; otherwise the last column that has values and no other use."""
    empty = frame.head(1000).isna().all()
    full = [
        str(column)
        for column, at_first in zip(frame.columns, empty)
        if column == roles.target or not at_first or frame[column].notna().any()
    ]
    if len(full) < 2:
        raise InputError(
            f"{name!r} has one column with values ({shown(full)}); expected one to learn from and one with "
            "labels. Is the separator a comma, a semicolon or a tab?"
        )
    possible = [roles.target or "", *(column for column in full if column not in roles.beside_target())]
    if roles.target is None and len(possible) == 1:
        raise InputError(f"{name!r} has no column left for the labels; expected one besides {shown(full)}.")
    return possible[-1] if roles.target is None else roles.target


def _existing(
    name: str,
    frame: pd.DataFrame,
    loaded: LoadedTable,
    named: Roles,
    optional: frozenset[str],
    like: Data | Source | None,
) -> Roles:
    """The columns that users named, by their names after reading; an error if one is not there or has two uses.

    What users dropped from the table before is dropped, too.
    """
    changed = dict(loaded.renamed)
    label_column = named.target if named.target is not None else loaded.target
    now = [] if label_column is None else [("target", label_column)]
    now += [(role, column) for role, column in named.named() if role != "target"]
    now = [(role, changed.get(column, column)) for role, column in now]
    now = [(role, column) for role, column in now if column in frame or role not in optional]
    used: dict[str, str] = {}
    for role, column in now:
        if column not in frame:
            raise InputError(
                f"{name!r} has no column {column!r}.{nearest(column, frame.columns)} It has {shown(frame.columns)}."
            )
        if column in used and used[column] != role:
            raise InputError(f"The column {column!r} is both {used[column]} and {role}; expected two columns.")
        used[column] = role
    if like is not None:
        asked = [each.name for each in like.audit.columns if each.use == LEFT_OUT and each.why == ASKED]
        now += [("drop", column) for column in asked if column in frame and column not in used]
    by_role = {role: column for role, column in now if role != "drop"}
    dropped = tuple(column for role, column in now if role == "drop")
    return Roles(**by_role, drop=dropped, numbers=named.numbers)


def _read_columns(
    frame: pd.DataFrame, loaded: LoadedTable, roles: Roles, like: Data | Source | None
) -> dict[str, ColumnAudit]:
    """Read every column but the target and those to drop, and convert it in the frame."""
    names = [str(name) for name in frame.columns if name != roles.target and name not in roles.drop]
    columns = {name: frame[name] for name in names}
    if like is not None:
        known = like.audit.formats
        read = {
            name: read_column_as(column, known[name]) if name in known else read_column(column)
            for name, column in columns.items()
        }
    else:
        nominal = {*loaded.nominal, roles.groups}  # groups 01 and 1 are two
        comma = loaded.decimal_comma
        read = {
            name: read_column(column, nominal=name in nominal, decimal_comma=comma) for name, column in columns.items()
        }
        read |= _by_other_columns(columns, read, loaded)
    for name, (values, _) in read.items():
        if values is not columns[name]:
            frame[name] = values
    return {name: audit for name, (_, audit) in read.items()}


def _by_other_columns(
    columns: dict[str, pd.Series[Any]], read: dict[str, Column], loaded: LoadedTable
) -> dict[str, Column]:
    """Columns to be read otherwise: where one shows that commas are decimal, they are in those that do not show it."""
    formats = {name: audit.format.number for name, (_, audit) in read.items() if audit.format is not None}
    written = {name: number for name, number in formats.items() if number is not None}
    if not any(number.decimal == "," and not number.guessed for number in written.values()):
        return {}
    guessed = [name for name, number in written.items() if number.guessed and number.thousands]
    again = {name: read_column(columns[name], decimal_comma=True) for name in guessed}
    pointed = [name for name, number in written.items() if number.decimal == "."]
    texts = {name: columns[name] for name in pointed if not types.is_numeric_dtype(columns[name].dtype)}
    possible = [name for name in pointed if name not in texts and _has_three_decimals(columns[name])]
    if possible and loaded.spelling is not None:
        spelling = loaded.spelling(possible, True)
        texts |= {name: spelling[name] for name in possible}
    for name, column in texts.items():
        if (with_points := with_thousands(column, written[name])) is not None:
            again[name] = with_points
    return again


def _has_three_decimals(column: pd.Series[Any]) -> bool:
    """Whether a column, read with decimal points, can be written with three digits after every point."""
    if not pd.api.types.is_float_dtype(column.dtype):
        return False
    values = column.to_numpy(dtype=float)
    thousandfold = 1000 * values[np.isfinite(values)]
    return bool((np.abs(thousandfold) < 1e6).all() and np.allclose(thousandfold, np.round(thousandfold), 0, 1e-6))


Target = tuple["pd.Series[Any]", Ints, ColumnAudit]
"""The labels of the rows that have one, the rows without, and what was read."""


def _class_target(column: pd.Series[Any], loaded: LoadedTable, like: Data | Source | None) -> Target:
    name = str(column.name)
    refuse_odd(column)
    word_at = None
    if loaded.spelling is not None:
        if not types.is_string_dtype(column) or types.is_numeric_dtype(column):
            column = loaded.spelling([name], True)[name]
        word_at = loaded.spelling([name], False)[name] if column.isna().any() else None
    gone = rows_without(column, word_at)
    column = column.drop(gone).reset_index(drop=True)
    y = labels(column if loaded.spelling is None else spelled(column), few=like is not None)
    kind = kinds.NUMBER if types.is_numeric_dtype(y.dtype) else kinds.CATEGORY
    classes = counted(int(y.nunique()), "class", "classes")
    return y, gone, ColumnAudit(name, kind, f"{classes}, as spelled", TARGET)


def _number_target(column: pd.Series[Any], loaded: LoadedTable, like: Data | Source | None) -> Target:
    name = str(column.name)
    if like is not None and name in like.audit.formats:
        values, audit = read_column_as(column, like.audit.formats[name])
    else:
        values, audit = read_column(column, decimal_comma=loaded.decimal_comma)
    if not types.is_numeric_dtype(values.dtype) or types.is_bool_dtype(values.dtype):
        raise InputError(
            f"The target {name!r} is of kind {audit.kind} ({audit.why}); a regressor needs numbers. Is the target "
            "column right? For classes, pass a classifier."
        )
    if audit.unparsed:
        raise InputError(
            f"The target {name!r} has {counted(audit.unparsed, 'value')} that cannot be read as a number "
            f"({shown([repr(text) for _, text in audit.examples], 4)}). Correct these values, or drop their rows."
        )
    gone = rows_without(values)
    y = values.drop(gone).reset_index(drop=True).astype(float)
    return y, gone, ColumnAudit(name, kinds.NUMBER, "numbers to learn", TARGET, format=audit.format)


def _with_uses(
    name: str, frame: pd.DataFrame, columns: dict[str, ColumnAudit], roles: Roles, like: Data | Source | None
) -> dict[str, ColumnAudit]:
    used = {column: replace(columns[column], use=role) for role, column in roles.named() if role != "drop"}
    # Not even looked at, so that users can drop what cannot be read.
    used |= {column: ColumnAudit(column, kinds.CATEGORY, ASKED, LEFT_OUT) for column in roles.drop}
    free = [column for column in columns if column not in used]
    if like is not None:
        text = like.audit.used_as(kinds.TEXT)
        for column in free:
            audit = replace(columns[column], use=FEATURE if column in like.X else LEFT_OUT)
            audit = replace(audit, use=kinds.TEXT) if column == text else audit
            names_rows = audit.use == LEFT_OUT and is_identifier(frame[column])
            used[column] = replace(audit, kind=kinds.IDENTIFIER) if names_rows else audit
        return used
    sentences = [column for column in free if columns[column].kind == kinds.TEXT]
    for column in free:
        audit = columns[column]
        if column in sentences or audit.kind == kinds.EMPTY:
            audit = replace(audit, use=LEFT_OUT)
        elif is_identifier(frame[column]):
            audit = replace(audit, use=LEFT_OUT, kind=kinds.IDENTIFIER, why="every value is unique")
        used[column] = audit
    text = roles.text
    if text is None and sentences:
        useful = [each for each in free if used[each].use == FEATURE and used[each].kind != kinds.CONSTANT]
        text = _only_text(sentences, useful)
    if text is not None:
        used[text] = replace(used[text], use=kinds.TEXT, kind=kinds.TEXT)
    if not any(audit.use in (FEATURE, kinds.TEXT) for audit in used.values()):
        unique = [column for column, audit in used.items() if audit.kind == kinds.IDENTIFIER]
        reason = f"every value of {shown(unique)} is unique" if unique else "every column is used otherwise"
        raise InputError(f"{name!r} has nothing to learn from: {reason}.")
    return used


def _only_text(sentences: list[str], useful: list[str]) -> str:
    """The column of sentences to learn from, if there is nothing else; otherwise the user has to choose."""
    if len(sentences) == 1 and not useful:
        return sentences[0]
    names = shown([f"`{name}`" for name in sentences], 4)
    first = sentences[0]
    others = " ".join(f"--drop {_quoted(name)}" for name in sentences)
    verb, one, all_ = ("looks", "it", "it") if len(sentences) == 1 else ("look", "one", "them")
    learn = f" and learn from {shown(useful, 4)}" if useful else ""
    raise InputError(
        f"{names} {verb} like text: add `--text {_quoted(first)}` to use {one}, or `{others}` to drop {all_}{learn}."
    )


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name


def _role(values: pd.Series[Any], audit: ColumnAudit, rows: Ints) -> pd.Series[Any]:
    """A column with the group, time or weight of each row, checked. rows: where the rows are in the source."""
    missing = np.flatnonzero(values.isna())
    if missing.size:
        raise InputError(
            f"The {audit.use} column {audit.name!r} is missing in {missing.size} of {len(values)} rows (row "
            f"{shown(rows[missing] + 1, 5)}, counted from 1). Fill it, or drop these rows."
        )
    numeric = types.is_numeric_dtype(values.dtype) and not types.is_bool_dtype(values.dtype)
    if audit.use in (TIME, WEIGHT) and not numeric and not (audit.use == TIME and values.dtype.kind in "Mm"):
        expected = "numbers" if audit.use == WEIGHT else "dates or numbers, such as 2024-01-31"
        raise InputError(
            f"The {audit.use} column {audit.name!r} is of kind {audit.kind} ({audit.why}); expected {expected}."
        )
    return values


def _copies(X: pd.DataFrame, y: pd.Series[Any]) -> str:
    """A note on columns that equal the target in every row."""
    first = [str(label) for label in y.head(100)]
    rows = X.head(100).astype(object).to_numpy()
    likely = [name for place, name in enumerate(X.columns) if [str(value) for value in rows[:, place]] == first]
    copies = [str(name) for name in likely if X[name].map(str).equals(y.map(str))]
    return f"Columns that equal the target {str(y.name)!r} in every row: {shown(copies)}." if copies else ""


def _test_source(source: str | Path, roles: Roles, first: Source, new_classes: bool) -> Source:
    """The rows to test on, read as those to train on."""
    # What was dropped from the first table is dropped from any like it; weights are of rows to train on.
    test = read_source(source, replace(roles, text=None, drop=()), first, optional=frozenset({"weight"}))
    unknown = [label for label, _ in test.audit.classes if label not in dict(first.audit.classes)]
    if unknown and not new_classes:
        rows = int(test.y.map(str).isin(unknown).sum())
        raise InputError(
            f"{test.audit.source!r} has classes that {first.audit.source!r} does not have "
            f"({shown(map(repr, unknown), 4)}, in {counted(rows, 'row')}); expected the same classes. Drop these rows, "
            "or add such rows to the first."
        )
    return test
