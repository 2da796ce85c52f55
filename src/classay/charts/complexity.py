"""Complexity by class: its distribution, rows that the baseline predicts wrongly, confused classes, hardest rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..data.row_complexity import Complexity
from ..expect import InputError, whole
from .kinds import Kinds
from .style import theme
from .style.panel import DASHED, Panel, numbers
from .style.parts import heat_map
from .style.picture_files import pictures
from .style.theme import Row, columns, cut, figure, labels, printable

RIGHT, WRONG = theme.COLOURS[0], theme.COLOURS[1]
"""Rows that the baseline predicts correctly, and others: blue and vermilion, distinguishable with any colour vision."""
EVEN = float(np.log(2))
"""The complexity of a row that is as near to one other class as to its own."""


def class_labels(values: NDArray[Any]) -> dict[Any, str]:
    """A short label for each of some classes, all different."""
    return dict(zip(values.tolist(), labels([str(name) for name in values.tolist()])))


def full_name(value: Any) -> str:
    """A class as tooltips name it."""
    return printable(str(value))[:400]


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
    height, end = LANE * len(lanes), float(edges[-1])
    ticks = [tick for tick in _thinned(end) if tick <= end]
    scale = alt.Scale(type="sqrt", domain=[0, end], nice=False)
    across = numbers(
        "complexity (square-root scale)", scale=scale, values=ticks, format="~g", labelOverlap="greedy", offset=4
    )
    panel = Panel(across, numbers(ends=(0, height), field="base"), WIDTH, height)
    fill = alt.Color(
        "outcome:N",
        scale=alt.Scale(domain=["right", "wrong"], range=[RIGHT, WRONG]),
        legend=alt.Legend(title="baseline:", titleOrient="left", orient="bottom", symbolType="square", symbolSize=110),
    )
    tips = {"full": "class", "range": "complexity", "outcome": "baseline", "rows_text": "rows"}
    layers = [
        panel.mark("rule", names, style="faint"),
        *panel.border(EVEN, "log 2: another class is as near", style="reference", strokeDash=DASHED),
        panel.mark("rect", bars, tips, x2Offset=-0.8, color=fill, x="from", x2="to", y2="end"),
        panel.mark("text", names, style="name", align="right", dy=-6, x=-10, text="label"),
        panel.mark("text", names, style="note", align="left", dy=-6, x=WIDTH + 10, text="figure"),
    ]
    n_wrong = int((complexity.predicted != complexity.labels).sum())
    title = (
        f"{n_wrong:,} of {_counted(len(complexity), 'row')} {'is' if n_wrong == 1 else 'are'} nearer to another class"
    )
    title += f"; hardest: “{cut(lanes[0].label)}”" if len(lanes) > 1 else ""
    last = " The last bar of a line includes all harder rows." if open_end else ""
    return panel.drawn(
        layers,
        title if n_wrong else "No row is nearer to another class than to its own",
        "Farther right: harder to distinguish from another class. Bars above a line: rows whose nearest class is "
        "their own (the baseline is right); below: nearer to another (wrong). A bar twice as long is four times "
        f"the share of the class.{last}",
        wrap=WIDTH + 190,
    )


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
) -> tuple[list[Row], list[Row]]:
    """Rows of bars and of lanes. Heights are in pixels from the bottom of the chart."""
    place_of = np.clip(np.searchsorted(edges, complexity.values, side="right") - 1, 0, edges.size - 2)
    missed = complexity.predicted != complexity.labels
    sides = [[lane.rows & (missed == wrong) for wrong in (False, True)] for lane in lanes]
    counts = np.array([[np.bincount(place_of[rows], minlength=edges.size - 1) for rows in both] for both in sides])
    roots = np.sqrt(counts / counts.sum(axis=(1, 2), keepdims=True))
    above, below = roots[:, 0].max(), roots[:, 1].max()
    unit = (LANE - GAP) / (above + below)
    bars: list[Row] = []
    names: list[Row] = []
    for place, lane in enumerate(lanes):
        foot = LANE * (len(lanes) - 1 - place) + GAP / 2 + unit * float(below)
        size, n_wrong = int(counts[place].sum()), int(counts[place, 1].sum())
        text = f"{_counted(size, 'row')}, {n_wrong:,} wrong"
        names.append({"label": lane.label, "full": lane.full, "base": foot, "figure": text})
        for side, at in zip(*np.nonzero(counts[place])):
            n, (left, right) = int(counts[place, side, at]), edges[at : at + 2].tolist()
            long = max(unit * float(roots[place, side, at]), 1.5)  # a single row of many stays visible
            endless = open_end and at == edges.size - 2
            bar = {"full": lane.full, "outcome": ("right", "wrong")[side], "from": left, "to": right, "rows": n}
            bar |= {"base": foot, "end": foot - long if side else foot + long, "rows_text": f"{n:,} of {size:,}"}
            bars.append(bar | {"range": f"{left:.2g} or more" if endless else f"{left:.2g} to {right:.2g}"})
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
PAIRS, PAIRS_WIDTH, PAIRS_STEP = 20, 260, 22
PLACES = {"field": "place", "type": "ordinal", "axis": None, "scale": alt.Scale(paddingInner=0, paddingOuter=0)}
"""Rows one below the other, by number."""
CELL_TIPS = {"full": "label", "other": "nearest class", "rows_text": "rows"}


def nearest_classes(complexity: Complexity) -> alt.LayerChart:
    """Draw which share of each class is nearest to which: a heat map; with many classes, bars of the worst pairs."""
    frame = pd.DataFrame({"label": complexity.labels, "predicted": complexity.predicted})
    counts = frame.groupby(["label", "predicted"], sort=True).size().rename("rows").reset_index()
    counts["of"] = counts.groupby("label")["rows"].transform("sum")
    counts["share"] = counts["rows"] / counts["of"]
    many = max(np.unique(complexity.labels).size, complexity.classes.size) > MOST_CLASSES
    return _pairs(complexity, counts) if many else _heatmap(complexity, counts)


def _heatmap(complexity: Complexity, counts: pd.DataFrame) -> alt.LayerChart:
    present, classes = np.unique(complexity.labels), complexity.classes
    # Labels that the geometry has never seen have a row and no column.
    names = class_labels(np.concatenate([classes, present[~np.isin(present, classes)]]))
    across, down = [names[name] for name in classes.tolist()], list(names.values())
    cells = _cells(counts, names)
    filled = {(cell["down"], cell["across"]) for cell in cells}
    none = {"value": 0.0, "text": "", "rows_text": "none"}
    empty = [
        {"down": label, "across": other, "full": label, "other": other, **none}
        for label in down
        for other in across
        if (label, other) not in filled and label != other
    ]
    most = max((cell["value"] for cell in cells if cell["value"] is not None), default=1.0)
    worst = max(cells, key=lambda cell: cell["value"] or 0.0)
    share = f"({_percent(worst['value'])} of its rows)" if worst["value"] else ""
    return heat_map(
        [*cells, *empty],
        across,
        (0, most),
        CELL_TIPS,
        _nearest_title(worst, share) if share else "No class is confused with another",
        "Percentage of the rows of a label (line) that are nearest to a class (column). Grey diagonal: their own, "
        "as it should be. Coloured: another, so the baseline is wrong, or the label is.",
        down=down,
        axes=("nearest class (the baseline's prediction)", "label"),
        legend=(".0%" if most > 0.02 else ".1%") if share else None,
        largest=44,
    )


def _nearest_title(worst: Row, share: str) -> str:
    return f"Most confused: “{cut(worst['down'], 24)}” with “{cut(worst['across'], 24)}” {share}"


def _pairs(complexity: Complexity, counts: pd.DataFrame) -> alt.LayerChart:
    mistaken = counts[counts["label"] != counts["predicted"]]
    # Ties in rows, which are common, are ordered by share.
    worst = mistaken.sort_values(["rows", "share"], ascending=False, kind="stable")[:PAIRS]
    names = class_labels(np.unique(np.concatenate([worst["label"].to_numpy(), worst["predicted"].to_numpy()])))
    pairs = [pair | {"place": place} for place, pair in enumerate(_cells(worst, names))]
    most = max((pair["rows"] for pair in pairs), default=1)
    across = numbers("rows", field="rows", scale=alt.Scale(domain=[0, most]), tickMinStep=1, tickCount=5)
    panel = Panel(across, PLACES, PAIRS_WIDTH, PAIRS_STEP * max(len(pairs), 1))
    if not pairs:
        note = panel.mark("text", [{"text": "Every row is nearest to its own class."}], style="name", align="left",
                          x=0, y=None, text="text")  # fmt: skip
        about = f"{_counted(len(complexity), 'row')} in {complexity.classes.size:,} classes."
        return panel.drawn([note], "No class is confused with another", about, wrap=PAIRS_WIDTH + 300)
    layers = [
        panel.mark("bar", pairs, CELL_TIPS, color=WRONG, height=PAIRS_STEP - 8),
        panel.mark("text", pairs, CELL_TIPS, style="name", align="right", x=-10, text="pair"),
        panel.mark("text", pairs, CELL_TIPS, style="note", align="left", x=PAIRS_WIDTH + 10, text="rows_text"),
    ]
    return panel.drawn(
        layers,
        _nearest_title(pairs[0], f"({pairs[0]['rows_text']} rows)"),
        f"Rows with one label (first name) that are nearest to another class (second): the {len(pairs)} most "
        f"frequent of {_counted(len(mistaken), 'such pair')}, with {worst['rows'].sum():,} of "
        f"{_counted(int(mistaken['rows'].sum()), 'wrong row')}.",
        wrap=PAIRS_WIDTH + 300,
    )


def _cells(counts: pd.DataFrame, names: dict[Any, str]) -> list[Row]:
    """A cell for each label and class with rows; those of a label's own class have no value."""
    fields = (counts[name].tolist() for name in ("label", "predicted", "rows", "of", "share"))
    return [
        {"down": names[label], "across": names[other], "full": full_name(label), "other": full_name(other)}
        | {
            "pair": f"{cut(names[label], 28)} → {cut(names[other], 28)}",
            "rows": rows,
            "rows_text": f"{rows:,} of {of:,}",
        }
        | {"value": share if label != other else None, "text": _percent(share).removesuffix("%")}
        for label, other, rows, of, share in zip(*fields)
    ]


