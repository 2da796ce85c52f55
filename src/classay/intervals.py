"""`Estimate`: a value with its interval and what the interval is over, and the functions that make intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from .expect import InputError, fraction

OF_GROUPS = "of a proportion, over groups"
AT_LEAST = "at least"
"""A kind that begins so marks a value as a lower limit, not the best guess."""
BETWEEN = "between"
"""A kind that begins so marks a value, known or not, that says less than its range."""
ROUNDING = 1e-9
"""Sums of many values leave some 1e-12 where they are 0."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with an interval around it.

    `kind` says what the interval is over ("over holdouts", "of a proportion"). A `value` of NaN means unknown:
    the data cannot identify it, and `low` and `high` are then the range that is possible. A kind that begins with "at
    least" means that the value is a lower limit, "between" that only the range is to be printed.

    >>> Estimate(2.94, 2.87, 3.01, kind="over holdouts")
    2.94 [2.87, 3.01]
    >>> Estimate(0.49, 0.41, 5.3, kind="at least: from 3 points"), Estimate(0, 0, 1.2, kind="between: few refits")
    (at least 0.49 [0.41, 5.3], between 0 and 1.2)
    """

    value: float
    low: float
    high: float
    level: float = 0.95
    kind: str = ""

    @property
    def known(self) -> bool:
        """Whether there is a value at all."""
        return not math.isnan(self.value)

    @property
    def prefix(self) -> str:
        """What is written before the value: "at least " if it is a lower limit."""
        return f"{AT_LEAST} " if self.known and self.kind.startswith(AT_LEAST) else ""

    @property
    def between(self) -> bool:
        """Whether only the range is to be printed."""
        return self.kind.startswith(BETWEEN)

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        spec = spec or ".3g"
        if self.between:
            return f"{BETWEEN} {self.low:{spec}} and {self.high:{spec}}"
        if not self.known:
            return f"unknown [{self.low:{spec}}, {self.high:{spec}}]"
        return f"{self.prefix}{self.value:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"

    def __str__(self) -> str:
        return format(self)

    __repr__ = __str__


def exact(value: float, kind: str = "exact", level: float = 0.95) -> Estimate:
    """A figure without uncertainty."""
    return Estimate(float(value), float(value), float(value), level, kind)


def normal_quantile(level: float) -> float:
    """How many standard errors a two-sided normal interval extends to each side."""
    return float(stats.norm.ppf(0.5 + fraction(level, "level") / 2))


def of_mean(
    values: ArrayLike, level: float = 0.95, kind: str = "of a mean", limits: tuple[float, float] = (-math.inf, math.inf)
) -> Estimate:
    """Mean of independent values with Student's interval; of values within `limits`, `bounded`.

    One value alone has an interval of all that is possible.
    """
    sample = np.asarray(values, dtype=float).ravel()
    if sample.size == 0:
        raise InputError("There are no values to average.")
    mean, (least, most) = float(sample.mean()), limits
    fraction(level, "level")
    if sample.size == 1:
        return Estimate(mean, least, most, level, kind)
    error = float(sample.std(ddof=1)) / math.sqrt(sample.size)
    if math.isinf(most - least):
        return around(mean, error, level, kind, sample.size)
    units = math.inf if error > ROUNDING else sample.size
    return bounded(mean, error, units, level, kind, sample.size, least, most)


def of_proportion(successes: int, trials: int, level: float = 0.95) -> Estimate:
    """Share of successes with Wilson's interval."""
    if trials < 1 or not 0 <= successes <= trials:
        raise InputError(f"{successes} successes in {trials} trials are not a proportion.")
    interval = stats.binomtest(successes, trials).proportion_ci(fraction(level, "level"), method="wilson")
    return Estimate(successes / trials, float(interval.low), float(interval.high), level, "of a proportion")


def crossed_standard_error(values: ArrayLike) -> float:
    """Standard error of the mean of a table whose rows and columns are both random.

    `values[a, b]` is the contribution of row a (a subset) and column b (a holdout). Entries that share a row or a
    column are dependent, so the variance is that of the row means plus that of the column means minus that of the
    entries, which both contain (Cameron, Gelbach & Miller, 2011). With one row or one column only the other varies.
    """
    table = np.asarray(values, dtype=float)
    rows, columns = table.shape

    def variance_of_mean(means: NDArray[np.float64]) -> float:
        return float(means.var(ddof=1)) / means.size if means.size > 1 else 0.0

    by_row, by_column = variance_of_mean(table.mean(axis=1)), variance_of_mean(table.mean(axis=0))
    if rows == 1 or columns == 1:
        return math.sqrt(by_row + by_column)
    residual = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    both = float((residual**2).sum()) / ((rows - 1) * (columns - 1)) / (rows * columns)
    # The two one-way terms each contain the noise of single entries once; the truth contains it once in all.
    return math.sqrt(max(by_row + by_column - both, by_row, by_column))


