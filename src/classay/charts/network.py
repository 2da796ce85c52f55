"""Charts of a network: cosines between classes, within them and of the head's rows; accuracy to expect; prototypes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from ..expect import InputError, whole
from ..intervals import Estimate
from ..network.prototypes.prototypes import Prototypes
from ..network.prototypes.schedule import SEED
from ..network.quality.features import FeatureQuality
from ..network.quality.head import HeadQuality
from ..network.quality.quality import NetworkQuality
from ..network.quality.rank_networks import Ranking
from .kinds import Kinds
from .style import theme
from .style.panel import Panel, names
from .style.parts import by_name, heat_map, histogram
from .style.picture_files import pictures
from .style.theme import Row, cut, figure, interval, labels, printable

# Which classes have similar features: cosines of the class means, or of the rows of the head.


MOST_CLASSES = 30
"""With more classes, only those of the closest pairs are drawn."""


def class_cosines(quality: NetworkQuality | FeatureQuality, of: str = "features") -> alt.LayerChart:
    """Draw the cosine of every two classes' mean features, or with `of="rows"` of the head's rows.

    Similar classes are next to each other. Rows of the head say more about which classes are confused.
    """
    every = [str(name) for name in quality.per_class["class"]]
    by_rows = of == "rows" and isinstance(quality, NetworkQuality)
    whole = quality.row_cosines if isinstance(quality, NetworkQuality) and by_rows else quality.cosines
    chosen = _chosen(whole)
    matrix, short = whole[np.ix_(chosen, chosen)], labels([every[place] for place in chosen])
    order = [short[place] for place in _order(matrix)]
    cells: list[Row] = [
        {"down": short[a], "across": short[b], "value": value, "text": "" if a == b else figure(value, ".2f")}
        | {"figure": figure(value, ".3f"), "one": printable(every[chosen[a]]), "other": printable(every[chosen[b]])}
        for a, row in enumerate(matrix.tolist())
        for b, value in enumerate(row)
    ]
    nearest = (quality.per_pair.sort_values("rows", ascending=False) if by_rows else quality.per_pair).iloc[0]
    some = f" Of {len(every)} classes, those of the closest pairs." if len(chosen) < len(every) else ""
    return heat_map(
        cells,
        order,
        (min(0.0, float(np.floor(matrix.min() * 10) / 10)), 1),
        {"one": "class", "other": "other", "figure": "cosine"},
        f"Most similar: “{cut(str(nearest['first']))}” and “{cut(str(nearest['second']))}”",
        f"Cosine of the {'rows of the head' if by_rows else 'mean features'} of every two classes: 1: same "
        f"direction, 0: at right angles. Similar classes are next to each other.{some}",
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
    return list(hierarchy.leaves_list(tree).tolist())


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


SIZE = WIDTH, _ = 380, 26
UNKNOWN = Estimate(math.nan, 0.0, 1.0)


def accuracy_bounds(ranking: Ranking | NetworkQuality) -> alt.LayerChart:
    """Draw for each network the paper's interval, the accuracy by labelled rows with its own, and the true one."""
    rows = _bound_rows(ranking)
    panel = by_name([row["label"] for row in rows], "accuracy", (0, 1), size=SIZE)
    known, unknown = [row for row in rows if "value" in row], [row for row in rows if "value" not in row]
    true = [row for row in rows if row["true"] is not None]
    tips = {
        "name": "network",
        "paper": "the paper's bounds",
        "value_text": "by labelled rows",
        "truth": "true accuracy",
    }
    layers = [
        panel.mark("bar", rows, tips, style="faint", height=15, opacity=0.6, x="lower", x2="upper"),
        panel.mark("rule", unknown, tips, style="reference", strokeDash=[2, 3], x="low", x2="high"),
        panel.mark("rule", known, tips, style="interval", x="low", x2="high"),
        panel.mark("point", known, tips, size=55, color=theme.COLOURS[0], x="value"),
        panel.mark("point", true, tips, size=80, color=theme.COLOURS[1], shape="diamond", x="true"),
    ]
    parts = ["Bars: the paper's bounds (none if they cross)."]
    parts += ["Points: by labelled rows, with the 90% interval."] if known else []
    parts += ["Dotted: unknown without labelled rows."] if unknown else []
    parts += ["Diamonds: true accuracy."] if true else []
    title = "The range of accuracies to expect from a network, without data"
    return panel.drawn(layers, title, " ".join(parts), wrap=WIDTH + 140)


def _bound_rows(ranking: Ranking | NetworkQuality) -> list[Row]:
    if isinstance(ranking, Ranking):
        networks, labelled, bounds, accuracy = ranking.names, ranking.labelled, ranking.bounds, ranking.accuracy
    else:
        networks, accuracy, bounds = (ranking.name,), {}, {ranking.name: ranking.accuracy_bounds}
        labelled = {} if ranking.labelled is None else {ranking.name: ranking.labelled}
    rows: list[Row] = []
    for name, label in zip(networks, labels(networks)):
        lower, upper = bounds[name]
        # Bounds that cross contain nothing: a bar of no length.
        ends = [min(max(end, 0.0), 1.0) for end in (lower, max(upper, lower))]
        row = {"name": printable(name), "label": label, "lower": ends[0], "upper": ends[1], "true": accuracy.get(name)}
        row |= {"paper": f"{figure(lower, '.2f')} to {figure(upper, '.2f')}"}
        row |= {"truth": figure(accuracy[name], ".3f") if name in accuracy else "not known"}
        rows.append(row | interval(labelled.get(name, UNKNOWN), 0.0, 1.0, ".2f"))
    return rows


