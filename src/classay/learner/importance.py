"""`importance`: which columns a learner relies on, and whether that changes when it is retrained."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from .. import expect, seeds
from ..arrays import Floats, Ints
from ..engine.progress import Progress
from ..estimators.fit import Fitted, guard, turn
from ..estimators.scores import fit_scorer
from ..estimators.trial import ready
from ..expect import InputError
from ..frames import pandas_of
from ..inputs import at_least_two, encode, names_of_columns
from ..inputs import labels as labels_of
from ..intervals import ROUNDING, Estimate, bounded
from ..result import Result
from ..splits import per_row, split_rows

TEST_SIZE, MOST_POINTS = 0.3, 500
LEAST_ROWS = 40
FIRST = 3
"""The leading columns, which are compared between refits."""
MOST_DRAWN = 15


@dataclass(frozen=True)
class Importance(Result, unit="rise of the Brier score if the column is shuffled"):
    """Result of `importance`: `per_refit[r, j]` is how much worse refit r predicts when column j is shuffled.

    `columns` are the names, in the order of the table. `overlap` is the share of the leading columns that two refits
    have in common, with its interval over refits; `first` is the number of leading columns, and `chance` what random
    orders would share.
    """

    columns: tuple[str, ...]
    per_refit: Floats
    overlap: Estimate
    first: int
    learner: str
    n_points: int
    seed: int

    @property
    def chance(self) -> float:
        """The overlap of random orders."""
        return self.first / len(self.columns)

    @property
    def ranks(self) -> Ints:
        """The rank of each column in each refit; 1 is the most important."""
        return np.asarray(stats.rankdata(-self.per_refit, "ordinal", axis=1))

    def summary(self) -> dict[str, Estimate]:
        """The leading columns: mean, lowest and highest over refits."""
        leading = self.per_refit.mean(axis=0).argsort(kind="stable")[::-1][:MOST_DRAWN]
        return {
            self.columns[place]: Estimate(
                float(rises.mean()), float(rises.min()), float(rises.max()), kind="lowest and highest of these refits"
            )
            for place, rises in zip(leading, self.per_refit.T[leading])
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per column, most important first: column, value (mean), sd over refits, lowest and highest rank."""
        ranks = self.ranks
        table = pd.DataFrame(
            {
                "column": self.columns,
                "value": self.per_refit.mean(axis=0),
                "sd": self.per_refit.std(axis=0, ddof=1),
                "best_rank": ranks.min(axis=0),
                "worst_rank": ranks.max(axis=0),
            }
        )
        return table.sort_values("value", ascending=False, kind="stable").reset_index(drop=True)

    def __str__(self) -> str:
        first = self.to_frame().head(self.first)
        named = ", ".join(
            f"{name} (rank {best} to {worst})"
            for name, best, worst in first[["column", "best_rank", "worst_rank"]].to_numpy().tolist()
        )
        return (
            f"{self.learner} relies most on {named}. Two of {len(self.per_refit)} refits share "
            f"{self.overlap.value:.0%} of their {self.first} leading columns; random orders would share "
            f"{self.chance:.0%}."
        )


