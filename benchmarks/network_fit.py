"""Fitting the estimate of accuracy, and trying it on data sets and architectures left out.

logit(accuracy) = intercept + Σ coefficient · (figure − centre) / scale. Networks that share a data set and an
architecture are a group. Differences within a group tell what training did, those between groups mostly how hard the
data set is, which no figure of the weights can know; so errors within groups count in full and errors of a group's mean
with the weight BETWEEN. Figures are chosen one by one while the rank correlation on data sets left out grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import rankdata

BETWEEN, SHRINK = 0.1, 0.3
LEAST_GAIN = 0.02
MOST_FIGURES = 4
EDGE = 0.005
"""Accuracies are kept so far from 0 and 1 before the logit."""


@dataclass(frozen=True)
class Linear:
    """A fitted estimate."""

    figures: tuple[str, ...]
    intercept: float
    centre: np.ndarray
    scale: np.ndarray
    coefficient: np.ndarray

    def logits(self, table: pd.DataFrame) -> np.ndarray:
        rows = (table[list(self.figures)].to_numpy() - self.centre) / self.scale
        return self.intercept + rows @ self.coefficient


def logit(accuracy: pd.Series) -> np.ndarray:
    clipped = accuracy.clip(EDGE, 1 - EDGE).to_numpy()
    return np.log(clipped / (1 - clipped))


def accuracy_of(logits: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logits))


def groups(table: pd.DataFrame) -> np.ndarray:
    return pd.factorize(table["data"] + "/" + table["architecture"])[0]


def fit(table: pd.DataFrame, figures: Sequence[str], between: float = BETWEEN, shrink: float = SHRINK) -> Linear:
    """Weighted ridge regression; every group counts alike, however many networks it has."""
    rows = table[list(figures)].to_numpy()
    return Linear(tuple(figures), *solve(rows, logit(table["test"]), groups(table), between, shrink))


def solve(
    rows: np.ndarray, goal: np.ndarray, group: np.ndarray, between: float = BETWEEN, shrink: float = SHRINK
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Intercept, centre, scale and coefficients. `group` may leave out numbers."""
    _, group = np.unique(group, return_inverse=True)
    centre, scale = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    rows = (rows - centre) / scale
    counts = np.bincount(group)
    means = np.stack([np.bincount(group, column) / counts for column in rows.T], axis=1)
    goals = np.bincount(group, goal) / counts
    weight = np.sqrt(1 / counts[group])
    root = np.sqrt(between)
    left = np.vstack(
        [
            np.column_stack([np.zeros(len(rows)), (rows - means[group]) * weight[:, None]]),
            np.column_stack([np.full(len(means), root), means * root]),
        ]
    )
    right = np.concatenate([(goal - goals[group]) * weight, goals * root])
    penalty = np.diag([1e-9, *[shrink] * rows.shape[1]])
    solved = np.linalg.solve(left.T @ left + penalty, left.T @ right)
    return float(solved[0]), centre, scale, solved[1:]


def left_out(
    rows: np.ndarray, goal: np.ndarray, group: np.ndarray, fold: np.ndarray, between: float = BETWEEN
) -> np.ndarray:
    """Logits of each network by a fit without its fold."""
    found = np.full(len(rows), np.nan)
    for one in np.unique(fold):
        own = fold == one
        intercept, centre, scale, coefficient = solve(rows[~own], goal[~own], group[~own], between)
        found[own] = intercept + (rows[own] - centre) / scale @ coefficient
    return found


def rank_units(values: np.ndarray) -> np.ndarray:
    """Ranks, centred and of length one: the product of two is Spearman's correlation. Ties keep their order."""
    ranks = np.empty(len(values))
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    ranks -= ranks.mean()
    return ranks / np.linalg.norm(ranks)


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    if len(one) < 3:
        return float("nan")
    a, b = rankdata(one), rankdata(other)
    a, b = a - a.mean(), b - b.mean()
    scale = np.sqrt((a**2).sum() * (b**2).sum())
    return float((a * b).sum() / scale) if scale else float("nan")


