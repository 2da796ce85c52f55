"""The interval of any metric: how it varies over refits and over test points, which are both random and crossed.

Where what each point contributes is known in closed form (areas under curves, figures of the confusion matrix), the
metric is a mean over refits and points. Others are computed without one block of points (of whole groups) at a time: of
B blocks, B·θ − (B − 1)·θ without block b is what block b contributes (the delete-a-group jackknife). The variance of
the mean over refits is that over subsets plus that over points or blocks minus what both contain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ... import seeds
from ...arrays import AnyInts, Floats, Ints
from ...auc import around_auc, fewest
from ...intervals import (
    ROUNDING,
    Estimate,
    around,
    bounded,
    by_group,
    crossed_standard_error,
    normal_quantile,
    within_limits,
)
from .scorers import Answers, confusion_counts, count_figures, count_slope, ranking

COUNT_LIMITS = {"balanced_accuracy": (0.0, 1.0), "f1": (0.0, 1.0), "matthews": (-1.0, 1.0)}
LEAST_EVENTS = 5
"""With fewer test rows of a class, the interval of what is measured on them alone is withheld."""
TOO_FEW = "unknown: too few test points"

Compute = Callable[[int, int, Ints | None], Floats]
"""From subset, refit and points (None: all) to M metrics."""
BLOCKS = 20
SAMPLED = 8
"""Subsets whose refits show how a metric varies over points: the cost is blocks x sampled subsets."""


def block_of_rows(codes: AnyInts, groups: AnyInts | None, most: int = BLOCKS, seed: int = 0) -> Ints:
    """The block of each row, at random: of about equal size and class shares, or of whole groups."""
    generator = seeds.generator(seed, "blocks of rows")
    if groups is not None:
        _, group = np.unique(groups, return_inverse=True)
        number = int(group.max()) + 1
        return generator.permutation(number)[group] % min(most, number)
    order = generator.permutation(codes.size)
    by_class = order[np.argsort(codes[order], kind="stable")]
    block = np.empty(codes.size, dtype=np.int64)
    block[by_class] = np.arange(codes.size) % min(most, max(codes.size // 4, 2))
    return block


def of_blocks(compute: Compute, subsets: int, refits: int, block: Ints) -> tuple[Floats, Floats, Ints]:
    """M metrics of all refits (M, K, R), their standard errors (M,) and draws of these (M,).

    All subsets show how a metric varies over subsets, the first refits of some how it does over points.
    """
    every = np.array([[compute(subset, refit, None) for refit in range(refits)] for subset in range(subsets)])
    some = np.unique(np.linspace(0, subsets - 1, min(SAMPLED, subsets)).round().astype(np.int64))
    kept = [np.flatnonzero(block != out) for out in range(int(block.max()) + 1)]
    left_out = np.array([[compute(int(subset), 0, points) for points in kept] for subset in some])
    every, left_out = np.moveaxis(every, 2, 0), np.moveaxis(left_out, 2, 0)
    errors = [_error(*each) for each in zip(every, left_out, every[:, some, 0])]
    return every, np.array([error for error, _ in errors]), np.array([draws for _, draws in errors])


def _error(per_refit: Floats, left_out: Floats, whole: Floats) -> tuple[float, int]:
    """Standard error of the mean over refits (K, R), and its draws, from sampled refits without each block (k, B)."""
    by_subset = np.nanmean(per_refit, axis=1)
    known, blocks = np.isfinite(whole) & np.isfinite(left_out).all(axis=1), left_out.shape[1]
    if not known.any() or blocks < 2 or np.isnan(by_subset).any():
        return math.nan, 2
    pseudo = blocks * whole[known][:, None] - (blocks - 1) * left_out[known]
    over_points = crossed_standard_error(pseudo.mean(axis=0, keepdims=True)) ** 2
    variance, draws = crossed_standard_error(pseudo) ** 2, blocks
    if by_subset.size > 1:
        variance += by_subset.var(ddof=1) / by_subset.size
        draws = min(by_subset.size, blocks)
    if len(pseudo) > 1:
        variance -= pseudo.mean(axis=1).var(ddof=1) / len(pseudo)
    return math.sqrt(max(variance, over_points)), draws


def interval(
    value: float, error: float, draws: int, limits: tuple[float, float], level: float, kind: str, units: int
) -> Estimate:
    """An estimate within its limits. `units`: rows that it rests on where nothing varied."""
    low, high = limits
    if math.isnan(value):
        return Estimate(math.nan, low, high, level, "undefined here")
    if math.isnan(error) or (math.isinf(high - low) and error < ROUNDING):
        return Estimate(value, low, high, level, TOO_FEW if math.isnan(error) else "unknown: nothing varied")
    if math.isinf(high - low):
        return within_limits(around(value, error, level, kind, draws), low, high)
    return bounded(value, error, math.inf if error > ROUNDING else units, level, kind, draws, low, high)


@dataclass(frozen=True)
class ByPoint:
    """A metric: its estimate, the values of all refits (K, R), and what each point contributes (K, n)."""

    estimate: Estimate
    per_refit: Floats
    table: Floats


def rarest(truth: AnyInts, classes: int, groups: AnyInts | None) -> int:
    """Rows (or groups) of the rarer of two classes; of more classes, all."""
    units = truth if groups is None else np.unique(groups)
    return fewest(truth == 1, groups) if classes == 2 else units.size


def error_of(table: Floats, groups: AnyInts | None, most: int) -> tuple[float, int]:
    """Standard error of the mean of (subsets, points), and degrees of freedom plus one (Satterthwaite).

    Points have at most `most` of them; of a single fit, only points vary.
    """
    grouped = by_group(table, groups)
    error, free = crossed_standard_error(grouped), max(min(grouped.shape[1], most) - 1, 1)
    parts = [crossed_standard_error(grouped.mean(axis=axis, keepdims=True)) ** 4 for axis in (0, 1)]
    total = parts[0] / free + parts[1] / max(len(grouped) - 1, 1)
    return error, round(min(max(error**4 / total, 1.0), 2.0**53)) + 1 if total > 0 else free + 1


def by_points(name: str, refits: Answers, groups: AnyInts | None, level: float, kind: str) -> ByPoint:
    """A metric of labels (K, R, n) or scores (K, R, n, C) of which each point's contribution has a closed form."""
    events, limits = rarest(refits.truth, refits.n_classes, groups), COUNT_LIMITS.get(name, (0.0, 1.0))
    middle, unseen = math.nan, 0.0
    if name in COUNT_LIMITS:
        per_refit, table, middle, unseen = _of_counts(name, refits, normal_quantile(level))
        value = float(per_refit.mean())
    else:
        per_refit, table = _of_ranking(name, refits)
        value = float(table.mean().clip(0.0, 1.0))
    if math.isnan(value) or events < LEAST_EVENTS:
        return ByPoint(interval(value, math.nan, 2, limits, level, kind, events), per_refit, table)
    error, draws = error_of(table, groups, events)
    if name not in COUNT_LIMITS:
        around_it = around_auc if name == "roc_auc" else bounded
        return ByPoint(around_it(value, error, events, level, kind, draws), per_refit, table)
    reach = math.hypot(around(0.0, error, level, draws=draws).high, unseen)
    estimate = Estimate(value, min(middle - reach, value), max(middle + reach, value), level, kind)
    return ByPoint(within_limits(estimate, *limits), per_refit, table)


