"""Mixed columns as numbers, learned inside each refit so that nothing leaks from other rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline

from ..arrays import Floats
from ..expect import InputError, counted, shown, unique_names

MISSING = "missing"
RARE = "infrequent_sklearn"
"""The name that scikit-learn's OneHotEncoder gives to the indicator which rare categories share."""
DAY = pd.Timedelta(days=1)
MOST_CATEGORIES = 100
"""Rarer categories beyond this many share one indicator, so that a column with very many stays affordable."""


def encoded(learner: Any, X: Any, texts: Collection[Any] = ()) -> Any:
    """A learner that can be fitted on `X`: itself, or a Pipeline that first converts columns to numbers.

    A numeric table without missing values, or anything that is not a DataFrame, returns `learner` unchanged.
    Otherwise the steps are `encode` and `learner`:

    - numbers, booleans and times (as days, dates since 1970): missing values become the training median;
    - columns named in `texts`, and those of several words, most of them different (`is_prose`): latent semantic
      analysis (`TextNumbers`);
    - everything else: one indicator per category, with missing as a category. A category that the training
      rows do not have is all zeros, or counts as rare if there are more than `MOST_CATEGORIES`.

    Only the type of each column is taken from `X`; medians, categories and words are learned at each fit. Do not wrap
    a learner that has its own encoding.

    >>> X = pd.DataFrame({"size": [1.0, None, 3.0, 4.0], "hue": ["red", "red", "blue", "blue"]})
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> encoded(DecisionTreeClassifier(), X).fit(X, [0, 0, 1, 1]).predict(X)
    array([0, 0, 1, 1])
    """
    if not isinstance(X, pd.DataFrame) or is_ready(X):
        return learner
    return Pipeline([("encode", _encoder_of(X, texts)), ("learner", learner)])


def numbers(X: pd.DataFrame, texts: Collection[Any] = (), independent: bool = False) -> pd.DataFrame:
    """The whole table as numbers, encoded as in `encoded`: for geometry, where nothing is trained.

    independent : drop one indicator of each category, which the others determine. With all of them no covariance has
    an inverse; Mahalanobis distances are the same without it, others are not. In a second table (`numbers_of_two`) that
    holds only for categories that the first one has: without it, an unknown category can look like the dropped one.

    >>> numbers(pd.DataFrame({"size": [1.0, None, 3.0], "hue": ["red", "red", "blue"]})).to_numpy().tolist()
    [[1.0, 0.0, 1.0], [2.0, 0.0, 1.0], [3.0, 1.0, 0.0]]
    """
    return X if is_ready(X) else _made(_encoder_of(X, texts).fit(X), X, independent)


