"""`compare_embeddings`: which of two representations of the same rows separates these labels better?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import expect
from ..arrays import Floats, Ints
from ..intervals import Estimate, around, by_group, crossed_standard_error, of_mean, within_limits
from ..result import Result
from ..seeds import generator, settle
from .complexity import Complexity, complexity, measured_rows
from .cross_fit import RowComplexities, detail_needed
from .distance_choice import choose_distance
from .paired_accuracy import paired_accuracy

BLOCKS = 20
"""Parts of the rows that are left out in turn."""


@dataclass(frozen=True)
class EmbeddingComparison(Result, chart="data.compare_embeddings:embedding_comparison_chart"):
    """The result of `compare_embeddings`: both complexities, and the second minus the first, paired by row.

    `complexity_difference` below 0 and `accuracy_difference` above 0 favour the second.
    """

    names: tuple[str, str]
    accuracy: tuple[Estimate, Estimate]
    mean_complexity: tuple[float, float]
    accuracy_difference: Estimate
    complexity_difference: Estimate
    distances: tuple[str, str]

    @property
    def better(self) -> str:
        """The name of the one with the lower complexity; empty if the interval includes 0."""
        gap = self.complexity_difference
        return self.names[1] if gap.high < 0 else self.names[0] if gap.low > 0 else ""

    def to_frame(self) -> pd.DataFrame:
        """One line per representation: mean complexity as `value`, accuracy of the nearest class, distance used."""
        return pd.DataFrame(
            {
                "embedding": self.names,
                "value": self.mean_complexity,
                "accuracy": [each.value for each in self.accuracy],
                "distance": self.distances,
            }
        )

    def __str__(self) -> str:
        first, second = self.names
        verdict = f"{self.better} separates these labels better" if self.better else "Neither is shown to be better"
        return (
            f"{verdict}: mean complexity {self.mean_complexity[0]:.3f} with {first} and {self.mean_complexity[1]:.3f} "
            f"with {second}, difference {self.complexity_difference:.3f}; the nearest class is right in "
            f"{self.accuracy[0].value:.3f} and {self.accuracy[1].value:.3f}, difference {self.accuracy_difference:.3f}."
        )


def compare_embeddings(
    first: Any,
    second: Any,
    y: ArrayLike,
    *,
    names: tuple[str, str] = ("first", "second"),
    distance: str = "auto",
    cross_fit: int = 5,
    random_state: int | np.random.Generator | None = 0,
    level: float = 0.95,
    groups: Any = None,
) -> EmbeddingComparison:
    """Compare two representations of the same rows, such as two text embeddings: which one separates the labels better?

    Each gets its own distance and temperature, and is measured in the same folds. Mean complexity is then a
    cross-entropy, which can be compared; differences are paired by row, with intervals over rows, or over groups.
    Geometry and temperature come from the same rows, so both are fitted anew without each of 20 blocks of rows
    (jackknife), and the wider interval counts. The distances are taken as given.

    Below 0: the second is better. It says how well simple geometry separates the classes; a trained model may use an
    embedding in other ways.

    Parameters
    ----------
    first, second : rows of numbers, one row each per label; columns may differ
    y : their labels
    names : what to call them
    distance, cross_fit, random_state, level, groups : as in `complexity`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> compare_embeddings(X[:, :2], X[:, 2:], y, names=("sepal", "petal")).better
    'petal'

    """
    if len(names) != 2 or names[0] == names[1]:
        raise expect.InputError(f"`names` is {names!r}; expected two different names.")
    expect.whole(cross_fit, "cross_fit", at_least=2, why="Rows must not count in their own geometry.")
    results: list[Complexity] = []
    for rows, name in ((first, "first"), (second, "second")):
        if np.shape(rows)[0] != np.shape(y)[0]:
            raise expect.InputError(f"`{name}` has {np.shape(rows)[0]} rows but y has {np.shape(y)[0]} labels.")
        results.append(
            complexity(
                rows,
                y,
                distance=distance,
                cross_fit=cross_fit,
                random_state=random_state,
                level=level,
                groups=groups,
            )
        )
    one, other = results
    right = [each.predicted == each.labels for each in results]
    known = one.known & other.known
    row_groups = one.evidence.row_groups
    accuracy = paired_accuracy(right[1], right[0], row_groups, level).difference
    gap = _paired((other.values - one.values)[known], None if row_groups is None else row_groups[known], level)
    spread = _jackknife(one, other, settle(random_state))
    return EmbeddingComparison(
        names=(str(names[0]), str(names[1])),
        accuracy=(one.baseline_accuracy, other.baseline_accuracy),
        mean_complexity=(float(one.values[known].mean()), float(other.values[known].mean())),
        accuracy_difference=within_limits(_wider(accuracy, spread[:, 0]), -1.0, 1.0),
        complexity_difference=_wider(gap, spread[:, 1]),
        distances=(one.distance, other.distance),
    )


def _jackknife(one: Complexity, other: Complexity, seed: int) -> Floats:
    """The two differences, without each block of rows (or groups) in turn: geometry and temperature are fitted anew."""
    evidence = one.evidence
    units = np.arange(len(one)) if evidence.row_groups is None else evidence.row_groups
    codes = np.unique(units, return_inverse=True)[1]
    number = int(codes.max()) + 1
    order = generator(seed, "blocks").permutation(number)
    blocks = min(BLOCKS, number)
    block = (order * blocks // number)[codes]
    made = []
    for place in range(blocks):
        kept = np.flatnonzero(block != place)
        (first, at_first), (second, at_second) = (_without(each, kept, seed) for each in (one, other))
        known = first.known & second.known
        accuracy = (second.predicted == at_second).mean() - (first.predicted == at_first).mean()
        made.append((float(accuracy), float((second.values - first.values)[known].mean())))
    return np.array(made)


def _without(result: Complexity, kept: Ints, seed: int) -> tuple[RowComplexities, Ints]:
    """The rows that are kept, measured in the same folds by the same distance, without the others; and their codes."""
    part = result.evidence.only(kept, detail_needed((result.distance,), result.covariance))
    choice = choose_distance(part, result.distance, result.covariance, None, kept.size, seed)
    return measured_rows(part, choice)[0], part.codes


def _wider(given: Estimate, without: Floats) -> Estimate:
    """The interval for these geometries, or that of the jackknife, whichever extends further to each side."""
    blocks = without.size
    error = math.sqrt((blocks - 1) / blocks * float(((without - without.mean()) ** 2).sum()))
    over = around(given.value, error, given.level, given.kind, blocks)
    return replace(given, low=min(given.low, over.low), high=max(given.high, over.high))


def _paired(differences: Any, groups: Any, level: float) -> Estimate:
    if groups is None:
        return of_mean(differences, level, "over rows, paired")
    table = by_group(np.asarray(differences)[None, :], groups)
    error = crossed_standard_error(table)
    return around(float(np.mean(differences)), error, level, "over groups, paired", table.shape[1])
