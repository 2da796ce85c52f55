"""Quality of features and of the last layer: cosines between classes, within and between them, and of head rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from ...network.quality.features import FeatureQuality
from ...network.quality.head import HeadQuality
from ...network.quality.quality import NetworkQuality
from ..kinds import Kinds, check_kind, without_options
from ..style import theme
from ..style.theme import COLOURS, cut, figure, labels, printable
from .accuracy_bounds import accuracy_bounds

FEATURE_KINDS: Kinds = {"both": (), "cosines": (), "distributions": ()}
NETWORK_KINDS: Kinds = {**FEATURE_KINDS, "bounds": (), "head": (), "pairs": ()}


def draw_feature_quality(quality: FeatureQuality, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (class cosines beside distributions), cosines, distributions."""
    check_kind(kind, FEATURE_KINDS, options)
    return _features(quality, kind)


def draw_network_quality(quality: NetworkQuality, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (class cosines beside distributions), cosines, distributions, bounds, head, pairs (of its rows)."""
    check_kind(kind, NETWORK_KINDS, options)
    if kind == "pairs":
        return class_cosines(quality, of="rows")
    if kind == "bounds":
        return accuracy_bounds(quality)
    if kind == "head":
        return head_cosines(quality.head)
    return _features(quality, kind)


def _features(quality: NetworkQuality | FeatureQuality, kind: str) -> alt.TopLevelMixin:
    if kind == "cosines":
        return class_cosines(quality)
    if kind == "distributions":
        return within_between(quality)
    return theme.beside(class_cosines(quality), within_between(quality))


# Which classes have similar features: cosines of the class means.


MOST_VALUES, MOST_CLASSES = 14, 30
"""With more classes, values are in tooltips only; with still more, only those of the closest pairs are drawn."""
RANGE = ["#f1f5f9", "#9fbfdc", "#3d7ab5", "#08306b"]


def class_cosines(quality: NetworkQuality | FeatureQuality, of: str = "features") -> alt.LayerChart:
    """Draw the cosine of every two classes' mean features, or with `of="rows"` of the head's rows.

    Similar classes are next to each other. Rows of the head say more about which classes are confused.
    """
    names = [str(name) for name in quality.per_class["class"]]
    by_rows = of == "rows" and isinstance(quality, NetworkQuality)
    whole = quality.row_cosines if isinstance(quality, NetworkQuality) and by_rows else quality.cosines
    chosen = _chosen(whole)
    matrix = whole[np.ix_(chosen, chosen)]
    full = [printable(names[place]) for place in chosen]
    short = labels([names[place] for place in chosen])
    scale = alt.Scale(domain=[short[place] for place in _order(matrix)])
    least = min(0.0, float(np.floor(matrix.min() * 10) / 10))
    step = min(48, max(16, 440 // len(short)))
    fill = alt.Color(
        "value:Q",
        scale=alt.Scale(domain=[least, 1], range=RANGE),
        legend=alt.Legend(title=None, gradientLength=min(step * len(short), 180), tickCount=5),
    )
    x = alt.X("second:N", title=None, scale=scale, axis=alt.Axis(domain=False, ticks=False, labelAngle=-40))
    y = alt.Y("first:N", title=None, scale=scale, axis=alt.Axis(domain=False, ticks=False))
    cells = [
        {"first": short[a], "second": short[b], "one": full[a], "other": full[b], "value": float(matrix[a, b])}
        | {"figure": figure(float(matrix[a, b]), ".3f"), "text": figure(float(matrix[a, b]), ".2f")}
        | {"dark": float(matrix[a, b]) > least + 0.55 * (1 - least)}
        for a in range(len(short))
        for b in range(len(short))
    ]
    seen = theme.tooltips(one="class", other="other", figure="cosine")
    layers: list[Any] = [
        theme.chart_of(cells).mark_rect(stroke="white", strokeWidth=1).encode(x=x, y=y, color=fill, tooltip=seen)
    ]
    if len(short) <= MOST_VALUES:
        # The text colour is fixed because the cells below it are, on a dark page too.
        ink = alt.condition("datum.dark", alt.value("white"), alt.value("#1f2933"))
        pairs = theme.chart_of([cell for cell in cells if cell["first"] != cell["second"]])
        layers.append(pairs.mark_text(fontSize=11).encode(x=x, y=y, text="text:N", color=ink))
    nearest = (quality.per_pair.sort_values("rows", ascending=False) if by_rows else quality.per_pair).iloc[0]
    some = f" Of {len(names)} classes, those of the closest pairs." if len(chosen) < len(names) else ""
    return theme.finished(
        layers,
        alt.Step(step),
        alt.Step(step),
        theme.titled(
            f"Most similar: “{cut(str(nearest['first']))}” and “{cut(str(nearest['second']))}”",
            f"Cosine of the {'rows of the head' if by_rows else 'mean features'} of every two classes: 1: same "
            f"direction, 0: at right angles. Similar classes are next to each other.{some}",
            width=max(step * len(short) + 120, 380),
        ),
    )


def _chosen(matrix: NDArray[np.float64]) -> NDArray[np.int64]:
    """The classes to draw: all, or those of the closest pairs."""
    if len(matrix) <= MOST_CLASSES:
        return np.arange(len(matrix))
    first, second = np.triu_indices(len(matrix), 1)
    order = np.argsort(-matrix[first, second], kind="stable")
    in_closest_pairs = dict.fromkeys(int(place) for pair in zip(first[order], second[order]) for place in pair)
    return np.array(sorted(list(in_closest_pairs)[:MOST_CLASSES]))


def _order(matrix: NDArray[np.float64]) -> list[int]:
    """Positions of classes, similar ones next to each other."""
    if len(matrix) < 3:
        return list(range(len(matrix)))
    apart = np.clip(1 - (matrix + matrix.T) / 2, 0, None)
    np.fill_diagonal(apart, 0)
    tree = hierarchy.linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    order: list[int] = hierarchy.leaves_list(tree).tolist()
    return order


# Counts of cosines, one lane per kind of pair, above one axis from −1 to 1.


WIDTH, LANE, GAP = 420, 84, 22
FEWEST, MOST = 10, 40
"""Approximate number of bars of a lane, by how many pairs there are."""


@dataclass(frozen=True)
class Lane:
    """One kind of pair: its name, cosines counted in equal bins from −1 to 1, their mean, spread, colour."""

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
    """Draw lanes one below the other, their means with two standard deviations, and references across all of them."""
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
    seen = theme.tooltips(label="pairs", range="cosine", count_text="count")
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
    """Rows of bars and of lanes. Heights are in pixels from the bottom of the chart."""
    joined = _joined(lanes)
    bars: list[theme.Row] = []
    names: list[theme.Row] = []
    for place, lane in enumerate(lanes):
        counts = lane.counts.reshape(-1, joined).sum(axis=1)
        width = 2 / counts.size
        foot = (LANE + GAP) * (len(lanes) - 1 - place) + GAP
        mean_text = f"mean {figure(lane.mean, f'.{lane.digits}f')}, spread {figure(lane.std, f'.{lane.digits}f')}"
        ends = [min(max(lane.mean + side * 2 * lane.std, -1.0), 1.0) for side in (-1, 1)]
        names.append(
            {"label": lane.label, "foot": foot, "under": foot - 8, "top": foot + LANE - 4, "mean": lane.mean}
            | {"low": ends[0], "high": ends[1], "figure": mean_text}
        )
        total, most = max(int(counts.sum()), 1), max(int(counts.max()), 1)
        for at in np.flatnonzero(counts).tolist():
            start = -1 + at * width
            bars.append(
                {"label": lane.label, "from": start, "to": start + width, "foot": foot}
                | {"end": foot + max((LANE - 18) * int(counts[at]) / most, 1.0)}
                | {"range": f"{figure(start, '.2f')} to {figure(start + width, '.2f')}"}
                | {"count_text": f"{int(counts[at]):,} of {total:,} pairs"}
            )
    return bars, names


def _joined(lanes: Sequence[Lane]) -> int:
    """How many bins make a bar: more if there are few pairs, which would otherwise be isolated."""
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


# The cosines between the rows of a head, compared with freshly initialised rows and the simplex.


@without_options
def head_cosines(head: HeadQuality) -> alt.LayerChart:
    """Draw the cosines between the rows of a head, and those of fresh ones, with the simplex and random rows."""
    digits = 2 + math.ceil(math.log10(head.classes))
    lanes = [
        Lane("rows of this head", head.histogram, head.mean_cosine, head.cosine_std, COLOURS[0], digits),
        Lane.counted("rows freshly initialised", head.fresh_histogram, COLOURS[7], digits),
    ]
    return cosine_lanes(
        lanes,
        {"random rows": 0.0, "simplex": head.references["simplex"]},
        _title(head),
        f"Cosines between the rows of {head.classes} classes; H_w = {head.classifier_quality:.{digits}f} is 1 − their "
        "mean. Softmax training moves the mean from 0, where random rows are, to the simplex. Below each lane: mean "
        "and two standard deviations.",
        axis="cosine between two rows",
    )


def _title(head: HeadQuality) -> str:
    if head.classes == 2:
        return f"The two rows of the head are {head.mean_angle:.0f}° apart"
    if head.cosine_std > head.fresh["cosine_std"].high:
        return "Some rows of the head are more similar than others"
    return "Rows of the head are as similar as by chance"


# Do features of a class point in one direction, and those of different classes apart? Both distributions of cosines.


def within_between(quality: NetworkQuality | FeatureQuality) -> alt.LayerChart:
    """Draw the cosines of features within classes, above those with the means of other classes."""
    counts = {
        kind: quality.distributions.loc[quality.distributions["kind"] == kind, "count"].to_numpy()
        for kind in ("within", "between")
    }
    within, between = float(quality.within), 1 - float(quality.between)
    lanes = [
        Lane("within a class", counts["within"], within, quality.within_std, COLOURS[0]),
        Lane("with the mean of another class", counts["between"], between, quality.between_std, COLOURS[1]),
    ]
    low, high = quality.accuracy_bounds
    apart = within - 2 * quality.within_std > between + 2 * quality.between_std
    of = "prototypes" if isinstance(quality, NetworkQuality) else "rows"
    return cosine_lanes(
        lanes,
        {},
        "Features of different classes are apart" if apart else "Features within classes and between them overlap",
        f"Cosines of the features of {of}. Below each lane: mean and two standard deviations. The paper's bounds on "
        f"accuracy are 1 minus the right end of the lower line ({figure(low, '.2f')}) and the left end of the upper "
        f"one ({figure(high, '.2f')}).",
        axis="cosine",
    )
