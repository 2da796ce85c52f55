"""Cosines of features within classes and between them: the paper's M_in and M_bt, on arrays.

u are features scaled to length one, m_l the mean of those of class l.

- within: M_in = mean over classes of the mean cosine of pairs of one class;
- between: CS_bt = mean over ordered pairs of classes (l, c) of u·m_c for u in l; M_bt = 1 − CS_bt;
- bounds on accuracy: above M_in − 2·std(cosines of pairs within), below 1 − (CS_bt + 2·std(u·m_c)).

Sums and squares are enough for all of it, so memory does not grow with the square of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import seeds
from ..arrays import Floats
from ..expect import InputError, shown

BINS = 80
BLOCK = 1 << 22
"""Cosines in memory at once."""
EDGES = np.linspace(-1.0, 1.0, BINS + 1)
COUNTED = np.concatenate([[-1.0 - 1e-6], EDGES[1:-1], [1.0 + 1e-6]])
"""The same bins with space for cosines that rounding put beyond −1 or 1."""
DIRECTION_BLOCK = 2048
"""Rows compared at once: memory does not grow with the square of the rows."""
DIRECTION_BINS = 400
MOST_PAIRS = 10
Pairs = tuple[tuple[int, int, float], ...]
"""Pairs of rows with their cosine."""


@dataclass(frozen=True, eq=False)
class Cosines:
    """The cosines of n features of c classes. Classes with fewer than two rows have `within` NaN.

    `within` (c,) and `between` (c,) are means by class; `means` (c, d) the means of unit features. The histograms count
    cosines in equal bins from −1 to 1; those within are counted on at most as many rows per class as memory allows.
    """

    within: Floats
    within_std: float
    between: Floats
    between_std: float
    means: Floats
    within_histogram: NDArray[np.int64]
    between_histogram: NDArray[np.int64]

    @property
    def m_in(self) -> float:
        """M_in."""
        return float(np.nanmean(self.within)) if np.isfinite(self.within).any() else float("nan")

    @property
    def cs_bt(self) -> float:
        """CS_bt."""
        return float(self.between.mean())

    @property
    def bounds(self) -> tuple[float, float]:
        """The paper's bounds on accuracy, lower and upper. They may lie outside of 0 to 1, and may cross."""
        return 1 - (self.cs_bt + 2 * self.between_std), self.m_in - 2 * self.within_std

    def class_cosines(self) -> Floats:
        """(c, c): cosine of every two classes' means."""
        return pair_cosines(self.means)


def cosines(features: NDArray[np.floating], codes: NDArray[np.integer], classes: int) -> Cosines:
    """The cosines of `features` (n, d) of classes `codes` (n,), from 0 to `classes` − 1, each with a row or more.

    >>> measured = cosines(np.array([[1.0, 0], [2, 0], [0, 3], [0, 1]]), np.array([0, 0, 1, 1]), 2)
    >>> measured.m_in, measured.cs_bt, measured.bounds
    (1.0, 0.0, (1.0, 1.0))
    """
    units = unit(np.asarray(features, dtype=float))
    counts = np.bincount(codes, minlength=classes)
    means = np.zeros((classes, units.shape[1]))
    np.add.at(means, codes, units)
    means /= counts[:, None]

    within, sums, histogram = np.full(classes, np.nan), np.zeros(3), np.zeros(BINS, dtype=np.int64)
    for one in np.flatnonzero(counts > 1):
        members = units[codes == one]
        n = len(members)
        lengths = (members**2).sum(axis=1)  # 1, or 0 where a feature is zero
        total = (((n * means[one]) ** 2).sum() - lengths.sum()) / 2
        squares = (_squared_products(members) - (lengths**2).sum()) / 2
        pairs = n * (n - 1) / 2
        within[one] = total / pairs
        sums += pairs, total, squares
        some = members[: int(BLOCK**0.5)]
        histogram += np.histogram((some @ some.T)[np.triu_indices(len(some), 1)], COUNTED)[0]
    between, between_std, counted = _between(units, codes, means)
    return Cosines(within, _std(*sums), between, between_std, means, histogram, counted)


