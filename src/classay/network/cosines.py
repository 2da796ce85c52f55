"""Cosines of features within classes and between them: the paper's M_in and M_bt, on arrays.

u are features scaled to length one, m_l the mean of those of class l.

- within: M_in = mean over classes of the mean cosine of pairs of one class;
- between: CS_bt = mean over ordered pairs of classes (l, c) of u·m_c for u in l; M_bt = 1 − CS_bt;
- bounds of accuracy: above M_in − 2·std(cosines of pairs within), below 1 − (CS_bt + 2·std(u·m_c)).

Sums and squares are enough for all of it, so that memory does not grow with the square of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BINS = 80
BLOCK = 1 << 22
"""Cosines held at once."""
EDGES = np.linspace(-1.0, 1.0, BINS + 1)


@dataclass(frozen=True, eq=False)
class Cosines:
    """What the cosines of n features of c classes are. Classes with fewer than two rows have `within` NaN.

    `within` (c,) and `between` (c,) are means by class; `means` (c, d) the means of unit features. The histograms count
    cosines in equal bins from −1 to 1; those within are counted on at most so many rows a class as memory allows.
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
        """The paper's bounds of accuracy, lower and upper. They may lie outside of 0 to 1, and may cross."""
        return 1 - (self.cs_bt + 2 * self.between_std), self.m_in - 2 * self.within_std

    def of_pairs(self) -> Floats:
        """(c, c): cosine of every two classes' means."""
        units = unit(self.means)
        pairs: Floats = np.clip(units @ units.T, -1, 1)
        return pairs


def unit(rows: Floats) -> Floats:
    """Rows scaled to length one; rows of zeros stay zero."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


def cosines(features: NDArray[np.floating], codes: NDArray[np.integer], classes: int) -> Cosines:
    """The cosines of `features` (n, d) of classes `codes` (n,), from 0 to `classes` − 1, each with a row or more.

    >>> found = cosines(np.array([[1.0, 0], [2, 0], [0, 3], [0, 1]]), np.array([0, 0, 1, 1]), 2)
    >>> found.m_in, found.cs_bt, found.bounds
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
        product = members.T @ members if members.shape[1] < n else members @ members.T
        total = (((n * means[one]) ** 2).sum() - lengths.sum()) / 2
        squares = ((product**2).sum() - (lengths**2).sum()) / 2
        pairs = n * (n - 1) / 2
        within[one] = total / pairs
        sums += pairs, total, squares
        some = members[: int(BLOCK**0.5)]
        histogram += np.histogram((some @ some.T)[np.triu_indices(len(some), 1)], EDGES + _slack())[0]
    between, between_std, counted = _between(units, codes, means)
    return Cosines(within, _spread(*sums), between, between_std, means, histogram, counted)


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
        histogram += np.histogram(values, EDGES + _slack())[0]
    products = means @ means.T
    by_class = (products.sum(axis=1) - np.diag(products)) / (classes - 1)
    return by_class, _spread(*sums), histogram


def _spread(count: float, total: float, squares: float) -> float:
    return float(np.sqrt(max(squares / count - (total / count) ** 2, 0.0))) if count else float("nan")


def _slack() -> Floats:
    """Room for cosines that rounding put beyond −1 or 1."""
    slack = np.zeros(BINS + 1)
    slack[[0, -1]] = -1e-6, 1e-6
    return slack
