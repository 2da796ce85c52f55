"""Back-test: foresee the accuracy with all classes from half and from a quarter of them, on the user's own data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .curve import Curve
from .methods import Method
from .resample import halves

Floats = NDArray[np.float64]

SHARES = (0.5, 0.25)
DRAWS = 10
LEAST_CLASSES = 5
"""Fewer classes do not make a curve to extrapolate."""
TOLERANCE = 0.05
MOST_RATIO = 100.0


@dataclass(frozen=True, eq=False)
class BackTest:
    """What random sets of `n_classes` classes foresaw for all: `foreseen`, one a set; `actual` is what came."""

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
        """Mean error: above 0 if too much was foreseen."""
        return float(np.mean(self.foreseen) - self.actual)


def back_test(curve: Curve, method: Method, seed: int) -> tuple[BackTest, ...]:
    """Foresee accuracy with all K classes from random halves and quarters of them, if these have 5 classes or more."""
    found = []
    ranks, n_classes = curve.ranks, curve.n_classes
    for share in SHARES:
        if round(share * ranks.n_groups) < 2 or share * n_classes < LEAST_CLASSES:
            continue
        parts = [part for part in halves(ranks, curve.ties, DRAWS, seed, share) if part.lower.size]
        foreseen = np.array([float(method(part, [n_classes])[0]) for part in parts])
        if foreseen.size:
            seen = round(float(np.mean([part.n_classes for part in parts])))
            found.append(BackTest(seen, n_classes / seen, float(curve.accuracy[-1]), foreseen))
    return tuple(found)


def limit_of_trust(tests: tuple[BackTest, ...], tolerance: float = TOLERANCE) -> float:
    """The largest k/K at which the error is expected to stay within `tolerance`; NaN without a back-test.

    The error is taken to grow as log(k/K), as fast as in the worse of the back-tests. That is on the safe side, since
    a back-test has fewer classes to go by than the whole. At most 100: nobody looked further.
    """
    if not tests:
        return math.nan
    fastest = max(test.error / math.log(test.ratio) for test in tests)
    return min(math.exp(min(tolerance / max(fastest, 1e-9), 50.0)), MOST_RATIO)
