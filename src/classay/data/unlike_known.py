"""`unlike_known`: which new rows are unlike anything in the data, at a stated rate of false alarms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from .. import expect
from ..arrays import Floats, Ints
from ..intervals import Estimate, of_proportion
from ..result import Result
from .complexity import Complexity


@dataclass(frozen=True)
class UnlikeKnown(Result, chart="data.unlike_known:unlike_known_chart"):
    """The result of `unlike_known`.

    `unusual` is, for each new row, the share of known rows (and itself) that are at least as far from every class.
    `flagged` are the rows where it is at most `false_alarms`, the most unusual first; `share` of the rows they are, and
    `p_value` of as many among rows like the known ones: NaN if it is unknown, because rows come in groups. `known_rows`
    is the number of rows that they were compared with.
    """

    unusual: Floats
    distance: Floats
    predicted: Any
    flagged: Ints
    share: Estimate
    false_alarms: float
    p_value: float
    known_rows: int

    def to_frame(self) -> pd.DataFrame:
        """One line per flagged row: row, the class it looks most like, its distance, and `unusual` as `value`."""
        return pd.DataFrame(
            {
                "row": self.flagged,
                "predicted": self.predicted[self.flagged],
                "distance": self.distance[self.flagged],
                "value": self.unusual[self.flagged],
            }
        )

    def __str__(self) -> str:
        rows, rate = self.unusual.size, f"{self.false_alarms:.3g}"
        if not _can_flag(self.known_rows, self.false_alarms):
            return (
                f"No row can be flagged at a rate of {rate}: {self.known_rows} known rows are too few, at least "
                f"{_least_known(self.false_alarms)} are needed. Add known rows, or raise the rate."
            )
        text = (
            f"{self.flagged.size} of {rows} rows are unlike the known rows of every class, where about "
            f"{self.false_alarms * rows:.0f} false alarms are expected among rows of the same kind "
            f"({self.false_alarms:.3g} of them)"
        )
        if math.isnan(self.p_value):
            return f"{text}. Whether that is more than chance gives is unknown, as rows come in groups."
        more = "more than chance gives" if self.p_value < 0.01 else "no more than chance may give"
        return f"{text}: {more} with {self.known_rows} known rows (p = {self.p_value:.2g})."


def unlike_known(result: Complexity, X: Any, false_alarms: float = 0.05) -> UnlikeKnown:
    """Find rows of `X` that are unlike anything in the rows of `result` (out of distribution), whatever their class.

    p(x) = (1 + number of known rows whose nearest class is at least as far) / (1 + known rows): a conformal p-value.
    Over many data sets, at most a share of `false_alarms` of the rows of the same kind is flagged. All rows are
    compared with the same known ones, so in one data set the share varies more than that of independent alarms does:
    the number of alarms is beta-binomial, and so is `p_value`. With `groups` it is unknown.

    1: as near to a class as any row; near 0: farther from all classes than nearly every known row. Rows between classes
    are near to several, and not flagged. Fewer than 1 / false_alarms − 1 known rows can flag nothing.

    Parameters
    ----------
    result : complexity of the known rows, cross-fitted
    X : new rows, with the same columns
    false_alarms : share of rows of the same kind that may be flagged

    Examples
    --------
    >>> from classay import complexity
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> u = unlike_known(complexity(X, y, distance="euclidean"), np.vstack([X[:2], X[:1] + 50]))
    >>> u.flagged.tolist()
    [2]

    """
    expect.fraction(false_alarms, "false_alarms")
    if result.measured == "by the geometry of other rows":
        raise expect.InputError(
            "`result` is the complexity of other rows than those of its geometry (`X_eval`); expected that of the "
            "known rows themselves. Call complexity(X, y) without X_eval."
        )
    if result.measured == "with the row":
        raise expect.InputError(
            "`result` was measured with cross_fit=False: its rows are nearer to their own geometry than new rows, so "
            "too many would be flagged. Call complexity(X, y) with cross_fit=5."
        )
    table = result.score(X)
    unusual = table["unusual"].to_numpy(dtype=float)
    order = np.lexsort((-table["distance"].to_numpy(dtype=float), unusual))
    flagged = order[unusual[order] <= false_alarms + 1e-12]
    known = int(result.known.sum())
    return UnlikeKnown(
        unusual=unusual,
        distance=table["distance"].to_numpy(dtype=float),
        predicted=table["predicted"].to_numpy(),
        flagged=flagged,
        share=of_proportion(flagged.size, unusual.size),
        false_alarms=false_alarms,
        p_value=math.nan
        if result.evidence.row_groups is not None
        else _p_value(flagged.size, unusual.size, known, false_alarms),
        known_rows=known,
    )


def _p_value(alarms: int, rows: int, known: int, false_alarms: float) -> float:
    """P(at least so many alarms) among rows of the same kind, all compared with the same known rows.

    A row is flagged if it is beyond the a-th farthest known row, a = ⌊false_alarms · (known + 1)⌋. The share of the
    population beyond it is Beta(a, known + 1 − a) over data sets.
    """
    if alarms == 0:
        return 1.0
    beyond = math.floor(false_alarms * (known + 1) + 1e-9)
    return float(stats.betabinom.sf(alarms - 1, rows, beyond, known + 1 - beyond))


def _can_flag(known: int, false_alarms: float) -> bool:
    return known >= _least_known(false_alarms)


def _least_known(false_alarms: float) -> int:
    return math.ceil(1 / false_alarms - 1 - 1e-9)
