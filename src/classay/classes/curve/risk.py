"""The curve of expected cost over all label sets of every size, if some errors cost more than others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from ...arrays import AnyInts, Floats
from ...expect import InputError
from ...inputs import finite, table_of
from ...inputs import matrix as numbers
from ...intervals import Estimate
from ...result import Result
from ..ranks.counts import blocks, check_scores, class_groups, notes_of_empty_classes
from ..ranks.evidence import class_weights, mean_over_label_sets, spread_weights
from ..ranks.ranks import Ranks
from .curve import KIND, curve_frame, observed_size, some_sizes
from .jackknife import jackknife_error

GROUPS = 20
"""Classes are left out in this many groups; fewer than for accuracy, because all is counted again for each."""


@dataclass(frozen=True, eq=False)
class RiskCurve(Result, chart="curve:risk_chart"):
    """The result of `Curve.risk`: `risk[k − 1]` with `low` and `high`, for label sets of k = 1, …, K classes.

    `ranks` is the record of the same scores.
    """

    risk: Floats
    low: Floats
    high: Floats
    ties: str
    level: float
    ranks: Ranks
    notes: tuple[str, ...] = ()

    @property
    def n_classes(self) -> int:
        """K, the number of observed classes."""
        return int(self.risk.size)

    def at(self, k: int) -> Estimate:
        """Expected cost with k classes, 1 ≤ k ≤ K."""
        place = observed_size(k, self.n_classes) - 1
        return Estimate(float(self.risk[place]), float(self.low[place]), float(self.high[place]), self.level, KIND)

    def to_frame(self) -> pd.DataFrame:
        """One row per size: figure, k, value, low, high, level, kind."""
        return curve_frame("risk", self.risk, self.low, self.high, self.level)

    def __str__(self) -> str:
        text = (
            f"{self.ranks.name}: expected cost {self.at(self.n_classes)} with all {self.n_classes} classes"
            f"{', ' if self.n_classes > 2 else ''}{some_sizes(self)}. Average over all label sets of each size; "
            f"intervals are {KIND}, from {self.ranks.truth.size} test rows."
        )
        return " ".join([text, *self.notes])


def risk_curve(ranks: Ranks, scores: Any, costs: ArrayLike, ties: str, level: float) -> RiskCurve:
    """The expected cost for a record and the scores that it was made of; see `Curve.risk`."""
    table, names, truth = table_of(scores), ranks.classes, ranks.truth
    if table.shape != (truth.size, names.size):
        raise InputError(
            f"`scores` has shape {table.shape}; expected {(truth.size, names.size)}, the scores that the curve was "
            "made of."
        )
    if ranks.prior is not None:
        raise InputError("The curve weights classes by a prior; costs are for classes of equal weight. Drop `prior`.")
    if isinstance(costs, pd.DataFrame) and set(costs.index) == set(costs.columns) == set(names.tolist()):
        costs = costs.loc[names.tolist(), names.tolist()]
    matrix = finite(numbers(costs, "costs"), "costs")
    if matrix.shape != (names.size, names.size):
        raise InputError(
            f"`costs` has shape {matrix.shape} and there are {names.size} classes; expected (predicted, true), "
            f"{(names.size, names.size)}."
        )
    group, weights = class_groups(names.size, GROUPS), class_weights(truth, names.size)
    whole, without = count_costs(table, ranks, weights, matrix, group, ties)
    risk = whole.curve()
    left = _risks_without(without, group, truth)
    error = np.full(names.size, np.inf) if left is None else jackknife_error(left, np.bincount(group))
    reach = stats.t.ppf(0.5 + level / 2, len(without) - 1) * error
    least, most = matrix.min(), matrix.max()
    low, high = np.clip(risk - reach, least, most), np.clip(risk + reach, least, most)
    return RiskCurve(risk, low, high, ties, level, ranks, notes_of_empty_classes(truth, names.size))


def _risks_without(without: list[CostCounts], group: AnyInts, truth: AnyInts) -> Floats | None:
    """(G, K): the risk without each group, the largest size for missing ones; None if there are too few classes."""
    has_rows = np.bincount(truth, minlength=group.size) > 0
    values = []
    for left_out, counts in enumerate(without):
        share = has_rows[group != left_out].sum() / has_rows.sum()
        if counts.n_classes < 2 or share == 0:
            return None
        values.append(counts.curve()[np.minimum(np.arange(group.size), counts.n_classes - 1)] / share)
    return np.array(values)


# Expected cost over all label sets of each size, for a cost matrix. Pure arrays.
#
# A row of true class y, scored against K classes. In a label set around y the prediction is j, scored higher, if j is
# in it and all others but y are among the classes below j. With inclusive ranks R (how many classes score as high or
# lower) the share of sets of k classes that predict j is C(R_j − 2, k−2)/C(K−1, k−1), and y C(R_y − 1, k−1)/C(K−1,
# k−1). Only the scores that are at least the true one are sorted.


@dataclass
class ScoreRuns:
    """Runs of equal scores, in order, from the true class up; the first of each row contains the true class.

    `lower` counts the classes below a run, `size` those in it, `cost` is their cost as predictions, weighted.
    """

    lower: AnyInts
    size: AnyInts
    cost: Floats


class CostCounts:
    """Costs of wrong predictions by how many classes but y are below them; of right ones by how many are below y."""

    def __init__(self, n_classes: int, ties: str) -> None:
        self.n_classes, self.ties = n_classes, ties
        self.wrong, self.right = np.zeros(max(n_classes - 1, 1)), np.zeros(n_classes)

    def curve(self) -> Floats:
        """(K,): expected cost with k = 1, …, K classes, of right predictions and of wrong ones."""
        sizes = np.arange(1, self.n_classes + 1)
        costs = _signed_mean(self.right, sizes)
        # C(n, k−2)/C(K−1, k−1) = (k−1)/(K−1) · C(n, k−2)/C(K−2, k−2): the same average, with one class less.
        costs[1:] += sizes[:-1] / max(self.n_classes - 1, 1) * _signed_mean(self.wrong, sizes[:-1])
        return costs

    def add(self, runs: ScoreRuns, above: AnyInts, own: AnyInts, of_right: Floats) -> None:
        """Runs `above` the true class, and its `own`; `of_right` is the cost of the right prediction, weighted."""
        # Ties among runs above the true class are broken at random.
        self.wrong += spread_weights(runs.lower[above] - 1, runs.size[above] - 1, runs.cost[above], self.wrong.size)
        lower, tied, of_ties = runs.lower[own], runs.size[own] - 1, runs.cost[own] - of_right
        some = tied > 0
        if self.ties == "right":
            self.right += np.bincount(lower + tied, of_right, self.right.size)
        elif self.ties == "wrong":
            self.right += np.bincount(lower, of_right, self.right.size)
            self.wrong += spread_weights(lower[some], tied[some] - 1, of_ties[some], self.wrong.size)
        else:
            self.right += spread_weights(lower, tied, of_right, self.right.size)
            # At place p of t + 1, from 0, a tied class is above y with chance p/t, and lower + p − 1 others are below.
            lower, tied, of_ties = lower[some], tied[some], of_ties[some]
            place = np.arange(tied.sum()) - np.repeat(np.cumsum(tied) - tied, tied) + 1
            parts = np.repeat(of_ties / (tied * (tied + 1)), tied) * place
            self.wrong += np.bincount(np.repeat(lower, tied) + place - 1, parts, self.wrong.size)


def count_costs(
    scores: NDArray[Any], ranks: Ranks, weights: Floats, costs: Floats, group: AnyInts, ties: str
) -> tuple[CostCounts, list[CostCounts]]:
    """Costs of all rows, and the same without the classes of each group. `costs[j, y]`: predicting j if y is true.

    Weights are those of all rows; without a group they no longer sum to 1.
    """
    n_classes, sizes = scores.shape[1], np.bincount(group)
    whole, without = CostCounts(n_classes, ties), [CostCounts(int(n_classes - size), ties) for size in sizes]
    members = np.zeros((n_classes, sizes.size), dtype=np.float32)
    members[np.arange(n_classes), group] = 1
    for part, block in blocks(scores):
        rows, y = np.arange(block.shape[0]), ranks.truth[part]
        check_scores(block, rows, part.start)
        own = block[rows, y][:, None]
        # Counts below 2^24 are exact in single precision, and a matrix product counts by group fastest.
        below_in = ((block < own).astype(np.float32) @ members).astype(np.int64)
        if (below_in.sum(axis=1) != ranks.lower[part]).any():
            raise InputError("`scores` are not those that the curve was made of: the true classes rank otherwise.")
        row, column = np.nonzero(block >= own)
        order = np.lexsort((block[row, column], row))
        row, column = row[order], column[order]
        values = block[row, column]
        is_first = np.r_[True, row[1:] != row[:-1]]
        is_start = is_first | np.r_[True, values[1:] != values[:-1]]
        number, starts = np.cumsum(is_start) - 1, np.flatnonzero(is_start)
        cost = weights[part][row] * costs[column, y[row]]
        # By run and group: classes, their cost, and the classes below.
        at, shape = number * sizes.size + group[column], (starts.size, sizes.size)
        size_in = np.bincount(at, minlength=starts.size * sizes.size).reshape(shape)
        cost_in = np.bincount(at, cost, starts.size * sizes.size).reshape(shape)
        run_row, run_first = row[starts], number[is_first]
        earlier = np.cumsum(size_in, axis=0) - size_in
        lower_in = below_in[run_row] + earlier - earlier[run_first][run_row]

        runs = ScoreRuns(lower_in.sum(axis=1), size_in.sum(axis=1), cost_in.sum(axis=1))
        above = np.ones(starts.size, dtype=bool)
        above[run_first] = False
        of_right = weights[part] * costs[y, y]
        whole.add(runs, np.flatnonzero(above), run_first, of_right)
        for left_out, counts in enumerate(without):
            rest = ScoreRuns(
                runs.lower - lower_in[:, left_out], runs.size - size_in[:, left_out], runs.cost - cost_in[:, left_out]
            )
            stays = group[y] != left_out
            there = np.flatnonzero(above & (rest.size > 0) & stays[run_row])
            counts.add(rest, there, run_first[stays], of_right[stays])
    return whole, without


def _signed_mean(weights: Floats, sizes: NDArray[np.int64]) -> Floats:
    """The average for weights that may be negative, as costs that are gains are."""
    mean = mean_over_label_sets(np.maximum(weights, 0.0), sizes)
    return mean if (weights >= 0).all() else mean - mean_over_label_sets(np.maximum(-weights, 0.0), sizes)
