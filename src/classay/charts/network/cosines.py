"""Charts of a network: cosines between classes, within them and of the rows of the head; the accuracy to expect."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from ...intervals import Estimate
from ...network.quality.features import FeatureQuality
from ...network.quality.head import HeadQuality
from ...network.quality.quality import NetworkQuality
from ...network.quality.rank_networks import Ranking
from ..kinds import Kinds, check_kind, without_options
from ..style import theme
from ..style.parts import histogram
from ..style.theme import cut, estimate_text, figure, labels, printable, within

FEATURE_KINDS: Kinds = {"both": (), "cosines": (), "distributions": ()}
NETWORK_KINDS: Kinds = {**FEATURE_KINDS, "bounds": (), "head": (), "pairs": ()}
WIDTH, STEP = 380, 26
ESTIMATE, TRUTH = theme.COLOURS[0], theme.COLOURS[1]
UNKNOWN = Estimate(math.nan, 0.0, 1.0)


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


# Counts of cosines, one histogram per kind of pair, below each other on the same axis.


def _histograms(
    counts: dict[str, NDArray[np.integer]], means: dict[str, str], title: str, sentence: str
) -> alt.VConcatChart:
    """Draw the cosines of every kind of pair, counted in equal bins from −1 to 1; `means` says where each lies."""
    bins = next(iter(counts.values())).size
    middles = -1 + (2 * np.arange(bins) + 1) / bins
    filled = np.flatnonzero(sum(counts.values()))
    span = float(middles[filled[0]] - 1 / bins), float(middles[filled[-1]] + 1 / bins)
    parts: list[alt.LayerChart] = []
    for name, times in counts.items():
        mean = float(np.average(middles, weights=times))
        heading = (title, sentence, f"{name}: {means[name]}") if not parts else (f"{name}: {means[name]}",)
        parts.append(histogram(middles, span, "cosine", mean, *heading, times=times, of="pairs"))
    return theme.below(*parts)


def _spread(mean: float, std: float, digits: int = 3) -> str:
    return f"mean {figure(mean, f'.{digits}f')}, two standard deviations {figure(2 * std, f'.{digits}f')}"


# The cosines between the rows of a head, compared with freshly initialised rows and the simplex.


@without_options
def head_cosines(head: HeadQuality) -> alt.VConcatChart:
    """Draw the cosines between the rows of a head, and those of fresh ones."""
    digits = 2 + math.ceil(math.log10(head.classes))
    return _histograms(
        {"Rows of this head": head.histogram, "Rows freshly initialised": head.fresh_histogram},
        {
            "Rows of this head": _spread(head.mean_cosine, head.cosine_std, digits),
            "Rows freshly initialised": "random rows have a mean of 0",
        },
        _title(head),
        f"Cosines between the rows of {head.classes} classes; H_w = {head.classifier_quality:.{digits}f} is 1 − their "
        f"mean. Softmax training moves the mean from 0, where random rows are, to the simplex, "
        f"{head.references['simplex']:.3g}.",
    )


def _title(head: HeadQuality) -> str:
    if head.classes == 2:
        return f"The two rows of the head are {head.mean_angle:.0f}° apart"
    if head.cosine_std > head.fresh["cosine_std"].high:
        return "Some rows of the head are more similar than others"
    return "Rows of the head are as similar as by chance"


# Do features of a class point in one direction, and those of different classes apart? Both distributions of cosines.


def within_between(quality: NetworkQuality | FeatureQuality) -> alt.VConcatChart:
    """Draw the cosines of features within classes, above those with the means of other classes."""
    counts = {
        name: quality.distributions.loc[quality.distributions["kind"] == kind, "count"].to_numpy()
        for name, kind in (("Within a class", "within"), ("With the mean of another class", "between"))
    }
    alike, between = float(quality.within), 1 - float(quality.between)
    low, high = quality.accuracy_bounds
    apart = alike - 2 * quality.within_std > between + 2 * quality.between_std
    of = "prototypes" if isinstance(quality, NetworkQuality) else "rows"
    return _histograms(
        counts,
        dict(zip(counts, (_spread(alike, quality.within_std), _spread(between, quality.between_std)))),
        "Features of different classes are apart" if apart else "Features within classes and between them overlap",
        f"Cosines of the features of {of}. The paper's bounds on accuracy are 1 minus the mean plus two standard "
        f"deviations between classes ({figure(low, '.2f')}), and the mean minus two within ({figure(high, '.2f')}).",
    )


# The range of accuracies to expect from networks: the paper's bounds, labelled rows, the truth if it is known.


@without_options
def accuracy_bounds(ranking: Ranking | NetworkQuality) -> alt.LayerChart:
    """Draw for each network the paper's interval, the accuracy by labelled rows with its own, and the true one."""
    rows = _bound_rows(ranking)
    scale = alt.Scale(domain=[0, 1], nice=False)
    y = alt.Y(
        "label:N",
        title=None,
        scale=alt.Scale(domain=[row["label"] for row in rows]),
        axis=alt.Axis(ticks=False, domain=False),
    )

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=scale, title="accuracy", axis=alt.Axis(tickCount=6, format="~g"))

    seen = theme.tooltips(
        name="network", paper="the paper's bounds", estimate="by labelled rows", truth="true accuracy"
    )

    def of(chosen: list[theme.Row]) -> alt.Chart:
        return theme.chart_of(chosen).encode(y=y, tooltip=seen)

    known = [row for row in rows if row["value"] is not None]
    unknown = [row for row in rows if row["value"] is None]
    true = [row for row in rows if row["true"] is not None]
    layers: list[Any] = [
        of(rows).mark_bar(style="faint", height=15, opacity=0.6).encode(x=across("lower"), x2="upper:Q"),
        of(unknown).mark_rule(style="reference", strokeDash=[2, 3]).encode(x=across("low"), x2="high:Q"),
        of(known).mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        of(known).mark_point(size=55, filled=True, opacity=1, color=ESTIMATE).encode(x=across("value")),
        of(true).mark_point(size=80, filled=True, opacity=1, color=TRUTH, shape="diamond").encode(x=across("true")),
    ]
    return theme.finished(layers, WIDTH, alt.Step(STEP), _bounds_title(ranking, bool(true), bool(known), bool(unknown)))


