"""How classes spread, as matrices that can always be inverted; notes say what had to be shrunk.

A class with few rows, or with columns that depend on each other, has no usable covariance. It is shrunk towards the
covariance that the classes share: by the weight of Oracle Approximating Shrinkage (Chen et al., 2010), and at least as
if the shared one had been observed in d rows of the class, d its columns, as an inverse Wishart prior does. That only
needs count, mean and scatter, so it works on merged geometries; Ledoit & Wolf's weight needs rows. The weight is
computed where the shared covariance is the identity, so that it does not depend on units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from ...arrays import Floats, Ints
from ...expect import InputError, one_of, shown
from .moments import Geometry

COVARIANCES = ("auto", "full", "shared", "diagonal")
ENOUGH_ROWS = 10
"""With `covariance="auto"` a class keeps its own covariance if it has this many rows per column."""
FLOOR = 1e-6
"""The least variance of a column within classes, as a share of its variance overall."""
LEAST_PIVOT = 1e-8
"""A column counts as dependent if the columns before it leave a smaller share of it unexplained."""
LEAST_SHRINKAGE = 1e-4
MOST_CACHED = 2 * 10**7


@dataclass(frozen=True)
class ClassCovariance:
    """The covariance Σ of a class: Σ⁻¹ = `whitener` · `whitener`ᵀ, upper triangular, and what else distances need."""

    whitener: Floats
    log_determinant: float
    variances: Floats
    shrinkage: float
    """Weight of the shared covariance in it, from 0 to 1."""


class Covariances:
    """The covariance of every class of a geometry, in the columns that vary (`columns`).

    kind : "auto", one per class, shrunk if it has fewer than `ENOUGH_ROWS` rows per column or its columns depend on
    each other; "full", shrunk in the latter case only; "shared", one for all; "diagonal", variances alone.
    """

    def __init__(self, geometry: Geometry, kind: str = "auto") -> None:
        one_of(kind, "covariance", COVARIANCES)
        self.geometry = geometry
        self.kind = self._affordable(kind)
        self.requested = kind
        self.n_rows = geometry.n_rows
        self.degrees = max(self.n_rows - int((geometry.counts > 0).sum()), 1)
        overall = geometry.variances
        self.columns = varying_columns(geometry)
        if self.columns.size == 0:
            raise InputError("All columns are constant; no row is nearer to one class than to another.")
        self.scale: Floats = np.sqrt(overall[self.columns])
        self.shrinkages: dict[int, float] = {}
        self.shared_shrinkage = 0.0
        self._cached: dict[int, ClassCovariance] = {}

    def of(self, code: int) -> ClassCovariance:
        """The covariance of one class."""
        code = -1 if self.kind == "shared" else code
        if code in self._cached:
            return self._cached[code]
        covariance = (
            self.shared() if code < 0 else self._diagonal(code) if self.kind == "diagonal" else self._class(code)
        )
        self.shrinkages[code] = covariance.shrinkage
        if (len(self._cached) + 1) * covariance.whitener.size <= MOST_CACHED:
            self._cached[code] = covariance
        return covariance

    def shared(self) -> ClassCovariance:
        """The covariance that the classes share, around their own means."""
        variances = self.scale**2 * np.diag(self._shared_matrix)
        return self._scaled(_triangular_inverse(self._shared_factor).T, variances, 0.0)

    def notes(self) -> list[str]:
        """What was done to make matrices invertible, for the classes that were used."""
        notes = []
        n_constant = self.geometry.n_features - self.columns.size
        if n_constant:
            notes.append(f"{n_constant} constant columns carry no information and were dropped.")
        if self.kind != self.requested and self.requested == "auto":
            notes.append(
                f"{self.geometry.classes.size} classes x {self.geometry.n_features}² columns are too many numbers for "
                f"one covariance per class; the {self.kind} one was used."
            )
        shrunk = {code: weight for code, weight in self.shrinkages.items() if weight > 0 and code >= 0}
        if shrunk and self.kind != "diagonal":
            worst = sorted(shrunk, key=lambda code: -shrunk[code])
            weights = [f"{self.geometry.classes[code]} {shrunk[code]:.0%}" for code in worst]
            few = "because of few rows or because columns depend on each other"
            why = "because it has no inverse otherwise" if self.kind == "full" else few
            notes.append(
                f"The covariance of {len(shrunk)} of {self.geometry.classes.size} classes was shrunk towards the "
                f"shared one, {why}: {shown(weights, 3)}."
            )
        if self.shared_shrinkage > 0:
            notes.append(f"The shared covariance was shrunk towards its diagonal by {self.shared_shrinkage:.2g}.")
        return notes

    def _affordable(self, kind: str) -> str:
        detail = self.geometry.detail
        if detail == "diagonal" and kind == "auto":
            return "diagonal"
        if detail == "shared" and kind == "auto":
            return "shared"
        if (detail == "shared" and kind == "full") or (detail == "diagonal" and kind in ("full", "shared")):
            raise InputError(
                f"`covariance` is {kind!r}, but the geometry of {self.geometry.classes.size} classes x "
                f"{self.geometry.n_features} columns has only a {detail} scatter: more would be too many "
                f"numbers. Use covariance={detail!r}, fewer columns (PCA), or Geometry(most_numbers=...)."
            )
        return kind

    def _class(self, code: int) -> ClassCovariance:
        geometry, d = self.geometry, self.columns.size
        assert geometry.scatter is not None
        count = int(geometry.counts[code])
        scatter = self._standardised(geometry.scatter[code])
        if count > d and (self.kind == "full" or self._enough(count, code)):
            own = _cholesky_if_independent(scatter / count)
            if own is not None:
                variances = self.scale**2 * np.diag(scatter) / count
                return self._scaled(_triangular_inverse(own).T, variances, 0.0)
        # Where the shared covariance is the identity, the scatter is this, up to a rotation, which traces ignore.
        shared = self._shared_matrix
        relative = self._shared_inverse @ scatter / max(count, 1)
        trace = float(np.trace(relative))
        oracle = _oracle_weight(trace, float(np.einsum("ij,ji->", relative, relative)), count, d)
        shrinkage = max(oracle, d / (count + d))
        # The shared covariance counts as one row of this class: everything, if the class itself has only one.
        size = (trace * count / d + 1) / max(count, 1)
        while True:
            mixed = scatter * ((1 - shrinkage) / max(count, 1)) + shared * (shrinkage * size)
            own = _cholesky(mixed)
            if own is not None:
                return self._scaled(_triangular_inverse(own).T, self.scale**2 * np.diag(mixed), shrinkage)
            shrinkage = min(10 * shrinkage, 1.0)  # ends at 1, which is the shared covariance itself

    def _enough(self, count: int, code: int) -> bool:
        """Whether a class has enough rows for its own covariance. A fold does as the whole, which measures new rows."""
        least, whole = ENOUGH_ROWS * self.columns.size, self.geometry.whole_counts
        return count >= least if whole is None else bool(whole[code] >= least and 2 * count >= least)

    def _diagonal(self, code: int) -> ClassCovariance:
        # As above, the shared variances count as one row.
        shared = np.maximum(self.geometry.squares.sum(axis=0)[self.columns] / self.degrees, FLOOR * self.scale**2)
        count = max(int(self.geometry.counts[code]), 1)
        variances = (self.geometry.squares[code, self.columns] + shared) / count
        return ClassCovariance(1 / np.sqrt(variances), float(np.log(variances).sum()), variances, 1 / count)

    def _scaled(self, whitener: Floats, variances: Floats, shrinkage: float) -> ClassCovariance:
        log_determinant = -2 * float(np.log(np.diag(whitener)).sum()) + 2 * float(np.log(self.scale).sum())
        return ClassCovariance(np.asfortranarray(whitener / self.scale[:, None]), log_determinant, variances, shrinkage)

    @cached_property
    def _shared_factor(self) -> Floats:
        """Lower triangular L with L·Lᵀ the shared covariance, in units of the columns' overall deviation."""
        pooled = self.geometry.pooled
        if pooled is None:
            raise InputError(
                f"{self.geometry.n_features} columns are too many for a covariance. Use fewer (PCA), or the "
                "distance 'euclidean' or 'cosine'."
            )
        covariance = self._standardised(pooled) / self.degrees
        deviation = np.sqrt(np.maximum(np.diag(covariance), FLOOR))
        correlation = covariance / np.outer(deviation, deviation)
        correlation[np.diag_indices(deviation.size)] = 1.0
        # As for classes, a fold does as the whole.
        whole, least = self.geometry.whole_counts, ENOUGH_ROWS * deviation.size
        degrees = self.degrees if whole is None else int(whole.sum()) - int((whole > 0).sum())
        lower = _cholesky_if_independent(correlation) if min(degrees, 2 * self.degrees) >= least else None
        if lower is None:
            d, squared = deviation.size, float(np.einsum("ij,ij->", correlation, correlation))
            shrinkage = _oracle_weight(d, squared, self.degrees, d)
            correlation *= 1 - shrinkage
            correlation[np.diag_indices(deviation.size)] += shrinkage
            lower = _cholesky(correlation)
            self.shared_shrinkage = shrinkage
        assert lower is not None
        return lower * deviation[:, None]

    @cached_property
    def _shared_matrix(self) -> Floats:
        lower = self._shared_factor
        return lower @ lower.T

    @cached_property
    def _shared_inverse(self) -> Floats:
        inverse = _triangular_inverse(self._shared_factor)
        return inverse.T @ inverse

    def _standardised(self, scatter: Floats) -> Floats:
        varying = scatter if self.columns.size == scatter.shape[0] else scatter[np.ix_(self.columns, self.columns)]
        scaled: Floats = varying / np.outer(self.scale, self.scale)
        return scaled


