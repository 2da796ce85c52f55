"""Rows and labels as users bring them, checked and laid out before any fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ... import seeds
from ...arrays import Ints
from ...expect import InputError, counted, shown
from ...frames import pandas_of
from ...inputs import as_array, is_sparse, label_array, names_of_columns, text_rows
from ...tables.audit import audit_frame
from ...tables.data import Data

LEAST_ROWS = 40
LEAST_OF_A_CLASS = 4
"""Number of rows that a class needs to be in both halves of the training part and in the test part."""


def data_of(
    X: Any, y: ArrayLike | None, name: str = "data", target: str = "label", *, X_test: Any = None, **roles: Any
) -> Data:
    """The rows with their classes and what belongs to them; a `Data`, as a file gives it, is taken as it is.

    roles : groups, time, sample_weight and y_test; `groups` may have values for test rows too, which come last
    """
    if isinstance(X, Data):
        return X
    if y is None:
        raise InputError("`X` or `y` is missing: pass rows and labels with learners, or a record of predictions alone.")
    _refuse_multilabel(y)
    texts = text_rows(pandas_of(X))
    X, further = _table(X, "X"), None if X_test is None else _table(X_test, "X_test")
    data = Data.of(X, y, X_test=further, name=name, target=target, new_classes=True, **roles)
    return replace(data, as_read=audit_frame(X, y, name), text=None if texts is None else "text")


def _table(X: Any, name: str) -> Any:
    """Rows as learners get them: a table with names as text and rows numbered from 0, or an array of numbers."""
    if is_sparse(X):
        raise InputError(
            f"`{name}` is a sparse matrix; expected a DataFrame or array, as a report shows rows and columns. Use "
            f"{name}.toarray() if it fits into memory, or `classay.record`, which accepts sparse matrices."
        )
    rows = pandas_of(X, name)
    texts = text_rows(rows, name)
    if texts is not None:
        return pd.DataFrame({"text": texts})  # a page shows rows and columns; learners of text get its strings
    if not isinstance(rows, pd.DataFrame):
        values = as_array(rows, name)
        if values.dtype.kind in "biuf" or values.ndim != 2:
            return values
        return pd.DataFrame(values, columns=list(names_of_columns(values, values.shape[1])), copy=False)
    if not all(isinstance(column, str) for column in rows.columns):
        rows = rows.rename(columns=str)
    is_numbered = isinstance(rows.index, pd.RangeIndex) and rows.index.start == 0 and rows.index.step == 1
    return rows if is_numbered else rows.reset_index(drop=True)


def ready_for_fits(data: Data) -> Data:
    """The data without classes that are too rare to be in all parts, with copies of rows on one side of splits."""
    counts = np.bincount(data.codes, minlength=data.classes.size)
    rare, notes = counts < LEAST_OF_A_CLASS, list(data.notes)
    if rare.any():
        notes.append(
            f"Dropped: {int(rare.sum())} of {counted(counts.size, 'class', 'classes')} with fewer than "
            f"{LEAST_OF_A_CLASS} rows ({shown(data.classes[rare], 4)}), {int(counts[rare].sum())} of {len(data)} rows."
        )
        if (~rare).sum() < 2:
            raise InputError(
                f"`y` has {counts.size} classes, of which {int((~rare).sum())} have {LEAST_OF_A_CLASS} rows or more; "
                "expected at least 2 such classes. Is the target column right? Bin numeric targets first."
            )
    if data.test is not None:
        notes += _left_out_of_test(data.test, data.classes, rare)
    if rare.any() or (data.test is not None and (data.test.codes < 0).any()):
        data = data.of_classes(~rare)
    if len(data) < LEAST_ROWS:
        raise InputError(
            f"There are {counted(len(data), 'row')}; a report needs at least {LEAST_ROWS}, of which two fifths are "
            "held out. Add rows."
        )
    return copies_together(replace(data, notes=tuple(notes)))


def _left_out_of_test(test: Data, classes: NDArray[Any], rare: NDArray[np.bool_]) -> list[str]:
    """A note on test rows whose classes have too few training rows; an error if none is left."""
    known = (test.codes >= 0) & ~rare[test.codes]
    if not known.any():
        raise InputError(
            f"`y_test` has labels such as {shown(np.unique(test.y), 3)}; none of them is a class of `y` "
            f"({shown(classes[~rare], 3)})."
        )
    if known.all():
        return []
    return [
        f"Dropped: {int((~known).sum())} of {known.size} test rows, of classes without enough training rows "
        f"({shown(np.unique(test.y[~known]), 4)})."
    ]


def _refuse_multilabel(y: Any) -> None:
    """Refuse several labels per row with what to do, before a column of lists becomes text."""
    values = _labels_if_any(y)
    several = values is not None and values.ndim == 2 and values.shape[1] > 1
    lists = isinstance(y, (list, pd.Series)) and any(isinstance(each, (list, tuple, set)) for each in y[:1])
    if several or lists:
        columns = f"{values.shape[1]} columns" if several and values is not None else "a list in each row"
        raise InputError(
            f"`y` has {columns}, so several labels per row; expected one label per row. Make a report for each label: "
            "call characterize once per column of `y`."
        )


def _labels_if_any(y: Any) -> NDArray[Any] | None:
    """Labels as an array, or None if they are none; the later checks say why."""
    try:
        return label_array(y)
    except InputError:
        return None


def copies_together(data: Data) -> Data:
    """The data with equal rows as groups, if rows were copied: a copy of a test row must not be among training rows.

    Rows count as copied if there are more than twice as many equal ones as expected by chance. Nothing changes where
    groups, times or test rows are given, or where a class has too few different rows for that.
    """
    given = data.per_row
    if given.groups is not None or given.time is not None or data.test is not None or not data.duplicates:
        return data
    if data.duplicates <= 2 * data.chance_duplicates:
        return data
    _, groups = np.unique(data.row_hashes, return_inverse=True)
    different = pd.DataFrame({"code": data.codes, "group": groups}).drop_duplicates()["code"].value_counts()
    if different.min() < LEAST_OF_A_CLASS:
        return data
    return replace(data, per_row=replace(given, groups=groups.astype(np.int64)), copies_together=True)


def in_order(codes: Ints, seed: int) -> Ints:
    """All rows in an order of which every first part has about the class shares of the whole.

    So a sample of 20,000 rows is part of a sample of 50,000.
    """
    generator = seeds.generator(seed, "sample")
    order = generator.permutation(codes.size)
    by_class = order[np.argsort(codes[order], kind="stable")]
    counts = np.bincount(codes)
    rank = np.arange(codes.size) - np.repeat(np.cumsum(counts) - counts, counts)
    share = (rank + 0.5) / np.repeat(counts, counts)
    return by_class[np.argsort(share, kind="stable")]


def sampled(codes: Ints, most: int, seed: int) -> Ints:
    """At most so many rows, in order: all of them, or a stratified sample with at least one row of every class."""
    if codes.size <= most:
        return np.arange(codes.size)
    order = in_order(codes, seed)
    kept = order[:most]
    absent = np.setdiff1d(np.arange(int(codes.max()) + 1), codes[kept])
    rest = order[most:]
    firsts = [rest[codes[rest] == code][:1] for code in absent]
    return np.sort(np.concatenate([kept, *firsts]))
