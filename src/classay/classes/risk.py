"""`risk_curve`: expected cost over all label sets of every size, where some errors cost more than others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from .. import expect
from ..intervals import Estimate
from ..result import Result
from .costs import CostCounts, count_costs
from .evidence import TIES
from .gathering import class_weights, groups, without_rows
from .labels import column_names, columns_of, table_of
from .resample import jackknife_error

Floats = NDArray[np.float64]

KIND = "over classes"
GROUPS = 20
"""Classes are left out in so many groups; fewer than for accuracy, because all is counted anew for each."""


@dataclass(frozen=True, eq=False)
class RiskCurve(Result):
    """What `risk_curve` finds: `risk[k − 1]` with `low` and `high`, for label sets of k = 1, …, K classes."""

    name: str
    risk: Floats
    low: Floats
    high: Floats
    ties: str
    level: float
    n_rows: int
    notes: tuple[str, ...] = ()

    @property
    def n_classes(self) -> int:
        """K, the most classes that were observed together."""
        return int(self.risk.size)

    def at(self, k: int) -> Estimate:
        """Expected cost with k classes, 1 ≤ k ≤ K."""
        place = expect.whole(k, "k", at_least=1) - 1
        if k > self.n_classes:
            raise expect.InputError(f"`k` is {k} and {self.n_classes} classes were observed. Take one of 1 to those.")
        return Estimate(float(self.risk[place]), float(self.low[place]), float(self.high[place]), self.level, KIND)

    def to_frame(self) -> pd.DataFrame:
        """One row a size: figure, k, value, low, high, level, kind."""
        return pd.DataFrame(
            {
                "figure": "risk",
                "k": np.arange(1, self.n_classes + 1),
                "value": self.risk,
                "low": self.low,
                "high": self.high,
                "level": self.level,
                "kind": KIND,
            }
        )

    def __str__(self) -> str:
        sizes = [k for k in (2, 10, 100, 1000, 10_000) if k < self.n_classes]
        some = "".join(f", {self.at(k)} with {k}" for k in sizes)
        text = (
            f"{self.name}: expected cost {self.at(self.n_classes)} with all {self.n_classes} classes{some}. Average "
            f"over all label sets of each size; intervals are {KIND}, from {self.n_rows} test rows."
        )
        return " ".join([text, *self.notes])


def risk_curve(
    scores: Any,
    y: ArrayLike,
    costs: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    ties: str = "random",
    level: float = 0.95,
    name: str = "scores",
) -> RiskCurve:
    """Tell the expected cost with 2, 3, …, K classes, from scores with K and what each confusion costs.

    risk_k = mean over test rows, classes weighing alike, and over all label sets of k classes that contain the true
    one, of costs[answer, truth]. A class j that scores higher than the true one is the answer in
    C(R_j − 2, k−2)/C(K−1, k−1) of them, R_j the number of classes that score as high as j or lower.

    Between the least and the greatest cost; lower is better. With costs of 0 where right and 1 where wrong it is
    1 − accuracy.

    It misleads as `accuracy_curve` does: where the scores of a class depend on which others there are. The answer is
    taken to be the highest score, not the cheapest one.

    Parameters
    ----------
    scores : (n, K) array or memory map, the higher the likelier
    y : (n,) true classes, as names or column numbers
    costs : (K, K), costs[predicted, true], in the order of the columns of `scores`, or a DataFrame labelled by class
    classes : names of the columns, in order; may be left out if `y` holds column numbers
    ties : a tie with the true class counts as "random", "wrong" or "right"; other ties are broken at random
    level : of the intervals
    name : what to call it

    Examples
    --------
    >>> scores, costs = [[3.0, 1, 2], [2, 1, 0], [0, 1, 2]], [[0, 9, 1], [1, 0, 1], [1, 1, 0]]
    >>> risk_curve(scores, [0, 1, 2], costs).risk
    array([0. , 1.5, 3. ])

    References
    ----------
    Zheng (2017), Information, Prediction, and Supervised Learning, thesis, Stanford University, sections 2.3 and 3.3.

    """
    expect.one_of(ties, "ties", TIES)
    expect.fraction(level, "level")
    table = table_of(scores)
    names = column_names(scores, y, classes)
    truth = columns_of(y, names, table.shape[0])
    if not truth.size:
        raise expect.InputError("There are no test rows; at least one row of scores is expected.")
    if isinstance(costs, pd.DataFrame) and set(costs.index) == set(costs.columns) == set(names.tolist()):
        costs = costs.loc[names.tolist(), names.tolist()]
    matrix = _matrix(costs, names.size)
    group, weights = groups(names.size, GROUPS), class_weights(truth, names.size)
    whole, without = count_costs(table, truth, weights, matrix, group, ties)
    risk = whole.curve()
    reach = stats.t.ppf(0.5 + level / 2, len(without) - 1) * _error(without, group, truth)
    least, most = matrix.min(), matrix.max()
    low, high = np.clip(risk - reach, least, most), np.clip(risk + reach, least, most)
    return RiskCurve(name, risk, low, high, ties, level, int(truth.size), without_rows(truth, names.size))


def _matrix(costs: ArrayLike, n_classes: int) -> Floats:
    try:
        matrix = np.asarray(costs, dtype=float)
    except (ValueError, TypeError) as error:
        raise expect.InputError(f"`costs` is no table of numbers ({error}).") from error
    if matrix.shape != (n_classes, n_classes):
        raise expect.InputError(
            f"`costs` has shape {matrix.shape} and there are {n_classes} classes; (predicted, true), "
            f"{(n_classes, n_classes)}, is expected."
        )
    if not np.isfinite(matrix).all():
        raise expect.InputError("`costs` has NaN or infinite values; finite costs are expected.")
    return matrix


def _error(without: list[CostCounts], group: NDArray[np.integer], truth: NDArray[np.integer]) -> Floats:
    """Standard errors from the costs without each group of classes; sizes that are gone as the largest that is left."""
    has_rows = np.bincount(truth, minlength=group.size) > 0
    values = []
    for left_out, counts in enumerate(without):
        share = has_rows[group != left_out].sum() / has_rows.sum()
        if counts.n_classes < 2 or share == 0:
            return np.full(group.size, np.inf)  # too few classes to tell
        values.append(counts.curve()[np.minimum(np.arange(group.size), counts.n_classes - 1)] / share)
    return np.asarray(jackknife_error(np.array(values), np.bincount(group)))
