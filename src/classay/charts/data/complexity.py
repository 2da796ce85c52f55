"""Complexity by class: its distribution, with the rows that the baseline predicts wrongly, and confused classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...data.row_complexity import Complexity
from ..kinds import Kinds, check_kind
from ..style import theme
from ..style.theme import cut
from .hardest import EVEN, RIGHT, WRONG, class_labels, full_name, hardest_table

PALE, DEEP = "#eef1f4", "#0b3a63"
KINDS: Kinds = {
    "both": (),
    "histogram": (),
    "confusion": (),
    "hardest": ("n", "texts", "images"),
}


def draw_complexity(complexity: Complexity, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (histogram, confusion), either alone, hardest (n, texts, images)."""
    check_kind(kind, KINDS, options)
    if kind == "hardest":
        return hardest_table(complexity, **options)
    if kind == "confusion":
        return nearest_classes(complexity)
    if kind == "histogram":
        return complexity_histogram(complexity)
    return theme.beside(complexity_histogram(complexity), nearest_classes(complexity))


# The distribution of complexity within each class.


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

    The hardest class comes first. Both scales are square roots, so that the many easy rows do not hide the few hard
    ones.
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
        "outcome:N",
        scale=alt.Scale(domain=["right", "wrong"], range=[RIGHT, WRONG]),
        legend=alt.Legend(title="baseline:", titleOrient="left", orient="bottom", symbolType="square", symbolSize=110),
    )
    tooltips = theme.tooltips(full="class", range="complexity", outcome="baseline", rows_text="rows")
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
    n_wrong, n = int((complexity.predicted != complexity.labels).sum()), len(complexity)
    last = " The last bar of a line includes all harder rows." if open_end else ""
    return theme.finished(
        layers,
        WIDTH,
        height,
        theme.titled(
            _histogram_title(lanes, n_wrong, n),
            "Farther right: harder to distinguish from another class. Bars above a line: rows whose nearest class is "
            "their own (the baseline is right); below: nearer to another (wrong). A bar twice as long is four times "
            f"the share of the class.{last}",
            width=WIDTH + 190,
        ),
    )


def _histogram_title(lanes: list[_Lane], n_wrong: int, n: int) -> str:
    if not n_wrong:
        return "No row is nearer to another class than to its own"
    share = f"{n_wrong:,} of {counted(n, 'row')} {'is' if n_wrong == 1 else 'are'} nearer to another class"
    return f"{share}; hardest: “{cut(lanes[0].label)}”" if len(lanes) > 1 else share


