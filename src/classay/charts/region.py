"""Where in two columns the hard rows are: mean complexity on a grid, with rows and slices on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from ..data.complexity import Complexity
from ..data.conditions import Range
from ..data.slice import Slice
from ..data.slices import Slices
from ..expect import InputError
from ..seeds import generator
from . import theme
from .baseline import EVEN, RIGHT, WRONG, called, counted, in_full, wrong
from .grid import Floats, Grid, Mask, cells, grid
from .two_columns import Table, chosen
from .words import cut, figure, printable

SIDE = 380
MOST_POINTS = 1000
MOST_CLASSES = len(theme.COLOURS) - 1
"""With more classes than this, points do not show theirs."""


def complexity_region(
    complexity: Complexity,
    X: Any = None,
    x: str | int | None = None,
    y: str | int | None = None,
    slices: Slices | None = None,
) -> alt.LayerChart:
    """Draw where in the plane of two columns rows are hard, which ones the baseline gets wrong, and slices around them.

    X : the rows, a DataFrame or array; default: those that were measured
    x, y : columns by name, or by place; default: those of the first of `slices`, or in which the classes differ most
    slices : those on these two columns are outlined
    """
    if slices is not None and not isinstance(slices, Slices):
        raise InputError(f"`slices` is {type(slices).__name__}; what `classay.slices` returns is expected.")
    table = Table(complexity, X)
    drawable = [each for each in slices.slices if _ranges(each) is not None] if slices is not None else []
    first, second = chosen(complexity, table, x, y, drawable[0].features if drawable else ())
    names, columns = (table.names[first], table.names[second]), (table.column(first), table.column(second))
    missed = wrong(complexity)
    plane = grid(*columns)
    if not plane.inside.any():
        raise InputError(f"`X` has no row with a number in both {names[0]!r} and {names[1]!r}; name other columns.")
    found = cells(plane, *columns, complexity.values, missed)
    for cell in found:
        cell |= {"told": figure(cell["mean"]), "told_rows": counted(cell["rows"], "row"), "told_wrong": cell["marked"]}
    points = _points(complexity, columns, plane, missed)
    boxes, elsewhere = _boxes(slices, names, plane)

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=cut(names[0], 50), scale=_scale(plane.across), axis=alt.Axis(tickCount=6))

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=cut(names[1], 50), scale=_scale(plane.up), axis=alt.Axis(tickCount=6))

    def area(rows: list[theme.Row]) -> alt.Chart:
        return theme.chart_of(rows).encode(x=across("x"), x2="to_x:Q", y=up("y"), y2="to_y:Q")

    tone = alt.Color(
        "mean:Q",
        scale=alt.Scale(domain=[0, 2 * EVEN], range=["#eef1f4", "#6b7785"], clamp=True, interpolate="rgb"),
        legend=alt.Legend(
            title=["mean", "complexity"],
            values=[0, EVEN, 2 * EVEN],
            labelExpr="datum.value == 0 ? '0' : datum.value < 1 ? 'log 2' : '1.4 or more'",
            gradientLength=110,
        ),
    )
    layers: list[Any] = [
        area(found)
        .mark_rect()
        .encode(color=tone, tooltip=theme.tooltips(told="mean complexity", told_rows="rows", told_wrong="wrong")),
        *_dots(complexity, points, across, up),
    ]
    if boxes:
        tips = theme.tooltips(condition="slice", told="wrong", told_rows="rows")
        layers.append(area(boxes).mark_rect(style="interval", filled=False, strokeWidth=2).encode(tooltip=tips))
        corner = theme.chart_of(boxes).encode(x=across("x"), y=up("to_y"), tooltip=tips)
        plate = corner.mark_point(shape="square", size=220, filled=True, opacity=1, xOffset=9, yOffset=9)
        number = corner.mark_text(color="white", fontWeight="bold", fontSize=11, dx=9, dy=10)
        layers += [plate.encode(fill=alt.value("#2b333d")), number.encode(text="rank:N")]
    return theme.finished(
        layers,
        SIDE,
        SIDE,
        theme.titled(
            f"Where rows are hard: {cut(names[0], 28)} and {cut(names[1], 28)}",
            *_reading(complexity, plane, len(points), boxes, elsewhere),
            width=SIDE + 130,
        ),
    )


def _points(complexity: Complexity, columns: tuple[Floats, Floats], plane: Grid, missed: Mask) -> list[theme.Row]:
    """Rows to draw, all or a sample; those of equal values a little apart."""
    dice = generator(0, "points")
    rows = np.sort(dice.permutation(np.flatnonzero(plane.inside))[:MOST_POINTS])
    names = called(np.unique(complexity.labels)) if np.unique(complexity.labels).size <= MOST_CLASSES else {}
    x, y = (column[rows] + step * dice.uniform(-0.32, 0.32, rows.size) for column, step in zip(columns, plane.steps))
    return [
        {
            "x": across,
            "y": up,
            "class": names.get(label, ""),
            "row": f"{row}",
            "full": in_full(label),
            "nearest": in_full(other),
            "told": figure(float(complexity.values[row])),
            "answer": "wrong" if missed[row] else "right",
        }
        for row, across, up, label, other in zip(
            rows.tolist(), x.tolist(), y.tolist(), complexity.labels[rows].tolist(), complexity.nearest[rows].tolist()
        )
    ]


def _dots(complexity: Complexity, points: list[theme.Row], across: Any, up: Any) -> list[Any]:
    """Layers of the rows, the wrong ones on top as crosses."""
    tips = theme.tooltips(full="label", nearest="looks like", told="complexity", answer="baseline", row="row")
    classes = np.unique(complexity.labels)
    layers = []
    n_wrong = sum(point["answer"] == "wrong" for point in points)
    for answer in ("right", "wrong"):
        some = theme.chart_of([point for point in points if point["answer"] == answer])
        fill: Any = alt.value(WRONG if answer == "wrong" else RIGHT)
        if classes.size <= MOST_CLASSES:
            labels = list(called(classes).values())
            fill = alt.Fill(
                "class:N",
                scale=alt.Scale(domain=labels, range=list(theme.COLOURS[: len(labels)])),
                legend=alt.Legend(title="label", symbolType="circle", symbolStrokeWidth=0, labelLimit=110),
            )
        mark = (
            some.mark_point(
                shape="cross", angle=45, size=70 if n_wrong < 60 else 36, opacity=1, stroke="black", strokeWidth=0.8
            )
            if answer == "wrong"
            else some.mark_point(shape="circle", size=14 if len(points) > 400 else 26, opacity=0.75, strokeWidth=0)
        )
        layers.append(mark.encode(x=across("x"), y=up("y"), fill=fill, tooltip=tips))
    return layers


def _boxes(slices: Slices | None, names: tuple[str, str], plane: Grid) -> tuple[list[theme.Row], int]:
    """Slices as rectangles in the plane, and how many are about other columns. An open end is the plane's."""
    boxes: list[theme.Row] = []
    every = () if slices is None else slices.slices
    for each in every:
        ranges = _ranges(each)
        if ranges is None or not set(ranges) <= set(names):
            continue
        box: theme.Row = {"rank": f"{each.rank}", "condition": printable(each.condition)}
        for name, edges, low, high in zip(names, (plane.across, plane.up), ("x", "y"), ("to_x", "to_y")):
            part = ranges.get(name)
            ends = (None, None) if part is None else (part.low, part.high)
            for field, end, edge in zip((low, high), ends, (edges[0], edges[-1])):
                box[field] = float(np.clip(edge if end is None else end, edges[0], edges[-1]))
        told = f"{each.error_rate.value:.0%}, elsewhere {each.rest_rate:.0%}"
        boxes.append(box | {"told": told, "told_rows": f"{each.size:,}"})
    return boxes, len(every) - len(boxes)


