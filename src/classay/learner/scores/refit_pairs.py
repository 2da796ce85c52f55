"""How much two refits differ at each point: refits on different training samples, and refits on the same one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats

Differ = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
BUDGET = 2 * 10**8
"""Predictions to compare; with more, not all pairs of subsets are compared, but each with as many others."""


@dataclass(frozen=True)
class PairTables:
    """`table[u, i]`: what unit u, a pair of subsets or a subset, contributes at point i; its mean is the difference.

    `within` (K, n) is the difference of refits on the same subset; (0, n) if there is one refit per subset.
    """

    table: Floats
    within: Floats

    @property
    def per_point(self) -> Floats:
        """(n,): the mean difference at each point."""
        return np.asarray(self.table.mean(axis=0))


def pair_tables(values: NDArray[Any], differ: Differ, paired: bool) -> PairTables:
    """Differences of values (K, R, n) or (K, R, n, C): subsets 2i and 2i + 1 are pairs, or all are compared.

    `differ` gives (…, n) differences of two arrays of values. The difference of two subsets is the mean over all pairs
    of their refits. If all are compared, the unit is a subset: table = 2·h − mean, h[k, i] the mean difference of
    subset k from the others, the projection of a U-statistic.
    """
    refits = values.shape[1]
    if paired:
        before, after = values[::2], values[1::2]
        table = np.mean([_mean(differ, before, np.roll(after, shift, axis=1)) for shift in range(refits)], axis=0)
    else:
        own = _from_others(values, differ)
        table = 2 * own - own.mean(axis=0)
    inside = [_mean(differ, values, np.roll(values, shift, axis=1)) for shift in range(1, refits)]
    within = np.mean(inside, axis=0) if inside else np.empty((0, values.shape[2]))
    return PairTables(np.asarray(table, dtype=float), np.asarray(within, dtype=float))


def _from_others(values: NDArray[Any], differ: Differ) -> Floats:
    """(K, n): the mean difference of each subset from the others, or from as many of them as the budget allows."""
    subsets, refits = values.shape[:2]
    furthest = subsets // 2
    count = max(min(furthest, BUDGET // max(values.size, 1)), 1)
    total, weights = np.zeros((subsets, values.shape[2])), 0.0
    for shift in np.unique(np.linspace(1, max(furthest, 1), count).round().astype(int)).tolist():
        # Refits are paired in turn: 0 with 0, then 0 with 1, and so on.
        other = np.roll(np.roll(values, -shift, axis=0), shift % refits, axis=1)
        apart = _mean(differ, values, other)
        weight = 0.5 if 2 * shift == subsets else 1.0  # each of these pairs appears twice
        total += weight * (apart + np.roll(apart, shift, axis=0))
        weights += 2 * weight
    return np.asarray(total / weights)


def _mean(differ: Differ, one: NDArray[Any], other: NDArray[Any]) -> Floats:
    return np.asarray(differ(one, other).mean(axis=1), dtype=float)


def distance(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Half the sum over classes of absolute differences: of two classes, the difference of their probabilities."""
    return np.asarray(np.abs(one.astype(float) - other).sum(axis=-1) / 2)


def unequal(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(one != other)
