"""How far a row is from a class: δ(x, c), six ways, and which features make it so.

| distance | δ(x, c) |
| --- | --- |
| euclidean | ‖x − μ_c‖ |
| cosine | 1 − cos(x, μ_c): the paper prints the similarity, a distance is meant |
| mahalanobis | √((x − μ_c)ᵀ Σ_c⁻¹ (x − μ_c)): the root, as in equation 4 |
| correlation | the same with the class *correlation* matrix, on the raw difference, as printed |
| gaussian | ½·mahalanobis² + ½·log det Σ_c − log share of c: −log density, up to a constant; may be negative |
| whitened_cosine | 1 − cos after the mean of all rows is taken off and the shared covariance made the identity |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas

from ..expect import InputError
from .classwise import each
from .covariance import Covariances, Spread
from .geometry import Geometry
from .rows import Floats, Ints, blocks

DISTANCES = ("euclidean", "cosine", "mahalanobis", "correlation", "gaussian", "whitened_cosine")
BY_CLASS = ("mahalanobis", "correlation", "gaussian")
"""Those that use a covariance of each class: c·n·d² operations instead of c·n·d."""
ROWS = 1024
"""Rows multiplied at once: their block stays in the cache while it is centred, multiplied and summed."""
BEYOND = "class spread and size"
"""What of a Gaussian distance belongs to no feature."""


class Ruler:
    """Measures distances of rows to the classes of a geometry, several kinds at once where they share work.

    A class without rows is infinitely far.
    """

    def __init__(self, geometry: Geometry, distances: tuple[str, ...], covariance: str = "auto") -> None:
        self.geometry, self.distances = geometry, distances
        self.centre = geometry.mean
        self.present = geometry.counts > 0
        self.zeros = 0  # rows without a direction
        needs = set(distances) & {*BY_CLASS, "whitened_cosine"}
        if "whitened_cosine" in needs and geometry.detail == "diagonal":
            raise InputError(
                f"`distance` is 'whitened_cosine', but {geometry.n_features} columns are too many for a shared "
                "covariance. Use fewer (PCA), or distance='cosine'."
            )
        if needs == {"whitened_cosine"}:
            covariance = "shared"  # all it uses
        self.covariances = Covariances(geometry, covariance) if needs else None

    def measure(self, table: Any, name: str = "X") -> dict[str, Floats]:
        """(rows, classes) distances, for each kind. `table` is what `rows.matrix` returned."""
        shape = (table.shape[0], self.geometry.classes.size)
        found = {distance: np.full(shape, np.inf) for distance in self.distances}
        for place, block in blocks(table, name):
            self._fill({distance: out[place] for distance, out in found.items()}, block)
        return found

    def notes(self) -> list[str]:
        """What has to be said of what was measured."""
        return self.covariances.notes() if self.covariances else []

    def _fill(self, found: dict[str, Floats], block: Floats) -> None:
        there = np.flatnonzero(self.present)
        if "cosine" in found:
            _put(found["cosine"], there, self._cosine(block, self.geometry.means[there]))
        block -= self.centre
        means = self.geometry.means[there] - self.centre
        if "euclidean" in found:
            squared = _squared(block, means)
            _put(found["euclidean"], there, np.sqrt(squared, out=squared))
        if self.covariances is None:
            return
        columns = self.covariances.columns
        if columns.size < block.shape[1]:
            block, means = np.ascontiguousarray(block[:, columns]), means[:, columns]
        if "whitened_cosine" in found:
            whitener = self.covariances.shared().whitener
            _put(found["whitened_cosine"], there, self._cosine(block @ whitener, means @ whitener))
        if found.keys() & set(BY_CLASS):
            self._by_class(found, block, means, there)

    def _by_class(self, found: dict[str, Floats], block: Floats, means: Floats, there: Ints) -> None:
        assert self.covariances is not None
        covariances = self.covariances
        plain = [distance for distance in ("mahalanobis", "gaussian") if distance in found]
        white: Floats | None = None
        tilted: Floats | None = None
        if covariances.kind == "shared":  # one matrix for all: whiten the rows once
            one = covariances.of(-1)
            white = _squared(block @ one.whitener, means @ one.whitener) if plain else None
            tilted = _squared(block @ _scaled(one), means @ _scaled(one)) if "correlation" in found else None

        def column(at: int) -> None:
            code = int(there[at])
            spread = covariances.of(code)
            if plain:
                squared = _norms(block, means[at], spread.whitener) if white is None else white[:, at]
                for distance in plain:
                    found[distance][:, code] = self._finish(distance, squared, spread, code)
            if "correlation" in found:
                squared = _norms(block, means[at], _scaled(spread)) if tilted is None else tilted[:, at]
                found["correlation"][:, code] = np.sqrt(squared)

        each(column, there.size)

    def _finish(self, distance: str, squared: Floats, spread: Spread, code: int) -> Floats:
        if distance == "mahalanobis":
            root: Floats = np.sqrt(squared)
            return root
        return 0.5 * squared + self.beyond(spread, code)

    def beyond(self, spread: Spread, code: int) -> float:
        """The part of a Gaussian distance that is the same for every row: spread and size of the class."""
        return float(0.5 * spread.log_determinant - np.log(self.geometry.counts[code] / self.geometry.n_rows))

    def _cosine(self, rows: Floats, means: Floats) -> Floats:
        lengths, sizes = np.linalg.norm(rows, axis=1), np.linalg.norm(means, axis=1)
        self.zeros += int((lengths == 0).sum())
        cosine = (rows / _not_zero(lengths)[:, None]) @ (means / _not_zero(sizes)[:, None]).T
        away: Floats = np.subtract(1.0, np.clip(cosine, -1.0, 1.0, out=cosine), out=cosine)
        return away

    def parts(self, rows: Floats, codes: Ints, rivals: Ints) -> Floats:
        """(rows, d + 1) what each feature adds to δ(x, code) − δ(x, rival); the last column is `BEYOND` features."""
        (distance,) = self.distances
        found = np.zeros((rows.shape[0], rows.shape[1] + 1))
        for at, (row, pair) in enumerate(zip(rows, zip(codes, rivals))):
            (own, own_rest), (other, other_rest) = (self._shares(distance, row, int(code)) for code in pair)
            if distance in ("euclidean", "mahalanobis", "correlation"):
                # Squares add up over features, roots do not: a − b = (a² − b²) / (a + b).
                total = np.sqrt(max(own.sum(), 0.0)) + np.sqrt(max(other.sum(), 0.0))
                found[at, :-1] = (own - other) / total if total > 0 else 0.0
            else:
                found[at, :-1], found[at, -1] = own - other, own_rest - other_rest
        return found

    def _shares(self, distance: str, row: Floats, code: int) -> tuple[Floats, float]:
        """What each feature adds to the distance, or to its square, and what belongs to none."""
        mean = self.geometry.means[code]
        if distance == "euclidean":
            return (row - mean) ** 2, 0.0
        if distance == "cosine":
            return -row * mean / _not_zero(np.linalg.norm(row) * np.linalg.norm(mean)), 1.0
        assert self.covariances is not None
        columns, shares = self.covariances.columns, np.zeros(row.size)
        if distance == "whitened_cosine":
            whitener = self.covariances.shared().whitener
            away, middle = (row - self.centre)[columns], (mean - self.centre)[columns] @ whitener
            length = _not_zero(np.linalg.norm(away @ whitener) * np.linalg.norm(middle))
            shares[columns] = -away * (whitener @ middle) / length
            return shares, 1.0
        spread = self.covariances.of(code)
        factor = _scaled(spread) if distance == "correlation" else spread.whitener
        away = (row - mean)[columns]
        inverse = factor**2 * away if factor.ndim == 1 else factor @ (away @ factor)
        shares[columns] = away * inverse * (0.5 if distance == "gaussian" else 1.0)
        return shares, self.beyond(spread, code) if distance == "gaussian" else 0.0


def _scaled(spread: Spread) -> Floats:
    """The factor of the inverse correlation: Corr⁻¹ = D^½ Σ⁻¹ D^½."""
    deviation = np.sqrt(spread.variances)
    if spread.whitener.ndim == 1:
        return deviation * spread.whitener
    return np.asfortranarray(spread.whitener * deviation[:, None])


def _norms(block: Floats, mean: Floats, factor: Floats) -> Floats:
    """‖(x − μ)·factor‖² of every row."""
    if factor.ndim == 1:
        weighted: Floats = (block - mean) ** 2 @ factor**2
        return weighted
    found = np.empty(block.shape[0])
    step = max(ROWS, 2**18 // block.shape[1])
    for start in range(0, block.shape[0], step):
        away = block[start : start + step] - mean
        # Half the work of a full product: the factor is triangular. The transpose of a C array is a Fortran array.
        white = blas.dtrmm(1.0, factor, away.T, lower=0, trans_a=1, overwrite_b=1)
        np.einsum("ij,ij->j", white, white, out=found[start : start + step])
    return found


def _squared(rows: Floats, means: Floats) -> Floats:
    """Squared Euclidean distances by one matrix product, done over where that would lose digits."""
    of_rows, of_means = np.einsum("ij,ij->i", rows, rows), np.einsum("ij,ij->i", means, means)
    found = rows @ (-2.0 * means.T)
    found += of_rows[:, None]
    found += of_means
    at_row, at_mean = np.nonzero(found < 1e-6 * of_rows[:, None])
    for start in range(0, at_row.size, ROWS):
        near = slice(start, start + ROWS)
        found[at_row[near], at_mean[near]] = ((rows[at_row[near]] - means[at_mean[near]]) ** 2).sum(axis=1)
    return np.maximum(found, 0.0, out=found)


def _put(found: Floats, there: Ints, distances: Floats) -> None:
    if there.size == found.shape[1]:
        found[:] = distances
    else:  # many times slower
        found[:, there] = distances


def _not_zero(lengths: Any) -> Any:
    return np.where(lengths == 0, 1.0, lengths)
