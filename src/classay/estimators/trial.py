"""Which form of a table a learner takes: the user's own, if a trial on a few rows succeeds; otherwise an encoded one.

A Pipeline with a ColumnTransformer needs the names of the columns, gradient boosting with categories needs their types,
and a text Pipeline needs strings. No learner says so in a form that can be read, so it is tried. Only what fails is
wrapped.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from .. import seeds
from ..arrays import Ints
from ..expect import InputError
from ..inputs import labels, one_per_row, take
from ..notes import Note
from ..splits import at_even_steps, sorted_by_class
from .adapters import kind_of, short_name
from .encoder import TableEncoder, encoded, encoding_in_words, first_strings, is_ready
from .fit import fit_once, guard, seeded

FEW, MANY = 50, 5_000
"""Rows of a trial, and of a second one before a failure counts: 50 rows may be too few for a learner."""
OF_EACH_CLASS = 10
"""Rows of every class in a trial, if it has as many, so that cross-validation inside a learner works."""
LONGEST = 300
UNREAD_DATES = "missing dates would be read as dates far in the past"


@dataclass(frozen=True)
class Ready:
    """A learner that takes the table; `wrapped` says how the table is changed for it inside each fit, "" if it is not.

    The learner is the user's own object if nothing is changed. It is not fitted: every fit takes a copy.
    """

    learner: Any
    wrapped: str = ""

    @property
    def takes_texts(self) -> bool:
        """Whether the learner itself takes texts: as they are, or as a series of strings."""
        return not self.wrapped or not isinstance(self.learner.steps[0][1], TableEncoder)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was wrapped and how, as a note for results; none if the learner gets the table as it is."""
        return (Note("learner-wrapped", self.wrapped),) if self.wrapped else ()


def ready(learner: Any, X: Any, y: Any, seed: int = 0, texts: Collection[Any] = ()) -> Ready:
    """The learner itself if it can be fitted on `X` and predict it, tried on a few rows; otherwise wrapped.

    Numbers without missing values, and anything that is not a DataFrame, are not tried. Wrapped means: a table of one
    text column is passed on as a series of strings or, if that fails too, columns are encoded (`encoded`; `texts` are
    the columns that are text for sure). If everything fails, InputError has the error on the table itself first, then
    the errors on the changed ones.

    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = pd.DataFrame({"hue": pd.Categorical(["red", "blue"] * 20), "size": [1.0, 2.0, 3.0, None] * 10})
    >>> ready(HistGradientBoostingClassifier(), X, [0, 1] * 20).wrapped
    ''
    >>> ready(GaussianNB(), X, [0, 1] * 20).wrapped
    'one-hot encoding of 1 column (hue), medians for missing numbers in 1 column (size)'
    """
    if not isinstance(X, pd.DataFrame) or is_ready(X) or not X.columns.is_unique or not _can_be_copied(learner):
        return Ready(learner)  # nothing to change, or an input that every measure refuses with its own words
    targets = labels(y)
    if targets.size != len(X) or targets.size == 0:
        return Ready(learner)
    trial = _Trial(X, targets, kind_of(learner) == "regressor", seed)
    first = UNREAD_DATES if _has_only_dates(X) else trial.error_of(learner)
    if not first:
        return Ready(learner)
    others = []
    for form in _wrapped_forms(learner, X, texts):
        if not (error := trial.error_of(form.learner)):
            return form
        others.append(f"with {form.wrapped}: {error}")
    raise InputError(
        f"{short_name(learner)} cannot be fitted on this table: {first}. It also fails {'; and '.join(others)}."
    )


def _wrapped_forms(learner: Any, X: pd.DataFrame, texts: Collection[Any]) -> Iterator[Ready]:
    """Ways to change the table for a learner, the least change first."""
    if X.shape[1] == 1 and types.infer_dtype(X.iloc[:, 0], skipna=True) == "string":
        pipeline = Pipeline([("encode", FunctionTransformer(first_strings)), ("learner", learner)])
        yield Ready(pipeline, f"the column {X.columns[0]} as a series of strings")
    yield Ready(encoded(learner, X, texts), encoding_in_words(X, texts))


def _has_only_dates(X: pd.DataFrame) -> bool:
    """Whether there are only dates and some are missing: to NumPy, a missing one is a number far in the past."""
    return all(column.kind in "Mm" for column in X.dtypes) and bool(X.isna().to_numpy().any())


def _can_be_copied(learner: Any) -> bool:
    try:
        clone(learner)
    except Exception:  # whatever this is, `record` and the others refuse it and say why
        return False
    return True


