"""What is searched for in a table: `BinaryOutcome`, true or not per row, or `RepeatedOutcome`, in several units.

Where rows of a group depend on each other, chance is judged by groups.

A search needs how much of the outcome is in a part of the rows and how clearly the part differs from the rest. A test
needs how likely chance alone gives as much.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import xlogy

from ..arrays import AnyInts, Floats, Mask
from ..intervals import Estimate, by_group, of_proportion, of_proportion_by_group, of_table
from ..splits import deal_groups

Rows = NDArray[np.int64]
ROUNDING = 1e-10
"""Differences of means between 0 and 1 below this are rounding."""


class Outcome(ABC):
    """An outcome between 0 and 1 in each of `n` rows, `total` in all."""

    n: int
    total: float
    dispersion: float
    searched: float = 0.5
    """The share of the rows that is searched; the others test."""

    @abstractmethod
    def at(self, rows: Rows) -> Outcome:
        """The outcome of some rows."""

    @abstractmethod
    def sums(self, keys: NDArray[Any], n_keys: int, rows: Rows | None = None) -> NDArray[Any]:
        """The sum of it for each key; `keys` are those of all rows, or of `rows`."""

    @abstractmethod
    def total_in(self, part: Mask) -> float:
        """The sum of it in a part of the rows."""

    @abstractmethod
    def k_log_k(self, counts: NDArray[Any]) -> Floats:
        """k·log k for sums of rows or of the outcome."""

    @abstractmethod
    def p_value(self, part: Mask, whole: Mask) -> float:
        """How likely chance alone gives a part of a whole as much, as a p-value."""

    @abstractmethod
    def rate(self, part: Mask, level: float) -> Estimate:
        """The mean outcome of a part."""

    @abstractmethod
    def split(self, generator: np.random.Generator) -> tuple[Rows, Rows]:
        """The rows to search and those to test, at random, with equal rates of the outcome as far as possible."""

    def ratio_from_counts(self, sizes: NDArray[Any], sums: NDArray[Any], n: Any = None, e: Any = None) -> Floats:
        """Twice the log-likelihood gained by a separate rate for each part; 0 if that is not above the rest's.

        n, e : rows of the whole, and the sum of the outcome in it; default all rows
        """
        h, n, e = self.k_log_k, np.int64(self.n) if n is None else n, self.total if e is None else e
        own = h(sums) + h(sizes - sums) - h(sizes)
        rest = h(e - sums) + h(n - e - sizes + sums) - h(n - sizes)
        gain = 2 * (own + rest - (h(np.asarray(e)) + h(np.asarray(n - e)) - h(np.asarray(n)))) / self.dispersion
        return np.where(sums * n > sizes * e, gain, 0.0)

    def likelihood_ratio(self, part: Mask, whole: Mask) -> float:
        """The likelihood ratio of a part of a whole against the rest of it; 0 if its rate is not higher."""
        counts = (count(rows) for rows in (part, whole) for count in (np.count_nonzero, self.total_in))
        return float(self.ratio_from_counts(*map(np.asarray, counts)))


class BinaryOutcome(Outcome):
    """True or not in each row. Chance by Fisher's exact test, rates with Wilson's interval.

    More rows search than test. To stand out among all boxes of two columns takes a likelihood ratio of about 20, to
    pass the test about 13 (power 80 %), and edges are as exact as the rows searched are many.
    """

    dispersion = 1.0
    searched = 0.6
    groups: AnyInts | None = None

    def __init__(self, values: Mask) -> None:
        self.values = values
        self.n, self.total = len(values), int(values.sum())
        # Precomputed for all whole numbers that may occur: a likelihood ratio needs eight of them.
        whole = np.arange(self.n + 1, dtype=float)
        self._k_log_k: Floats = xlogy(whole, whole)

    def at(self, rows: Rows) -> BinaryOutcome:
        return BinaryOutcome(self.values[rows])

    def sums(self, keys: NDArray[Any], n_keys: int, rows: Rows | None = None) -> NDArray[Any]:
        return np.bincount(keys[self.values if rows is None else self.values[rows]], minlength=n_keys)

    def total_in(self, part: Mask) -> int:
        return int(np.count_nonzero(part & self.values))

    def k_log_k(self, counts: NDArray[Any]) -> Floats:
        return self._k_log_k[counts.astype(np.int64)]

    def p_value(self, part: Mask, whole: Mask) -> float:
        size, n = int(np.count_nonzero(part)), int(np.count_nonzero(whole))
        return fisher_p_value(size, self.total_in(part), n, self.total_in(whole))

    def rate(self, part: Mask, level: float) -> Estimate:
        share = of_proportion(self.total_in(part), int(np.count_nonzero(part)), level)
        return replace(share, kind="of a proportion, rows not searched")

    def split(self, generator: np.random.Generator) -> tuple[Rows, Rows]:
        kinds = [generator.permutation(np.flatnonzero(self.values == value)) for value in (True, False)]
        sizes = [int(self.searched * len(rows)) for rows in kinds]
        first = np.concatenate([rows[:size] for rows, size in zip(kinds, sizes)])
        second = np.concatenate([rows[size:] for rows, size in zip(kinds, sizes)])
        return np.sort(first), np.sort(second)


class GroupedOutcome(BinaryOutcome):
    """True or not in each row, where rows of a group depend on each other.

    Chance is that of the difference of a part from the rest with the variance over groups, and Student's t with as many
    degrees of freedom as the fewer groups allow. No group is both searched and tested.
    """

    groups: AnyInts

    def __init__(self, values: Mask, groups: AnyInts) -> None:
        super().__init__(values)
        self.groups = groups

    def at(self, rows: Rows) -> GroupedOutcome:
        return GroupedOutcome(self.values[rows], self.groups[rows])

    def p_value(self, part: Mask, whole: Mask) -> float:
        rest = whole & ~part
        fewest = min(np.unique(self.groups[rows]).size for rows in (part, rest))
        if fewest < 2:
            return 1.0
        rates = [float(self.values[rows].mean()) for rows in (part, rest)]
        # Each row's share in the difference: one sum per group, because a group may have rows in both.
        pulls = np.zeros(self.n)
        for rows, rate, sign in zip((part, rest), rates, (1, -1)):
            pulls[rows] = sign * (self.values[rows] - rate) / np.count_nonzero(rows)
        _, codes = np.unique(self.groups[whole], return_inverse=True)
        by_group = np.bincount(codes, weights=pulls[whole])
        error = math.sqrt(float((by_group**2).sum()) * by_group.size / (by_group.size - 1))
        excess = rates[0] - rates[1]
        if error < ROUNDING:
            return 1.0 if excess < ROUNDING else 0.5**fewest
        return float(stats.t.sf(excess / error, fewest - 1))

    def rate(self, part: Mask, level: float) -> Estimate:
        share = of_proportion_by_group(self.values[part], self.groups[part], level)
        return replace(share, kind=f"{share.kind}, rows not searched")

    def split(self, generator: np.random.Generator) -> tuple[Rows, Rows]:
        return _split_groups(self.values.astype(np.int64), self.groups, self.searched, generator)


class RepeatedOutcome(Outcome):
    """A table of units x rows: what each unit, such as a split of the data, measured in each row.

    Rows share the units and units the rows, so chance is judged by units: the difference of a part from the rest in
    each of them, with the variance over units and over rows (or `groups` of rows), and Student's t. `values` are the
    means over units.
    """

    def __init__(self, table: Floats, groups: AnyInts | None = None) -> None:
        self.table, self.groups = table, groups
        self.values: Floats = table.mean(axis=0).clip(0.0, 1.0)
        self.n, self.total = len(self.values), float(self.values.sum())
        mean = self.total / self.n
        # Means over units vary less than single observations would, so the same excess is stronger evidence.
        self.dispersion = max(float(self.values.var()) / (mean * (1 - mean)), 1e-9) if 0 < mean < 1 else 1.0

    def at(self, rows: Rows) -> RepeatedOutcome:
        return RepeatedOutcome(self.table[:, rows], self._groups_at(rows))

    def _groups_at(self, rows: NDArray[Any]) -> AnyInts | None:
        return None if self.groups is None else self.groups[rows]

    def sums(self, keys: NDArray[Any], n_keys: int, rows: Rows | None = None) -> NDArray[Any]:
        return np.bincount(keys, weights=self.values if rows is None else self.values[rows], minlength=n_keys)

    def total_in(self, part: Mask) -> float:
        return float(self.values[part].sum())

    def k_log_k(self, counts: NDArray[Any]) -> Floats:
        # Sums in another order may miss 0 by rounding.
        positive = np.maximum(counts, 0.0)
        return np.asarray(xlogy(positive, positive), dtype=float)

    def p_value(self, part: Mask, whole: Mask) -> float:
        inside, rest = (by_group(self.table[:, rows], self._groups_at(rows)) for rows in (part, whole & ~part))
        units = len(self.table)
        if units < 2 or inside.shape[1] < 2 or rest.shape[1] < 2:
            return 1.0
        excess = inside.mean(axis=1) - rest.mean(axis=1)
        by_unit = float(excess.var(ddof=1)) / units
        by_row = residual_variance = 0.0
        for table in (inside, rest):
            means = table.mean(axis=0)
            residual = table - table.mean(axis=1, keepdims=True) - means + table.mean()
            by_row += float(means.var(ddof=1)) / means.size
            residual_variance += float((residual**2).sum()) / ((units - 1) * (means.size - 1)) / table.size
        error = math.sqrt(max(by_unit + by_row - residual_variance, by_unit, by_row))
        mean = float(excess.mean())
        if error < ROUNDING:
            # This many units cannot show more than that all of them point the same way.
            return 1.0 if mean < ROUNDING else 0.5**units
        fewest = units if self.groups is None else min(units, inside.shape[1], rest.shape[1])
        return float(stats.t.sf(mean / error, fewest - 1))

    def rate(self, part: Mask, level: float) -> Estimate:
        groups = self._groups_at(part)
        points = "points" if groups is None else "groups of points"
        return of_table(self.table[:, part], level, f"over refits and {points} not searched", groups)

    def split(self, generator: np.random.Generator) -> tuple[Rows, Rows]:
        if self.groups is not None:
            above = (self.values > np.median(self.values)).astype(np.int64)
            return _split_groups(above, self.groups, self.searched, generator)
        # Neighbours in the order of the outcome go to different halves.
        order = np.lexsort((generator.random(self.n), self.values))
        pairs = [generator.permutation(order[start : start + 2]) for start in range(0, self.n, 2)]
        first = np.sort([pair[0] for pair in pairs]).astype(np.int64)
        return first, np.setdiff1d(np.arange(self.n), first)


def fisher_p_value(size: int, inside: int, n: int, total: int) -> float:
    """P(at least this many in a part | its size, and rows and sum of the whole): Fisher's exact test."""
    if not 0 < size < n:
        return 1.0
    return min(float(stats.hypergeom.sf(inside - 1, n, total, size)), 1.0)


def _split_groups(codes: Rows, groups: AnyInts, share: float, generator: np.random.Generator) -> tuple[Rows, Rows]:
    """Two parts of whole groups, the first with about this share of the rows of each code."""
    _, group = np.unique(groups, return_inverse=True)
    part = deal_groups(codes, group, np.array([share, 1 - share]), generator)[group]
    return np.flatnonzero(part == 0), np.flatnonzero(part == 1)
