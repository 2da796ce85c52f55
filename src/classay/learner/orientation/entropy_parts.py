"""Expressivity and its two parts: what data and training randomness each add, and what cannot be identified.

The more points a holdout has, the more labelings there are and the fewer repeat; where they hardly repeat, their
entropy cannot be counted. None of the three can fall when points are added, so what fewer points show is then a lower
limit. Each is the low end of an interval at `level`; the largest of several is taken, so the truth is below it somewhat
more often.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from ...arrays import AnyInts, Floats
from ...expect import counted
from ...intervals import (
    AT_LEAST,
    BETWEEN,
    ROUNDING,
    Estimate,
    bounded,
    difference,
    exact,
    normal_quantile,
    of_mean,
    within_limits,
)
from ...result import Result
from ..records.labelings import Labelings
from . import entropy
from .entropy import MOST_UNREPEATED, USUAL_SIZE, Counts, count, draw_holdouts, number_labelings

# A range of stochasticity wider than this, in bits, is reported.
WIDEST = 1.0
# A capacity that may be 0 and may be more than this, in bits, is a range and not 0.
WIDEST_AT_NOTHING = 0.25
FEW_LABELINGS = 243
OVER_SUBSETS, ON_A_SUBSET = "labelings hardly repeat", "refits on a subset hardly repeat a labeling"
# Below this many subsets the jackknife leaves a bias that matters.
FEW_SUBSETS = 20
FIGURES = ("expressivity", "capacity", "stochasticity")


@dataclass(frozen=True)
class HoldoutLabels:
    """Predictions of complete refits (K, R, n), the holdouts (M, h) on which they are counted, and kind of interval."""

    labels: AnyInts
    holdouts: NDArray[np.int64]
    n_classes: int
    deterministic: bool = False
    level: float = 0.95
    kind: str = entropy.KIND

    @property
    def size(self) -> int:
        return int(self.holdouts.shape[1])

    @property
    def log2_labelings(self) -> float:
        return self.size * math.log2(self.n_classes)

    @cached_property
    def counts(self) -> Counts:
        """How often each labeling occurs, and in which subsets."""
        return count(number_labelings(self.labels, self.holdouts, self.n_classes))

    def first(self, size: int) -> HoldoutLabels:
        """The same on the first points of each holdout."""
        return replace(self, holdouts=self.holdouts[:, :size])

    def plain(self) -> tuple[Floats, Floats]:
        """Plain H(P_D) and mean H(P_F) of every holdout, (M,) each; NaN where one refit per subset shows nothing."""
        overall = entropy.plugin_overall(self.counts)
        # What never varies does not vary by training randomness either.
        known = self.counts.n_refits > 1 or self.deterministic or not overall.any()
        return overall, entropy.plugin_within(self.counts).mean(axis=1) if known else np.full(len(overall), np.nan)


@dataclass(frozen=True)
class PluginOrientation(Result, unit="bits"):
    """The paper's plain estimates, with its intervals, of these subsets, over holdouts. Biased with few refits."""

    expressivity: Estimate
    stochasticity: Estimate
    capacity: Estimate


def plugin_orientation(held: HoldoutLabels) -> PluginOrientation:
    """The plain estimates, mean over holdouts; the parts are unknown if one refit per subset cannot separate them."""
    overall, within = held.plain()

    def mean(values: Floats) -> Estimate:
        if np.isnan(values).any():
            return Estimate(math.nan, 0.0, held.log2_labelings, held.level, "unknown: one refit per subset")
        kind = "of these subsets, over holdouts"
        if values.size > 1 and np.ptp(values) > ROUNDING:
            return of_mean(values, held.level, kind)
        return bounded(float(values.mean()), 0.0, values.size, held.level, kind, most=held.log2_labelings)

    return PluginOrientation(mean(overall), mean(within), mean(overall - within))


def usual_size(held: HoldoutLabels) -> int:
    """As many points as can be counted together, but no fewer than give up to `FEW_LABELINGS`: five of three classes.

    With so few labelings, it is subsets that are missing, and more of them help.
    """
    for size in range(held.size, 1, -1):
        fewer = held.first(size)
        if held.n_classes**size <= FEW_LABELINGS or entropy.unrepeated(fewer.counts) <= MOST_UNREPEATED:
            return size
    return 1


def countable_size(
    labelings: Labelings, holdouts: int = 100, random_state: int | np.random.Generator | None = 0
) -> int:
    """How many points `orientation` looks at together if it is not given a size: at most five."""
    labels = labelings.complete()
    drawn = draw_holdouts(labels.shape[-1], None, holdouts, random_state)
    return usual_size(HoldoutLabels(labels, drawn, len(labelings.classes)))


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