def _lanes(complexity: Complexity) -> list[_Lane]:
    """Classes with rows, the hardest first; the others are combined if there are many."""
    classes, codes, sizes = np.unique(complexity.labels, return_inverse=True, return_counts=True)
    mean = np.bincount(codes, complexity.values) / sizes
    order = np.argsort(-mean, kind="stable")
    own = order if order.size <= MOST_LANES else order[:KEPT]
    names = class_labels(classes[own])
    lanes = [_Lane(label, full_name(name), codes == code) for code, (name, label) in zip(own, names.items())]
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
    """Rows of bars and of lanes. Heights are in pixels from the bottom of the chart."""
    bar = np.clip(np.searchsorted(edges, complexity.values, side="right") - 1, 0, edges.size - 2)
    missed = complexity.predicted != complexity.labels
    counts = np.array(
        [
            [np.bincount(bar[lane.rows & (missed == outcome)], minlength=edges.size - 1) for outcome in (False, True)]
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
        counts_text = f"{counted(size, 'row')}, {n_wrong:,} wrong"
        names.append({"label": lane.label, "full": lane.full, "base": foot, "figure": counts_text})
        for side, outcome in enumerate(("right", "wrong")):
            for at in np.flatnonzero(counts[place, side]).tolist():
                endless = open_end and at == edges.size - 2
                long = max(unit * float(roots[place, side, at]), 1.5)  # a single row of many stays visible
                bars.append(
                    {
                        "full": lane.full,
                        "outcome": outcome,
                        "from": float(edges[at]),
                        "to": float(edges[at + 1]),
                        "base": foot,
                        "end": foot - long if side else foot + long,
                        "rows": int(counts[place, side, at]),
                        "rows_text": f"{counts[place, side, at]:,} of {size:,}",
                        "range": f"{edges[at]:.2g} or more" if endless else f"{edges[at]:.2g} to {edges[at + 1]:.2g}",
                    }
                )
    return bars, names


def _thinned(end: float) -> list[float]:
    """Ticks that are not too close to each other on a square-root scale."""
    kept: list[float] = []
    for tick in TICKS:
        if not kept or math.sqrt(tick) - math.sqrt(kept[-1]) > 0.06 * math.sqrt(end):
            kept.append(tick)
    return kept


# Which classes the baseline confuses.


MOST_CLASSES = 25
"""With more classes than this, the most confused pairs are ranked instead."""
MOST_VALUES = 14
"""With more classes than this, values are in tooltips only."""
PAIRS, NEAREST_WIDTH, STEP = 20, 260, 22


def nearest_classes(complexity: Complexity) -> alt.LayerChart:
    """Draw which share of each class is nearest to which: a heat map; with many classes, bars of the worst pairs."""
    counts = _counts(complexity)
    many = max(np.unique(complexity.labels).size, complexity.classes.size) > MOST_CLASSES
    return _pairs(complexity, counts) if many else _heatmap(complexity, counts)


def _counts(complexity: Complexity) -> pd.DataFrame:
    """How many rows of each label the baseline assigns to each class, and their share of the label's rows."""
    frame = pd.DataFrame({"label": complexity.labels, "predicted": complexity.predicted})
    counts = frame.groupby(["label", "predicted"], sort=True).size().rename("rows").reset_index()
    counts["of"] = counts.groupby("label")["rows"].transform("sum")
    counts["share"] = counts["rows"] / counts["of"]
    counts["wrong"] = counts["label"] != counts["predicted"]
    return counts


def _nearest_title(cells: list[theme.Row], drawn: str) -> str:
    """The worst pair, by the figure that is drawn."""
    mistaken = [cell for cell in cells if cell["wrong"]]
    if not mistaken:
        return "No class is confused with another"
    worst = max(mistaken, key=lambda cell: float(cell[drawn]))
    pair = f"“{cut(worst['label'], 24)}” with “{cut(worst['predicted'], 24)}”"
    share = f"{_percent(worst['share'])} of its rows" if drawn == "share" else f"{worst['rows_text']} rows"
    return f"Most confused: {pair} ({share})"


def _heatmap(complexity: Complexity, counts: pd.DataFrame) -> alt.LayerChart:
    labels, classes = np.unique(complexity.labels), complexity.classes
    # Labels that the geometry has never seen have a row and no column.
    names = class_labels(np.concatenate([classes, labels[~np.isin(labels, classes)]]))
    across, down = [names[name] for name in classes.tolist()], list(names.values())
    step = min(44, max(18, 400 // len(down)))
    x = alt.X(
        "predicted:N",
        title="nearest class (the baseline's prediction)",
        scale=alt.Scale(domain=across, paddingInner=0.04),
        axis=alt.Axis(domain=False, ticks=False, labelAngle=-40 if max(map(len, across)) > 3 else 0),
    )
    y = alt.Y(
        "label:N",
        title="label",
        scale=alt.Scale(domain=down, paddingInner=0.04),
        axis=alt.Axis(domain=False, ticks=False),
    )
    cells = _cells(counts, names)
    off = [cell for cell in cells if cell["wrong"]]
    most = max((cell["share"] for cell in off), default=1.0)
    fill = alt.Color(
        "share:Q",
        scale=alt.Scale(domain=[0, most], range=[PALE, "#8fb4d6", "#3d7ab5", DEEP]),
        legend=alt.Legend(title=None, format=".0%" if most > 0.02 else ".1%", tickCount=4, gradientLength=120)
        if off
        else None,
    )
    grid = [{"label": label, "predicted": other} for label in down for other in across]
    tooltips = theme.tooltips(full="label", other="nearest class", rows_text="rows")
    wash = theme.chart_of(grid).mark_rect(style="possible", opacity=0.45)
    layers: list[Any] = [wash.encode(x=x, y=y)]
    for chosen in (off, [cell for cell in cells if not cell["wrong"]]):
        if not chosen:
            continue
        base = theme.chart_of(chosen).encode(x=x, y=y, tooltip=tooltips)
        diagonal = chosen is not off
        rect = base.mark_rect(style="possible")
        layers.append(rect if diagonal else rect.encode(color=fill))
        if len(down) <= MOST_VALUES:
            # On the diagonal the text has the colour of notes; elsewhere it is fixed, as the cells below it are.
            text = base.mark_text(style="note", fontSize=11) if diagonal else base.mark_text(fontSize=11)
            ink = alt.condition(f"datum.share > {0.5 * most}", alt.value("white"), alt.value("#1f2933"))
            layers.append(text.encode(text="text:N") if diagonal else text.encode(text="text:N", color=ink))
    return theme.finished(
        layers,
        alt.Step(step),
        alt.Step(step),
        theme.titled(
            _nearest_title(cells, "share"),
            "Percentage of the rows of a label (line) that are nearest to a class (column). Grey diagonal: their own, "
            "as it should be. Coloured: another, so the baseline is wrong, or the label is.",
            width=max(step * len(across) + 170, 400),
        ),
    )


def _pairs(complexity: Complexity, counts: pd.DataFrame) -> alt.LayerChart:
    mistaken = counts[counts["wrong"]]
    # Ties in rows, which are common, are ordered by share.
    worst = mistaken.sort_values(["rows", "share"], ascending=False, kind="stable")[:PAIRS]
    names = class_labels(np.unique(np.concatenate([worst["label"].to_numpy(), worst["predicted"].to_numpy()])))
    pairs = [pair | {"place": place} for place, pair in enumerate(_cells(worst, names))]
    n_wrong = int((complexity.predicted != complexity.labels).sum())
    most = max((pair["rows"] for pair in pairs), default=1)
    y = alt.Y("place:O", axis=None)
    tooltips = theme.tooltips(full="label", other="nearest class", rows_text="rows")
    base = theme.chart_of(pairs).encode(y=y, tooltip=tooltips)
    x = alt.X("rows:Q", title="rows", scale=alt.Scale(domain=[0, most]), axis=alt.Axis(tickMinStep=1, tickCount=5))
    layers: list[Any] = [
        base.mark_bar(color=WRONG, height=STEP - 8).encode(x=x),
        base.mark_text(style="name", align="right").encode(x=alt.value(-10), text="pair:N"),
        base.mark_text(style="note", align="left").encode(x=alt.value(NEAREST_WIDTH + 10), text="rows_text:N"),
    ]
    if mistaken.empty:
        note = theme.chart_of([{"text": "Every row is nearest to its own class."}])
        layers = [note.mark_text(style="name", align="left").encode(x=alt.value(0), text="text:N")]
        subtitle = f"{counted(len(complexity), 'row')} in {counted(complexity.classes.size, 'class', 'classes')}."
    else:
        subtitle = (
            f"Rows with one label (first name) that are nearest to another class (second): the {len(pairs)} most "
            f"frequent of {counted(len(mistaken), 'such pair')}, with {sum(pair['rows'] for pair in pairs):,} of "
            f"{counted(n_wrong, 'wrong row')}."
        )
    height = STEP * max(len(pairs), 1)
    return theme.finished(
        layers, NEAREST_WIDTH, height, theme.titled(_nearest_title(pairs, "rows"), subtitle, width=NEAREST_WIDTH + 300)
    )


def _cells(counts: pd.DataFrame, names: dict[Any, str]) -> list[theme.Row]:
    cells = []
    for label, other, rows, of, share, is_wrong in counts.itertuples(index=False, name=None):
        cells.append(
            {
                "label": names[_item(label)],
                "predicted": names[_item(other)],
                "full": full_name(_item(label)),
                "other": full_name(_item(other)),
                "pair": f"{cut(names[_item(label)], 28)} → {cut(names[_item(other)], 28)}",
                "rows": int(rows),
                "share": float(share),
                "wrong": bool(is_wrong),
                "text": _percent(share).removesuffix("%"),
                "rows_text": f"{rows:,} of {of:,}",
            }
        )
    return cells


def _percent(share: float) -> str:
    """`12%`, `0.4%`, and `100%` only for all."""
    if 0 < share < 0.0095:
        return f"{100 * share:.1g}%"
    return "over 99%" if 0.995 <= share < 1 else f"{share:.0%}"


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def counted(n: int, one: str, many: str | None = None) -> str:
    """`1 row`, `1,797 rows`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
