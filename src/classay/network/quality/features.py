"""`feature_quality`: do features of a class point in one direction, and those of different classes apart? With data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ...arrays import Floats
from ...expect import InputError, shown
from ...result import Result
from ..cosines import EDGES, Cosines, array_of, cosines, finite_rows, unit
from ..prototypes.prototypes import Prototypes
from .head import HeadQuality, head_quality

MOST_PAIRS = 5_000
"""Maximum number of pairs of classes that are listed: all of them up to 100 classes."""
MUCH_LARGER = 100.0
BLOCK = 4096
"""Prototypes whose scores are in memory at once."""


@dataclass(frozen=True)
class FeatureQuality(Result, chart="network:FEATURES"):
    """How features of labelled rows are arranged.

    `within` is M_in, mean cosine of pairs of one class: 1: all have the same direction. `between` is M_bt, 1 − the mean
    cosine with the means of other classes: 0: classes are not separated, 1: at right angles. `accuracy_bounds` are the
    paper's, lower and upper. `per_class` and `per_pair` (closest pairs first) show which classes are close; `cosines`
    (c, c) are those of class means; `distributions` counts cosines by kind. `head` is set if a head was given.
    """

    rows: int
    labels: tuple[str, ...]
    within: float
    within_std: float
    between: float
    between_std: float
    accuracy_bounds: tuple[float, float]
    nonnegative: bool
    per_class: pd.DataFrame
    per_pair: pd.DataFrame
    cosines: Floats
    distributions: pd.DataFrame
    head: HeadQuality | None
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per figure."""
        names = ["within", "within_std", "between", "between_std", "lower_bound", "upper_bound"]
        values = [self.within, self.within_std, self.between, self.between_std, *self.accuracy_bounds]
        return pd.DataFrame({"figure": names, "value": values})

    def __str__(self) -> str:
        first = self.per_pair.iloc[0]
        text = (
            f"Features of {self.rows} rows of {len(self.labels)} classes: cosine {self.within:.3f} within classes "
            f"(M_in), separation {self.between:.3f} between them (M_bt). Closest are {first['first']} and "
            f"{first['second']} (cosine {first['cosine']:.3f}). The paper's bounds on accuracy are "
            f"{self.accuracy_bounds[0]:.2f} to {self.accuracy_bounds[1]:.2f}."
        )
        return " ".join([text, *self.notes])


def feature_quality(features: ArrayLike, labels: ArrayLike, head: ArrayLike | None = None) -> FeatureQuality:
    """Measure how close features of one class are and how far apart those of different classes.

    M_in = mean over classes of the mean cosine of pairs; M_bt = 1 − mean cosine of a row with the mean unit feature of
    another class. Both are 1 for features that are the same in a class and at right angles between classes, as in a
    fully trained network; M_bt is 0 if all features have the same direction.

    It misleads as an accuracy: the paper's bounds, M_in − 2·std above and M_bt − 2·std below, were derived for
    non-negative features (after a ReLU) and fail for many networks. Features of training rows look better than those of
    new rows.

    Parameters
    ----------
    features : (rows, d), the inputs of the head, as returned by `split(...).features(x)`
    labels : (rows,) the class of each
    head : (classes, d) the head's weight, to be measured too

    Examples
    --------
    >>> q = feature_quality([[1, 0], [2, 0], [0, 1], [0, 3]], ["cat", "cat", "dog", "dog"])
    >>> q.within, q.between, q.accuracy_bounds
    (1.0, 1.0, (1.0, 1.0))

    References
    ----------
    Dean & Sarkar, Novel Deep Neural Network Classifier Characterization Metrics with Applications to Dataless
    Evaluation (2024), equations 6 and 7.

    """
    rows = finite_rows(features, "features", "(rows, d), the inputs of the head flattened", "Drop them.")
    row_labels = _labels(labels, len(rows))
    classes, codes = np.unique(row_labels, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"`labels` has 1 class ({classes[0]!s}); at least 2 are needed to compare.")
    counts = np.bincount(codes)
    if (counts < 2).all():
        raise InputError("No class has 2 rows, so none has pairs to compare. Pass more rows per class.")
    measured = cosines(rows, codes, len(classes))
    names = tuple(str(one) for one in classes)
    notes = []
    if (counts < 2).any():
        notes.append(f"There is only one row of {shown(np.array(names)[counts < 2], 5)}, so M_in is unknown for it.")
    notes += [note] if (note := sign_note(rows)) else []
    if (zeros := int((~rows.any(axis=1)).sum())) > 0:
        notes.append(f"{zeros} features are all zero; their cosine counts as 0.")
    return FeatureQuality(
        rows=len(rows),
        labels=names,
        within=measured.m_in,
        within_std=measured.within_std,
        between=1 - measured.cs_bt,
        between_std=measured.between_std,
        accuracy_bounds=measured.bounds,
        nonnegative=bool((rows >= 0).all()),
        per_class=per_class(measured, names).assign(rows=counts),
        per_pair=per_pair(measured.class_cosines(), names),
        cosines=measured.class_cosines(),
        distributions=distributions(measured),
        head=None if head is None else head_quality(head),
        notes=tuple(notes),
    )


