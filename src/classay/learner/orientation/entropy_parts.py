"""Expressivity and its two parts: what data and training randomness each add, and what cannot be identified.

The more points a holdout has, the more labelings there are and the fewer repeat; where they hardly repeat, their
entropy cannot be counted. Neither expressivity nor capacity can fall when points are added, so what fewer points show
is then a lower limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...expect import counted
from ...intervals import AT_LEAST, Estimate, around, crossed_standard_error, difference, exact, within_limits
from . import entropy
from .entropy import Counts, count, number_labelings, within
from .holdouts import USUAL_SIZE

# Above this share of predictions that no second subset repeats, H(P_D) depends on labelings that were not seen.
MOST_UNREPEATED = 0.1
# A range of stochasticity wider than this, in bits, is reported.
WIDEST = 1.0
FEW_LABELINGS = 243
# Below this many subsets the jackknife leaves a bias that matters.
FEW_SUBSETS = 20


@dataclass(frozen=True)
class EntropyParts:
    """Expressivity = capacity + stochasticity, in bits, and notes about them."""

    expressivity: Estimate
    stochasticity: Estimate
    capacity: Estimate
    size: int
    identified: bool
    notes: tuple[str, ...]


def identified_size(labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int) -> int:
    """How many of the points of each holdout, from the first, can be counted together; 0 if not even one."""
    for size in range(holdouts.shape[1], 0, -1):
        if entropy.unrepeated(count(number_labelings(labels, holdouts[:, :size], n_classes))) <= MOST_UNREPEATED:
            return size
    return 0


def usual_size(labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int) -> int:
    """As many points as can be counted, but no fewer than give up to `FEW_LABELINGS`: five points of three classes.

    With so few labelings, it is subsets that are missing, and more of them help.
    """
    always = max((size for size in range(1, holdouts.shape[1] + 1) if n_classes**size <= FEW_LABELINGS), default=1)
    return max(identified_size(labels, holdouts, n_classes), always)


def parts(
    counts: Counts,
    labels: NDArray[np.integer],
    holdouts: NDArray[np.int64],
    n_classes: int,
    deterministic: bool,
    level: float,
) -> EntropyParts:
    """Estimate the three from the counts of labelings, corrected for few refits."""
    most = holdouts.shape[1] * math.log2(n_classes)
    overall = entropy.overall(counts, most, level)
    unrepeated = entropy.unrepeated(counts)
    identified = unrepeated <= MOST_UNREPEATED
    fewer = None if identified else _of_fewer_points(labels, holdouts, n_classes, deterministic, level)
    if not identified:
        ceiling = overall_ceiling(labels, holdouts, n_classes, level)
        overall = replace(
            overall, high=max(min(ceiling, most), overall.high), kind=f"{AT_LEAST}: labelings hardly repeat"
        )
        if fewer is not None and fewer.expressivity.value > overall.value:
            overall = replace(overall, value=fewer.expressivity.value, low=fewer.expressivity.low)
    if deterministic:
        within = exact(0.0, "exact: deterministic", level)
    else:
        within = _within(counts, labels, holdouts, n_classes, level)
    if not within.known:
        unknown = Estimate(math.nan, 0.0, overall.high, level, within.kind)
        note = "Stochasticity is unknown: there is one refit per subset. Record with repeats=10."
        said = (*_said_of(overall, unrepeated, counts), note)
        return EntropyParts(overall, unknown, unknown, holdouts.shape[1], identified, said)

    # Training randomness cannot exceed the total; where the total is a lower limit, it is raised.
    if not identified and within.value > overall.value:
        overall = replace(overall, value=min(within.value, overall.high))
    value = min(within.value, overall.value)
    within = replace(within, value=value, low=min(within.low, value), high=max(min(within.high, overall.high), value))
    notes = _said_of(overall, unrepeated, counts)
    if deterministic:
        capacity = overall
    elif identified:
        capacity = difference(overall, within, entropy.KIND)
    else:
        capacity, note = _least_capacity(overall, within, fewer, holdouts.shape[1])
        notes.append(note)
    capacity = within_limits(capacity, 0.0, most)
    if within.kind == entropy.UNSOLVED:
        notes.append("The range of stochasticity could not be computed; all that is possible is shown instead.")
    elif within.high - within.low > WIDEST:
        notes.append(
            f"Stochasticity is only known to within {within.high - within.low:.2g} bits from {counts.n_refits} refits "
            "per subset. Record with more repeats, or use smaller holdouts."
        )
    return EntropyParts(overall, within, capacity, holdouts.shape[1], identified, tuple(notes))


def _of_fewer_points(
    labels: NDArray[np.integer],
    holdouts: NDArray[np.int64],
    n_classes: int,
    deterministic: bool,
    level: float,
) -> EntropyParts | None:
    """What one point less shows, or what five do if there are many more; None if there is only one."""
    size = min(holdouts.shape[1] - 1, USUAL_SIZE)
    if size == 0:
        return None
    counts = count(number_labelings(labels, holdouts[:, :size], n_classes))
    return parts(counts, labels, holdouts[:, :size], n_classes, deterministic, level)


def _least_capacity(overall: Estimate, within: Estimate, fewer: EntropyParts | None, size: int) -> tuple[Estimate, str]:
    """What is known of a capacity that cannot be counted, and a note that says so."""
    # Ranges of possible values do not cancel out as sampling errors do: take the worst of both.
    low, high = max(overall.low - within.high, 0.0), overall.high - within.low
    below = None if fewer is None or not fewer.capacity.known else fewer.capacity
    if below is None and low == 0:
        unknown = Estimate(math.nan, low, high, overall.level, "not identified: labelings hardly repeat")
        return unknown, "Capacity is not identified: not even the labels of single points repeat over subsets."
    if fewer is None or below is None or low > below.value:
        least = Estimate(low, low, max(high, low), overall.level, f"{AT_LEAST}: labelings hardly repeat")
        return least, f"Capacity is at least {low:.2g} bits: labelings hardly repeat, so it cannot be counted."
    kind = below.kind if below.prefix else f"{AT_LEAST}: from {counted(fewer.size, 'point')}"
    least = Estimate(below.value, max(low, below.low), max(high, below.value), overall.level, kind)
    source = kind.partition(": ")[2]
    note = (
        f"Capacity is at least {below.value:.2g} bits ({source}): on {size} points it cannot be counted, nor be less."
    )
    return least, note


def _within(
    counts: Counts, labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int, level: float
) -> Estimate:
    """Mean H(P_F), at most what single points allow."""
    size = holdouts.shape[1]
    within = entropy.within(counts, size * math.log2(n_classes), level)
    if size == 1 or not within.known:
        return within
    # A labeling cannot vary more than its labels one by one, and those are well estimated from few refits.
    single = within_from_points(labels, holdouts, n_classes, level)
    value = min(within.value, single.value)
    return replace(within, value=value, low=min(within.low, value), high=max(min(within.high, single.high), value))


def _said_of(overall: Estimate, unrepeated: float, counts: Counts) -> list[str]:
    notes = []
    if unrepeated > MOST_UNREPEATED:
        notes.append(
            f"Expressivity is not identified: {unrepeated:.0%} of predictions occur in only one subset, so labelings "
            f"that were not seen matter. It is between {overall.low:.3g} and {overall.high:.3g} bits. Use smaller "
            "holdouts or more subsets."
        )
    if counts.n_subsets < FEW_SUBSETS:
        notes.append(
            f"{counts.n_subsets} subsets are few: expressivity, and with it capacity, is likely underestimated. "
            f"Record {FEW_SUBSETS} or more."
        )
    return notes


# Upper limits of entropies from single points: a labeling cannot vary more than its labels do one by one.
#
# With large holdouts, labelings hardly repeat and their entropy cannot be estimated; that of single points still can.


MOST_POINTS = 500


def overall_ceiling(labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int, level: float) -> float:
    """An upper limit of expressivity: mean over holdouts of the sum of the points' entropies, with its error."""
    n_subsets, _, n_points = labels.shape
    bits, seen = np.zeros((2, n_points))
    surprise = np.zeros((n_subsets, n_points))
    for code in range(n_classes):
        by_subset = (labels == code).mean(axis=1)
        share = by_subset.mean(axis=0)
        log2_share = np.log2(np.where(share > 0, share, 1))
        bits -= share * log2_share
        seen += share > 0
        surprise -= by_subset * log2_share
    # Miller and Madow's correction, with subsets as the number of draws, because refits on one subset are similar.
    bits += (seen - 1) / (2 * n_subsets * math.log(2))
    sums = surprise[:, holdouts].sum(axis=2)
    error = crossed_standard_error(sums)
    return around(float(bits[holdouts].sum(axis=1).mean()), error, level, draws=n_subsets).high


def within_from_points(
    labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int, level: float
) -> Estimate:
    """Stochasticity if, on a fixed training sample, points varied independently: an upper limit, and often close.

    Holdout size times the mean entropy of single points, over at most `MOST_POINTS` of those in holdouts.
    """
    size = int(holdouts.shape[1])
    points = np.unique(holdouts)
    # Spread evenly over the points, which may be sorted by class.
    points = points[np.linspace(0, points.size - 1, min(points.size, MOST_POINTS)).astype(int), None]
    single = within(count(number_labelings(labels, points, n_classes)), math.log2(n_classes), level)
    return Estimate(size * single.value, size * single.low, size * single.high, level, single.kind)