def parts(held: HoldoutLabels) -> EntropyParts:
    """Estimate the three from the counts of labelings, corrected for few refits.

    Where labelings hardly repeat, a figure is a lower limit: the value is then the low end of its interval.
    """
    counts, level, most = held.counts, held.level, held.log2_labelings
    overall = entropy.overall(counts, most, level, held.kind)
    within = exact(0.0, "exact: deterministic", level) if held.deterministic else _within(held)
    if not within.known and overall.value == 0:
        within = overall  # what never varies does not vary by training randomness either
    unrepeated = entropy.unrepeated(counts)
    identified = unrepeated <= MOST_UNREPEATED
    # What one point less shows, or what five do if there are many more.
    fewer = None if identified or held.size == 1 else parts(held.first(min(held.size - 1, USUAL_SIZE)))
    if within.prefix and fewer is not None:
        within = _at_least(within, fewer.stochasticity.low)
    if not identified:
        low = max(overall.low, 0.0 if fewer is None else fewer.expressivity.low, within.low if within.known else 0.0)
        high = max(min(from_points(held, entropy.overall).high, most), overall.high, low)
        overall = Estimate(low, low, high, level, f"{AT_LEAST}: {OVER_SUBSETS}, {held.kind}")
    notes = _notes_on_expressivity(overall, unrepeated, held)
    if not within.known:
        unknown = Estimate(math.nan, 0.0, overall.high, level, within.kind)
        notes.append("Stochasticity is unknown: there is one refit per subset. Record with repeats=10.")
        return EntropyParts(overall, unknown, unknown, held.size, identified, None, tuple(notes))

    # Training randomness cannot exceed the total.
    value = min(within.value, overall.value if identified else overall.high)
    within = replace(within, value=value, low=min(within.low, value), high=max(min(within.high, overall.high), value))
    overall = replace(overall, low=max(overall.low, within.low))
    if held.deterministic:
        capacity = overall
    elif identified:
        capacity = difference(overall, within, held.kind)
        if overall.value > 0 and capacity.high > max(WIDEST_AT_NOTHING, 20 * capacity.value):
            capacity = replace(capacity, kind=f"{BETWEEN}: all may be training randomness, {held.kind}")
    else:
        capacity, note = _least_capacity(overall, within, fewer, held)
        notes.append(note)
    capacity = within_limits(capacity, 0.0, most)
    notes += _notes_on_stochasticity(within, held)
    countable = (held.size, capacity) if identified else None if fewer is None else fewer.countable
    return EntropyParts(overall, within, capacity, held.size, identified, countable, tuple(notes))


def _within(held: HoldoutLabels) -> Estimate:
    """Mean H(P_F), at most what single points allow."""
    within = entropy.within(held.counts, held.log2_labelings, held.level, held.kind)
    if held.size == 1 or not within.known:
        return within
    # A labeling cannot vary more than its labels one by one, and those are well estimated from few refits.
    single = from_points(held, entropy.within)
    value = min(within.value, single.value)
    high = max(min(within.high, single.high), value)
    # With too many labelings for the fit, it saturates. Where counts set no upper limit, its value says nothing.
    many = held.n_classes**held.size > entropy.MOST_CELLS and entropy.unrepeated(held.counts) > MOST_UNREPEATED
    if many and within.value <= single.value <= within.high and high - within.low > WIDEST:
        low = min(within.low, entropy.least_within(held.counts, held.level))
        return Estimate(low, low, high, held.level, f"{AT_LEAST}: {ON_A_SUBSET}, {held.kind}")
    return replace(within, value=value, low=min(within.low, value), high=high)


def _least_capacity(
    overall: Estimate, within: Estimate, fewer: EntropyParts | None, held: HoldoutLabels
) -> tuple[Estimate, str]:
    """What is known of a capacity that cannot be counted, and a note that says so.

    The limit is the low end of an interval, of this many points or of fewer: an estimate is no limit.
    """
    # Ranges of possible values do not cancel out as sampling errors do: take the worst of both.
    low, source = max(overall.low - within.high, 0.0), OVER_SUBSETS
    why, shown = "not even the labels of single points repeat over subsets", ""
    if fewer is not None:
        why = f"{OVER_SUBSETS} over subsets"
        if fewer.capacity.low > low:
            low, source = fewer.capacity.low, f"from {counted(fewer.size, 'point')}"
            if fewer.capacity.prefix:  # of fewer points still
                source = fewer.capacity.kind.removeprefix(f"{AT_LEAST}: ").removesuffix(f", {held.kind}")
        if fewer.countable is not None:
            points, estimate = fewer.countable
            shown = f" On {counted(points, 'point')} it is {estimate:.2g}, and on {held.size} it cannot be less."
    high = max(overall.high - within.low, low)
    if low == 0:
        unknown = Estimate(math.nan, low, high, overall.level, f"{BETWEEN}: {OVER_SUBSETS}, {held.kind}")
        return unknown, f"Capacity is between 0 and {_bits(high)}: {why}, so it cannot be counted.{shown}"
    least = Estimate(low, low, high, overall.level, f"{AT_LEAST}: {source}, {held.kind}")
    return least, f"Capacity is at least {_bits(low)}: {why}, so it cannot be counted.{shown}"


