"""`complexity_against`: does complexity rank a model's errors, and does it know more than the model's confidence?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from .. import expect
from ..arrays import Floats, Ints, Mask
from ..auc import auc, of_auc, of_auc_difference
from ..intervals import Estimate, of_proportion_by_group
from ..result import Result
from .complexity import Complexity

BINS = 10


@dataclass(frozen=True)
class ComplexityAgainst(Result, chart="data.complexity_against:complexity_against_chart"):
    """The result of `complexity_against`.

    `auc` is the probability that a wrong row has a higher complexity than a right one; `auc_confidence` the same of
    low confidence, and `difference` of the two, unknown without confidences. `correlation` (Spearman) is that of
    complexity with confidence. `curve` has the error rate by complexity, in ranges of about equally many rows.
    """

    auc: Estimate
    auc_confidence: Estimate
    difference: Estimate
    correlation: float
    curve: pd.DataFrame
    errors: int
    rows: int

    def to_frame(self) -> pd.DataFrame:
        """The curve: one line per range of complexity, with its error rate as `value`."""
        return self.curve.rename(columns={"error_rate": "value"})

    def __str__(self) -> str:
        text = (
            f"A row that the model gets wrong has a higher complexity than one that it gets right with probability "
            f"{self.auc:.3f} (AUC; {self.errors} errors in {self.rows} rows)."
        )
        if not self.auc.known:
            text = f"Whether complexity ranks the errors is {self.auc.kind} ({self.errors} errors in {self.rows} rows)."
        if self.auc_confidence.known:
            text += (
                f" Its own confidence reaches {self.auc_confidence:.3f}; complexity minus confidence "
                f"{self.difference:.3f}. Their rank correlation is {self.correlation:.2f}."
            )
        first, last = self.curve["error_rate"].iloc[[0, -1]]
        return f"{text} The error rate is {first:.3g} among the easiest rows and {last:.3g} among the hardest."


def complexity_against(
    result: Complexity,
    errors: ArrayLike,
    confidence: ArrayLike | None = None,
    *,
    bins: int = BINS,
    level: float = 0.95,
) -> ComplexityAgainst:
    """Measure how well complexity, known before any training, ranks the errors of a model.

    AUC = P(complexity of a wrong row > that of a right row), ties count half. The intervals use DeLong's variance on
    the logit scale, paired for the difference to the model's own confidence, and are over groups if `result` has them.
    With fewer than three errors (or groups with errors) they are unknown.

    0.5: says nothing about errors, 1: ranks all of them first. It misleads if labels are wrong: such rows are complex
    and count as errors, whoever is right.

    Parameters
    ----------
    result : complexity of the rows, cross-fitted or of a test set
    errors : True for each row that the model predicts wrongly
    confidence : its confidence in its prediction for each row, such as the largest probability
    bins : number of ranges of complexity in the curve
    level : confidence level of the intervals

    Examples
    --------
    >>> from classay import complexity
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> c = complexity(X, y, distance="euclidean")
    >>> complexity_against(c, c.predicted != y).auc.value > 0.9
    True

    """
    expect.fraction(level, "level")
    expect.whole(bins, "bins", at_least=2)
    wrong = np.asarray(errors)
    if wrong.shape != (len(result),) or wrong.dtype.kind not in "bui" or not np.isin(wrong, (0, 1)).all():
        raise expect.InputError(f"`errors` must be True or False for each of the {len(result)} rows of `result`.")
    wrong = wrong.astype(bool)
    if wrong.all() or not wrong.any():
        raise expect.InputError(
            f"`errors` is {bool(wrong[0])} in all {wrong.size} rows, so there is nothing to rank. Is it inverted?"
        )
    groups = result.evidence.row_groups
    area = auc(result.values, wrong)
    unknown = Estimate(math.nan, 0.0, 1.0, level, "unknown: no confidence was given")
    of_confidence, difference, correlation = unknown, Estimate(math.nan, -1.0, 1.0, level, unknown.kind), math.nan
    if confidence is not None:
        sure = np.asarray(confidence, dtype=float)
        if sure.shape != wrong.shape or not np.isfinite(sure).all():
            raise expect.InputError(f"`confidence` must be a finite number for each of the {len(result)} rows.")
        its_area = auc(-sure, wrong)
        of_confidence = of_auc(its_area, groups, level)
        difference = of_auc_difference(area, its_area, groups, level)
        constant = np.ptp(sure) == 0 or np.ptp(result.values) == 0
        correlation = math.nan if constant else float(stats.spearmanr(result.values, sure).statistic)
    return ComplexityAgainst(
        auc=of_auc(area, groups, level),
        auc_confidence=of_confidence,
        difference=difference,
        correlation=correlation,
        curve=_curve(result.values, wrong, groups, bins, level),
        errors=int(wrong.sum()),
        rows=wrong.size,
    )


def _curve(values: Floats, wrong: Mask, groups: Ints | None, bins: int, level: float) -> pd.DataFrame:
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)))
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(edges.size - 2, 0))
    lines = []
    for number in np.unique(place):
        inside = place == number
        rate = of_proportion_by_group(wrong[inside], None if groups is None else groups[inside], level)
        lines.append(
            {
                "low": float(values[inside].min()),
                "high": float(values[inside].max()),
                "rows": int(inside.sum()),
                "errors": int(wrong[inside].sum()),
                "error_rate": rate.value,
                "rate_low": rate.low,
                "rate_high": rate.high,
            }
        )
    return pd.DataFrame(lines)
