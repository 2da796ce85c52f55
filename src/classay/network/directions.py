"""How the rows of a matrix stand to each other: cosines and angles of all pairs, block by block, and the rank."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import seeds

Floats = NDArray[np.float64]
Pairs = tuple[tuple[int, int, float], ...]
"""Pairs of rows with their cosine."""
BLOCK = 2048
"""Rows compared at once: memory does not grow with the square of the rows."""
BINS = 400
MOST_PAIRS = 10


def measured_rows(rows: Floats) -> tuple[dict[str, float], NDArray[np.int64], Pairs, Pairs]:
    """Every figure of some rows; pairs counted by cosine; the closest and the farthest pairs."""
    units = rows / np.abs(rows).max(axis=1, keepdims=True)  # first, so that tiny and huge rows have a length
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    classes = len(rows)
    histogram = np.zeros(BINS, dtype=np.int64)
    sums, least, most = np.zeros(3), np.inf, -np.inf
    near: Pairs = ()
    far: Pairs = ()
    simplex = -1 / (classes - 1)
    for cosines, first, second in _pairs(units):
        angles = np.degrees(np.arccos(cosines))
        sums += [angles.sum(), (angles**2).sum(), ((cosines - simplex) ** 2).sum()]
        least, most = min(least, float(angles.min())), max(most, float(angles.max()))
        histogram += np.bincount(((cosines + 1) * (BINS / 2)).astype(int).clip(max=BINS - 1), minlength=BINS)
        near, far = (_extreme(known, sign * cosines, first, second, sign) for known, sign in ((near, -1), (far, 1)))
    count = classes * (classes - 1) / 2
    # The squared length of the sum of units holds every pair twice, and each unit with itself.
    mean = float(((units.sum(axis=0) ** 2).sum() - classes) / 2 / count)
    mean_angle, square, distance = (sums / count).tolist()
    figures = {
        "classifier_quality": 1 - mean,
        "mean_cosine": mean,
        "cosine_std": float(np.sqrt(max(distance - (mean - simplex) ** 2, 0.0))),
        "mean_angle": mean_angle,
        "angle_std": float(np.sqrt(max(square - mean_angle**2, 0.0))),
        "min_angle": least,
        "max_angle": most,
        "simplex_distance": float(np.sqrt(distance)),
        "effective_rank": effective_rank(rows),
        "norm": float(np.linalg.norm(rows)),
    }
    return figures, histogram, near, far


def _pairs(units: Floats) -> Iterator[tuple[Floats, NDArray[np.int64], NDArray[np.int64]]]:
    """Cosines of pairs i < j with i and j, block by block."""
    for start in range(0, len(units), BLOCK):
        for other in range(start, len(units), BLOCK):
            cosines = np.clip(units[start : start + BLOCK] @ units[other : other + BLOCK].T, -1.0, 1.0)
            first, second = np.indices(cosines.shape).reshape(2, -1)
            wanted = first < second if other == start else slice(None)
            if other > start or len(cosines) > 1:
                yield cosines.ravel()[wanted], first[wanted] + start, second[wanted] + other


def _extreme(known: Pairs, keys: Floats, first: NDArray[np.int64], second: NDArray[np.int64], sign: int) -> Pairs:
    """The pairs of least key so far; the key is the cosine times the sign."""
    order = np.argpartition(keys, min(MOST_PAIRS, keys.size) - 1)[:MOST_PAIRS]
    found = [*known, *((int(first[at]), int(second[at]), sign * float(keys[at])) for at in order)]
    return tuple(sorted(found, key=lambda pair: (sign * pair[2], pair[:2]))[:MOST_PAIRS])


def fresh_rows(classes: int, size: int, seed: int, draw: int) -> Floats:
    """Rows as torch initialises a linear layer: uniform between ±1/√size."""
    side = 1 / np.sqrt(size)
    return seeds.generator(seed, "fresh head", draw).uniform(-side, side, (classes, size))


def effective_rank(rows: ArrayLike) -> float:
    """The exponential of the entropy of the singular values' shares (Roy & Vetterli, 2007): 1 to the lesser side.

    >>> round(effective_rank(np.eye(5)), 6), round(effective_rank(np.ones((5, 3))), 6)
    (5.0, 1.0)
    """
    matrix = np.asarray(rows, dtype=float)
    # From the smaller product of the matrix with itself, which is much cheaper than its singular values.
    product = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(product), 0.0))
    # Rounding in the product leaves singular values of about 1e-8 of the largest where there are none.
    values = values[values > 1e-7 * values.max(initial=0.0)]
    if not values.size:
        return 0.0
    shares = values / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))
