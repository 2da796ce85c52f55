"""`balanced_complexity`: how hard each class is when all have as many rows; imbalance hides hard small classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import expect
from ..inputs import at_least_two, class_labels, encode, matrix, take
from ..intervals import Estimate
from ..result import Result
from ..seeds import generator, settle
from .complexity import complexity
from .text import as_vectors

LEAST_ROWS = 10


@dataclass(frozen=True)
class BalancedComplexity(Result, chart="data.balanced_complexity:balanced_complexity_chart"):
    """The result of `balanced_complexity`.

    `by_class` has, for each class, its rows, its complexity in all rows (`plain`) and in samples with equally many rows
    of each class (`balanced`), with the range of the middle 95 % of the samples, and the recall in both. `accuracy` is
    that of the nearest class in the samples.
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
            f"{self.accuracy.value:.3f} [{self.accuracy.low:.3f}, {self.accuracy.high:.3f}] of the rows, and in "
            f"{self.plain_accuracy.value:.3f} of all rows as they are. The class {most['class']} changes most: "
            f"complexity {most['plain']:.3g} as it is, {most['balanced']:.3g} balanced.{left}"
        )


def balanced_complexity(
    X: Any,
    y: ArrayLike,
    *,
    repeats: int = 20,
    rows_per_class: int | None = None,
    distance: str = "auto",
    random_state: int | np.random.Generator | None = 0,
) -> BalancedComplexity:
    """Measure the complexity of each class under equal class sizes: repeated samples of as many rows from each.

    The distance and temperature are chosen once, on all rows, so that figures can be compared. Complexity is
    cross-fitted in each sample; its range is over samples, which share rows.

    0: easy, log 2 and above: nearer to another class. A class that is hard only in the balanced samples is helped by
    its size; one that is hard only as it is suffers from few rows in comparison. Samples are smaller than the data, so
    both geometries are less precise.

    Parameters
    ----------
    X, y : rows and labels, as in `complexity`
    repeats : number of samples
    rows_per_class : rows of each class in a sample; default those of the smallest class with at least 10
    distance : as in `complexity`
    random_state : seed of folds and samples

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> keep = np.r_[0:50, 50:65, 100:150]
    >>> balanced_complexity(X[keep], y[keep], repeats=3, distance="euclidean").rows_per_class
    15

    """
    expect.whole(repeats, "repeats", at_least=2)
    if rows_per_class is not None:
        expect.whole(rows_per_class, "rows_per_class", at_least=5)
    rows = as_vectors(X)[0]
    table = matrix(rows)
    labels = class_labels(y, "y", table.shape[0])
    seed = settle(random_state)
    whole = complexity(rows, labels, distance=distance, random_state=seed)
    classes = whole.classes
    codes = encode(labels, classes)
    counts = np.bincount(codes, minlength=classes.size)
    enough = counts >= (LEAST_ROWS if rows_per_class is None else rows_per_class)
    at_least_two(classes[enough])
    size = int(counts[enough].min()) if rows_per_class is None else rows_per_class
    lines, accuracies = [], []
    for number in range(repeats):
        random = generator(seed, "balanced", number)
        chosen = np.sort(
            np.concatenate(
                [random.permutation(np.flatnonzero(codes == code))[:size] for code in np.flatnonzero(enough)]
            )
        )
        sample = complexity(
            take(rows, chosen),
            labels[chosen],
            distance=whole.distance,
            covariance=whole.covariance,
            temperature=whole.temperature,
            random_state=seed,
        )
        lines.append(sample.by_class[["complexity", "recall"]].to_numpy(dtype=float))
        accuracies.append(sample.baseline_accuracy.value)
    values = np.stack(lines)
    low, high = np.quantile(values[:, :, 0], [0.025, 0.975], axis=0)
    plain = whole.by_class[enough]
    table_by_class = pd.DataFrame(
        {
            "class": classes[enough],
            "rows": counts[enough],
            "plain": plain["complexity"].to_numpy(),
            "balanced": values[:, :, 0].mean(axis=0),
            "low": low,
            "high": high,
            "plain_recall": plain["recall"].to_numpy(),
            "balanced_recall": values[:, :, 1].mean(axis=0),
        }
    )
    ends = np.quantile(accuracies, [0.025, 0.975])
    return BalancedComplexity(
        by_class=table_by_class,
        accuracy=Estimate(float(np.mean(accuracies)), float(ends[0]), float(ends[1]), 0.95, "over samples"),
        plain_accuracy=whole.baseline_accuracy,
        rows_per_class=size,
        repeats=repeats,
        dropped=tuple(map(str, classes[~enough])),
    )