class _Trial:
    """A few rows of a table on which forms of a learner are tried."""

    def __init__(self, X: pd.DataFrame, y: NDArray[Any], is_regressor: bool, seed: int) -> None:
        self.X, self.y, self.seed = X, y, seed
        self.codes = np.zeros(y.size, dtype=np.int64) if is_regressor else np.unique(y, return_inverse=True)[1]
        self.special = _special_rows(X)
        self.codes_as_numbers = [name for name in X.columns if _merge_as_numbers(X[name])]

    def error_of(self, learner: Any) -> str:
        """What the learner says if it fails, nothing if it works. Too few rows may be the reason, so more are tried."""
        error = self._attempt(learner, FEW)
        if error and self.y.size > FEW:
            error = self._attempt(learner, MANY)
        return error

    def _attempt(self, learner: Any, most: int) -> str:
        rows = self._rows(most)
        try:
            with guard(self.seed % 2**32), redirect_stdout(io.StringIO()):
                table = self._table(rows)
                fitted = fit_once(learner, table, self.y[rows], seeded(learner, self.seed, "trial fit"))
                one_per_row(fitted.predict(self._table(rows)), rows.size, "prediction")
        except Exception as error:  # a learner may raise anything
            return _in_short(error)
        return ""

    def _table(self, rows: Ints) -> pd.DataFrame:
        """Some rows. Codes get a letter: a learner that makes numbers of texts must fail, as 01 and 1 would merge."""
        table: pd.DataFrame = take(self.X, rows)
        marked = {name: _marked(table[name]) for name in self.codes_as_numbers}
        return table.assign(**marked) if marked else table

    def _rows(self, most: int) -> Ints:
        """Rows of every class, in about the proportions of the table, and at least one of each kind that may matter."""
        if self.y.size <= most:
            return np.arange(self.y.size)
        generator = seeds.generator(self.seed, "trial rows")
        order = sorted_by_class(self.codes, generator)
        place = np.arange(order.size) - np.searchsorted(self.codes[order], self.codes[order])  # within its class
        each = min(OF_EACH_CLASS, max(2, MANY // int(self.codes.max() + 1)))
        return np.unique(np.concatenate([at_even_steps(order, most, generator), order[place < each], self.special]))


def _marked(column: pd.Series[Any]) -> pd.Series[Any]:
    """The same codes with a letter."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.rename_categories(lambda text: f"{text}x")
    return column.map(lambda text: f"{text}x", na_action="ignore")


def _merge_as_numbers(column: pd.Series[Any]) -> bool:
    """Whether all texts of a column read as numbers, and different texts as the same number or with leading zeros."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = pd.Series(column.cat.categories)
    if types.is_numeric_dtype(column.dtype) or types.infer_dtype(column, skipna=True) != "string":
        return False
    texts = column.drop_duplicates().dropna().astype(object)
    if pd.to_numeric(texts.iloc[:FEW], errors="coerce").isna().any():  # nearly always among the first
        return False
    values = pd.to_numeric(texts, errors="coerce")
    zeros = texts.map(lambda text: len(text) > 1 and text[0] == "0" and text.isdecimal())
    return bool(len(texts) and values.notna().all() and (zeros.any() or values.duplicated().any()))


def _special_rows(X: pd.DataFrame) -> Ints:
    """For each column, a row without a value, one of each Python type, and a text that is not a number, if there are.

    A trial that misses the few rows which a learner cannot take would accept it.
    """
    rows: set[int] = set()
    for name in X.columns:
        column = X[name]
        gone = column.isna().to_numpy(dtype=bool)
        if gone.any():
            rows.add(int(gone.argmax()))
        if types.is_object_dtype(column.dtype):
            rows.update(np.flatnonzero(~column.map(type).duplicated().to_numpy(dtype=bool)).tolist())
        if not (types.is_numeric_dtype(column.dtype) or types.is_datetime64_any_dtype(column.dtype)):
            rows.update(_first_word(column))
    return np.array(sorted(rows), dtype=np.int64)


def _first_word(column: pd.Series[Any]) -> list[int]:
    """The first row whose value is not a number, not even as text."""
    for stop in (FEW, len(column)):  # nearly always among the first
        values = column.iloc[:stop].drop_duplicates().dropna()
        words = pd.to_numeric(values.astype(object), errors="coerce").isna()
        if words.any():
            return [int((column == values[words].iloc[0]).to_numpy(dtype=bool, na_value=False).argmax())]
    return []


def _in_short(error: Exception) -> str:
    """Type and message on one line. Of a long message, as of a search in which every fit fails, the two ends."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    text = " ".join(lines)
    if len(text) > LONGEST and len(lines) > 1:
        text = f"{lines[0]} … {lines[-1]}"
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return f"{type(error).__name__}: {text}".rstrip(". ")
