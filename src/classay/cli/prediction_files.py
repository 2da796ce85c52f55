"""Files of a model's predictions: CSV, Parquet or npz, columns found by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arrays import Ints
from ..expect import InputError, shown
from ..input_files import expect_file
from ..npz_files import UNREADABLE, expect_honest_sizes, expect_numbers_or_text
from ..report.model_check import ModelPredictions
from ..tables.read import read_frame

PREDICTED = ("predicted", "prediction", "predictions", "y_pred", "pred", "yhat", "predicted_label")
CONFIDENCE = ("confidence", "p_max", "max_probability", "probability", "score")
PROBABILITIES = ("probabilities", "proba", "predict_proba", "y_proba")
PREFIXES = ("", "p_", "prob_", "proba_", "probability_")


def read_predictions(source: str, classes: NDArray[Any], labels: NDArray[Any], kept: Ints | None) -> ModelPredictions:
    """Read the predictions for rows of a table.

    classes : the classes that were trained on, in order; labels : of the rows; kept : where these are in their file, if
    some were dropped. The file has one prediction for each row of the table's file, in the same order.
    """
    rows = labels.size
    columns = _arrays(Path(source).expanduser()) if source.lower().endswith(".npz") else _columns(source, classes)
    predicted, shares, confidence = columns
    lengths = dict.fromkeys(len(each) for each in columns if each is not None)
    if len(lengths) > 1:
        raise InputError(f"{source} has arrays of {shown(lengths)} rows; expected one prediction for each row in all.")
    given = next(iter(lengths))
    if given != rows:
        if kept is None or given <= int(kept.max()):
            raise InputError(f"{source} has {given} predictions but there are {rows} rows; they must match, in order.")
        predicted, shares, confidence = (None if each is None else each[kept] for each in columns)
    return ModelPredictions.given(predicted, shares, confidence, classes, labels, source)


Found = tuple[Any, Any, Any]
"""Predicted classes, probabilities (rows, classes) and confidences; None for what a file does not have."""


def _columns(source: str, classes: NDArray[Any]) -> Found:
    frame = read_frame(source)
    by_name = {str(name).strip().lower(): frame[name] for name in frame.columns}
    predicted = next((by_name[name] for name in PREDICTED if name in by_name), None)
    shares = None
    for prefix in PREFIXES:
        names = [f"{prefix}{each}".lower() for each in classes.tolist()]
        if all(name in by_name and pd.api.types.is_numeric_dtype(by_name[name]) for name in names):
            shares = np.column_stack([by_name[name].to_numpy(dtype=float) for name in names])
            break
    if predicted is None and shares is None:
        if frame.shape[1] != 1:
            raise InputError(
                f"{source} has the columns {shown(frame.columns)}; expected one named `predicted` (or `prediction`, "
                "`y_pred`), or a column of probabilities for each class, named as the class or `p_` and the class."
            )
        predicted = frame.iloc[:, 0]
    confidence = next((by_name[name] for name in CONFIDENCE if name in by_name), None)
    if confidence is not None and not pd.api.types.is_numeric_dtype(confidence):
        confidence = None
    missing = 0 if predicted is None else int(predicted.isna().sum())
    if missing:
        raise InputError(f"{source}: {missing} of {len(frame)} predictions are missing. Fill or drop these rows.")
    return tuple(None if each is None else np.asarray(each) for each in (predicted, shares, confidence))  # type: ignore[return-value]


def _arrays(path: Path) -> Found:
    expect_file(path, "an .npz file made by np.savez")
    try:
        expect_honest_sizes(path)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name.lower(): file[name] for name in file.files if name.lower() in _known()}
            names = list(file.files)
        for name, each in arrays.items():
            expect_numbers_or_text(each, name)
    except InputError:
        raise
    except UNREADABLE as error:
        raise InputError(f"{path} cannot be read ({error}); expected an .npz file made by np.savez.") from None
    found = tuple(
        next((arrays[name] for name in each if name in arrays), None) for each in (PREDICTED, PROBABILITIES, CONFIDENCE)
    )
    if found[0] is None and found[1] is None:
        raise InputError(
            f"{path} has the arrays {shown(names) or 'none'}; expected `predictions` (rows,) or `probabilities` (rows, "
            "classes): np.savez(path, predictions=..., probabilities=...)."
        )
    return found  # type: ignore[return-value]


def _known() -> tuple[str, ...]:
    return (*PREDICTED, *PROBABILITIES, *CONFIDENCE)
