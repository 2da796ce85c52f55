"""What each column is, and why: numbers, dates, booleans, categories, sentences, identifiers, constants or nothing.

`read_column` decides for a column of a file and converts it; `read_column_as` reads another file's column in the same
way; `described` only describes, for tables given in Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd
from pandas.api import types

from ..arrays import Ints
from ..expect import InputError, counted, shown, within
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
WORDS = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"}, {"on", "off"})
SENTENCE_WORDS, SENTENCE_TEXTS = 3, 10
IDENTIFIER_ROWS = 20


@dataclass(frozen=True)
class Format:
    """How a column is read: as numbers or dates in a format, as text, or as it is (neither).

    pointed: some of the texts are whole numbers written with .0, so that this is part of their spelling.
    """

    number: NumberFormat | None = None
    date: str = ""
    text: bool = False
    pointed: bool = False


@dataclass(frozen=True, eq=False)
class Column:
    """A column as read: its values, what it is and why, cells that are missing, and cells that could not be read."""

    values: pd.Series[Any]
    kind: str
    why: str
    missing: int
    format: Format
    unparsed: int = 0
    examples: tuple[tuple[int, str], ...] = ()
    notable: bool = False
    """Whether there is more to say than the kind."""
    converted: bool = False
    """Whether the values are not those of the source."""


def read_column(column: pd.Series[Any], *, nominal: bool = False, decimal_comma: bool = False) -> Column:
    """Decide what a column of a file is. `nominal`: the file declares it as categories, so that it stays text."""
    name = str(column.name)
    refuse_odd(column, name)
    if not _is_text(column):
        if isinstance(column.dtype, pd.CategoricalDtype):
            refuse_nul(map(str, column.cat.categories), name)
        return _native(column)
    found = cells(column)
    refuse_nul(found.texts, name)
    if not found.texts or nominal:
        return _as_text(column, found)
    if are_codes(found):
        return replace(_as_text(column, found), why="whole numbers with leading zeros are codes", notable=True)
    written = number_format(found, decimal_comma)
    if written is not None and _merges(found, written):
        why = "whole numbers too long to differ as numbers are codes"
        return replace(_as_text(column, found), why=why, notable=True)
    if written is not None:
        return _as_numbers(column, found, written)
    date = date_format(found)
    if date is not None:
        return _as_dates(column, found, date)
    return _as_text(column, found)


def with_thousands(column: pd.Series[Any], read: Column) -> Column | None:
    """Read a column again whose points are thousands, as other columns show; None if they are not.

    column: the texts of the column. read: the column as read before, with decimal points.
    """
    found = cells(column)
    written = None if read.format.number is None else with_points_for_thousands(found, read.format.number)
    if written is None:
        return None
    again = _as_numbers(column, found, written)
    return replace(again, why=f"{again.why}: other columns have decimal commas")


def read_column_as(column: pd.Series[Any], format: Format) -> Column:
    """Read a column as the same column of another file was read; an error if it is something else here."""
    refuse_odd(column, str(column.name))
    empty = column.dtype == object and bool(column.isna().all())
    if (format.number is not None or format.date) and (empty or _is_text(column)):
        found = cells(column)
        read = (
            _as_dates(column, found, format.date)
            if format.number is None
            else _as_numbers(column, found, format.number)
        )
        if 100 * read.unparsed > (100 - SHARE) * found.total:
            expected = "dates" if format.number is None else "numbers"
            expected += f" ({format.number})" if str(format.number or "") else ""
            raise InputError(
                f"Column {column.name!r} contains texts such as {read.examples[0][1]!r} in {read.unparsed} of "
                f"{len(column)} rows; expected {expected}, as in the first table."
            )
        return read
    if format.text:
        texts = _as_codes(column, format.pointed)
        if texts is not None:
            return replace(_as_text(texts, cells(texts)), converted=True)
    return _as_text(column, cells(column)) if _is_text(column) else _native(column)


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


def described(column: pd.Series[Any]) -> Column:
    """Describe a column of a table given in Python. Its values stay as they are."""
    read = read_column(column)
    if not read.converted:
        return read
    if types.is_numeric_dtype(column.dtype):
        missing = read.missing - read.unparsed
        why = f"numbers; {counted(read.unparsed, 'infinite value')}, as given"
        return replace(read, values=column, why=why, missing=missing, unparsed=0, examples=())
    why = f"text; {read.why}; not converted, because tables given in Python stay as they are"
    kind = CATEGORY if column.nunique() > 1 else CONSTANT
    return replace(read, values=column, kind=kind, why=why, missing=int(column.isna().sum()), unparsed=0, examples=())


def is_identifier(column: pd.Series[Any]) -> bool:
    """Whether a column names its rows instead of describing them: text, never missing, different in every row."""
    if types.is_numeric_dtype(column.dtype):
        # The row numbers that pandas writes with to_csv: in a sorted file they give the labels away.
        return str(column.name).startswith("Unnamed: ") and types.is_integer_dtype(column) and column.is_unique
    if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
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
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
        return _numbers(column)
    missing = int(column.isna().sum())
    if missing == len(column):
        return Column(column, EMPTY, "no value", missing, Format(), notable=True)
    kind, why, format = CATEGORY, "declared as categories", Format(text=True)
    if isinstance(column.dtype, pd.CategoricalDtype) and types.is_string_dtype(column.cat.categories.dtype):
        format = replace(format, pointed=any(map(_is_pointed, column.cat.categories)))
    if types.is_bool_dtype(column.dtype) or types.infer_dtype(column, skipna=True) == "boolean":
        kind, why, format = BOOLEAN, "True and False", Format()
    elif types.is_numeric_dtype(column.dtype):
        read = _numbers(column.astype(float))
        return read if read.converted else replace(read, values=column)
    elif types.is_datetime64_any_dtype(column.dtype):
        kind, why, format = DATE, "dates", Format(date=ISO)
    elif not isinstance(column.dtype, pd.CategoricalDtype):
        kind, why, format = DATE, "dates or durations", Format()
    return _constant(Column(column, kind, why, missing, format))


def _numbers(column: pd.Series[Any]) -> Column:
    """A column of numbers; infinite ones become missing, because learners refuse them."""
    # On arrays, because tables can have many thousands of columns.
    values = column.to_numpy()
    read = Column(column, NUMBER, "whole numbers", 0, Format(number=NumberFormat()))
    if values.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            clean = bool(np.isfinite(values.sum()))
        read = replace(read, why="numbers", missing=0 if clean else int(np.isnan(values).sum()))
        infinite = [] if clean else np.flatnonzero(np.isinf(values)).tolist()
        if infinite:
            read = replace(
                read,
                values=column.mask(np.isinf(values)),
                why="numbers; infinite ones become missing",
                missing=read.missing + len(infinite),
                unparsed=len(infinite),
                examples=tuple((row + 1, str(float(values[row]))) for row in infinite[:MOST_EXAMPLES]),
                notable=True,
                converted=True,
            )
    if read.missing == len(values):
        return replace(read, kind=EMPTY, why="no value", notable=True)
    if read.missing:
        return _constant(read)
    same = len(values) > 1 and bool((values[:100] == values[0]).all()) and bool((values == values[0]).all())
    return replace(read, kind=CONSTANT, why=_same(values[0]), notable=True) if same else read


def _constant(read: Column) -> Column:
    """The column, as a constant if it has the same value in every row."""
    known = read.values.dropna()
    if len(known) and len(read.values) > 1 and bool((known == known.iloc[0]).all()):
        return replace(read, kind=CONSTANT, why=_same(known.iloc[0]), notable=True)
    return read


def _same(value: Any) -> str:
    return f"the same value in every row ({value})"


def _merges(found: Cells, written: NumberFormat) -> bool:
    """Whether different long numbers, such as 10000000000000001 and 10000000000000002, become the same float."""
    values = numbers_of(found.texts, written)
    long = values[np.abs(values) >= 2**53]
    return np.unique(long).size < long.size


def _as_numbers(column: pd.Series[Any], found: Cells, written: NumberFormat) -> Column:
    numbers = numbers_of(found.texts, written)
    numbers[found.words] = np.nan
    values = pd.Series(found.spread(numbers, np.nan), column.index, name=column.name)
    return _converted(values, NUMBER, "numbers", str(written), found, np.isfinite(numbers), Format(number=written))


def _as_dates(column: pd.Series[Any], found: Cells, written: str) -> Column:
    dates = dates_of(found.texts, written)
    dates[found.words] = np.datetime64("NaT")
    values = pd.Series(found.spread(dates, np.datetime64("NaT")), column.index, name=column.name)
    kept = [text for text, word in zip(found.texts, found.words) if not word]
    return _converted(values, DATE, "dates", words_for(written, kept), found, ~np.isnat(dates), Format(date=written))


def _converted(
    values: pd.Series[Any], kind: str, plural: str, written: str, found: Cells, read: Any, format: Format
) -> Column:
    parts = [f"{found.share(read)} are {plural}" if found.total else f"{plural}, as in the other file"]
    words = found.missing_words()
    parts += [written] if written else []
    parts += [f"missing is written {words}"] if words else []
    failed = ~read & ~found.words
    unparsed = int(found.counts[failed].sum())
    missing = int(values.isna().sum())
    why, examples = "; ".join(parts), found.examples(failed)
    column = Column(values, kind, why, missing, format, unparsed, examples, notable=True, converted=True)
    return column if missing == len(values) else _constant(column)


def _as_text(column: pd.Series[Any], found: Cells) -> Column:
    """Text as it is: sentences, booleans in words, or categories."""
    missing = int(column.isna().sum())
    format = Format(text=True, pointed=any(map(_is_pointed, found.texts)))
    distinct = len(found.texts)
    if not distinct:
        return Column(column, EMPTY, "no value", missing, format, notable=True)
    if distinct == 1:
        return _constant(Column(column, CATEGORY, "one value", missing, format))
    if _are_sentences(found):
        why = f"sentences: {found.counts.size} different values of {SENTENCE_WORDS} words or more"
        return Column(column, TEXT, why, missing, format, notable=True)
    spelled = {text.lower() for text in found.texts}
    if any(spelled == pair for pair in WORDS):
        return Column(column, BOOLEAN, " and ".join(sorted(found.texts)[:2]), missing, format)
    why = counted(distinct, "different value")
    words = found.missing_words()
    if words:
        why += f"; kept as categories: {words}"
    return Column(column, CATEGORY, why, missing, format, notable=bool(words))


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
    refuse_odd(y, str(y.name))
    values: Any = y.astype(y.cat.categories.dtype) if isinstance(y.dtype, pd.CategoricalDtype) else y
    if types.is_bool_dtype(values.dtype) or types.infer_dtype(values) == "boolean":
        values = values.astype(object).map(str)
    elif types.is_object_dtype(values.dtype) and types.infer_dtype(values) not in ("string", "integer"):
        values = values.map(str)  # mixed values cannot be sorted, as classes must be
    if types.is_string_dtype(values.dtype) and not types.is_numeric_dtype(values.dtype):
        refuse_nul(map(str, values.unique()), str(y.name))
        within(
            max(map(len, map(str, values.unique())), default=0), "label_characters", "The longest label, in characters,"
        )
    numbers = _all_numbers(values)
    whole = numbers is None or bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())
    if types.is_float_dtype(values.dtype) and numbers is not None and whole and np.abs(numbers).max() < 2**53:
        values = values.astype("int64")
    distinct = int(values.nunique())
    if few:
        return cast("pd.Series[Any]", values)
    if distinct > (max(20, len(y) / 2) if whole else min(20, len(y) / 2)):
        kind, looks_like = (
            (NumbersAsLabels, "a regression target") if numbers is not None else (InputError, "text or an identifier")
        )
        raise kind(
            f"The target {y.name!r} has {distinct} different values in {len(y)} rows; it looks like {looks_like}, not "
            "like classes. Is the target column right?"
        )
    if distinct < 2:
        raise InputError(
            f"`y` has 1 class ({values.tolist()[0]!r}); at least 2 are needed. Is the target column right?"
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
