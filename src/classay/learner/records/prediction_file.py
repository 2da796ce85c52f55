"""A file of predictions for the rows of a table, CSV, Parquet or npz: columns are found by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...arrays import Ints
from ...expect import InputError, shown
from ...files import expect_file, read_arrays
from ...tables.read import read_frame
from .prediction_table import PREDICTED

CONFIDENCE = ("confidence", "p_max", "max_probability", "probability", "score")
PROBABILITIES = ("probabilities", "proba", "predict_proba", "y_proba")
PREFIXES = ("", "p_", "prob_", "proba_", "probability_")


Found = tuple[Any, Any, Any]
"""Predicted classes, probabilities (rows, classes) and confidences; None for what a file does not have."""


def read_predictions(
    source: str, classes: NDArray[Any], rows: int, kept: Ints | None = None, in_file: int | None = None
) -> Found:
    """The predicted class, probabilities and confidence of each row of a table, as far as a file has them.

    classes : the classes that were trained on, in order; rows : how many there are; kept : where these are in their
    file, if some were dropped; in_file : how many rows that file has. There is one prediction for each row of the
    table's file, or of those that were kept, in the same order.
    """
    columns = _arrays(Path(source).expanduser()) if source.lower().endswith(".npz") else _columns(source, classes)
    lengths = dict.fromkeys(len(each) for each in columns if each is not None)
    if len(lengths) > 1:
        raise InputError(f"{source} has arrays of {shown(lengths)} rows; expected one prediction for each row in all.")
    given = next(iter(lengths))
    if given != rows:
        if kept is None or given != in_file:
            dropped = "" if kept is None else f", of {in_file} in the file"
            raise InputError(
                f"{source} has {given} predictions but there are {rows} rows{dropped}; they must match, in order."
            )
        return tuple(None if each is None else each[kept] for each in columns)  # type: ignore[return-value]
    return columns


def _columns(source: str, classes: NDArray[Any]) -> Found:
    frame = read_frame(source)
    columns = _Names(source, frame)
    predicted = columns.first(PREDICTED)
    shares, lacking, some = None, [], []
    for prefix in PREFIXES:
        found = [columns.numbers(f"{prefix}{each}") for each in classes.tolist()]
        if all(each is not None for each in found):
            shares = np.column_stack([each for each in found if each is not None])
            break
        if prefix and any(each is not None for each in found):
            lacking = [f"{prefix}{each}" for each, column in zip(classes.tolist(), found) if column is None]
            some = [f"{prefix}{each}" for each, column in zip(classes.tolist(), found) if column is not None]
    if predicted is not None and shares is None and lacking:
        raise InputError(
            f"{source} has the columns {shown(some, 5)} but not {shown(lacking, 5)}; expected a column of "
            f"probabilities for each of {classes.size} classes, or none. Add the others, or leave these out."
        )
    if predicted is None and shares is None:
        if lacking:
            raise InputError(
                f"{source} has no column {shown(lacking, 5)}; expected a column of probabilities for each of "
                f"{classes.size} classes, or one named `predicted`."
            )
        if frame.shape[1] != 1:
            raise InputError(
                f"{source} has the columns {shown(frame.columns)}; expected one named `predicted` (or `prediction`, "
                "`y_pred`), or a column of probabilities for each class, named as the class or `p_` and the class."
            )
        predicted = frame.iloc[:, 0]
    confidence = columns.first(CONFIDENCE)
    if confidence is not None and not pd.api.types.is_numeric_dtype(confidence):
        if shares is None:
            raise InputError(
                f"{source}: the column {confidence.name!r} has {confidence.iloc[0]!r}; expected numbers. Convert it, "
                "or drop it."
            )
        confidence = None  # probabilities have it
    missing = 0 if predicted is None else int(predicted.isna().sum())
    if missing:
        raise InputError(f"{source}: {missing} of {len(frame)} predictions are missing. Fill or drop these rows.")
    if predicted is not None and confidence is not None and shares is None:
        shares = _of_one_class(predicted, confidence.to_numpy(dtype=float), classes)
    return tuple(None if each is None else np.asarray(each) for each in (predicted, shares, confidence))  # type: ignore[return-value]


class _Names:
    """Columns of a file by their names, in any case if that is clear."""

    def __init__(self, source: str, frame: pd.DataFrame) -> None:
        self.source, self.frame = source, frame
        self.exact: dict[str, str] = {str(name).strip(): name for name in frame.columns}
        self.small: dict[str, list[str]] = {}
        for name in frame.columns:
            self.small.setdefault(str(name).strip().lower(), []).append(name)

    def column(self, name: str) -> pd.Series[Any] | None:
        """The column with this name; an error if there are several that differ by case alone, and none is exact."""
        if name in self.exact:
            return self.frame[self.exact[name]]
        alike = self.small.get(name.lower(), [])
        if len(alike) > 1:
            raise InputError(
                f"{self.source} has the columns {shown(alike)}, which differ by upper case alone; expected one named "
                f"{name!r}."
            )
        return self.frame[alike[0]] if alike else None

    def first(self, names: tuple[str, ...]) -> pd.Series[Any] | None:
        """The first of these columns that is there; an error if two are called the same but for upper case."""
        for name in names:
            if len(alike := self.small.get(name, [])) > 1:
                raise InputError(
                    f"{self.source} has the columns {shown(alike)}, which differ by upper case alone; expected one."
                )
            if alike:
                return self.frame[alike[0]]
        return None

    def numbers(self, name: str) -> NDArray[Any] | None:
        """The column with this name, if it has numbers."""
        found = self.column(name)
        return found.to_numpy(dtype=float) if found is not None and pd.api.types.is_numeric_dtype(found) else None


def _of_one_class(predicted: pd.Series[Any], values: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any] | None:
    """Probabilities of both classes, if the values are those of one of two classes rather than of the prediction.

    They are if some threshold of them separates the predictions: confidence in the prediction does not.
    """
    if classes.size != 2 or not ((values >= 0) & (values <= 1)).all():
        return None
    second = (predicted.astype(str) == str(classes[1])).to_numpy()
    if second.all() or not second.any():
        return None
    for of_second, shares in ((second, values), (~second, 1 - values)):
        if values[of_second].min() > values[~of_second].max():
            return np.column_stack([1 - shares, shares])
    return None


def _arrays(path: Path) -> Found:
    known = (*PREDICTED, *PROBABILITIES, *CONFIDENCE)
    arrays = read_arrays(expect_file(path, "an .npz file made by np.savez"), known)
    names = list(arrays)
    arrays = {name: array for name, array in arrays.items() if array is not None}
    for name, array in arrays.items():
        if array.ndim == 0:
            raise InputError(f"{path}: `{name}` is a single value; expected one for each row.")
    found = tuple(
        next((arrays[name] for name in each if name in arrays), None) for each in (PREDICTED, PROBABILITIES, CONFIDENCE)
    )
    if found[0] is None and found[1] is None:
        raise InputError(
            f"{path} has the arrays {shown(names) or 'none'}; expected `predictions` (rows,) or `probabilities` (rows, "
            "classes): np.savez(path, predictions=..., probabilities=...)."
        )
    return found  # type: ignore[return-value]
