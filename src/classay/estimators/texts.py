"""Columns of texts for learners: as a series of strings, or as numbers that are learned inside each fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from ..arrays import Floats

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


class TextColumn(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A table of one column as a series of strings, as vectorizers of text take it; missing texts are empty."""

    def fit(self, X: Any, y: Any = None) -> TextColumn:
        """Learn nothing."""
        return self

    def transform(self, X: pd.DataFrame) -> pd.Series[Any]:
        """The first column."""
        return _strings(X.iloc[:, 0])

    def __sklearn_is_fitted__(self) -> bool:
        return True


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
