"""Mixed columns as numbers, learned inside each refit so that nothing leaks from other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from ..expect import InputError, shown

MISSING = "missing"
DAY = pd.Timedelta(days=1)
MOST_CATEGORIES = 100
"""Rarer categories beyond this many share one indicator, so that a column of free text stays affordable."""


def encoded(learner: Any, X: Any) -> Any:
    """A learner that can be fitted on `X`: itself, or a Pipeline that first converts columns to numbers.

    A numeric table without missing values, or anything that is not a DataFrame, returns `learner` unchanged.
    Otherwise the steps are `encode` and `learner`:

    - numbers, booleans and times (as days, dates since 1970): missing values become the training median;
    - everything else: one indicator per category, with missing as a category. A category that the training
      rows do not have is all zeros, or counts as rare if there are more than `MOST_CATEGORIES`.

    Only the type of each column is taken from `X`; medians and categories are learned at each fit. Do not wrap a
    learner that has its own encoding.

    >>> X = pd.DataFrame({"size": [1.0, None, 3.0, 4.0], "hue": ["red", "red", "blue", "blue"]})
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> encoded(DecisionTreeClassifier(), X).fit(X, [0, 0, 1, 1]).predict(X)
    array([0, 0, 1, 1])
    """
    if not isinstance(X, pd.DataFrame) or _is_ready(X):
        return learner
    names = list(X.columns)
    if not X.columns.is_unique:
        twins = X.columns[X.columns.duplicated()]
        raise InputError(f"`X` has columns with the same name ({shown(twins)}). Give each its own name.")
    # ColumnTransformer treats whole numbers as positions, so only text can be a name.
    keys = names if all(isinstance(name, str) for name in names) else list(range(len(names)))
    numeric = [_is_numeric(X[name]) for name in names]
    numbers = make_pipeline(
        FunctionTransformer(as_numbers, feature_names_out="one-to-one"),
        SimpleImputer(strategy="median", keep_empty_features=True),
    )
    categories = make_pipeline(
        FunctionTransformer(as_text, feature_names_out="one-to-one"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False),
    )
    parts = [
        ("numbers", numbers, [key for key, is_number in zip(keys, numeric) if is_number]),
        ("categories", categories, [key for key, is_number in zip(keys, numeric) if not is_number]),
    ]
    encode = ColumnTransformer([part for part in parts if part[2]], verbose_feature_names_out=False)
    return Pipeline([("encode", encode), ("learner", learner)])


def numbers(X: pd.DataFrame) -> pd.DataFrame:
    """The whole table as numbers, encoded as in `encoded`: for geometry, where nothing is trained.

    >>> numbers(pd.DataFrame({"size": [1.0, None, 3.0], "hue": ["red", "red", "blue"]})).to_numpy().tolist()
    [[1.0, 0.0, 1.0], [2.0, 0.0, 1.0], [3.0, 1.0, 0.0]]
    """
    pipeline = encoded("passthrough", X)
    if isinstance(pipeline, str):
        return X
    encode = pipeline.named_steps["encode"]
    return pd.DataFrame(encode.fit_transform(X), columns=encode.get_feature_names_out(), index=X.index)


def as_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Every column as floats, missing values as NaN."""
    return pd.DataFrame({name: _floats(column) for name, column in frame.items()}, index=frame.index)


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Every column as plain strings, with missing values as their own category."""
    text = {
        name: np.array([MISSING if gone else str(value) for value, gone in zip(column, column.isna())], object)
        for name, column in frame.items()
    }
    return pd.DataFrame(text, index=frame.index, dtype=object)


def _is_ready(X: pd.DataFrame) -> bool:
    """Whether every column has plain numbers and none is missing."""
    plain = all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in X.dtypes)
    return plain and not X.isna().to_numpy().any()


def _is_numeric(column: pd.Series[Any]) -> bool:
    """Whether a column is a quantity: numbers, booleans or times; also numbers of type object."""
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return False
    if types.is_object_dtype(kind):
        inferred = types.infer_dtype(column, skipna=True)
        return inferred in ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty")
    return bool(
        types.is_numeric_dtype(kind)
        or types.is_bool_dtype(kind)
        or types.is_datetime64_any_dtype(kind)
        or types.is_timedelta64_dtype(kind)
    )


def _floats(column: pd.Series[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    values: Any = column
    if types.is_datetime64_any_dtype(column.dtype):
        values = (values - pd.Timestamp(0, tz=values.dt.tz)) / DAY
    elif types.is_timedelta64_dtype(column.dtype):
        values = values / DAY
    elif types.is_object_dtype(column.dtype):
        values = pd.to_numeric(values, errors="coerce")
    return np.asarray(values.to_numpy(dtype=float, na_value=np.nan), dtype=float)
