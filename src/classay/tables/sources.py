"""Where tables come from: built-in names, files, OpenML. Nothing is ever unpickled.

Columns come as the source has them; what they mean is decided in `kinds`. Text files are decoded in `text_files`.
"""

from __future__ import annotations

import atexit
import csv
import json
import shutil
import sys
import tempfile
import warnings
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any, TextIO
from urllib.error import HTTPError

import numpy as np
import pandas as pd
from pandas.api import types

from ..expect import InputError, nearest, shown, within
from ..files import COMPRESSED, expect_file, open_text, read_arrays
from .text_files import LoadedTable, Wanted, from_text

BUILT_IN = ("iris", "wine", "breast_cancer", "digits", "random")
SHARING = {"PLAIN_DICTIONARY", "RLE_DICTIONARY", "DELTA_BYTE_ARRAY"}
"""Encodings of Parquet in which a text takes few bytes if an earlier one is like it."""
RANDOM_ROWS, RANDOM_COLUMNS, RANDOM_VALUES = 2000, 4, 100


def load_source(source: str | Path, wanted: Wanted) -> tuple[str, LoadedTable]:
    """The name of a table, and its content: `openml:NAME`, `openml:ID`, `-`, one of `BUILT_IN`, or a file."""
    text = str(source)
    if text.startswith("openml:"):
        return text, _from_openml(text.removeprefix("openml:"))
    if text in BUILT_IN:
        return text, _built_in(text)
    if text == STANDARD_INPUT:
        return STDIN, _from_file(copied(), wanted)
    path = Path(source).expanduser()
    return path.name, _from_file(path, wanted)


def _built_in(name: str) -> LoadedTable:
    if name == "random":
        return _random()
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    if name == "digits":
        return LoadedTable(bunch.frame, "target")
    names = np.asarray(bunch.target_names, dtype=object)
    return LoadedTable(bunch.data.assign(target=names[bunch.target.to_numpy()]), "target")


def _random() -> LoadedTable:
    """Labels that no column has anything to do with, as in figures 15 and 16 of the paper on orientation vectors.

    2,000 rows of four whole numbers from 0 to 99 and one of two labels, all drawn evenly; always the same rows.
    """
    generator = np.random.default_rng(0)
    numbers = generator.integers(RANDOM_VALUES, size=(RANDOM_ROWS, RANDOM_COLUMNS))
    frame = pd.DataFrame(numbers, columns=[f"x{place + 1}" for place in range(RANDOM_COLUMNS)])
    return LoadedTable(frame.assign(target=generator.integers(2, size=RANDOM_ROWS)), "target")


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


