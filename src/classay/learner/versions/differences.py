"""Paired differences between two versions: of a mean over fits and items, and of a metric of the confusion matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ... import seeds
from ...arrays import AnyInts, Floats
from ...intervals import Estimate, by_group
from ..scores.scorers import count_figures
from .exchange import LEAST_FITS
from .matched import Matched

RESAMPLES = 400
MOST_FITS = 10
"""Fits of a version whose metric is averaged."""


METRICS = {"accuracy": "accuracy", "balanced_accuracy": "balanced_accuracy", "f1_macro": "f1_macro", "mcc": "matthews"}
"""Metrics of the confusion matrix by which versions are compared, and their names among the figures of counts."""


def metric_difference(pair: Matched, metric: str, level: float, seed: int) -> tuple[Estimate, Estimate, Estimate]:
    """The metric of old, of new, and new − old, with percentile intervals of a bootstrap over items (or groups)."""
    figure, size = METRICS[metric], pair.classes.size
    fits = [_fits(version.labels) for version in (pair.old, pair.new)]
    cells = [[pair.truth.astype(np.int64) * size + labels for labels in version] for version in fits]

    def values(weights: Floats | None) -> list[float]:
        counts = [
            np.stack([np.bincount(each, weights, size * size).reshape(size, size) for each in version])
            for version in cells
        ]
        return [float(count_figures(each)[figure].mean()) for each in counts]

    generator = seeds.generator(seed, "metric")
    if pair.groups is None:
        n_units, unit = pair.truth.size, None
    else:
        _, unit = np.unique(pair.groups, return_inverse=True)
        n_units = int(unit.max()) + 1
    drawn = []
    for _ in range(RESAMPLES):
        weights = generator.poisson(1.0, n_units).astype(float)
        drawn.append(values(weights if unit is None else weights[unit]))
    table = np.asarray(drawn)
    both = np.column_stack([table, table[:, 1] - table[:, 0]])
    old, new = values(None)
    ends = np.quantile(both, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    kind = f"over {'items' if pair.groups is None else 'groups of items'}, by bootstrap"
    estimates = [
        Estimate(value, min(float(low), value), max(float(high), value), level, kind)
        for value, low, high in zip((old, new, new - old), *ends)
    ]
    return estimates[0], estimates[1], estimates[2]


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

    def interval(self, level: float, least: float = -1.0, most: float = 1.0) -> Estimate:
        """The difference with Student's interval."""
        reach = float(stats.t.ppf(0.5 + level / 2, self.df)) * self.error
        return Estimate(
            self.value, max(self.value - reach, least), min(self.value + reach, most), level, f"over {self.over}"
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