def _percent(share: float) -> str:
    """`12%`, `0.4%`, and `100%` only for all."""
    if 0 < share < 0.0095:
        return f"{100 * share:.1g}%"
    return "over 99%" if 0.995 <= share < 1 else f"{share:.0%}"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


# The hardest rows as a table, with their text or image.


BAR, LETTER, SPACE, STEP, PICTURE = 110, 6.2, 22, 26, 52
LONGEST_TEXT, LONGEST_TIP = 80, 2000


def hardest_table(
    complexity: Complexity, n: int = 10, texts: ArrayLike | None = None, images: ArrayLike | None = None
) -> alt.LayerChart:
    """Draw the n rows of highest complexity as a table: label, what they look like, complexity, and text or image.

    texts : the text of each row of the data; the tooltip has all of it
    images : (rows, height, width), or (rows, height, width, 3) for colours
    """
    frame = complexity.hardest(whole(n, "n", at_least=1))
    chosen = frame["row"].to_numpy()
    names = class_labels(np.unique(np.concatenate([frame["label"].to_numpy(), frame["nearest"].to_numpy()])))
    rows: list[Row] = []
    wanted = ("row", "label", "predicted", "nearest", "complexity", "own_distance", "nearest_distance")
    for number, label, predicted, nearest, value, own, other in zip(*(frame[name].tolist() for name in wanted)):
        row = {"place": len(rows), "row": f"{number}", "label": names[label], "full_label": full_name(label)}
        row |= {"nearest": names[nearest], "full_nearest": full_name(nearest), "none": 0.0, "complexity": value}
        row |= {"figure": figure(value, ".2f" if value < 1000 else ".3g"), "wrong": label != predicted}
        row |= {"verdict": "the other class is nearer" if own > other else "its own class is nearer"}
        rows.append(row | {"distances": f"{own:.3g} to its own, {other:.3g} to the other"})
    for row, text in zip(rows, [] if texts is None else _texts(texts, chosen, len(complexity))):
        row |= {"text": cut(text, LONGEST_TEXT), "full_text": text}
    for row, image in zip(rows, [] if images is None else pictures(images, chosen, len(complexity))):
        row["image"] = image
    return _table(rows)