def cosine_figures(measured: Cosines) -> dict[str, float]:
    """The paper's figures of some features: M_in and M_bt with the spreads of their cosines, and its bounds."""
    lower, upper = measured.bounds
    spreads = {"within_std": measured.within_std, "between_std": measured.between_std}
    return {"within": measured.m_in, "between": 1 - measured.cs_bt, **spreads, "lower": lower, "upper": upper}


def per_class(measured: Cosines, names: tuple[str, ...]) -> pd.DataFrame:
    """One row per class: its cosine within, its separation from the others, and the closest class."""
    pairs = measured.class_cosines()
    np.fill_diagonal(pairs, -np.inf)
    nearest = pairs.argmax(axis=1)
    return pd.DataFrame(
        {
            "class": names,
            "within": measured.within,
            "between": 1 - measured.between,
            "nearest": [names[one] for one in nearest],
            "cosine": pairs.max(axis=1),
        }
    )


def per_pair(pairs: Floats, names: tuple[str, ...]) -> pd.DataFrame:
    """Pairs of classes by the cosine of their means, closest first; the closest 5,000 if there are more."""
    first, second = np.triu_indices(len(pairs), 1)
    values = pairs[first, second]
    order = np.argsort(-values, kind="stable")[:MOST_PAIRS]
    one, other = ([names[place] for place in side[order]] for side in (first, second))
    return pd.DataFrame({"first": one, "second": other, "cosine": values[order]})


def distributions(*measured: Cosines) -> pd.DataFrame:
    """How many cosines are in each bin: kind (within, between), low, high, count."""
    counts = np.sum([[each.within_histogram, each.between_histogram] for each in measured], axis=0)
    kinds = np.repeat(["within", "between"], counts.shape[1])
    low, high = np.tile(EDGES[:-1], 2), np.tile(EDGES[1:], 2)
    return pd.DataFrame({"kind": kinds, "low": low, "high": high, "count": counts.ravel()})


def sign_note(features: NDArray[np.floating]) -> str:
    """A note on features below zero, or nothing."""
    if (features >= 0).all():
        return ""
    return (
        f"{(features < 0).mean():.0%} of the feature values are below 0: the paper's bounds were derived for features "
        "after a ReLU and were not shown to hold here."
    )


def _labels(labels: Any, n: int) -> NDArray[Any]:
    values = np.asarray(array_of(labels))
    if values.shape != (n,):
        raise InputError(f"`labels` has shape {values.shape}; expected ({n},), one label per row of `features`.")
    if pd.isna(values).any():
        raise InputError("`labels` has missing values; every row needs a label. Drop those rows.")
    return values.astype(str) if values.dtype.kind == "O" else values


def definition_1(record: Prototypes, targets: NDArray[np.integer]) -> pd.DataFrame:
    """Definition 1 of the paper, class by class: is there a feature for which the head is well trained?

    A head with rows W_i is well trained if every class l has a feature v with

    - condition 2: exp(W_l·v) much larger than exp(W_i·v) for all other i, here at least a hundred times;
    - condition 3: exp(W_i·v) ≤ 1, so W_i·v ≤ 0, for all other i.

    Condition 2 is enough for a correct prediction; condition 3 is stronger, and leads the paper to rows at right angles
    and features parallel to their row, cos(W_l, v) near 1. The features tried are those of prototypes. Biases do not
    enter. One row per class walked to, in order of `targets`.

    `margin`: the largest W_l·v − max W_i·v over its prototypes; `largest_other`: max W_i·v at the prototype where it is
    smallest among those that meet condition 2, or among all if none does; `condition_2`, `condition_3`: whether one
    prototype meets it, the latter together with condition 2; `row_cosine`: cos(W_l, v) of the mean feature.
    """
    weight = record.weight.astype(float)
    margin = np.full(len(targets), -math.inf)
    smallest = np.full((2, len(targets)), math.inf)  # without and with condition 2
    sums = np.zeros((len(targets), weight.shape[1]))
    places = np.searchsorted(targets, record.target)
    for first in range(0, len(record), BLOCK):
        rows = slice(first, first + BLOCK)
        features, place, own = record.features[rows].astype(float), places[rows], record.target[rows]
        scores = features @ weight.T
        mine = scores[np.arange(len(own)), own]
        scores[np.arange(len(own)), own] = -math.inf
        largest = scores.max(axis=1)
        np.maximum.at(margin, place, mine - largest)
        np.minimum.at(smallest[0], place, largest)
        meets = mine - largest >= math.log(MUCH_LARGER)
        np.minimum.at(smallest[1], place[meets], largest[meets])
        np.add.at(sums, place, features)
    condition_2 = margin >= math.log(MUCH_LARGER)
    return pd.DataFrame(
        {
            "margin": margin,
            "largest_other": np.where(condition_2, smallest[1], smallest[0]),
            "condition_2": condition_2,
            "condition_3": condition_2 & (smallest[1] <= 0),
            "row_cosine": (unit(sums) * unit(weight[targets])).sum(axis=1),
        }
    )
