"""Regions outlined in the plane of two columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import altair as alt
import numpy as np

from ..intervals import Estimate
from ..regions.conditions import Condition, Range
from . import theme
from .grid import Grid
from .words import printable


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
    """Regions, each with its rate, as rectangles in the plane, and how many are about other columns.

    An open end is the plane's.
    """
    boxes: list[theme.Row] = []
    for each, rate in regions:
        found = ranges(each)
        if found is None or not set(found) <= set(names):
            continue
        box: theme.Row = {"rank": f"{each.rank}", "condition": printable(each.condition)}
        for name, edges, low, high in zip(names, (plane.across, plane.up), ("x", "y"), ("to_x", "to_y")):
            part = found.get(name)
            ends = (None, None) if part is None else (part.low, part.high)
            for field, end, edge in zip((low, high), ends, (edges[0], edges[-1])):
                box[field] = float(np.clip(edge if end is None else end, edges[0], edges[-1]))
        told = f"{rate.value:.0%}, elsewhere {each.rest_rate:.0%}"
        boxes.append(box | {"told": told, "told_rows": f"{each.size:,}"})
    return boxes, len(regions) - len(boxes)


def ranges(one: Outlined) -> dict[str, Range] | None:
    """A region's ranges by column; None if it is about categories, dates or missing values too."""
    found = {part.feature: part for part in one.conditions if isinstance(part, Range)}
    ends = [end for part in found.values() for end in (part.low, part.high) if end is not None]
    plain = len(found) == len(one.conditions) and all(isinstance(end, (int, float)) for end in ends)
    return found if plain else None


def outline_layers(
    boxes: list[theme.Row],
    across: Callable[[str], alt.X],
    up: Callable[[str], alt.Y],
    called: str,
    rate: str,
    rows: str,
) -> list[Any]:
    """Frames with their ranks; `called`, `rate` and `rows` name what the tooltips tell."""
    if not boxes:
        return []
    tips = theme.tooltips(condition=called, told=rate, told_rows=rows)
    area = theme.chart_of(boxes).encode(x=across("x"), x2="to_x:Q", y=up("y"), y2="to_y:Q", tooltip=tips)
    corner = theme.chart_of(boxes).encode(x=across("x"), y=up("to_y"), tooltip=tips)
    plate = corner.mark_point(shape="square", size=220, filled=True, opacity=1, xOffset=9, yOffset=9)
    number = corner.mark_text(color="white", fontWeight="bold", fontSize=11, dx=9, dy=10)
    return [
        area.mark_rect(style="interval", filled=False, strokeWidth=2),
        plate.encode(fill=alt.value("#2b333d")),
        number.encode(text="rank:N"),
    ]
