"""How far a row is from a class: δ(x, c), in six ways, and which features contribute to it.

| distance | δ(x, c) |
| --- | --- |
| euclidean | ‖x − μ_c‖ |
| cosine | 1 − cos(x, μ_c): the paper prints the similarity but means a distance |
| mahalanobis | √((x − μ_c)ᵀ Σ_c⁻¹ (x − μ_c)): the root, as in equation 4 |
| correlation | the same with the class *correlation* matrix, on the raw difference, as printed |
| gaussian | ½·mahalanobis² + ½·log det Σ_c − log share of c: −log density, up to a constant; may be negative |
| whitened_cosine | 1 − cos after subtracting the mean of all rows and transforming the shared covariance to the
identity |
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import blas
from threadpoolctl import ThreadpoolController

from ...arrays import Floats, Ints
from ...expect import InputError
from ...inputs import blocks
from .covariance import ClassCovariance, Covariances
from .moments import Geometry

DISTANCES = ("euclidean", "cosine", "mahalanobis", "correlation", "gaussian", "whitened_cosine")
BY_CLASS = ("mahalanobis", "correlation", "gaussian")
"""Those that use one covariance per class: c·n·d² operations instead of c·n·d."""
ROWS = 1024
"""Rows multiplied at once: their block stays in the cache while it is centred, multiplied and summed."""
CLASS_OFFSET = "class spread and size"
"""The part of a Gaussian distance that belongs to no feature."""


class DistanceMetric:
    """Measures distances of rows to the classes of a geometry, several kinds at once if they share work.

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
        distances = {distance: np.full(shape, np.inf) for distance in self.distances}
        for place, block in blocks(table, name):
            self._fill({distance: out[place] for distance, out in distances.items()}, block)
        return distances

    def notes(self) -> list[str]:
        """Notes on what was measured."""
        return self.covariances.notes() if self.covariances else []

    def _fill(self, distances: dict[str, Floats], block: Floats) -> None:
        present = np.flatnonzero(self.present)
        if "cosine" in distances:
            _assign(distances["cosine"], present, self._cosine(block, self.geometry.means[present]))
        block -= self.centre
        means = self.geometry.means[present] - self.centre
        if "euclidean" in distances:
            squared = _squared_distances(block, means)
            _assign(distances["euclidean"], present, np.sqrt(squared, out=squared))
        if self.covariances is None:
            return
        columns = self.covariances.columns
        if columns.size < block.shape[1]:
            block, means = np.ascontiguousarray(block[:, columns]), means[:, columns]
        if "whitened_cosine" in distances:
            whitener = self.covariances.shared().whitener
            _assign(distances["whitened_cosine"], present, self._cosine(block @ whitener, means @ whitener))
        if distances.keys() & set(BY_CLASS):
            self._by_class(distances, block, means, present)

    def _by_class(self, distances: dict[str, Floats], block: Floats, means: Floats, present: Ints) -> None:
        assert self.covariances is not None
        covariances = self.covariances
        plain = [distance for distance in ("mahalanobis", "gaussian") if distance in distances]
        white: Floats | None = None
        correlated: Floats | None = None
        if covariances.kind == "shared":  # one matrix for all: whiten the rows once
            shared = covariances.of(-1)
            white = _squared_distances(block @ shared.whitener, means @ shared.whitener) if plain else None
            if "correlation" in distances:
                factor = _correlation_whitener(shared)
                correlated = _squared_distances(block @ factor, means @ factor)

        def column(at: int) -> None:
            code = int(present[at])
            own = covariances.of(code)
            if plain:
                squared = _squared_norms(block, means[at], own.whitener) if white is None else white[:, at]
                if "mahalanobis" in plain:
                    distances["mahalanobis"][:, code] = np.sqrt(squared)
                if "gaussian" in plain:
                    distances["gaussian"][:, code] = 0.5 * squared + self.class_offset(own, code)
            if "correlation" in distances:
                squared = (
                    _squared_norms(block, means[at], _correlation_whitener(own))
                    if correlated is None
                    else correlated[:, at]
                )
                distances["correlation"][:, code] = np.sqrt(squared)

        _on_threads(column, present.size)

    def class_offset(self, covariance: ClassCovariance, code: int) -> float:
        """The part of a Gaussian distance that is the same for every row: spread and size of the class."""
        return float(0.5 * covariance.log_determinant - np.log(self.geometry.counts[code] / self.geometry.n_rows))

    def _cosine(self, rows: Floats, means: Floats) -> Floats:
        lengths, sizes = np.linalg.norm(rows, axis=1), np.linalg.norm(means, axis=1)
        self.zeros += int((lengths == 0).sum())
        cosine = (rows / _not_zero(lengths)[:, None]) @ (means / _not_zero(sizes)[:, None]).T
        away: Floats = np.subtract(1.0, np.clip(cosine, -1.0, 1.0, out=cosine), out=cosine)
        return away

    def contributions(self, row: Floats, code: int, rival: int) -> Floats:
        """(d + 1,) what each feature of a row adds to δ(x, code) − δ(x, rival); the last is `CLASS_OFFSET`."""
        (distance,) = self.distances
        (own, own_rest), (other, other_rest) = (self._feature_terms(distance, row, label) for label in (code, rival))
        if distance not in ("euclidean", "mahalanobis", "correlation"):
            return np.append(own - other, own_rest - other_rest)
        # Squares add up over features, roots do not: a − b = (a² − b²) / (a + b).
        total = np.sqrt(max(own.sum(), 0.0)) + np.sqrt(max(other.sum(), 0.0))
        return np.append((own - other) / total if total > 0 else np.zeros(row.size), 0.0)

    def _feature_terms(self, distance: str, row: Floats, code: int) -> tuple[Floats, float]:
        """What each feature adds to the distance, or to its square, and what belongs to none."""
        mean = self.geometry.means[code]
        if distance == "euclidean":
            return (row - mean) ** 2, 0.0
        if distance == "cosine":
            return -row * mean / _not_zero(np.linalg.norm(row) * np.linalg.norm(mean)), 1.0
        assert self.covariances is not None
        columns, terms = self.covariances.columns, np.zeros(row.size)
        if distance == "whitened_cosine":
            whitener = self.covariances.shared().whitener
            difference, centre = (row - self.centre)[columns], (mean - self.centre)[columns] @ whitener
            length = _not_zero(np.linalg.norm(difference @ whitener) * np.linalg.norm(centre))
            terms[columns] = -difference * (whitener @ centre) / length
            return terms, 1.0
        covariance = self.covariances.of(code)
        factor = _correlation_whitener(covariance) if distance == "correlation" else covariance.whitener
        difference = (row - mean)[columns]
        inverse = factor**2 * difference if factor.ndim == 1 else factor @ (difference @ factor)
        terms[columns] = difference * inverse * (0.5 if distance == "gaussian" else 1.0)
        return terms, self.class_offset(covariance, code) if distance == "gaussian" else 0.0