def numbers_of_two(
    X: pd.DataFrame, other: pd.DataFrame, texts: Collection[Any] = (), independent: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two tables as numbers: medians, categories and words of the first are used for both; else as `numbers`.

    >>> first, second = pd.DataFrame({"hue": ["red", "blue"]}), pd.DataFrame({"hue": ["green", "red"]})
    >>> numbers_of_two(first, second)[1].to_numpy().tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    if is_ready(X) and is_ready(other):
        return X, other
    encoder = _encoder_of(X, texts).fit(X)
    return _made(encoder, X, independent), _made(encoder, other, independent)


def _made(encoder: TableEncoder, X: pd.DataFrame, independent: bool) -> pd.DataFrame:
    made = pd.DataFrame(encoder.transform(X), columns=encoder.get_feature_names_out(), index=X.index, copy=False)
    return made.iloc[:, encoder.independent_columns()] if independent else made


def encoding_in_words(X: pd.DataFrame, texts: Collection[Any] = ()) -> str:
    """How `encoded` changes the columns of a table.

    >>> encoding_in_words(pd.DataFrame({"size": [1.0, None, 3.0], "hue": ["red", "red", "blue"], "n": [1, 2, 3]}))
    'one-hot encoding of 1 column (hue), medians for missing numbers in 1 column (size)'
    """
    columns = {name: X[name] for name in X.columns}
    kinds = {name: kind_of_column(column, texts) for name, column in columns.items()}
    ways = {
        "one-hot encoding of": [name for name, kind in kinds.items() if kind == "category"],
        "latent semantic analysis of": [name for name, kind in kinds.items() if kind == "text"],
        "days for the times in": [name for name, column in columns.items() if column.dtype.kind in "Mm"],
        "medians for missing numbers in": [
            name for name, column in columns.items() if kinds[name] == "number" and column.isna().any()
        ],
    }
    words = [f"{way} {counted(len(names), 'column')} ({shown(names, 4)})" for way, names in ways.items() if names]
    return ", ".join(words) or "columns as numbers"


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Columns of a DataFrame as one array of numbers: quantities, indicators of categories, then numbers of texts.

    numbers, categories, texts : the columns of each kind, by name, or by position if names are not texts

    The array is written once and column by column: parts that are made and joined need the memory twice.
    """

    def __init__(self, numbers: Sequence[Any] = (), categories: Sequence[Any] = (), texts: Sequence[Any] = ()) -> None:
        self.numbers, self.categories, self.texts = numbers, categories, texts

    def fit(self, X: pd.DataFrame, y: Any = None) -> TableEncoder:
        """Learn medians, categories and words."""
        self.medians_ = [_median(as_numbers(_column(X, key))) for key in self.numbers]
        self.levels_ = [_levels(_column(X, key)) for key in self.categories]
        self.of_texts_ = [TextNumbers().fit(_column(X, key)) for key in self.texts]
        self._names = {key: str(_column(X, key).name) for key in (*self.numbers, *self.categories, *self.texts)}
        self.n_features_in_ = X.shape[1]
        if all(isinstance(name, str) for name in X.columns):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        return self

    def transform(self, X: pd.DataFrame) -> Floats:
        """The rows as numbers."""
        widths = [*(len(levels) for levels in self.levels_), *(each.width_ for each in self.of_texts_)]
        shape = (len(X), len(self.numbers) + sum(widths))
        # Columns of numbers alone stay columns in memory. Sums of a learner depend on this, in the last bit.
        made = np.zeros(shape, order="F" if len(self.numbers) > 1 and sum(widths) <= 1 else "C")
        for place, (key, median) in enumerate(zip(self.numbers, self.medians_)):
            values = as_numbers(_column(X, key))
            np.copyto(made[:, place], np.where(np.isnan(values), median, values))
        start = len(self.numbers)
        for key, levels in zip(self.categories, self.levels_):
            codes, names = as_levels(_column(X, key))
            places = np.array([levels.get(name, levels.get(RARE, -1)) for name in names], dtype=np.int64)[codes]
            rows = np.flatnonzero(places >= 0)  # without a rare one, a category that was not seen has no indicator
            made[rows, start + places[rows]] = 1
            start += len(levels)
        for key, of_text in zip(self.texts, self.of_texts_):
            made[:, start : start + of_text.width_] = of_text.transform(_column(X, key))
            start += of_text.width_
        return made

    def independent_columns(self) -> NDArray[np.intp]:
        """Columns of the array without the first indicator of each category that has several."""
        widths = [len(levels) for levels in self.levels_]
        starts = len(self.numbers) + np.cumsum([0, *widths[:-1]])
        several = [int(start) for start, width in zip(starts, widths) if width > 1]
        return np.delete(np.arange(len(self.get_feature_names_out())), several)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns: of quantities their own, of indicators `column_category`, of texts `column_number`."""
        names = [self._names[key] for key in self.numbers]
        for key, levels in zip(self.categories, self.levels_):
            names += [f"{self._names[key]}_{level}" for level in levels]
        for key, of_text in zip(self.texts, self.of_texts_):
            names += [f"{self._names[key]}_{place}" for place in range(of_text.width_)]
        return np.array(names, dtype=object)


def _levels(column: pd.Series[Any]) -> dict[str, int]:
    """The categories of a column and their indicators, in the order of their names; `RARE` last if there are many.

    As by scikit-learn's OneHotEncoder with `max_categories`, which compares strings one by one: 4 times as slow.
    """
    codes, names = as_levels(column)
    counts = np.bincount(codes, minlength=len(names))
    present = sorted((name, count) for name, count in zip(names, counts) if count)
    kept = [name for name, _ in present]
    if len(kept) > MOST_CATEGORIES:
        rarest_first = np.argsort([count for _, count in present], kind="stable")
        kept = [*(kept[place] for place in np.sort(rarest_first[1 - MOST_CATEGORIES :])), RARE]
    return {name: place for place, name in enumerate(kept)}


def as_levels(column: pd.Series[Any]) -> tuple[NDArray[np.intp], list[str]]:
    """A column as codes of different strings, with missing values as their own string.

    >>> as_levels(pd.Series(["red", None, "red"]))
    (array([0, 1, 0]), ['red', 'missing'])
    """
    codes: NDArray[Any]
    values: Any
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), column.cat.categories
    elif types.infer_dtype(column, skipna=True) == "string":
        codes, values = pd.factorize(column)
    else:  # 1, 1.0 and True are equal, but are spelled differently
        spelled = [None if gone else str(value) for value, gone in zip(column, column.isna())]
        codes, values = pd.factorize(np.array(spelled, dtype=object))
    names = [*map(str, values), MISSING]
    # Two values may be spelled the same: 1 and "1", or a value "missing".
    unique = list(dict.fromkeys(names if (codes < 0).any() else names[:-1]))
    place = {name: number for number, name in enumerate(unique)}
    merged = np.array([place.get(name, -1) for name in names], dtype=np.intp)
    return merged[codes], unique  # code −1 is the last, missing


