"""Paired differences between two versions: over fits and items, by a metric of the confusion matrix, and by region."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from ... import seeds
from ...arrays import AnyInts, Floats, Mask
from ...intervals import ROUNDING, Estimate, bounded, by_group
from ...regions.outcome import RepeatedOutcome, Rows
from ...regions.region import Region
from ..scores.scorers import count_figures
from .matched import Matched

RESAMPLES = 400
MOST_FITS = 10
"""Fits of a version whose metric is averaged."""


METRICS = {"accuracy": "accuracy", "balanced_accuracy": "balanced_accuracy", "f1_macro": "f1_macro", "mcc": "matthews"}
"""Metrics of the confusion matrix by which versions are compared, and their names among the figures of counts."""


def metric_difference(pair: Matched, refits: Sequence[AnyInts], metric: str, level: float, seed: int) -> Estimate:
    """The metric of new − that of old, with the error of a bootstrap over items (or groups), and of the fits."""
    figure, size, versions = METRICS[metric], pair.classes.size, (pair.old, pair.new, *refits)
    fits = [labels.reshape(-1, pair.truth.size) for labels in versions]
    chosen = [own[np.linspace(0, len(own) - 1, min(len(own), MOST_FITS)).astype(int)] for own in fits]
    cells = [pair.truth.astype(np.int64) * size + own for own in chosen]

    def by_fit(weights: Floats | None) -> list[Floats]:
        counts = [np.stack([np.bincount(fit, weights, size * size) for fit in version]) for version in cells]
        return [count_figures(each.reshape(-1, size, size))[figure][:, None] for each in counts]

    def gap(weights: Floats | None) -> float:
        old, new, *_ = by_fit(weights)
        return float(new.mean() - old.mean())

    generator = seeds.generator(seed, "metric")
    unit = np.arange(pair.truth.size) if pair.groups is None else np.unique(pair.groups, return_inverse=True)[1]
    drawn = [gap(generator.poisson(1.0, int(unit.max()) + 1).astype(float)[unit]) for _ in range(RESAMPLES)]
    # Each class counts alike, so the rarest one has the fewest items that could change the metric.
    rarest = min(np.unique(unit[pair.truth == code]).size for code in np.unique(pair.truth))
    old, new, *more = by_fit(None)
    mean = combined(gap(None), float(np.var(drawn, ddof=1)), rarest, [old, new], pair.groups, more)
    most = 2.0 if metric == "mcc" else 1.0
    return mean.interval(level, -most, most)


# A mean over items and fits, such as a share or a difference of two versions, with its error over both.
# A version is one fit of many that its learner could have given: if it has several, how much they differ is part of
# the error.


@dataclass(frozen=True)
class FitMean:
    """A mean, its standard error and degrees of freedom. `over` says what it varies over.

    `units` is how many items, groups of items or fits could have differed on their own.
    """

    value: float
    error: float
    df: float
    units: int
    over: str

    def interval(self, level: float, least: float = -1.0, most: float = 1.0) -> Estimate:
        """The mean, of values from `least` to `most`, with its interval."""
        if math.isinf(self.error):
            return Estimate(self.value, least, most, level, f"over {self.over}")
        draws = int(self.df) + 1
        return bounded(self.value, self.error, self.units, level, f"over {self.over}", draws, least, most)

    def p_above(self, least: float = 0.0) -> float:
        """P-value that the difference is not above `least`."""
        if self.error < ROUNDING:
            # All items changed alike: they cannot show more than that each of them points the same way.
            return 1.0 if self.value <= least else 0.5 ** min(self.df + 1, 1000.0)
        return float(stats.t.sf((self.value - least) / self.error, self.df))


def over_fits(
    values: Floats,
    tables: Sequence[Floats],
    groups: AnyInts | None,
    like: Sequence[Floats] = (),
    *,
    of_pairs: bool = False,
) -> FitMean:
    """The mean of a value per item, with the error over items (or groups) and over the fits of each version.

    tables: of each version (fits, items), what each fit contributes
    like: the same of more fits, from which it is known how much a version with one fit varies
    of_pairs: whether fits are compared: if none differs from any other anywhere, it is fits that may, rarely
    """
    by_unit = by_group(values[None, :], groups)[0]
    variance = float(by_unit.var(ddof=1)) / by_unit.size if by_unit.size > 1 else math.inf
    mean = combined(float(values.mean()), variance, by_unit.size, tables, groups, like)
    several = [len(table) for table in tables if of_pairs and len(table) > 1]
    return replace(mean, units=min(mean.units, *several)) if several and mean.error < ROUNDING else mean


def combined(
    value: float,
    variance: float,
    units: int,
    tables: Sequence[Floats],
    groups: AnyInts | None,
    like: Sequence[Floats] = (),
) -> FitMean:
    """A value whose variance over items is known, with that of the fits of each version added.

    A version with one fit is taken to vary as `like`, or as the other one does; if all have one, these fits are what is
    compared and only items vary. Degrees of freedom are those of Welch and Satterthwaite.
    """
    sources = [table.mean(axis=1) for table in (*tables, *like)]
    known = [place for place, means in enumerate(sources) if means.size > 1]
    noun = "items" if groups is None else "groups of items"
    if not known:
        return FitMean(value, math.sqrt(variance), max(units - 1, 1), units, f"{noun}; for these fits")
    times = np.zeros(len(sources))
    for place, table in enumerate(tables):
        times[place if place in known else known[-1]] += 1 / len(table)
    parts = [(variance, units - 1)]
    parts += [(times[place] * float(sources[place].var(ddof=1)), sources[place].size - 1) for place in known]
    total = sum(part for part, _ in parts)
    df = total**2 / max(sum(part**2 / max(own, 1) for part, own in parts), 1e-300) if 0 < total < math.inf else units
    return FitMean(value, math.sqrt(total), max(df, 1.0), units, f"{noun} and fits")


def apart(own: Floats) -> Floats:
    """How far each fit is from the others (U, n), so that its rows vary as if they shared no fits.

    Those means share fits, so they vary by ((U − 2)/(U − 1))² too little. Two fits are one pair, which cannot vary.
    """
    units = len(own)
    return own * ((units - 1) / (units - 2)) if units > 2 else own[:1]


# Where a difference gathers: regions of a table, tested on items that were not searched.


class DifferenceOutcome(RepeatedOutcome):
    """How much more of something (errors, changes) the new version has than the old one at each item.

    For the search, differences from −1 to 1 are mapped to 0 to 1, so that 0.5 is no difference. A part is tested with
    the error over items and fits: its difference must be above `least`, and above that of the rest.

    leave_one_out: whether `old` has how far each fit is from the other fits of its version
    """

    def __init__(
        self, old: Floats, new: Floats, groups: AnyInts | None, least: float, leave_one_out: bool = False
    ) -> None:
        self.old, self.new, self.least, self.leave_one_out = old, new, least, leave_one_out
        super().__init__(((1 + new.mean(axis=0) - old.mean(axis=0)) / 2)[None, :], groups)

    def at(self, rows: Rows) -> DifferenceOutcome:
        return DifferenceOutcome(
            self.old[:, rows], self.new[:, rows], self._groups_at(rows), self.least, self.leave_one_out
        )

    def p_value(self, part: Mask, whole: Mask) -> float:
        rest = whole & ~part
        if np.count_nonzero(part) < 2 or np.count_nonzero(rest) < 2:
            return 1.0
        inside, outside = self._difference(part), self._difference(rest)
        beyond = inside.p_above(max(self.least, 0.0))
        if outside.value <= self.least:
            return beyond
        error = float(np.hypot(inside.error, outside.error))
        return max(beyond, replace(inside, value=inside.value - outside.value, error=error).p_above())

    def split(self, generator: np.random.Generator) -> tuple[Rows, Rows]:
        if self.groups is not None:
            return super().split(generator)
        # Neighbours in the order of the outcome go to different halves; all at once, as there may be millions.
        order = np.lexsort((generator.random(self.n), self.values))
        swaps = generator.random(-(-self.n // 2)) < 0.5
        first = np.zeros(self.n, dtype=bool)
        first[np.arange(self.n) % 2 == np.repeat(swaps, 2)[: self.n]] = True
        return np.sort(order[first]), np.sort(order[~first])

    def rate(self, part: Mask, level: float) -> Estimate:
        return self._difference(part).interval(level)

    def _difference(self, part: Mask) -> FitMean:
        old, new = self.old[:, part], self.new[:, part]
        tables = [apart(old) if self.leave_one_out else old, new]
        return over_fits(new.mean(axis=0) - old.mean(axis=0), tables, self._groups_at(part))


def as_differences(region: Region) -> Region:
    """The region with the figures that were on the scale of the search as differences."""
    rest = 2 * region.rest_rate - 1
    return replace(
        region,
        total=2 * region.total - region.size,
        table_rate=2 * region.table_rate - 1,
        rest_rate=rest,
        lift=float("nan"),
        excess=region.size * max(region.rate.low - rest, 0.0),
    )
