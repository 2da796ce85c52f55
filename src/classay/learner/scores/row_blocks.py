"""The interval of any metric: how it varies over refits, and over test points by leaving out one block at a time.

A metric is a number per refit and set of points; few are means over points. With B random blocks of points (of whole
groups, where there are groups), B·θ − (B − 1)·θ without block b is what block b contributes (the delete-a-group
jackknife). Subsets and blocks are both random and crossed, so that the variance of the mean over refits is that over
subsets plus that over blocks minus what both contain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ... import seeds
from ...arrays import AnyInts, Floats, Ints
from ...intervals import Estimate, around, of_proportion, share_around, within_limits

BLOCKS = 20
SAMPLED = 8
"""Subsets whose refits show how a metric varies over points: the cost is blocks x sampled subsets."""


@dataclass(frozen=True)
class RowBlocks:
    """B blocks of points; `kept[b]` are the points without block b."""

    kept: tuple[Ints, ...]

    @classmethod
    def of(cls, points: int, groups: AnyInts | None) -> RowBlocks:
        """Random blocks of about equal size; the same points give the same blocks."""
        units = np.arange(points) if groups is None else np.unique(groups, return_inverse=True)[1]
        number = int(units.max()) + 1
        blocks = min(BLOCKS, number)
        block = np.empty(number, dtype=np.int64)
        block[seeds.generator(0, "blocks of points").permutation(number)] = np.arange(number) % blocks
        return cls(tuple(np.flatnonzero(block[units] != each) for each in range(blocks)))

    @property
    def count(self) -> int:
        """The number of blocks."""
        return len(self.kept)


def blocks_of_points(blocks: RowBlocks, points: int) -> Ints:
    """The block of each point."""
    block = np.empty(points, dtype=np.int64)
    for number, kept in enumerate(blocks.kept):
        block[np.setdiff1d(np.arange(points), kept, assume_unique=True)] = number
    return block


def sampled_subsets(subsets: int) -> Ints:
    """Subsets at even steps."""
    return np.unique(np.linspace(0, subsets - 1, min(SAMPLED, subsets)).round().astype(np.int64))


def standard_error(per_refit: Floats, left_out: Floats, whole: Floats) -> tuple[float, float]:
    """Standard error of the mean over refits, and its degrees of freedom (Satterthwaite).

    `per_refit` (K, R) on all points; `left_out` (k, B) the metric of sampled refits without each block, `whole` (k,)
    that on all points.
    """
    by_subset = np.nanmean(per_refit, axis=1)
    by_subset = by_subset[np.isfinite(by_subset)]
    over_subsets = float(by_subset.var(ddof=1)) / by_subset.size if by_subset.size > 1 else 0.0
    known = np.isfinite(whole) & np.isfinite(left_out).all(axis=1)
    table, blocks = left_out[known], left_out.shape[1]
    if not len(table) or blocks < 2:
        return math.nan, 1.0
    pseudo = blocks * whole[known][:, None] - (blocks - 1) * table
    over_points = float(pseudo.mean(axis=0).var(ddof=1)) / blocks
    both = 0.0
    if len(pseudo) > 1:
        residual = pseudo - pseudo.mean(axis=1, keepdims=True) - pseudo.mean(axis=0) + pseudo.mean()
        both = float((residual**2).sum()) / ((len(pseudo) - 1) * (blocks - 1)) / pseudo.size
    over_points_alone = max(over_points - both, 0.0)
    variance = max(over_subsets + over_points_alone, over_points)
    if variance == 0:
        return 0.0, float(blocks - 1)
    parts = over_points_alone**2 / (blocks - 1) + over_subsets**2 / max(by_subset.size - 1, 1)
    freedom = variance**2 / parts if parts > 0 else blocks - 1
    return math.sqrt(variance), float(max(freedom, 1.0))


def interval(
    value: float, error: float, freedom: float, limits: tuple[float, float], level: float, kind: str, events: int
) -> Estimate:
    """An estimate within its limits; shares on the logit scale. `events`: rows that a share of 0 or 1 rests on."""
    low, high = limits
    if math.isnan(value):
        return Estimate(math.nan, low, high, level, "undefined here")
    if math.isnan(error):
        return Estimate(value, low, high, level, "unknown: too few test points")
    draws = round(min(freedom, 2.0**53)) + 1  # an integer that NumPy can take
    if (low, high) == (0.0, 1.0):
        if error == 0 and value in (0.0, 1.0) and events:
            rare = of_proportion(round(value * events), events, level)
            return Estimate(value, rare.low, rare.high, level, kind)
        return share_around(value, error, level, kind, draws)
    return within_limits(around(value, error, level, kind, draws), low, high)


def refit_metrics(
    compute: Callable[[int, int, Ints | None], Floats], subsets: int, refits: int, blocks: RowBlocks
) -> tuple[Floats, Floats, Ints]:
    """Metrics of all refits (M, K, R), and of the first refit of sampled subsets without each block (M, k, B).

    `compute(subset, refit, points)` gives M metrics of one refit on some points; None: on all.
    """
    every = np.array([[compute(subset, refit, None) for refit in range(refits)] for subset in range(subsets)])
    some = sampled_subsets(subsets)
    left_out = np.array([[compute(int(subset), 0, kept) for kept in blocks.kept] for subset in some])
    return np.moveaxis(every, 2, 0), np.moveaxis(left_out, 2, 0), some
