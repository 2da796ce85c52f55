"""How repeatable a regressor is: answers within a tolerance, Lin's concordance, and the spread at each point."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import expect
from ..intervals import Estimate, around, crossed_standard_error
from ..result import Result
from . import pairs
from .agreement import closeness
from .concordance import concordance, spread
from .figures import figures_frame
from .predictions import Predictions

Floats = NDArray[np.float64]
TOLERANCE = 0.1
"""Of the standard deviation of the target."""
FIGURES = ("stability", "concordance", "rmse", "r2", "same_subset")


@dataclass(frozen=True)
class RegressionStability(Result):
    """What `stability` finds of a regressor.

    `stability` is the share of points on which two refits differ by at most `tolerance` (0 to 1, higher is more
    repeatable); `concordance` Lin's coefficient between refits (1: the same answers, 0: no more alike than answers to
    other points). `rmse` and `r2` are errors of the same refits on test points. `same_subset` is the agreement of
    refits on the same subset. `spread` is at each point the standard deviation over subsets, in units of the target;
    `per_point` the agreement there, `per_refit` (K, R) that of each refit with those it is compared with.
    """

    learner: str
    on: str
    pairs: str
    n_points: int
    n_subsets: int
    n_refits: int
    tolerance: float
    stability: Estimate
    concordance: Estimate
    rmse: Estimate
    r2: Estimate
    same_subset: Estimate
    standard_error: float
    worst_case_points: float
    worst_case_pairs: float
    per_point: Floats
    per_refit: Floats
    spread: Floats
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a figure: learner, on, figure, value, low, high, level, kind."""
        return figures_frame(self.learner, self.on, {name: getattr(self, name) for name in FIGURES})

    def __str__(self) -> str:
        text = (
            f"{self.learner}: answers of two refits on {self.pairs} differ by at most {self.tolerance:.3g} on "
            f"{self.stability} of {self.n_points} {self.on}; concordance {self.concordance}; root mean squared error "
            f"{self.rmse}, R² {self.r2} on test points. A learner that always answers the same has stability 1, so "
            f"read it beside its error. Over subsets, answers spread by {np.median(self.spread):.3g} at the median "
            "point."
        )
        return " ".join([text, *self.notes])


def regression_stability(
    predictions: Predictions, on: str, level: float, tolerance: float | None
) -> RegressionStability:
    """What `stability` does with the record of a regressor."""
    where = pairs.compared_on(predictions, on)
    reach = _tolerance(predictions, tolerance)
    values = predictions.complete(where, pairs=predictions.halves)
    notes = pairs.used(predictions, values.shape)
    near = closeness(values, reach, predictions.halves)
    value, table = concordance(values, predictions.halves)
    squared = ((predictions.complete() - predictions.truth) ** 2).mean(axis=1)
    rmse, r2 = _errors(squared, float(predictions.truth.var()), level)
    undefined = Estimate(math.nan, -1.0, 1.0, level, "undefined: all answers are one number")
    return RegressionStability(
        **pairs.figures(predictions, where, near, values.shape[1], level),
        tolerance=reach,
        concordance=undefined if math.isnan(value) else pairs.coefficient(value, table, len(values) // 2, level),
        rmse=rmse,
        r2=r2,
        spread=spread(values, predictions.halves),
        notes=tuple(notes),
    )


def _tolerance(predictions: Predictions, given: float | None) -> float:
    if given is None:
        deviation = float(predictions.truth.std())
        if deviation == 0:
            raise expect.InputError("The truth is one number, so there is no scale for `tolerance`. Name one.")
        return TOLERANCE * deviation
    is_number = isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)
    if not is_number or not 0 <= given < math.inf:
        raise expect.InputError(
            f"`tolerance` is {given!r}; a number from 0 up is expected, in units of the target: how far apart answers "
            "may be that count as the same."
        )
    return float(given)


def _errors(squared: Floats, variance: float, level: float) -> tuple[Estimate, Estimate]:
    """Root mean squared error and R², from squared errors (K, n); both intervals on the log scale of the former."""
    mean = float(squared.mean())
    kind = pairs.OVER
    if mean == 0:
        perfect = 1.0 if variance else math.nan
        return Estimate(0.0, 0.0, 0.0, level, kind), Estimate(perfect, perfect, perfect, level, kind)
    reach = around(0.0, crossed_standard_error(squared) / mean, level, kind, len(squared)).high
    low, high = mean * math.exp(-reach), mean * math.exp(min(reach, 700.0))
    rmse = Estimate(math.sqrt(mean), math.sqrt(low), math.sqrt(high), level, kind)
    if variance == 0:
        return rmse, Estimate(math.nan, -math.inf, 1.0, level, "undefined: the truth is one number")
    told = f"{kind}, the variance of the target as it is"
    return rmse, Estimate(1 - mean / variance, 1 - high / variance, 1 - low / variance, level, told)
