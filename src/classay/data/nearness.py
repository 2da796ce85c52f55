"""Which rows are near each other: columns on one scale, and the nearest rows, without rows that are ruled out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .. import seeds
from ..arrays import Floats, Ints, Mask

FARTHEST = 5.0
"""Values farther from the median than this many robust standard deviations count as that far."""
MOST_COLUMNS = 200
"""More columns are replaced by this many random sums of them, which keep distances to within about a tenth."""
BLOCK = 4_000_000
"""Distances that are held at once."""

Points = NDArray[np.float32]


def scaled(rows: Floats, seed: int) -> Points:
    """Columns with median 0 and robust spread 1, without far outliers; constant ones are dropped.

    The spread is the interquartile range of a normal distribution, or the standard deviation where that is 0.
    """
    middle = np.median(rows, axis=0)
    low, high = np.percentile(rows, [25, 75], axis=0)
    spread = np.where(high > low, (high - low) / 1.349, rows.std(axis=0))
    kept = spread > 0
    points = np.clip((rows[:, kept] - middle[kept]) / spread[kept], -FARTHEST, FARTHEST)
    if points.shape[1] > MOST_COLUMNS:
        sums = seeds.generator(seed, "random sums").normal(size=(points.shape[1], MOST_COLUMNS))
        points = points @ sums / np.sqrt(MOST_COLUMNS)
    return np.asarray(points, dtype=np.float32)


def distances(points: Points, queries: Ints, groups: Ints | None = None) -> Iterator[tuple[Ints, Points]]:
    """Blocks of queries with their squared distances to all rows; infinite to themselves and to rows of their group."""
    squares = (points**2).sum(axis=1)
    step = max(1, BLOCK // max(len(points), 1))
    for start in range(0, queries.size, step):
        here = queries[start : start + step]
        table = np.maximum(squares[here, None] + squares[None, :] - 2 * points[here] @ points.T, 0)
        table[np.arange(here.size), here] = np.inf
        if groups is not None:
            table[groups[here, None] == groups[None, :]] = np.inf
        yield here, table


def nearest_ranks(table: Points, ranks: int) -> tuple[Ints, Floats]:
    """The nearest `ranks` rows of each query, nearest first, and their distances."""
    ranks = min(ranks, table.shape[1] - 1)
    some = np.argpartition(table, ranks - 1, axis=1)[:, :ranks]
    squared = np.take_along_axis(table, some, axis=1)
    order = np.argsort(squared, axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1), np.sqrt(np.take_along_axis(squared, order, axis=1).astype(float))


def nearest_is_alike(table: Points, here: Ints, codes: Ints, out: Callable[[Ints], Mask]) -> Mask:
    """Whether the nearest row has the label of the query, among rows that `out(queries)` does not rule out."""
    allowed = np.where(out(here), np.float32(np.inf), table)
    nearest = allowed.argmin(axis=1)
    known = np.isfinite(allowed[np.arange(here.size), nearest])
    return np.asarray((codes[nearest] == codes[here]) & known)


def even_sample(codes: Ints, most: int, seed: int) -> Ints:
    """At most so many rows, in order, as evenly over the classes as they allow."""
    generator = seeds.generator(seed, "even sample")
    order = generator.permutation(codes.size)
    by_class = order[np.argsort(codes[order], kind="stable")]
    counts = np.bincount(codes)
    rank = np.arange(codes.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(by_class[np.argsort(rank, kind="stable")[:most]])
