"""How classes spread, as matrices that can always be inverted; what had to be shrunk is said.

A class with few rows, or with columns that depend on each other, has no usable covariance of its own. It is pulled
towards the covariance that the classes share: by as much as Oracle Approximating Shrinkage (Chen et al., 2010) says,
and at least as if the shared one had been seen in d rows of the class, d its columns, as an inverse Wishart prior does.
That needs no more than count, mean and scatter, so it works on merged geometries; Ledoit & Wolf's weight needs rows.
The weight is found where the shared covariance is the identity, so that it does not depend on units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from ..expect import InputError, one_of, shown
from .geometry import Geometry
from .rows import Floats, Ints

COVARIANCES = ("auto", "full", "shared", "diagonal")
ENOUGH = 10
"""With `covariance="auto"` a class keeps its own covariance from so many rows a column."""
FLOOR = 1e-6
"""The least variance of a column within classes, as a share of its variance overall."""
LEAST_PIVOT = 1e-8
"""A column of which a smaller share is not told by the columns before it counts as dependent on them."""
LEAST_PULL = 1e-4
CACHE = 2 * 10**7


@dataclass(frozen=True)
class Spread:
    """The spread of a class: Σ⁻¹ = `whitener` · `whitener`ᵀ, upper triangular, and what else distances need."""

    whitener: Floats
    log_determinant: float
    variances: Floats
    pull: float
    """Share of the shared covariance in it: 0, none, to 1, nothing else."""


class Covariances:
    """The spread of every class of a geometry, in the columns that vary (`columns`).

    kind : "auto", of each class, shrunk where its rows are fewer than `ENOUGH` a column or its columns depend on each
    other; "full", shrunk in the latter case only; "shared", one for all; "diagonal", variances alone.
    """

    def __init__(self, geometry: Geometry, kind: str = "auto") -> None:
        one_of(kind, "covariance", COVARIANCES)
        self.geometry = geometry
        self.kind = self._affordable(kind)
        self.asked = kind
        self.n_rows = geometry.n_rows
        self.degrees = max(self.n_rows - int((geometry.counts > 0).sum()), 1)
        centre, overall = geometry.mean, geometry.variances
        # The first term is what a constant leaves of itself when a mean is subtracted.
        self.columns: Ints = np.flatnonzero(overall > (1e-13 * np.abs(centre)) ** 2 + geometry.noise + 1e-300)
        if self.columns.size == 0:
            raise InputError("All columns are constant; no row is nearer to one class than to another.")
        self.scale: Floats = np.sqrt(overall[self.columns])
        self.pulls: dict[int, float] = {}
        self.shared_pull = 0.0
        self._lower: Floats | None = None
        self._matrix: Floats | None = None
        self._inverted: Floats | None = None
        self._kept: dict[int, Spread] = {}

    def of(self, code: int) -> Spread:
        """The spread of one class."""
        code = -1 if self.kind == "shared" else code
        if code in self._kept:
            return self._kept[code]
        made = self.shared() if code < 0 else self._diagonal(code) if self.kind == "diagonal" else self._class(code)
        self.pulls[code] = made.pull
        if (len(self._kept) + 1) * made.whitener.size <= CACHE:
            self._kept[code] = made
        return made

    def shared(self) -> Spread:
        """The covariance that the classes share, around their own means."""
        variances = self.scale**2 * np.diag(self._shared_matrix())
        return self._spread(_inverse(self._shared_factor()).T, variances, 0.0)

    def notes(self) -> list[str]:
        """What was done to make matrices invertible, for those classes that were asked for."""
        said = []
        gone = self.geometry.n_features - self.columns.size
        if gone:
            said.append(f"{gone} constant columns tell nothing and are left out.")
        if self.kind != self.asked and self.asked == "auto":
            said.append(
                f"{self.geometry.classes.size} classes x {self.geometry.n_features}² columns are too many numbers for "
                f"a covariance of each class; the {self.kind} one was used."
            )
        pulled = {code: pull for code, pull in self.pulls.items() if pull > 0 and code >= 0}
        if pulled and self.kind != "diagonal":
            worst = sorted(pulled, key=lambda code: -pulled[code])
            weights = [f"{self.geometry.classes[code]} {pulled[code]:.0%}" for code in worst]
            said.append(
                f"The covariance of {len(pulled)} of {self.geometry.classes.size} classes was shrunk towards the "
                f"shared one, for want of rows or because columns depend on each other: {shown(weights, 3)}."
            )
        if self.shared_pull > 0:
            said.append(f"The shared covariance was shrunk towards its diagonal by {self.shared_pull:.2g}.")
        return said

    def _affordable(self, kind: str) -> str:
        has = self.geometry.detail
        if has == "diagonal" and kind == "auto":
            return "diagonal"
        if has == "shared" and kind == "auto":
            return "shared"
        if (has == "shared" and kind == "full") or (has == "diagonal" and kind in ("full", "shared")):
            raise InputError(
                f"`covariance` is {kind!r}, but the geometry of {self.geometry.classes.size} classes x "
                f"{self.geometry.n_features} columns holds no more than a {has} scatter: the rest would be too many "
                f"numbers. Use covariance={has!r}, fewer columns (PCA), or Geometry(most_numbers=...)."
            )
        return kind

    def _class(self, code: int) -> Spread:
        geometry, d = self.geometry, self.columns.size
        assert geometry.scatter is not None
        count = int(geometry.counts[code])
        scatter = self._standardised(geometry.scatter[code])
        if count > d and (self.kind == "full" or count >= ENOUGH * d):
            own = _independent(scatter / count)
            if own is not None:
                variances = self.scale**2 * np.diag(scatter) / count
                return self._spread(_inverse(own).T, variances, 0.0)
        # Where the shared covariance is the identity, the scatter is this, up to a rotation, which traces do not see.
        shared = self._shared_matrix()
        inside = self._shared_inverse() @ scatter / max(count, 1)
        trace = float(np.trace(inside))
        oracle = _oracle_weight(trace, float(np.einsum("ij,ji->", inside, inside)), count, d)
        pull = max(oracle, d / (count + d))
        # The shared covariance counts as one row of this class: all there is, where the class has one itself.
        size = (trace * count / d + 1) / max(count, 1)
        while True:
            mixed = scatter * ((1 - pull) / max(count, 1)) + shared * (pull * size)
            own = _cholesky(mixed)
            if own is not None:
                return self._spread(_inverse(own).T, self.scale**2 * np.diag(mixed), pull)
            pull = min(10 * pull, 1.0)  # ends at 1, which is the shared covariance itself

    def _diagonal(self, code: int) -> Spread:
        # As above, the shared variances count as one row.
        shared = np.maximum(self.geometry.squares.sum(axis=0)[self.columns] / self.degrees, FLOOR * self.scale**2)
        count = max(int(self.geometry.counts[code]), 1)
        variances = (self.geometry.squares[code, self.columns] + shared) / count
        return Spread(1 / np.sqrt(variances), float(np.log(variances).sum()), variances, 1 / count)

    def _spread(self, whitener: Floats, variances: Floats, pull: float) -> Spread:
        log_determinant = -2 * float(np.log(np.diag(whitener)).sum()) + 2 * float(np.log(self.scale).sum())
        return Spread(np.asfortranarray(whitener / self.scale[:, None]), log_determinant, variances, pull)

    def _shared_factor(self) -> Floats:
        """Lower triangular L with L·Lᵀ the shared covariance, in units of the columns' overall deviation."""
        if self._lower is None:
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
            lower = _independent(correlation) if self.degrees >= ENOUGH * deviation.size else None
            if lower is None:
                d, squared = deviation.size, float(np.einsum("ij,ij->", correlation, correlation))
                pull = _oracle_weight(d, squared, self.degrees, d)
                correlation *= 1 - pull
                correlation[np.diag_indices(deviation.size)] += pull
                lower = _cholesky(correlation)
                self.shared_pull = pull
            assert lower is not None
            self._lower = lower * deviation[:, None]
        return self._lower

    def _shared_matrix(self) -> Floats:
        if self._matrix is None:
            lower = self._shared_factor()
            self._matrix = lower @ lower.T
        return self._matrix

    def _shared_inverse(self) -> Floats:
        if self._inverted is None:
            inverse = _inverse(self._shared_factor())
            self._inverted = inverse.T @ inverse
        return self._inverted

    def _standardised(self, scatter: Floats) -> Floats:
        some = scatter if self.columns.size == scatter.shape[0] else scatter[np.ix_(self.columns, self.columns)]
        scaled: Floats = some / np.outer(self.scale, self.scale)
        return scaled


def _oracle_weight(trace: float, squared: float, count: int, d: int) -> float:
    """How much of a covariance of `count` rows should give way to the identity (Chen et al., 2010, eq. 23).

    trace : of the covariance; squared : trace of its square.
    """
    excess = squared - trace**2 / d
    if count <= 1 or excess <= 1e-12 * squared:
        return 1.0
    weight = ((1 - 2 / d) * squared + trace**2) / ((count + 1 - 2 / d) * excess)
    return min(max(weight, LEAST_PULL), 1.0)


def _independent(covariance: Floats) -> Floats | None:
    """The Cholesky factor, or None where a column is all but a combination of those before it."""
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


def _inverse(lower: Floats) -> Floats:
    inverse, _ = lapack.dtrtri(lower, lower=1)
    return np.asarray(inverse)
