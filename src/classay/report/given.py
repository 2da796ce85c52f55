"""What `characterize` is handed, looked at before any fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..expect import InputError, counted, shown
from ..learner import examine
from ..learner.describe import is_sparse
from ..learners import kind_of
from .parts import Data

LEAST_ROWS = 40
LEAST_OF_A_CLASS = 4
"""Rows that a class needs to be in both halves of the training part and in the test part."""


def data(X: Any, y: ArrayLike, name: str, target: str, notes: Sequence[str]) -> Data:
    """The rows as a table and their class codes, without classes that are too rare."""
    if is_sparse(X):
        raise InputError(
            "`X` is a sparse matrix; a report shows rows and columns, so a DataFrame or array is expected. Use "
            "X.toarray() if it fits, or `classay.record`, which takes sparse matrices."
        )
    rows, labels, more = examine.data(X, y)
    frame = rows if isinstance(rows, pd.DataFrame) else _framed(rows)
    frame = frame.rename(columns=str).reset_index(drop=True)
    if not frame.columns.is_unique:
        twins = frame.columns[frame.columns.duplicated()].unique()
        raise InputError(f"`X` has columns of the same name ({shown(twins)}). Give each its own name.")
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    examine.refuse_classes(classes, codes)
    said = [*notes, *more]
    rare = counts < LEAST_OF_A_CLASS
    if rare.any():
        kept = ~rare[codes]
        said.append(
            f"Left out: {int(rare.sum())} of {counted(classes.size, 'class', 'classes')} with fewer "
            f"than {LEAST_OF_A_CLASS} rows ({shown(classes[rare], 4)}), {int((~kept).sum())} of {codes.size} rows."
        )
        if (~rare).sum() < 2:
            raise InputError(
                f"`y` has {classes.size} classes, of which {int((~rare).sum())} have {LEAST_OF_A_CLASS} rows or more; "
                "2 are needed. Is the target column right? A quantity must be binned first."
            )
        frame, labels = frame[kept].reset_index(drop=True), labels[kept]
        classes, codes = np.unique(labels, return_inverse=True)
    if len(frame) < LEAST_ROWS:
        raise InputError(
            f"There are {counted(len(frame), 'row')}; at least {LEAST_ROWS} are needed for a report, of which two "
            "fifths are held back. Bring more rows."
        )
    return Data(name, frame, codes.astype(np.int64), classes, target, tuple(said))


def learners(given: Any) -> dict[str, Any]:
    """Learners by name, each looked at."""
    if not isinstance(given, Mapping):
        raise InputError(
            f"`learners` is {type(given).__name__}; names and learners are expected, as in "
            '{"tree": DecisionTreeClassifier()}.'
        )
    if not given:
        raise InputError("`learners` is empty; name at least one, as in {'tree': DecisionTreeClassifier()}.")
    found = {}
    for name, one in given.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"`learners` has the name {name!r}; a text is expected.")
        try:
            found[name], _ = examine.learner(one)
        except InputError as mistake:
            raise InputError(f"{name!r}: {mistake}") from None
        if kind_of(found[name]) == "regressor":
            raise InputError(f"{name!r} is a regressor; a report is about classifiers. Use `classay.stability` for it.")
    if "data" in found or "classes" in found:
        raise InputError("A learner is called 'data' or 'classes', which are what other figures are of. Rename it.")
    return found


def _framed(rows: Any) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[f"x{place}" for place in range(rows.shape[1])])