def _at_least(limit: Estimate, low: float) -> Estimate:
    """A lower limit that is no lower than another."""
    low = max(limit.low, low)
    return replace(limit, value=low, low=low, high=max(limit.high, low))


def _notes_on_expressivity(overall: Estimate, unrepeated: float, held: HoldoutLabels) -> list[str]:
    notes, n_subsets = [], held.counts.n_subsets
    if unrepeated > MOST_UNREPEATED:
        notes.append(
            f"Expressivity is not identified: {unrepeated:.0%} of predictions occur in only one subset, so labelings "
            f"that were not seen matter. It is between {overall.low:.3g} and {overall.high:.3g} bits. "
            f"{'Use smaller holdouts or' if held.size > 1 else 'Record'} more subsets."
        )
    if n_subsets < FEW_SUBSETS:
        notes.append(
            f"{n_subsets} subsets are few: expressivity, and with it capacity, is likely underestimated. "
            f"Record {FEW_SUBSETS} or more."
        )
    return notes


def _notes_on_stochasticity(within: Estimate, held: HoldoutLabels) -> list[str]:
    if within.kind == entropy.UNSOLVED:
        return ["The range of stochasticity could not be computed; all that is possible is shown instead."]
    width, refits = within.high - within.low, held.counts.n_refits
    more = f"Record with more repeats{', or use smaller holdouts' if held.size > 1 else ''}."
    if within.prefix:
        return [f"Stochasticity is at least {_bits(within.low)}: {ON_A_SUBSET} in {refits} of them. {more}"]
    if width > WIDEST and within.value > 0:
        return [f"Stochasticity is only known to within {_bits(width)} from {refits} refits per subset. {more}"]
    return []


def _bits(number: float) -> str:
    text = f"{number:.2g}"
    return f"{text} bit" if text == "1" else f"{text} bits"


# Upper limits of entropies from single points: a labeling cannot vary more than its labels do one by one.
#
# With large holdouts, labelings hardly repeat and their entropy cannot be estimated; that of single points still can.


MOST_POINTS = 500


def from_points(held: HoldoutLabels, figure: Callable[[Counts, float, float], Estimate]) -> Estimate:
    """`entropy.overall` or `entropy.within` if points varied independently: an upper limit, and often close.

    Holdout size times the mean entropy of single points, over at most `MOST_POINTS` of those in holdouts.
    """
    points = np.unique(held.holdouts)
    # Spread evenly over the points, which may be sorted by class.
    points = points[np.linspace(0, points.size - 1, min(points.size, MOST_POINTS)).astype(int), None]
    alone = replace(held, holdouts=points)
    single = figure(alone.counts, alone.log2_labelings, held.level)
    return Estimate(held.size * single.value, held.size * single.low, held.size * single.high, held.level, single.kind)


# By the number of points: I(F; Z_1..Z_h), the information that the labels of h points have on the training sample,
# cannot fall as h grows, nor can the entropies. Each holdout of h points is part of one of h + 1, so that this holds
# for every holdout; estimates are made to rise by isotonic regression.


def rising_parts(measured: dict[int, EntropyParts], sizes: list[int], level: float) -> dict[str, dict[int, Estimate]]:
    """The three by size, those that can be counted made to rise, lower limits raised to what smaller sizes show."""
    curves = {name: {size: getattr(of_size, name) for size, of_size in measured.items()} for name in FIGURES}
    countable = [size for size, of_size in measured.items() if of_size.identified]
    known = all(measured[size].capacity.known for size in countable)
    for name in ("capacity", "stochasticity") if known else ("expressivity",):
        curves[name] |= _rising({size: curves[name][size] for size in countable}, level)
    for size in countable if known else ():
        value = curves["capacity"][size].value + curves["stochasticity"][size].value
        curves["expressivity"][size] = _moved(curves["expressivity"][size], value)
    raised: dict[str, dict[int, Estimate]] = {name: {} for name in FIGURES}
    for name in reversed(FIGURES):
        least = 0.0
        for size in sizes:
            estimate = curves[name][size]
            if estimate.prefix:
                part = raised["stochasticity"][size].low if name == "expressivity" else 0.0
                estimate = _at_least(estimate, max(least, part))
            raised[name][size] = estimate
            least = max(least, estimate.low)
    return raised


def _rising(estimates: dict[int, Estimate], level: float) -> dict[int, Estimate]:
    """Estimates by size made to rise, weighted by their errors."""
    if not estimates:
        return {}
    errors = np.array([(figure.high - figure.low) / 2 / normal_quantile(level) for figure in estimates.values()])
    weights = 1 / np.maximum(errors, max(float(errors.max()) * 1e-3, 1e-9)) ** 2
    values = isotonic_regression([figure.value for figure in estimates.values()], sample_weight=weights)
    return {size: _moved(figure, float(value)) for (size, figure), value in zip(estimates.items(), values)}


def _moved(estimate: Estimate, value: float) -> Estimate:
    return replace(estimate, value=value, low=min(estimate.low, value), high=max(estimate.high, value))