def separations(
    features: NDArray[np.floating], codes: NDArray[np.integer], classes: int
) -> dict[str, tuple[float, float]]:
    """M_bt and the spread of its cosines by each of the paper's three ways to count.

    - every two members of different classes;
    - a member with the mean unit feature of another class: the paper's choice, and `cosines`';
    - the means of two classes, scaled to length one.

    The first two have the same mean over pairs of classes, as a mean of products with all members is the product with
    their mean; only the spread, and so the lower bound, differs. The third does not shrink with the spread of a class.
    """
    units = unit(np.asarray(features, dtype=float))
    measured = cosines(features, codes, classes)
    counts = np.bincount(codes, minlength=classes)
    sums = measured.means * counts[:, None]
    # Sums over all pairs of rows, less those within classes: of products, and of their squares.
    pairs = float(len(units)) ** 2 - float((counts**2).sum())
    total = (sums.sum(axis=0) ** 2).sum() - (sums**2).sum()
    squares = _squared_products(units) - sum(_squared_products(units[codes == one]) for one in range(classes))
    of_means = measured.class_cosines()[np.triu_indices(classes, 1)]
    return {
        "members": (1 - measured.cs_bt, _std(pairs, total, squares)),
        "means of others": (1 - measured.cs_bt, measured.between_std),
        "means": (1 - float(of_means.mean()), float(of_means.std())),
    }


def _squared_products(units: Floats) -> float:
    """Sum of the squared cosines of all rows with all rows."""
    product = units.T @ units if units.shape[1] < len(units) else units @ units.T
    return float((product**2).sum())


