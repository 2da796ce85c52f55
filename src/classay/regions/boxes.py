"""Every box of one or two columns at once: how many rows and how much of an outcome it contains, and which stand out.

Rows and outcome are summed once on the grid of bins. A box selects bins of each column: adjacent ones of an ordered
column, a few of an unordered one. With the selections of a column as rows of a 0-1 matrix, the sums of all boxes are
two products with the grid: like a summed-area table, but for sets of categories too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Mask
from .columns import Column
from .outcome import Outcome

Counts = NDArray[np.int64]
Sums = NDArray[Any]
LARGEST_SET = 3
"""Categories that a region may list."""
MOST_BOXES = 3
"""Boxes to keep of each column or pair, no two of them overlapping."""


@dataclass(frozen=True)
class CodeRange:
    """Codes `low` to `high` of an ordered column; −1 to −1 is missing."""

    column: int
    low: int
    high: int


@dataclass(frozen=True)
class BinSet:
    """Some bins of an unordered column."""

    column: int
    bins: tuple[int, ...]


Side = CodeRange | BinSet
Box = tuple[Side, ...]
"""What a box selects of each of its columns."""
ScoredBox = tuple[float, Box]
"""A box that stands out, after its likelihood ratio."""


class BinnedRows:
    """Some rows of the table: codes and bins of its columns, and the outcome of each row."""

    def __init__(self, columns: tuple[Column, ...], outcome: Outcome, rows: NDArray[np.int64]) -> None:
        self.columns = columns
        self.rows = rows
        self.outcome = outcome.at(rows)
        self.n = len(rows)
        self.codes = [column.codes[rows] for column in columns]
        self.bins = [column.bins[rows] for column in columns]

    def inside(self, box: Box) -> Mask:
        """Which rows are in the box."""
        inside = np.ones(self.n, dtype=bool)
        for side in box:
            if isinstance(side, CodeRange):
                codes = self.codes[side.column]
                inside &= (codes >= side.low) & (codes <= side.high)
            else:
                selected = np.zeros(self.columns[side.column].n_bins, dtype=bool)
                selected[list(side.bins)] = True
                inside &= selected[self.bins[side.column]]
        return inside

    def cell_counts(self, first: int, second: int) -> tuple[Counts, Sums]:
        """Rows and outcome in each cell of two columns' bins."""
        shape = self.columns[first].n_bins, self.columns[second].n_bins
        cells = self.bins[first].astype(np.int16) * shape[1] + self.bins[second]
        sums = self.outcome.sums(cells, shape[0] * shape[1])
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape), sums.reshape(shape)

    def bin_counts(self, column: int, box: Box = ()) -> tuple[Counts, Sums]:
        """Rows and outcome in each bin of a column, inside the box."""
        rows, n_bins = np.flatnonzero(self.inside(box)) if box else None, self.columns[column].n_bins
        bins = self.bins[column] if rows is None else self.bins[column][rows]
        return np.bincount(bins, minlength=n_bins), self.outcome.sums(bins, n_bins, rows)


@dataclass(frozen=True)
class Selections:
    """What can be selected of one column: sides of a box, the bins of each as a row of `matrix`, and which overlap."""

    sides: tuple[Side, ...]
    matrix: Floats
    overlapping: Mask