def as_numbers(column: pd.Series[Any]) -> Floats:
    """A column of quantities as floats, missing values as NaN; times as days, dates since 1970."""
    values: Any = column
    if types.is_datetime64_any_dtype(column.dtype):
        values = (values - pd.Timestamp(0, tz=values.dt.tz)) / DAY
    elif types.is_timedelta64_dtype(column.dtype):
        values = values / DAY
    elif types.is_object_dtype(column.dtype):
        values = pd.to_numeric(values, errors="coerce")
    numbers = np.asarray(values.to_numpy(dtype=float, na_value=np.nan), dtype=float)
    if np.isinf(numbers).any():
        raise InputError(
            f"The column {column.name!r} contains infinity or a value too large for float64. Replace it, or "
            "drop its rows."
        )
    return numbers


def kind_of_column(column: pd.Series[Any], texts: Collection[Any] = ()) -> str:
    """What `encoded` makes of a column: number, category or text; `texts` are names of columns that are text."""
    if column.name in texts:
        return "text"
    if _is_numeric(column):
        return "number"
    return "text" if is_prose(column, MOST_CATEGORIES) else "category"


def is_ready(X: pd.DataFrame) -> bool:
    """Whether every column has plain numbers and none is missing."""
    plain = all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in X.dtypes)
    return plain and not any(X.iloc[:, place].isna().any() for place in range(X.shape[1]))


def _encoder_of(X: pd.DataFrame, texts: Collection[Any]) -> TableEncoder:
    names = list(X.columns)
    unique_names(names)
    keys: Iterable[Any] = names if all(isinstance(name, str) for name in names) else range(len(names))
    by_kind: dict[str, list[Any]] = {"number": [], "category": [], "text": []}
    for key, name in zip(keys, names):
        by_kind[kind_of_column(X[name], texts)].append(key)
    return TableEncoder(by_kind["number"], by_kind["category"], by_kind["text"])


def _column(X: pd.DataFrame, key: Any) -> pd.Series[Any]:
    return X[key] if isinstance(key, str) else X.iloc[:, key]


def _median(values: Floats) -> float:
    """The median of the known values, 0 if there are none."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else 0.0


def _is_numeric(column: pd.Series[Any]) -> bool:
    """Whether a column is a quantity: numbers, booleans or times; also numbers of type object."""
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return False
    if types.is_object_dtype(kind):
        inferred = types.infer_dtype(column, skipna=True)
        return inferred in ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty")
    return bool(types.is_numeric_dtype(kind) or types.is_bool_dtype(kind) or kind.kind in "Mm")


# Columns of texts: as a series of strings, or as numbers that are learned inside each fit


LEAST_WORDS, LEAST_TEXTS = 3.0, 20
LOOKED_AT = 1_000
DIMENSIONS = 100
"""As scikit-learn's user guide recommends for latent semantic analysis."""


def is_prose(column: pd.Series[Any], beyond: int) -> bool:
    """Whether a column has texts of several words on average, most of them different or more than `beyond` of them.

    >>> is_prose(pd.Series([f"please play song number {i}" for i in range(9)]), beyond=5)
    True
    >>> is_prose(pd.Series(["in the north", "in the south"] * 20), beyond=5)
    False
    >>> is_prose(pd.Series([f"song {i}" for i in range(9)]), beyond=5)
    False
    """
    if isinstance(column.dtype, pd.CategoricalDtype) or types.infer_dtype(column, skipna=True) != "string":
        return False
    known = column.dropna()
    words = known.iloc[:LOOKED_AT].astype(object).map(lambda text: len(text.split()))
    if not len(words) or words.mean() < LEAST_WORDS:
        return False
    different = known.nunique()
    return bool(different > beyond or different >= max(LEAST_TEXTS, known.size / 2))


def first_strings(X: pd.DataFrame) -> pd.Series[Any]:
    """The first column as strings, as vectorizers of text take it; missing texts are empty."""
    return _strings(X.iloc[:, 0])


class TextNumbers(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Texts as at most `DIMENSIONS` numbers: TF-IDF of words, reduced by a singular value decomposition."""

    def fit(self, column: pd.Series[Any], y: Any = None) -> TextNumbers:
        """Learn words that occur in two texts, their weights and directions; without such words, a column of zeros."""
        self.vectorizer_: TfidfVectorizer | None = TfidfVectorizer(
            sublinear_tf=True, min_df=2, token_pattern=r"(?u)\b\w+\b"
        )
        self.svd_: TruncatedSVD | None = None
        self.width_ = 1
        try:
            weights = self.vectorizer_.fit_transform(_strings(column))
        except ValueError:
            self.vectorizer_ = None
            return self
        self.width_ = weights.shape[1]
        if self.width_ > DIMENSIONS:
            self.svd_ = TruncatedSVD(DIMENSIONS, random_state=0).fit(weights)
            self.width_ = self.svd_.components_.shape[0]  # fewer where there are fewer texts
        return self

    def transform(self, column: pd.Series[Any]) -> Floats:
        """One row of numbers per text."""
        if self.vectorizer_ is None:
            return np.zeros((len(column), 1))
        weights = self.vectorizer_.transform(_strings(column))
        return np.asarray(weights.toarray() if self.svd_ is None else self.svd_.transform(weights), dtype=float)


def _strings(column: pd.Series[Any]) -> pd.Series[Any]:
    return column.astype(object).where(column.notna(), "")
