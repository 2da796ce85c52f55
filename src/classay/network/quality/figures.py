"""`figures`: what prototypes, head and weights show about a network without any data, each as one number.

None of them is an accuracy. They were evaluated on networks whose accuracy is known (`estimate`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..cosines import cosines, effective_rank, unit
from ..prototypes.prototypes import Prototypes
from ..prototypes.schedule import SEED


@dataclass(frozen=True)
class FigureInfo:
    """A description of a figure."""

    words: str
    needs: str


FIGURES = {
    "row_spread": FigureInfo("log of the spread of cosines between rows of the head, over random rows", "head"),
    "row_rank": FigureInfo("effective rank of the head, over the number of classes", "head"),
    "row_simplex": FigureInfo("mean cosine between rows, 0 random to 1 the simplex", "head"),
    "row_norm": FigureInfo("log of the mean norm of rows, over fresh rows", "head"),
    "within": FigureInfo("M_in, mean cosine of features of one class", "walks"),
    "within_spread": FigureInfo("spread of those cosines", "walks"),
    "between": FigureInfo("M_bt, 1 − mean cosine of features with other classes' means", "walks"),
    "between_spread": FigureInfo("spread of those cosines", "walks"),
    "effort": FigureInfo("log of the straight way of core walks, over √dimension", "walks"),
    "straightness": FigureInfo("straight way of core walks over the length of the path", "walks"),
    "effort_spread": FigureInfo("variation of that way between pairs of classes", "walks"),
    "alignment": FigureInfo("cosine of centred class means of features with centred rows of the head", "walks"),
    "collapse": FigureInfo("log of the variance of features within classes, over that of class means", "walks"),
    "mean_rank": FigureInfo("effective rank of class means of features, over the number of classes", "walks"),
    "active": FigureInfo("share of features above 0", "walks"),
    "row_match": FigureInfo("cosine of a class's mean feature with its own row of the head", "walks"),
    "noise_robustness": FigureInfo("probability of its class that a seed keeps under noise", "network"),
    "shift_robustness": FigureInfo("probability of its class that a seed keeps shifted by one pixel", "network"),
    "certainty": FigureInfo("mean top probability on noise", "network"),
    "response": FigureInfo("log of how much more logits move on smooth noise than on rough noise", "network"),
    "smoothness": FigureInfo("correlation of neighbouring pixels in what walks changed", "network"),
    "agreement": FigureInfo("cosine of what walks to one class changed from different starts", "network"),
    "stable_rank": FigureInfo("log of the weights' stable rank over that of fresh weights", "network"),
    "spectral_growth": FigureInfo("log of the weights' largest singular value over that of fresh weights", "network"),
    "norm_growth": FigureInfo("log of the weights' norm over that of fresh weights", "network"),
    "alpha": FigureInfo("exponent of a power law fitted to the weights' largest eigenvalues", "network"),
    "margin_robustness": FigureInfo("share of a seed's margin over other classes that is left under noise", "network"),
    "noise_sensitivity": FigureInfo("log of how far logits move under small noise, over their spread", "network"),
    "noise_classes": FigureInfo("entropy of the classes predicted on noise, over that of all classes", "network"),
    "structure": FigureInfo(
        "log of the weights' largest singular value over that of the same numbers shuffled", "network"
    ),
    "least_structure": FigureInfo("the same for the layer where it is smallest", "network"),
    "filter_smoothness": FigureInfo("correlation of neighbouring pixels in the weights of the first layer", "network"),
    "memory": FigureInfo("log distance of batch normalisation's statistics from those of noise", "network"),
}
DECISIVE = {
    "structure": "higher: further from random weights; below .05, unless normalisation was trained, it looks untrained",
    "converged": "higher is better; below 90% nothing else counts",
    "within": "higher: features of one class point in one direction",
    "between": "higher: features of different classes are further apart",
    "row_spread": "higher: some classes are more similar than others, as after learning from many rows; 0: random",
}
"""The figures to look at first, after accuracy by labelled rows, and what their directions mean."""
FRESH_NORM = 1 / math.sqrt(3)
"""Norm of a row of uniform weights between ±1/√size."""


def figures(record: Prototypes) -> dict[str, float]:
    """Every figure that applies to this record; others (no images, no batch normalisation) are left out."""
    values = {**head_figures(record.weight), **walk_figures(record), **record.probes}
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
    by_start = []
    for start in record.starts:
        rows = record.start == start
        classes, codes = np.unique(record.target[rows], return_inverse=True)
        if len(classes) < 2:
            continue
        measured = cosines(record.features[rows], codes, len(classes))
        by_start.append([measured.m_in, measured.within_std, 1 - measured.cs_bt, measured.between_std])
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
