"""Back-test of an extrapolation: forecast the accuracy with all classes from some of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ..curve.curve import Curve, class_samples
from .methods import Method

LEAST_CLASSES = 5
"""Fewer classes are not enough of a curve to extrapolate."""
SHARES = (0.5, 0.25)
DRAWS = 10
TOLERANCE = 0.05
MOST_RATIO = 100.0


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


def trusted_ratio(tests: tuple[BackTest, ...], tolerance: float = TOLERANCE) -> float:
    """The largest k/K at which the error is expected to stay within `tolerance`; NaN without a back-test.

    The error is assumed to grow as log(k/K), as fast as in the worse of the back-tests. That is conservative, since a
    back-test uses fewer classes than the whole. At most 100: nothing further was tested.
    """
    if not tests:
        return math.nan
    fastest = max(test.error / math.log(test.ratio) for test in tests)
    return min(math.exp(min(tolerance / max(fastest, 1e-9), 50.0)), MOST_RATIO)
