"""Rows and labels as users bring them, checked and laid out before any fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ... import seeds
from ...arrays import Ints
from ...expect import InputError, counted, shown
from ...frames import pandas_of
from ...inputs import is_sparse, label_array, take, text_rows
from ...inputs import labels as labels_of
from ...splits import per_row
from ...tables.data import refuse_classes, rows_and_labels
from ..results import DataResults, TestPart

LEAST_ROWS = 40
LEAST_OF_A_CLASS = 4
"""Number of rows that a class needs to be in both halves of the training part and in the test part."""


def data_from(
    X: Any,
    y: ArrayLike,
    name: str = "data",
    target: str = "label",
    notes: Sequence[str] = (),
    *,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    X_test: Any = None,
    y_test: Any = None,
) -> DataResults:
    """The rows as a table with class codes, without classes that are too rare.

    `X_test` and `y_test` are the test part, if it is given. `groups` may then have values for its rows too, which come
    last.
    """
    if is_sparse(X):
        raise InputError(
            "`X` is a sparse matrix; expected a DataFrame or array, as a report shows rows and columns. Use "
            "X.toarray() if it fits into memory, or `classay.record`, which accepts sparse matrices."
        )
    X = pandas_of(X)
    texts = text_rows(X)
    if texts is not None:
        X = pd.DataFrame({"text": texts})  # a page shows rows and columns; learners of text get its strings
    _refuse_multilabel(y)
    rows, labels, more = rows_and_labels(X, y)
    frame = _frame(rows)
    if not frame.columns.is_unique:
        twins = frame.columns[frame.columns.duplicated()].unique()
        raise InputError(f"`X` has several columns with the same name ({shown(twins)}). Give each column its own name.")
    groups, test_groups = _groups(groups, len(frame), len(y_test) if np.ndim(y_test) else 0)
    given = per_row(groups, time, sample_weight, len(frame))
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    refuse_classes(classes, codes)
    remarks = [*notes, *more]
    rare = counts < LEAST_OF_A_CLASS
    if rare.any():
        kept = ~rare[codes]
        remarks.append(
            f"Dropped: {int(rare.sum())} of {counted(classes.size, 'class', 'classes')} with fewer "
            f"than {LEAST_OF_A_CLASS} rows ({shown(classes[rare], 4)}), {int((~kept).sum())} of {codes.size} rows."
        )
        if (~rare).sum() < 2:
            raise InputError(
                f"`y` has {classes.size} classes, of which {int((~rare).sum())} have {LEAST_OF_A_CLASS} rows or more; "
                "expected at least 2 such classes. Is the target column right? Bin numeric targets first."
            )
        frame, labels, given = frame[kept].reset_index(drop=True), labels[kept], given.take(kept)
        rows = frame if isinstance(rows, pd.DataFrame) else rows[kept]
        classes, codes = np.unique(labels, return_inverse=True)
    if len(frame) < LEAST_ROWS:
        raise InputError(
            f"There are {counted(len(frame), 'row')}; a report needs at least {LEAST_ROWS}, of which two fifths are "
            "held out. Add rows."
        )
    test = None
    if X_test is not None or y_test is not None:
        test, left_out = _test_part(X_test, y_test, classes, frame, test_groups)
        remarks += left_out
    return DataResults(
        name,
        frame,
        codes.astype(np.int64),
        classes,
        target,
        tuple(remarks),
        given,
        _for_learners(rows, frame),
        test=test,
    )


def _groups(groups: Any, rows: int, test_rows: int) -> tuple[Any, Any]:
    """Groups of the rows, and of the test rows if there are as many values, as numbers that are the same for both."""
    if groups is None or not test_rows or not np.ndim(groups) or len(groups) != rows + test_rows:
        return groups, None
    codes = per_row(groups, rows=rows + test_rows).groups
    assert codes is not None
    return codes[:rows], codes[rows:]


def _test_part(
    X_test: Any, y_test: Any, classes: NDArray[Any], frame: pd.DataFrame, groups: Any
) -> tuple[TestPart, list[str]]:
    """The rows to test on, of the classes that are left, and a remark if some are not."""
    if X_test is None or y_test is None:
        raise InputError("`X_test` and `y_test` belong together: pass both or neither.")
    X_test = pandas_of(X_test, "X_test")
    texts = text_rows(X_test, "X_test")
    if texts is not None:
        X_test = pd.DataFrame({"text": texts})
    if isinstance(X_test, pd.DataFrame):
        X_test = X_test.rename(columns=str)
    elif not isinstance(X_test, np.ndarray):
        X_test = np.asarray(X_test)
    values = labels_of(y_test, "y_test", X_test.shape[0])
    known = np.isin(values, classes)
    if not known.any():
        raise InputError(
            f"`y_test` has labels such as {shown(np.unique(values), 3)}; none of them is a class of `y` "
            f"({shown(classes, 3)})."
        )
    if known.all():
        return TestPart(X_test, values, groups), []
    note = (
        f"Dropped: {int((~known).sum())} of {known.size} test rows, of classes without enough training rows "
        f"({shown(np.unique(values[~known]), 4)})."
    )
    rows = np.flatnonzero(known)
    return TestPart(take(X_test, rows), values[rows], None if groups is None else groups[rows]), [note]


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


def _frame(rows: Any) -> pd.DataFrame:
    """The rows with names as text and numbers from 0, without a copy if they have these."""
    if not isinstance(rows, pd.DataFrame):
        return pd.DataFrame(rows, columns=[f"x{place}" for place in range(rows.shape[1])], copy=False)
    frame = rows
    if not all(isinstance(name, str) for name in frame.columns):
        frame = frame.rename(columns=str)
    if not (isinstance(frame.index, pd.RangeIndex) and frame.index.start == 0 and frame.index.step == 1):
        frame = frame.reset_index(drop=True)
    return frame


def _for_learners(rows: Any, frame: pd.DataFrame) -> Any:
    """What learners are fitted on: an array of numbers as it is, anything else as the table."""
    return rows if isinstance(rows, np.ndarray) and rows.dtype.kind in "biuf" else frame


def copies_together(data: DataResults) -> DataResults:
    """The data with equal rows as groups, if rows were copied: a copy of a test row must not be among training rows.

    Rows count as copied if there are more than twice as many equal ones as chance gives. Nothing changes where groups,
    times or test rows are given, or where a class has too few different rows for that.
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