def by_group(values: ArrayLike, groups: ArrayLike | None) -> NDArray[np.float64]:
    """A table of units x points as one of units x groups of points, with the same means of rows.

    Points of a group depend on each other, groups do not. Entry (u, g) is the mean plus the sum of the deviations of
    the points of g, scaled so that the variance of the mean over groups is the cluster-robust one of a ratio (Liang &
    Zeger, 1986): Σ_g (Σ_{i in g} (x_i − mean))² · G/(G − 1) / n².
    """
    table = np.asarray(values, dtype=float)
    if groups is None or not table.shape[1]:
        return table
    _, codes = np.unique(np.asarray(groups), return_inverse=True)
    number = int(codes.max()) + 1
    if np.ptp(table) == 0:
        return table[:, :1].repeat(number, axis=1)
    mean = table.mean()
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(number))
    sums = np.add.reduceat(table[:, order] - mean, starts, axis=1)
    grouped: NDArray[np.float64] = mean + sums * (number / table.shape[1])
    return grouped


def crossed_error(values: ArrayLike, groups: ArrayLike | None = None) -> tuple[float, int]:
    """Standard error of the mean of a table of units x points, both random, and the number of draws that it is of.

    Points of a group depend on each other, if there are `groups`. Draws, the degrees of freedom plus one, are the
    units, or the groups if they are fewer.
    """
    table = by_group(values, groups)
    return crossed_standard_error(table), len(table) if groups is None else min(table.shape)


def of_proportion_by_group(right: ArrayLike, groups: ArrayLike | None, level: float = 0.95) -> Estimate:
    """Share of True among points, with Wilson's interval; with groups, over groups (`bounded`)."""
    values = np.asarray(right, dtype=bool)
    if groups is None:
        return of_proportion(int(values.sum()), values.size, level)
    table = by_group(values[None, :], groups)
    number = table.shape[1]
    return bounded(float(values.mean()), crossed_standard_error(table), number, level, OF_GROUPS, max(number, 2))


def difference(larger: Estimate, smaller: Estimate, kind: str = "", correlation: float = 0.0) -> Estimate:
    """The difference of two estimates, from their intervals, which need not be symmetric (Zou & Donner, 2008).

    Without a `correlation` the two are taken as uncorrelated; if they are positively correlated, the interval is then
    wider than necessary.
    """

    def apart(own: float, others: float) -> float:
        # √(a² + b² − 2rab), also if one of them is infinite.
        return math.hypot(own - correlation * others if correlation else own, others * math.sqrt(1 - correlation**2))

    value = larger.value - smaller.value
    down = apart(larger.value - larger.low, smaller.high - smaller.value)
    up = apart(larger.high - larger.value, smaller.value - smaller.low)
    return Estimate(value, value - down, value + up, larger.level, kind or larger.kind)


def around(
    value: float, standard_error: float, level: float = 0.95, kind: str = "", draws: int | None = None
) -> Estimate:
    """An interval around a value: normal, or Student's if the error was estimated from few `draws`."""
    quantile = normal_quantile(level)
    if draws is not None:
        quantile = float(stats.t.ppf(0.5 + level / 2, max(draws - 1, 1)))
    reach = quantile * standard_error
    return Estimate(float(value), float(value - reach), float(value + reach), level, kind)


