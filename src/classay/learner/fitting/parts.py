"""The training and the test part of `record` and `sweep`: split by share, group or time, or given by the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ...arrays import AnyInts, Ints
from ...expect import InputError, nearest, shown
from ...frames import pandas_of
from ...inputs import as_array, is_sparse, labels, text_rows
from ...notes import Note
from ...splits import PerRow, per_row, split_rows
from .schemes import HalfSplits


@dataclass(frozen=True)
class GivenTest:
    """Rows `X` and labels `y` of both parts; the first `train` rows are the training part, the others the test part."""

    X: Any
    y: ArrayLike
    train: int

    def rows(self, count: int) -> tuple[Ints, Ints]:
        """Training and test rows."""
        return np.arange(self.train), np.arange(self.train, count)


def with_test(X: Any, y: ArrayLike, X_test: Any, y_test: ArrayLike | None, classifier: bool) -> GivenTest | None:
    """Both parts in one table, if a test part is given: X and y first."""
    if X_test is None and y_test is None:
        return None
    if X_test is None or y_test is None:
        raise InputError("`X_test` and `y_test` belong together: pass both or neither.")
    X, X_test = pandas_of(X), pandas_of(X_test, "X_test")
    own, other = labels(y), labels(y_test, "y_test", X_test.shape[0] if hasattr(X_test, "shape") else None)
    if (own.dtype.kind == "U") != (other.dtype.kind == "U"):
        raise InputError(
            f"`y_test` has labels such as {other[0].item()!r} and `y` such as {own[0].item()!r}; expected the same "
            "labels in both."
        )
    strange = np.setdiff1d(other, own) if classifier else np.empty(0)
    if strange.size:
        raise InputError(
            f"`y_test` has classes that `y` does not have: {shown(strange, 4)}. No refit can predict them: drop those "
            "rows, or add rows of these classes to `X` and `y`."
        )
    return GivenTest(_joined(X, X_test), np.concatenate([own, other]), own.size)


def _joined(X: Any, X_test: Any) -> Any:
    """Both tables as one, with the columns of the first."""
    texts = text_rows(X)
    if texts is not None:
        others = text_rows(X_test, "X_test")
        if others is None:
            raise InputError("`X` is a list of texts but `X_test` is not; they must match.")
        return np.concatenate([texts, others])
    if isinstance(X, pd.DataFrame) != isinstance(X_test, pd.DataFrame) or is_sparse(X) != is_sparse(X_test):
        raise InputError(
            f"`X` is {_kind(X)} but `X_test` is {_kind(X_test)}; they must be of the same kind. Convert one of them."
        )
    if isinstance(X, pd.DataFrame):
        return _joined_frames(X, X_test)
    if is_sparse(X):
        stack: Any = sparse.vstack
        _expect_columns(X.shape, X_test.shape)
        return stack([X, X_test], format="csr")
    X, X_test = as_array(X, "X"), as_array(X_test, "X_test")
    _expect_columns(X.shape, X_test.shape)
    return np.concatenate([X, X_test])


def _joined_frames(X: pd.DataFrame, X_test: pd.DataFrame) -> pd.DataFrame:
    known = [str(name) for name in X.columns]
    strange = [name for name in X_test.columns if name not in X.columns]
    lacking = [name for name in X.columns if name not in X_test.columns]
    if lacking or strange or not X_test.columns.is_unique:
        hint = nearest(str(strange[0]), known) if strange else ""
        raise InputError(
            f"`X_test` has other columns than `X`: missing {shown(lacking, 4) or 'none'}, additional "
            f"{shown(strange, 4) or 'none'}.{hint} Expected the same columns, each once, in any order."
        )
    columns = {}
    for place, name in enumerate(X.columns):
        own, other = X.iloc[:, place].reset_index(drop=True), X_test[name].reset_index(drop=True)
        kind = own.dtype
        if isinstance(kind, pd.CategoricalDtype) and other.dtype != kind:
            if isinstance(other.dtype, pd.CategoricalDtype):
                other = other.astype(other.dtype.categories.dtype)
            more = [value for value in other.dropna().unique() if value not in kind.categories]
            # Values that the training part does not have are for the learner to judge.
            wider = pd.CategoricalDtype([*kind.categories, *more], kind.ordered)
            own, other = own.astype(wider), other.astype(wider)
        numbers = [pd.api.types.is_numeric_dtype(column.dtype) for column in (own, other) if column.notna().any()]
        if len(set(numbers)) > 1:
            with_text = "`X`" if not numbers[0] else "`X_test`"
            raise InputError(
                f"The column {name!r} has numbers in one of `X` and `X_test` and other values in {with_text}; they "
                "must match. Read both in the same way."
            )
        columns[place] = pd.concat([own, other], ignore_index=True)
    return pd.DataFrame(columns).set_axis(X.columns, axis=1)


def _expect_columns(own: tuple[int, ...], other: tuple[int, ...]) -> None:
    if own[1:] != other[1:]:
        raise InputError(f"`X_test` has shape {other} but `X` {own}; expected the same number of columns.")


def _kind(X: Any) -> str:
    if isinstance(X, pd.DataFrame):
        return "a DataFrame"
    return "a sparse matrix" if is_sparse(X) else "an array"


def checked_per_row(groups: Any, time: Any, sample_weight: Any, given: GivenTest | None, rows: int) -> PerRow:
    """What is given for each row, of both parts; of a test part that is given, groups are -1 where unknown."""
    if time is not None and given is not None:
        raise InputError(
            "`time` and `X_test` are both given: `time` decides which rows are tested, and so does `X_test`. Leave one "
            "of them out."
        )
    if given is None:
        return per_row(groups, time, sample_weight, rows)
    train = given.train
    in_test = rows - train
    if groups is not None and np.ndim(groups) and len(groups) == rows:
        codes = per_row(groups, rows=rows).groups
        assert codes is not None
        both = np.intersect1d(codes[:train], codes[train:])
        if both.size:
            raise InputError(
                f"{both.size} groups of `groups` have rows in `X` and in `X_test`; a group must be in one of them. "
                "Move its rows to one side, or leave `groups` out."
            )
    else:
        codes = per_row(groups, rows=train).groups
        codes = None if codes is None else np.append(codes, np.full(in_test, -1))
    weights = per_row(sample_weight=sample_weight, rows=train).weights
    return PerRow(codes, None, None if weights is None else np.append(weights, np.ones(in_test)))


def split_parts(codes: Ints, test_size: float, seed: int, rows: PerRow, given: GivenTest | None) -> tuple[Ints, Ints]:
    """Training and test rows."""
    return split_rows(codes, test_size, seed, rows) if given is None else given.rows(codes.size)


def expect_two_fold(scheme: Any, time: Any, X_test: Any, scores: Any) -> None:
    """Refuse test_size=0 where there is no other half to test on."""
    if not isinstance(scheme, HalfSplits) or scheme.size is not None or time is not None or X_test is not None:
        raise InputError(
            "`test_size` is 0: each half is then tested on the other half of all rows, which needs HalfSplits(m) "
            "without a size, and neither `time` nor `X_test`. Use a share such as 0.2 otherwise."
        )
    if scores is True:
        raise InputError(
            "`scores` is True and `test_size` is 0; scores are kept on a test part. Leave one of them out."
        )


def notes_on_parts(codes: Ints, train: Ints, test: Ints, rows: PerRow) -> list[Note]:
    """What users should know about the parts; an error if nothing can be learned from the training part."""
    classes = np.unique(codes).size
    trained, tested = np.unique(codes[train]).size, np.unique(codes[test]).size
    if trained < 2 <= classes:
        raise InputError(
            f"The training part of {train.size} rows has 1 class of {classes}; at least 2 are needed. "
            + ("Classes change with `time`: use a smaller test_size." if rows.time is not None else "Use other parts.")
        )
    notes = []
    if tested < classes:
        notes.append(Note("classes-not-tested", count=classes - tested, classes=classes))
    if trained < classes:
        notes.append(Note("classes-not-trained", count=classes - trained, classes=classes))
    left_out = codes.size - train.size - test.size
    if left_out:
        notes.append(Note("rows-of-tested-groups", count=left_out))
    return notes


def groups_of_points(rows: PerRow, points: AnyInts) -> NDArray[Any] | None:
    """The groups of some test points; None if they are unknown."""
    if rows.groups is None or (rows.groups[points] < 0).any():
        return None
    return rows.groups[points]
