"""`balanced_complexity`: how hard each class is when all have as many rows; imbalance hides hard small classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from .. import expect
from ..arrays import Floats, Ints
from ..inputs import class_labels, encode, matrix, take
from ..intervals import Estimate, share_around
from ..result import Result
from ..seeds import generator, integers, settle
from ..splits import per_row
from .complexity import Complexity, complexity
from .text import as_vectors

LEAST_ROWS = 10


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
        most = self.by_class.iloc[int(moved.to_numpy().argmax())]
        left = f" Left out, with fewer rows: {expect.shown(self.dropped, 5)}." if self.dropped else ""
        return (
            f"With {self.rows_per_class} rows of each class, in {self.repeats} samples, the nearest class is right in "
            f"{self.accuracy:.3f} of the rows, and in {self.plain_accuracy.value:.3f} of all rows as they are. The "
            f"class {most['class']} changes most: complexity {most['plain']:.3g} as it is, {most['balanced']:.3g} "
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
    groups : a value for each row; rows of a group are in one fold, and intervals are over groups

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
    enough = _enough(classes, np.bincount(codes), rows_per_class)
    size = int(np.bincount(codes)[enough].min()) if rows_per_class is None else rows_per_class
    seed = settle(random_state)
    whole = complexity(rows, labels, distance=distance, random_state=seed, groups=groups)
    samples = _Samples(rows, labels, codes, np.arange(codes.size) if given is None else given, enough, size, whole)
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
        accuracy=share_around(float(mean[-1]), float(error[-1]), level, kind, repeats),
        plain_accuracy=whole.baseline_accuracy,
        rows_per_class=size,
        repeats=repeats,
        dropped=tuple(map(str, classes[~enough])),
    )


def _enough(classes: Any, counts: Ints, rows_per_class: int | None) -> Any:
    """Which classes have enough rows; at least two must."""
    least = LEAST_ROWS if rows_per_class is None else rows_per_class
    enough = counts >= least
    if int(enough.sum()) < 2:
        small = [f"{name}: {count}" for name, count in zip(classes[~enough], counts[~enough])]
        raise expect.InputError(
            f"{int(enough.sum())} of {classes.size} classes have the {least} rows that a sample takes from each; at "
            f"least 2 are needed. Too small: {expect.shown(small, 5)}. "
            + ("Pass a smaller `rows_per_class`." if least > 5 else "Add rows, or is the target column right?")
        )
    return enough


@dataclass(frozen=True)
class _Samples:
    """Rows with their classes and units (rows or groups), and how samples of `size` rows of each class are measured."""

    rows: Any
    labels: Any
    codes: Ints
    units: Ints
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
        return random.permutation(rows)[: self.size]

    def _again(self, rows: Ints, random: np.random.Generator) -> Ints:
        """Rows of units drawn with replacement, as many units as there are or more, until the sample is full."""
        own = self.units[rows]
        names = np.unique(own)
        drawn = [rows[own == name] for name in random.choice(names, names.size)]
        while sum(part.size for part in drawn) < self.size:
            drawn.append(rows[own == random.choice(names)])
        return random.permutation(np.concatenate(drawn))[: self.size]


def _positive(mean: Floats, error: Floats, level: float, draws: int) -> tuple[Floats, Floats]:
    """Student's interval of figures that are at least 0, on the log scale."""
    reach = float(stats.t.ppf(0.5 + level / 2, draws - 1)) * error / np.maximum(mean, 1e-300)
    return mean * np.exp(-reach), mean * np.exp(reach)