def _bounds_title(ranking: Ranking | NetworkQuality, true: bool, known: bool, unknown: bool) -> alt.TitleParams:
    title = "The range of accuracies to expect from a network, without data"
    if isinstance(ranking, Ranking) and true and not math.isnan(ranking.enclosed):
        title = f"The paper's bounds contain the true accuracy of {ranking.enclosed:.0%} of the networks"
    parts = ["Bars: the paper's bounds (none if they cross)."]
    if known:
        parts.append("Points: by labelled rows, with the 90% interval.")
    if unknown:
        parts.append("Dotted: unknown without labelled rows.")
    if true:
        parts.append("Diamonds: true accuracy.")
    return theme.titled(title, " ".join(parts), width=WIDTH + 140)


def _bound_rows(ranking: Ranking | NetworkQuality) -> list[theme.Row]:
    if isinstance(ranking, Ranking):
        names, labelled, bounds, accuracy = ranking.names, ranking.labelled, ranking.bounds, ranking.accuracy
    else:
        names, accuracy = (ranking.name,), {}
        labelled = {} if ranking.labelled is None else {ranking.name: ranking.labelled}
        bounds = {ranking.name: ranking.accuracy_bounds}
    rows: list[theme.Row] = []
    for name, label in zip(names, labels(names)):
        estimate, (lower, upper) = labelled.get(name, UNKNOWN), bounds[name]
        low, high = within(estimate, 0.0, 1.0)
        # Bounds that cross contain nothing: a bar of no length.
        ends = [min(max(end, 0.0), 1.0) for end in (lower, max(upper, lower))]
        rows.append(
            {"name": printable(name), "label": label, "lower": ends[0], "upper": ends[1], "low": low, "high": high}
            | {"value": min(max(estimate.value, 0.0), 1.0) if estimate.known else None, "true": accuracy.get(name)}
            | {"paper": f"{figure(lower, '.2f')} to {figure(upper, '.2f')}", "estimate": estimate_text(estimate, ".2f")}
            | {"truth": figure(accuracy[name], ".3f") if name in accuracy else "not known"}
        )
    return rows
