"""Paired differences between two versions: over fits and items, by a metric of the confusion matrix, and by region."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from ... import seeds
from ...arrays import AnyInts, Floats, Mask
from ...intervals import Estimate, by_group
from ...regions.outcome import RepeatedOutcome, Rows
from ...regions.region import Region
from ..scores.scorers import count_figures
from .exchange import LEAST_FITS
from .matched import Matched

RESAMPLES = 400
MOST_FITS = 10
"""Fits of a version whose metric is averaged."""


METRICS = {"accuracy": "accuracy", "balanced_accuracy": "balanced_accuracy", "f1_macro": "f1_macro", "mcc": "matthews"}
"""Metrics of the confusion matrix by which versions are compared, and their names among the figures of counts."""


def metric_difference(pair: Matched, metric: str, level: float, seed: int) -> Estimate:
    """The metric of new − that of old, with the percentile interval of a bootstrap over items (or groups)."""
    figure, size = METRICS[metric], pair.classes.size
    cells = [[pair.truth.astype(np.int64) * size + fit for fit in _fits(labels)] for labels in (pair.old, pair.new)]

    def value(weights: Floats | None) -> float:
        counts = [np.stack([np.bincount(fit, weights, size * size) for fit in version]) for version in cells]
        old, new = (float(count_figures(each.reshape(-1, size, size))[figure].mean()) for each in counts)
        return new - old

    generator = seeds.generator(seed, "metric")
    unit = np.arange(pair.truth.size) if pair.groups is None else np.unique(pair.groups, return_inverse=True)[1]
    drawn = [value(generator.poisson(1.0, int(unit.max()) + 1).astype(float)[unit]) for _ in range(RESAMPLES)]
    low, high = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2])
    kind, whole = f"over {'items' if pair.groups is None else 'groups of items'}, by bootstrap", value(None)
    return Estimate(whole, min(float(low), whole), max(float(high), whole), level, kind)


def _fits(labels: AnyInts) -> AnyInts:
    flat = labels.reshape(-1, labels.shape[2])
    chosen: AnyInts = flat[np.linspace(0, len(flat) - 1, min(len(flat), MOST_FITS)).astype(int)]
    return chosen


# A difference between two versions, with its error over items and over fits.
# A version is one fit of many that its learner could have given: if it has several, how much they differ is part of
# the error.


@dataclass(frozen=True)
class FitDifference:
    """A mean difference, its standard error and degrees of freedom. `over` says what it varies over."""

    value: float
    error: float
    df: float
    over: str

    def interval(self, level: float) -> Estimate:
        """The difference with Student's interval, from −1 to 1."""
        reach = float(stats.t.ppf(0.5 + level / 2, self.df)) * self.error
        return Estimate(
            self.value, max(self.value - reach, -1.0), min(self.value + reach, 1.0), level, f"over {self.over}"
        )

    def p_above(self, least: float = 0.0) -> float:
        """P-value that the difference is not above `least`."""
        if self.error == 0:
            # All items changed alike: they cannot show more than that each of them points the same way.
            return 1.0 if self.value <= least else 0.5 ** min(self.df + 1, 1000.0)
        return float(stats.t.sf((self.value - least) / self.error, self.df))


def fit_difference(old: Floats, new: Floats, groups: AnyInts | None, *, leave_one_out: bool = False) -> FitDifference:
    """Mean of `new` minus mean of `old`, tables of fits x items.

    Variance = that of the items' differences (over groups, if there are any) + that of the fits of each version. A
    version with one fit is taken to vary as the other one does; if both have one, the two fits are what is compared and
    only items vary.

    leave_one_out: whether `old` has how far each fit is from the other fits of its version. Those means share fits, so
    they vary by ((U − 2)/(U − 1))² too little.
    """
    gap = by_group((new.mean(axis=0) - old.mean(axis=0))[None, :], groups)[0]
    value = float(new.mean() - old.mean())
    items = float(gap.var(ddof=1)) / gap.size if gap.size > 1 else math.inf
    spread: list[tuple[float, int] | None] = []
    for table, shared in ((old, leave_one_out), (new, False)):
        units = len(table)
        if units < (LEAST_FITS if shared else 2):
            spread.append(None)
            continue
        inflation = ((units - 1) / (units - 2)) ** 2 if shared else 1.0
        spread.append((float(table.mean(axis=1).var(ddof=1)) * inflation, units - 1))
    known = [each for each in spread if each is not None]
    noun = "items" if groups is None else "groups of items"
    if not known:
        return FitDifference(value, math.sqrt(items), max(gap.size - 1, 1), noun)
    parts = [(items, gap.size - 1)]
    for table, own in zip((old, new), spread):
        variance, df = own or known[0]
        parts.append((variance / len(table), df))
    total = sum(variance for variance, _ in parts)
    df = total**2 / max(sum(variance**2 / max(own, 1) for variance, own in parts), 1e-300) if total > 0 else gap.size
    return FitDifference(value, math.sqrt(total), max(df, 1.0), f"{noun} and fits")


# Where a difference gathers: regions of a table, tested on items that were not searched.


class DifferenceOutcome(RepeatedOutcome):
    """How much more of something (errors, changes) the new version has than the old one at each item.

    For the search, differences from −1 to 1 are mapped to 0 to 1, so that 0.5 is no difference. A part is tested with
    the error over items and fits: its difference must be above `least`, and above that of the rest.
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

    def _difference(self, part: Mask) -> FitDifference:
        return fit_difference(
            self.old[:, part], self.new[:, part], self._groups_at(part), leave_one_out=self.leave_one_out
        )


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
