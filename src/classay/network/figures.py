"""`figures`: what prototypes, head and weights tell of a network without any data, each as one number.

None of them is an accuracy. What each is good for was tried on networks whose accuracy is known (`estimate`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .cosines import cosines, unit
from .directions import effective_rank
from .record import SEED, Prototypes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class About:
    """What a figure is, in words."""

    words: str
    needs: str


FIGURES = {
    "row_spread": About("log of the spread of cosines between rows of the head, over random rows", "head"),
    "row_rank": About("effective rank of the head, over the number of classes", "head"),
    "row_simplex": About("mean cosine between rows, 0 random to 1 the simplex", "head"),
    "row_norm": About("log of the mean norm of rows, over fresh rows", "head"),
    "within": About("M_in, mean cosine of features of one class", "walks"),
    "within_spread": About("spread of those cosines", "walks"),
    "between": About("M_bt, 1 − mean cosine of features with other classes' means", "walks"),
    "between_spread": About("spread of those cosines", "walks"),
    "effort": About("log of the straight way of core walks, over √dimension", "walks"),
    "straightness": About("straight way of core walks over the length of the path", "walks"),
    "effort_spread": About("variation of that way between pairs of classes", "walks"),
    "alignment": About("cosine of centred class means of features with centred rows of the head", "walks"),
    "collapse": About("log of the variance of features within classes, over that of class means", "walks"),
    "mean_rank": About("effective rank of class means of features, over the number of classes", "walks"),
    "active": About("share of features above 0", "walks"),
    "noise_robustness": About("probability of its class that a seed keeps under noise", "network"),
    "shift_robustness": About("probability of its class that a seed keeps shifted by one pixel", "network"),
    "certainty": About("mean top probability on noise", "network"),
    "response": About("log of how much more logits move on smooth noise than on rough noise", "network"),
    "smoothness": About("correlation of neighbouring pixels in what walks changed", "network"),
    "agreement": About("cosine of what walks to one class changed from different starts", "network"),
    "stable_rank": About("log of the weights' stable rank over that of fresh weights", "network"),
    "spectral_growth": About("log of the weights' largest singular value over that of fresh weights", "network"),
    "norm_growth": About("log of the weights' norm over that of fresh weights", "network"),
    "alpha": About("exponent of a power law fitted to the weights' largest eigenvalues", "network"),
    "memory": About("log distance of batch normalisation's statistics from those of noise", "network"),
}
FRESH_NORM = 1 / math.sqrt(3)
"""Norm of a row of uniform weights between ±1/√size."""


def figures(record: Prototypes) -> dict[str, float]:
    """Every figure that applies to this record; those that do not (no images, no batch normalisation) are left out."""
    found = {**of_head(record.weight), **of_walks(record), **record.probes}
    return {name: float(found[name]) for name in FIGURES if math.isfinite(found.get(name, math.nan))}


def of_head(weight: NDArray[np.floating]) -> dict[str, float]:
    """Figures of the rows of the head."""
    rows = np.asarray(weight, dtype=float)
    k = len(rows)
    units = unit(rows)
    pairs = (units @ units.T)[np.triu_indices(k, 1)]
    norm = float(np.linalg.norm(rows, axis=1).mean())
    if not norm:  # a fresh head may be all zeros, of which there is nothing to tell
        return {}
    return {
        # Cosines of random rows of d numbers spread by 1/√d.
        "row_spread": math.log(max(float(pairs.std()), 1e-6) * math.sqrt(rows.shape[1])),
        "row_rank": effective_rank(rows) / k,
        "row_simplex": -float(pairs.mean()) * (k - 1),
        "row_norm": math.log(norm / FRESH_NORM),
    }


def of_walks(record: Prototypes) -> dict[str, float]:
    """Figures of where walks ended and how long they were. Each start is measured by itself, then the mean is taken."""
    by_start = []
    for start in record.starts:
        rows = record.start == start
        classes, codes = np.unique(record.target[rows], return_inverse=True)
        if len(classes) < 2:
            continue
        found = cosines(record.features[rows], codes, len(classes))
        by_start.append([found.m_in, found.within_std, 1 - found.cs_bt, found.between_std])
    if not by_start:
        return {}
    names = ("within", "within_spread", "between", "between_spread")
    known = dict(zip(names, np.mean(by_start, axis=0).tolist()))
    core = record.origin != SEED
    walked = core & (record.steps > 0)
    if walked.any():
        root = math.sqrt(math.prod(record.settings["input_shape"]))
        way = record.distance[walked]
        known["effort"] = math.log(max(float(way.mean()) / root, 1e-12))
        known["straightness"] = float((way / record.length[walked]).mean())
        known["effort_spread"] = float(way.std() / max(float(way.mean()), 1e-12))
    return known | _of_means(record)


def _of_means(record: Prototypes) -> dict[str, float]:
    classes, codes = np.unique(record.target, return_inverse=True)
    features = record.features.astype(float)
    means = np.zeros((len(classes), features.shape[1]))
    np.add.at(means, codes, features)
    means /= np.bincount(codes)[:, None]
    centred = means - means.mean(axis=0)
    rows = record.weight[classes].astype(float)
    rows = rows - rows.mean(axis=0)
    around, apart = ((features - means[codes]) ** 2).sum(axis=1).mean(), (centred**2).sum(axis=1).mean()
    known = {
        "alignment": float((unit(centred) * unit(rows)).sum(axis=1).mean()),
        "mean_rank": effective_rank(centred) / len(classes),
        "active": float((features > 0).mean()),
    }
    if around > 0 and apart > 0:
        known["collapse"] = math.log(around / apart)
    return known