def _correlation_whitener(covariance: ClassCovariance) -> Floats:
    """The factor of the inverse correlation: Corr⁻¹ = D^½ Σ⁻¹ D^½."""
    deviation = np.sqrt(covariance.variances)
    if covariance.whitener.ndim == 1:
        return deviation * covariance.whitener
    return np.asfortranarray(covariance.whitener * deviation[:, None])


def _squared_norms(block: Floats, mean: Floats, factor: Floats) -> Floats:
    """‖(x − μ)·factor‖² of every row."""
    if factor.ndim == 1:
        weighted: Floats = (block - mean) ** 2 @ factor**2
        return weighted
    norms = np.empty(block.shape[0])
    step = max(ROWS, 2**18 // block.shape[1])
    for start in range(0, block.shape[0], step):
        away = block[start : start + step] - mean
        # Half the work of a full product: the factor is triangular. The transpose of a C array is a Fortran array.
        white = blas.dtrmm(1.0, factor, away.T, lower=0, trans_a=1, overwrite_b=1)
        np.einsum("ij,ij->j", white, white, out=norms[start : start + step])
    return norms


def _squared_distances(rows: Floats, means: Floats) -> Floats:
    """Squared Euclidean distances by one matrix product, recomputed where that would lose precision."""
    of_rows, of_means = np.einsum("ij,ij->i", rows, rows), np.einsum("ij,ij->i", means, means)
    squared = rows @ (-2.0 * means.T)
    squared += of_rows[:, None]
    squared += of_means
    at_row, at_mean = np.nonzero(squared < 1e-6 * of_rows[:, None])
    for start in range(0, at_row.size, ROWS):
        near = slice(start, start + ROWS)
        squared[at_row[near], at_mean[near]] = ((rows[at_row[near]] - means[at_mean[near]]) ** 2).sum(axis=1)
    return np.maximum(squared, 0.0, out=squared)


def _assign(out: Floats, present: Ints, distances: Floats) -> None:
    if present.size == out.shape[1]:
        out[:] = distances
    else:  # many times slower
        out[:, present] = distances


def _not_zero(lengths: Any) -> Any:
    return np.where(lengths == 0, 1.0, lengths)


# Threads: whole classes on as many threads as linear algebra uses, each with linear algebra on one thread.
#
# Matrices of a class are small. A library that splits each product over threads waits for them more than it gains, and
# on a busy machine a hundred times longer; threads that each handle whole classes do not wait for each other.


def _on_threads(work: Callable[[int], None], count: int) -> None:
    """Do `work(0)` to `work(count - 1)`, in any order."""
    with _one_thread() as threads:
        if threads == 1 or count == 1:
            for place in range(count):
                work(place)
            return
        with ThreadPoolExecutor(min(threads, count)) as pool:
            for _ in pool.map(work, range(count)):
                pass


# The limit belongs to the process: of concurrent callers the first sets it and the last resets it.
_lock = threading.Lock()
_inside = 0
_threads = 1
_limit: Any = None


@contextmanager
def _one_thread() -> Iterator[int]:
    """Linear algebra on one thread; yields how many it had."""
    global _inside, _threads, _limit
    with _lock:
        if _inside == 0:
            controller = _controller()
            _threads = max((library["num_threads"] for library in controller.info()), default=1)
            _limit = controller.limit(limits=1, user_api="blas")
        _inside += 1
        threads = _threads
    try:
        yield threads
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()


@cache
def _controller() -> Any:
    return ThreadpoolController().select(user_api="blas")