def importance(
    learner: Any,
    X: Any,
    y: ArrayLike,
    *,
    refits: int = 6,
    repeats: int = 3,
    groups: Any = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool = False,
) -> Importance:
    """Say which columns a learner relies on, and whether that changes when it is retrained.

    The learner is refitted on random halves of 70 % of the rows. Each refit predicts the same test rows, as they are
    and with one column shuffled, the same way for every refit. Importance = Brier score with the column shuffled −
    Brier score (of probabilities, or of labels where there are none), the mean over `repeats` shuffles. 0: it does
    not use the column; higher: it relies on it more. Since test rows and shuffles are the same, refits differ by
    their training rows alone.

    It misleads if columns carry the same information: each of them then looks unimportant, as the others fill in, and
    which one a refit uses is chance. That is what a low `overlap` shows. Importance is about this learner, not about
    the world.

    Parameters
    ----------
    learner : an unfitted classifier
    X, y : rows and labels
    refits : number of refits, each on half of the training part
    repeats : shuffles of each column
    groups : a value per row, such as a patient; rows of a group are never on both sides of the split
    random_state : seed of splits, shuffles and fits
    progress : show a progress bar on stderr

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.normal(size=(400, 5)), columns=list("abcde"))
    >>> y = (3 * X["a"] + 2 * X["b"] + X["c"] + rng.normal(size=400) > 0).to_numpy()
    >>> importance(LogisticRegression(), X, y).to_frame()["column"].head(3).tolist()
    ['a', 'b', 'c']

    """
    expect.whole(refits, "refits", at_least=2)
    expect.whole(repeats, "repeats", at_least=1)
    seed = seeds.settle(random_state)
    table = pandas_of(X)
    if not isinstance(table, pd.DataFrame):
        values = np.asarray(table)
        if values.ndim != 2:
            raise InputError(f"`X` has shape {values.shape}; expected a table of (rows, columns).")
        table = pd.DataFrame(values, columns=list(names_of_columns(values, values.shape[1])))
    table = table.rename(columns=str).reset_index(drop=True)
    values = labels_of(y, "y", len(table))
    if len(table) < LEAST_ROWS or table.shape[1] < 2:
        raise InputError(f"`X` has shape {table.shape}; at least {LEAST_ROWS} rows and 2 columns are needed.")
    classes = np.unique(values)
    at_least_two(classes)
    codes = encode(values, classes)
    train, test = split_rows(codes, TEST_SIZE, seed, per_row(groups, rows=len(table)))
    generator = seeds.generator(seed, "importance")
    test = np.sort(generator.permutation(test)[:MOST_POINTS])
    usable = ready(learner, table, values, seed).learner
    shuffles = [generator.permutation(test.size) for _ in range(repeats)]
    made = []
    with Progress(refits, "importance of columns", progress) as bar:
        halves: list[Ints] = []
        for refit in range(refits):
            if not halves:
                order = generator.permutation(train)
                halves = [np.sort(order[: train.size // 2]), np.sort(order[train.size // 2 :])]
            rows = halves.pop()
            fitted = fit_scorer(usable, table.iloc[rows], values[rows], seed, refit)
            made.append(_importances(fitted, table.iloc[test], values[test], shuffles))
            bar.advance()
    per_refit = np.array(made)
    first = min(FIRST, max(table.shape[1] // 2, 1))
    name = type(learner).__name__
    return Importance(tuple(table.columns), per_refit, _overlap(per_refit, first), first, name, test.size, seed)


def _importances(fitted: Fitted, points: pd.DataFrame, truth: Any, shuffles: list[Ints]) -> list[float]:
    """By how much the Brier score rises when each column is shuffled."""
    usual = _brier(fitted, points, truth)
    made = []
    for name in points.columns:
        worse = []
        for order in shuffles:
            changed = points.copy()
            changed[name] = points[name].iloc[order].set_axis(points.index)
            worse.append(_brier(fitted, changed, truth) - usual)
        made.append(float(np.mean(worse)))
    return made


def _brier(fitted: Fitted, points: pd.DataFrame, truth: Any) -> float:
    """Mean squared error of the probabilities, or of the labels where there are none."""
    is_class = np.asarray(truth)[:, None] == fitted.classes[None, :]
    classifier = fitted.estimator
    with turn, guard():
        if hasattr(classifier, "predict_proba"):
            probabilities = np.asarray(classifier.predict_proba(points), dtype=float)
        else:
            probabilities = (np.asarray(fitted.predict(points))[:, None] == fitted.classes[None, :]).astype(float)
    return float(((probabilities - is_class) ** 2).sum(axis=1).mean())


def _overlap(per_refit: Floats, first: int) -> Estimate:
    """Share of the leading columns that two refits have in common; disjoint pairs of refits are independent enough."""
    leading = np.zeros(per_refit.shape, dtype=int)
    np.put_along_axis(leading, np.argsort(-per_refit, axis=1, kind="stable")[:, :first], 1, axis=1)
    shared = leading @ leading.T / first
    refits = len(shared)
    value = float(shared[np.triu_indices(refits, 1)].mean())
    if refits < 3:
        return Estimate(value, 0.0, 1.0, kind="over refits")
    # Each refit's mean overlap with the others; their spread, doubled as every pair is in two of them.
    means = (shared.sum(axis=1) - 1) / (refits - 1)
    error = 2 * float(means.std(ddof=1)) / math.sqrt(refits)
    units = refits // 2 if error < ROUNDING else math.inf
    return bounded(value, error, units, kind="over refits", draws=refits)
