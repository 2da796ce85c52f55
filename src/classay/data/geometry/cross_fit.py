"""Rows measured by a geometry that has not seen them: from the other folds, or from other rows.

`CrossFit` has the geometry for every row; `row_complexities` turns distances into complexities, at the temperature that
`fit_temperature` finds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ... import expect
from ...arrays import Floats, Ints
from ...inputs import take
from .distances import BY_CLASS, DistanceMetric
from .moments import Geometry

Pair = tuple[str, str]
"""A distance and a kind of covariance."""


class CrossFit:
    """Rows, and the geometry by which each is measured.

    folds : fold of every row, which is measured without the rows of its fold; None: all rows count
    row_groups : group of every row, for intervals; None: rows are independent
    """

    def __init__(
        self,
        geometry: Geometry,
        table: Any,
        codes: Ints,
        *,
        folds: Ints | None = None,
        name: str = "X",
        row_groups: Ints | None = None,
    ) -> None:
        self.geometry, self.table, self.codes, self.name = geometry, table, codes, name
        self.folds, self.row_groups = folds, row_groups
        if folds is None:
            self.groups = [np.arange(codes.size)]
        else:
            self.groups = [np.flatnonzero(folds == fold) for fold in range(int(folds.max()) + 1)]
        self._whole: dict[Pair, DistanceMetric] = {}
        self._by_group: dict[tuple[int, str], Geometry] = {}

    def metric(self, group: int, distances: tuple[str, ...], covariance: str) -> DistanceMetric:
        """The metric for the rows of one group."""
        return DistanceMetric(self.geometry_for(group, detail_needed(distances, covariance)), distances, covariance)

    def geometry_for(self, group: int, detail: str = "full") -> Geometry:
        """The geometry by which a group is measured, with no more detail than needed."""
        whole = self.geometry.lowered(detail)
        if self.folds is None:
            return whole
        key = (group, whole.detail)
        if key not in self._by_group:
            # One at a time: a geometry of each fold may be large.
            self._by_group = {key: self._without(self.groups[group], whole)}
        return self._by_group[key]

    def whole_metric(self, distance: str, covariance: str) -> DistanceMetric:
        """The metric of all rows, for new ones. It is kept: its matrices are expensive."""
        key = (distance, covariance)
        if key not in self._whole:
            geometry = self.geometry.lowered(detail_needed((distance,), covariance))
            self._whole = {key: DistanceMetric(geometry, (distance,), covariance)}
        return self._whole[key]

    def measure(self, metric: DistanceMetric, rows: Ints) -> dict[str, Floats]:
        """Distances of rows of the metric's group."""
        return metric.measure(take(self.table, rows), self.name)

    def _without(self, rows: Ints, whole: Geometry) -> Geometry:
        part = Geometry(whole.detail, whole.most_numbers)
        # Every piece adds a scatter of each class, so there should be many rows for each.
        step = max(rows_at_once(self.table.shape[1]), 200 * whole.classes.size)
        for start in range(0, max(rows.size, 1), step):
            few = rows[start : start + step]
            part.partial_fit(take(self.table, few), whole.classes[self.codes[few]], whole.classes)
        rest = whole.without(part)
        rest.whole_counts = whole.counts if whole.whole_counts is None else whole.whole_counts
        return rest


