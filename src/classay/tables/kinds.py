"""What each column is, and why: numbers, dates, booleans, categories, sentences, identifiers, constants or nothing.

`read_column` decides for a column of a file and converts it; `read_column_as` reads another file's column in the same
way; `described` only describes, for tables given in Python. Each gives the values and their `ColumnAudit`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd
from pandas.api import types

from ..arrays import Ints, Mask
from ..expect import InputError, counted, short, shown, within
from ..inputs import refuse_alike
from .cells import (
    ISO,
    MOST_EXAMPLES,
    SHARE,
    Cells,
    NumberFormat,
    are_codes,
    cells,
    date_format,
    dates_of,
    number_format,
    numbers_of,
    refuse_nul,
    refuse_odd,
    with_points_for_thousands,
    words_for,
)

NUMBER, CATEGORY, BOOLEAN, DATE = "number", "category", "boolean", "date"
TEXT, IDENTIFIER, CONSTANT, EMPTY = "text", "identifier", "constant", "empty"
FEATURE, TARGET, GROUPS, TIME, WEIGHT, LEFT_OUT = "feature", "target", "groups", "time", "weight", "left out"
WORDS = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"}, {"on", "off"})
SENTENCE_WORDS, SENTENCE_TEXTS = 3, 10
IDENTIFIER_ROWS = 20
INFINITE = "numbers; infinite ones become missing"


@dataclass(frozen=True)
class Format:
    """How a column is read: as numbers or dates in a format, as text, or as it is (neither).

    pointed: some of the texts are whole numbers written with .0, so that this is part of their spelling.
    """

    number: NumberFormat | None = None
    date: str = ""
    text: bool = False
    pointed: bool = False


@dataclass(frozen=True)
class ColumnAudit:
    """One column: what it is, why, and what it is used for; cells that are missing, and cells that were not read.

    kind: number, category, boolean, date, text, identifier, constant or empty.
    use: feature, target, text, groups, time, weight or left out.
    missing: cells without a value, with those that became missing.
    unparsed: cells that became missing because they are not of the column's kind; `examples` are some of them, each
        with its row, counted from 1 without the header.
    notable: whether there is more to say than the kind.
    format: how it was read, to read another file in the same way.
    """

    name: str
    kind: str
    why: str
    use: str = FEATURE
    missing: int = 0
    unparsed: int = 0
    examples: tuple[tuple[int, str], ...] = ()
    notable: bool = False
    format: Format | None = None

    @property
    def loss(self) -> str:
        """A sentence on the cells that became missing, or nothing."""
        if not self.unparsed:
            return ""
        examples = [f"row {row}: {short(text, 40)}" for row, text in self.examples]
        more = ", …" if self.unparsed > len(examples) else ""
        kind = {DATE: "not a date", NUMBER: "not a number"}.get(self.kind, "not a value of this column")
        kind = "infinite" if self.why == INFINITE else kind
        cells = f"{self.unparsed} cells are {kind} and were" if self.unparsed > 1 else f"1 cell is {kind} and was"
        return f"Column {self.name!r}: {cells} read as missing ({', '.join(examples)}{more})."


Column = tuple["pd.Series[Any]", ColumnAudit]
"""The values of a column, converted or as they are, and what they are."""


def read_column(column: pd.Series[Any], *, nominal: bool = False, decimal_comma: bool = False) -> Column:
    """Decide what a column of a file is. `nominal`: the file declares it as categories, so that it stays text."""
    refuse_odd(column)
    if not _is_text(column):
        return _native(column)
    found = cells(column)
    refuse_nul(found.texts, column.name)
    if not found.texts or nominal:
        return _as_text(column, found)
    if are_codes(found):
        return _as_text(column, found, "whole numbers with leading zeros are codes")
    written = number_format(found, decimal_comma)
    if written is not None and _merges(found, written):
        return _as_text(column, found, "whole numbers too long to differ as numbers are codes")
    if written is not None:
        return _as_numbers(column, found, written)
    date = date_format(found)
    return _as_text(column, found) if date is None else _as_dates(column, found, date)


def with_thousands(column: pd.Series[Any], written: NumberFormat) -> Column | None:
    """Read a column again whose points are thousands, as other columns show; None if they are not.

    column: the texts of the column. written: how it was read before, with decimal points.
    """
    found = cells(column)
    thousands = with_points_for_thousands(found, written)
    if thousands is None:
        return None
    values, audit = _as_numbers(column, found, thousands)
    return values, replace(audit, why=f"{audit.why}: other columns have decimal commas")


def read_column_as(column: pd.Series[Any], format: Format) -> Column:
    """Read a column as the same column of another file was read; an error if it is something else here."""
    refuse_odd(column)
    empty = column.dtype == object and bool(column.isna().all())
    if (format.number is not None or format.date) and (empty or _is_text(column)):
        return _in_format(column, cells(column), format)
    if format.text and (texts := _as_codes(column, format.pointed)) is not None:
        return _as_text(texts, cells(texts))
    return _as_text(column, cells(column)) if _is_text(column) else _native(column)


def _in_format(column: pd.Series[Any], found: Cells, format: Format) -> Column:
    if format.number is None:
        expected, (values, audit) = "dates", _as_dates(column, found, format.date)
    else:
        expected, (values, audit) = "numbers", _as_numbers(column, found, format.number)
        expected += f" ({format.number})" if str(format.number) else ""
    if 100 * audit.unparsed > (100 - SHARE) * found.total:
        raise InputError(
            f"Column {column.name!r} contains texts such as {audit.examples[0][1]!r} in {audit.unparsed} of "
            f"{len(column)} rows; expected {expected}, as in the first table."
        )
    return values, audit


def _as_codes(column: pd.Series[Any], pointed: bool) -> pd.Series[Any] | None:
    """Whole numbers as text, as in a file with other codes besides; with missing values, pandas writes 1 as 1.0.

    pointed: the first table writes 1.0, too, so that it stays.
    """
    known = column.dropna()
    if not types.is_numeric_dtype(column.dtype):
        if pointed or not len(known) or not all(map(_is_pointed, known.unique())):
            return None
        return known.astype(str).str.removesuffix(".0").reindex(column.index)
    if not pointed and types.is_float_dtype(known.dtype) and bool((known == known.round()).all()):
        known = known.astype("int64")
    return known.astype(str).reindex(column.index)


def _is_pointed(text: object) -> bool:
    return re.fullmatch(r"-?\d+\.0", str(text)) is not None


def described(column: pd.Series[Any]) -> ColumnAudit:
    """Describe a column of a table given in Python, whose values stay as they are."""
    values, audit = read_column(column)
    if values is column:
        return audit
    if types.is_numeric_dtype(column.dtype):
        why, missing = f"numbers; {counted(audit.unparsed, 'infinite value')}, as given", audit.missing - audit.unparsed
        return replace(audit, why=why, missing=missing, unparsed=0, examples=())
    why = f"text; {audit.why}; not converted, because tables given in Python stay as they are"
    kind = CATEGORY if column.nunique() > 1 else CONSTANT
    return replace(audit, kind=kind, why=why, missing=int(column.isna().sum()), unparsed=0, examples=())


def is_identifier(column: pd.Series[Any]) -> bool:
    """Whether a column names its rows instead of describing them: text, never missing, different in every row."""
    if types.is_numeric_dtype(column.dtype):
        # The row numbers that pandas writes with to_csv: in a sorted file they give the labels away.
        return str(column.name).startswith("Unnamed: ") and types.is_integer_dtype(column) and column.is_unique
    if column.dtype.kind in "Mm":
        return False
    return len(column) > IDENTIFIER_ROWS and bool(column.notna().all()) and column.is_unique


def _is_text(column: pd.Series[Any]) -> bool:
    """Whether a column has to be looked at cell by cell: text, or objects that are not all booleans."""
    if isinstance(column.dtype, pd.CategoricalDtype) or not (column.dtype == object or types.is_string_dtype(column)):
        return False
    return column.dtype != object or types.infer_dtype(column, skipna=True) not in (
        *("boolean", "date", "datetime", "datetime64", "timedelta", "period", "empty"),
    )


def _native(column: pd.Series[Any]) -> Column:
    """A column that the file or the user already gave a type."""
    is_boolean = types.is_bool_dtype(column.dtype)
    is_boolean |= column.dtype == object and types.infer_dtype(column, skipna=True) == "boolean"
    if types.is_numeric_dtype(column.dtype) and not is_boolean:
        return _numbers(column)
    missing = int(column.isna().sum())
    if missing == len(column):
        return column, ColumnAudit(str(column.name), EMPTY, "no value", missing=missing, notable=True, format=Format())
    if is_boolean:
        kind, why, format = BOOLEAN, "True and False", Format()
    elif isinstance(column.dtype, pd.CategoricalDtype):
        names = [*map(str, column.cat.categories)]
        refuse_nul(names, column.name)
        are_texts = types.is_string_dtype(column.cat.categories.dtype)
        kind, why = CATEGORY, "declared as categories"
        format = Format(text=True, pointed=are_texts and any(map(_is_pointed, names)))
    elif types.is_datetime64_any_dtype(column.dtype):
        kind, why, format = DATE, "dates", Format(date=ISO)
    else:
        kind, why, format = DATE, "dates or durations", Format()
    return column, _or_constant(column, ColumnAudit(str(column.name), kind, why, missing=missing, format=format))


def _numbers(column: pd.Series[Any]) -> Column:
    """A column of numbers; infinite ones become missing, because learners refuse them."""
    # On arrays, because tables can have many thousands of columns.
    values = column.to_numpy() if isinstance(column.dtype, np.dtype) else column.to_numpy(dtype=float, na_value=np.nan)
    audit = ColumnAudit(str(column.name), NUMBER, "whole numbers", format=Format(number=NumberFormat()))
    if values.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            clean = bool(np.isfinite(values.sum()))
        audit = replace(audit, why="numbers", missing=0 if clean else int(np.isnan(values).sum()))
        infinite = [] if clean else np.flatnonzero(np.isinf(values)).tolist()
        if infinite:
            column = column.astype(values.dtype).mask(np.isinf(values))
            examples = tuple((row + 1, str(float(values[row]))) for row in infinite[:MOST_EXAMPLES])
            missing, count = audit.missing + len(infinite), len(infinite)
            audit = replace(audit, why=INFINITE, missing=missing, unparsed=count, examples=examples, notable=True)
    if audit.missing == len(values):
        return column, replace(audit, kind=EMPTY, why="no value", notable=True)
    if audit.missing:
        return column, _or_constant(column, audit)
    same = len(values) > 1 and bool((values[:100] == values[0]).all()) and bool((values == values[0]).all())
    return column, _constant(audit, values[0]) if same else audit


def _or_constant(values: pd.Series[Any], audit: ColumnAudit) -> ColumnAudit:
    """The audit, as of a constant if the column has the same value in every row."""
    known = values.dropna()
    if len(known) and len(values) > 1 and bool((known == known.iloc[0]).all()):
        return _constant(audit, known.iloc[0])
    return audit


def _constant(audit: ColumnAudit, value: Any) -> ColumnAudit:
    return replace(audit, kind=CONSTANT, why=f"the same value in every row ({value})", notable=True)


def _merges(found: Cells, written: NumberFormat) -> bool:
    """Whether different long numbers, such as 10000000000000001 and 10000000000000002, become the same float."""
    values = numbers_of(found.texts, written)
    long = values[np.abs(values) >= 2**53]
    return np.unique(long).size < long.size


def _as_numbers(column: pd.Series[Any], found: Cells, written: NumberFormat) -> Column:
    numbers = numbers_of(found.texts, written)
    numbers[found.words] = np.nan
    values = pd.Series(found.spread(numbers, np.nan), column.index, name=column.name)
    return _converted(values, NUMBER, str(written), found, np.isfinite(numbers), Format(number=written))


def _as_dates(column: pd.Series[Any], found: Cells, written: str) -> Column:
    dates = dates_of(found.texts, written)
    dates[found.words] = np.datetime64("NaT")
    values = pd.Series(found.spread(dates, np.datetime64("NaT")), column.index, name=column.name)
    kept = [text for text, word in zip(found.texts, found.words) if not word]
    return _converted(values, DATE, words_for(written, kept), found, ~np.isnat(dates), Format(date=written))


def _converted(values: pd.Series[Any], kind: str, written: str, found: Cells, read: Mask, format: Format) -> Column:
    words = found.missing_words()
    parts = [f"{found.share(read)} are {kind}s" if found.total else f"{kind}s, as in the other file"]
    parts += [written] if written else []
    parts += [f"missing is written {words}"] if words else []
    failed = ~read & ~found.words
    audit = ColumnAudit(
        str(values.name),
        kind,
        "; ".join(parts),
        missing=int(values.isna().sum()),
        unparsed=int(found.counts[failed].sum()),
        examples=found.examples(failed),
        notable=True,
        format=format,
    )
    return values, audit if audit.missing == len(values) else _or_constant(values, audit)


def _as_text(column: pd.Series[Any], found: Cells, codes: str = "") -> Column:
    """Text as it is: sentences, booleans in words, or categories. codes: why it is not read as numbers."""
    format = Format(text=True, pointed=any(map(_is_pointed, found.texts)))
    distinct, words = len(found.texts), found.missing_words()
    why = counted(distinct, "different value") + (f"; kept as categories: {words}" if words else "")
    missing = int(column.isna().sum())
    audit = ColumnAudit(str(column.name), CATEGORY, why, missing=missing, notable=bool(words), format=format)
    if not distinct:
        audit = replace(audit, kind=EMPTY, why="no value", notable=True)
    elif distinct == 1:
        audit = _or_constant(column, replace(audit, why="one value", notable=False))
    elif _are_sentences(found):
        why = f"sentences: {distinct} different values of {SENTENCE_WORDS} words or more"
        audit = replace(audit, kind=TEXT, why=why, notable=True)
    elif any({text.lower() for text in found.texts} == pair for pair in WORDS):
        audit = replace(audit, kind=BOOLEAN, why=" and ".join(sorted(found.texts)[:2]), notable=False)
    return column, replace(audit, why=codes, notable=True) if codes else audit


def _are_sentences(found: Cells) -> bool:
    """Whether at least half of the cells differ, and half of the different ones have three words or more."""
    if len(found.texts) < SENTENCE_TEXTS or 2 * len(found.texts) < int(found.counts.sum()):
        return False
    return 2 * sum(_words(text) >= SENTENCE_WORDS for text in found.texts) >= len(found.texts)


def _words(text: str) -> int:
    """The number of words: parts with two letters or more, so that 'row 3 of 7' has two; in Chinese, two signs each."""
    parts = sum(sum(map(str.isalpha, part)) >= 2 for part in text[:200].split())
    return parts + sum(letter >= "\u2e80" for letter in text[:200]) // 2


# Labels: the classes of a table, named as the file spells them


MOST_MISSING = 5
"""In percent: rows without a label are dropped up to this share; more are refused."""
WHOLE = re.compile(r"-?[1-9]\d{0,17}|0")


class NumbersAsLabels(InputError):
    """The target has numbers where classes are expected; a command that takes regressors can say so."""


def rows_without(y: pd.Series[Any], word_at: pd.Series[Any] | None = None) -> Ints:
    """The rows without a label, to be dropped; an error if there are many or if a word such as NA could be a class.

    `word_at`: the same column with words such as NA as text, if the source has its spelling.
    """
    missing = np.flatnonzero(y.isna())
    if not missing.size:
        return missing
    words = sorted({str(word) for word in word_at.iloc[missing].dropna()} if word_at is not None else set())
    if words or 100 * missing.size > MOST_MISSING * len(y):
        said = f", written {shown(map(repr, words), 4)}" if words else ""
        raise InputError(
            f"The target {y.name!r} is missing in {missing.size} of {len(y)} rows (row {shown(missing + 1, 5)}, "
            f"counted from 1{said}). Drop these rows, or respell a label that is a word such as 'None' or 'NA'."
        )
    return missing


def labels(y: pd.Series[Any], few: bool = False) -> pd.Series[Any]:
    """The labels as text as spelled, or as whole numbers; an error if they are not classes.

    few: these are further rows of a known table, in which one class is enough.
    """
    refuse_odd(y)
    values: Any = y.astype(y.cat.categories.dtype) if isinstance(y.dtype, pd.CategoricalDtype) else y
    if types.is_bool_dtype(values.dtype) or types.infer_dtype(values) == "boolean":
        values = values.astype(object).map(str)
    elif types.is_object_dtype(values.dtype) and types.infer_dtype(values) not in ("string", "integer"):
        refuse_alike(values.to_numpy(), str(y.name))
        values = values.map(str)  # mixed values cannot be sorted, as classes must be
    if types.is_string_dtype(values.dtype) and not types.is_numeric_dtype(values.dtype):
        texts = [str(text) for text in values.unique()]
        refuse_nul(texts, y.name)
        within(max(map(len, texts), default=0), "label_characters", "The longest label, in characters,")
    numbers = _all_numbers(values)
    whole = numbers is None or bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())
    if types.is_float_dtype(values.dtype) and numbers is not None and whole and np.abs(numbers).max() < 2**53:
        values = values.astype("int64")
    elif types.is_float_dtype(values.dtype) and numbers is not None and np.abs(numbers).max() >= 2**53:
        raise InputError(
            f"The target {y.name!r} has numbers from 2**53 up as floats, where neighbouring whole numbers are the "
            "same. Write the labels as text: a missing value makes floats of them."
        )
    distinct = int(values.nunique())
    if not few and distinct > (max(20, len(y) / 2) if whole else min(20, len(y) / 2)):
        kind, looks_like = (
            (NumbersAsLabels, "a regression target") if numbers is not None else (InputError, "text or an identifier")
        )
        raise kind(
            f"The target {y.name!r} has {distinct} different values in {len(y)} rows; it looks like {looks_like}, not "
            "like classes. Is the target column right?"
        )
    return cast("pd.Series[Any]", values)


def spelled(y: pd.Series[Any]) -> pd.Series[Any]:
    """Labels of a text file: whole numbers written as such (1, not 1.0 or 01) become numbers, all else stays text.

    >>> spelled(pd.Series(["1", "2 "])).tolist(), spelled(pd.Series(["1", "01"])).tolist()
    ([1, 2], ['1', '01'])
    """
    distinct = [str(text) for text in y.dropna().unique()]
    if distinct and all(WHOLE.fullmatch(text.strip()) for text in distinct):
        numbers = {text: int(text) for text in distinct}
        return y.map(numbers) if y.isna().any() else y.map(numbers).astype("int64")
    return y


def differ_in_spelling(y: pd.Series[Any]) -> str:
    """A note on classes that differ in spelling only, such as Yes and yes, or 1 and 01; nothing if there are none."""
    same: dict[str, list[str]] = {}
    for label in map(str, y.unique()):
        try:
            key = f"{float(label):g}"
        except ValueError:
            key = " ".join(label.lower().split())
        same.setdefault(key, []).append(label)
    pairs = [" and ".join(repr(label) for label in sorted(found)) for found in same.values() if len(found) > 1]
    return f"Classes that differ in spelling only: {shown(sorted(pairs), 4)}." if pairs else ""


def _all_numbers(values: Any) -> Any:
    """The labels as numbers if all are, otherwise None."""
    if types.is_numeric_dtype(values.dtype):
        return values.to_numpy(dtype=float)
    distinct = pd.to_numeric(pd.Series(values.unique(), dtype=object), errors="coerce")
    return None if distinct.isna().any() else distinct.to_numpy(dtype=float)
