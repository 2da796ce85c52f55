"""`n_neighbors` of nearest neighbours: one search for the most neighbours, and cumulative votes from near to far.

Among training rows at the same distance, which ones are taken depends on the search and on k. If such a tie crosses the
k-th place and its rows differ in class, a search for k itself decides, so that the prediction is that of a separate
fit. Trees search row by row, so only those rows are searched again; brute force searches all again, which saves little
on integer data with many columns, where ties are everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_array
from sklearn.utils.extmath import row_norms

from ....arrays import AnyInts
from ....inputs import take
from .shared import SharedPath, ascending, fitted, register

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]
METRICS = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev")
"""Metrics with a known rounding error."""


@register
class RunningVotes(SharedPath):
    """k nearest neighbours, each with one vote or with one that falls with its distance."""

    LEARNERS: ClassVar = {KNeighborsClassifier: ("n_neighbors",)}
    KIND, EXACT = "one neighbour search, running votes", True

    @classmethod
    def holds(cls, learner: Any) -> bool:
        plain = learner.metric in METRICS and learner.metric_params is None
        return bool(plain and learner.weights in ("uniform", "distance", None))

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """Search once, or twice: algorithm='auto' uses brute force from half of the rows up."""
        rows = X.shape[0]
        wanted = [value for value in ascending(values) if value <= rows]
        half = rows // 2 if learner.algorithm == "auto" else rows + 1
        for group in ([k for k in wanted if k < half], [k for k in wanted if k >= half]):
            if group:
                yield from _search(fitted(learner, param_name, group[-1], X, y), group, X, y, asked)


def _search(classifier: Any, wanted: list[int], X: Any, y: Any, asked: Any) -> Iterator[tuple[int, Any]]:
    """Labels for each of `wanted`, ascending; the classifier was fitted with the last."""
    rows = classifier.n_samples_fit_
    # One more than needed, to see a tie across the last place.
    distances, neighbours = classifier.kneighbors(asked, min(wanted[-1] + 1, rows))
    codes = np.unique(np.asarray(y), return_inverse=True)[1][neighbours]
    row_by_row = getattr(classifier, "_fit_method", "brute") != "brute"
    near = _near(distances, X, asked, row_by_row)
    unsure = _unsure(near, codes, distances.shape[1] < rows)
    weights = _weights(distances, classifier.weights)
    votes = np.zeros((codes.shape[0], len(classifier.classes_)))
    each = np.arange(codes.shape[0])
    for size in range(1, wanted[-1] + 1):
        votes[each, codes[:, size - 1]] += 1.0 if weights is None else weights[:, size - 1]
        if size not in wanted:
            continue
        labels = classifier.classes_.take(np.argmax(votes, axis=1), axis=0)
        again = unsure[:, size - 1] if size <= unsure.shape[1] else np.zeros(codes.shape[0], dtype=bool)
        if weights is not None:
            again = again | _even(votes)
        if again.any():
            classifier.set_params(n_neighbors=size)
            if row_by_row:
                labels[again] = classifier.predict(take(asked, np.flatnonzero(again)))
            else:
                # In a product of other matrices, distances may be rounded differently.
                labels = classifier.predict(asked)
        yield size, labels


def _near(distances: Floats, X: Any, asked: Any, direct: bool) -> Bools:
    """Whether each neighbour and the next are equally far, within rounding.

    Distances that are not computed directly come from |a|² − 2ab + |b|², whose rounding goes with |a|² + |b|².
    """
    data, queries = (check_array(part, accept_sparse="csr") for part in (X, asked))
    kind = np.float32 if np.float32 in (data.dtype, queries.dtype) else np.float64
    rounding = 16 * data.shape[1] * float(np.finfo(kind).eps)
    here, following = distances[:, :-1].astype(float), distances[:, 1:].astype(float)
    near: Bools = following - here <= rounding * following
    if not direct:
        reach = sum(float(row_norms(part.astype(float), squared=True).max()) for part in (data, queries))
        near |= following**2 - here**2 <= rounding * reach
    return near


def _unsure(near: Bools, codes: AnyInts, more: bool) -> Bools:
    """Whether the choice of neighbours up to each place is open and matters: a tie across it with several classes.

    `near[:, j]` compares places j and j + 1; `more` says that there are neighbours beyond the last place.
    """
    rows, places = codes.shape
    # Neighbours that are tied in a chain have the same number.
    chain = np.cumsum(~near, axis=1) + places * np.arange(rows)[:, None]
    differ = near & (codes[:, 1:] != codes[:, :-1])
    mixed = np.bincount(chain.ravel(), weights=differ.ravel(), minlength=rows * places) > 0
    if more:
        mixed[chain[:, -1]] = True  # its end was not searched
    return np.asarray(near & mixed[chain])


def _weights(distances: Floats, kind: str | None) -> Floats | None:
    """The weight of each neighbour, or None where all are 1; at distance 0 only those there count."""
    if kind != "distance":
        return None
    with np.errstate(divide="ignore"):
        weights: Floats = 1.0 / distances
    touching = np.isinf(weights)
    return np.where(touching.any(axis=1, keepdims=True), touching, weights)


def _even(votes: Floats) -> Bools:
    """Whether the two classes with most votes are practically tied, so that the order of addition decides."""
    if votes.shape[1] < 2:
        return np.zeros(votes.shape[0], dtype=bool)
    second, first = np.partition(votes, -2, axis=1)[:, -2:].T
    return np.asarray(first - second <= 1e-10 * first)
