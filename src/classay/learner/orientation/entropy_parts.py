"""Expressivity and its two parts: what data and training randomness each add, and what cannot be identified.

The more points a holdout has, the more labelings there are and the fewer repeat; where they hardly repeat, their
entropy cannot be counted. None of the three can fall when points are added, so what fewer points show is then a lower
limit. Each is the low end of an interval at `level`; the largest of several is taken, so the truth is below it somewhat
more often.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats
from ...expect import counted
from ...intervals import AT_LEAST, Estimate, around, crossed_standard_error, difference, exact, of_mean, within_limits
from ...result import Result
from ..records.labelings import Labelings
from . import entropy
from .entropy import USUAL_SIZE, Counts, count, draw_holdouts, number_labelings, within

# Above this share of predictions that no second subset repeats, H(P_D) depends on labelings that were not seen.
MOST_UNREPEATED = 0.1
# A range of stochasticity wider than this, in bits, is reported.
WIDEST = 1.0
FEW_LABELINGS = 243
OVER_SUBSETS, ON_A_SUBSET = "labelings hardly repeat", "refits on a subset hardly repeat a labeling"
# Below this many subsets the jackknife leaves a bias that matters.
FEW_SUBSETS = 20


@dataclass(frozen=True)
class EntropyParts:
    """Expressivity = capacity + stochasticity, in bits, and notes about them.

    `countable` is the largest number of points, up to `size`, that can be counted, and the capacity there.
    """

    expressivity: Estimate
    stochasticity: Estimate
    capacity: Estimate
    size: int
    identified: bool
    countable: tuple[int, Estimate] | None
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


def countable_size(
    labelings: Labelings, holdouts: int = 100, random_state: int | np.random.Generator | None = 0
) -> int:
    """How many points `orientation` looks at together if it is not given a size: at most five."""
    labels = labelings.complete()
    return usual_size(labels, draw_holdouts(labels.shape[-1], None, holdouts, random_state), len(labelings.classes))


def parts(
    counts: Counts,
    labels: NDArray[np.integer],
    holdouts: NDArray[np.int64],
    n_classes: int,
    deterministic: bool,
    level: float,
    kind: str = entropy.KIND,
) -> EntropyParts:
    """Estimate the three from the counts of labelings, corrected for few refits. `kind`: what intervals are about.

    Where labelings hardly repeat, a figure is a lower limit: the value is then the low end of its interval.
    """
    size, most = holdouts.shape[1], holdouts.shape[1] * math.log2(n_classes)
    overall = entropy.overall(counts, most, level, kind)
    if deterministic:
        within = exact(0.0, "exact: deterministic", level)
    else:
        within = _within(counts, labels, holdouts, n_classes, level, kind)
    if not within.known and overall.high == 0:
        within = overall  # what never varies does not vary by training randomness either
    unrepeated = entropy.unrepeated(counts)
    repeats = unrepeated <= MOST_UNREPEATED
    identified = repeats and not within.prefix
    fewer = None if identified else _of_fewer_points(labels, holdouts, n_classes, deterministic, level, kind)
    if within.prefix and fewer is not None:
        low = max(within.low, fewer.stochasticity.low)
        within = replace(within, value=low, low=low, high=max(within.high, low))
    if not repeats:
        low = max(overall.low, 0.0 if fewer is None else fewer.expressivity.low, within.low if within.known else 0.0)
        high = max(min(overall_ceiling(labels, holdouts, n_classes, level), most), overall.high, low)
        overall = Estimate(low, low, high, level, f"{AT_LEAST}: {OVER_SUBSETS}, {kind}")
    notes = _said_of(overall, unrepeated, counts)
    if not within.known:
        unknown = Estimate(math.nan, 0.0, overall.high, level, within.kind)
        notes.append("Stochasticity is unknown: there is one refit per subset. Record with repeats=10.")
        return EntropyParts(overall, unknown, unknown, size, identified, None, tuple(notes))

    # Training randomness cannot exceed the total.
    value = min(within.value, overall.value if repeats else overall.high)
    within = replace(within, value=value, low=min(within.low, value), high=max(min(within.high, overall.high), value))
    overall = replace(overall, low=max(overall.low, within.low))
    if deterministic:
        capacity = overall
    elif identified:
        capacity = difference(overall, within, kind)
    else:
        capacity, note = _least_capacity(overall, within, fewer, size, kind, ON_A_SUBSET if repeats else OVER_SUBSETS)
        notes.append(note)
    capacity = within_limits(capacity, 0.0, most)
    if within.kind == entropy.UNSOLVED:
        notes.append("The range of stochasticity could not be computed; all that is possible is shown instead.")
    elif within.prefix:
        notes.append(
            f"Stochasticity is at least {_bits(within.low)}: {ON_A_SUBSET}, so it cannot be counted "
            f"from {counts.n_refits} of them. Record with more repeats, or use smaller holdouts."
        )
    elif within.high - within.low > WIDEST:
        notes.append(
            f"Stochasticity is only known to within {_bits(within.high - within.low)} from {counts.n_refits} refits "
            "per subset. Record with more repeats, or use smaller holdouts."
        )
    countable = (size, capacity) if identified else None if fewer is None else fewer.countable
    return EntropyParts(overall, within, capacity, size, identified, countable, tuple(notes))


def _bits(number: float) -> str:
    text = f"{number:.2g}"
    return f"{text} bit" if text == "1" else f"{text} bits"


def _of_fewer_points(
    labels: NDArray[np.integer],
    holdouts: NDArray[np.int64],
    n_classes: int,
    deterministic: bool,
    level: float,
    kind: str,
) -> EntropyParts | None:
    """What one point less shows, or what five do if there are many more; None if there is only one."""
    size = min(holdouts.shape[1] - 1, USUAL_SIZE)
    if size == 0:
        return None
    counts = count(number_labelings(labels, holdouts[:, :size], n_classes))
    return parts(counts, labels, holdouts[:, :size], n_classes, deterministic, level, kind)


def _least_capacity(
    overall: Estimate, within: Estimate, fewer: EntropyParts | None, size: int, kind: str, missing: str
) -> tuple[Estimate, str]:
    """What is known of a capacity that cannot be counted, and a note that says so. `missing`: what hardly repeats.

    The limit is the low end of an interval, of this many points or of fewer: an estimate is no limit.
    """
    # Ranges of possible values do not cancel out as sampling errors do: take the worst of both.
    low, high = max(overall.low - within.high, 0.0), overall.high - within.low
    source = missing
    if fewer is not None and fewer.capacity.low > low:
        low, source = fewer.capacity.low, f"from {counted(fewer.size, 'point')}"
        if fewer.capacity.prefix:  # of fewer points still
            source = fewer.capacity.kind.removeprefix(f"{AT_LEAST}: ").removesuffix(f", {kind}")
    high = max(high, low)
    why = missing
    if missing == OVER_SUBSETS:
        alone = fewer is None
        why = f"{'not even the labels of single points repeat' if alone else missing} over subsets"
    shown = ""
    if fewer is not None and fewer.countable is not None:
        points, estimate = fewer.countable
        shown = f" On {counted(points, 'point')} it is {estimate:.2g}, and on {size} it cannot be less."
    if low == 0:
        unknown = Estimate(math.nan, low, high, overall.level, f"not identified: {missing}, {kind}")
        return unknown, f"Capacity is not identified: {why}.{shown}"
    least = Estimate(low, low, high, overall.level, f"{AT_LEAST}: {source}, {kind}")
    return least, f"Capacity is at least {_bits(low)}: {why}, so it cannot be counted.{shown}"


def _within(
    counts: Counts, labels: NDArray[np.integer], holdouts: NDArray[np.int64], n_classes: int, level: float, kind: str
) -> Estimate:
    """Mean H(P_F), at most what single points allow."""
    size = holdouts.shape[1]
    within = entropy.within(counts, size * math.log2(n_classes), level, kind)
    if size == 1 or not within.known:
        return within
    # A labeling cannot vary more than its labels one by one, and those are well estimated from few refits.
    single = within_from_points(labels, holdouts, n_classes, level)
    value = min(within.value, single.value)
    high = max(min(within.high, single.high), value)
    # With too many labelings for the fit, it saturates. Where counts set no upper limit, its value says nothing.
    saturated = n_classes**size > entropy.MOST_CELLS and within.value <= single.value <= within.high
    if saturated and high - within.low > WIDEST:
        low = min(within.low, entropy.least_within(counts, level))
        return Estimate(low, low, high, level, f"{AT_LEAST}: refits hardly repeat a labeling, {kind}")
    return replace(within, value=value, low=min(within.low, value), high=high)


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


# The paper's plain (plug-in) estimates, for comparison with it: biased with few refits.


PLAIN = "of these subsets, over holdouts"


@dataclass(frozen=True)
class PluginOrientation(Result, unit="bits"):
    """The paper's plain estimates, with its intervals, of these subsets, over holdouts. Biased with few refits."""

    expressivity: Estimate
    stochasticity: Estimate
    capacity: Estimate


def plugin_orientation(counts: Counts, deterministic: bool, log2_labelings: float, level: float) -> PluginOrientation:
    """The plain estimates, mean over holdouts; the parts are unknown if one refit per subset cannot separate them."""
    overall, within = plain_entropies(counts, deterministic)
    unknown = Estimate(math.nan, 0.0, log2_labelings, level, "unknown: one refit per subset")
    known = not np.isnan(within).any()
    return PluginOrientation(
        of_mean(overall, level, PLAIN),
        of_mean(within, level, PLAIN) if known else unknown,
        of_mean(overall - within, level, PLAIN) if known else unknown,
    )


def plain_entropies(counts: Counts, deterministic: bool) -> tuple[Floats, Floats]:
    """Plain H(P_D) and mean H(P_F) of every holdout, (M,) each; NaN where one refit per subset shows nothing."""
    overall = entropy.plugin_overall(counts)
    # What never varies does not vary by training randomness either.
    known = counts.n_refits > 1 or deterministic or not overall.any()
    return overall, entropy.plugin_within(counts).mean(axis=1) if known else np.full(len(overall), np.nan)
