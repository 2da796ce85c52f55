"""Which labelings of a holdout occur, how often, and in which subsets: counted, never enumerated.

A holdout of h points has c^h labelings, but K·R refits show at most K·R of them. Every labeling that occurs gets a
number; a *cell* is a labeling together with a subset in which it occurs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer]
Floats = NDArray[np.float64]


def number_labelings(labels: Ints, holdouts: Ints, n_classes: int) -> NDArray[np.int64]:
    """Number the labelings of every holdout: equal numbers mean equal labels on all of its points.

    labels : (..., n) class codes; holdouts : (M, h) positions among the n points. Returns (M, ...).
    """
    points = np.moveaxis(labels, -1, 0)  # (n, ...): one gather per point of the holdout
    numbers = np.zeros((len(holdouts), *labels.shape[:-1]), dtype=np.int64)
    largest = 0
    for position in holdouts.T:
        if largest > (2**62 - n_classes) // n_classes:
            # The next digit would overflow: renumber what occurs, which is never more than the number of refits.
            numbers = np.stack([np.unique(row, return_inverse=True)[1].reshape(row.shape) for row in numbers])
            largest = int(numbers.max())
        numbers = numbers * n_classes + points[position]
        largest = largest * n_classes + n_classes - 1
    return numbers


@dataclass(frozen=True)
class Counts:
    """Counts of labelings over M holdouts, K subsets and R refits. Build it with `count`.

    Cells are sorted by holdout and labeling: `holdout`, `subset` and `count` of each, and `total`, how often its
    labeling occurs over all subsets of that holdout.
    """

    n_holdouts: int
    n_subsets: int
    n_refits: int
    holdout: NDArray[np.int64]
    subset: NDArray[np.int64]
    count: NDArray[np.int64]
    total: NDArray[np.int64]

    @cached_property
    def histogram(self) -> NDArray[np.int64]:
        """(M, K, R + 1): how many labelings occur exactly j times in a subset. Column 0 is left at 0."""
        shape = (self.n_holdouts, self.n_subsets, self.n_refits + 1)
        place = np.ravel_multi_index((self.holdout, self.subset, self.count), shape)
        return np.bincount(place, minlength=int(np.prod(shape))).reshape(shape)

    def sum_by_subset(self, values: Floats) -> Floats:
        """Add up values of cells within each holdout and subset: (M, K)."""
        place = self.holdout * self.n_subsets + self.subset
        sums = np.bincount(place, weights=values, minlength=self.n_holdouts * self.n_subsets).astype(float)
        return sums.reshape(self.n_holdouts, self.n_subsets)


def count(numbers: NDArray[np.int64]) -> Counts:
    """Count the labelings in `numbers` (M, K, R), as `number_labelings` gives them."""
    n_holdouts, n_subsets, n_refits = numbers.shape
    ordered = np.sort(numbers, axis=2).ravel()
    starts_cell = np.ones(ordered.size, dtype=bool)
    starts_cell[1:] = ordered[1:] != ordered[:-1]
    starts_cell[::n_refits] = True
    first = np.flatnonzero(starts_cell)
    cell_count = np.diff(first, append=ordered.size)
    holdout, subset = np.divmod(first // n_refits, n_subsets)
    labeling = ordered[first]

    by_labeling = np.lexsort((labeling, holdout))
    holdout, labeling = holdout[by_labeling], labeling[by_labeling]
    subset, cell_count = subset[by_labeling], cell_count[by_labeling]
    starts_labeling = np.ones(holdout.size, dtype=bool)
    starts_labeling[1:] = (holdout[1:] != holdout[:-1]) | (labeling[1:] != labeling[:-1])
    group = np.cumsum(starts_labeling) - 1
    total = np.bincount(group, weights=cell_count).astype(np.int64)[group]
    return Counts(n_holdouts, n_subsets, n_refits, holdout, subset, cell_count, total)
