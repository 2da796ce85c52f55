"""Back-test of an extrapolation: forecast the accuracy with all classes from some of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...intervals import Estimate, normal_quantile
from ..curve.curve import Curve, class_samples
from .methods import Method

LEAST_CLASSES = 5
"""Fewer classes are not enough of a curve to extrapolate."""
SHARES = (0.5, 0.25)
DRAWS = 10
TOLERANCE = 0.05
MOST_RATIO = 100.0
NARROWEST = 1.05
"""Below this ratio nothing is promised about more classes."""


@dataclass(frozen=True, eq=False)
class BackTest:
    """What random sets of `n_classes` classes predicted for all: `foreseen`, one per set; `actual` is the truth."""

    n_classes: int
    ratio: float
    actual: float
    foreseen: Floats

    @property
    def error(self) -> float:
        """Root of the mean squared error."""
        return math.sqrt(float(np.mean((self.foreseen - self.actual) ** 2)))

    @property
    def lean(self) -> float:
        """Mean error: above 0 if the prediction was too high."""
        return float(np.mean(self.foreseen) - self.actual)


def back_test(curve: Curve, method: Method, seed: int) -> tuple[BackTest, ...]:
    """Predict accuracy with all K classes from random halves and quarters of them, if these have 5 classes or more."""
    tests = []
    ranks, n_classes = curve.ranks, curve.n_classes
    for share in SHARES:
        if round(share * ranks.n_groups) < 2 or share * n_classes < LEAST_CLASSES:
            continue
        parts = [part for part in class_samples(ranks, curve.ties, DRAWS, seed, share) if part.lower.size]
        foreseen = np.array([float(method(part, [n_classes])[0]) for part in parts])
        if foreseen.size:
            n_part = round(float(np.mean([part.n_classes for part in parts])))
            tests.append(BackTest(n_part, n_classes / n_part, float(curve.accuracy[-1]), foreseen))
    return tuple(tests)


def trusted_ratio(tests: tuple[BackTest, ...], tolerance: float = TOLERANCE, level: float = 0.95) -> float:
    """The largest k/K at which the error stays within `tolerance` at this level; NaN without a back-test.

    The error is assumed normal around 0, with the root mean square of the back-test, and to grow as log(k/K), as fast
    as in the worse of the back-tests. That is conservative, since a back-test uses fewer classes than the whole. At
    most 100: nothing further was tested.
    """
    if not tests:
        return math.nan
    fastest = normal_quantile(level) * max(test.error / math.log(test.ratio) for test in tests)
    return min(math.exp(min(tolerance / max(fastest, 1e-9), 50.0)), MOST_RATIO)


def narrow_ratio(sizes: Sequence[int], forecasts: Sequence[Estimate], n_classes: int) -> float:
    """The largest k/K up to which no interval reaches farther than `TOLERANCE` from its forecast."""
    ratio = 1.0
    for size, forecast in zip(sizes, forecasts):
        reach = max(forecast.high - forecast.value, forecast.value - forecast.low)
        if not (forecast.known and reach <= TOLERANCE):
            return ratio
        ratio = size / n_classes
    return ratio
