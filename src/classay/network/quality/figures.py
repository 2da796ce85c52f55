"""`figures`: what prototypes, head and weights show about a network without any data, each as one number.

None of them is an accuracy. They were evaluated on networks whose accuracy is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..cosines import Cosines, cosines, effective_rank, unit
from ..prototypes.prototypes import Prototypes
from ..prototypes.schedule import SEED

FIGURES = {
    "row_spread": "log of the spread of cosines between rows of the head, over random rows",
    "row_rank": "effective rank of the head, over the number of classes",
    "row_simplex": "mean cosine between rows, 0 random to 1 the simplex",
    "row_norm": "log of the mean norm of rows, over fresh rows",
    "within": "M_in, mean cosine of features of one class",
    "within_spread": "spread of those cosines",
    "between": "M_bt, 1 − mean cosine of features with other classes' means",
    "between_spread": "spread of those cosines",
    "effort": "log of the straight way of core walks, over √dimension",
    "straightness": "straight way of core walks over the length of the path",
    "effort_spread": "variation of that way between pairs of classes",
    "alignment": "cosine of centred class means of features with centred rows of the head",
    "collapse": "log of the variance of features within classes, over that of class means",
    "mean_rank": "effective rank of class means of features, over the number of classes",
    "active": "share of features above 0",
    "row_match": "cosine of a class's mean feature with its own row of the head",
    "structure": "log of the weights' largest singular value over that of the same numbers shuffled",
    "least_structure": "the same for the layer where it is smallest",
}
DECISIVE = {
    "structure": "higher: further from random numbers, which have 0; says nothing about accuracy",
    "converged": "higher is better; below 90% nothing else counts",
    "within": "higher: features of one class point in one direction",
    "between": "higher: features of different classes are further apart",
    "row_spread": "higher: some classes are more similar than others, as after learning from many rows; 0: random",
}
"""The figures to look at first, after accuracy by labelled rows, and what their directions mean."""
FRESH_NORM = 1 / math.sqrt(3)
"""Norm of a row of uniform weights between ±1/√size."""


def figures(record: Prototypes) -> dict[str, float]:
    """Every figure that applies to this record; others (no layer that is large enough) are left out."""
    values = {**head_figures(record.weight), **walk_figures(record)}
    if record.layers:
        by_layer = list(record.layers.values())
        values |= {"structure": float(np.mean(by_layer)), "least_structure": min(by_layer)}
    return {name: float(values[name]) for name in FIGURES if math.isfinite(values.get(name, math.nan))}


def head_figures(weight: NDArray[np.floating]) -> dict[str, float]:
    """Figures of the rows of the head."""
    rows = np.asarray(weight, dtype=float)
    k = len(rows)
    units = unit(rows)
    pairs = (units @ units.T)[np.triu_indices(k, 1)]
    norm = float(np.linalg.norm(rows, axis=1).mean())
    if not norm:  # a fresh head may be all zeros, which has no figures
        return {}
    return {
        # Cosines of random rows of d numbers spread by 1/√d.
        "row_spread": math.log(max(float(pairs.std()), 1e-6) * math.sqrt(rows.shape[1])),
        "row_rank": effective_rank(rows) / k,
        "row_simplex": -float(pairs.mean()) * (k - 1),
        "row_norm": math.log(norm / FRESH_NORM),
    }


def walk_figures(record: Prototypes) -> dict[str, float]:
    """Figures of where walks ended and how long they were. Each start is measured separately, then averaged."""
    by_start = [
        [measured.m_in, measured.within_std, 1 - measured.cs_bt, measured.between_std]
        for measured in cosines_by_start(record).values()
    ]
    if not by_start:
        return {}
    names = ("within", "within_spread", "between", "between_spread")
    figures = dict(zip(names, np.mean(by_start, axis=0).tolist()))
    core = record.origin != SEED
    walked = core & (record.steps > 0)
    if walked.any():
        root = math.sqrt(math.prod(record.settings["input_shape"]))
        way = record.distance[walked]
        figures["effort"] = math.log(max(float(way.mean()) / root, 1e-12))
        figures["straightness"] = float((way / record.length[walked]).mean())
        figures["effort_spread"] = float(way.std() / max(float(way.mean()), 1e-12))
    return figures | _mean_figures(record)


def rows_by_start(record: Prototypes) -> Iterator[tuple[int, NDArray[np.float32], NDArray[np.intp], int]]:
    """For each start that reached two classes or more: its number, features, codes of their classes, and classes."""
    for start in record.starts.tolist():
        rows = record.start == start
        classes, codes = np.unique(record.target[rows], return_inverse=True)
        if len(classes) > 1:
            yield start, record.features[rows], codes, len(classes)


def cosines_by_start(record: Prototypes) -> dict[int, Cosines]:
    """The cosines of each start by itself."""
    return {start: cosines(features, codes, classes) for start, features, codes, classes in rows_by_start(record)}


def _mean_figures(record: Prototypes) -> dict[str, float]:
    classes, codes = np.unique(record.target, return_inverse=True)
    features = record.features.astype(float)
    means = np.zeros((len(classes), features.shape[1]))
    np.add.at(means, codes, features)
    means /= np.bincount(codes)[:, None]
    centred = means - means.mean(axis=0)
    rows = record.weight[classes].astype(float)
    rows = rows - rows.mean(axis=0)
    around, apart = ((features - means[codes]) ** 2).sum(axis=1).mean(), (centred**2).sum(axis=1).mean()
    figures = {
        "alignment": float((unit(centred) * unit(rows)).sum(axis=1).mean()),
        "mean_rank": effective_rank(centred) / len(classes),
        "row_match": float((unit(means) * unit(record.weight[classes].astype(float))).sum(axis=1).mean()),
        "active": float((features > 0).mean()),
    }
    if around > 0 and apart > 0:
        figures["collapse"] = math.log(around / apart)
    return figures
