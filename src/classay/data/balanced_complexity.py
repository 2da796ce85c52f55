"""`balanced_complexity`: how hard each class is when all have as many rows; imbalance hides hard small classes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from .. import expect
from ..arrays import Floats, Ints
from ..inputs import class_labels, encode, matrix, take
from ..intervals import Estimate, normal_quantile, share_around, within_limits
from ..result import Result
from ..seeds import generator, integers, settle
from ..splits import per_row
from .complexity import Complexity, complexity
from .text import as_vectors

LEAST_ROWS, LEAST_GROUPS = 10, 3


@dataclass(frozen=True)
class BalancedComplexity(Result, chart="data.balanced_complexity:balanced_complexity_chart"):
    """The result of `balanced_complexity`.

    `by_class` has, for each class, its rows, its complexity in all rows (`plain`) and in samples with equally many rows
    of each class (`balanced`) with its interval (`low`, `high`), and the recall in both. `accuracy` is that of the
    nearest class in the samples. Intervals are over data sets: other rows, or groups, of the same classes.
    """

    by_class: pd.DataFrame
    accuracy: Estimate
    plain_accuracy: Estimate
    rows_per_class: int
    repeats: int
    dropped: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One line per class; the balanced complexity as `value`."""
        return self.by_class.rename(columns={"balanced": "value"})

    def __str__(self) -> str:
        moved = (self.by_class["balanced"] - self.by_class["plain"]).abs()
        place = int(moved.to_numpy().argmax())
        name, most = self.by_class["class"].iloc[place], self.by_class.iloc[place]
        fewer = f"fewer rows or fewer than {LEAST_GROUPS} groups" if "groups" in self.accuracy.kind else "fewer rows"
        left = f" Left out, with {fewer}: {expect.shown(self.dropped, 5)}." if self.dropped else ""
        return (
            f"With {self.rows_per_class} rows of each class, in {self.repeats} samples, the nearest class is right in "
            f"{self.accuracy:.3f} of the rows, and in {self.plain_accuracy.value:.3f} of all rows as they are. The "
            f"class {name} changes most: complexity {most['plain']:.3g} as it is, {most['balanced']:.3g} "
            f"[{most['low']:.3g}, {most['high']:.3g}] balanced.{left}"
        )


def balanced_complexity(
    X: Any,
    y: ArrayLike,
    *,
    repeats: int = 20,
    rows_per_class: int | None = None,
    distance: str = "auto",
    random_state: int | np.random.Generator | None = 0,
    level: float = 0.95,
    groups: Any = None,
) -> BalancedComplexity:
    """Measure the complexity of each class under equal class sizes: repeated samples of as many rows from each.

    The distance and temperature are chosen once, on all rows, so that figures can be compared. Complexity is
    cross-fitted in each sample. Intervals come from as many further samples, whose rows (or groups) are first drawn
    with replacement within each class: all samples share the rows of a small class, so they alone would not show how
    much it varies.

    0: easy, log 2 and above: nearer to another class. A class that is hard only in the balanced samples is helped by
    its size; one that is hard only as it is suffers from few rows in comparison. Samples are smaller than the data, so
    both geometries are less precise. The intervals take distance and temperature as given.

    Parameters
    ----------
    X, y : rows and labels, as in `complexity`
    repeats : number of samples
    rows_per_class : rows of each class in a sample; default those of the smallest class with at least 10
    distance : as in `complexity`
    random_state : seed of folds and samples
    level : confidence level of the intervals
    groups : a value for each row; rows of a group are in one fold, and intervals are over groups; classes with fewer
        than 3 groups are left out

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> keep = np.r_[0:50, 50:65, 100:150]
    >>> balanced_complexity(X[keep], y[keep], repeats=3, distance="euclidean").rows_per_class
    15

    """
    expect.whole(repeats, "repeats", at_least=2)
    expect.fraction(level, "level")
    if rows_per_class is not None:
        expect.whole(rows_per_class, "rows_per_class", at_least=5)
    rows = as_vectors(X)[0]
    table = matrix(rows)
    labels = class_labels(y, "y", table.shape[0])
    given = per_row(groups, rows=labels.size).groups
    classes = np.unique(labels)
    codes = encode(labels, classes)
    units = np.arange(codes.size) if given is None else given
    number_of_units = np.bincount(np.unique(np.column_stack([codes, units]), axis=0)[:, 0])
    enough = _enough(classes, np.bincount(codes), rows_per_class, None if given is None else number_of_units)
    size = int(np.bincount(codes)[enough].min()) if rows_per_class is None else rows_per_class
    seed = settle(random_state)
    whole = complexity(rows, labels, distance=distance, random_state=seed, groups=groups)
    samples = _Samples(rows, labels, codes, units, given is not None, enough, size, whole)
    drawn = np.stack([samples.measured(seed, number, False, given is not None) for number in range(repeats)])
    again = np.stack([samples.measured(seed, number, True, True) for number in range(repeats)])
    mean = drawn.mean(axis=0)
    # What samples of the same rows differ by is in both, but the mean over samples has less of it.
    within, between = drawn.var(axis=0, ddof=1), again.var(axis=0, ddof=1)
    error = np.sqrt(np.maximum(between - within, 0.1 * between) + within / repeats)
    kind = f"over {'rows' if given is None else 'groups'}, with {repeats} samples"
    number = int(enough.sum())
    low, high = _positive(mean[:number], error[:number], level, repeats)
    plain = whole.by_class[enough]
    table_by_class = pd.DataFrame(
        {
            "class": classes[enough],
            "rows": np.bincount(codes)[enough],
            "plain": plain["complexity"].to_numpy(),
            "balanced": mean[:number],
            "low": low,
            "high": high,
            "plain_recall": plain["recall"].to_numpy(),
            "balanced_recall": mean[number:-1],
        }
    )
    return BalancedComplexity(
        by_class=table_by_class,
        accuracy=_accuracy(
            share_around(float(mean[-1]), float(error[-1]), level, kind, repeats),
            np.minimum(number_of_units[enough], size * repeats),
            given is not None,
        ),
        plain_accuracy=whole.baseline_accuracy,
        rows_per_class=size,
        repeats=repeats,
        dropped=tuple(map(str, classes[~enough])),
    )


