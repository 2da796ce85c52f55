"""Stability: figures of a learner, several learners by accuracy and stability, and where refits disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arrays import Floats, Mask
from ..expect import InputError, counted, nearest, shown
from ..frames import pandas_of
from ..intervals import Estimate
from ..learner.stability.agreement import FRESH
from ..learner.stability.disagreement import DisagreementRegions, as_frame
from ..learner.stability.stability import RegressionStability, Stability, StabilityTable
from ..regions.conditions import Range
from ..regions.region import Region
from ..seeds import generator
from .kinds import Kinds
from .style import placement, theme
from .style.panel import Panel, numbers
from .style.parts import figures_chart, histogram, histogram_from_zero
from .style.theme import Row, cut, estimate_text, figure, interval, labels, printable, within

# One learner: its figures beside the distribution of agreement over points.


def stability_figures(stability: Stability) -> alt.LayerChart:
    """Draw stability, kappa, accuracy and the agreement on one subset, with intervals for these and for new data."""
    figures = {
        "stability": stability.stability,
        "stability, new data": stability.stability_new_data,
        "kappa": stability.kappa,
        "same subset": stability.same_subset,
        "accuracy": stability.accuracy,
        "accuracy, new data": stability.accuracy_new_data,
    }
    return _figures(
        stability,
        figures,
        "agreement, accuracy",
        f"agree on {stability.stability.value:.1%}",
        "Stability: agreement of refits",
        "kappa: beyond chance; same subset: refits on the same rows",
    )


def _figures(
    stability: Stability | RegressionStability, figures: dict[str, Estimate], axis: str, title: str, of: str, also: str
) -> alt.LayerChart:
    """The figures of a learner, those for new data only where they differ from the others."""
    new_data = stability.stability_new_data.known and stability.pairs != FRESH
    about = "; new data: for other data of the same source and size" if new_data else ""
    return figures_chart(
        {name: estimate for name, estimate in figures.items() if new_data or not name.endswith("new data")},
        axis,
        f"{cut(stability.learner)}: two refits {title}",
        f"{of} on {stability.pairs}, on {stability.n_points:,} {cut(stability.on)}; {also}. "
        f"Lines: {stability.stability.level:.0%} intervals, for these rows{about}.",
    )


def agreement_histogram(stability: Stability) -> alt.LayerChart:
    """Draw on how many points refits always, often or rarely agree."""
    always = float((stability.per_point >= 1 - 1e-9).mean())
    return histogram(
        stability.per_point,
        (0.0, 1.0),
        "share of pairs of refits that agree at a point",
        stability.stability.value,
        "Where refits agree and where they do not",
        f"On {always:.0%} of the points all pairs agree.",
    )


def regression_figures(stability: RegressionStability) -> alt.LayerChart:
    """Draw agreement within the tolerance, concordance and R², with their intervals."""
    figures = {
        "within tolerance": stability.stability,
        "the same, new data": stability.stability_new_data,
        "concordance": stability.concordance,
        "same subset": stability.same_subset,
        "R²": stability.r2,
    }
    title = f"are within {figure(stability.tolerance)} on {stability.stability.value:.1%}"
    also = "same subset: within the tolerance, for refits on the same rows"
    return _figures(stability, figures, "agreement, R²", title, "Refits", also)


def spread_histogram(stability: RegressionStability) -> alt.LayerChart:
    """Draw how much predictions vary over subsets, in units of the target."""
    unit, title = "standard deviation of predictions over subsets", "How much predictions vary at a point"
    how = "In units of the target; the last bar includes all that vary more."
    return histogram_from_zero(stability.spread, unit, title, how)


# Several learners by accuracy and stability, each with both intervals.


SIZE, MARGIN = (420, 340), 150
LEAST_SPAN = 0.06
"""Learners that are all alike are not magnified to fill the chart."""


def stability_plane(table: StabilityTable) -> alt.LayerChart:
    """Draw learners by accuracy (across) and stability (up): the best are top right; unbeaten ones are filled."""
    short = labels(table.names)
    rows = [_row(table, name, label) for name, label in zip(table.names, short)]
    title = f"stability: share of {table.on} on which two refits agree"
    panel = Panel(
        numbers("accuracy on test points", _span(table.accuracy), "x"),
        numbers(title, _span(table.stability), "y"),
        *SIZE,
    )
    tips = {"learner": "learner", "accuracy_text": "accuracy", "value_text": "stability", "kappa_text": "kappa"}
    return panel.drawn(
        placement.crosses(panel, rows, short, tips, margin=MARGIN),
        "Who is accurate, and who is repeatable",
        f"Lines: {next(iter(table.stability.values())).level:.0%} intervals. Filled: no other learner is both more "
        "accurate and more repeatable. A learner that always predicts the same has stability 1, whatever its accuracy.",
        wrap=SIZE[0] + 120,
    )


def _row(table: StabilityTable, name: str, label: str) -> Row:
    accuracy, stability = table.accuracy[name], table.stability[name]
    left, right = within(accuracy, 0.0, 1.0)
    row = {"label": label, "learner": printable(name), "filled": name in table.unbeaten, "x": accuracy.value}
    row |= {"left": left, "right": right, "y": stability.value}
    row |= {"accuracy_text": estimate_text(accuracy), "kappa_text": estimate_text(table.kappa[name])}
    return row | interval(stability, 0.0, 1.0)


def _span(estimates: dict[str, Estimate]) -> tuple[float, float]:
    """From the lowest to the highest end of the intervals, with some margin, within 0 and 1."""
    ends = [end for each in estimates.values() for end in (*within(each, 0.0, 1.0), each.value)]
    low, high = min(ends), max(ends)
    room = max((high - low) * 0.08, (LEAST_SPAN - (high - low)) / 2)
    return max(low - room, -0.01), min(high + room, 1.01)


# Where refits disagree, on the plane of two columns.


SIDE = 380


def disagreement_plane(
    stability: Stability,
    X: Any = None,
    x: str | int | None = None,
    y: str | int | None = None,
    regions: DisagreementRegions | None = None,
) -> alt.LayerChart:
    """Draw how much refits disagree in each part of the plane of two columns, and regions around it.

    X : the points, a DataFrame or array; default: the probes of the record
    x, y : columns by name or position; default: those of `regions`, by rank, then where disagreement changes
    regions : those on these two columns are outlined
    """
    if regions is not None and not isinstance(regions, DisagreementRegions):
        raise InputError(f"`regions` is {type(regions).__name__}; expected what `regions()` of a stability returns.")
    points = stability.points if X is None else X
    if points is None:
        raise InputError(f"The record does not store the {stability.on} as rows. Pass them as `X`.")
    found = () if regions is None else regions.regions
    table, differ = Table(as_frame(points), stability.n_points), 1 - stability.per_point
    preferred = tuple(dict.fromkeys(name for each in found if ranges(each) is not None for name in each.features))
    first, second = chosen(table, x, y, differ > np.median(differ), preferred)
    names, columns = (table.names[first], table.names[second]), (table.column(first), table.column(second))
    plane = grid(*columns)
    if not plane.inside.any():
        raise InputError(f"`X` has no row with a number in both {names[0]!r} and {names[1]!r}; choose other columns.")
    filled = cells(plane, *columns, differ)
    for cell in filled:
        cell |= {"value_text": figure(cell["mean"]), "rows_text": counted(cell["rows"], "point")}
    boxes = outlines(found, names, plane)
    panel = Panel(
        numbers(cut(names[0], 50), limits(plane.across), "x"), numbers(cut(names[1], 50), limits(plane.up), "y"),
        SIDE, SIDE,
    )  # fmt: skip
    most = max(max(cell["mean"] for cell in filled), 1e-9)
    tone = alt.Color(
        "mean:Q",
        scale=alt.Scale(domain=[0, most], range=["#f1f5f9", "#fdbe85", "#d94701", "#7f2704"], interpolate="rgb"),
        legend=alt.Legend(title=["pairs that", "disagree"], format="~%", tickCount=4, gradientLength=110),
    )
    tips = {"value_text": "pairs that disagree", "rows_text": "points"}
    layers = [
        panel.mark("rect", filled, tips, color=tone, x2="to_x", y2="to_y"),
        *outline_layers(panel, boxes, {"condition": "region", "rate_text": "disagree", "rows_text": "points"}),
    ]
    missing, far = len(found) - len(boxes), stability.n_points - int(plane.inside.sum())
    sentences = [
        f"Mean disagreement of pairs of refits on {stability.n_points:,} {cut(stability.on)}; "
        f"{figure(differ.mean())} in all."
    ]
    sentences += ["Frames: regions that stand out, by rank."] if boxes else []
    sentences += [f"Not drawn, on other columns: {counted(missing, 'region')}."] if missing else []
    sentences += [f"Not drawn, without a value or far out: {counted(far, 'point')}."] if far else []
    return panel.drawn(layers, f"{cut(stability.learner)}: where refits disagree", " ".join(sentences), wrap=SIDE + 130)


# Rows of two columns in a grid of cells. Arrays alone, nothing is drawn.


COARSEST, FINEST = 8, 28
"""Fewest and most cells along a side."""


@dataclass(frozen=True)
class Grid:
    """The edges of cells in both columns, and which rows are within them."""

    across: Floats
    up: Floats
    inside: Mask


def grid(x: Floats, y: Floats) -> Grid:
    """A grid with few empty cells: finer with many rows, one cell per value if there are few values."""
    side = int(np.clip(np.sqrt(x.size) / 2, COARSEST, FINEST))
    across, up = _edges(x, side), _edges(y, side)
    return Grid(across, up, (x >= across[0]) & (x <= across[-1]) & (y >= up[0]) & (y <= up[-1]))


def cells(grid: Grid, x: Floats, y: Floats, values: Floats) -> list[Row]:
    """Each cell that has rows: its edges, how many, and the mean of their values."""
    i, j = (
        np.clip(np.searchsorted(edges, column[grid.inside], side="right") - 1, 0, edges.size - 2)
        for edges, column in ((grid.up, y), (grid.across, x))
    )
    columns = grid.across.size - 1
    flat = i * columns + j
    counts, sums = np.bincount(flat), np.bincount(flat, values[grid.inside])
    return [
        {
            "x": float(grid.across[at % columns]),
            "to_x": float(grid.across[at % columns + 1]),
            "y": float(grid.up[at // columns]),
            "to_y": float(grid.up[at // columns + 1]),
            "rows": int(counts[at]),
            "mean": float(sums[at] / counts[at]),
        }
        for at in np.flatnonzero(counts).tolist()
    ]


def _edges(column: Floats, side: int) -> Floats:
    """Edges of at most `side` cells, without far outliers; one cell per value if there are few values."""
    there = column[np.isfinite(column)]
    low, high = _usual_range(there)
    distinct = np.unique(there[(there >= low) & (there <= high)])
    if distinct.size == 1:
        return np.asarray(distinct[0] + np.array([-0.5, 0.5]))
    if distinct.size <= side:
        middles = (distinct[1:] + distinct[:-1]) / 2
        ends = 2 * distinct[[0, -1]] - middles[[0, -1]]
        return np.concatenate([ends[:1], middles, ends[1:]])
    if np.array_equal(distinct, np.round(distinct)):
        # The same number of whole numbers in every cell: otherwise artificial stripes appear.
        step = np.ceil((high - low + 1) / side)
        return np.asarray(low - 0.5 + step * np.arange(int(np.ceil((high - low + 1) / step)) + 1))
    return np.linspace(low, high, side + 1)


def _usual_range(there: Floats) -> tuple[float, float]:
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
    """Rows by column, of a DataFrame, an array or a sparse matrix."""

    def __init__(self, rows: Any, n_rows: int) -> None:
        rows, frame_type = pandas_of(rows), cast(Any, pd.DataFrame)
        if hasattr(rows, "tocsc"):
            rows = frame_type.sparse.from_spmatrix(rows)
        self.frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(np.asarray(rows))
        if len(self.frame) != n_rows or not self.frame.shape[1]:
            raise InputError(f"`X` has shape {self.frame.shape}; expected the {n_rows} rows that were measured.")
        named = not isinstance(self.frame.columns, pd.RangeIndex)
        self.names = [str(name) if named else f"x{name}" for name in self.frame.columns]

    def numeric(self) -> list[int]:
        return [place for place, kind in enumerate(self.frame.dtypes) if pd.api.types.is_numeric_dtype(kind)]

    def column(self, place: int, rows: Any = slice(None)) -> Floats:
        """A column as numbers, NaN where there is none."""
        return np.asarray(self.frame.iloc[rows, place].to_numpy(dtype=float, na_value=np.nan))

    def place(self, name: str | int, option: str) -> int:
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


def outlines(regions: Sequence[Region], names: tuple[str, str], plane: Grid) -> list[Row]:
    """Those regions that use these columns only, as rectangles in the plane. An open end is the plane's."""
    boxes: list[Row] = []
    for region in regions:
        by_column = ranges(region)
        if by_column is None or not set(by_column) <= set(names):
            continue
        box: Row = {"rank": f"{region.rank}", "condition": printable(region.condition)}
        for name, edges, fields in zip(names, (plane.across, plane.up), (("x", "to_x"), ("y", "to_y"))):
            part = by_column.get(name)
            ends = (None, None) if part is None else (part.low, part.high)
            for field, end, edge in zip(fields, ends, (edges[0], edges[-1])):
                box[field] = float(np.clip(edge if end is None else end, edges[0], edges[-1]))
        rate_text = f"{region.rate.value:.0%}, elsewhere {region.rest_rate:.0%}"
        boxes.append(box | {"rate_text": rate_text, "rows_text": f"{region.size:,}"})
    return boxes


