"""Two columns of rows, on a grid of cells. Arrays only, nothing is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...arrays import Floats, Mask
from ...expect import InputError, nearest, shown
from ...frames import pandas_of
from ...intervals import Estimate
from ...regions.conditions import Condition, Range
from ...seeds import generator
from . import theme
from .theme import printable

# Rows of two columns in a grid of cells. Arrays alone, nothing is drawn.


COARSEST, FINEST = 8, 28
"""Fewest and most cells along a side."""


@dataclass(frozen=True)
class Grid:
    """The edges of cells in both columns, and which rows are within them."""

    across: Floats
    up: Floats
    inside: Mask
    steps: tuple[float, float]
    """How far apart values are in a column with one value per cell; 0 in others."""


def grid(x: Floats, y: Floats) -> Grid:
    """A grid with few empty cells: finer with many rows, one cell per value if there are few values."""
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
    """Edges of at most `side` cells, without far outliers; and the smallest step of values, if each has its cell."""
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
        # The same number of whole numbers in every cell: otherwise artificial stripes appear.
        step = np.ceil((high - low + 1) / side)
        return low - 0.5 + step * np.arange(int(np.ceil((high - low + 1) / step)) + 1), 0.0
    return np.linspace(low, high, side + 1), 0.0


def _span(there: Floats) -> tuple[float, float]:
    """From the lowest to the highest value, unless the middle 98 % of rows would be squeezed."""
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


# Which two columns of the rows to draw.


SAMPLE, MOST_COLUMNS = 20_000, 2_000
"""Columns are compared on this many rows, and at most this many columns: beyond that, little is gained."""


class Table:
    """Rows by column: a DataFrame, an array or a sparse matrix; `known` names its columns if it does not."""

    def __init__(self, rows: Any, n_rows: int, known: Sequence[str] = ()) -> None:
        self.rows: Any = pandas_of(rows)
        if isinstance(self.rows, pd.DataFrame):
            self.names = [str(name) for name in self.rows.columns]
        else:
            self.rows = self.rows.tocsc() if hasattr(self.rows, "tocsc") else np.asarray(self.rows)
        if len(self.rows.shape) != 2 or self.rows.shape[0] != n_rows or not self.rows.shape[1]:
            raise InputError(f"`X` has shape {self.rows.shape}; expected the {n_rows} rows that were measured.")
        if not isinstance(self.rows, pd.DataFrame):
            same = len(known) == self.rows.shape[1]
            self.names = list(known) if same else [f"x{place}" for place in range(self.rows.shape[1])]

    def numeric(self) -> list[int]:
        """The positions of numeric columns."""
        if not isinstance(self.rows, pd.DataFrame):
            return list(range(self.rows.shape[1]))
        return [place for place, kind in enumerate(self.rows.dtypes) if pd.api.types.is_numeric_dtype(kind)]

    def column(self, place: int, rows: Any = slice(None)) -> Floats:
        """A column as numbers, NaN where there is none."""
        if isinstance(self.rows, pd.DataFrame):
            series = self.rows.iloc[rows, place]
            return np.asarray(series.to_numpy(dtype=float, na_value=np.nan))
        part = self.rows[:, [place]]
        dense = part.toarray() if hasattr(part, "toarray") else part
        return np.asarray(dense[rows, 0], dtype=float)

    def place(self, name: str | int, option: str) -> int:
        """The position of the named column."""
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool) and 0 <= name < len(self.names):
            place = int(name)
        elif str(name) in self.names:
            place = self.names.index(str(name))
        else:
            raise InputError(
                f"`{option}` is {name!r}, which is not a column of `X`.{nearest(str(name), self.names)} It has "
                f"{shown(self.names)}."
            )
        if place not in self.numeric():
            raise InputError(f"`{option}` is {name!r}, a column without numbers; expected a numeric one.")
        if not np.isfinite(self.column(place)).any():
            raise InputError(f"`{option}` is {name!r}, a column without any finite number.")
        return place


def chosen(
    table: Table, x: str | int | None, y: str | int | None, groups: NDArray[Any], first_choice: tuple[str, ...]
) -> tuple[int, int]:
    """The positions of two columns: those named, then `first_choice`, then those in which groups differ most."""
    first = None if x is None else table.place(x, "x")
    second = None if y is None else table.place(y, "y")
    if first is not None and second is not None:
        return first, second
    order = _by_spread(groups, table)
    preferred = [place for name in first_choice for place in order if table.names[place] == name]
    rest = [place for place in dict.fromkeys([*preferred, *order]) if place not in (first, second)]
    if len(rest) < (first is None) + (second is None):
        raise InputError("`X` has fewer than 2 columns of numbers that vary; a plane needs two.")
    if first is None:
        first = rest.pop(0)
    return first, rest[0] if second is None else second


def _by_spread(groups: NDArray[Any], table: Table) -> list[int]:
    """Numeric columns, first those in which the means of groups differ most relative to the spread within them."""
    rows = np.arange(len(groups))
    if rows.size > SAMPLE:
        rows = np.sort(generator(0, "columns").permutation(rows)[:SAMPLE])
    _, codes = np.unique(groups[rows], return_inverse=True)
    ranked = []
    for place in table.numeric()[:MOST_COLUMNS]:
        column = table.column(place, rows)
        there = np.isfinite(column)
        values, own = column[there], codes[there]
        if not values.size or np.ptp(values) == 0:
            continue
        values = (values - values.mean()) / np.ptp(values)
        counts = np.bincount(own)
        means = np.bincount(own, values) / np.maximum(counts, 1)
        between, total = float(counts @ means**2), float(values @ values)
        ranked.append((-between / total, place))
    return [place for _, place in sorted(ranked)]


# Regions outlined in the plane of two columns.


class Outlined(Protocol):
    """What can be outlined: a slice or a region."""

    @property
    def rank(self) -> int: ...
    @property
    def condition(self) -> str: ...
    @property
    def conditions(self) -> tuple[Condition, ...]: ...
    @property
    def size(self) -> int: ...
    @property
    def rest_rate(self) -> float: ...


def outlines(
    regions: Sequence[tuple[Outlined, Estimate]], names: tuple[str, str], plane: Grid
) -> tuple[list[theme.Row], int]:
    """Regions, each with its rate, as rectangles in the plane, and how many use other columns.

    An open end is the plane's.
    """
    boxes: list[theme.Row] = []
    for each, rate in regions:
        by_column = ranges(each)
        if by_column is None or not set(by_column) <= set(names):
            continue
        box: theme.Row = {"rank": f"{each.rank}", "condition": printable(each.condition)}
        for name, edges, low, high in zip(names, (plane.across, plane.up), ("x", "y"), ("to_x", "to_y")):
            part = by_column.get(name)
            ends = (None, None) if part is None else (part.low, part.high)
            for field, end, edge in zip((low, high), ends, (edges[0], edges[-1])):
                box[field] = float(np.clip(edge if end is None else end, edges[0], edges[-1]))
        rate_text = f"{rate.value:.0%}, elsewhere {each.rest_rate:.0%}"
        boxes.append(box | {"rate_text": rate_text, "rows_text": f"{each.size:,}"})
    return boxes, len(regions) - len(boxes)


def ranges(one: Outlined) -> dict[str, Range] | None:
    """A region's ranges by column; None if it also uses categories, dates or missing values."""
    by_column = {part.feature: part for part in one.conditions if isinstance(part, Range)}
    ends = [end for part in by_column.values() for end in (part.low, part.high) if end is not None]
    only_numbers = len(by_column) == len(one.conditions) and all(isinstance(end, (int, float)) for end in ends)
    return by_column if only_numbers else None


def outline_layers(
    boxes: list[theme.Row],
    across: Callable[[str], alt.X],
    up: Callable[[str], alt.Y],
    called: str,
    rate: str,
    rows: str,
) -> list[Any]:
    """Frames with their ranks; `called`, `rate` and `rows` are the titles of the tooltips."""
    if not boxes:
        return []
    tips = theme.tooltips(condition=called, rate_text=rate, rows_text=rows)
    area = theme.chart_of(boxes).encode(x=across("x"), x2="to_x:Q", y=up("y"), y2="to_y:Q", tooltip=tips)
    corner = theme.chart_of(boxes).encode(x=across("x"), y=up("to_y"), tooltip=tips)
    plate = corner.mark_point(shape="square", size=220, filled=True, opacity=1, xOffset=9, yOffset=9)
    number = corner.mark_text(color="white", fontWeight="bold", fontSize=11, dx=9, dy=10)
    return [
        area.mark_rect(style="interval", filled=False, strokeWidth=2),
        plate.encode(fill=alt.value("#2b333d")),
        number.encode(text="rank:N"),
    ]