def _enough(classes: Any, counts: Ints, rows_per_class: int | None, groups: Ints | None) -> Any:
    """Which classes have enough rows, and groups if there are any; at least two must."""
    least = LEAST_ROWS if rows_per_class is None else rows_per_class
    enough = counts >= least
    if groups is not None:
        enough &= groups >= LEAST_GROUPS
    if int(enough.sum()) >= 2:
        return enough
    by_rows = int((counts >= least).sum()) < 2
    if by_rows or groups is None:
        small = [f"{name}: {count}" for name, count in zip(classes[~enough], counts[~enough])]
        raise expect.InputError(
            f"{int(enough.sum())} of {classes.size} classes have the {least} rows that a sample takes from each; at "
            f"least 2 are needed. Too small: {expect.shown(small, 5)}. "
            + ("Pass a smaller `rows_per_class`." if least > 5 else "Add rows, or is the target column right?")
        )
    small = [
        f"{name}: {count} rows, {own} groups"
        for name, count, own in zip(classes[~enough], counts[~enough], groups[~enough])
    ]
    raise expect.InputError(
        f"{classes.size - int(enough.sum())} of {classes.size} classes have fewer than {LEAST_GROUPS} groups (or "
        f"{least} rows), and at least 2 classes must have as many. Too small: {expect.shown(small, 5)}. Use a finer "
        "grouping, or leave `groups` out."
    )


def _accuracy(estimate: Estimate, units: Ints, grouped: bool) -> Estimate:
    """The interval, or Wilson's with as many trials as there are different rows, whichever extends further.

    Samples of rows that are all right do not vary, but few rows do not show that all are. Groups are worth more than
    one trial each, unless all are alike.
    """
    share = estimate.value
    if grouped and 0 < share < 1:
        return estimate
    # The mean of the shares of K classes varies as much as one share of this many rows.
    trials = units.size**2 / float((1 / units).sum())
    z = normal_quantile(estimate.level)
    reach = z * math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    low, high = ((share + z**2 / (2 * trials) + side) / (1 + z**2 / trials) for side in (-reach, reach))
    return within_limits(replace(estimate, low=min(estimate.low, low), high=max(estimate.high, high)), 0.0, 1.0)


@dataclass(frozen=True)
class _Samples:
    """Rows with their classes and units (rows or groups), and how samples of `size` rows of each class are measured."""

    rows: Any
    labels: Any
    codes: Ints
    units: Ints
    grouped: bool
    enough: Any
    size: int
    whole: Complexity

    def measured(self, seed: int, number: int, again: bool, together: bool) -> Floats:
        """Complexities by class, recalls by class and the accuracy in one sample.

        again : draw units with replacement first; together : keep the rows of a unit, and its copies, in one fold
        """
        random = generator(seed, "balanced again" if again else "balanced", number)
        draw = self._again if again else self._once
        chosen = np.sort(np.concatenate([draw(np.flatnonzero(self.codes == code), random) for code in self._kept]))
        (of_folds,) = integers(seed, "balanced folds", number, count=1)
        sample = complexity(
            take(self.rows, chosen),
            self.labels[chosen],
            distance=self.whole.distance,
            covariance=self.whole.covariance,
            temperature=self.whole.temperature,
            random_state=of_folds,
            groups=self.units[chosen] if together else None,
        )
        figures = sample.by_class[["complexity", "recall"]].to_numpy(dtype=float)
        return np.append(figures.T.ravel(), sample.baseline_accuracy.value)

    @property
    def _kept(self) -> Ints:
        return np.flatnonzero(self.enough)

    def _once(self, rows: Ints, random: np.random.Generator) -> Ints:
        return self._of_two_units(random.permutation(rows)[: self.size], rows, random)

    def _again(self, rows: Ints, random: np.random.Generator) -> Ints:
        """Rows of units drawn with replacement, as many units as there are or more, until the sample is full."""
        if not self.grouped:
            return self._of_two_units(rows[random.integers(rows.size, size=self.size)], rows, random)
        own = self.units[rows]
        order = np.argsort(own, kind="stable")
        parts = np.split(rows[order], np.flatnonzero(np.diff(own[order])) + 1)
        drawn = random.integers(len(parts), size=len(parts)).tolist()
        while len(set(drawn)) < 2 or sum(parts[unit].size for unit in drawn) < self.size:
            drawn.append(int(random.integers(len(parts))))
        sample = random.permutation(np.concatenate([parts[unit] for unit in drawn]))[: self.size]
        return self._of_two_units(sample, rows, random)

    def _of_two_units(self, sample: Ints, rows: Ints, random: np.random.Generator) -> Ints:
        """The sample, with a row of another unit if all are of one: a class without other units cannot be measured."""
        first = self.units[sample[0]]
        if (self.units[sample] != first).any():
            return sample
        return np.append(sample[1:], random.choice(rows[self.units[rows] != first]))


def _positive(mean: Floats, error: Floats, level: float, draws: int) -> tuple[Floats, Floats]:
    """Student's interval of figures that are at least 0, on the log scale."""
    reach = float(stats.t.ppf(0.5 + level / 2, draws - 1)) * error / np.maximum(mean, 1e-300)
    return mean * np.exp(-reach), mean * np.exp(reach)
