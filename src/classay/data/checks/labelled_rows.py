"""Labelled rows as the checks of a data set take them, and predictions for rows by fits that have not seen them.

The checks (`leaks`, `dependence`, `shift`) compare one learner with itself on other columns, other folds or other
labels. So any learner will do: by default a forest, which needs no scaling and finds rules of every shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ...arrays import Floats, Ints
from ...estimators.encoder import encoded, kind_of_column, numbers
from ...estimators.scores import fit_scorer
from ...expect import InputError, shown
from ...frames import pandas_of
from ...inputs import encode, is_sparse, names_of_columns
from ...splits import by_other_folds
from ...tables.data import Data

TREES = 30
FOLDS = 5


def table_of_rows(X: Any, name: str = "X") -> pd.DataFrame:
    """Rows as a DataFrame with its own row numbers, without texts; columns without names are x0, x1, …"""
    if is_sparse(X):
        raise InputError(
            f"`{name}` is a sparse matrix; expected a DataFrame or array. Use {name}.toarray() if it fits."
        )
    rows = pandas_of(X, name)
    if not isinstance(rows, pd.DataFrame):
        array = np.asarray(rows)
        if array.ndim != 2:
            raise InputError(f"`{name}` has shape {array.shape}; expected a table of (rows, columns).")
        rows = pd.DataFrame(array, columns=list(names_of_columns(array, array.shape[1])))
    if 0 in rows.shape:
        raise InputError(f"`{name}` has shape {rows.shape}; expected at least one row and one column.")
    if not rows.columns.is_unique:
        twins = rows.columns[rows.columns.duplicated()].unique()
        raise InputError(f"`{name}` has several columns with the same name ({shown(twins)}). Give each its own name.")
    rows = rows.rename(columns=str).reset_index(drop=True)
    for column in rows.columns:
        values = rows[column]
        if values.dtype.kind == "f" and np.isinf(values.to_numpy(dtype=float, na_value=np.nan)).any():
            raise InputError(f"The column {column!r} of `{name}` contains infinity. Replace it, or drop its rows.")
    texts = [column for column in rows.columns if kind_of_column(rows[column]) == "text"]
    if len(texts) == rows.shape[1]:
        raise InputError(f"`{name}` has texts only; expected a column of numbers or categories. Embed texts first.")
    return rows.drop(columns=texts)


def labelled_rows(X: Any, y: ArrayLike, groups: Any = None, least: int = 20) -> Data:
    """Checked rows, labels and groups; at least `least` rows and two classes."""
    data = Data.of(table_of_rows(X), y, groups=groups)
    if len(data) < least:
        raise InputError(f"`X` has {len(data)} rows; at least {least} are needed. Add rows.")
    return data


def without(data: Data, columns: list[str]) -> Data:
    """The rows without some columns."""
    return replace(data, X=data.X.drop(columns=columns))


def predicted(data: Data, learner: Any, fold_of_row: Ints, seed: int, tick: Callable[[], None] = lambda: None) -> Ints:
    """The code that a fit without the fold of a row predicts for it. A fold that leaves one class predicts that."""
    if learner is None:
        from sklearn.ensemble import RandomForestClassifier

        learner = RandomForestClassifier(TREES)
    ready = encoded(learner, data.X)

    def of_fold(fold: int, rest: Ints, here: Ints) -> Ints:
        known = np.unique(data.codes[rest])
        if known.size < 2:
            return np.full(here.size, known[0] if known.size else 0, dtype=np.int64)
        fitted = fit_scorer(ready, data.X.iloc[rest], data.classes[data.codes[rest]], seed, fold)
        tick()
        return encode(fitted.predict(data.X.iloc[here]), data.classes)

    return by_other_folds(fold_of_row, of_fold)


def as_points(X: pd.DataFrame) -> Floats:
    """The rows as numbers, missing values by medians, categories as indicators."""
    return np.asarray(numbers(X).to_numpy(dtype=float))


def class_weights(codes: Ints, size: int) -> Floats:
    """A weight for each row with which every class that is present counts the same; their mean is 1."""
    counts = np.bincount(codes, minlength=size)
    return np.asarray(codes.size / (np.count_nonzero(counts) * counts[codes]), dtype=float)