def _of_ranking(name: str, refits: Answers) -> tuple[Floats, Floats]:
    """AUC or average precision of every refit, and what each point contributes."""
    assert refits.scores is not None
    areas = [[ranking(name, replace(refits, scores=scores)) for scores in of_subset] for of_subset in refits.scores]
    per_refit = np.array([[value for value, _ in subset] for subset in areas])
    return per_refit, np.array([np.mean([by_row for _, by_row in subset], axis=0) for subset in areas])


def _of_counts(name: str, refits: Answers, quantile: float) -> tuple[Floats, Floats, float, float]:
    """A figure of the confusion matrix of every refit, what each point contributes, the middle, and what is unseen.

    Few rows of a class that are all predicted alike seem to vary little. So z² rows more are added to the confusion
    matrix, half of them right, equally many of each class that occurs: Agresti and Coull's interval of a proportion.
    """
    truth, labels = refits.truth, refits.labels
    counts = confusion_counts(truth, labels, refits.n_classes)
    present = np.bincount(truth, minlength=refits.n_classes) > 0
    right, number = np.diag(present) * 1.0, max(int(present.sum()), 2)
    more = quantile**2 / 2 / number * (right + (np.outer(present, present) - right) / (number - 1))
    slope, subset = count_slope(name, counts + more), np.arange(len(labels))[:, None]
    table = np.mean([slope[subset, refit, truth, labels[:, refit]] for refit in range(labels.shape[1])], axis=0)
    near = count_figures(counts + more)[name]
    unseen = quantile * math.sqrt(float((more * slope**2).sum(axis=(-2, -1)).mean())) / truth.size
    return count_figures(counts)[name], near.mean(axis=1, keepdims=True) + table, float(near.mean()), unseen
