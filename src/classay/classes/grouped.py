"""Counts of rows against the classes of each group, so that groups can be left out later."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .counting import Bytes

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]


class GroupCounter:
    """Counts rows of scores against the classes of every group; the true class is in none.

    >>> counted = GroupCounter(np.array([0, 0, 1, 1])).count(np.array([[1.0, 5, 3, 3]]), np.array([2]))
    >>> counted["lower_in"], counted["tied_in"]
    (array([[1, 0]], dtype=int32), array([[0, 1]], dtype=int32))
    """

    def __init__(self, group: Ints, kernel: bool = False) -> None:
        self.group, self.kernel = group, kernel
        self.sizes = np.bincount(group)
        # Columns by group, each group filled up to whole words with one column more, which holds the true score: it is
        # neither lower nor higher than itself, and 0 apart.
        self.wide = -(-int(self.sizes.max()) // 8) * 8
        columns = np.full((self.sizes.size, self.wide), group.size)
        columns[group, earlier(group)] = np.arange(group.size)
        self.columns = columns.ravel()
        self.bytes = Bytes(self.wide)

    def count(self, block: NDArray[Any], truth: Ints) -> dict[str, NDArray[Any]]:
        """Counts, sums and squares of (score − true score), and smoothed counts if wanted, each (rows, groups)."""
        rows, own_group = np.arange(block.shape[0]), self.group[truth]
        own = block[rows, truth]
        shape = (rows.size, self.sizes.size)
        flat = np.take(np.concatenate([block, own[:, None]], axis=1), self.columns, axis=1).reshape(-1, self.wide)
        each = np.repeat(own, self.sizes.size)
        lower = self.bytes.ones(np.less, flat, each).reshape(shape)
        tied = (self.sizes - lower - self.bytes.ones(np.greater, flat, each).reshape(shape)).astype(np.int32)
        tied[rows, own_group] -= 1
        with np.errstate(invalid="ignore", over="ignore"):
            apart = (flat - each[:, None].astype(np.float64)).reshape(*shape, self.wide)
            sums, squares = np.einsum("rgc->rg", apart), np.einsum("rgc,rgc->rg", apart, apart)
        smoothed = np.empty((rows.size, 0))
        if self.kernel:
            # Φ(0) for the true class against itself, and for what fills up the groups.
            smoothed = self._smoothed(apart, sums, squares) - (self.wide - self.sizes) / 2
            smoothed[rows, own_group] -= 0.5
        return {"lower_in": lower, "tied_in": tied, "sum_in": sums, "square_in": squares, "kernel_in": smoothed}

    def _smoothed(self, apart: Floats, sums: Floats, squares: Floats) -> Floats:
        """Sum over the classes of each group of Φ((true score − score) / b), b by Scott's rule: sd·n^(−1/5).

        n and sd are of all other classes of the row: the bandwidth is that of the whole, also where groups are left
        out later.
        """
        others = self.group.size - 1
        total, square = sums.sum(axis=1), squares.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = (square - total**2 / others) / max(others - 1, 1)
            bandwidth = np.sqrt(np.maximum(variance, 0.0)) * others**-0.2
            below = ndtr(np.where(bandwidth > 0, -1 / bandwidth, np.nan)[:, None, None] * apart)
        smoothed: Floats = below.sum(axis=2)
        return smoothed


def standardised(total: Floats, square: Floats, others: int) -> Floats:
    """(true score − mean of the others) / their standard deviation, from sums of (score − true score).

    NaN where the others are fewer than two, all alike, or −inf.
    """
    if others < 2:
        return np.full(total.shape, np.nan)
    with np.errstate(all="ignore"):
        mean = total / others
        variance = (square - total * mean) / (others - 1)
        # What a difference leaves of others that are all alike is rounding.
        z: Floats = np.where(variance > 1e-13 * mean**2, -mean / np.sqrt(variance), np.nan)
    return np.where(np.isfinite(z), z, np.nan)


def earlier(values: Ints) -> Ints:
    """For each place, how many places before it have the same value.

    >>> earlier(np.array([3, 0, 3, 3, 0]))
    array([0, 0, 1, 2, 1])
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    before = np.empty(values.size, dtype=np.int64)
    before[order] = np.arange(values.size) - np.searchsorted(ordered, ordered)
    return before
