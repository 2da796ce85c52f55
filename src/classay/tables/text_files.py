"""CSV and TSV files: the encoding, the separator, the names in the header, and text where spelling matters."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
from pandas.api import types

from ..expect import InputError, shown, unique_names, within
from ..files import open_text
from .cells import are_codes, cells

UNNAMED = "Unnamed: {}"
PART = 100_000
"""Rows that are decoded at a time."""


@dataclass(frozen=True)
class Wanted:
    """What is known of the columns before a file is read.

    target: the column with the labels; they are read as they are spelled. None: the last one that is not in `others`.
    texts: further columns to read as they are spelled.
    codes: whether whole numbers with leading zeros (01, 007) stay text.
    """

    target: str | None = None
    others: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    codes: bool = True
    labelled: bool = True


@dataclass(frozen=True)
class LoadedTable:
    """What was read: all columns, the target column if the source defines one, remarks, and changed headers.

    nominal: columns that the source declares as categories.
    spelling: reads columns of a text file again, as text, with or without words such as NA as missing.
    decimal_comma: whether commas are decimal where a column does not show it: the separator is a semicolon.
    """

    frame: pd.DataFrame
    target: str | None = None
    notes: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    nominal: frozenset[str] = frozenset()
    spelling: Callable[[list[str], bool], pd.DataFrame] | None = None
    decimal_comma: bool = False


def from_text(path: Path, wanted: Wanted) -> LoadedTable:
    """A CSV or TSV file."""
    with open_text(path) as file:
        separator = _separator(file, path)
        file.seek(0)
        names, renamed = _names(file, path, separator)
    changed = dict(renamed)
    texts = {changed.get(name, name) for name in wanted.texts}
    target = changed.get(wanted.target, wanted.target) if wanted.target is not None else None
    if target is None and wanted.labelled:
        possible = [name for name in names if name not in wanted.others and not name.startswith("Unnamed: ")]
        target = possible[-1] if possible else None
    if any(old.strip() != new and target in (old.strip(), new) for old, new in renamed if old.strip()):
        raise InputError(
            f"'{path.name}' has the target {target!r} twice, once with blanks around it. Give each its own name."
        )
    reader = _Reader(path, separator, tuple(names))
    frame, watched = reader.read(texts | ({target} if target is not None else set()))
    notes = []
    if file.encoding == "utf-16":
        notes.append("The file is in UTF-16.")
    if all(_is_number(name) for name in names):
        # Some tables do number their columns, so this is a note and not an error.
        notes.append(f"The first line ({shown(names, 4)}) was read as names. If it is a row, add a header line.")
    if watched.lines > len(frame) + 1:
        notes += _swallowed(frame, separator)
    if watched.padded and wanted.codes:
        for name, column in reader.codes(frame).items():
            frame[name] = column
    return LoadedTable(
        frame,
        notes=tuple(notes),
        renamed=renamed,
        spelling=reader.spelling,
        decimal_comma=separator == ";",
    )


def _swallowed(frame: pd.DataFrame, separator: str) -> list[str]:
    """A note on cells that have whole rows in them: a quote that is not closed takes what follows into its cell."""
    found: dict[int, int] = {}
    for name in frame.select_dtypes(exclude="number"):
        texts = frame[name].astype(str)
        for row in np.flatnonzero(texts.str.count("\n") > 1).tolist():
            breaks = texts.iloc[row].count("\n")
            if texts.iloc[row].count(separator) >= (breaks - 1) * (frame.shape[1] - 1):
                found[row] = max(breaks, found.get(row, 0))
    cells_in_rows = shown((f"row {row + 1}: {breaks} line breaks" for row, breaks in sorted(found.items())), 4)
    return [f"Cells that look like several rows ({cells_in_rows}). Is a quote not closed?"] if found else []


@dataclass(frozen=True)
class _Reader:
    """Reads a file whose form is known, whole or some columns of it."""

    path: Path
    separator: str
    names: tuple[str, ...]

    def read(self, texts: set[str]) -> tuple[pd.DataFrame, _Watched]:
        """All columns, these as text; and what was seen on the way."""
        with open_text(self.path) as file:
            watched = _Watched(file, self.separator)
            try:
                parts = self._parsed(watched, dtype={name: str for name in self.names if name in texts}, chunksize=PART)
            except pd.errors.ParserWarning as error:
                raise InputError(
                    f"'{self.path}' has rows with more fields than its header. Name every column."
                ) from error
            finally:
                if watched.nul:
                    raise InputError(
                        f"'{self.path}' has a NUL character in line {self._line_with_nul()}. Remove it, or save the "
                        "file as UTF-8 again."
                    )
        return self._joined(parts), watched

    def _joined(self, parts: list[pd.DataFrame]) -> pd.DataFrame:
        """The parts of a file as one table, column by column, so that it is in memory little more than once."""
        if len(parts) == 1:
            return parts[0]
        joined: dict[str, Any] = {}
        mixed = []
        for name in self.names:
            columns = [part.pop(name) for part in parts]
            kinds = {"f" if column.dtype.kind == "i" else column.dtype.kind for column in columns}
            # What is text in one part and numbers in another needs a look at the whole column.
            if len(kinds) > 1 or (kinds <= {"O"} and not all(map(_all_text, columns))):
                mixed.append(name)
                joined[name] = None
            else:
                joined[name] = pd.concat(columns, ignore_index=True)
        if mixed:
            with open_text(self.path) as file:
                again = self._parsed(file, usecols=mixed)
            joined |= {name: again[name] for name in mixed}
        return pd.DataFrame(joined, copy=False)

    def spelling(self, columns: list[str], words_are_missing: bool = True) -> pd.DataFrame:
        """Some columns as text."""
        with open_text(self.path) as file:
            kept = {} if words_are_missing else {"keep_default_na": False, "na_values": [""]}
            texts: pd.DataFrame = self._parsed(file, dtype=str, usecols=columns, **kept)
            return texts

    def codes(self, frame: pd.DataFrame) -> dict[str, pd.Series[Any]]:
        """The columns, read as numbers, that are codes with leading zeros: as text."""
        whole = [
            name
            for name in self.names
            if types.is_integer_dtype(frame[name].dtype)
            or (types.is_float_dtype(frame[name].dtype) and bool((frame[name].dropna() % 1 == 0).all()))
        ]
        if not whole:
            return {}
        texts = self.spelling(whole)
        return {name: texts[name] for name in whole if are_codes(cells(texts[name]))}

    def _line_with_nul(self) -> int:
        with open_text(self.path) as file:
            return next(number for number, line in enumerate(file, 1) if "\0" in line)

    def _parsed(self, file: Any, **options: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # Without index_col, a header that is one name short would silently shift all names by one.
            read = pd.read_csv(
                file,
                sep=self.separator,
                header=0,
                names=list(self.names),
                skipinitialspace=True,
                low_memory=False,
                index_col=False,
                **options,
            )
            return list(read) if "chunksize" in options else read


class _Watched:
    """A file that notes, while it is read, lines, NUL characters and fields of digits with leading zeros."""

    def __init__(self, file: TextIO, separator: str) -> None:
        self.file = file
        self.lines = 0
        self.nul = self.padded = False
        self.tail = ""
        # Looking for one letter first, then for patterns with a fixed beginning, is many times faster than one pattern
        # with choices.
        self.patterns = [
            (letter, re.compile(rf'{mark}{letter}0\d+[ "]*[{separator}\r\n]'))
            for letter in ("", '"', " ")
            for mark in (separator, "\n")
        ]

    def read(self, size: int = -1) -> str:
        """Part of the file; nothing after a NUL character."""
        chunk = self.file.read(size)
        self.lines += chunk.count("\n")
        if self.nul or "\0" in chunk:
            self.nul = True
            return ""
        if not self.padded:
            # The last field of a chunk may continue in the next one.
            joint = self.tail + chunk[:64]
            self.padded = any(
                letter in part and pattern.search(part) is not None
                for letter, pattern in self.patterns
                for part in (chunk, joint)
            )
            self.tail = chunk[-64:]
        return chunk

    def __iter__(self) -> Iterator[str]:
        return iter(self.file)


def _all_text(column: pd.Series[Any]) -> bool:
    return column.dtype != object or types.infer_dtype(column, skipna=True) == "string"


def _separator(file: TextIO, path: Path) -> str:
    """The separator is what splits the header into most fields; a comma in quotes does not count."""
    header = next((line for line in file if line.strip()), "")
    if not header:
        raise InputError(f"'{path}' is empty.")
    fields = {mark: len(next(csv.reader([header[:100_000]], delimiter=mark))) for mark in ",;\t"}
    return "\t" if ".tsv" in path.name.lower() else max(fields, key=fields.__getitem__)


def _names(file: TextIO, path: Path, separator: str) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """The names in the header, and which of them were changed: blanks around them, or no name at all."""
    rows = csv.reader(file, delimiter=separator, skipinitialspace=True)
    given = next((row for row in rows if row and not (len(row) == 1 and not row[0].strip())), [])
    hint = " If the first line is a row, add a header line." if all(map(_is_number, given)) else ""
    unique_names([name for name in given if name.strip()], f"'{path.name}'", hint)
    within(len(given), "columns", f"The number of columns of {path.name!r}")
    names: list[str] = []
    taken = set(given)
    for place, name in enumerate(given):
        new = name.strip() or UNNAMED.format(place)
        if new != name and new in taken:
            new = next(f"{new}_{number}" for number in range(2, len(given) + 3) if f"{new}_{number}" not in taken)
        taken.add(new)
        names.append(new)
    return names, tuple((old, new) for old, new in zip(given, names) if old != new)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
