"""Batches that arrive after a reference: the same columns, no new categories, known classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api import types

from ..expect import InputError, nearest, shown
from . import examine
from .describe import is_sparse

TARGET = "Is the target column right?"
ONE_CLASS = "No concept can be learnt from such a batch: join it with the next one, or leave it out."


def reference(X: Any, y: ArrayLike, hint: str = TARGET) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """Rows, labels and classes of a reference; `hint` is what to do where there is one class only."""
    if is_sparse(X):
        raise InputError("`X` is sparse; a dense array or a DataFrame is expected. Use X.toarray() if it is small.")
    rows, labels, _ = examine.data(X, y)
    classes = np.unique(labels)
    if classes.size < 2:
        raise InputError(f"`y` has 1 class ({classes[0].item()!r}); at least 2 are needed. {hint}")
    return _detached(rows), labels.copy(), classes


def batch(X: Any, y: ArrayLike, like: Any, classes: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Rows and labels of a batch in the form of the reference: columns matched by name, categories its own."""
    if isinstance(like, pd.DataFrame) != isinstance(X, pd.DataFrame):
        given, wanted = ("array", "DataFrame") if isinstance(like, pd.DataFrame) else ("DataFrame", "array")
        raise InputError(f"The batch is of another form than the reference: a {wanted} is expected, not {given}.")
    rows, labels, _ = reference(X, y, ONE_CLASS)
    if isinstance(like, pd.DataFrame):
        rows = _matched(rows, like)
    elif rows.shape[1] != like.shape[1]:
        raise InputError(
            f"The batch has {rows.shape[1]} columns and the reference {like.shape[1]}; as many are expected."
        )
    if (labels.dtype.kind == "U") != (classes.dtype.kind == "U"):
        raise InputError(
            f"The batch has labels such as {labels[0].item()!r}, the reference such as {classes[0].item()!r}; the same "
            "words are expected."
        )
    strange = np.setdiff1d(labels, classes)
    if strange.size:
        raise InputError(
            f"The batch has classes that the reference has not: {shown(map(repr, strange.tolist()), 4)}. A new class "
            "is a change by itself: leave these rows out, or fit the monitor anew on rows that have it."
        )
    return rows, classes[np.searchsorted(classes, labels)]


def _matched(rows: pd.DataFrame, like: pd.DataFrame) -> pd.DataFrame:
    """The columns of the reference, in its order."""
    known = [str(name) for name in like.columns]
    for name in rows.columns:
        if name not in like.columns:
            raise InputError(
                f"The batch has a column {name!r}, which the reference has not.{nearest(str(name), known)} Leave it "
                "out, or fit the monitor anew."
            )
    lacking = [name for name in like.columns if name not in rows.columns]
    if lacking:
        raise InputError(f"The batch lacks {shown(lacking)}, which the reference has.")
    return pd.DataFrame({name: _column(rows[name], like[name]) for name in like.columns})


def _column(given: pd.Series[Any], like: pd.Series[Any]) -> pd.Series[Any]:
    if given.isna().all():
        return given
    kinds = kind(given), kind(like)
    categories = like.dtype.categories if isinstance(like.dtype, pd.CategoricalDtype) else None
    # Categories may stand for numbers, which a batch may hold as such.
    if kinds[0] != kinds[1] and categories is None:
        raise InputError(f"The column {like.name!r} holds {kinds[0]} in the batch and {kinds[1]} in the reference.")
    if kinds[1] != "texts":
        return given
    seen = set(like.dropna().unique() if categories is None else categories)
    strange = [value for value in given.dropna().unique().tolist() if value not in seen]
    if strange:
        raise InputError(
            f"The column {like.name!r} has categories in the batch that the reference has not: "
            f"{shown(map(repr, strange), 4)}. Map them to known ones, leave these rows out, or fit the monitor anew."
        )
    return given.astype(like.dtype)


def kind(column: pd.Series[Any]) -> str:
    """What a column holds: numbers (truth values too), times or texts, which categories are."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "texts"
    if types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype):
        return "numbers"
    if types.is_datetime64_any_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
        return "times"
    inferred = types.infer_dtype(column, skipna=True)
    return "numbers" if inferred in ("integer", "floating", "boolean", "mixed-integer-float") else "texts"


def _detached(rows: Any) -> Any:
    """A copy with rows counted from 0, so that what the user does with his own later makes no difference."""
    return rows.reset_index(drop=True).copy() if isinstance(rows, pd.DataFrame) else np.array(rows)
