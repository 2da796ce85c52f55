"""`unlike_known`: which new rows are unlike anything in the data, at a stated rate of false alarms."""

from __future__ import annotations

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
    `p_value` of as many among rows like the known ones.
    """

    unusual: Floats
    distance: Floats
    predicted: Any
    flagged: Ints
    share: Estimate
    false_alarms: float
    p_value: float

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
        rows = self.unusual.size
        more = "more than chance gives" if self.p_value < 0.01 else "no more than chance gives"
        return (
            f"{self.flagged.size} of {rows} rows are unlike the known rows of every class, where about "
            f"{self.false_alarms * rows:.0f} false alarms are expected among rows of the same kind "
            f"({self.false_alarms:.0%}): {more} (p = {self.p_value:.2g})."
        )


def unlike_known(result: Complexity, X: Any, false_alarms: float = 0.05) -> UnlikeKnown:
    """Find rows of `X` that are unlike anything in the rows of `result` (out of distribution), whatever their class.

    p(x) = (1 + number of known rows whose nearest class is at least as far) / (1 + known rows): a conformal p-value.
    Of rows of the same kind, at most a share of `false_alarms` is flagged.

    1: as near to a class as any row; near 0: farther from all classes than nearly every known row. It misleads if
    `result` was measured with `cross_fit=False`: its rows are too near to their own geometry, and too many new ones
    are flagged. Rows between classes are near to several, and not flagged.

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
    table = result.score(X)
    unusual = table["unusual"].to_numpy(dtype=float)
    order = np.lexsort((-table["distance"].to_numpy(dtype=float), unusual))
    flagged = order[unusual[order] <= false_alarms]
    return UnlikeKnown(
        unusual=unusual,
        distance=table["distance"].to_numpy(dtype=float),
        predicted=table["predicted"].to_numpy(),
        flagged=flagged,
        share=of_proportion(flagged.size, unusual.size),
        false_alarms=false_alarms,
        p_value=float(stats.binom.sf(flagged.size - 1, unusual.size, false_alarms)),
    )
