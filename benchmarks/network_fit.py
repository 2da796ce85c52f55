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
LEAST_GAIN = 0.01
MOST_FIGURES = 6
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
    rows, goal, group = table[list(figures)].to_numpy(), logit(table["test"]), groups(table)
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
    penalty = np.diag([1e-9, *[shrink] * len(figures)])
    solved = np.linalg.solve(left.T @ left + penalty, left.T @ right)
    return Linear(tuple(figures), float(solved[0]), centre, scale, solved[1:])


def left_out(table: pd.DataFrame, figures: Sequence[str], by: str = "data") -> np.ndarray:
    """Logits of each network by a fit without its data set (or architecture)."""
    found = np.full(len(table), np.nan)
    for value in table[by].unique():
        own = (table[by] == value).to_numpy()
        found[own] = fit(table[~own], figures).logits(table[own])
    return found


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    if len(one) < 3:
        return float("nan")
    a, b = rankdata(one), rankdata(other)
    a, b = a - a.mean(), b - b.mean()
    scale = np.sqrt((a**2).sum() * (b**2).sum())
    return float((a * b).sum() / scale) if scale else float("nan")


def by_group(table: pd.DataFrame, values: np.ndarray, keys: Sequence[str], least: int = 4) -> np.ndarray:
    """Rank correlation of values with accuracy in every group of at least so many networks."""
    frame = table[list(keys)].assign(value=values, test=table["test"]).dropna()
    return np.array(
        [
            spearman(each["value"].to_numpy(), each["test"].to_numpy())
            for _, each in frame.groupby(list(keys))
            if len(each) >= least and each["test"].nunique() > 1
        ]
    )


def merit(table: pd.DataFrame, values: np.ndarray) -> float:
    """Mean rank correlation within data set and architecture, plus that within data set across architectures."""
    within, across = by_group(table, values, ["data", "architecture"]), by_group(table, values, ["data"])
    return float(np.nanmean(within) + np.nanmean(across))


def choose(table: pd.DataFrame, candidates: Sequence[str]) -> list[str]:
    """Figures by forward selection, judged on data sets and on architectures left out."""
    chosen: list[str] = []
    best = -np.inf
    while len(chosen) < MOST_FIGURES:
        tried = []
        for name in candidates:
            if name not in chosen:
                names = [*chosen, name]
                worth = merit(table, left_out(table, names)) + 0.5 * merit(
                    table, left_out(table, names, "architecture")
                )
                tried.append((worth, name))
        worth, name = max(tried)
        if worth < best + LEAST_GAIN:
            break
        best = worth
        chosen.append(name)
    return chosen


def nested(table: pd.DataFrame, candidates: Sequence[str], by: str = "data") -> tuple[np.ndarray, dict[str, list[str]]]:
    """Logits where the choice of figures, too, was made without the data set (or architecture)."""
    found, chosen = np.full(len(table), np.nan), {}
    for value in table[by].unique():
        own = (table[by] == value).to_numpy()
        rest = table[~own]
        chosen[str(value)] = choose(rest, candidates)
        found[own] = fit(rest, chosen[str(value)]).logits(table[own])
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
