"""Quick models of labelled rows, cross-validated: the one place in which checks of a data set fit anything.

The checks (`leaks`, `dependence`, `shift`) compare a model with itself on other columns, other folds or other labels.
So any learner will do: by default a forest, which needs no scaling and finds rules of every shape; of one column alone,
small trees and the classes that each value had. `skill` says how much of what is possible predictions reach.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ... import seeds
from ...arrays import Floats, Ints
from ...estimators.encoder import as_levels, as_numbers, encoded, kind_of_column, numbers
from ...estimators.fit import fit_once, guard
from ...estimators.scores import fit_scorer
from ...expect import InputError, unique_names
from ...frames import pandas_of
from ...inputs import encode, is_sparse, names_of_columns
from ...intervals import Estimate, around
from ...splits import by_other_folds, sorted_by_class
from ...tables.data import Data

BLOCKS = 50
"""Consecutive rows of a class are cut into this many blocks, which are dealt to folds: so blocks of every part of the
file remain to train on, and what changes slowly along it does no harm."""
FOLDS = 5
TREES, TREES_OF_PARTS = 30, 60
LEAST_EVENTS = 10
"""Rows that a class needs to count."""
PRIOR = 1.0
"""Rows that the shares of all classes count for, besides the rows of a value."""


def table_of_rows(X: Any, name: str = "X", texts: bool = False) -> pd.DataFrame:
    """Rows as a DataFrame with its own row numbers; columns without names are x0, x1, … Without texts, or with them."""
    if is_sparse(X):
        raise InputError(
            f"`{name}` is a sparse matrix; expected a DataFrame or array. Use {name}.toarray() if it fits."
        )
    rows = pandas_of(X, name)
    if not isinstance(rows, pd.DataFrame):
        array = np.asarray(rows)
        if array.ndim != 2:
            raise InputError(f"`{name}` has shape {array.shape}; expected a table of (rows, columns).")
        rows = pd.DataFrame(array, columns=list(names_of_columns(array, array.shape[1])))
    if 0 in rows.shape:
        raise InputError(f"`{name}` has shape {rows.shape}; expected at least one row and one column.")
    unique_names(rows.columns, f"`{name}`")
    rows = rows.rename(columns=str).reset_index(drop=True)
    for column in rows.columns:
        values = rows[column]
        if values.dtype.kind == "f" and np.isinf(values.to_numpy(dtype=float, na_value=np.nan)).any():
            raise InputError(f"The column {column!r} of `{name}` contains infinity. Replace it, or drop its rows.")
    written = [column for column in rows.columns if kind_of_column(rows[column]) == "text"]
    if len(written) == rows.shape[1]:
        raise InputError(f"`{name}` has texts only; expected a column of numbers or categories. Embed texts first.")
    return rows if texts else rows.drop(columns=written)


def left_out(X: Any, kept: Container[str]) -> tuple[str, ...]:
    """The columns of a table that another one lacks."""
    return tuple(name for name in map(str, getattr(X, "columns", ())) if name not in kept)


def labelled_rows(X: Any, y: ArrayLike, groups: Any = None, least: int = 20) -> Data:
    """Checked rows, labels and groups; at least `least` rows and two classes."""
    data = Data.of(table_of_rows(X), y, groups=groups)
    if len(data) < least:
        raise InputError(f"`X` has {len(data)} rows; at least {least} are needed. Add rows.")
    return data


def without(data: Data, columns: list[str]) -> Data:
    """The rows without some columns."""
    return replace(data, X=data.X.drop(columns=columns))


def even_sample(codes: Ints, most: int, seed: int) -> Ints:
    """At most so many rows, in order, as evenly over the classes as they allow."""
    by_class = sorted_by_class(codes, seeds.generator(seed, "even sample"))
    return np.sort(by_class[np.argsort(place_in_class(codes[by_class]), kind="stable")[:most]])


def stretches(rows: int, most: int) -> Ints:
    """All rows, or stretches of consecutive rows at even steps, one for each block."""
    if rows <= most:
        return np.arange(rows)
    length = most // BLOCKS
    starts = (np.arange(BLOCKS) * rows / BLOCKS).astype(np.int64)
    return (starts[:, None] + np.arange(length)).ravel()


def of_groups(groups: Ints, seed: int, most: int) -> Ints:
    """All rows, or those of groups drawn at random until there are so many; of large groups, some rows."""
    generator = seeds.generator(seed, "whole groups")
    names, codes = np.unique(groups, return_inverse=True)
    drawn = generator.permutation(groups.size)
    rows = drawn[place_in_class(codes[drawn]) < max(most // min(names.size, BLOCKS), 1)] if drawn.size > most else drawn
    order = generator.permutation(names.size)
    sizes = np.bincount(codes[rows], minlength=names.size)[order]
    chosen = order[: max(int(np.searchsorted(np.cumsum(sizes), most, side="right")), 1)]
    return np.sort(rows[np.isin(codes[rows], chosen)])


def place_in_class(codes: Ints) -> Ints:
    """How many rows of its class are before each row."""
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    place = np.empty(codes.size, dtype=np.int64)
    place[order] = np.arange(codes.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return place


def as_points(X: pd.DataFrame) -> Floats:
    """The rows as numbers, missing values by medians, categories as indicators."""
    return np.asarray(numbers(X).to_numpy(dtype=float))


def class_weights(codes: Ints, size: int) -> Floats:
    """A weight for each row with which every class that is present counts the same; their mean is 1."""
    counts = np.bincount(codes, minlength=size)
    return np.asarray(codes.size / (np.count_nonzero(counts) * counts[codes]), dtype=float)


def predicted(data: Data, learner: Any, fold_of_row: Ints, seed: int, tick: Callable[[], None] = lambda: None) -> Ints:
    """The code that a fit without the fold of a row predicts for it. A fold that leaves one class predicts that."""
    if learner is None:
        from sklearn.ensemble import RandomForestClassifier

        learner = RandomForestClassifier(TREES)
    ready = encoded(learner, data.X)

    def of_fold(fold: int, rest: Ints, here: Ints) -> Ints:
        known = np.unique(data.codes[rest])
        if known.size < 2:
            return np.full(here.size, known[0] if known.size else 0, dtype=np.int64)
        fitted = fit_scorer(ready, data.X.iloc[rest], data.classes[data.codes[rest]], seed, fold)
        tick()
        return encode(fitted.predict(data.X.iloc[here]), data.classes)

    return by_other_folds(fold_of_row, of_fold)


def predicted_by_column(column: pd.Series[Any], codes: Ints, size: int, fold_of_row: Ints, seed: int) -> Ints | None:
    """The class that the column alone predicts for each row, with every class counting the same; None for texts.

    Numbers by a small and a larger tree. Values that repeat also by the classes which they had in the other folds: a
    column of names or codes has no order. The best of them counts.
    """
    kind = kind_of_column(column)
    if kind == "text":
        return None
    predictions = []
    levels = as_levels(column)[0].astype(np.int64)
    repeats = int(levels.max()) + 1 <= codes.size / 2
    if kind == "number":
        predictions += [_by_tree(as_numbers(column), codes, size, leaves, fold_of_row, seed) for leaves in (1, 8)]
    if kind == "category" or (repeats and column.dtype.kind in "iub"):
        predictions.append(_by_value(levels, codes, size, fold_of_row))
    weights = class_weights(codes, size)
    return max(predictions, key=lambda predicted: float(((predicted == codes) * weights).mean()))


def _by_tree(values: Floats, codes: Ints, size: int, leaves: int, fold_of_row: Ints, seed: int) -> Ints:
    """A tree with so many leaves for each class."""
    from sklearn.tree import DecisionTreeClassifier

    known = values[~np.isnan(values)]
    # Missing is a value of its own: it may be what tells.
    filled = np.where(np.isnan(values), (known.min() if known.size else 0.0) - 1.0, values)[:, None]
    tree = DecisionTreeClassifier(
        max_leaf_nodes=leaves * size, min_samples_leaf=3, class_weight="balanced", random_state=seed % 2**32
    )
    with guard():  # scikit-learn warns of many classes, once a tree
        return by_other_folds(
            fold_of_row, lambda _, rest, here: fit_once(tree, filled[rest], codes[rest]).predict(filled[here])
        )


def _by_value(levels: Ints, codes: Ints, size: int, fold_of_row: Ints) -> Ints:
    """The class that was most frequent, as a share of its rows, among those with the same value."""

    def of_fold(_: int, rest: Ints, here: Ints) -> Ints:
        counts = np.full((int(levels.max()) + 1, size), PRIOR / size)
        weights = 1 / np.maximum(np.bincount(codes[rest], minlength=size), 1)[codes[rest]] * rest.size / size
        np.add.at(counts, (levels[rest], codes[rest]), weights)
        return np.asarray(counts[levels[here]].argmax(axis=1))

    return by_other_folds(fold_of_row, of_fold)


def scores_of_part(points: Floats, part: Ints, fold_of_row: Ints, seed: int, tick: Callable[[], None]) -> Floats:
    """How likely each row is of part 1 and not 0, by a forest without its fold; NaN if that leaves one part alone."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(TREES_OF_PARTS, min_samples_leaf=3, class_weight="balanced", n_jobs=1)

    def of_fold(fold: int, rest: Ints, here: Ints) -> Floats:
        if np.unique(part[rest]).size < 2:
            return np.full(here.size, np.nan)
        (state,) = seeds.integers(seed, "two samples", fold, count=1)
        fitted = fit_once(forest, points[rest], part[rest], {"random_state": state})
        tick()
        return np.asarray(fitted.estimator.predict_proba(points[here])[:, 1])

    with guard():
        return by_other_folds(fold_of_row, of_fold)


def skill(predicted: Ints, codes: Ints, size: int) -> Estimate:
    """Balanced accuracy above chance, as a share of what is possible, with its interval over rows of each class.

    (balanced accuracy − 1/k) / (1 − 1/k), for the k classes that have enough rows.
    """
    recalls = [(predicted[codes == code] == code).astype(float) for code in range(size)]
    enough = [right for right in recalls if right.size >= LEAST_EVENTS]
    recalls = enough if len(enough) > 1 else [right for right in recalls if right.size]
    k = len(recalls)
    mean = float(np.mean([right.mean() for right in recalls]))
    # One row more that is wrong, in each class: an error of 0 is not certain.
    shares = [(right.sum() + 0.5, right.size + 1) for right in recalls]
    error = np.sqrt(sum(right / n * (1 - right / n) / n for right, n in shares)) / k
    chance = 1 / max(k, 2)
    estimate = around((mean - chance) / (1 - chance), float(error) / (1 - chance), 0.95, "over rows of each class")
    return replace(estimate, high=min(estimate.high, 1.0))