def varying_columns(geometry: Geometry) -> Ints:
    """The columns that are not constant over all rows."""
    # The first term is what rounding leaves of a constant when a mean is subtracted.
    least = (1e-13 * np.abs(geometry.mean)) ** 2 + geometry.noise + 1e-300
    return np.flatnonzero(geometry.variances > least)


def _oracle_weight(trace: float, squared: float, count: int, d: int) -> float:
    """How much of a covariance of `count` rows should be replaced by the identity (Chen et al., 2010, eq. 23).

    trace : of the covariance; squared : trace of its square.
    """
    excess = squared - trace**2 / d
    if count <= 1 or excess <= 1e-12 * squared:
        return 1.0
    weight = ((1 - 2 / d) * squared + trace**2) / ((count + 1 - 2 / d) * excess)
    return min(max(weight, LEAST_SHRINKAGE), 1.0)


def _cholesky_if_independent(covariance: Floats) -> Floats | None:
    """The Cholesky factor, or None if a column is almost a combination of those before it."""
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    if not (deviation > math.sqrt(FLOOR) * 1e-3).all():
        return None
    lower = _cholesky(covariance)
    if lower is None or (np.diag(lower) / deviation).min() ** 2 < LEAST_PIVOT:
        return None
    return lower


def _cholesky(matrix: Floats) -> Floats | None:
    lower, failed = lapack.dpotrf(matrix, lower=1, clean=1)
    return None if failed else np.asarray(lower)


def _triangular_inverse(lower: Floats) -> Floats:
    inverse, _ = lapack.dtrtri(lower, lower=1)
    return np.asarray(inverse)
