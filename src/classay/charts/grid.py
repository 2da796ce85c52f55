"""Two columns of rows, laid out on a grid of cells. Arrays alone, nothing drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
COARSEST, FINEST = 8, 28
"""Fewest and most cells along a side."""


@dataclass(frozen=True)
class Grid:
    """The edges of cells in both columns, and which rows are within them."""

    across: Floats
    up: Floats
    inside: Mask
    steps: tuple[float, float]
    """How far apart values are in a column with one value a cell; 0 in others."""


def grid(x: Floats, y: Floats) -> Grid:
    """A grid with few empty cells: finer where rows are many, one cell a value where values are few."""
    side = int(np.clip(np.sqrt(x.size) / 2, COARSEST, FINEST))
    (across, step_x), (up, step_y) = _edges(x, side), _edges(y, side)
    inside = (x >= across[0]) & (x <= across[-1]) & (y >= up[0]) & (y <= up[-1])
    return Grid(across, up, inside, (step_x, step_y))


def cells(grid: Grid, x: Floats, y: Floats, values: Floats, marked: Mask) -> list[dict[str, Any]]:
    """Each cell that has rows: its edges, how many, the mean of their values, and how many are marked."""
    rows, columns = grid.up.size - 1, grid.across.size - 1
    i, j = (
        np.clip(np.searchsorted(edges, column[grid.inside], side="right") - 1, 0, edges.size - 2)
        for edges, column in ((grid.up, y), (grid.across, x))
    )
    flat = i * columns + j
    counts = np.bincount(flat, minlength=rows * columns)
    sums = np.bincount(flat, values[grid.inside], minlength=rows * columns)
    marks = np.bincount(flat[marked[grid.inside]], minlength=rows * columns)
    return [
        {
            "x": float(grid.across[at % columns]),
            "to_x": float(grid.across[at % columns + 1]),
            "y": float(grid.up[at // columns]),
            "to_y": float(grid.up[at // columns + 1]),
            "rows": int(counts[at]),
            "mean": float(sums[at] / counts[at]),
            "marked": int(marks[at]),
        }
        for at in np.flatnonzero(counts).tolist()
    ]


def _edges(column: Floats, side: int) -> tuple[Floats, float]:
    """Edges of at most `side` cells, far outliers left outside; and the least step of values, if each has its cell."""
    there = column[np.isfinite(column)]
    low, high = _span(there)
    distinct = np.unique(there[(there >= low) & (there <= high)])
    if distinct.size == 1:
        return distinct[0] + np.array([-0.5, 0.5]), 1.0
    if distinct.size <= side:
        middles = (distinct[1:] + distinct[:-1]) / 2
        ends = 2 * distinct[[0, -1]] - middles[[0, -1]]
        return np.concatenate([ends[:1], middles, ends[1:]]), float(np.diff(distinct).min())
    if np.array_equal(distinct, np.round(distinct)):
        # As many whole numbers in every cell: otherwise stripes are seen that are not there.
        step = np.ceil((high - low + 1) / side)
        return low - 0.5 + step * np.arange(int(np.ceil((high - low + 1) / step)) + 1), 0.0
    return np.linspace(low, high, side + 1), 0.0


def _span(there: Floats) -> tuple[float, float]:
    """From the lowest to the highest value, unless the middle 98 % of rows would be lost in that."""
    low, high = float(there.min()), float(there.max())
    left, right = (float(end) for end in np.quantile(there, [0.01, 0.99], method="nearest"))
    room = right - left
    if room <= 0:
        return low, high
    return max(low, left - room / 2), min(high, right + room / 2)


def limits(edges: Floats) -> list[float]:
    """Where an axis begins and ends, with room for points on the edge."""
    margin = (edges[-1] - edges[0]) * 0.02
    return [(edges[0] - margin).item(), (edges[-1] + margin).item()]
