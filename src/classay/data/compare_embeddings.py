"""`compare_embeddings`: which of two representations of the same rows separates these labels better?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import expect
from ..intervals import Estimate, around, by_group, crossed_standard_error, of_mean
from ..result import Result
from .complexity import Complexity, complexity


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
    return EmbeddingComparison(
        names=(str(names[0]), str(names[1])),
        accuracy=(one.baseline_accuracy, other.baseline_accuracy),
        mean_complexity=(float(one.values[known].mean()), float(other.values[known].mean())),
        accuracy_difference=_paired(right[1].astype(float) - right[0], row_groups, level),
        complexity_difference=_paired(
            (other.values - one.values)[known], None if row_groups is None else row_groups[known], level
        ),
        distances=(one.distance, other.distance),
    )


def _paired(differences: Any, groups: Any, level: float) -> Estimate:
    if groups is None:
        return of_mean(differences, level, "over rows, paired")
    table = by_group(np.asarray(differences)[None, :], groups)
    error = crossed_standard_error(table)
    return around(float(np.mean(differences)), error, level, "over groups, paired", table.shape[1])
