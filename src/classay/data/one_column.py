"""What one column alone predicts: a small tree on its numbers, or the classes that its values had, cross-fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..arrays import Floats, Ints
from ..estimators.encoder import as_levels, as_numbers, kind_of_column
from ..estimators.fit import guard
from .labelled_table import class_weights

PRIOR = 1.0
"""Rows that the shares of all classes count for, besides the rows of a value."""


def predicted_by_column(column: pd.Series[Any], codes: Ints, size: int, fold_of_row: Ints, seed: int) -> Ints | None:
    """The class that the column alone predicts for each row, with every class counting the same; None for texts.

    Numbers by a small and a larger tree. Values that repeat also by the classes which they had in the other folds: a
    column of names or codes has no order. The best of them counts.
    """
    kind = kind_of_column(column)
    if kind == "text":
        return None
    made = []
    levels = as_levels(column)[0].astype(np.int64)
    repeats = int(levels.max()) + 1 <= codes.size / 2
    if kind == "number":
        made += [_by_tree(as_numbers(column), codes, size, leaves, fold_of_row, seed) for leaves in (1, 8)]
    if kind == "category" or (repeats and column.dtype.kind in "iub"):
        made.append(_by_value(levels, codes, size, fold_of_row))
    weights = class_weights(codes, size)
    return max(made, key=lambda each: float(((each == codes) * weights).mean()))


def _by_tree(values: Floats, codes: Ints, size: int, leaves: int, fold_of_row: Ints, seed: int) -> Ints:
    """A tree with so many leaves for each class."""
    from sklearn.tree import DecisionTreeClassifier

    known = values[~np.isnan(values)]
    # Missing is a value of its own: it may be what tells.
    filled = np.where(np.isnan(values), (known.min() if known.size else 0.0) - 1.0, values)[:, None]
    predicted = np.empty(codes.size, dtype=np.int64)
    for fold in np.unique(fold_of_row):
        here, rest = fold_of_row == fold, fold_of_row != fold
        tree = DecisionTreeClassifier(
            max_leaf_nodes=leaves * size, min_samples_leaf=3, class_weight="balanced", random_state=seed % 2**32
        )
        with guard():  # scikit-learn warns of many classes, once a tree
            predicted[here] = tree.fit(filled[rest], codes[rest]).predict(filled[here])
    return predicted


def _by_value(levels: Ints, codes: Ints, size: int, fold_of_row: Ints) -> Ints:
    predicted = np.empty(codes.size, dtype=np.int64)
    for fold in np.unique(fold_of_row):
        here, rest = fold_of_row == fold, fold_of_row != fold
        counts = np.full((int(levels.max()) + 1, size), PRIOR / size)
        np.add.at(
            counts,
            (levels[rest], codes[rest]),
            1 / np.maximum(np.bincount(codes[rest], minlength=size), 1)[codes[rest]] * rest.sum() / size,
        )
        predicted[here] = counts[levels[here]].argmax(axis=1)
    return predicted
