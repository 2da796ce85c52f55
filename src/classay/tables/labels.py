"""Labels: the classes of a table, named as the file spells them."""

from __future__ import annotations

import re
from typing import Any, cast

import numpy as np
import pandas as pd
from pandas.api import types

from ..arrays import Ints
from ..expect import InputError, shown, within
from .cells import refuse_nul, refuse_odd

MOST_MISSING = 5
"""In percent: rows without a label are dropped up to this share; more are refused."""
WHOLE = re.compile(r"-?[1-9]\d{0,17}|0")


class NumbersAsLabels(InputError):
    """The target has numbers where classes are expected; a command that takes regressors can say so."""


def rows_without(y: pd.Series[Any], word_at: pd.Series[Any] | None = None) -> Ints:
    """The rows without a label, to be dropped; an error if there are many or if a word such as NA could be a class.

    `word_at`: the same column with words such as NA as text, if the source has its spelling.
    """
    missing = np.flatnonzero(y.isna())
    if not missing.size:
        return missing
    words = sorted({str(word) for word in word_at.iloc[missing].dropna()} if word_at is not None else set())
    if words or 100 * missing.size > MOST_MISSING * len(y):
        said = f", written {shown(map(repr, words), 4)}" if words else ""
        raise InputError(
            f"The target {y.name!r} is missing in {missing.size} of {len(y)} rows (row {shown(missing + 1, 5)}, "
            f"counted from 1{said}). Drop these rows, or respell a label that is a word such as 'None' or 'NA'."
        )
    return missing


def labels(y: pd.Series[Any], few: bool = False) -> pd.Series[Any]:
    """The labels as text as spelled, or as whole numbers; an error if they are not classes.

    few: these are further rows of a known table, in which one class is enough.
    """
    refuse_odd(y, str(y.name))
    values: Any = y.astype(y.cat.categories.dtype) if isinstance(y.dtype, pd.CategoricalDtype) else y
    if types.is_bool_dtype(values.dtype) or types.infer_dtype(values) == "boolean":
        values = values.astype(object).map(str)
    elif types.is_object_dtype(values.dtype) and types.infer_dtype(values) not in ("string", "integer"):
        values = values.map(str)  # mixed values cannot be sorted, as classes must be
    if types.is_string_dtype(values.dtype) and not types.is_numeric_dtype(values.dtype):
        refuse_nul(map(str, values.unique()), str(y.name))
        within(
            max(map(len, map(str, values.unique())), default=0), "label_characters", "The longest label, in characters,"
        )
    numbers = _numbers(values)
    whole = numbers is None or bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())
    if types.is_float_dtype(values.dtype) and numbers is not None and whole and np.abs(numbers).max() < 2**53:
        values = values.astype("int64")
    distinct = int(values.nunique())
    if few:
        return cast("pd.Series[Any]", values)
    if distinct > (max(20, len(y) / 2) if whole else min(20, len(y) / 2)):
        kind, looks_like = (
            (NumbersAsLabels, "a regression target") if numbers is not None else (InputError, "text or an identifier")
        )
        raise kind(
            f"The target {y.name!r} has {distinct} different values in {len(y)} rows; it looks like {looks_like}, not "
            "like classes. Is the target column right?"
        )
    if distinct < 2:
        raise InputError(
            f"`y` has 1 class ({values.tolist()[0]!r}); at least 2 are needed. Is the target column right?"
        )
    return cast("pd.Series[Any]", values)


def spelled(y: pd.Series[Any]) -> pd.Series[Any]:
    """Labels of a text file: whole numbers written as such (1, not 1.0 or 01) become numbers, all else stays text.

    >>> spelled(pd.Series(["1", "2 "])).tolist(), spelled(pd.Series(["1", "01"])).tolist()
    ([1, 2], ['1', '01'])
    """
    distinct = [str(text) for text in y.dropna().unique()]
    if distinct and all(WHOLE.fullmatch(text.strip()) for text in distinct):
        numbers = {text: int(text) for text in distinct}
        return y.map(numbers) if y.isna().any() else y.map(numbers).astype("int64")
    return y


def differ_in_spelling(y: pd.Series[Any]) -> str:
    """A note on classes that differ in spelling only, such as Yes and yes, or 1 and 01; nothing if there are none."""
    same: dict[str, list[str]] = {}
    for label in map(str, y.unique()):
        try:
            key = f"{float(label):g}"
        except ValueError:
            key = " ".join(label.lower().split())
        same.setdefault(key, []).append(label)
    pairs = [" and ".join(repr(label) for label in sorted(found)) for found in same.values() if len(found) > 1]
    return f"Classes that differ in spelling only: {shown(sorted(pairs), 4)}." if pairs else ""


def _numbers(values: Any) -> Any:
    """The labels as numbers if all are, otherwise None."""
    if types.is_numeric_dtype(values.dtype):
        return values.to_numpy(dtype=float)
    distinct = pd.to_numeric(pd.Series(values.unique(), dtype=object), errors="coerce")
    return None if distinct.isna().any() else distinct.to_numpy(dtype=float)
