"""Distances of rows to their own class without themselves, in closed form.

Taking row x out of its class of n rows moves the mean away from it, x − μ₋ = a·(x − μ) with a = n/(n − 1), and takes
a·(x − μ)(x − μ)ᵀ from the scatter, whose inverse follows by a rank-one step (Sherman & Morrison). Other classes stay.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..expect import InputError
from .distances import Ruler
from .rows import Floats, Ints, blocks

CLOSED = ("euclidean", "cosine", "mahalanobis", "gaussian")


def leave_one_out(ruler: Ruler, distance: str, distances: Floats, table: Any, codes: Ints) -> None:
    """Replace the distance of each row to its own class by that to the class without it, in place.

    A class of one row is gone without it: infinitely far.
    """
    rows, geometry = np.arange(codes.size), ruler.geometry
    counts = geometry.counts[codes].astype(float)
    grown = counts / np.maximum(counts - 1, 1)
    if distance == "euclidean":
        own = distances[rows, codes] * grown
    elif distance == "cosine":
        own = _cosine(table, geometry.means[codes], counts)
    elif distance in CLOSED:
        assert ruler.covariances is not None
        own = _mahalanobis(ruler, distance, distances[rows, codes], codes, counts, grown)
    else:
        raise InputError(
            f"`distance` is {distance!r}, which has no leave-one-out in closed form; {', '.join(CLOSED)} have. "
            "Use cross_fit=5."
        )
    distances[rows, codes] = np.where(counts > 1, own, np.inf)


def _cosine(table: Any, means: Floats, counts: Floats) -> Floats:
    found = np.empty(counts.size)
    for place, block in blocks(table):
        rest = counts[place, None] * means[place] - block  # (n − 1)·μ₋, of which only the direction matters
        lengths = np.linalg.norm(rest, axis=1) * np.linalg.norm(block, axis=1)
        found[place] = 1 - np.einsum("ij,ij->i", rest, block) / np.where(lengths == 0, 1.0, lengths)
    return found


def _mahalanobis(ruler: Ruler, distance: str, own: Floats, codes: Ints, counts: Floats, grown: Floats) -> Floats:
    covariances = ruler.covariances
    assert covariances is not None
    if covariances.kind not in ("auto", "full") or any(covariances.of(int(code)).pull > 0 for code in np.unique(codes)):
        raise InputError(
            "Leave-one-out in closed form needs the covariance of each class as it is, but some are shrunk or shared. "
            "Use cross_fit=5, or covariance='full' where each class has many more rows than there are columns."
        )
    if distance == "mahalanobis":
        squared = own**2
    else:
        beyond = np.array(
            [ruler.beyond(covariances.of(int(code)), int(code)) for code in range(ruler.geometry.classes.size)]
        )
        squared = 2 * (own - beyond[codes])
    leverage = np.minimum(grown * squared / counts, 1 - 1e-12)  # 1: the row alone reaches into some direction
    without = grown**2 * (counts - 1) / counts * squared / (1 - leverage)
    if distance == "mahalanobis":
        root: Floats = np.sqrt(without)
        return root
    d = covariances.columns.size
    log_determinant = np.log1p(-leverage) + d * np.log(grown)
    # Own share (n_c − 1)/(n − 1) over that of the others, n_c'/(n − 1): the common n − 1 drops out of every softmax.
    density: Floats = 0.5 * without + beyond[codes] + 0.5 * log_determinant + np.log(grown)
    return density
