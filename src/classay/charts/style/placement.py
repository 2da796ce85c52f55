"""Points of a chart with their names next to them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt

from . import theme
from .panel import Align, Panel
from .theme import Row, columns

MOST = 10
"""More names than this are unreadable; a legend is used instead."""


def pixels(panel: Panel, x: float, y: float) -> tuple[float, float]:
    """Where a point is drawn on a panel with ends."""
    (left, right), (low, high), (width, height) = _ends(panel)
    return (x - left) / (right - left) * width, (high - y) / (high - low) * height


def _values(panel: Panel, x: float, y: float) -> tuple[float, float]:
    """Which point is drawn there."""
    (left, right), (low, high), (width, height) = _ends(panel)
    return left + x / width * (right - left), high - y / height * (high - low)


def _ends(panel: Panel) -> Any:
    return panel.x["scale"]["domain"], panel.y["scale"]["domain"], (panel.width, panel.height)


def crosses(
    panel: Panel,
    rows: Sequence[Row],
    labels: Sequence[str],
    tooltip: Mapping[str, str],
    taken: Sequence[tuple[float, float]] = (),
    written: Sequence[tuple[str, float, float]] = (),
    margin: float = 0.0,
) -> list[Any]:
    """Layers with a named point for each row (x, y, label), its intervals (left, right, low, high) as a cross.

    Points that are not `filled` are hollow. The other arguments are those of `names`.
    """
    legend = theme.legend_below(labels) if len(labels) > MOST else None
    steps = [step / 8 for step in range(9)]
    arms = [(row["left"] + share * (row["right"] - row["left"]), row["y"]) for row in rows for share in steps]
    arms += [(row["x"], row["low"] + share * (row["high"] - row["low"])) for row in rows for share in steps]
    colour, line = theme.colour(labels, legend), {"strokeWidth": 1.5, "clip": True}
    layers = [
        panel.mark("rule", rows, tooltip, color=colour, x="left", x2="right", **line),
        panel.mark("rule", rows, tooltip, color=colour, y="low", y2="high", **line),
        *names(panel, rows, [*taken, *arms], written, margin),
    ]
    for filled in (False, True):
        some = [row for row in rows if row["filled"] is filled]
        looks = {"size": 70, "filled": filled, "strokeWidth": 2, "color": colour, "shape": theme.shape(labels, legend)}
        layers += [panel.mark("point", some, tooltip, **looks)] if some else []
    return layers


def names(
    panel: Panel,
    rows: Sequence[Row],
    taken: Sequence[tuple[float, float]] = (),
    written: Sequence[tuple[str, float, float]] = (),
    margin: float = 0.0,
    room: float = 0.0,
) -> list[alt.Chart]:
    """Layers with each row's `label` near its point (x, y), and lines to those without space nearby.

    `taken` are points, in values, to keep clear. In pixels: `written` are texts already there with their left middle,
    `margin` is the space for text right of the panel, `room` is kept free at its bottom. Above `MOST` names there are
    no layers.
    """
    if len(rows) > MOST:
        return []
    _, _, (width, height) = _ends(panel)
    spots = place(
        [pixels(panel, row["x"], row["y"]) for row in rows],
        [row["label"] for row in rows],
        width + margin,
        height - room,
        [pixels(panel, *spot) for spot in taken],
        [Place(left, middle, "left", far=False).box(text) for text, left, middle in written],
    )
    placed: list[Row] = []
    for row, spot in zip(rows, spots):
        to_x, to_y = _values(panel, spot.x, spot.y)
        ends = {"x": row["x"], "y": row["y"], "to_x": to_x, "to_y": to_y}
        placed.append({"label": row["label"], "align": spot.align, "far": spot.far} | ends)
    layers = [panel.mark("rule", [row for row in placed if row["far"]], style="lead", x2="to_x", y2="to_y")]
    for align, dx in (("left", 2), ("center", 0), ("right", -2)):
        some = [row for row in placed if row["align"] == align]
        text = {"style": "name", "align": align, "dx": dx, "text": "label"}
        layers += [panel.mark("text", some, x="to_x", y="to_y", **text)] if some else []
    return layers


# Where to write names next to points, so that none covers another. All in pixels, y downwards.


LETTER, LINE, GAP, CROWD = 6.1, 14.0, 8.0, 30.0
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Place:
    """Where a label is anchored, how it is aligned there, and whether a line should lead to it."""

    x: float
    y: float
    align: Align
    far: bool

    def box(self, text: str) -> Box:
        length = columns(text) * LETTER
        left = self.x - {"left": 0.0, "center": length / 2, "right": length}[self.align]
        return left, self.y - LINE / 2, left + length, self.y + LINE / 2


def place(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    width: float,
    height: float,
    taken: Sequence[tuple[float, float]] = (),
    others: Sequence[Box] = (),
) -> list[Place]:
    """Find for each text a free place nearby, or one that is as free as possible.

    Places are tried right, left, above and below the point, then farther out. `taken` are spots, such as those of a
    curve, that should stay clear; `others`, the points and the edges must stay clear.
    """
    marks: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    spots: list[Box] = [(x - 1, y - 1, x + 1, y + 1) for x, y in taken]
    written = list(others)
    places = []
    for (x, y), text in zip(points, texts):

        def cost(candidate: tuple[int, Place], text: str = text) -> float:
            rank, spot = candidate
            box = spot.box(text)
            outside = box[0] < 0 or box[1] < 0 or box[2] > width or box[3] > height
            return (
                rank
                + 1000 * outside
                + 500 * _covered(box, written)
                + 200 * _covered(box, marks)
                + 10 * min(_covered(box, spots), 4)
            )

        crowded = any(0 < math.hypot(x - a, y - b) < CROWD for a, b in points)
        _, best = min(enumerate(_around(x, y, crowded)), key=cost)
        written.append(best.box(text))
        places.append(best)
    return places


def apart(heights: Sequence[float], gap: float = LINE) -> list[float]:
    """The heights, raised as little as possible to keep them `gap` apart, in their order."""
    moved = list(heights)
    for before, after in pairwise(sorted(range(len(moved)), key=lambda i: moved[i])):
        moved[after] = max(moved[after], moved[before] + gap)
    return moved


def _around(x: float, y: float, crowded: bool) -> list[Place]:
    """Places around a point, nearest first. Among other points, a line leads even to near ones."""
    places = [
        Place(x + GAP, y, "left", far=False),
        Place(x - GAP, y, "right", far=False),
        Place(x, y - LINE, "center", far=False),
        Place(x, y + LINE, "center", far=False),
    ]
    for reach in range(1, 11):
        for turn in (30, 60, 10, 80):
            dx, dy = math.cos(math.radians(turn)) * 13 * reach, math.sin(math.radians(turn)) * 13 * reach
            for across, down in ((1, -1), (1, 1), (-1, -1), (-1, 1)):
                align: Align = "left" if across > 0 else "right"
                places.append(Place(x + across * (dx + 3), y + down * (dy + 3), align, far=crowded or reach > 1))
    return places


def _covered(box: Box, others: Iterable[Box]) -> int:
    return sum(box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in others)