def _table(rows: list[Row]) -> alt.LayerChart:
    heads = {"row": "row", "image": "image", "label": "label", "nearest": "looks like", "complexity": "complexity"}
    heads = {name: head for name, head in (heads | {"text": "text"}).items() if name in rows[0]}
    widths = [_column_width(rows, name, head) for name, head in heads.items()]
    starts = dict(zip(heads, np.cumsum([0, *widths]).tolist()))
    total, step = int(sum(widths) - SPACE), PICTURE + 8 if "image" in heads else STEP
    left, most = starts["complexity"] + 46, max(max(row["complexity"] for row in rows), 2 * EVEN)
    scale = alt.Scale(domain=[0, most], range=[left, left + BAR - 4], nice=False)
    panel = Panel(numbers(scale=scale), PLACES, total, alt.Step(step))
    tips = {"row": "row", "full_label": "label", "full_nearest": "looks like", "figure": "complexity"}
    tips |= {"distances": "distance", "verdict": "so"} | ({"full_text": "text"} if "text" in heads else {})
    fill = alt.condition("datum.wrong", alt.value(WRONG), alt.value(RIGHT))
    name = {"style": "name", "align": "left"}
    layers = [
        panel.mark("rule", rows, tips, style="faint", strokeWidth=0.5, yOffset=step / 2, x=0, x2=total),
        panel.mark("bar", rows, tips, height=11, color=fill, x="none", x2="complexity"),
        panel.rule("x", EVEN, strokeDash=DASHED),
        panel.mark("text", rows, tips, style="note", align="left", x=starts["row"], text="row"),
        *(panel.mark("text", rows, tips, x=starts[field], text=field, **name)
          for field in ("label", "nearest", "text") if field in heads),
        panel.mark("text", rows, tips, style="name", align="right", x=left - 8, text="figure"),
        *(panel.mark("text", [{"text": head}], style="note", align="left", x=starts[field], y=-9, text="text")
          for field, head in heads.items()),
    ]  # fmt: skip
    if "image" in heads:
        picture = {"width": PICTURE, "height": PICTURE, "align": "left", "aspect": True}
        layers.append(panel.mark("image", rows, tips, x=starts["image"], url="image", **picture))
    n_wrong = sum(row["wrong"] for row in rows)
    ending = f"s: {n_wrong} of {len(rows)} {'is' if n_wrong == 1 else 'are'} nearer to another class"
    return panel.drawn(
        layers,
        f"The hardest row{'' if len(rows) == 1 else ending}",
        "Looks like: the nearest class other than its label. Dashed: log 2, as near to that class as to its own. "
        "Orange: nearer to it than to its own, so the row is hard or its label is wrong.",
        wrap=min(max(total, 420), 640),
    )


def _texts(texts: ArrayLike, rows: NDArray[np.int64], n_rows: int) -> list[str]:
    if isinstance(texts, str) or not hasattr(texts, "__len__"):
        raise InputError(f"`texts` is {type(texts).__name__}; expected a list with one text per row.")
    all_texts: Any = list(texts)  # type: ignore[arg-type]  # a Series by position, whatever its index
    if len(all_texts) != n_rows:
        raise InputError(f"`texts` has {len(all_texts)} texts but the result has {n_rows} rows; they must match.")
    return [cut(printable(all_texts[row]), LONGEST_TIP) for row in rows.tolist()]


def _column_width(rows: list[Row], name: str, head: str) -> float:
    """Pixels of a column, including the space to its right."""
    if name == "image":
        return PICTURE + SPACE
    if name == "complexity":
        return 46 + BAR + SPACE
    return max(len(head), *(columns(row[name]) for row in rows)) * LETTER + SPACE


COMPLEXITY: Kinds = {
    "both": lambda complexity: theme.beside(complexity_histogram(complexity), nearest_classes(complexity)),
    "histogram": complexity_histogram,
    "confusion": nearest_classes,
    "hardest": hardest_table,
}
