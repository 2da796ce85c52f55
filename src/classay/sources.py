"""Where tables come from: built-in names, files, OpenML. Nothing is ever unpickled."""

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

from .expect import InputError, nearest, shown

BUILT_IN = ("iris", "wine", "breast_cancer", "digits")
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@dataclass(frozen=True)
class Source:
    """What a reader found: all columns, which of them is the target if the source says so, and remarks."""

    frame: pd.DataFrame
    target: str | None = None
    notes: tuple[str, ...] = ()


def found_at(source: str | Path) -> tuple[str, Source]:
    """The name of a table, and what is found there: `openml:NAME`, `openml:ID`, one of `BUILT_IN`, or a file."""
    text = str(source)
    if text.startswith("openml:"):
        return text, _from_openml(text.removeprefix("openml:"))
    if text in BUILT_IN:
        return text, _built_in(text)
    path = Path(source).expanduser()
    return path.name, _from_file(path)


def _built_in(name: str) -> Source:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    if name == "digits":
        return Source(bunch.frame, "target")
    names = np.asarray(bunch.target_names, dtype=object)
    return Source(bunch.data.assign(target=names[bunch.target.to_numpy()]), "target")


def _from_openml(which: str) -> Source:
    from sklearn import datasets

    key = {"data_id": int(which)} if which.isdecimal() else {"name": which}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            bunch = datasets.fetch_openml(**key, as_frame=True, parser="auto")
        except HTTPError as error:
            raise InputError(
                f"OpenML has no table {which!r} or refuses it ({error}). Is the name as on openml.org?"
            ) from error
        except (OSError, HTTPException) as error:
            raise InputError(
                f"OpenML could not be reached for {which!r} ({error}). Check the network, or pass a file."
            ) from error
        except (ValueError, ImportError) as error:
            raise InputError(f"The OpenML table {which!r} cannot be read: {error}") from error
    target = bunch.target_names[0] if len(bunch.target_names) == 1 else None
    remarks = (str(one.message) for one in said if issubclass(one.category, UserWarning))
    return Source(bunch.frame, target, tuple(f"OpenML: {' '.join(remark.split())}" for remark in remarks))


def _from_file(path: Path) -> Source:
    kinds = "a .csv or .tsv (also .gz, .bz2, .xz), .parquet, .arff or .npz file"
    if not path.exists():
        raise InputError(
            f"There is no file '{path}', and no built-in table of this name.{nearest(str(path), BUILT_IN)} "
            f"Built in are {shown(BUILT_IN)}; else {kinds} or openml:NAME is expected."
        )
    if not path.is_file():
        raise InputError(f"'{path}' is a folder; {kinds} is expected.")
    if path.stat().st_size == 0:
        raise InputError(f"'{path}' is empty.")
    packed = path.suffix.lower() in PACKED
    kind = (Path(path.stem) if packed else path).suffix.lower()
    readers = {".csv": _from_text, ".tsv": _from_text, ".arff": _from_arff}
    if not packed:
        readers |= {".parquet": _from_parquet, ".npz": _from_npz}
    if kind not in readers:
        raise InputError(f"'{path}' is of an unknown kind; {kinds} is expected.")
    try:
        return readers[kind](path)
    except (InputError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"'{path}' is not text in UTF-8 ({error.reason}). Save it as UTF-8.") from error
    except Exception as error:  # four parsers of others, each with its own ways to fail on a damaged file
        what = f"'{path}' cannot be read as {kind} ({type(error).__name__}: {error})."
        arff = " Only dense ARFF of numbers, dates and unquoted nominal values is understood; save it as CSV."
        raise InputError(what + (arff if kind == ".arff" else " Is it complete?")) from error


def _open_text(path: Path) -> TextIO:
    opener = PACKED.get(path.suffix.lower(), open)
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=""))


def _from_text(path: Path) -> Source:
    with _open_text(path) as file:
        header = next((line for line in file if line.strip()), "")
        if not header:
            raise InputError(f"'{path}' is empty.")
        # What cuts the header into most fields separates them; a comma in quotes does not count.
        fields = {mark: len(next(csv.reader([header[:100_000]], delimiter=mark))) for mark in ",;\t"}
        separator = "\t" if ".tsv" in path.name.lower() else max(fields, key=fields.__getitem__)
        file.seek(0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            try:
                # Without index_col, a header that is one name short would quietly shift all names by one.
                frame = pd.read_csv(file, sep=separator, skipinitialspace=True, low_memory=False, index_col=False)
            except pd.errors.ParserWarning as error:
                raise InputError(f"'{path}' has rows of more fields than its header. Name every column.") from error
    notes: tuple[str, ...] = ()
    if all(_is_number(name) for name in frame.columns):
        # Some tables do number their columns, so it is said and not refused.
        notes = (f"The first line ({shown(frame.columns, 4)}) was taken as names. If it is a row, add a header line.",)
    return Source(_with_decimal_commas(frame) if separator == ";" else frame, notes=notes)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _with_decimal_commas(frame: pd.DataFrame) -> pd.DataFrame:
    """Where semicolons separate, «1,5» is a number."""
    for name in frame.select_dtypes(exclude="number"):
        column: Any = frame[name].dropna()
        if len(column) and column.map(type).eq(str).all() and column.str.fullmatch(r"[-+]?\d+(,\d+)?").all():
            frame[name] = pd.to_numeric(frame[name].str.replace(",", ".", regex=False))
    return frame


def _from_arff(path: Path) -> Source:
    from scipy.io.arff import loadarff

    with _open_text(path) as file:
        rows, meta = loadarff(file)
    frame = pd.DataFrame(rows)
    for name, kind in zip(meta.names(), meta.types()):
        if kind == "nominal":
            texts = frame[name].str.decode("utf-8")
            frame[name] = texts.where(texts != "?")
    return Source(frame)


def _from_parquet(path: Path) -> Source:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise InputError(
            f"'{path}' needs pyarrow, which is not installed. Run `pip install \"classay[parquet]\"`."
        ) from error
    return Source(pd.read_parquet(path, engine="pyarrow"))


def _from_npz(path: Path) -> Source:
    loaded = np.load(path, allow_pickle=False)
    if not isinstance(loaded, np.lib.npyio.NpzFile):
        raise InputError(f"'{path}' holds one array; an .npz with arrays X and y is expected.")
    with loaded as file:
        keys = {key.lower(): key for key in file.files}
        pairs = [("x", "y")] if {"x", "y"} <= keys.keys() else [("x_train", "y_train"), ("x_test", "y_test")]
        pairs = [pair for pair in pairs if keys.keys() >= set(pair)]
        if ("x", "y") not in pairs and ("x_train", "y_train") not in pairs:
            raise InputError(f"'{path}' has arrays {shown(file.files)}; X and y are expected, or x_train and y_train.")
        xs, ys = ([file[keys[pair[side]]] for pair in pairs] for side in (0, 1))
    X, y = np.concatenate(xs), np.concatenate(ys)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if X.ndim < 2 or y.ndim != 1 or len(X) != len(y):
        raise InputError(
            f"'{path}' has X of shape {X.shape} and y of shape {y.shape}; a label for each row is expected."
        )
    if y.dtype.kind == "S":
        y = np.char.decode(y, "utf-8")
    return Source(pd.DataFrame(X.reshape(len(X), -1)).rename(columns=str).assign(y=y), "y")