def _between(units: Floats, codes: NDArray[np.integer], means: Floats) -> tuple[Floats, float, NDArray[np.int64]]:
    """Mean cosine of each class's members with the means of the others; the spread of all; their histogram."""
    classes = len(means)
    sums, histogram = np.zeros(3), np.zeros(BINS, dtype=np.int64)
    rows = max(BLOCK // classes, 1)
    for start in range(0, len(units), rows):
        block = units[start : start + rows] @ means.T
        others = codes[start : start + rows, None] != np.arange(classes)
        values = block[others]
        sums += values.size, values.sum(), (values**2).sum()
        histogram += np.histogram(values, COUNTED)[0]
    products = means @ means.T
    by_class = (products.sum(axis=1) - np.diag(products)) / (classes - 1)
    return by_class, _std(*sums), histogram


def _std(count: float, total: float, squares: float) -> float:
    return float(np.sqrt(max(squares / count - (total / count) ** 2, 0.0))) if count else float("nan")


def pair_cosines(rows: Floats) -> Floats:
    """(c, c): cosine of every two rows."""
    units = unit(rows)
    pairs: Floats = np.clip(units @ units.T, -1, 1)
    return pairs


def unit(rows: Floats) -> Floats:
    """Rows scaled to length one; rows of zeros stay zero."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


def array_of(values: Any) -> Any:
    """The numbers of a tensor as an array, half precision as single, which NumPy may lack; anything else unchanged."""
    if not hasattr(values, "detach"):
        return values
    tensor = values.detach().cpu()
    return (tensor.float() if tensor.is_floating_point() and tensor.itemsize < 4 else tensor).numpy()


def finite_rows(values: Any, name: str, expected: str, advice: str) -> Floats:
    """A matrix of numbers as users pass it, array or tensor; a 1×1 convolution counts as one."""
    try:
        rows = np.asarray(array_of(values), dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` is a {type(values).__name__}; expected numbers {expected}.") from None
    if rows.ndim > 2 and rows.size == rows.shape[0] * rows.shape[1]:
        rows = rows.reshape(rows.shape[:2])
    if rows.ndim != 2 or 0 in rows.shape:
        raise InputError(f"`{name}` has shape {rows.shape}; expected {expected}.")
    if not np.isfinite(rows).all():
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        raise InputError(f"`{name}` contains NaN or infinite numbers, in rows {shown(bad)}. {advice}")
    return rows


# Cosines and angles of all pairs of rows of a matrix, block by block, and its rank.


def row_figures(rows: Floats) -> tuple[dict[str, float], NDArray[np.int64], Pairs, Pairs]:
    """Every figure of some rows; pairs counted by cosine; the closest and the farthest pairs."""
    units = rows / np.abs(rows).max(axis=1, keepdims=True)  # first, so that tiny and huge rows have a length
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    classes = len(rows)
    histogram = np.zeros(DIRECTION_BINS, dtype=np.int64)
    sums, least, most = np.zeros(3), np.inf, -np.inf
    near: Pairs = ()
    far: Pairs = ()
    simplex = -1 / (classes - 1)
    for cosines, first, second in _pair_cosines(units):
        angles = np.degrees(np.arccos(cosines))
        sums += [angles.sum(), (angles**2).sum(), ((cosines - simplex) ** 2).sum()]
        least, most = min(least, float(angles.min())), max(most, float(angles.max()))
        histogram += np.bincount(
            ((cosines + 1) * (DIRECTION_BINS / 2)).astype(int).clip(max=DIRECTION_BINS - 1), minlength=DIRECTION_BINS
        )
        near, far = (
            _extreme_pairs(known, sign * cosines, first, second, sign) for known, sign in ((near, -1), (far, 1))
        )
    count = classes * (classes - 1) / 2
    # The squared length of the sum of units contains every pair twice, and each unit with itself.
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


def _pair_cosines(units: Floats) -> Iterator[tuple[Floats, NDArray[np.int64], NDArray[np.int64]]]:
    """Cosines of pairs i < j with i and j, block by block."""
    for start in range(0, len(units), DIRECTION_BLOCK):
        for other in range(start, len(units), DIRECTION_BLOCK):
            cosines = np.clip(
                units[start : start + DIRECTION_BLOCK] @ units[other : other + DIRECTION_BLOCK].T, -1.0, 1.0
            )
            first, second = np.indices(cosines.shape).reshape(2, -1)
            wanted = first < second if other == start else slice(None)
            if other > start or len(cosines) > 1:
                yield cosines.ravel()[wanted], first[wanted] + start, second[wanted] + other


def _extreme_pairs(known: Pairs, keys: Floats, first: NDArray[np.int64], second: NDArray[np.int64], sign: int) -> Pairs:
    """The pairs of least key so far; the key is the cosine times the sign."""
    order = np.argpartition(keys, min(MOST_PAIRS, keys.size) - 1)[:MOST_PAIRS]
    pairs = [*known, *((int(first[at]), int(second[at]), sign * float(keys[at])) for at in order)]
    return tuple(sorted(pairs, key=lambda pair: (sign * pair[2], pair[:2]))[:MOST_PAIRS])


def fresh_rows(classes: int, size: int, seed: int, draw: int) -> Floats:
    """Rows as torch initialises a linear layer: uniform between ±1/√size."""
    side = 1 / np.sqrt(size)
    return seeds.generator(seed, "fresh head", draw).uniform(-side, side, (classes, size))


def singular_values(matrix: Floats) -> Floats:
    """The singular values, the smallest first: by the smaller product of the matrix with itself, which is cheaper."""
    product = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    values: Floats = np.sqrt(np.maximum(np.linalg.eigvalsh(product), 0.0))
    return values


def effective_rank(rows: ArrayLike) -> float:
    """The exponential of the entropy of the singular values' shares (Roy & Vetterli, 2007): 1 to the smaller side.

    >>> round(effective_rank(np.eye(5)), 6), round(effective_rank(np.ones((5, 3))), 6)
    (5.0, 1.0)
    """
    matrix = np.asarray(rows, dtype=float)
    values = singular_values(matrix)
    # Rounding in the product leaves singular values of about 1e-8 of the largest where there are none.
    values = values[values > 1e-7 * values.max(initial=0.0)]
    if not values.size:
        return 0.0
    shares = values / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))