def _ranges(one: Slice) -> dict[str, Range] | None:
    """A slice's ranges by column; None if it is about categories, dates or missing values too."""
    found = {part.feature: part for part in one.conditions if isinstance(part, Range)}
    ends = [end for part in found.values() for end in (part.low, part.high) if end is not None]
    plain = len(found) == len(one.conditions) and all(isinstance(end, (int, float)) for end in ends)
    return found if plain else None


def _reading(complexity: Complexity, plane: Grid, drawn: int, boxes: Sequence[theme.Row], elsewhere: int) -> list[str]:
    """How to read the chart."""
    n, inside = len(complexity), int(plane.inside.sum())
    parts = ["Darker: rows there are harder on average. Dots: rows; crosses: those that the baseline gets wrong."]
    if drawn < inside:
        parts.append(f"{drawn:,} of {counted(n, 'row')} are drawn, at random.")
    if any(plane.steps):
        parts.append("Equal values are drawn a little apart.")
    if inside < n:
        parts.append(
            f"{counted(n - inside, 'row')} without a value or far out {'is' if n - inside == 1 else 'are'} left out."
        )
    if boxes:
        parts.append("Frames: slices where errors gather, by rank.")
    if elsewhere:
        parts.append(f"{counted(elsewhere, 'slice')} on other columns {'is' if elsewhere == 1 else 'are'} not drawn.")
    return [" ".join(parts)]


def _scale(edges: Floats) -> alt.Scale:
    margin = (edges[-1] - edges[0]) * 0.02  # room for points on the edge
    return alt.Scale(domain=[(edges[0] - margin).item(), (edges[-1] + margin).item()], nice=False, zero=False)