FEATURES: Kinds = {
    "both": lambda quality: theme.beside(class_cosines(quality), within_between(quality)),
    "cosines": lambda quality: class_cosines(quality),
    "distributions": within_between,
}
NETWORK: Kinds = {
    **FEATURES,
    "bounds": accuracy_bounds,
    "head": lambda quality: head_cosines(quality.head),
    "pairs": lambda quality: class_cosines(quality, of="rows"),
}


# What a network recognises as members of each class: its prototypes as pictures.


SIDE, GAP = 64, 8
MOST_ROWS = 12


def prototype_gallery(
    prototypes: Prototypes, class_names: Sequence[str] | None = None, seeds: int = 3, cores: int = 3
) -> alt.LayerChart:
    """Draw prototypes, one row per class: some walked from noise (seeds), some from other classes (cores).

    class_names : names of the head's classes, in order
    seeds, cores : how many of each
    """
    images = _images(prototypes)
    every = [str(name) for name in (range(prototypes.classes) if class_names is None else class_names)]
    if len(every) != prototypes.classes:
        raise InputError(
            f"`class_names` has {len(every)} names but there are {prototypes.classes} classes; they must match."
        )
    whole(seeds, "seeds", at_least=0)
    whole(cores, "cores", at_least=0)
    known = np.unique(prototypes.target)
    chosen = known[np.unique(np.linspace(0, len(known) - 1, MOST_ROWS).round().astype(int))].tolist()
    from_noise, from_others = {}, {}
    for target in chosen:
        own = np.flatnonzero(prototypes.target == target)
        from_noise[target] = own[prototypes.origin[own] == SEED][:seeds]
        from_others[target] = _spread_out(prototypes, own[prototypes.origin[own] != SEED], cores)
    most = max(map(len, from_noise.values())), max(map(len, from_others.values()))
    rows: list[Row] = []
    for target, label in zip(chosen, labels([every[target] for target in chosen])):
        for column, place in [*enumerate(from_noise[target]), *enumerate(from_others[target], start=most[0])]:
            origin = int(prototypes.origin[place])
            begun = "noise" if origin == SEED else f"a prototype of {printable(every[origin])[:200]}"
            row = {"label": label, "column": column, "image": pictures(images[[place]], np.array([0]), 1)[0]}
            row |= {"name": printable(every[target])[:400], "begun": begun, "steps": f"{int(prototypes.steps[place])}"}
            rows.append(row | {"arrived": "yes" if prototypes.converged[place] else "no"})
    if not rows:
        raise InputError("There is no prototype to draw; request at least one seed or core.")
    some = f" {len(chosen)} of {len(known)} classes." if len(chosen) < len(known) else ""
    return _gallery(
        rows,
        most,
        f"What {cut(prototypes.name)} recognises as each class",
        "Inputs that the network is sure of, made without data by walking to the class. Contrast is stretched "
        f"per picture.{some}",
    )


def _gallery(rows: list[Row], columns: tuple[int, int], *titles: str) -> alt.LayerChart:
    step, total = SIDE + GAP, sum(columns)
    across = {"field": "column", "type": "ordinal", "axis": None, "scale": alt.Scale(domain=list(range(total)))}
    order = list(dict.fromkeys(row["label"] for row in rows))
    panel = Panel(across, names(order), step * total, alt.Step(step))
    tips = {"name": "class", "begun": "walked from", "steps": "steps", "arrived": "arrived"}
    layers = [panel.mark("image", rows, tips, width=SIDE, height=SIDE, aspect=True, url="image")]
    for start, number, text in ((0, columns[0], "noise"), (columns[0], columns[1], "prototypes of other classes")):
        if number:
            head = {"style": "note", "align": "left", "x": start * step + GAP / 2, "y": -8, "text": "text"}
            layers.append(panel.mark("text", [{"text": f"from {text}"}], **head))
    return panel.drawn(layers, *titles, wrap=max(step * total + 60, 360))


def _spread_out(prototypes: Prototypes, cores: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Some cores of a class, from different others."""
    first = np.sort(np.unique(prototypes.origin[cores], return_index=True)[1])
    distinct = cores[first]
    if not distinct.size or not number:
        return distinct[:0]
    even = np.unique(np.linspace(0, len(distinct) - 1, number).round().astype(int))
    return np.asarray(distinct[even])


def _images(prototypes: Prototypes) -> NDArray[np.uint8]:
    """The prototypes as bytes (m, h, w) or (m, h, w, 3), each stretched to its own contrast."""
    inputs = prototypes.inputs
    if inputs is None:
        raise InputError("The record has no inputs. Make it with keep_inputs=True.")
    if inputs.ndim != 4 or inputs.shape[1] not in (1, 3):
        raise InputError(f"The prototypes have shape {inputs.shape[1:]}; expected images of (1 or 3, height, width).")
    values = inputs.astype(float)
    scale = prototypes.settings.get("normalize")
    if scale is not None:
        mean, std = (np.reshape(part, (1, -1, 1, 1)) for part in scale)
        values = values * std + mean
    low, high = (np.quantile(values, end, axis=(1, 2, 3), keepdims=True) for end in (0.01, 0.99))
    stretched = np.clip((values - low) / np.maximum(high - low, 1e-12), 0, 1)
    images = np.moveaxis(np.round(255 * stretched).astype(np.uint8), 1, 3)
    return np.asarray(images[..., 0] if images.shape[3] == 1 else images)
