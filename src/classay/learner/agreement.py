"""How often refits agree: of the two halves of each split, or of all pairs of subsets, at each point.

Pairs are never gone through one by one. At a point where c_a of N refits answer a, each of them is alike c_a of them;
what refits of one subset add to that is taken off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer]
Floats = NDArray[np.float64]
Same = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.bool_]]
BLOCK = 2**22
"""Answers, or cells of points by classes, to have in hand at a time."""


@dataclass(frozen=True)
class Compared:
    """`table[u, i]`: what unit u, a split or a subset, says of point i; its mean is the agreement.

    `per_point` is the agreement at each point, `per_refit` (K, R) that of each refit with those it is compared with.
    `within` (K, n) is the agreement of refits of one subset; (0, n) if there is one refit a subset.
    """

    table: Floats
    per_point: Floats
    per_refit: Floats
    within: Floats

    @property
    def value(self) -> float:
        """The agreement."""
        return float(self.per_point.mean())


@dataclass(frozen=True)
class Agreement(Compared):
    """Agreement of labels. `shares` has how often each class is answered, `expected[u, i]` twice the mean share of the
    answers of unit u at point i.
    """

    shares: Floats
    expected: Floats

    @property
    def chance(self) -> float:
        """The agreement of answers drawn at random by their shares."""
        return float(self.shares @ self.shares)

    def kappa_table(self) -> Floats:
        """What unit u at point i adds to kappa = (agreement − chance) / (1 − chance), to first order."""
        theta, e = self.value, self.chance
        tilt = (self.table - theta) * (1 - e) - (1 - theta) * (self.expected - 2 * e)
        return (theta - e) / (1 - e) + tilt / (1 - e) ** 2


def agreement(labels: Ints, n_classes: int, halves: bool) -> Agreement:
    """Agreement of labels (K, R, n): of subsets 2i and 2i + 1, or of all pairs of different subsets.

    >>> answers = np.array([[[0, 1, 1]], [[0, 1, 0]], [[0, 0, 0]]])
    >>> agreement(answers, 2, halves=False).per_point.round(2).tolist()
    [1.0, 0.33, 0.33]
    """

    def alike(block: NDArray[Any]) -> Ints:
        cells = block.astype(np.int64) + np.arange(block.shape[2]) * n_classes
        counts = np.bincount(cells.ravel(), minlength=block.shape[2] * n_classes)
        found: Ints = counts[cells]
        return found

    found = _compared(labels, halves, np.equal, alike, n_classes)
    shares = np.bincount(labels.ravel(), minlength=n_classes) / labels.size
    answered = shares[labels].mean(axis=1)
    expected = answered.reshape(-1, 2, answered.shape[1]).sum(axis=1) if halves else 2 * answered
    return Agreement(*found, shares, expected)


def closeness(values: Floats, tolerance: float, halves: bool) -> Compared:
    """Agreement of numbers (K, R, n), which are the same if they differ by at most the tolerance.

    >>> answers = np.array([[[1.0, 2.0]], [[1.2, 2.0]], [[1.4, 9.0]]])
    >>> closeness(answers, 0.25, halves=False).per_point.round(2).tolist()
    [0.67, 0.33]
    """

    def alike(block: NDArray[Any]) -> Ints:
        flat = block.reshape(-1, block.shape[2])
        counts = np.empty(flat.shape, dtype=np.int64)
        for point, order in enumerate(np.sort(flat, axis=0).T):
            upto = np.searchsorted(order, flat[:, point] + tolerance, "right")
            counts[:, point] = upto - np.searchsorted(order, flat[:, point] - tolerance, "left")
        return counts.reshape(block.shape)

    return Compared(*_compared(values, halves, lambda one, two: np.abs(one - two) <= tolerance, alike, 1))


def _compared(
    answers: NDArray[Any], halves: bool, same: Same, alike: Callable[[NDArray[Any]], Ints], width: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """The parts of `Compared`. `alike` counts for each answer those of all refits that are the same.

    A pair of subsets agrees as far as their refits do, averaged over all R² pairs of refits. Of all pairs, the unit
    is a subset: table = 2·h − per_point, h[k, i] the mean agreement of subset k with the others at point i. That is
    the projection of a U-statistic: its variation over subsets is that of the mean of all pairs (Hoeffding, 1948).
    """
    subsets, refits, points = answers.shape
    step = max(BLOCK // max(subsets * refits, width), 1)
    per_refit, within = [], []
    for start in range(0, points, step):
        block = answers[:, :, start : start + step]
        own = _matches(block, block, same)
        if halves:
            other = block.reshape(-1, 2, *block.shape[1:])[:, ::-1].reshape(block.shape)
            per_refit.append(_matches(block, other, same) / refits)
        else:
            per_refit.append((alike(block) - own) / max((subsets - 1) * refits, 1))
        within.append((own.mean(axis=1) - 1)[: subsets if refits > 1 else 0] / max(refits - 1, 1))
    by_refit = np.concatenate(per_refit, axis=2)
    by_subset = by_refit.mean(axis=1)
    per_point = by_subset.mean(axis=0)
    table = by_subset[::2] if halves else 2 * by_subset - per_point
    return table, per_point, by_refit.mean(axis=2), np.concatenate(within, axis=1)


def _matches(one: NDArray[Any], other: NDArray[Any], same: Same) -> Ints:
    """(K, R, n): of how many refits of the other each answer is the same."""
    count = np.zeros(one.shape, dtype=np.int64)
    for shift in range(one.shape[1]):
        count += same(one, np.roll(other, shift, axis=1))
    return count
