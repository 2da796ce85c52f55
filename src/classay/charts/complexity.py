"""How complexity is spread within each class, and which rows the baseline gets wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from ..data.complexity import Complexity
from . import theme
from .baseline import EVEN, RIGHT, WRONG, called, counted, in_full, wrong
from .words import cut

WIDTH, LANE, GAP = 400, 46, 8
BARS = 28
MOST_LANES, KEPT = 10, 8
"""With more classes than `MOST_LANES`, the hardest `KEPT` have a lane each and the others share one."""
TICKS = (0, 0.05, 0.2, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500, 1000)


@dataclass(frozen=True)
class _Lane:
    """The rows of one class, or of several."""

    label: str
    full: str
    rows: NDArray[np.bool_]


def complexity_histogram(complexity: Complexity) -> alt.LayerChart:
    """Draw how hard the rows of each class are: above its line those that the baseline gets right, below the others.

    The hardest class comes first. Both scales are square roots: the many easy rows do not hide the few hard ones.
    """
    lanes = _lanes(complexity)
    edges, open_end = _edges(complexity.values)
    bars, names = _drawn(complexity, lanes, edges, open_end)
    height = LANE * len(lanes)
    sideways = alt.Scale(type="sqrt", domain=[0, float(edges[-1])], nice=False)
    ticks = [tick for tick in _thinned(edges[-1]) if tick <= edges[-1]]

    def across(field: str) -> alt.X:
        axis = alt.Axis(values=ticks, format="~g", labelOverlap="greedy", offset=4)
        return alt.X(f"{field}:Q", title="complexity (square-root scale)", scale=sideways, axis=axis)

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[0, height], nice=False), axis=None)

    line = theme.chart_of([{"x": EVEN, "text": "log 2: another class is as near"}])
    base = theme.chart_of(names)
    fill = alt.Color(
        "answer:N",
        scale=alt.Scale(domain=["right", "wrong"], range=[RIGHT, WRONG]),
        legend=alt.Legend(title="baseline:", titleOrient="left", orient="bottom", symbolType="square", symbolSize=110),
    )
    tooltips = theme.tooltips(full="class", range="complexity", answer="baseline", told="rows")
    layers: list[Any] = [
        base.mark_rule(style="faint").encode(y=up("base")),
        line.mark_rule(style="reference", strokeDash=[4, 3]).encode(x=across("x")),
        line.mark_text(style="note", align="left", dx=4).encode(x=across("x"), y=alt.value(-7), text="text:N"),
        theme.chart_of(bars)
        .mark_rect(x2Offset=-0.8)
        .encode(x=across("from"), x2="to:Q", y=up("base"), y2="end:Q", color=fill, tooltip=tooltips),
        base.mark_text(style="name", align="right", dy=-6).encode(x=alt.value(-10), y=up("base"), text="label:N"),
        base.mark_text(style="note", align="left", dy=-6).encode(
            x=alt.value(WIDTH + 10), y=up("base"), text="figure:N"
        ),
    ]
    n_wrong, n = int(wrong(complexity).sum()), len(complexity)
    last = " The last bar of a line holds all harder rows." if open_end else ""
    return theme.finished(
        layers,
        WIDTH,
        height,
        theme.titled(
            _title(lanes, n_wrong, n),
            "Farther right: harder to tell from another class. Bars above a line: rows whose nearest class is their "
            "own (the baseline is right); below: nearer to another (wrong). A bar twice as long is four times the "
            f"share of the class.{last}",
            width=WIDTH + 190,
        ),
    )


def _title(lanes: list[_Lane], n_wrong: int, n: int) -> str:
    if not n_wrong:
        return "No row is nearer to another class than to its own"
    told = f"{n_wrong:,} of {counted(n, 'row')} {'is' if n_wrong == 1 else 'are'} nearer to another class"
    return f"{told}; hardest: “{cut(lanes[0].label)}”" if len(lanes) > 1 else told


def _lanes(complexity: Complexity) -> list[_Lane]:
    """Classes with rows, the hardest first, the others gathered if they are many."""
    classes, codes, sizes = np.unique(complexity.labels, return_inverse=True, return_counts=True)
    mean = np.bincount(codes, complexity.values) / sizes
    order = np.argsort(-mean, kind="stable")
    own = order if order.size <= MOST_LANES else order[:KEPT]
    names = called(classes[own])
    lanes = [_Lane(label, in_full(name), codes == code) for code, (name, label) in zip(own, names.items())]
    if own.size < order.size:
        rest = f"other {order.size - own.size:,} classes"
        lanes.append(_Lane(rest, rest, ~np.isin(codes, own)))
    return lanes


def _edges(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    """Edges of bars, of equal width on the square-root scale and one of them at log 2; whether the last has no end."""
    most = float(values.max())
    reach = min(most, max(4 * EVEN, 1.5 * float(np.quantile(values, 0.99))))
    even, end = math.sqrt(EVEN), max(math.sqrt(reach), 1.25 * math.sqrt(EVEN))
    width = even / max(round(BARS * even / end), 2)
    edges = np.square(width * np.arange(math.ceil(end / width - 1e-9) + 1, dtype=np.float64))
    return edges, bool(most > edges[-1])


def _drawn(
    complexity: Complexity, lanes: list[_Lane], edges: NDArray[np.float64], open_end: bool
) -> tuple[list[theme.Row], list[theme.Row]]:
    """Rows of bars and of lanes. Heights are in pixels from the foot of the chart."""
    bar = np.clip(np.searchsorted(edges, complexity.values, side="right") - 1, 0, edges.size - 2)
    missed = wrong(complexity)
    counts = np.array(
        [
            [np.bincount(bar[lane.rows & (missed == answer)], minlength=edges.size - 1) for answer in (False, True)]
            for lane in lanes
        ]
    )
    roots = np.sqrt(counts / counts.sum(axis=(1, 2), keepdims=True))
    above, below = roots[:, 0].max(), roots[:, 1].max()
    unit = (LANE - GAP) / (above + below)
    bars: list[theme.Row] = []
    names: list[theme.Row] = []
    for place, lane in enumerate(lanes):
        foot = LANE * (len(lanes) - 1 - place) + GAP / 2 + unit * float(below)
        size, n_wrong = int(counts[place].sum()), int(counts[place, 1].sum())
        told = f"{counted(size, 'row')}, {n_wrong:,} wrong"
        names.append({"label": lane.label, "full": lane.full, "base": foot, "figure": told})
        for side, answer in enumerate(("right", "wrong")):
            for at in np.flatnonzero(counts[place, side]).tolist():
                endless = open_end and at == edges.size - 2
                long = max(unit * float(roots[place, side, at]), 1.5)  # a single row of many is still seen
                bars.append(
                    {
                        "full": lane.full,
                        "answer": answer,
                        "from": float(edges[at]),
                        "to": float(edges[at + 1]),
                        "base": foot,
                        "end": foot - long if side else foot + long,
                        "rows": int(counts[place, side, at]),
                        "told": f"{counts[place, side, at]:,} of {size:,}",
                        "range": f"{edges[at]:.2g} or more" if endless else f"{edges[at]:.2g} to {edges[at + 1]:.2g}",
                    }
                )
    return bars, names


def _thinned(end: float) -> list[float]:
    """Ticks that are not too near to each other on a square-root scale."""
    kept: list[float] = []
    for tick in TICKS:
        if not kept or math.sqrt(tick) - math.sqrt(kept[-1]) > 0.06 * math.sqrt(end):
            kept.append(tick)
    return kept