def by_group(table: pd.DataFrame, values: np.ndarray, keys: Sequence[str], least: int = 4) -> np.ndarray:
    """Rank correlation of values with accuracy in every group of at least so many networks."""
    return correlations(values, table["test"].to_numpy(), members(table, keys), least)


def members(table: pd.DataFrame, keys: Sequence[str]) -> list[np.ndarray]:
    """The places of the networks of every group."""
    codes = table.groupby(list(keys)).ngroup().to_numpy()
    return [np.flatnonzero(codes == one) for one in range(codes.max() + 1)] if len(codes) else []


def correlations(values: np.ndarray, test: np.ndarray, groups: list[np.ndarray], least: int = 4) -> np.ndarray:
    found = []
    for group in groups:
        own = group[np.isfinite(values[group])]
        if len(own) >= least and np.ptp(test[own]) > 0:
            found.append(spearman(values[own], test[own]))
    return np.array(found)


def choose(table: pd.DataFrame, candidates: Sequence[str], most: int = MOST_FIGURES, level: bool = False) -> list[str]:
    """Figures by forward selection, judged on data sets left out.

    For orders, what counts is the mean rank correlation within data set and architecture, plus that within data set;
    for the level of accuracy, that over all networks.
    """
    table = table.reset_index(drop=True)
    test = table["test"].to_numpy()
    sets = [
        [each for each in members(table, keys) if len(each) >= 4 and np.ptp(test[each]) > 0]
        for keys in (["data", "architecture"], ["data"])
    ]
    goal, group, fold = logit(table["test"]), groups(table), pd.factorize(table["data"])[0]
    rows = {name: table[name].to_numpy() for name in candidates}

    ranks = [[rank_units(test[each]) for each in places] for places in sets]

    def merit(names: list[str]) -> float:
        values = left_out(np.column_stack([rows[name] for name in names]), goal, group, fold, weight_of(level))
        if level:
            return 2 * spearman(values, test)
        return sum(
            float(np.mean([rank_units(values[at]) @ known for at, known in zip(places, each)]))
            for places, each in zip(sets, ranks)
        )

    chosen: list[str] = []
    best = -np.inf
    while len(chosen) < most:
        tried = [(merit([*chosen, name]), name) for name in candidates if name not in chosen]
        worth, name = max(tried)
        if worth < best + LEAST_GAIN:
            break
        best = worth
        chosen.append(name)
    return chosen


def weight_of(level: bool) -> float:
    """The weight of a group's mean: for orders within groups hardly any."""
    return 1.0 if level else BETWEEN


def nested(
    table: pd.DataFrame, candidates: Sequence[str], by: str = "data", level: bool = False
) -> tuple[np.ndarray, dict[str, list[str]]]:
    """Logits where the choice of figures, too, was made without the data set (or architecture)."""
    found, chosen = np.full(len(table), np.nan), {}
    for value in table[by].unique():
        own = (table[by] == value).to_numpy()
        rest = table[~own]
        chosen[str(value)] = choose(rest, candidates, level=level)
        found[own] = fit(rest, chosen[str(value)], weight_of(level)).logits(table[own])
    return found, chosen


def reach(table: pd.DataFrame, predicted: np.ndarray, level: float) -> tuple[float, float]:
    """How far above and below the estimate the truth lies, at this level: each data set counts alike."""
    errors = table["test"].to_numpy() - predicted
    weight = 1 / table.groupby("data")["test"].transform("size").to_numpy()
    order = np.argsort(errors)
    share = np.cumsum(weight[order]) / weight.sum()
    edge = (1 - level) / 2
    return float(errors[order][np.searchsorted(share, edge)]), float(
        errors[order][min(np.searchsorted(share, 1 - edge), len(order) - 1)]
    )
