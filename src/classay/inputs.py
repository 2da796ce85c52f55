"""What users hand in, checked once for all rooms: rows of any kind, labels and classes.

Checks raise `InputError` before anything is fitted. Nothing here knows a learner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .arrays import Floats, Ints
from .expect import InputError, counted, nearest, shown
from .frames import pandas_of

# Rows are converted to dense float64 in blocks of this many numbers: 8 MB. Larger ones leave the cache, and beyond
# 32 MB the allocator returns them to the system each time, which then has to clear the pages again.
BLOCK = 2**20


def matrix(X: Any, name: str = "X", columns: int | None = None) -> Any:
    """Rows as a numeric array (of any float or integer type, or a memory map) or a CSR matrix, without a copy.

    Whether the values are finite is checked block by block in `blocks`, when they are read anyway.
    """
    X = pandas_of(X, name)
    if sparse.issparse(X):
        table: Any = X.tocsr()  # type: ignore[attr-defined]  # the stubs know the abstract kind only
    elif isinstance(X, pd.DataFrame):
        words = [column for column, kind in X.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
        if words:
            raise InputError(
                f"`{name}` has columns that are not numbers ({shown(words, 4)}). Encode them first, or drop them."
            )
        table = X.to_numpy(dtype=float, na_value=np.nan)
    else:
        table = _numbers(X, name, "Encode text and dates first.")
    if 0 in table.shape:
        raise InputError(f"`{name}` has shape {table.shape}; expected at least one row and one column.")
    if columns is not None and table.shape[1] != columns:
        raise InputError(f"`{name}` has {table.shape[1]} columns; expected {columns}, as in the first rows.")
    return table


def _numbers(values: Any, name: str, hint: str, form: str = "(rows, columns)") -> NDArray[Any]:
    """A table of real numbers, without a copy of arrays and memory maps."""
    try:
        table = values if isinstance(values, np.ndarray) else np.asarray(values)
        if table.dtype.kind == "c":
            raise TypeError("they are complex")
        table = table if table.dtype.kind in "biuf" else table.astype(float)
    except (ValueError, TypeError) as error:
        raise InputError(f"`{name}` is not a table of numbers ({error}). {hint}") from error
    if table.ndim != 2:
        flat = " Flatten each row: values.reshape(len(values), -1)." if table.ndim > 2 else ""
        raise InputError(f"`{name}` has shape {table.shape}; expected {form}.{flat}")
    return table


def blocks(table: Any, name: str = "X", most: int = BLOCK) -> Iterator[tuple[slice, Floats]]:
    """Blocks of rows as new dense float64 arrays, with their positions. Values that are not finite are refused."""
    step = max(1, most // table.shape[1])
    for start in range(0, table.shape[0], step):
        place = slice(start, min(start + step, table.shape[0]))
        part: Any = table[place]
        yield place, finite(part.toarray() if hasattr(part, "toarray") else part, name, start)


def finite(part: Any, name: str, start: int = 0) -> Floats:
    """A dense float64 copy, if every value is finite."""
    block = np.array(part, dtype=np.float64, order="C")
    with np.errstate(over="ignore", invalid="ignore"):
        clean = np.isfinite(block.sum())  # one sum clears nearly every table in one pass
    if not clean and not np.isfinite(block).all():
        row, column = np.argwhere(~np.isfinite(block))[0]
        kind = "NaN (missing)" if np.isnan(block[row, column]) else "infinite"
        raise InputError(
            f"`{name}` is {kind} in row {start + row}, column {column}; expected finite numbers. Impute or "
            "drop such rows first."
        )
    return block


def text_rows(X: Any, name: str = "X") -> NDArray[np.object_] | None:
    """Rows that are one text each, a list, Series or array of strings, as an array of objects; None for anything else.

    >>> text_rows(["book a flight", "play jazz"]).shape, text_rows([[1, 2]])
    ((2,), None)
    """
    if isinstance(X, pd.Series) and not isinstance(X.dtype, pd.CategoricalDtype):
        X = X.to_numpy(dtype=object)
    if not isinstance(X, (list, tuple, np.ndarray)) or not len(X) or not any(isinstance(each, str) for each in X[:20]):
        return None
    rows = np.empty(len(X), dtype=object)
    rows[:] = [str(each) if isinstance(each, str) else each for each in X]
    strange = [place for place, each in enumerate(rows) if not isinstance(each, str)]
    if strange:
        raise InputError(
            f"`{name}` has {len(rows)} rows of text, but {len(strange)} are no text (rows {shown(strange, 5)}; first: "
            f"{rows[strange[0]]!r}). Expected one string per row. Drop these rows, or replace them."
        )
    return rows


def as_array(values: Any, name: str) -> NDArray[Any]:
    """An array, if all rows have the same length."""
    _refuse_masked(values, name)
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(f"`{name}` is not an array ({error}). All rows must have the same length.") from error


def _refuse_masked(values: Any, name: str) -> None:
    if np.ma.is_masked(values):
        raise InputError(
            f"`{name}` has masked values, which learners read as if they were not masked. Fill them first."
        )


def is_sparse(X: Any) -> bool:
    """Whether X is one of SciPy's sparse matrices or arrays."""
    return bool(sparse.issparse(X))


