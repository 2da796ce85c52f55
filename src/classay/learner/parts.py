"""Expressivity and its two parts, put together: what data and dice each add, and what cannot be told."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..intervals import Estimate, difference, exact, within_limits
from . import entropy
from .ceilings import overall_ceiling, within_from_points
from .counts import Counts

# Above this share of answers that no second subset repeats, H(P_D) rests on labelings that were not seen.
MOST_UNREPEATED = 0.1
# A range of stochasticity wider than this, in bits, is said aloud.
WIDEST = 1.0
# Below this many subsets the jackknife leaves a bias that matters.
FEW_SUBSETS = 20
NOT_IDENTIFIED = "a range: not identified"


@dataclass(frozen=True)
class Parts:
    """Expressivity = capacity + stochasticity, in bits, and what has to be said of them."""

    expressivity: Estimate
    stochasticity: Estimate
    capacity: Estimate
    notes: tuple[str, ...]


def parts(
    counts: Counts,
    labels: NDArray[np.integer],
    holdouts: NDArray[np.int64],
    n_classes: int,
    deterministic: bool,
    level: float,
) -> Parts:
    """Estimate the three from the counts of labelings, corrected for few refits."""
    most = holdouts.shape[1] * math.log2(n_classes)
    overall = entropy.overall(counts, most, level)
    unrepeated = entropy.unrepeated(counts)
    identified = unrepeated <= MOST_UNREPEATED
    if not identified:
        ceiling = overall_ceiling(labels, holdouts, n_classes, level)
        overall = replace(overall, high=max(min(ceiling, most), overall.high), kind=NOT_IDENTIFIED)
    if deterministic:
        within = exact(0.0, "exact: deterministic", level)
    else:
        within = _within(counts, labels, holdouts, n_classes, level)
    if not within.known:
        unknown = Estimate(math.nan, 0.0, overall.high, level, within.kind)
        note = "Stochasticity is unknown: there is one refit a subset. Record with repeats=10."
        return Parts(overall, unknown, unknown, (*_said_of(overall, unrepeated, counts), note))

    # Dice cannot spread answers more than dice and data together; where the latter is a lower estimate, it yields.
    if not identified and within.value > overall.value:
        overall = replace(overall, value=min(within.value, overall.high))
    value = min(within.value, overall.value)
    within = replace(within, value=value, low=min(within.low, value), high=max(min(within.high, overall.high), value))
    if identified:
        capacity = difference(overall, within, entropy.KIND)
    else:
        # Ranges of what is possible do not cancel out as errors of sampling do: take the worst of both.
        value, low, high = overall.value - within.value, overall.low - within.high, overall.high - within.low
        capacity = Estimate(value, low, high, level, NOT_IDENTIFIED)
    capacity = within_limits(capacity, 0.0, most)

    notes = _said_of(overall, unrepeated, counts)
    if within.high - within.low > WIDEST:
        notes.append(
            f"Stochasticity is told only to within {within.high - within.low:.2g} bits by {counts.n_refits} refits a "
            "subset. Record with more repeats, or use smaller holdouts."
        )
    return Parts(overall, within, capacity, tuple(notes))


def _within(
    counts: Counts, labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int, level: float
) -> Estimate:
    """Mean H(P_F), at most what single points allow."""
    size = holdouts.shape[1]
    within = entropy.within(counts, size * math.log2(n_classes), level)
    if size == 1 or not within.known:
        return within
    # A labeling cannot vary more than its labels one by one, and those are told by few refits.
    single = within_from_points(labels, holdouts, n_classes, level)
    value = min(within.value, single.value)
    return replace(within, value=value, low=min(within.low, value), high=max(min(within.high, single.high), value))


def _said_of(overall: Estimate, unrepeated: float, counts: Counts) -> list[str]:
    notes = []
    if unrepeated > MOST_UNREPEATED:
        notes.append(
            f"Expressivity is not identified: {unrepeated:.0%} of answers occur in one subset only, so labelings that "
            f"were not seen matter. It is between {overall.low:.3g} and {overall.high:.3g} bits. Use smaller holdouts "
            "or more subsets."
        )
    if counts.n_subsets < FEW_SUBSETS:
        notes.append(
            f"{counts.n_subsets} subsets are few: expressivity, and capacity with it, is likely underestimated. "
            f"Record {FEW_SUBSETS} or more."
        )
    return notes
