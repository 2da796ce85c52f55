"""`Data`: labelled rows with what belongs to them, checked once. Files, frames and arrays become one before any fit.

    data = Data.of(X, y, groups=patients, X_test=later, y_test=outcome)
    data.X, data.y              rows as learners get them, and the label (or number) of each
    data.codes, data.classes    the labels as numbers that index the sorted classes
    data.table                  the rows as a page shows them: a DataFrame with text as column names
    data.groups, data.time, data.weights    codes, ranks and numbers, one per row, or None
    data.test                   the rows to test on, if they are given: again a Data, with the same columns and classes

`tables.read.read_table` makes the same object of a file and adds its `audit`, `text` and `positions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from ..arrays import Ints
from ..expect import InputError, shown, unique_names
from ..frames import pandas_of
from ..inputs import aligned, as_array, at_least_two, encode, is_sparse, labels, names_of_columns, take, text_rows
from ..notes import Note
from ..splits import NOTHING, PerRow, per_row
from .audit import Audit, audit_frame


@dataclass(frozen=True, eq=False)
class Data:
    """Labelled rows. Make one with `Data.of`, which checks; nothing is changed afterwards.

    X : DataFrame, array, CSR matrix or array of texts, as learners get it
    y : the label of each row; numbers where the target is one
    codes : the class of each row; -1 in a test part if the class is not in `classes`; 0 if the target is a number
    classes : sorted labels; empty if the target is a number
    per_row : groups, time and weights
    test : rows to test on; their groups have the same codes as those of the other rows
    notes : what was changed or is to be known, in sentences
    as_read : how a file was read; `audit` is this, or describes the rows
    text : the column that is text to embed
    positions : where the rows are in their source, counted from 0, if some were dropped
    copies_together : whether the groups are those of equal rows, which are then on one side of every split
    """

    X: Any
    y: NDArray[Any]
    codes: Ints
    classes: NDArray[Any]
    per_row: PerRow = NOTHING
    test: Data | None = None
    name: str = "data"
    target: str = "label"
    notes: tuple[str, ...] = ()
    as_read: Audit | None = None
    text: str | None = None
    positions: Ints | None = None
    copies_together: bool = False

    @classmethod
    def of(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        groups: Any = None,
        time: Any = None,
        sample_weight: Any = None,
        X_test: Any = None,
        y_test: ArrayLike | None = None,
        name: str = "data",
        target: str = "label",
        notes: str | Sequence[str] = (),
        numbers: bool = False,
        new_classes: bool = False,
    ) -> Data:
        """Check rows, labels and what is given for each row.

        groups : one value per row, or per row of `X` and then of `X_test`
        numbers : whether the target is a number, as regressors learn it, and not one of some classes
        new_classes : whether `y_test` may have classes that `y` does not have

        >>> data = Data.of([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"], X_test=[[4.0]], y_test=["b"])
        >>> data.codes, data.test.codes
        (array([0, 1, 0, 1]), array([1]))
        """
        rows, values, remarks = rows_and_labels(X, y, texts=True)
        classes, codes = _classes(values, numbers)
        if (X_test is None) != (y_test is None):
            raise InputError("`X_test` and `y_test` belong together: pass both or neither.")
        if time is not None and X_test is not None:
            raise InputError(
                "`time` and `X_test` are both given: `time` decides which rows are tested, and so does `X_test`. Leave "
                "one of them out."
            )
        data = cls(rows, values, codes, classes, name=name, target=target)
        test = None
        if X_test is not None and y_test is not None:
            test = data.further(X_test, y_test, "X_test", new_classes)
            groups, test_groups = _groups_of_parts(groups, codes.size, test.codes.size)
            test = replace(test, per_row=PerRow(groups=test_groups))
        return replace(
            data,
            per_row=per_row(groups, time, sample_weight, codes.size),
            test=test,
            notes=(*([notes] if isinstance(notes, str) else notes), *remarks),
        )

    def further(self, X: Any, y: ArrayLike, name: str = "X", new_classes: bool = True) -> Data:
        """Further rows with the columns and classes of these: a test part, a batch. `name` is that of the argument."""
        rows = _like(self.X, pandas_of(X, name), name)
        _refuse_infinite(rows, name)
        label = name.replace("X", "y", 1)
        values = labels(y, label, rows.shape[0])
        codes = np.zeros(values.size, dtype=np.int64)
        if not self.classes.size:
            refuse_target(values, label, several=False)
        else:
            codes = encode(values, self.classes, label)
        if not new_classes and (codes < 0).any():
            raise InputError(
                f"`{label}` has classes that `y` does not have: {shown(np.unique(values[codes < 0]), 4)}. No refit can "
                "predict them: drop those rows, or add rows of these classes to `X` and `y`."
            )
        return Data(rows, values, codes, self.classes, name=name, target=self.target, text=self.text)

    # What the rows are

    def __len__(self) -> int:
        return int(self.codes.size)

    @property
    def groups(self) -> Ints | None:
        """The group of each row as a code, if groups are given."""
        return self.per_row.groups

    @property
    def time(self) -> Ints | None:
        """The time of each row as a rank, if it is given."""
        return self.per_row.time

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The weight of each row, if weights are given."""
        return self.per_row.weights

    def groups_of(self, rows: Any) -> Ints | None:
        """The groups of some rows, if there are any."""
        return None if self.per_row.groups is None else self.per_row.groups[rows]

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of X that are text for sure."""
        return () if self.text is None else (self.text,)

    @cached_property
    def audit(self) -> Audit:
        """How the file was read, or what the columns are."""
        return audit_frame(self.X, self.y, self.name) if self.as_read is None else self.as_read

    @cached_property
    def table(self) -> pd.DataFrame:
        """The rows as a DataFrame with text as names and rows numbered from 0, without a copy where it has these."""
        if is_sparse(self.X):
            raise InputError(
                "`X` is a sparse matrix; expected a DataFrame or array, as a report shows rows and columns. Use "
                "X.toarray() if it fits into memory, or `classay.record`, which accepts sparse matrices."
            )
        frame = self.X
        if not isinstance(frame, pd.DataFrame):
            names = ("text",) if frame.ndim == 1 else names_of_columns(frame, frame.shape[1])
            return pd.DataFrame(frame, columns=list(names), copy=False)
        if not all(isinstance(name, str) for name in frame.columns):
            frame = frame.rename(columns=str)
            unique_names(frame.columns)
        if not (isinstance(frame.index, pd.RangeIndex) and frame.index.start == 0 and frame.index.step == 1):
            frame = frame.reset_index(drop=True)
        return frame

    @property
    def rarer(self) -> int:
        """Of two classes the rarer one, which curves are about; the second if both are as frequent."""
        counts = np.bincount(self.codes)
        return int(counts.size == 2 and counts[1] <= counts[0])

    # Parts of the rows

    def take(self, rows: Any) -> Data:
        """Some of the rows, without the test part; classes and groups keep their codes."""
        positions = np.arange(self.codes.size)[rows] if self.positions is None else self.positions[rows]
        X = take(self.X, rows)
        return replace(
            self,
            X=X.reset_index(drop=True) if isinstance(X, pd.DataFrame) else X,
            y=self.y[rows],
            codes=self.codes[rows],
            per_row=self.per_row.take(rows),
            test=None,
            positions=positions,
        )

    def of_classes(self, kept: NDArray[np.bool_]) -> Data:
        """The rows of some classes, and the test rows of these: `kept` says which."""
        new = np.where(kept, np.cumsum(kept) - 1, -1)

        def chosen(part: Data) -> Data:
            rows = np.flatnonzero((part.codes >= 0) & kept[part.codes])
            taken = part.take(rows)
            return replace(taken, codes=new[taken.codes].astype(np.int64), classes=self.classes[kept])

        return replace(chosen(self), test=None if self.test is None else chosen(self.test))

    def joined(self) -> Data:
        """The rows and then the test rows in one table; weights of test rows are 1, groups -1 where unknown."""
        if self.test is None:
            return self
        test, more = self.test, self.test.codes.size
        groups, own = self.per_row.groups, self.test.per_row.groups
        if groups is not None:
            groups = np.concatenate([groups, np.full(more, -1) if own is None else own])
        weights = None if self.per_row.weights is None else np.append(self.per_row.weights, np.ones(more))
        return replace(
            self,
            X=_stacked(self.X, test.X),
            y=np.concatenate([self.y, test.y]),
            codes=np.concatenate([self.codes, test.codes]),
            per_row=PerRow(groups, None, weights),
            test=None,
        )

    @property
    def groups_in_both(self) -> int:
        """Number of groups with rows here and in the test part, as far as these are known."""
        if self.test is None or self.groups is None or self.test.groups is None:
            return 0
        return int(np.intersect1d(self.groups, self.test.groups).size)

    # Equal rows

    @cached_property
    def row_hashes(self) -> NDArray[np.uint64]:
        """A number for each row, the same for rows that are equal in every column."""
        return _hashes(self.table)

    @cached_property
    def _hashes_and_codes(self) -> pd.DataFrame:
        return pd.DataFrame({"row": self.row_hashes, "code": self.codes})

    @cached_property
    def duplicates(self) -> int:
        """Rows that repeat an earlier one, including the label."""
        return int(self._hashes_and_codes.duplicated().sum())

    @cached_property
    def contradicted_rows(self) -> NDArray[np.bool_]:
        """Which rows are equal in every column to a row with another label."""
        return np.asarray(self._hashes_and_codes.groupby("row")["code"].transform("nunique") > 1)

    @cached_property
    def surely_wrong(self) -> int:
        """Rows that any classifier gets wrong: of equal rows, all but those of their most frequent label."""
        by_row = self._hashes_and_codes[self.contradicted_rows].value_counts().groupby("row")
        return int((by_row.sum() - by_row.max()).sum())

    @cached_property
    def chance_duplicates(self) -> int:
        """Rows that would repeat an earlier one if the values of each column were shuffled within the classes.

        About as many as there are: equal cases are frequent. Far fewer: rows were copied.
        """
        rng = np.random.default_rng(0)
        by_class = [np.flatnonzero(self.codes == code) for code in range(self.classes.size)]
        shuffled = np.zeros(self.codes.size, dtype=np.uint64)
        for name in self.table.columns:
            order = np.arange(self.codes.size)
            for rows in by_class:
                order[rows] = rng.permutation(rows)
            shuffled = shuffled * np.uint64(1_000_003) + _hashes(self.table[[name]])[order]
        return int(pd.DataFrame({"row": shuffled, "code": self.codes}).duplicated().sum())


def _hashes(table: pd.DataFrame) -> NDArray[np.uint64]:
    # Objects of any kind are hashed as text, everything else as it is.
    columns = {name: values.map(str) if values.dtype == object else values for name, values in table.items()}
    return np.asarray(pd.util.hash_pandas_object(pd.DataFrame(columns, copy=False), index=False))


# Checks of rows


def rows_and_labels(X: Any, y: ArrayLike, texts: bool = False) -> tuple[Any, NDArray[Any], list[Note]]:
    """Rows and labels ready to be indexed, and notes about them.

    `texts`: rows may be one text each, and are then an array of strings, as learners that read text expect.
    """
    X = pandas_of(X)
    words = text_rows(X)
    if words is not None:
        if not texts:
            raise InputError("`X` is a list of texts; expected a table of (rows, columns). Embed them: classay.embed.")
        if (words == words[0]).all():
            raise InputError(f"All {words.size} texts of `X` are the same; nothing can be learned from that.")
        return words, labels(y, rows=words.size), []
    if is_sparse(X):
        X = X.tocsr()
    elif not isinstance(X, pd.DataFrame):
        X = as_array(X, "X")
    if X.ndim != 2:
        raise InputError(f"`X` has shape {X.shape}; expected a table of (rows, columns).")
    values = labels(y, rows=X.shape[0])
    if X.shape[0] == 0:
        raise InputError("`X` and `y` have no rows. Were all of them dropped earlier?")
    if X.shape[1] == 0:
        raise InputError("`X` has no columns; expected at least one.")
    if isinstance(X, pd.DataFrame):
        unique_names(X.columns)
    _refuse_infinite(X)
    constant = _constant_columns(X)
    if len(constant) == X.shape[1]:
        raise InputError(f"Every column of `X` is constant ({X.shape[1]} in all); nothing can be learned from that.")
    code = "constant-column" if len(constant) == 1 else "constant-columns"
    return X, values, [Note(code, shown(constant, 4), count=len(constant))] if constant else []


def _refuse_infinite(X: Any, argument: str = "X") -> None:
    values = X.data if is_sparse(X) else X
    if isinstance(X, pd.DataFrame):
        # Column by column, so that a large table is not copied.
        columns = X.select_dtypes("number").items()
        counts = {name: _infinite_cells(column.to_numpy(dtype=float, na_value=np.nan)) for name, column in columns}
    elif values.dtype.kind != "f" or not _infinite_cells(values):
        return
    elif is_sparse(X):
        counts = {"": _infinite_cells(values)}
    else:
        counts = {f"column {place}": _infinite_cells(column) for place, column in enumerate(X.T)}
    infinite = [name for name, count in counts.items() if count]
    if infinite:
        where = f", in: {shown(infinite)}" if infinite != [""] else ""
        raise InputError(f"`{argument}` has {sum(counts.values())} infinite values{where}. Replace or drop them.")


def _infinite_cells(numbers: NDArray[Any]) -> int:
    with np.errstate(over="ignore", invalid="ignore"):
        # One sum clears most columns in one pass; NaN may hide an infinity, so look again then.
        return 0 if np.isfinite(numbers.sum()) else int(np.isinf(numbers).sum())


def _constant_columns(X: Any) -> list[Any]:
    if is_sparse(X):
        return []
    if isinstance(X, pd.DataFrame):
        return [name for place, name in enumerate(X.columns) if _is_constant(X.iloc[:, place], name)]
    if X.dtype.kind not in "biuf":
        return [f"column {place}" for place, column in enumerate(X.T) if _is_constant(pd.Series(column), place)]
    same = (X[0] == X).all(axis=0) | np.isnan(X.astype(float)).all(axis=0)
    return [f"column {place}" for place in np.flatnonzero(same)]


def _is_constant(column: pd.Series[Any], name: Any) -> bool:
    try:
        return column.nunique(dropna=False) <= 1
    except TypeError as error:
        raise InputError(
            f"Column {name!r} of `X` contains {type(column.iloc[0]).__name__} values; expected one number or text per "
            "row. Spread it over several columns or drop it."
        ) from error


# Checks of the target


def _classes(values: NDArray[Any], numbers: bool) -> tuple[NDArray[Any], Ints]:
    """The sorted classes, none if the target is a number, and the code of each row."""
    if numbers:
        refuse_target(values)
        return values[:0], np.zeros(values.size, dtype=np.int64)
    classes, codes = np.unique(values, return_inverse=True)
    refuse_classes(classes, codes)
    return classes, codes.astype(np.int64)


def refuse_target(y: NDArray[Any], name: str = "y", several: bool = True) -> None:
    """Refuse a target that is not a quantity. several: whether it must have more than one value."""
    if y.dtype.kind == "U":
        raise InputError(
            f"`{name}` contains text such as {y[0].item()!r}; a regressor learns numbers. Did you mean a classifier?"
        )
    if not np.isfinite(y.astype(float)).all():
        raise InputError(f"`{name}` has infinite values. Replace them, or drop those rows.")
    if several and (y == y[0]).all():
        raise InputError(f"`{name}` is {y[0].item()!r} in all {y.size} rows; there is nothing to learn.")


def refuse_classes(classes: NDArray[Any], codes: NDArray[np.integer]) -> None:
    """Refuse labels that are not a classification."""
    at_least_two(classes)
    if classes.dtype.kind == "f" and np.isinf(classes).any():
        raise InputError("`y` has infinite values; expected class labels. Replace them, or drop those rows.")
    if classes.dtype.kind == "f" and type_of_target(classes).startswith("continuous"):
        raise InputError(
            f"`y` has {classes.size} different numbers such as {classes[0]:g}; expected class labels. "
            "For a continuous target, use a regressor, of which `record` and `stability` measure how repeatable it is, "
            "or bin it first."
        )
    if np.bincount(codes).max() == 1:
        raise InputError(f"Each of the {classes.size} rows has its own class. Is the target column right?")


# A second part


def _groups_of_parts(groups: Any, rows: int, test_rows: int) -> tuple[Any, Ints | None]:
    """Groups of the rows, and of the test rows if there are as many values, as codes that are the same for both."""
    if groups is None or not np.ndim(groups) or len(groups) != rows + test_rows:
        return groups, None
    codes = per_row(groups, rows=rows + test_rows).groups
    assert codes is not None
    return codes[:rows], codes[rows:]


def _like(first: Any, X: Any, name: str) -> Any:
    """Further rows of the same kind as the first, with the same columns in the same order."""
    texts = text_rows(X, name)
    if _kind(first) != (kind := "a list of texts" if texts is not None else _kind(X)):
        raise InputError(f"`X` is {_kind(first)} but `{name}` is {kind}; they must be of the same kind. Convert one.")
    if texts is not None:
        return texts
    if isinstance(first, pd.DataFrame):
        return _like_frame(first, X, name)
    X = X.tocsr() if is_sparse(X) else as_array(X, name)
    if X.shape[1:] != first.shape[1:]:
        raise InputError(f"`{name}` has shape {X.shape} but `X` {first.shape}; expected the same number of columns.")
    return X


def _like_frame(first: pd.DataFrame, X: pd.DataFrame, argument: str) -> pd.DataFrame:
    X = aligned(X, list(first.columns), argument, named=True).set_axis(first.columns, axis=1)
    for name, kind in first.dtypes.items():
        if isinstance(kind, pd.CategoricalDtype):  # categories may be numbers
            continue
        pair = (first[name], X[name])
        numbers = [pd.api.types.is_numeric_dtype(column.dtype) for column in pair if column.notna().any()]
        if len(set(numbers)) > 1:
            with_text = "`X`" if not numbers[0] else f"`{argument}`"
            raise InputError(
                f"The column {name!r} has numbers in one of `X` and `{argument}` and other values in {with_text}; they "
                "must match. Read both in the same way."
            )
    return X


def _stacked(X: Any, X_test: Any) -> Any:
    if is_sparse(X):
        stack: Any = sparse.vstack
        return stack([X, X_test], format="csr")
    if not isinstance(X, pd.DataFrame):
        return np.concatenate([X, X_test])
    columns = {}
    for place in range(X.shape[1]):
        own, other = X.iloc[:, place].reset_index(drop=True), X_test.iloc[:, place].reset_index(drop=True)
        kind = own.dtype
        if isinstance(kind, pd.CategoricalDtype) and other.dtype != kind:
            if isinstance(other.dtype, pd.CategoricalDtype):
                other = other.astype(other.dtype.categories.dtype)
            more = [value for value in other.dropna().unique() if value not in kind.categories]
            # Values that the training part does not have are for the learner to judge.
            wider = pd.CategoricalDtype([*kind.categories, *more], kind.ordered)
            own, other = own.astype(wider), other.astype(wider)
        columns[place] = pd.concat([own, other], ignore_index=True)
    return pd.DataFrame(columns).set_axis(X.columns, axis=1)


def _kind(X: Any) -> str:
    if isinstance(X, pd.DataFrame):
        return "a DataFrame"
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype == object:
        return "a list of texts"
    return "a sparse matrix" if is_sparse(X) else "an array"
