"""Where to write names beside points, so that none covers another. All in pixels, y downwards."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from .words import columns

LETTER, LINE, GAP, CROWD = 6.1, 14.0, 8.0, 30.0
Box = tuple[float, float, float, float]
Align = Literal["left", "center", "right"]


@dataclass(frozen=True)
class Place:
    """Where a label is anchored, how it is aligned there, and whether a line should lead to it from afar."""

    x: float
    y: float
    align: Align
    far: bool

    def box(self, text: str) -> Box:
        """What the text covers."""
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
    """Find for each text a near place that is free, or as free as can be.

    Places are tried right, left, above and below the point, then farther out. `taken` are spots, such as those of a
    curve, that are better left clear; `others`, the points and the edges must be.
    """
    marks: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    spots: list[Box] = [(x - 1, y - 1, x + 1, y + 1) for x, y in taken]
    written = list(others)
    found = []
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
        found.append(best)
    return found


def apart(heights: Sequence[float], gap: float = LINE) -> list[float]:
    """The heights, raised as little as keeps them `gap` apart, in their order."""
    moved = list(heights)
    for before, after in pairwise(sorted(range(len(moved)), key=lambda i: moved[i])):
        moved[after] = max(moved[after], moved[before] + gap)
    return moved


def _around(x: float, y: float, crowded: bool) -> list[Place]:
    """Places around a point, nearest first. Among other points, a line leads even to near ones."""
    found = [
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
                found.append(Place(x + across * (dx + 3), y + down * (dy + 3), align, far=crowded or reach > 1))
    return found


def _covered(box: Box, others: Iterable[Box]) -> int:
    return sum(box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in others)
