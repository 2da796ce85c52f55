"""Which rows are near each other: columns on one scale, the nearest rows, and groups of rows.

Rows drawn one by one from a smooth distribution have no groups of rows that are much nearer to each other than to all
others: the (j+1)-th nearest row is r_{j+1}/r_j times as far as the j-th, and (r_{j+1}/r_j)^{-jd} is uniform on [0, 1],
where d is the local dimension. A ratio that this makes improbable is a gap, and the rows before it are the row's group.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components

from ... import seeds
from ...arrays import Floats, Ints, Mask
from ...estimators.fit import guard
from .quick_models import even_sample

FARTHEST = 5.0
"""Values farther from the median than this many robust standard deviations count as that far."""
MOST_COLUMNS = 200
"""More columns are replaced by this many random sums of them, which keep distances to within about a tenth."""
BLOCK = 4_000_000
"""Distances that are held at once."""

EXPLAINED, LEAST_ORDERED, ORDERED = 0.02, 5, 0.6
"""Share of a column's variance that groups must explain; and values of a measurement: at least so many steps, and from
one to the next this share of the variance between all."""

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


def nearest_is_alike(table: Points, here: Ints, codes: Ints, out: Mask) -> Mask:
    """Whether the nearest row has the label of the query, among rows that are not ruled `out`."""
    allowed = np.where(out, np.float32(np.inf), table)
    nearest = allowed.argmin(axis=1)
    known = np.isfinite(allowed[np.arange(here.size), nearest])
    return np.asarray((codes[nearest] == codes[here]) & known)


def kinship(table: Points, here: Ints, codes: Ints, groups: Ints, number: int) -> Floats:
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
    is_ordered = more >= LEAST_ORDERED and steps.sum() - noise < ORDERED * (between.sum() - noise)
    return bool(is_told.any()), bool(is_ordered)


def _means(points: Points, groups: Ints) -> Floats:
    sums = np.zeros((int(groups.max()) + 1, points.shape[1]))
    np.add.at(sums, groups, points)
    return np.asarray(sums / np.maximum(np.bincount(groups), 1)[:, None])


# Groups of near rows.


LARGEST = 48
"""Most neighbours in a group."""
BLOCK_ROWS = 20
"""Rows of a block where no gap shows groups, and least number of blocks."""
QUERIES = 800
IMPROBABLE = 0.01
"""A gap is as large as this share of rows has by chance, over all ranks."""
SHARE, EXCESS, ERRORS = 0.1, 0.05, 4.0
"""Share of rows that must have a gap; this share times how much more often neighbours before the gap share the label
than those behind it; and how many standard errors that must be."""
OFTEN, LEAST_VALUES = 0.2, 50
"""A column is continuous if no value has a larger share of the rows than this, and it has at least so many values."""


def continuous_columns(rows: Floats) -> list[int]:
    """The columns in which rows hardly ever have the same value: only these can say that rows are near."""
    kept = []
    for place in range(rows.shape[1]):
        _, counts = np.unique(rows[:, place], return_counts=True)
        if counts.size >= min(LEAST_VALUES, len(rows) // 4) and counts.max() <= OFTEN * len(rows):
            kept.append(place)
    return kept


def near_groups(points: Points, codes: Ints, groups: Ints | None, seed: int) -> Ints | None:
    """The group of each row, or None if few rows have one or its rows do not share labels more than the next ones.

    `points` has different rows only. Groups that are given are left out: rows of the same one are never compared.
    """
    ranks = min(2 * LARGEST + 10, len(points) // 4)
    queries = even_sample(codes, QUERIES, seed)
    if ranks < 8 or points.shape[1] == 0:
        return None
    gaps = _gaps(points, codes, queries, groups, ranks)
    if gaps is None:
        return None
    _, sizes, drops = gaps
    has = sizes > 0
    drops = drops[has]
    if has.mean() < SHARE or drops.size < 20:
        return None
    error = float(drops.std(ddof=1)) / np.sqrt(drops.size)
    if drops.mean() < max(EXCESS / has.mean(), ERRORS * error):
        return None
    everything = _gaps(points, codes, np.arange(len(points)), groups, ranks)
    return None if everything is None else _joined(*everything[:2])


def _joined(nearest: Ints, sizes: Ints) -> Ints:
    """Rows that are before each other's gap are in one group; a row without a gap is taken to have a usual one."""
    groups = _linked(nearest, np.where(sizes > 0, sizes, int(np.median(sizes[sizes > 0]))))
    # Where rows crowd, links form chains: then only clear gaps count.
    return groups if np.bincount(groups).max() <= 4 * LARGEST else _linked(nearest, sizes)


def _linked(nearest: Ints, sizes: Ints) -> Ints:
    rows = len(sizes)
    before = np.arange(nearest.shape[1]) < sizes[:, None]
    one, other = np.repeat(np.arange(rows), sizes), nearest[before]
    links = sparse.csr_array((np.ones(one.size, dtype=np.int8), (one, other)), shape=(rows, rows))
    _, names = connected_components(links.multiply(links.T), directed=False)
    return np.asarray(names, dtype=np.int64)


def _gaps(
    points: Points, codes: Ints, queries: Ints, groups: Ints | None, ranks: int
) -> tuple[Ints, Ints, Floats] | None:
    """For each query: its nearest rows, the number of them before its gap (0: none), and agreement of both sides."""
    blocks = [nearest_ranks(table, ranks) for _, table in distances(points, queries, groups)]
    nearest, away = (np.concatenate(parts) for parts in zip(*blocks))
    if not np.isfinite(away).all():
        return None
    away = np.maximum(away, 1e-12)
    # The dimension from the farther half of the ranks, where groups no longer matter.
    middle = ranks // 2
    growth = np.log(away[:, -1] / away[:, middle - 1]).mean() / np.log(ranks / middle)
    dimension = 1 / max(float(growth), 0.02)
    rank = np.arange(1, middle + 1)
    ratios = np.log(away[:, 1 : middle + 1] / away[:, :middle])
    # One group is never a class, nor a large part of the rows.
    own = np.bincount(codes)[codes[queries]]
    most = np.minimum(min(LARGEST, len(points) // 20), own // 4)
    chance = np.where(rank <= most[:, None], -ratios * rank * dimension, 0.0)
    gap = chance.argmin(axis=1)
    is_gap = chance[np.arange(queries.size), gap] < np.log(IMPROBABLE / middle)
    sizes = np.where(is_gap, gap + 1, 0)
    alike = np.cumsum(codes[nearest] == codes[queries, None], axis=1)
    before = alike[np.arange(queries.size), gap] / (gap + 1)
    last = np.minimum(2 * (gap + 1) + 4, ranks - 1)
    behind = (alike[np.arange(queries.size), last] - alike[np.arange(queries.size), gap]) / (last - gap)
    return nearest, sizes, before - behind


def near_blocks(points: Points, seed: int) -> Ints:
    """Blocks of about so many near rows, whether or not there is a gap around them."""
    from sklearn.cluster import KMeans

    number = max(len(points) // BLOCK_ROWS, min(len(points) // 5, BLOCK_ROWS))
    (state,) = seeds.integers(seed, "near blocks", count=1)
    with guard():
        return np.asarray(KMeans(number, n_init=1, max_iter=20, random_state=state).fit_predict(points), dtype=np.int64)
