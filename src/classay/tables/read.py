"""Tables of labelled rows, from any source: columns to learn from, labels, and an audit of what was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..arrays import Ints
from ..expect import InputError, counted, nearest, shown, within
from . import kinds
from .audit import (
    ASKED,
    FEATURE,
    LEFT_OUT,
    TARGET,
    TIME,
    WEIGHT,
    Audit,
    ColumnAudit,
    class_counts,
    column_audit,
)
from .cells import NumberFormat, cells, number_format, numbers_of, refuse_odd
from .data import Data
from .kinds import (
    Column,
    Format,
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
    """One source as read, before its rows are checked as `Data`."""

    name: str
    X: pd.DataFrame
    y: pd.Series[Any]
    target: str
    notes: tuple[str, ...]
    audit: Audit
    text: str | None
    groups: pd.Series[Any] | None
    time: pd.Series[Any] | None
    weights: pd.Series[Any] | None
    formats: Mapping[str, Format]
    positions: Ints | None


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
    part: dict[str, Any] = {"groups": first.groups}
    second = None
    if test is not None:
        second = _test_source(test, replace(roles, target=first.target, text=first.text), first, new_classes)
        part |= {"X_test": second.X, "y_test": second.y}
        if first.groups is not None and second.groups is not None:
            part["groups"] = pd.concat([first.groups, second.groups], ignore_index=True)
    data = Data.of(
        first.X,
        first.y,
        time=first.time,
        sample_weight=first.weights,
        target=first.target,
        numbers=numbers,
        new_classes=new_classes,
        **part,
    )
    if data.test is not None and second is not None:
        data = replace(data, test=_with_source(data.test, second))
    return _with_source(data, first)


def _with_source(data: Data, source: Source) -> Data:
    """The same rows with how they were read."""
    return replace(
        data,
        name=source.name,
        notes=source.notes,  # the audit has the columns that are constant
        as_read=source.audit,
        text=source.text,
        formats=source.formats,
        positions=source.positions,
    )


def read_source(
    source: str | Path, roles: Roles, like: Data | Source | None = None, optional: frozenset[str] = frozenset()
) -> Source:
    """Read one source, without a look at whether anything can be learned. optional: roles that may be absent."""
    texts = {roles.groups} if roles.groups is not None else set()
    if like is not None:
        texts |= {name for name, format in like.formats.items() if format.text or _is_people_format(format.number)}
    wanted = Wanted(roles.target, roles.beside_target(), frozenset(texts), codes=like is None)
    name, loaded = load_source(source, wanted)
    return _labelled_rows(name, loaded, roles, like, optional)


def _is_people_format(number: NumberFormat | None) -> bool:
    """Whether numbers are written in a way that programs do not write, so that they must be read from their text."""
    return number is not None and number != NumberFormat()


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
    if not frame.columns.is_unique:
        twins = frame.columns[frame.columns.duplicated()]
        raise InputError(f"{name!r} has columns with the same name ({shown(twins)}). Give each its own name.")
    within(len(frame), "rows", f"The number of rows of {name!r}")
    within(frame.shape[1], "columns", f"The number of columns of {name!r}")
    if frame.empty:
        raise InputError(f"{name!r} has a header ({shown(frame.columns)}) but no rows.")
    return frame


def _labelled_rows(
    name: str, loaded: LoadedTable, given: Roles, like: Data | Source | None, optional: frozenset[str]
) -> Source:
    """Split columns into features, labels and the rest, and check them."""
    frame = _checked_frame(name, loaded)
    roles = _existing(name, frame, loaded, given, optional)
    if like is not None:
        taken = {column for _, column in roles.named()}
        asked = [each.name for each in like.audit.columns if each.use == LEFT_OUT and each.why == ASKED]
        also = tuple(column for column in asked if column in frame and column not in taken)
        roles = replace(roles, drop=(*roles.drop, *also))
    notes = list(loaded.notes)
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
    possible = [column for column in full if column not in roles.beside_target()]
    if roles.target is None and not possible:
        raise InputError(f"{name!r} has no column left for the labels; expected one besides {shown(full)}.")
    target = roles.target if roles.target is not None else possible[-1]
    if roles.target is None:
        notes.append(f"Target: last column {target!r}. Use --target to choose another.")
        roles = replace(roles, target=target)
    columns = _read_columns(frame, loaded, roles, like)
    formats: dict[str, Format] = {}
    if roles.numbers:
        y, gone, formats = _number_target(frame[target], loaded, like)
    else:
        y, gone = _target(frame[target], loaded, like)
    uses, text = _uses(name, columns, roles, like)
    if text is not None and roles.text is None:
        notes.append(f"Text: {text!r}, the only column to learn from. Use --text to choose another.")
    kept = np.ones(len(frame), dtype=bool)
    kept[gone] = False
    dropped_rows = ((f"whose target {target!r} is missing", gone.size, tuple(int(row) + 1 for row in gone[:5])),)
    audit = Audit(
        name,
        len(frame),
        len(y),
        tuple(_audited(column, columns.get(column), uses.get(column), y, roles) for column in frame.columns),
        loaded.renamed,
        dropped_rows if gone.size else (),
        () if roles.numbers else class_counts(y),
    )
    for column, read in columns.items():
        if read.converted:
            frame[column] = read.values
    if gone.size:
        frame = frame[kept].reset_index(drop=True)
    features = [column for column in frame.columns if uses.get(column, ("",))[0] in (FEATURE, kinds.TEXT)]
    if like is not None:
        features = list(like.X.columns)
        if absent := [column for column in features if column not in columns]:
            raise InputError(f"{name!r} does not have the columns {shown(absent)} of {like.name!r}; expected the same.")
        if not roles.numbers and not pd.api.types.is_numeric_dtype(like.y.dtype):
            y = y.map(str)
    X = frame[features]
    rows = np.flatnonzero(kept)
    notes += [note for note in ("" if roles.numbers else differ_in_spelling(y), *_copies(X, y, target)) if note]
    audit = replace(audit, notes=tuple(notes))
    return Source(
        name,
        X,
        y,
        target,
        (*notes, *audit.losses),
        audit,
        text,
        groups=_role(frame, roles.groups, columns, "groups", rows),
        time=_role(frame, roles.time, columns, "time", rows),
        weights=_role(frame, roles.weight, columns, "weight", rows),
        formats={column: read.format for column, read in columns.items()} | formats,
        positions=rows if gone.size else None,
    )


def _existing(name: str, frame: pd.DataFrame, loaded: LoadedTable, given: Roles, optional: frozenset[str]) -> Roles:
    """The columns that users named, by their names after reading; an error if one is not there or has two uses."""
    changed = dict(loaded.renamed)
    label_column = given.target if given.target is not None else loaded.target
    now = [(role, changed.get(column, column)) for role, column in given.named() if role != "target"]
    if label_column is not None:
        now.insert(0, ("target", changed.get(label_column, label_column)))
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
    by_role = {role: column for role, column in now if role != "drop"}
    dropped = tuple(column for role, column in now if role == "drop")
    return Roles(**by_role, drop=dropped, numbers=given.numbers)


def _read_columns(
    frame: pd.DataFrame, loaded: LoadedTable, roles: Roles, like: Data | Source | None
) -> dict[str, Column]:
    """Every column but the target, as read."""
    names = [str(name) for name in frame.columns if name != roles.target and name not in roles.drop]
    if like is not None:
        known = like.formats
        return {
            name: read_column_as(frame[name], known[name]) if name in known else read_column(frame[name])
            for name in names
        }
    columns = {
        name: read_column(
            frame[name],
            nominal=name in loaded.nominal or name == roles.groups,  # groups 01 and 1 are two
            decimal_comma=loaded.decimal_comma,
        )
        for name in names
    }
    written = [(name, column.format.number) for name, column in columns.items() if column.format.number is not None]
    if any(number.decimal == "," and not number.guessed for _, number in written):
        # Where one column shows that commas are decimal, they are in columns that do not show it.
        for name in [name for name, number in written if number.guessed and number.thousands]:
            columns[name] = read_column(frame[name], decimal_comma=True)
        texts = _texts_with_points(frame, loaded, [name for name, number in written if number.decimal == "."])
        columns |= {name: again for name in texts if (again := with_thousands(texts[name], columns[name])) is not None}
    return columns


def _texts_with_points(frame: pd.DataFrame, loaded: LoadedTable, names: list[str]) -> dict[str, pd.Series[Any]]:
    """The texts of the columns of numbers whose points could be thousands, as in 6.592."""
    texts = {name: frame[name] for name in names if not pd.api.types.is_numeric_dtype(frame[name].dtype)}
    possible = [name for name in names if name not in texts and _has_three_decimals(frame[name])]
    if possible and loaded.spelling is not None:
        again = loaded.spelling(possible, True)
        texts |= {name: again[name] for name in possible}
    return texts


def _has_three_decimals(column: pd.Series[Any]) -> bool:
    """Whether a column, read with decimal points, can be written with three digits after every point."""
    if not pd.api.types.is_float_dtype(column.dtype):
        return False
    values = column.to_numpy(dtype=float)
    thousandfold = 1000 * values[np.isfinite(values)]
    return bool((np.abs(thousandfold) < 1e6).all() and np.allclose(thousandfold, np.round(thousandfold), 0, 1e-6))


def _target(column: pd.Series[Any], loaded: LoadedTable, like: Data | Source | None) -> tuple[pd.Series[Any], Any]:
    """The labels of the rows that have one, and the rows without."""
    name = str(column.name)
    refuse_odd(column, name)
    from_file = loaded.spelling is not None
    if loaded.spelling is not None and not _is_spelled(column):
        column = loaded.spelling([name], True)[name]
    word_at = loaded.spelling([name], False)[name] if loaded.spelling is not None and column.isna().any() else None
    gone = rows_without(column, word_at)
    if gone.size:
        column = column[~column.index.isin(gone)].reset_index(drop=True)
    return labels(spelled(column) if from_file else column, few=like is not None), gone


def _number_target(
    column: pd.Series[Any], loaded: LoadedTable, like: Data | Source | None
) -> tuple[pd.Series[Any], Any, dict[str, Format]]:
    """The numbers of the rows that have one, the rows without, and how they are written."""
    name = str(column.name)
    if like is not None and name in like.formats:
        read = read_column_as(column, like.formats[name])
    else:
        read = read_column(column, decimal_comma=loaded.decimal_comma)
    values = read.values
    if not pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_bool_dtype(values.dtype):
        raise InputError(
            f"The target {name!r} is of kind {read.kind} ({read.why}); a regressor needs numbers. Is the target column "
            "right? For classes, pass a classifier."
        )
    if read.unparsed:
        raise InputError(
            f"The target {name!r} has {counted(read.unparsed, 'value')} that cannot be read as a number "
            f"({shown([repr(text) for _, text in read.examples], 4)}). Correct these values, or drop their rows."
        )
    gone = rows_without(values)
    if gone.size:
        values = values[~values.index.isin(gone)].reset_index(drop=True)
    return values.astype(float), gone, {name: read.format}


def _is_spelled(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_string_dtype(column) and not pd.api.types.is_numeric_dtype(column))


Use = tuple[str, str, str]
"""What a column is used for, its kind, and why; empty where the column itself says it."""


def _uses(
    name: str, columns: dict[str, Column], roles: Roles, like: Data | Source | None
) -> tuple[dict[str, Use], str | None]:
    """What each column is used for, and the column of texts, given or found."""
    uses: dict[str, Use] = {column: (role, "", "") for role, column in roles.named() if role not in ("drop", "target")}
    uses |= dict.fromkeys(roles.drop, (LEFT_OUT, "", ASKED))
    free = [column for column in columns if column not in uses and column != roles.target]
    if like is not None:
        for column in free:
            names_rows = column not in like.X and is_identifier(columns[column].values)
            uses[column] = (FEATURE if column in like.X else LEFT_OUT, kinds.IDENTIFIER if names_rows else "", "")
        uses |= {like.text: (kinds.TEXT, "", "")} if like.text in columns else {}
        return uses, like.text
    sentences = [column for column in free if columns[column].kind == kinds.TEXT]
    for column in free:
        read = columns[column]
        if read.kind == kinds.EMPTY:
            uses[column] = (LEFT_OUT, "", "")
        elif column not in sentences and is_identifier(read.values):
            uses[column] = (LEFT_OUT, kinds.IDENTIFIER, "every value is unique")
        elif column not in sentences:
            uses[column] = (FEATURE, "", "")
    text = roles.text
    useful = [column for column in free if uses.get(column, ("",))[0] == FEATURE and columns[column].kind != "constant"]
    if text is None and sentences:
        text = _only_text(sentences, useful)
    uses |= {column: (LEFT_OUT, "", "") for column in sentences if column != text}
    if text is not None:
        uses[text] = (kinds.TEXT, kinds.TEXT, "")
    if not any(use in (FEATURE, kinds.TEXT) for use, _, _ in uses.values()):
        unique = [column for column, (_, kind, _) in uses.items() if kind == kinds.IDENTIFIER]
        reason = f"every value of {shown(unique)} is unique" if unique else "every column is used otherwise"
        raise InputError(f"{name!r} has nothing to learn from: {reason}.")
    return uses, text


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


def _audited(name: str, read: Column | None, use: Use | None, y: pd.Series[Any], roles: Roles) -> ColumnAudit:
    if read is None and use is not None:  # not even looked at, so that users can drop what cannot be read
        return ColumnAudit(name, kinds.CATEGORY, LEFT_OUT, ASKED)
    if (read is None or use is None) and roles.numbers:
        return ColumnAudit(name, kinds.NUMBER, TARGET, "numbers to learn")
    if read is None or use is None:
        distinct = counted(int(y.nunique()), "class", "classes")
        numeric = pd.api.types.is_numeric_dtype(y.dtype)
        return ColumnAudit(name, kinds.NUMBER if numeric else kinds.CATEGORY, TARGET, f"{distinct}, as spelled")
    return column_audit(name, read, *use)


def _role(
    frame: pd.DataFrame, name: str | None, columns: dict[str, Column], role: str, rows: Ints
) -> pd.Series[Any] | None:
    """A column with the group, time or weight of each row, checked. rows: where the rows are in the source."""
    if name is None:
        return None
    values, kind = frame[name], columns[name].kind
    missing = np.flatnonzero(values.isna())
    if missing.size:
        raise InputError(
            f"The {role} column {name!r} is missing in {missing.size} of {len(values)} rows (row "
            f"{shown(rows[missing] + 1, 5)}, counted from 1). Fill it, or drop these rows."
        )
    numeric = pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)
    dated = pd.api.types.is_datetime64_any_dtype(values.dtype) or pd.api.types.is_timedelta64_dtype(values.dtype)
    if (role == WEIGHT and not numeric) or (role == TIME and not (numeric or dated)):
        expected = "numbers" if role == WEIGHT else "dates or numbers, such as 2024-01-31"
        raise InputError(f"The {role} column {name!r} is of kind {kind} ({columns[name].why}); expected {expected}.")
    return values


def _copies(X: pd.DataFrame, y: pd.Series[Any], target: str) -> list[str]:
    """A note on columns that equal the target in every row."""
    first = [str(label) for label in y.head(100)]
    rows = X.head(100).astype(object).to_numpy()
    likely = [name for place, name in enumerate(X.columns) if [str(value) for value in rows[:, place]] == first]
    copies = [str(name) for name in likely if X[name].map(str).equals(y.map(str))]
    return [f"Columns that equal the target {target!r} in every row: {shown(copies)}."] if copies else []


def _test_source(source: str | Path, roles: Roles, first: Source, new_classes: bool) -> Source:
    """The rows to test on, read as those to train on."""
    # What was dropped from the first table is dropped from any like it; weights are of rows to train on.
    test = read_source(source, replace(roles, text=None, drop=()), first, optional=frozenset({"weight"}))
    unknown = [label for label, _ in test.audit.classes if label not in dict(first.audit.classes)]
    if unknown and not new_classes:
        rows = int(test.y.map(str).isin(unknown).sum())
        raise InputError(
            f"{test.name!r} has classes that {first.name!r} does not have ({shown(map(repr, unknown), 4)}, in "
            f"{counted(rows, 'row')}); expected the same classes. Drop these rows, or add such rows to {first.name!r}."
        )
    return test
