"""Moment regression: the spread of U as a mixture of many narrow ones, none preferred (Zheng, Achanta & Benjamini).

The distribution of U is a sum, with weights that are not negative, of Φ((Φ⁻¹(u) − t_l)/b) over places t_l, plus a part
at 1. Its moments are then the same sum of the moments of the parts, so that weights follow from the observed curve by
non-negative least squares.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls
from scipy.special import ndtri

from .evidence import Evidence
from .families import normal_family

Floats = NDArray[np.float64]

PARTS = 40
BANDWIDTHS = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
USUAL_BANDWIDTH = 0.5
RIDGE = 1e-4


def moments(evidence: Evidence, k: ArrayLike, bandwidth: float = USUAL_BANDWIDTH) -> Floats:
    """Accuracy for each k by moment regression with parts of this width."""
    n_classes, wanted = evidence.n_classes, np.asarray(k, dtype=float)
    sizes = np.unique(np.geomspace(1, n_classes, 100).round().astype(np.int64))
    reach = float(ndtri(1 - 1 / n_classes**2))
    places = np.linspace(-reach, reach, PARTS)

    def basis(at: NDArray[np.number]) -> Floats:
        family, log_width = normal_family(), float(np.log(bandwidth))
        parts = [family.accuracy(place, log_width, at) for place in places]
        return np.stack([*parts, np.ones(at.shape)], axis=1)

    # One class alone is always right, whatever the rest: a column of its own takes what is missing there.
    design = np.column_stack([basis(sizes), sizes == 1])
    # Neighbouring parts are nearly alike; a touch of ridge lets the search end where there are many ways to share.
    ridge = RIDGE * np.eye(design.shape[1])
    goal = np.concatenate([evidence.accuracy(sizes), np.zeros(len(ridge))])
    weights = nnls(np.concatenate([design, ridge]), goal, maxiter=100 * len(ridge))[0][:-1]
    return np.clip(basis(wanted.ravel()) @ weights, 0.0, 1.0).reshape(wanted.shape)


def best_bandwidth(parts: Iterable[Evidence], n_classes: int, accuracy: float) -> float:
    """The width with which parts of the classes foresee the accuracy with all of them best."""
    some = list(parts)
    if not some:
        return USUAL_BANDWIDTH
    misses = [
        float(np.mean([(moments(part, [n_classes], width)[0] - accuracy) ** 2 for part in some]))
        for width in BANDWIDTHS
    ]
    return BANDWIDTHS[int(np.argmin(misses))]
