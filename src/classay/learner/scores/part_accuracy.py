"""`part_accuracy`: is a learner right as often on a test part as cross-validation promises, and if not, why?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import AnyInts, Floats
from ...intervals import Estimate, around, crossed_error, difference
from .comparison import mean_over_rows

LEVEL = 0.99
FALL = 0.02
"""Smallest fall in accuracy that matters."""
HIGHEST = 0.99
"""Odds count up to this quantile."""
LEAST_EFFECTIVE = 50
"""With fewer effective rows, training rows cannot stand for the test part."""
RELATION, HARDER, UNKNOWN = "relation", "rows", "unknown"


@dataclass(frozen=True)
class PartAccuracy:
    """Accuracy on training rows, cross-validated (`expected`), and on test rows (`observed`), 0 to 1.

    `change` is the difference; `beyond` what is left of it if training rows count as often as rows like them occur in
    the test part, which `effective` rows are worth.
    """

    expected: Estimate
    observed: Estimate
    change: Estimate
    beyond: Estimate
    effective: float

    @property
    def falls(self) -> bool:
        """Whether accuracy is shown to be lower on test rows, by as much as matters."""
        return self.change.high < 0 and self.change.value <= -FALL

    @property
    def cause(self) -> str:
        """Of a fall: the relation of columns and labels changed, the test rows are harder, or that is unknown."""
        if self.effective < LEAST_EFFECTIVE:
            return UNKNOWN
        if self.beyond.high < 0:
            return RELATION
        return HARDER if self.beyond.value > self.change.value / 2 else UNKNOWN


def part_accuracy(
    right: NDArray[np.bool_],
    odds: Floats,
    right_on_test: Floats,
    groups: AnyInts | None = None,
    test_groups: AnyInts | None = None,
    level: float = LEVEL,
) -> PartAccuracy:
    """Compare cross-validated predictions with those of the test part, as they are and weighted.

    right : whether each training row was predicted correctly by a fit without it
    odds : how many times as frequent rows like it are in the test part, NaN where unknown
    right_on_test : whether each test row was predicted correctly, or how many of the fits were right

    In weighted rows, the share of right predictions is what the test part would have if rows differ and the relation
    of columns and labels is the same: odds are density ratios (importance weighting; Shimodaira, 2000).
    """
    expected = mean_over_rows(right, level, groups, (0.0, 1.0))
    observed = mean_over_rows(right_on_test, level, test_groups, (0.0, 1.0))
    change = difference(observed, expected)
    known = np.isfinite(odds)
    if not known.any():
        return PartAccuracy(expected, observed, change, Estimate(math.nan, -1.0, 1.0, level), 0.0)
    weights = np.minimum(odds[known], np.quantile(odds[known], HIGHEST))
    weights = weights / max(float(weights.mean()), 1e-12)
    usual = float((weights * right[known]).mean())
    # The error of a ratio: deviations from it, weighted.
    units = None if groups is None else groups[known]
    error, _ = crossed_error((weights * (right[known] - usual))[None, :], units)
    draws = weights.size if units is None else np.unique(units).size
    beyond = difference(observed, around(usual, error, level, "over rows, weighted", max(draws, 2)))
    return PartAccuracy(expected, observed, change, beyond, float(weights.size / max((weights**2).mean(), 1e-12)))