def rows_at_once(n_features: int) -> int:
    """How many rows to copy at once: about 2 MB. Larger arrays go back to the system each time, which costs a sixth."""
    return max(1000, 2**18 // n_features)


def detail_needed(distances: tuple[str, ...], covariance: str) -> str:
    """How much of the scatter these distances need."""
    by_class = set(distances) & set(BY_CLASS)
    if by_class and covariance in ("auto", "full"):
        return "full"
    return "shared" if (by_class and covariance == "shared") or "whitened_cosine" in distances else "diagonal"


# Complexity h from distances, and the temperature τ at which it is lowest.
#
# h(x, y) = −log softmax_y(−δ(x, ·)/τ). The mean of h over rows is a cross-entropy: convex in 1/τ, so the minimum is
# found safely, and comparable between distances of any scale, so the best of them can be chosen by it.

SOFTEST, SHARPEST = 1e4, 30.0
"""τ is at most this many times the typical gap between the own class and the next, and at least this part of it.

Classes that never overlap would have it at 0, where all rows are equally easy; this keeps an order among them.
"""
CELLS, LEAST_ROWS = 10**6, 300


@dataclass(frozen=True)
class RowComplexities:
    """Positions of rows: `own` distance, the nearest other class (`rival`), its distance, and the nearest of all.

    `known` is False if the own class has no geometry; such rows count as being as far from it as from the farthest.
    """

    own: Floats
    rival: Ints
    rival_distance: Floats
    predicted: Ints
    known: NDArray[np.bool_]
    values: Floats
    """Complexity h, at the given temperature."""


def row_complexities(distances: Floats, codes: Ints, temperature: float) -> RowComplexities:
    """Positions of rows with these codes. A code of -1, and a class at infinity, is unknown."""
    rows = np.arange(codes.size)
    own, known = _own_distances(distances, codes)
    predicted = distances.argmin(axis=1)
    others = distances.copy()
    others[rows[codes >= 0], codes[codes >= 0]] = np.inf
    rival = others.argmin(axis=1)
    rival_distance = others[rows, rival]
    ahead = np.subtract(own[:, None], others, out=others)
    return RowComplexities(
        own=own,
        rival=rival,
        rival_distance=rival_distance,
        predicted=predicted,
        known=known,
        values=_complexity(ahead, 1 / temperature),
    )


def _own_distances(distances: Floats, codes: Ints) -> tuple[Floats, NDArray[np.bool_]]:
    """Distance to the own class, and whether that class exists."""
    own = distances[np.arange(codes.size), codes]
    known = (codes >= 0) & np.isfinite(own)
    if not known.all():
        strange = distances[~known]
        own = own.copy()
        own[~known] = np.where(np.isfinite(strange), strange, -np.inf).max(axis=1)
    return own, known


def _complexity(ahead: Floats, sharpness: float) -> Floats:
    """Complexity from how much nearer each other class is than the own one: a form that stays precise near 0."""
    scaled = ahead * sharpness
    most = scaled.max(axis=1)
    base = np.where(np.isfinite(most), most, 0.0)
    scaled -= base[:, None]
    with np.errstate(divide="ignore"):  # no other class within reach: log 0, and h is 0
        total = np.log(np.exp(scaled, out=scaled).sum(axis=1))
    values: Floats = np.logaddexp(0.0, total + base)
    return values


def fit_temperature(distances: Floats, codes: Ints) -> tuple[float, float, Floats]:
    """τ at which the mean of h is lowest, that mean, and the h of each row.

    Rows whose class is unknown are left out. With many rows only the first are used: expects a random order.
    """
    own, known = _own_distances(distances, codes)
    rows = np.flatnonzero(known)
    rows = rows[: max(LEAST_ROWS, CELLS // distances.shape[1])]
    if rows.size == 0:
        return 1.0, math.nan, np.empty(0)
    ahead = own[rows, None] - distances[rows]
    ahead[np.arange(rows.size), codes[rows]] = -np.inf
    gaps = np.abs(ahead.max(axis=1))
    typical = float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else 1.0

    def mean_complexity(log_sharpness: float) -> float:
        return float(_complexity(ahead, math.exp(log_sharpness)).mean())

    bounds = (-math.log(typical * SOFTEST), -math.log(typical / SHARPEST))
    minimum = minimize_scalar(mean_complexity, bounds=bounds, method="bounded", options={"xatol": 1e-3})
    return math.exp(-minimum.x), float(minimum.fun), _complexity(ahead, math.exp(minimum.x))


def check_temperature(value: Any) -> float | None:
    """A temperature, or None if it has to be fitted."""
    if value == "auto":
        return None
    if value is None:
        return 1.0
    return expect.number(value, "temperature", above=0, why="'auto' fits it, None is 1.")
