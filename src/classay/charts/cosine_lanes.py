"""Cosines counted, one lane a kind of pair, above one axis from −1 to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from . import theme
from .words import figure

WIDTH, LANE, GAP = 420, 84, 22
FEWEST, MOST = 10, 40
"""Bars of a lane, about, by how many pairs there are."""


@dataclass(frozen=True)
class Lane:
    """One kind of pair: what it is called, cosines counted in equal bins from −1 to 1, their mean, spread, colour."""

    label: str
    counts: NDArray[np.integer]
    mean: float
    std: float
    colour: str
    digits: int = 3

    @classmethod
    def counted(cls, label: str, counts: NDArray[np.integer], colour: str, digits: int = 3) -> Lane:
        """A lane whose mean and spread are those of its counts."""
        middles = -1 + (2 * np.arange(counts.size) + 1) / counts.size
        mean = float(np.average(middles, weights=counts))
        return cls(
            label, counts, mean, float(np.sqrt(np.average((middles - mean) ** 2, weights=counts))), colour, digits
        )


def cosine_lanes(
    lanes: Sequence[Lane], references: dict[str, float], title: str, *sentences: str, axis: str = "cosine"
) -> alt.LayerChart:
    """Draw lanes beneath each other, their means with two standard deviations, and references across all of them."""
    bars, names = _drawn(lanes)
    low, high = min(bar["from"] for bar in bars), max(bar["to"] for bar in bars)
    marks = [*references.values(), *(end for row in names for end in (row["low"], row["high"]))]
    low, high = min([low, *marks]), max([high, *marks])
    room = 0.03 * (high - low)
    height = (LANE + GAP) * len(lanes)
    scale = alt.Scale(domain=[max(low - room, -1.0), min(high + room, 1.0)], nice=False)

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=axis, scale=scale, axis=alt.Axis(tickCount=7))

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[0, height], nice=False), axis=None)

    colours = [lane.colour for lane in lanes]
    fill = alt.Color("label:N", scale=alt.Scale(domain=[lane.label for lane in lanes], range=colours), legend=None)
    seen = theme.tooltips(label="pairs", range="cosine", told="how many")
    base = theme.chart_of(names)
    written = _written(references, float(scale.domain[0]), float(scale.domain[1]))
    lines = theme.chart_of(written)
    layers: list[Any] = [
        base.mark_rule(style="faint").encode(y=up("foot")),
        theme.chart_of(bars)
        .mark_rect(x2Offset=-0.8, opacity=0.75)
        .encode(x=across("from"), x2="to:Q", y=up("foot"), y2="end:Q", color=fill, tooltip=seen),
        lines.mark_rule(style="reference", strokeDash=[4, 3]).encode(x=across("x")),
        base.mark_rule(style="interval").encode(x=across("low"), x2="high:Q", y=up("under")),
        base.mark_point(size=45, filled=True, opacity=1).encode(
            x=across("mean"), y=up("under"), color=fill, tooltip=theme.tooltips(label="pairs", figure="mean")
        ),
        base.mark_text(style="name", align="left").encode(x=alt.value(6), y=up("top"), text="label:N"),
        base.mark_text(style="note", align="right").encode(x=alt.value(WIDTH), y=up("top"), text="figure:N"),
    ]
    for row in written:
        text = theme.chart_of([row]).mark_text(style="note", align=row["align"], dx=row["dx"])
        layers.append(text.encode(x=across("x"), y=alt.value(-7 - 13 * row["level"]), text="text:N"))
    return theme.finished(layers, WIDTH, height, theme.titled(title, *sentences, width=WIDTH + 60))


def _drawn(lanes: Sequence[Lane]) -> tuple[list[theme.Row], list[theme.Row]]:
    """Rows of bars and of lanes. Heights are in pixels from the foot of the chart."""
    joined = _joined(lanes)
    bars: list[theme.Row] = []
    names: list[theme.Row] = []
    for place, lane in enumerate(lanes):
        counts = lane.counts.reshape(-1, joined).sum(axis=1)
        width = 2 / counts.size
        foot = (LANE + GAP) * (len(lanes) - 1 - place) + GAP
        told = f"mean {figure(lane.mean, f'.{lane.digits}f')}, spread {figure(lane.std, f'.{lane.digits}f')}"
        ends = [min(max(lane.mean + side * 2 * lane.std, -1.0), 1.0) for side in (-1, 1)]
        names.append(
            {"label": lane.label, "foot": foot, "under": foot - 8, "top": foot + LANE - 4, "mean": lane.mean}
            | {"low": ends[0], "high": ends[1], "figure": told}
        )
        total, most = max(int(counts.sum()), 1), max(int(counts.max()), 1)
        for at in np.flatnonzero(counts).tolist():
            start = -1 + at * width
            bars.append(
                {"label": lane.label, "from": start, "to": start + width, "foot": foot}
                | {"end": foot + max((LANE - 18) * int(counts[at]) / most, 1.0)}
                | {"range": f"{figure(start, '.2f')} to {figure(start + width, '.2f')}"}
                | {"told": f"{int(counts[at]):,} of {total:,} pairs"}
            )
    return bars, names


def _joined(lanes: Sequence[Lane]) -> int:
    """How many bins make a bar: more where there are few pairs, which would stand alone."""
    bins = lanes[0].counts.size
    filled = np.flatnonzero(sum(lane.counts for lane in lanes))
    bars = min(max(2 * math.sqrt(min(lane.counts.sum() for lane in lanes)), FEWEST), MOST)
    wanted = (filled[-1] - filled[0] + 1) / bars
    return next(size for size in range(1, bins + 1) if bins % size == 0 and size >= wanted)


def _written(references: dict[str, float], low: float, high: float) -> list[theme.Row]:
    """Where the names of references are written: each on its own level if two would touch."""
    rows: list[theme.Row] = []
    ends: list[float] = []
    for name, value in sorted(references.items(), key=lambda pair: pair[1]):
        text = f"{name} {figure(value, '.3g')}"
        x = (value - low) / (high - low) * WIDTH
        length = len(text) * theme.LETTER
        left = x + length > WIDTH + 40
        begin, end = (x - length, x) if left else (x, x + length)
        level = next((place for place, taken in enumerate(ends) if taken + 6 < begin), len(ends))
        ends[level : level + 1] = [end]
        rows.append(
            {"x": value, "text": text, "level": level, "align": "right" if left else "left", "dx": -3 if left else 3}
        )
    return rows