def ranges(region: Region) -> dict[str, Range] | None:
    """A region's ranges by column; None if it also uses categories, dates or missing values."""
    by_column = {part.feature: part for part in region.conditions if isinstance(part, Range)}
    ends = [end for part in by_column.values() for end in (part.low, part.high) if end is not None]
    only_numbers = len(by_column) == len(region.conditions) and all(isinstance(end, (int, float)) for end in ends)
    return by_column if only_numbers else None


def outline_layers(panel: Panel, boxes: Sequence[Row], tooltip: Mapping[str, str]) -> list[Any]:
    """Frames with their ranks."""
    if not boxes:
        return []
    plate = {"shape": "square", "size": 220, "xOffset": 9, "yOffset": 9, "fill": alt.value("#2b333d")}
    number = {"color": "white", "fontWeight": "bold", "fontSize": 11, "dx": 9, "dy": 10}
    return [
        panel.mark("rect", boxes, tooltip, style="interval", filled=False, strokeWidth=2, x2="to_x", y2="to_y"),
        panel.mark("point", boxes, tooltip, y="to_y", **plate),
        panel.mark("text", boxes, tooltip, y="to_y", text="rank", **number),
    ]


STABILITY: Kinds = {
    "both": lambda stability: theme.beside(stability_figures(stability), agreement_histogram(stability)),
    "figures": stability_figures,
    "histogram": agreement_histogram,
    "plane": disagreement_plane,
}
REGRESSION: Kinds = {
    "both": lambda stability: theme.beside(regression_figures(stability), spread_histogram(stability)),
    "figures": regression_figures,
    "histogram": spread_histogram,
}