def selections_of(binned: BinnedRows, place: int) -> Selections:
    """Ranges of bins, single categories, all but one, and sets of the few with the highest rates."""
    column = binned.columns[place]
    sizes, sums = binned.bin_counts(place)
    n_bins = len(column.tops)
    bin_sets: list[tuple[int, ...]] = []
    sides: list[Side] = []
    if column.ordered:
        starts = np.append(0, column.tops[:-1] + 1)
        for first in range(n_bins):
            for last in range(first, n_bins):
                bin_sets.append(tuple(range(first, last + 1)))
                sides.append(CodeRange(place, int(starts[first]), int(column.tops[last])))
        bin_sets.append((n_bins,))
        sides.append(CodeRange(place, -1, -1))
    else:
        bin_sets = [(bin_,) for bin_ in range(n_bins + 2)]
        # The best set of categories always consists of those with the highest rates (Fisher, 1958).
        by_rate = np.argsort(-(sums[:n_bins] + 0.5) / (sizes[:n_bins] + 1.0), kind="stable")
        bin_sets += [tuple(sorted(by_rate[:many].tolist())) for many in range(2, min(LARGEST_SET, n_bins - 1) + 1)]
        filled = np.flatnonzero(sizes[: n_bins + 1])
        if len(filled) > 2:
            bin_sets += [tuple(other for other in range(n_bins + 1) if other != bin_) for bin_ in range(n_bins)]
        if sizes[n_bins + 1]:
            bin_sets.append(tuple(range(n_bins + 1)))
        bin_sets = list(dict.fromkeys(bin_sets))
        sides = [BinSet(place, bins) for bins in bin_sets]
    matrix = np.zeros((len(bin_sets), column.n_bins))
    for row, bins in enumerate(bin_sets):
        matrix[row, list(bins)] = 1.0
    inside = matrix @ sizes
    use = np.flatnonzero((inside > 0) & (inside < binned.n))
    matrix = matrix[use]
    return Selections(tuple(sides[row] for row in use), matrix, (matrix * (sizes > 0)) @ matrix.T > 0)


def best_of_column(
    binned: BinnedRows, selections: Selections, place: int, min_rows: int, box: Box = ()
) -> list[ScoredBox]:
    """The best few boxes of one column, no two of them overlapping: alone, or as one more side of a box."""
    sizes, sums = binned.bin_counts(place, box)
    ratios = _large_ratios(binned, (selections.matrix @ sizes).astype(np.int64), selections.matrix @ sums, min_rows)
    best = _apart(ratios, selections)
    return [(ratio, tuple(sorted((*box, *sides), key=lambda side: side.column))) for ratio, sides in best]


def best_of_pair(
    binned: BinnedRows, selections: list[Selections], first: int, second: int, min_rows: int, least: float
) -> list[ScoredBox]:
    """The best few boxes of two columns, no two of them overlapping, and one that stands out inside both of its sides.

    A wide box may hide that one, whose likelihood ratio is the lower of those within each side, at least `least`.
    """
    left, right = selections[first], selections[second]
    sizes, sums = pair_counts(binned, selections, first, second)
    ratios = _large_ratios(binned, sizes, sums, min_rows)
    within = np.where(ratios > least, _ratios_within(binned, selections, (first, second), sizes, sums), 0.0)
    core = _apart(within, left, right)[:1]
    return [*(box for box in core if box[0] > least), *_apart(ratios, left, right)]


def _apart(ratios: Floats, *selections: Selections) -> list[ScoredBox]:
    """The best few boxes, no two of them overlapping. `ratios`, which is changed, has an axis for each column."""
    boxes: list[ScoredBox] = []
    while len(boxes) < MOST_BOXES and ratios.size:
        best = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
        if ratios[best] <= 0:
            break
        boxes.append((float(ratios[best]), tuple(one.sides[place] for one, place in zip(selections, best))))
        ratios[np.ix_(*(one.overlapping[place] for one, place in zip(selections, best)))] = 0.0
    return boxes


def pair_counts(binned: BinnedRows, selections: list[Selections], first: int, second: int) -> tuple[Counts, Sums]:
    """Rows and outcome in every box of two columns: selections of the first by selections of the second."""
    left, right = selections[first].matrix, selections[second].matrix
    sizes, sums = (left @ grid @ right.T for grid in binned.cell_counts(first, second))
    return sizes.astype(np.int64), sums


def _ratios_within(
    binned: BinnedRows, selections: list[Selections], pair: tuple[int, int], sizes: Counts, sums: Sums
) -> Floats:
    """The likelihood ratio of each box against the other rows of one of its sides: the lower of the two."""
    lowest = np.full(sizes.shape, np.inf)
    for axis, place in enumerate(pair):
        matrix = selections[place].matrix
        side_size, side_sum = (np.expand_dims(matrix @ counts, 1 - axis) for counts in binned.bin_counts(place))
        lowest = np.minimum(lowest, binned.outcome.ratio_from_counts(sizes, sums, side_size, side_sum))
    return lowest


def _large_ratios(binned: BinnedRows, sizes: Counts, sums: Sums, min_rows: int) -> Floats:
    large = (sizes >= min_rows) & (binned.n - sizes >= min_rows)
    return np.where(large, binned.outcome.ratio_from_counts(sizes, sums), 0.0)
