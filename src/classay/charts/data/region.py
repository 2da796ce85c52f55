"""Where in two columns the hard rows are: mean complexity on a grid, with rows and slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from ...arrays import Floats, Mask
from ...data.model.error_slices import Slices
from ...data.row_complexity import Complexity
from ...expect import InputError
from ...seeds import generator
from ..style import theme
from ..style.plane import Grid, Table, cells, chosen, grid, limits, outline_layers, outlines, ranges
from ..style.theme import cut, figure
from .baseline import EVEN, RIGHT, WRONG, baseline_errors, class_labels, counted, full_name

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
    x, y : columns by name or position; default: those of the first of `slices`, or in which the classes differ most
    slices : those on these two columns are outlined
    """
    if slices is not None and not isinstance(slices, Slices):
        raise InputError(f"`slices` is {type(slices).__name__}; expected what `classay.slices` returns.")
    table = Table(complexity.evidence.table if X is None else X, len(complexity), complexity.geometry.feature_names)
    drawable = [each for each in slices.slices if ranges(each) is not None] if slices is not None else []
    first, second = chosen(table, x, y, complexity.labels, drawable[0].features if drawable else ())
    names, columns = (table.names[first], table.names[second]), (table.column(first), table.column(second))
    missed = baseline_errors(complexity)
    plane = grid(*columns)
    if not plane.inside.any():
        raise InputError(f"`X` has no row with a number in both {names[0]!r} and {names[1]!r}; choose other columns.")
    filled = cells(plane, *columns, complexity.values, missed)
    for cell in filled:
        cell |= {"value_text": figure(cell["mean"]), "rows_text": counted(cell["rows"], "row")}
        cell["wrong_text"] = cell["marked"]
    points = _points(complexity, columns, plane, missed)
    every = [] if slices is None else [(each, each.rate) for each in slices.slices]
    boxes, elsewhere = outlines(every, names, plane)

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
        area(filled)
        .mark_rect()
        .encode(color=tone, tooltip=theme.tooltips(value_text="mean complexity", rows_text="rows", wrong_text="wrong")),
        *_dots(complexity, points, across, up),
        *outline_layers(boxes, across, up, "slice", "wrong", "rows"),
    ]
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
    """Rows to draw, all or a sample; those with equal values are drawn slightly apart."""
    rng = generator(0, "points")
    rows = np.sort(rng.permutation(np.flatnonzero(plane.inside))[:MOST_POINTS])
    names = class_labels(np.unique(complexity.labels)) if np.unique(complexity.labels).size <= MOST_CLASSES else {}
    x, y = (column[rows] + step * rng.uniform(-0.32, 0.32, rows.size) for column, step in zip(columns, plane.steps))
    return [
        {
            "x": across,
            "y": up,
            "class": names.get(label, ""),
            "row": f"{row}",
            "full": full_name(label),
            "nearest": full_name(other),
            "value_text": figure(float(complexity.values[row])),
            "outcome": "wrong" if missed[row] else "right",
        }
        for row, across, up, label, other in zip(
            rows.tolist(), x.tolist(), y.tolist(), complexity.labels[rows].tolist(), complexity.nearest[rows].tolist()
        )
    ]


def _dots(complexity: Complexity, points: list[theme.Row], across: Any, up: Any) -> list[Any]:
    """Layers of the rows, the wrong ones on top as crosses."""
    tips = theme.tooltips(full="label", nearest="looks like", value_text="complexity", outcome="baseline", row="row")
    classes = np.unique(complexity.labels)
    layers = []
    n_wrong = sum(point["outcome"] == "wrong" for point in points)
    for outcome in ("right", "wrong"):
        some = theme.chart_of([point for point in points if point["outcome"] == outcome])
        fill: Any = alt.value(WRONG if outcome == "wrong" else RIGHT)
        if classes.size <= MOST_CLASSES:
            labels = list(class_labels(classes).values())
            fill = alt.Fill(
                "class:N",
                scale=alt.Scale(domain=labels, range=list(theme.COLOURS[: len(labels)])),
                legend=alt.Legend(title="label", symbolType="circle", symbolStrokeWidth=0, labelLimit=110),
            )
        mark = (
            some.mark_point(
                shape="cross", angle=45, size=70 if n_wrong < 60 else 36, opacity=1, stroke="black", strokeWidth=0.8
            )
            if outcome == "wrong"
            else some.mark_point(shape="circle", size=14 if len(points) > 400 else 26, opacity=0.75, strokeWidth=0)
        )
        layers.append(mark.encode(x=across("x"), y=up("y"), fill=fill, tooltip=tips))
    return layers


def _reading(complexity: Complexity, plane: Grid, drawn: int, boxes: Sequence[theme.Row], elsewhere: int) -> list[str]:
    """How to read the chart."""
    n, inside = len(complexity), int(plane.inside.sum())
    parts = ["Darker: rows there are harder on average. Dots: rows; crosses: those that the baseline gets wrong."]
    if drawn < inside:
        parts.append(f"A random sample of {drawn:,} of {counted(n, 'row')} is drawn.")
    if any(plane.steps):
        parts.append("Equal values are drawn slightly apart.")
    if inside < n:
        parts.append(
            f"{counted(n - inside, 'row')} without a value or far out {'is' if n - inside == 1 else 'are'} left out."
        )
    if boxes:
        parts.append("Frames: slices where errors concentrate, by rank.")
    if elsewhere:
        parts.append(f"{counted(elsewhere, 'slice')} on other columns {'is' if elsewhere == 1 else 'are'} not drawn.")
    return [" ".join(parts)]


def _scale(edges: Floats) -> alt.Scale:
    return alt.Scale(domain=limits(edges), nice=False, zero=False)
