"""Score files for `classay classes`: .npz, .npy with a file of true classes, or saved ranks."""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import expect
from ..classes.ranks.ranks import Ranks
from ..expect import InputError
from ..input_files import expect_file
from ..npz_files import UNREADABLE, expect_honest_sizes, expect_numbers_or_text

SUFFIXES = (".npz", ".npy", ".classay")


@dataclass(frozen=True)
class ScoreFile:
    """Scores (n, K), the true class of every row, and the names of the columns if there are any."""

    name: str
    scores: Any
    y: Any
    classes: Any = None

    def ranks(self, marginal: bool | None) -> Ranks:
        """The ranks of the true classes."""
        if isinstance(self.scores, Ranks):
            return self.scores
        try:
            return Ranks.from_scores(self.scores, self.y, self.classes, marginal, self.name)
        except InputError as mistake:
            raise InputError(f"{self.name}: {mistake}") from None


def holds_scores(source: str) -> bool:
    """Whether a source is a file of scores; otherwise it is a table."""
    path = Path(source).expanduser()
    suffix = path.suffix.lower()
    if suffix == ".npz" and os.path.isfile(path):
        names = {name.lower() for name in _names(path)}
        return "scores" in names or not ({"x", "y"} <= names or {"x_train", "y_train"} <= names)
    return suffix in SUFFIXES


def read(source: str, truth: str | None) -> ScoreFile:
    """Read a file of scores. `truth` names the file of true classes, which an .npy needs."""
    path = expect_file(Path(source).expanduser(), "a file of scores")
    suffix = path.suffix.lower()
    if suffix == ".classay":
        return ScoreFile(path.stem, Ranks.load(path), None)
    if suffix == ".npy":
        if truth is None:
            raise InputError(
                f"'{path}' has only scores; the true class of every row is also needed. Give a file with --truth."
            )
        return ScoreFile(path.stem, array(path), labels(Path(truth).expanduser()))
    arrays = _arrays(path)
    if "scores" not in arrays or ("y" not in arrays and truth is None):
        raise InputError(
            f"'{path}' has the arrays {expect.shown(arrays) or 'none'}; expected `scores` (rows, classes) and `y`, "
            "and `classes` if `y` has names: np.savez(path, scores=scores, y=y, classes=classes)."
        )
    y = arrays["y"] if truth is None else labels(Path(truth).expanduser())
    return ScoreFile(path.stem, arrays["scores"], y, arrays.get("classes"))


def array(path: Path) -> Any:
    """The array of an .npy file, memory-mapped."""
    expect_file(path, "a file written by np.save")
    try:
        loaded = np.load(path, mmap_mode="r", allow_pickle=False)
    except UNREADABLE as error:
        raise _unreadable(path, error) from None
    if isinstance(loaded, np.lib.npyio.NpzFile):
        loaded.close()
        raise InputError(f"'{path}' has several arrays; expected a file written by np.save.")
    return loaded


def _arrays(path: Path) -> dict[str, Any]:
    try:
        expect_honest_sizes(path)
        with np.load(path, allow_pickle=False) as file:
            wanted = [name for name in file.files if name.lower() in ("scores", "y", "classes")]
            arrays = {name.lower(): file[name] for name in wanted}
            for name, each in arrays.items():
                expect_numbers_or_text(each, name)
            return arrays or dict.fromkeys(file.files)
    except InputError:
        raise
    except UNREADABLE as error:
        raise _unreadable(path, error) from None


def _names(path: Path) -> list[str]:
    """The names of the arrays in an .npz file, without reading them."""
    try:
        with zipfile.ZipFile(path) as file:
            return [name.removesuffix(".npy") for name in file.namelist()]
    except UNREADABLE as error:
        raise _unreadable(path, error) from None


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


def _unreadable(path: Path, error: Exception) -> InputError:
    if "pickle" in str(error):
        return InputError(
            f"'{path}' has pickled Python objects, or is not an array. Reading such objects could run code, so classay "
            "refuses to. Save numbers, and names as text: labels.astype(str)."
        )
    return InputError(f"'{path}' cannot be read ({type(error).__name__}: {error}). Is it complete?")
