"""What commands read: roles of rows for fits, files of predictions, records, and files of scores."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import expect
from ..classes.ranks.ranks import Ranks
from ..expect import InputError, shown
from ..files import UNREADABLE, expect_file, quoted, read_arrays, unreadable
from ..learner.records.labelings import Labelings
from ..learner.records.predictions import load
from ..tables.read import read_frame
from . import console
from .options import Group

if TYPE_CHECKING:
    from ..tables.data import Data


def roles_of(table: Data) -> dict[str, Any]:
    """The keywords of verbs for what the options name: groups, times and weights of the rows, and the test rows."""
    roles: dict[str, Any] = {"groups": table.groups, "time": table.time, "sample_weight": table.weights}
    if table.test is not None:
        roles |= {"X_test": table.test.X, "y_test": table.test.y}
        if table.groups is not None and table.test.groups is not None:
            roles["groups"] = np.concatenate([table.groups, table.test.groups])
    return {name: values for name, values in roles.items() if values is not None}


def rows_or_share(size: float) -> float | int:
    """A size as options have it: a share, or above 1 a whole number of rows."""
    return int(size) if size > 1 and size.is_integer() else size


def names_in(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


# Files of predictions, records and reports.


TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".gz", ".bz2", ".xz", ".arff")
REPORTS = (".json", ".html")
MLFLOW = "mlflow:"
"""Before the id of a run of MLflow that has a report."""


@dataclass(frozen=True, kw_only=True)
class Predictions(Group):
    """The columns of a file of predictions."""

    truth: str | None = None
    prediction: list[str] | None = None
    item: str | None = None
    run: str | None = None
    variant: str | None = None
    score: list[str] | None = None
    wide: str | None = None
    normalise: bool = False
    missing: str = "wrong"

    def named(self) -> dict[str, Any]:
        """The columns that were named, by role, as a check file has them."""
        usual = type(self)()
        return {name: value for name, value in vars(self).items() if value != getattr(usual, name)}

    def table(self, source: str | Path, groups: str | None = None, wide: str = "variant") -> Labelings:
        """The predictions in a file. `wide` is what several columns of predictions are, unless an option says it."""
        frame = read_frame(source)
        if self.truth is None:
            raise InputError(
                f"'{source}' is a table; --truth must name the column of the true class. There are "
                f"{shown(frame.columns, 12)}."
            )
        lists = {"prediction": self.prediction or None, "score": self.score or None, "wide": self.wide or wide}
        return Labelings.from_frame(frame, groups=groups, name=Path(source).stem, **{**vars(self), **lists})

    def record(self, source: str, quiet: bool) -> tuple[Labelings, pd.DataFrame | None]:
        """The record of a file of predictions or a saved record, and the other columns of its items."""
        if Path(source).suffix.lower() in TABLES:
            table = self.table(source, wide="run")
            for note in table.notes:
                console.say(f"{source}: {note}", quiet)
            return table, table.columns if table.columns is not None and table.columns.shape[1] else None
        record = load(expect_file(source, "a file", f"Expected predictions ({', '.join(TABLES[:4])}), or a record."))
        if not isinstance(record, Labelings):
            raise InputError(f"'{source}' is the record of a regressor; expected one of a classifier.")
        return record, None


def is_report(source: str) -> bool:
    """Whether a name is that of a report."""
    return source.startswith(MLFLOW) or Path(source).suffix.lower() in REPORTS


# Files of scores: .npz, .npy with a file of true classes, or saved ranks.


SUFFIXES = (".npz", ".npy", ".classay")


def holds_scores(source: str) -> bool:
    """Whether a source is a file of scores; otherwise it is a table."""
    path = Path(source).expanduser()
    suffix = path.suffix.lower()
    if suffix == ".npz" and os.path.isfile(path):
        names = set(read_arrays(path, ()))
        return "scores" in names or not ({"x", "y"} <= names or {"x_train", "y_train"} <= names)
    return suffix in SUFFIXES


def ranks_of(source: str, truth: str | None, marginal: bool | None = None) -> Ranks:
    """The ranks of the true classes in a file of scores. `truth` is the file of true classes, which an .npy needs."""
    path = expect_file(Path(source).expanduser(), "a file of scores")
    if path.suffix.lower() == ".classay":
        return Ranks.load(path)
    if path.suffix.lower() == ".npy":
        if truth is None:
            raise InputError(
                f"'{path}' has only scores; the true class of every row is also needed. Give a file with --truth."
            )
        arrays = {"scores": array(path)}
    else:
        arrays = read_arrays(path, ("scores", "y", "classes"))
    if "scores" not in arrays or ("y" not in arrays and truth is None):
        raise InputError(
            f"'{path}' has the arrays {expect.shown(arrays) or 'none'}; expected `scores` (rows, classes) and `y`, "
            "and `classes` if `y` has names: np.savez(path, scores=scores, y=y, classes=classes)."
        )
    y = arrays["y"] if truth is None else labels(Path(truth).expanduser())
    try:
        return Ranks.from_scores(arrays["scores"], y, arrays.get("classes"), marginal, path.stem)
    except InputError as mistake:
        raise InputError(f"{path.stem}: {mistake}") from None


def array(path: Path) -> Any:
    """The array of an .npy file, memory-mapped."""
    expect_file(path, "a file written by np.save")
    try:
        loaded = np.load(path, mmap_mode="r", allow_pickle=False)
    except UNREADABLE as error:
        raise unreadable(path, error) from None
    if isinstance(loaded, np.lib.npyio.NpzFile):
        loaded.close()
        raise InputError(f"'{path}' has several arrays; expected a file written by np.save.")
    return loaded


def labels(path: Path) -> Any:
    """Labels from an .npy file, or from a text file with one per line."""
    if path.suffix.lower() == ".npy":
        return np.asarray(array(path))
    expect_file(path, "one label per line, or an .npy file")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"'{path}' cannot be read as text ({error}); expected one label per line, or an .npy file."
        ) from None
    values = [line.strip() for line in lines if line.strip()]
    whole = bool(values) and all(value.isdecimal() for value in values)
    return np.array([int(value) for value in values] if whole else values)


# What describes networks, as written on the command line.


Normalization = tuple[tuple[float, ...], tuple[float, ...]]
"""Mean and standard deviation of each channel."""


def named_paths(files: list[str]) -> dict[str, Path]:
    """Paths by a short name: that of the file, or the whole path where two files have the same name."""
    paths = list(dict.fromkeys(Path(file) for file in files))
    stems = [path.stem for path in paths]
    names = [path.stem if stems.count(path.stem) == 1 else str(path) for path in paths]
    missing = [quoted(path) for path in paths if not os.path.exists(path)]
    if missing:
        raise InputError(f"File not found: {expect.shown(missing)}. Is the path right?")
    return dict(zip(names, paths))


def read_shape(text: str) -> tuple[int, ...]:
    """The shape of one input, as written on the command line.

    >>> read_shape("3x32x32"), read_shape("128")
    ((3, 32, 32), (128,))
    """
    if not re.fullmatch(r"\s*\d{1,9}(\s*[x×X,]\s*\d{1,9})*\s*", text):
        raise InputError(f"--input is {text[:80]!r}; expected the shape of one input, such as 3x32x32.")
    shape = tuple(int(side) for side in re.findall(r"\d+", text))
    if 0 in shape:
        raise InputError(f"--input is {text[:80]!r}; expected sides of at least 1.")
    expect.within(4 * math.prod(shape), "array_bytes", "The size of one input (--input) in bytes")
    return shape


def read_normalization(mean: str | None, std: str | None) -> Normalization | None:
    """Mean and standard deviation of each channel, as written on the command line."""
    if mean is None and std is None:
        return None
    if mean is None or std is None:
        raise InputError("Only one of --mean and --std is given; expected both or neither.")
    try:
        means, deviations = (tuple(float(part) for part in text.split(",")) for text in (mean, std))
    except ValueError:
        raise InputError(
            f"--mean is {mean!r} and --std is {std!r}; expected comma-separated numbers, such as .49,.48,.45."
        ) from None
    return means, deviations