def _from_file(path: Path, wanted: Wanted) -> LoadedTable:
    kinds = "a .csv or .tsv (also .gz, .bz2, .xz), .parquet, .jsonl, .arff or .npz file"
    names = f"No built-in table has this name either.{nearest(str(path)[:200], BUILT_IN)}"
    others = f"Built in are {shown(BUILT_IN)}; otherwise expected {kinds}, openml:NAME, or - for standard input."
    if expect_file(path, kinds, f"{names} {others}").stat().st_size == 0:
        raise InputError(f"'{path}' is empty.")
    compressed = path.suffix.lower() in COMPRESSED
    kind = (Path(path.stem) if compressed else path).suffix.lower()
    readers = {".csv": lambda path: from_text(path, wanted), ".tsv": lambda path: from_text(path, wanted)}
    readers[".arff"] = _from_arff
    readers |= {".jsonl": _from_json_lines, ".ndjson": _from_json_lines}
    if not compressed:
        readers |= {".parquet": _from_parquet, ".npz": _from_npz}
    if kind not in readers:
        raise InputError(f"'{path}' is of an unknown type; expected {kinds}.")
    try:
        return readers[kind](path)
    except (InputError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise InputError(
            f"'{path}' is not text in UTF-8 ({error.reason}: byte {error.object[error.start]:#x}). It may be in "
            "Latin-1 or Windows-1252. Save it as UTF-8: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW."
        ) from error
    except Exception as error:  # four third-party parsers, each with its own ways to fail on a damaged file
        message = f"'{path}' cannot be read as {kind} ({type(error).__name__}: {error})."
        arff = " Only dense ARFF with numbers, dates and unquoted nominal values is supported; save it as CSV."
        raise InputError(message + (arff if kind == ".arff" else " Is it complete?")) from error


def _from_arff(path: Path) -> LoadedTable:
    from scipy.io.arff import loadarff

    with open_text(path) as file:
        _refuse_surplus(file, path)
        file.seek(0)
        rows, meta = loadarff(file)
    frame = pd.DataFrame(rows)
    nominal = [name for name, kind in zip(meta.names(), meta.types()) if kind == "nominal"]
    for name in nominal:
        texts = frame[name].str.decode("utf-8")
        frame[name] = texts.where(texts != "?")
    return LoadedTable(frame, nominal=frozenset(nominal))


def _refuse_surplus(file: TextIO, path: Path) -> None:
    """Refuse rows with more or fewer values than there are attributes: SciPy drops surplus ones without a word."""
    attributes, in_data = 0, False
    for number, line in enumerate(file, 1):
        content = line.strip()
        if not content or content.startswith("%"):
            continue
        if "\0" in content:
            raise InputError(f"'{path}' has a NUL character in line {number}. Remove it, or save the file again.")
        if not in_data:
            attributes += content.lower().startswith("@attribute")
            in_data = content.lower().startswith("@data")
        elif not content.startswith("{"):
            values = len(next(csv.reader([content], quotechar="'", skipinitialspace=True)))
            if values > attributes:
                values = len(next(csv.reader([content], quotechar='"', skipinitialspace=True)))
            if values != attributes:
                raise InputError(
                    f"'{path}' has {values} values in line {number}; expected {attributes}, one for each attribute."
                )


def _from_parquet(path: Path) -> LoadedTable:
    try:
        import pyarrow
    except ImportError as error:
        raise InputError(
            f"'{path}' needs pyarrow, which is not installed. Run `pip install \"classay[parquet]\"`."
        ) from error
    _expect_honest_parquet(path)
    frame = pd.read_parquet(path, engine="pyarrow")
    pyarrow.default_memory_pool().release_unused()  # what reading needed is as large as the table
    if isinstance(frame.columns, pd.MultiIndex):
        raise InputError(
            f"'{path}' has names of columns in {frame.columns.nlevels} levels, such as {frame.columns[0]!r}; "
            'expected one text each. Join them first: frame.columns = ["_".join(map(str, c)) for c in frame.columns].'
        )
    named = [name for name in frame.index.names if name is not None]
    notes = [f"The index ({shown(named)}) was read as a column."] if named else []
    if named:
        frame = frame.reset_index(allow_duplicates=True)
    elif not types.is_integer_dtype(frame.index.dtype):  # whole numbers without a name only count the rows
        notes = [f"The index, which has no name, was left out (first: {shown(frame.index[:3].map(repr))})."]
    return LoadedTable(frame, notes=tuple(notes))


def _from_json_lines(path: Path) -> LoadedTable:
    """One JSON object per line; values that are lists or objects become JSON text."""
    objects: list[dict[str, Any]] = []
    names: set[str] = set()
    size = 0
    with open_text(path, "utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"'{path}' has no JSON in line {number} ({error}); expected one object.") from None
            if not isinstance(row, dict):
                raise InputError(f"'{path}' has {line.strip()[:40]!r} in line {number}; expected an object {{...}}.")
            nested = {key: json.dumps(value) for key, value in row.items() if isinstance(value, (dict, list))}
            objects.append(row | nested if nested else row)
            names.update(row)
            size += sys.getsizeof(row) + sum(map(sys.getsizeof, row.values()))
            within(len(names), "columns", f"The number of different keys in {path.name!r}")
            within(len(objects), "rows", f"The number of rows of {path.name!r}")
            within(max(size, 8 * len(objects) * len(names)), "array_bytes", f"The size of {path.name!r} in memory")
    return LoadedTable(pd.DataFrame(objects))


def _expect_honest_parquet(path: Path) -> None:
    """Refuse a table beyond the limits: equal values take almost no bytes, so a small file can have any number.

    Numbers are counted by what the file declares. Texts that share their bytes, those of a dictionary or with the same
    beginning, are read in parts as they are packed, to sum what they would take.
    """
    import pyarrow
    from pyarrow import compute, parquet

    file = parquet.ParquetFile(path)
    about, what = file.metadata, f"The unpacked size of {path.name!r} in bytes"
    within(about.num_rows, "rows", f"The number of rows of {path.name!r}")
    within(about.num_columns, "columns", f"The number of columns of {path.name!r}")
    sharing, size = set(), 0
    for group in map(about.row_group, range(about.num_row_groups)):
        for place in range(about.num_columns):
            chunk = group.column(place)
            size += max(chunk.num_values * max(8, file.schema.column(place).length or 0), chunk.total_uncompressed_size)
            if chunk.physical_type == "BYTE_ARRAY" and SHARING.intersection(chunk.encodings):
                sharing.add(chunk.path_in_schema)
    within(size, "array_bytes", what)
    flat = sharing.intersection(file.schema_arrow.names)
    for columns, rows in ((flat, 1 << 14), (sharing - flat, 64)):
        packed = parquet.ParquetFile(path, read_dictionary=list(columns & flat))
        for batch in packed.iter_batches(rows, columns=list(columns)) if columns else ():
            for column in batch.columns:
                if pyarrow.types.is_dictionary(column.type):
                    size += compute.sum(compute.binary_length(column.dictionary).take(column.indices)).as_py() or 0
                else:
                    size += column.nbytes
            within(size, "array_bytes", what)


def _from_npz(path: Path) -> LoadedTable:
    both = [("x", "y"), ("x_train", "y_train"), ("x_test", "y_test")]
    arrays = read_arrays(path, {name for pair in both for name in pair})
    pairs = [pair for pair in both if arrays.keys() >= set(pair)]
    if ("x", "y") in pairs:
        pairs = [("x", "y")]
    elif ("x_train", "y_train") not in pairs:
        raise InputError(f"'{path}' has arrays {shown(arrays)}; expected X and y, or x_train and y_train.")
    xs, ys = ([arrays[pair[side]] for pair in pairs] for side in (0, 1))
    X, y = np.concatenate(xs), np.concatenate(ys)
    if not len(X):
        raise InputError(f"'{path}' has no rows.")
    if X.dtype == np.longdouble:
        X = X.astype(np.float64)  # pandas and learners have no wider numbers
    if y.dtype.kind == "f":
        y = y.astype(np.float64)
        if np.isinf(y).any():
            raise InputError(f"'{path}' has infinite labels in y; expected classes. Replace them, or drop these rows.")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if X.ndim < 2 or y.ndim != 1 or len(X) != len(y):
        raise InputError(f"'{path}' has X of shape {X.shape} and y of shape {y.shape}; expected a label for each row.")
    if X.dtype.kind == "c" or y.dtype.kind == "c":
        raise InputError(f"'{path}' has complex numbers; expected real ones. Split X into real and imaginary parts.")
    if y.dtype.kind == "S":
        y = np.char.decode(y, "utf-8")
    return LoadedTable(pd.DataFrame(X.reshape(len(X), -1)).rename(columns=str).assign(y=y), "y")


# A table from standard input, written `-`: it is copied to a temporary file, as tables are read several times


STANDARD_INPUT = "-"
STDIN = "stdin"
SUFFIXES = {
    b"PAR1": ".parquet",
    b"PK\x03\x04": ".npz",
    b"\x1f\x8b": ".csv.gz",
    b"BZh": ".csv.bz2",
    b"\xfd7zXZ": ".csv.xz",
}
"""How files begin -> the suffix of their kind; all else is CSV, TSV or ARFF."""
COPIED_AT_ONCE = 1 << 20
_folders: list[Path] = []
"""The folder of what was copied; it is removed when the process ends. Standard input can be read once."""


def copied() -> Path:
    """The content of standard input as a file, of the kind that its first bytes show."""
    source = getattr(sys.stdin, "buffer", None)
    if source is None or sys.stdin.isatty():
        raise InputError(
            "The table is -, standard input, which is not connected to a file. Write: classay data - < table.csv."
        )
    if _folders:
        raise InputError("Standard input (-) was named twice, but it can be read only once. Save it to a file.")
    _folders.append(Path(tempfile.mkdtemp(prefix="classay-stdin-")))
    atexit.register(shutil.rmtree, _folders[0], ignore_errors=True)
    raw = _folders[0] / STDIN
    with open(raw, "wb") as target:
        _copy(source, target)
    return raw.rename(raw.with_name(STDIN + _suffix(raw)))


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    total = 0
    while part := source.read(COPIED_AT_ONCE):
        total = within(total + len(part), "file_bytes", "The size of standard input in bytes")
        target.write(part)


def _suffix(path: Path) -> str:
    with open(path, "rb") as file:
        begin = file.read(4096)
    known = next((suffix for magic, suffix in SUFFIXES.items() if begin.startswith(magic)), "")
    return known or (".arff" if b"@relation" in begin.lower() else ".csv")