def bounded(
    value: float,
    standard_error: float,
    units: float,
    level: float = 0.95,
    kind: str = "",
    draws: int | None = None,
    least: float = 0.0,
    most: float = 1.0,
) -> Estimate:
    """An interval around a mean of values from `least` to `most`, which has a width even if nothing varied.

    `units` is how many rows, subsets or pairs could have differed on their own. If none did, those that do are rarer
    than 1 − α^(1/units), and may be anywhere. Else the interval is Agresti and Coull's, with z²/2 units added at each
    end; a larger standard error than that of so many units means fewer of them. What was estimated from few `draws` has
    Student's quantile.

    >>> bounded(1.0, 0.0, 40), bounded(0.0, 0.0, 40, least=-1), bounded(0.975, 0.0247, 40)
    (1 [0.928, 1], 0 [-0.0722, 0.0722], 0.975 [0.859, 0.996])
    """
    if math.isnan(value):
        return Estimate(math.nan, least, most, level, kind)
    value, scale, z = min(max(float(value), least), most), most - least, normal_quantile(level)
    share = (value - least) / scale if scale else 0.0
    if not 0 < share < 1 or standard_error < ROUNDING * scale:
        rare = 1 - (1 - level) ** (1 / max(units, 1))
        return Estimate(float(value), value - (value - least) * rare, value + (most - value) * rare, level, kind)
    seen = min(units, (value - least) * (most - value) / standard_error**2)
    total = seen + z**2
    middle = (seen * value + z**2 * (least + most) / 2) / total
    unseen = seen * (value - middle) ** 2 + z**2 * ((least - middle) ** 2 + (most - middle) ** 2) / 2
    own = around(0.0, seen * standard_error, level, draws=draws).high
    reach = math.hypot(own, z * math.sqrt(unseen)) / total
    # Values were seen on both sides of an end, so it is not reached.
    inside = share_around(share, standard_error / scale, level, kind, draws)
    low = middle - reach if middle - reach > least else least + scale * inside.low
    high = middle + reach if middle + reach < most else least + scale * inside.high
    return Estimate(float(value), min(low, value), max(high, value), level, kind)


def share_around(
    value: float, standard_error: float, level: float = 0.95, kind: str = "", draws: int | None = None
) -> Estimate:
    """An interval around a share, on the logit scale, so that it stays between 0 and 1 and is skewed near them."""
    if not 0 < value < 1 or standard_error == 0:
        return within_limits(around(value, standard_error, level, kind, draws), 0.0, 1.0)
    middle = math.log(value / (1 - value))
    on_logit = around(middle, standard_error / (value * (1 - value)), level, kind, draws)
    low, high = (float(special.expit(end)) for end in (on_logit.low, on_logit.high))
    return Estimate(float(value), low, high, level, kind)


def positive_around(
    value: float, standard_error: float, level: float = 0.95, kind: str = "", draws: int | None = None
) -> Estimate:
    """An interval around a figure above 0, on the log scale."""
    reach = min(around(0.0, standard_error / value, level, draws=draws).high, 700.0)
    return Estimate(value, value * math.exp(-reach), value * math.exp(reach), level, kind)


def within_limits(estimate: Estimate, least: float, most: float) -> Estimate:
    """The estimate with its interval clipped to what is possible."""
    return replace(estimate, low=max(estimate.low, least), high=min(estimate.high, most))


# Figures of refits: means of a table of units (pairs or subsets) x points, of which both are random.


ONE_PAIR = "unknown: one pair of subsets"


def of_table(
    table: NDArray[np.float64],
    level: float,
    kind: str,
    groups: ArrayLike | None = None,
    units: int | None = None,
    draws: int | None = None,
    limits: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """The mean of a table of units x points, both random, `bounded`. `units` that could have differed: the points."""
    error, own_draws = crossed_error(table, groups)
    points = table.shape[1] if groups is None else np.unique(np.asarray(groups)).size
    value = float(table.mean().clip(*limits))
    return bounded(value, error, min(points, units or points), level, kind, draws or own_draws, *limits)


def share_of_table(
    table: NDArray[np.float64], disjoint: int, level: float, kind: str, groups: ArrayLike | None = None
) -> Estimate:
    """The mean of a table of units x points as a share; `disjoint` of the units are independent.

    If no unit differs anywhere, it is units that may, rarely.
    """
    if disjoint < 2:
        return Estimate(float(table.mean().clip(0.0, 1.0)), 0.0, 1.0, level, ONE_PAIR)
    return of_table(table, level, kind, groups, units=None if np.ptp(table) else disjoint)


def coefficient_of_table(
    value: float, table: NDArray[np.float64], disjoint: int, level: float, kind: str, groups: ArrayLike | None = None
) -> Estimate:
    """A coefficient from −1 to 1 with its table of units x points: an interval on the scale of log(1 − value)."""
    if disjoint < 2:
        return Estimate(value, -1.0, 1.0, level, ONE_PAIR)
    low, high = bounded(min(value, 1.0), 0.0, disjoint, level, least=-1.0).low, value
    if value < 1:
        error, draws = crossed_error(table, groups)
        missing = positive_around(1 - value, error, level, kind, draws)
        low, high = 1 - missing.high, 1 - missing.low
    low, value, high = (0.0 if abs(end) < ROUNDING else end for end in (low, value, high))
    return Estimate(value, min(max(low, -1.0), value), max(high, value), level, kind)
