"""Tables of labelled rows, from any source: columns to learn from, and labels."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, TextIO, cast
from urllib.error import HTTPError

import numpy as np
import pandas as pd
from pandas.api import types

from ..expect import InputError, nearest, shown


@dataclass(frozen=True)
class Table:
    """Labelled rows: the columns to learn from, the label of each row, and notes on how they were read."""

    name: str
    X: pd.DataFrame
    y: pd.Series[Any]
    target: str
    notes: tuple[str, ...] = ()


def read_table(source: str | Path, target: str | None = None, text: str | None = None) -> Table:
    """A table by built-in name, from a file, or from OpenML.

    source: one of `BUILT_IN`; a .csv or .tsv (also .gz, .bz2, .xz), .parquet, .arff or .npz file (arrays X
        and y); `openml:NAME` or `openml:ID`.
    target: the column with the labels. Default: the one the source names, else the last, with a note.
    text: a text column to keep although every value is unique, and never the target.

    Columns without any value, and text columns with a different value in every row, are dropped, with a note.
    Labels keep their spelling; whole numbers written as 1.0 become 1.

    >>> table = read_table("breast_cancer")
    >>> table.X.shape, sorted(set(table.y))
    ((569, 30), ['benign', 'malignant'])
    """
    name, loaded = _load_source(source)
    return _labelled_table(name, loaded, target, text)


def read_frame(source: str | Path) -> pd.DataFrame:
    """All columns of a table unchanged, for data without a target: predictions, logs. Sources as in `read_table`."""
    name, loaded = _load_source(source)
    return _checked_frame(name, loaded)


def _checked_frame(name: str, loaded: LoadedTable) -> pd.DataFrame:
    """The rows, numbered from 0; an error if there are none or two columns have the same name."""
    frame = loaded.frame.rename(columns=str).reset_index(drop=True)
    if not frame.columns.is_unique:
        twins = frame.columns[frame.columns.duplicated()]
        raise InputError(f"{name!r} has columns with the same name ({shown(twins)}). Give each its own name.")
    if frame.empty:
        raise InputError(f"{name!r} has a header ({shown(frame.columns)}) but no rows.")
    return frame


def _labelled_table(name: str, loaded: LoadedTable, target: str | None, text: str | None = None) -> Table:
    """Split columns into features and labels, and check both."""
    frame = _checked_frame(name, loaded)
    notes = list(loaded.notes)
    label_column = target if target is not None else loaded.target
    for column in (label_column, text):
        if column is not None and column not in frame:
            raise InputError(
                f"{name!r} has no column {column!r}.{nearest(column, frame.columns)} It has {shown(frame.columns)}."
            )
    if text is not None and text == label_column:
        raise InputError(f"The column {text!r} is both target and text; expected two columns.")
    empty = [column for column in frame.columns[frame.isna().all()] if column != label_column]
    if empty:
        frame = frame.drop(columns=empty)
        notes.append(f"Dropped, without any value: {shown(empty)}.")
    if frame.shape[1] < 2:
        raise InputError(
            f"{name!r} has one column with values ({shown(frame.columns)}); expected one to learn from and one with "
            "labels. Is the separator a comma, a semicolon or a tab?"
        )
    if label_column is None:
        label_column = str([column for column in frame.columns if column != text][-1])
        notes.append(f"Target: last column {label_column!r}. Use --target to choose another.")
    y = _labels(frame[label_column])
    X = frame.drop(columns=label_column)
    identifiers = [column for column in X if column != text and _is_identifier(X[column])]
    if identifiers:
        X = X.drop(columns=identifiers)
        notes.append(f"Dropped, because every value is unique: {shown(identifiers)}.")
    if X.shape[1] == 0:
        raise InputError(f"{name!r} has nothing to learn from: every value of {shown(identifiers)} is unique.")
    return Table(name, X, y, label_column, tuple(notes))


def _labels(y: pd.Series[Any]) -> pd.Series[Any]:
    """The labels as plain values: text, whole numbers or booleans; an error if they are not classes."""
    missing = np.flatnonzero(y.isna())
    if missing.size:
        raise InputError(
            f"The target {y.name!r} is missing in {missing.size} of {len(y)} rows (row {shown(missing + 1, 5)}, "
            "counted from 1). Drop these rows, or respell a label that is a word such as 'None' or 'NA'."
        )
    values: Any = y.astype(y.cat.categories.dtype) if isinstance(y.dtype, pd.CategoricalDtype) else y
    numeric = types.is_numeric_dtype(values.dtype) and not types.is_bool_dtype(values.dtype)
    if types.is_object_dtype(values.dtype) and types.infer_dtype(values) not in (
        "string",
        "boolean",
        "integer",
    ):
        values = values.map(str)  # mixed values cannot be sorted, as classes must be
    if types.is_float_dtype(values.dtype):
        numbers = values.to_numpy(dtype=float)
        whole = bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())
        values = values.astype("int64") if whole and np.abs(numbers).max() < 2**53 else values
    else:
        whole = True
    distinct = int(values.nunique())
    if distinct > (max(20, len(y) / 2) if whole else min(20, len(y) / 2)):
        looks_like = "it looks like a regression target" if numeric else "it looks like text or an identifier"
        raise InputError(
            f"The target {y.name!r} has {distinct} different values in {len(y)} rows; {looks_like}, not like classes. "
            "Is the target column right?"
        )
    if distinct < 2:
        raise InputError(
            f"`y` has 1 class ({values.tolist()[0]!r}); at least 2 are needed. Is the target column right?"
        )
    return cast("pd.Series[Any]", values)


def _is_identifier(column: pd.Series[Any]) -> bool:
    """Whether a column identifies its rows instead of describing them."""
    if types.is_numeric_dtype(column.dtype):
        # The row numbers that pandas writes with to_csv: in a sorted file they give the labels away.
        return str(column.name).startswith("Unnamed: ") and types.is_integer_dtype(column) and column.is_unique
    if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
        return False
    try:
        return len(column) > 20 and bool(column.notna().all()) and column.is_unique
    except TypeError as error:
        raise InputError(
            f"Column {column.name!r} contains {type(column.iloc[0]).__name__} values; expected one number or text "
            "per row. Spread it over several columns or drop it."
        ) from error


# Sources: built-in names, files, OpenML. Nothing is ever unpickled.


BUILT_IN = ("iris", "wine", "breast_cancer", "digits")
COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@dataclass(frozen=True)
class LoadedTable:
    """What was read: all columns, the target column if the source defines one, and remarks."""

    frame: pd.DataFrame
    target: str | None = None
    notes: tuple[str, ...] = ()


def _load_source(source: str | Path) -> tuple[str, LoadedTable]:
    """The name of a table, and its content: `openml:NAME`, `openml:ID`, one of `BUILT_IN`, or a file."""
    text = str(source)
    if text.startswith("openml:"):
        return text, _from_openml(text.removeprefix("openml:"))
    if text in BUILT_IN:
        return text, _built_in(text)
    path = Path(source).expanduser()
    return path.name, _from_file(path)


def _built_in(name: str) -> LoadedTable:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    if name == "digits":
        return LoadedTable(bunch.frame, "target")
    names = np.asarray(bunch.target_names, dtype=object)
    return LoadedTable(bunch.data.assign(target=names[bunch.target.to_numpy()]), "target")


def _from_openml(table_name: str) -> LoadedTable:
    from sklearn import datasets

    key = {"data_id": int(table_name)} if table_name.isdecimal() else {"name": table_name}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            bunch = datasets.fetch_openml(**key, as_frame=True, parser="auto")
        except HTTPError as error:
            raise InputError(
                f"OpenML has no table {table_name!r} or refuses it ({error}). Is the name as on openml.org?"
            ) from error
        except (OSError, HTTPException) as error:
            raise InputError(
                f"OpenML could not be reached for {table_name!r} ({error}). Check the network, or pass a file."
            ) from error
        except (ValueError, ImportError) as error:
            raise InputError(f"The OpenML table {table_name!r} cannot be read: {error}") from error
    target = bunch.target_names[0] if len(bunch.target_names) == 1 else None
    messages = (str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
    return LoadedTable(bunch.frame, target, tuple(f"OpenML: {' '.join(message.split())}" for message in messages))


def _from_file(path: Path) -> LoadedTable:
    kinds = "a .csv or .tsv (also .gz, .bz2, .xz), .parquet, .arff or .npz file"
    if not path.exists():
        raise InputError(
            f"There is no file '{path}', and no built-in table of this name.{nearest(str(path), BUILT_IN)} "
            f"Built in are {shown(BUILT_IN)}; otherwise expected {kinds} or openml:NAME."
        )
    if not path.is_file():
        raise InputError(f"'{path}' is a folder; expected {kinds}.")
    if path.stat().st_size == 0:
        raise InputError(f"'{path}' is empty.")
    compressed = path.suffix.lower() in COMPRESSED
    kind = (Path(path.stem) if compressed else path).suffix.lower()
    readers = {".csv": _from_text, ".tsv": _from_text, ".arff": _from_arff}
    if not compressed:
        readers |= {".parquet": _from_parquet, ".npz": _from_npz}
    if kind not in readers:
        raise InputError(f"'{path}' is of an unknown type; expected {kinds}.")
    try:
        return readers[kind](path)
    except (InputError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"'{path}' is not text in UTF-8 ({error.reason}). Save it as UTF-8.") from error
    except Exception as error:  # four third-party parsers, each with its own ways to fail on a damaged file
        message = f"'{path}' cannot be read as {kind} ({type(error).__name__}: {error})."
        arff = " Only dense ARFF with numbers, dates and unquoted nominal values is supported; save it as CSV."
        raise InputError(message + (arff if kind == ".arff" else " Is it complete?")) from error


def _open_text(path: Path) -> TextIO:
    opener = COMPRESSED.get(path.suffix.lower(), open)
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=""))


def _from_text(path: Path) -> LoadedTable:
    with _open_text(path) as file:
        header = next((line for line in file if line.strip()), "")
        if not header:
            raise InputError(f"'{path}' is empty.")
        # The separator is what splits the header into most fields; a comma in quotes does not count.
        fields = {mark: len(next(csv.reader([header[:100_000]], delimiter=mark))) for mark in ",;\t"}
        separator = "\t" if ".tsv" in path.name.lower() else max(fields, key=fields.__getitem__)
        file.seek(0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            try:
                # Without index_col, a header that is one name short would silently shift all names by one.
                frame = pd.read_csv(file, sep=separator, skipinitialspace=True, low_memory=False, index_col=False)
            except pd.errors.ParserWarning as error:
                raise InputError(f"'{path}' has rows with more fields than its header. Name every column.") from error
    notes: tuple[str, ...] = ()
    if all(_is_number(name) for name in frame.columns):
        # Some tables do number their columns, so this is a note and not an error.
        notes = (f"The first line ({shown(frame.columns, 4)}) was read as names. If it is a row, add a header line.",)
    return LoadedTable(_with_decimal_commas(frame) if separator == ";" else frame, notes=notes)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _with_decimal_commas(frame: pd.DataFrame) -> pd.DataFrame:
    """If the separator is a semicolon, "1,5" is a number."""
    for name in frame.select_dtypes(exclude="number"):
        column: Any = frame[name].dropna()
        if len(column) and column.map(type).eq(str).all() and column.str.fullmatch(r"[-+]?\d+(,\d+)?").all():
            frame[name] = pd.to_numeric(frame[name].str.replace(",", ".", regex=False))
    return frame


def _from_arff(path: Path) -> LoadedTable:
    from scipy.io.arff import loadarff

    with _open_text(path) as file:
        rows, meta = loadarff(file)
    frame = pd.DataFrame(rows)
    for name, kind in zip(meta.names(), meta.types()):
        if kind == "nominal":
            texts = frame[name].str.decode("utf-8")
            frame[name] = texts.where(texts != "?")
    return LoadedTable(frame)


def _from_parquet(path: Path) -> LoadedTable:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise InputError(
            f"'{path}' needs pyarrow, which is not installed. Run `pip install \"classay[parquet]\"`."
        ) from error
    return LoadedTable(pd.read_parquet(path, engine="pyarrow"))


def _from_npz(path: Path) -> LoadedTable:
    loaded = np.load(path, allow_pickle=False)
    if not isinstance(loaded, np.lib.npyio.NpzFile):
        raise InputError(f"'{path}' contains one array; expected an .npz with arrays X and y.")
    with loaded as file:
        keys = {key.lower(): key for key in file.files}
        pairs = [("x", "y")] if {"x", "y"} <= keys.keys() else [("x_train", "y_train"), ("x_test", "y_test")]
        pairs = [pair for pair in pairs if keys.keys() >= set(pair)]
        if ("x", "y") not in pairs and ("x_train", "y_train") not in pairs:
            raise InputError(f"'{path}' has arrays {shown(file.files)}; expected X and y, or x_train and y_train.")
        xs, ys = ([file[keys[pair[side]]] for pair in pairs] for side in (0, 1))
    X, y = np.concatenate(xs), np.concatenate(ys)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if X.ndim < 2 or y.ndim != 1 or len(X) != len(y):
        raise InputError(f"'{path}' has X of shape {X.shape} and y of shape {y.shape}; expected a label for each row.")
    if y.dtype.kind == "S":
        y = np.char.decode(y, "utf-8")
    return LoadedTable(pd.DataFrame(X.reshape(len(X), -1)).rename(columns=str).assign(y=y), "y")
