"""Which rows are near each other: columns on one scale, the nearest rows, kin among them, and blocks of near rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ... import seeds
from ...arrays import Floats, Ints
from ...estimators.fit import guard

FARTHEST = 5.0
"""Values farther from the median than this many robust standard deviations count as that far."""
MOST_COLUMNS = 200
"""More columns are replaced by this many random sums of them, which keep distances to within about a tenth."""
BLOCK = 4_000_000
"""Distances that are held at once."""

KIN = 10
"""Most neighbours of a row among which those of its group are counted."""
IMPROBABLE, EXPLAINED = 0.01, 0.02
"""A column differs between groups at this p-value, over all columns, if they explain this share of its variance."""
BLOCK_ROWS = 20
"""Rows of a block of near rows, and least number of blocks."""
OFTEN, LEAST_VALUES = 0.2, 50
"""A column is continuous if no value has a larger share of the rows than this, and it has at least so many values."""
LEAST_STEPS, STEP = 5, 0.6
"""Values of a measurement: at least so many steps between them, and this share of the variance between all in each."""

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


def by_nearest(
    points: Points, queries: Ints, codes: Ints, known: Ints | None, groups: Ints, folds: Sequence[Ints]
) -> list[Floats]:
    """For each way to fold, whether the nearest row outside its fold has the label of each query; and `_kinship`."""
    number = int(np.clip(groups.size / (2 * np.unique(groups).size * np.unique(codes).size), 1, KIN))
    parts = []
    for here, away in distances(points, queries, known):
        allowed = [np.where(fold[here, None] == fold, np.float32(np.inf), away) for fold in folds]
        alike = [(codes[table.argmin(axis=1)] == codes[here]) & np.isfinite(table.min(axis=1)) for table in allowed]
        parts.append([*alike, _kinship(away, here, codes, groups, number)])
    return [np.concatenate(values).astype(float) for values in zip(*parts)]


def _kinship(table: Points, here: Ints, codes: Ints, groups: Ints, number: int) -> Floats:
    """Of the nearest `number` rows of its class, the share in the group of the query, minus that of all rows."""
    rivals = np.isfinite(table) & (codes[here, None] == codes)
    kin = (groups[here, None] == groups) & rivals
    nearest = np.argpartition(np.where(rivals, table, np.float32(np.inf)), number - 1, axis=1)[:, :number]
    among = np.take_along_axis(kin, nearest, axis=1).mean(axis=1)
    return np.asarray(among - kin.sum(axis=1) / np.maximum(rivals.sum(axis=1), 1))


def by_columns(points: Points, codes: Ints, groups: Ints) -> tuple[bool, bool]:
    """Whether one column differs between groups, within classes; and whether groups that follow each other are alike.

    The first by an analysis of variance of each column. The second if the variance from one group to the next is much
    smaller than that between all groups: the groups are then values of a measurement, and not names.
    """
    inside = points - _means(points, codes)[codes]
    means, sizes = _means(inside, groups), np.bincount(groups).astype(float)
    between, total = (sizes[:, None] * means**2).sum(axis=0), (inside**2).sum(axis=0)
    spare, more = len(points) - sizes.size - np.unique(codes).size + 1, sizes.size - 1
    if spare < 1 or more < 1:
        return True, False
    within = np.maximum(total - between, 1e-9) / spare
    chance = stats.f.sf(between / more / within, more, spare)
    is_told = (chance < IMPROBABLE / points.shape[1]) & (between - within * more > EXPLAINED * total)
    steps = (sizes[1:] * sizes[:-1] / (sizes[1:] + sizes[:-1])) @ np.diff(means, axis=0) ** 2
    noise = within.sum() * more
    is_ordered = more >= LEAST_STEPS and steps.sum() - noise < STEP * (between.sum() - noise)
    return bool(is_told.any()), bool(is_ordered)


def _means(points: Points | Floats, groups: Ints) -> Floats:
    sums = np.zeros((int(groups.max()) + 1, points.shape[1]))
    np.add.at(sums, groups, points)
    return np.asarray(sums / np.maximum(np.bincount(groups), 1)[:, None])


def continuous_columns(rows: Floats) -> list[int]:
    """The columns in which rows hardly ever have the same value: only these can say that rows are near."""
    kept = []
    for place in range(rows.shape[1]):
        _, counts = np.unique(rows[:, place], return_counts=True)
        if counts.size >= min(LEAST_VALUES, len(rows) // 4) and counts.max() <= OFTEN * len(rows):
            kept.append(place)
    return kept


def near_blocks(points: Points, seed: int) -> Ints:
    """The block of each row: about so many near rows, whether or not there is a gap around them."""
    from sklearn.cluster import KMeans

    number = max(len(points) // BLOCK_ROWS, min(len(points) // 5, BLOCK_ROWS))
    (state,) = seeds.integers(seed, "near blocks", count=1)
    with guard():
        return np.asarray(KMeans(number, n_init=1, max_iter=20, random_state=state).fit_predict(points), dtype=np.int64)
