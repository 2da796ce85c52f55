"""Every box of one or two columns at once: how many rows and how much of an outcome is in it, and which stand out.

Rows and outcome are added up once on the grid of bins. A box selects bins of each column: neighbouring ones of an
ordered column, a few of an unordered one. With the selections of a column as rows of a 0-1 matrix, the sums of all
boxes are two products with the grid, which is what a summed-area table gives, for sets of categories too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Column
from .outcome import Outcome

Counts = NDArray[np.int64]
Sums = NDArray[Any]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
LARGEST_SET = 3
"""Categories that a region may list."""
FEW = 3
"""Boxes to keep of each column or pair, no two of them overlapping."""


@dataclass(frozen=True)
class Stretch:
    """Codes `low` to `high` of an ordered column; −1 to −1 is missing."""

    column: int
    low: int
    high: int


@dataclass(frozen=True)
class Pick:
    """Some bins of an unordered column."""

    column: int
    bins: tuple[int, ...]


Part = Stretch | Pick
Box = tuple[Part, ...]


class Half:
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
        found = np.ones(self.n, dtype=bool)
        for part in box:
            if isinstance(part, Stretch):
                codes = self.codes[part.column]
                found &= (codes >= part.low) & (codes <= part.high)
            else:
                wanted = np.zeros(self.columns[part.column].n_bins, dtype=bool)
                wanted[list(part.bins)] = True
                found &= wanted[self.bins[part.column]]
        return found

    def grid(self, first: int, second: int) -> tuple[Counts, Sums]:
        """Rows and outcome in each cell of two columns' bins."""
        shape = self.columns[first].n_bins, self.columns[second].n_bins
        cells = self.bins[first].astype(np.int16) * shape[1] + self.bins[second]
        sums = self.outcome.sums(cells, shape[0] * shape[1])
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape), sums.reshape(shape)

    def tally(self, column: int) -> tuple[Counts, Sums]:
        """Rows and outcome in each bin of a column."""
        bins, n_bins = self.bins[column], self.columns[column].n_bins
        return np.bincount(bins, minlength=n_bins), self.outcome.sums(bins, n_bins)


@dataclass(frozen=True)
class Selections:
    """What can be selected of one column: parts, and the bins of each as a row of `matrix`."""

    parts: tuple[Part, ...]
    matrix: Floats
    touching: Mask


def selections(half: Half, place: int) -> Selections:
    """Ranges of bins, single categories, all but one, and sets of the few with the highest rates."""
    column = half.columns[place]
    sizes, sums = half.tally(place)
    kept = len(column.tops)
    chosen: list[tuple[int, ...]] = []
    parts: list[Part] = []
    if column.ordered:
        starts = np.append(0, column.tops[:-1] + 1)
        for first in range(kept):
            for last in range(first, kept):
                chosen.append(tuple(range(first, last + 1)))
                parts.append(Stretch(place, int(starts[first]), int(column.tops[last])))
        chosen.append((kept,))
        parts.append(Stretch(place, -1, -1))
    else:
        chosen = [(bin_,) for bin_ in range(kept + 2)]
        # The best set of categories is always some number of those with the highest rates (Fisher, 1958).
        by_rate = np.argsort(-(sums[:kept] + 0.5) / (sizes[:kept] + 1.0), kind="stable")
        chosen += [tuple(sorted(by_rate[:many].tolist())) for many in range(2, min(LARGEST_SET, kept - 1) + 1)]
        filled = np.flatnonzero(sizes[: kept + 1])
        if len(filled) > 2:
            chosen += [tuple(other for other in range(kept + 1) if other != bin_) for bin_ in range(kept)]
        if sizes[kept + 1]:
            chosen.append(tuple(range(kept + 1)))
        chosen = list(dict.fromkeys(chosen))
        parts = [Pick(place, bins) for bins in chosen]
    matrix = np.zeros((len(chosen), column.n_bins))
    for row, bins in enumerate(chosen):
        matrix[row, list(bins)] = 1.0
    inside = matrix @ sizes
    use = np.flatnonzero((inside > 0) & (inside < half.n))
    matrix = matrix[use]
    return Selections(tuple(parts[row] for row in use), matrix, (matrix * (sizes > 0)) @ matrix.T > 0)


Found = tuple[float, Box]
"""A box that stands out, after its likelihood ratio."""


def best_of_column(half: Half, choice: Selections, place: int, least: int) -> list[Found]:
    """The best few boxes of one column, no two of them overlapping."""
    sizes, sums = half.tally(place)
    ratio = _ratio(half, (choice.matrix @ sizes).astype(np.int64), choice.matrix @ sums, least)
    found: list[Found] = []
    for _ in range(FEW):
        best = int(np.argmax(ratio)) if ratio.size else 0
        if not ratio.size or ratio[best] <= 0:
            break
        found.append((float(ratio[best]), (choice.parts[best],)))
        ratio[choice.touching[best]] = 0.0
    return found


def best_of_pair(half: Half, choices: list[Selections], first: int, second: int, least: int) -> list[Found]:
    """The best few boxes of two columns, no two of them overlapping."""
    one, two = choices[first], choices[second]
    sizes, sums = pair_counts(half, choices, first, second)
    ratio = _ratio(half, sizes, sums, least)
    found: list[Found] = []
    for _ in range(FEW):
        best = int(np.argmax(ratio)) if ratio.size else 0
        row, column = divmod(best, max(len(two.parts), 1))
        if not ratio.size or ratio[row, column] <= 0:
            break
        found.append((float(ratio[row, column]), (one.parts[row], two.parts[column])))
        ratio[np.ix_(one.touching[row], two.touching[column])] = 0.0
    return found


def pair_counts(half: Half, choices: list[Selections], first: int, second: int) -> tuple[Counts, Sums]:
    """Rows and outcome in every box of two columns: selections of the first by selections of the second."""
    one, two = choices[first].matrix, choices[second].matrix
    sizes, sums = (one @ grid @ two.T for grid in half.grid(first, second))
    return sizes.astype(np.int64), sums


def _ratio(half: Half, sizes: Counts, sums: Sums, least: int) -> Floats:
    large = (sizes >= least) & (half.n - sizes >= least)
    return np.where(large, half.outcome.ratio(sizes, sums), 0.0)
