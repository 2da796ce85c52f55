"""Names written beside the points of a chart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from . import theme
from .placing import Align, Place, place

MOST = 10
"""More names than this are a thicket; a legend has them then."""


@dataclass(frozen=True)
class Frame:
    """A drawing of so many pixels, and the values at its edges."""

    width: int
    height: int
    across: tuple[float, float]
    up: tuple[float, float]

    def pixels(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        (left, right), (low, high) = self.across, self.up
        return (x - left) / (right - left) * self.width, (high - y) / (high - low) * self.height

    def values(self, x: float, y: float) -> tuple[float, float]:
        """Which point is drawn there."""
        (left, right), (low, high) = self.across, self.up
        return left + x / self.width * (right - left), high - y / self.height * (high - low)


def names(
    frame: Frame,
    rows: Sequence[theme.Row],
    point: tuple[str, str],
    across: Callable[[str], alt.X],
    up: Callable[[str], alt.Y],
    taken: Sequence[tuple[float, float]] = (),
    written: Sequence[tuple[str, float, float]] = (),
    margin: float = 0.0,
    room: float = 0.0,
) -> list[alt.Chart]:
    """Layers with each row's `label` near its point, and lines to those that found no room close by.

    `point` names the fields of a point; `across` and `up` make a field a place on the chart's axes; `taken` are points,
    in values, better left clear. In pixels: `written` are texts already there with their left middle, `margin` may be
    written on right of the frame, `room` is kept free at its foot. Above `MOST` names there are no layers.
    """
    if len(rows) > MOST:
        return []
    x, y = point
    spots = place(
        [frame.pixels(row[x], row[y]) for row in rows],
        [row["label"] for row in rows],
        frame.width + margin,
        frame.height - room,
        [frame.pixels(*spot) for spot in taken],
        [Place(left, height, "left", far=False).box(text) for text, left, height in written],
    )
    found: list[theme.Row] = []
    for row, spot in zip(rows, spots):
        to_x, to_y = frame.values(spot.x, spot.y)
        ends = {"x": row[x], "y": row[y], "to_x": to_x, "to_y": to_y}
        found.append({"label": row["label"], "align": spot.align, "far": spot.far} | ends)
    lines = theme.chart_of([row for row in found if row["far"]])
    layers: list[Any] = [lines.mark_rule(style="lead").encode(x=across("x"), y=up("y"), x2="to_x:Q", y2="to_y:Q")]
    sides: dict[Align, int] = {"left": 2, "center": 0, "right": -2}
    for align, dx in sides.items():
        chosen = [row for row in found if row["align"] == align]
        if chosen:
            text = theme.chart_of(chosen).mark_text(style="name", align=align, dx=dx)
            layers.append(text.encode(x=across("to_x"), y=up("to_y"), text="label:N"))
    return layers
