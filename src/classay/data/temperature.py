"""Complexity h from distances, and the temperature τ at which it is lowest.

h(x, y) = −log softmax_y(−δ(x, ·)/τ). The mean of h over rows is a cross-entropy: convex in 1/τ, so that one number is
found safely, and comparable between distances of any scale, so that the best of them can be chosen by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ..expect import InputError
from .rows import Floats, Ints

SOFTEST, SHARPEST = 1e4, 30.0
"""τ is at most so many times the typical gap between the own class and the next, and at least this part of it.

Classes that never overlap would have it at 0, where all rows are equally easy; this keeps an order among them.
"""
CELLS, LEAST_ROWS = 10**6, 300


@dataclass(frozen=True)
class Standing:
    """Where rows stand: `own` distance, the nearest other class (`rival`), its distance, and the nearest of all.

    `known` is False where the own class has no geometry; such rows count as being as far from it as from the farthest.
    """

    own: Floats
    rival: Ints
    rival_distance: Floats
    predicted: Ints
    known: NDArray[np.bool_]
    values: Floats
    """Complexity h, at the temperature asked for."""


def standing(distances: Floats, codes: Ints, temperature: float) -> Standing:
    """Where rows of these codes stand. A code of -1, and a class at infinity, is not known."""
    rows = np.arange(codes.size)
    own, known = own_distances(distances, codes)
    predicted = distances.argmin(axis=1)
    others = distances.copy()
    others[rows[codes >= 0], codes[codes >= 0]] = np.inf
    rival = others.argmin(axis=1)
    rival_distance = others[rows, rival]
    ahead = np.subtract(own[:, None], others, out=others)
    return Standing(
        own=own,
        rival=rival,
        rival_distance=rival_distance,
        predicted=predicted,
        known=known,
        values=_complexity(ahead, 1 / temperature),
    )


def own_distances(distances: Floats, codes: Ints) -> tuple[Floats, NDArray[np.bool_]]:
    """Distance to the own class, and whether that class was there."""
    own = distances[np.arange(codes.size), codes]
    known = (codes >= 0) & np.isfinite(own)
    if not known.all():
        strange = distances[~known]
        own = own.copy()
        own[~known] = np.where(np.isfinite(strange), strange, -np.inf).max(axis=1)
    return own, known


def fit_temperature(distances: Floats, codes: Ints) -> tuple[float, float, Floats]:
    """τ at which the mean of h is lowest, that mean, and the h it is the mean of.

    Rows whose class is not known are left out. Where rows are many the first are used: a random order is expected.
    """
    own, known = own_distances(distances, codes)
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
    found = minimize_scalar(mean_complexity, bounds=bounds, method="bounded", options={"xatol": 1e-3})
    return math.exp(-found.x), float(found.fun), _complexity(ahead, math.exp(found.x))


def check_temperature(value: Any) -> float | None:
    """A temperature, or None where it has to be fitted."""
    if value == "auto":
        return None
    if value is None:
        return 1.0
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not 0 < value < math.inf:
        raise InputError(f"`temperature` is {value!r}; a number above 0 is expected, 'auto' to fit it, or None for 1.")
    return float(value)


def _complexity(ahead: Floats, sharpness: float) -> Floats:
    """Complexity from how much nearer each other class is than the own one: a form that keeps its digits near 0."""
    scaled = ahead * sharpness
    most = scaled.max(axis=1)
    base = np.where(np.isfinite(most), most, 0.0)
    scaled -= base[:, None]
    with np.errstate(divide="ignore"):  # no other class within reach: log 0, and h is 0
        total = np.log(np.exp(scaled, out=scaled).sum(axis=1))
    values: Floats = np.logaddexp(0.0, total + base)
    return values