def take(X: Any, rows: Any) -> Any:
    """Some rows of an array, sparse matrix or DataFrame; a slice of an array is a view."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def aligned(X: Any, names: Sequence[Any], name: str = "X", named: bool = False) -> Any:
    """A DataFrame with its columns in the order of `names`, those of the first rows; anything else unchanged.

    named: whether the first rows had names; otherwise names x0, x1, … fit any columns.
    """
    X = pandas_of(X, name)
    if not isinstance(X, pd.DataFrame) or not names:
        return X
    own, wanted = [str(column) for column in X.columns], [str(column) for column in names]
    if own == wanted:
        return X
    if sorted(own) == sorted(wanted):
        return X.iloc[:, [own.index(column) for column in wanted]]
    if not named and wanted == list(_numbered(len(wanted))):
        return X
    missing, strange = [each for each in wanted if each not in own], [each for each in own if each not in wanted]
    raise InputError(
        f"`{name}` has other columns than the first rows: missing {shown(missing, 4) or 'none'}, additional "
        f"{shown(strange, 4) or 'none'}.{nearest(strange[0], wanted) if strange else ''} Expected the same columns, "
        "each once, in any order."
    )


def names_of_columns(X: Any, columns: int) -> tuple[str, ...]:
    """The names of the columns."""
    if isinstance(X, pd.DataFrame):
        return tuple(str(column) for column in X.columns)
    return _numbered(columns)


def _numbered(columns: int) -> tuple[str, ...]:
    return tuple(f"x{column}" for column in range(columns))


# Labels and classes: numbers, booleans or text; codes of sorted classes; columns of a table of scores


Codes = NDArray[np.int32]


def one_per_row(predicted: Any, count: int, what: str) -> NDArray[Any]:
    """Predictions for `count` rows, one label or number each; a ValueError if they are not."""
    values = np.asarray(predicted)
    if values.shape not in ((count,), (count, 1)):
        raise ValueError(f"it predicted an array of shape {values.shape} for {count} rows; expected one {what} per row")
    return values.reshape(count)


def plain_labels(values: NDArray[Any], name: str = "y") -> NDArray[Any]:
    """Labels as numbers, booleans or text, which can be sorted and saved; objects become the type they hold."""
    if values.dtype == object:
        refuse_alike(values.ravel(), name)
        try:
            held = np.asarray(values.tolist())
        except (ValueError, OverflowError):  # of unequal lengths, or too large
            held = values
        if held.shape == values.shape and (held.dtype.kind in "biuf" or len(set(map(type, values.ravel()))) <= 1):
            values = held
        elif values.ndim == 1:
            values = np.array(list(map(_as_text, values)))
    if values.dtype.kind == "S":
        return np.char.decode(values, "utf-8", "backslashreplace")
    return values if values.dtype.kind in "biufU" else values.astype(str)


def _as_text(label: Any) -> str:
    return label.decode(errors="backslashreplace") if isinstance(label, bytes) else str(label)


def refuse_alike(values: Any, name: str) -> None:
    """Refuse labels that would become the same text: 1 and "1", True and "True", or "a" and "a" with a NUL after it."""
    kinds, printed = set(map(type, values)), dict[str, Any]()
    texts = all(issubclass(kind, str) for kind in kinds)
    for label in dict.fromkeys(values) if texts else values if len(kinds) > 1 else ():
        other = printed.setdefault(_as_text(label).rstrip("\0"), label)
        if isinstance(other, str) != isinstance(label, str) or (isinstance(label, str) and other != label):
            raise InputError(
                f"`{name}` has {other!r} and {label!r}, which would count as the same label; expected different ones. "
                "If they are the same class, make all labels text (str); if not, rename one."
            )


def label_array(y: ArrayLike, name: str = "y") -> NDArray[Any]:
    """Labels of any shape as numbers, booleans or text; a single column is flattened, missing ones are refused."""
    y = pandas_of(y, name)
    _refuse_masked(y, name)
    try:
        values = y.to_numpy() if isinstance(y, (pd.Series, pd.Index)) else np.asarray(y)
        if values.dtype.kind in "US" and not isinstance(y, np.ndarray):
            values = np.array(y, dtype=object)  # as given: numpy makes text of what is none
    except ValueError as error:
        _refuse_lists(y, name)
        raise InputError(f"`{name}` is not an array ({error}). All rows must have the same length.") from error
    if values.dtype == object and values.ndim == 1:
        _refuse_lists(values, name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    missing = np.flatnonzero(pd.isna(values.ravel()))
    if missing.size:
        raise InputError(
            f"`{name}` is missing (NaN) in {counted(int(missing.size), 'row')} (first: {shown(missing, 3)}); every row "
            "needs a label. Drop those rows first."
        )
    return plain_labels(values, name)


def _refuse_lists(values: Any, name: str) -> None:
    several = next((each for each in values if isinstance(each, (list, tuple, set, frozenset, np.ndarray))), None)
    if several is not None:
        raise InputError(
            f"`{name}` has rows with several labels, such as {several!r}; expected one label per row. Take the labels "
            f"one by one, with a result for each: [label in each for each in {name}]."
        )


def labels(y: ArrayLike, name: str = "y", rows: int | None = None) -> NDArray[Any]:
    """One label per row, as numbers, booleans or text."""
    values = label_array(y, name)
    if values.ndim == 2:
        several = f"`{name}` has {values.shape[1]} columns"
        if values.dtype.kind in "biuf" and np.isin(values, (0, 1)).all():
            raise InputError(
                f"{several} of 0 and 1, so rows may have several labels; expected one label per row. Take the labels "
                f"one by one, with a result for each: {name}[:, 0], or a column of a DataFrame."
            )
        raise InputError(f"{several}; expected one label per row. Pass one column, and the others one by one.")
    if values.ndim != 1:
        raise InputError(f"`{name}` has shape {values.shape}; expected one label per row.")
    if rows is not None and values.size != rows:
        table = name.replace("y", "X", 1)
        raise InputError(f"`{table}` has {rows} rows but `{name}` has {values.size} labels; they must match.")
    return values


def class_labels(y: ArrayLike, name: str, rows: int) -> NDArray[Any]:
    """One label per row; numbers with decimals are refused, and those that floats cannot distinguish."""
    values = labels(y, name, rows)
    if values.dtype.kind == "f" and (np.abs(values) >= 2**53).any():
        raise InputError(
            f"`{name}` has numbers from 2**53 up as floats, where neighbouring whole numbers are the same; expected "
            "class labels. Pass whole numbers or text: a missing value makes floats of them."
        )
    if values.dtype.kind == "f" and not (np.isfinite(values) & (values == np.round(values))).all():
        raise InputError(
            f"`{name}` has numbers such as {values[values != np.round(values)][0]:g}; expected class labels. "
            "For a continuous target, bin it first, or measure a regressor with `record` and `stability`."
        )
    return values


def encode(values: NDArray[Any], classes: NDArray[Any], name: str = "y") -> Ints:
    """Codes of labels in sorted classes, -1 if a label is not among them."""
    if (values.dtype.kind == "U") != (classes.dtype.kind == "U"):
        raise InputError(
            f"`{name}` has labels such as {values[0].item()!r}, and the first ones are such as {classes[0].item()!r}; "
            "expected the same labels in both."
        )
    codes = np.searchsorted(classes, values)
    known = classes[np.minimum(codes, classes.size - 1)] == values
    return np.where(known, codes, -1).astype(np.int64)


def at_least_two(classes: NDArray[Any]) -> None:
    """Refuse a single class."""
    if classes.size < 2:
        raise InputError(
            f"`y` has 1 class ({classes.tolist()[0]!r}); at least 2 are needed. Is the target column right?"
        )


# Scores: a column for each class


def table_of(scores: Any, n_classes: int | None = None) -> NDArray[Any]:
    """Scores as an array (n, K) of numbers, without a copy of arrays and memory maps."""
    scores = pandas_of(scores, "scores")
    if isinstance(scores, pd.DataFrame):
        scores = scores.to_numpy()
    table = _numbers(scores, "scores", "Expected a score for every row and class.", "(rows, classes)")
    if np.ma.isMaskedArray(table):  # what is masked is missing, whatever the value below
        table = np.ma.filled(table.astype(float), np.nan) if np.ma.is_masked(table) else np.asarray(table.data)
    if table.shape[1] < 2:
        raise InputError(
            f"`scores` has {table.shape[1]} column; at least 2 classes are needed. The scores of one class against "
            "another are two columns: np.column_stack([-s, s])."
        )
    if n_classes is not None and table.shape[1] != n_classes:
        raise InputError(f"`scores` has {table.shape[1]} columns but there are {n_classes} classes; they must match.")
    return table


def column_names(scores: Any, y: ArrayLike, classes: ArrayLike | None) -> NDArray[Any]:
    """The names of the columns: those given, those of a DataFrame, or 0, …, K − 1 if `y` has column numbers."""
    scores = pandas_of(scores, "scores")
    table = table_of(scores)
    columns: Any = scores.columns if isinstance(scores, pd.DataFrame) else pd.RangeIndex(table.shape[1])
    if classes is None and not (isinstance(columns, pd.RangeIndex) and columns.start == 0 and columns.step == 1):
        classes = columns
    if classes is None:
        names = np.arange(table.shape[1])
        columns_of(y, names, table.shape[0])
        return names
    names = class_names(classes)
    if names.size != table.shape[1]:
        raise InputError(
            f"`scores` has {table.shape[1]} columns but `classes` has {names.size} names; they must match."
        )
    return names


def class_names(classes: ArrayLike) -> NDArray[Any]:
    """Names of classes, each once."""
    names = label_array(classes, "classes")
    if names.ndim != 1 or names.size < 2:
        raise InputError(f"`classes` has shape {names.shape}; expected the names of at least 2 columns.")
    several, times = np.unique(names, return_counts=True)
    if several.size < names.size:
        raise InputError(
            f"`classes` has {shown(several[times > 1], 4)} more than once; each column needs its own name."
        )
    return names


def columns_of(y: ArrayLike, names: NDArray[Any], rows: int) -> Codes:
    """The column of each true class, given by name, or by number if it is not a name.

    If names are text and labels are numbers, or the other way round, they are compared as text: a table with a header
    of 1, 2, 3 has text as names.
    """
    values = label_array(y, "y")
    if values.ndim != 1:
        raise InputError(f"`y` has shape {values.shape}; expected one true class per row.")
    if values.size != rows:
        raise InputError(f"`scores` has {rows} rows but `y` has {values.size} labels; they must match.")
    if values.size == 0:
        return np.empty(0, dtype=np.int32)
    text = names.dtype.kind == "U"
    alike = text == (values.dtype.kind == "U")
    wanted, called = (values, names) if alike else (values.astype(str), names.astype(str))
    order = np.argsort(called)
    columns = order[np.minimum(np.searchsorted(called[order], wanted), names.size - 1)]
    strange = called[columns] != wanted
    if not strange.any():
        return columns.astype(np.int32)
    # Numbers are column positions only if none of them is a name: if some are names, the others are mistakes.
    if text and strange.all() and values.dtype.kind in "iu" and values.min() >= 0 and values.max() < names.size:
        return values.astype(np.int32)
    some = pd.unique(values[strange])
    if np.array_equal(names, np.arange(names.size)):
        raise InputError(
            f"`y` has {shown(some, 4)}, and the columns of `scores` are numbered 0 to {names.size - 1}. Pass "
            "classes=[...], the names of the columns in their order, such as `classifier.classes_`."
        )
    raise InputError(
        f"`y` has {shown(some, 4)}, which is not the name of a column ({shown(names, 4)}). Drop those rows, or add "
        "scores for those classes."
    )
