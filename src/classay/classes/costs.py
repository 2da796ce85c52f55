"""Expected cost over all label sets of each size, for a cost matrix. Pure arrays.

A row of true class y, scored against K classes. In a label set around y the answer is j, scored higher, if j is in it
and all others but y are among the classes below j. With inclusive ranks R (how many classes score as high or lower)
the share of sets of k classes that answer j is C(R_j − 2, k−2)/C(K−1, k−1), and y itself C(R_y − 1, k−1)/C(K−1, k−1).
Only the scores that are at least the true one are put in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .counting import blocks, refuse
from .evidence import average, spread

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]


@dataclass
class Runs:
    """Runs of equal scores, in order, from the true class up; the first of each row holds the true class.

    `lower` counts the classes below a run, `size` those in it, `cost` is what they cost as answers, weighted.
    """

    lower: Ints
    size: Ints
    cost: Floats


class CostCounts:
    """Costs of wrong answers by how many classes but y are below them, and of right ones by how many are below y."""

    def __init__(self, n_classes: int, ties: str) -> None:
        self.n_classes, self.ties = n_classes, ties
        self.wrong, self.right = np.zeros(max(n_classes - 1, 1)), np.zeros(n_classes)

    def curve(self) -> Floats:
        """(K,): expected cost with k = 1, …, K classes."""
        sizes = np.arange(1, self.n_classes + 1)
        found = _signed(self.right, sizes)
        # C(n, k−2)/C(K−1, k−1) = (k−1)/(K−1) · C(n, k−2)/C(K−2, k−2): the same average, with one class less.
        found[1:] += sizes[:-1] / max(self.n_classes - 1, 1) * _signed(self.wrong, sizes[:-1])
        return found

    def add_above(self, runs: Runs) -> None:
        """Runs above the true class; ties among them are broken at random."""
        self.wrong += spread(runs.lower - 1, runs.size - 1, runs.cost, self.wrong.size)

    def add_own(self, runs: Runs, of_right: Floats) -> None:
        """Runs of the true class and those it ties with; `of_right` is what the right answer costs."""
        lower, tied, of_ties = runs.lower, runs.size - 1, runs.cost - of_right
        some = tied > 0
        if self.ties == "right":
            self.right += np.bincount(lower + tied, of_right, self.right.size)
        elif self.ties == "wrong":
            self.right += np.bincount(lower, of_right, self.right.size)
            self.wrong += spread(lower[some], tied[some] - 1, of_ties[some], self.wrong.size)
        else:
            self.right += spread(lower, tied, of_right, self.right.size)
            # At place p of t + 1, from 0, a tied class is above y with chance p/t, and lower + p − 1 others are below.
            lower, tied, of_ties = lower[some], tied[some], of_ties[some]
            place = np.arange(tied.sum()) - np.repeat(np.cumsum(tied) - tied, tied) + 1
            parts = np.repeat(of_ties / (tied * (tied + 1)), tied) * place
            self.wrong += np.bincount(np.repeat(lower, tied) + place - 1, parts, self.wrong.size)


def count_costs(
    scores: NDArray[Any], truth: Ints, weights: Floats, costs: Floats, group: Ints, ties: str
) -> tuple[CostCounts, list[CostCounts]]:
    """Costs of all rows, and the same without the classes of each group. `costs[j, y]`: answering j where y is true.

    Weights are those of all rows; without a group they no longer sum to 1.
    """
    n_classes, sizes = scores.shape[1], np.bincount(group)
    whole, without = CostCounts(n_classes, ties), [CostCounts(int(n_classes - size), ties) for size in sizes]
    members = np.zeros((n_classes, sizes.size), dtype=np.float32)
    members[np.arange(n_classes), group] = 1
    for part, block in blocks(scores):
        rows, y = np.arange(block.shape[0]), truth[part]
        refuse(block, rows, part.start)
        own = block[rows, y][:, None]
        # Counts below 2^24 are exact in single precision, and a product counts by group fastest.
        below_in = ((block < own).astype(np.float32) @ members).astype(np.int64)
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

        runs = Runs(lower_in.sum(axis=1), size_in.sum(axis=1), cost_in.sum(axis=1))
        above = np.ones(starts.size, dtype=bool)
        above[run_first] = False
        of_right = weights[part] * costs[y, y]
        _add(whole, runs, np.flatnonzero(above), run_first, of_right)
        for left_out, counts in enumerate(without):
            rest = Runs(
                runs.lower - lower_in[:, left_out], runs.size - size_in[:, left_out], runs.cost - cost_in[:, left_out]
            )
            stays = group[y] != left_out
            there = np.flatnonzero(above & (rest.size > 0) & stays[run_row])
            _add(counts, rest, there, run_first[stays], of_right[stays])
    return whole, without


def _add(counts: CostCounts, runs: Runs, above: Ints, own: Ints, of_right: Floats) -> None:
    counts.add_above(Runs(runs.lower[above], runs.size[above], runs.cost[above]))
    counts.add_own(Runs(runs.lower[own], runs.size[own], runs.cost[own]), of_right)


def _signed(weights: Floats, sizes: NDArray[np.int64]) -> Floats:
    """The average where weights may be negative, as costs of what is a gain are."""
    found = average(np.maximum(weights, 0.0), sizes)
    return found if (weights >= 0).all() else found - average(np.maximum(-weights, 0.0), sizes)
