"""Worlds for `unlike_known`: rows of another kind among new rows, and new rows of the same kind.

A planted kind counts as found if the verdict is `found` and at least half of its rows are flagged at a rate of 5 %.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cases import FOUND, NO, OTHER, UNDECIDED, Case
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

import classay

World = tuple[Any, Any, Any, Any]
"""Known rows, their labels, new rows, and which of these are of another kind."""


def answer(known: Any, y: Any, new: Any, other: Any, groups: Any = None, distance: str = "auto", seed: int = 0) -> str:
    result = classay.complexity(known, y, distance, groups=groups, random_state=seed).unlike_known(new)
    if not hasattr(result, "verdict"):  # before it had the form of the other checks
        return UNDECIDED if np.isnan(result.p_value) else FOUND if result.p_value < 0.01 else NO
    if result.verdict == FOUND and other.any():
        return FOUND if np.isin(np.flatnonzero(other), result.flagged).mean() >= 0.5 else OTHER
    return result.verdict


def split(load: Callable[..., Any], known: float, rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    X, y = load(return_X_y=True)
    order = rng.permutation(y.size)
    first, rest = order[: int(known * y.size)], order[int(known * y.size) :]
    return X[first], y[first], X[rest], y[rest]


def permuted(rng: np.random.Generator, share: float = 1.0) -> World:
    known, y, new, _ = split(load_digits, 0.7, rng)
    other = np.arange(len(new)) < share * len(new)
    return known, y, np.where(other[:, None], rng.permuted(new, axis=1), new), other


def left_out(rng: np.random.Generator) -> World:
    known, y, new, label = split(load_digits, 0.7, rng)
    missing = rng.integers(10)
    return known[y != missing], y[y != missing], new, label == missing


def uniform(load: Callable[..., Any], share: float, rng: np.random.Generator) -> World:
    known, y, new, _ = split(load, 0.7, rng)
    other = np.arange(len(new)) < share * len(new)
    noise = rng.uniform(known.min(axis=0), known.max(axis=0), new.shape)
    return known, y, np.where(other[:, None], noise, new), other


def columns_apart(rng: np.random.Generator) -> World:
    known, y, new, _ = split(load_breast_cancer, 0.7, rng)
    return known, y, rng.permuted(new, axis=0), np.ones(len(new), dtype=bool)


def between(rng: np.random.Generator) -> World:
    """Classes are rings around 0, and new rows are in the middle of them."""
    y = rng.integers(0, 2, 600)
    angle = rng.uniform(0, 2 * np.pi, 600)
    known = (3 + 2 * y)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * rng.normal(size=(600, 2))
    return known[:400], y[:400], np.vstack([known[400:], 0.3 * rng.normal(size=(40, 2))]), np.arange(240) >= 200


def same(load: Callable[..., Any], rng: np.random.Generator) -> World:
    known, y, new, _ = split(load, 0.7, rng)
    return known, y, new, np.zeros(len(new), dtype=bool)


def clouds(rows: int, columns: int, rng: np.random.Generator) -> World:
    y = rng.integers(0, 3, rows + 300)
    X = rng.standard_t(4, size=(y.size, columns)) + 2 * rng.normal(size=(3, columns))[y]
    return X[:rows], y[:rows], X[rows:], np.zeros(300, dtype=bool)


def in_groups(groups: int, far: float, seed: int) -> str:
    """Rows of patients, 8 of each; the new rows are of 30 other patients, who may be far away."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(groups + 30), 8)
    y = rng.integers(0, 2, patient.size)
    X = rng.normal(size=(groups + 30, 5))[patient] + 0.5 * rng.normal(size=(patient.size, 5)) + 2 * y[:, None]
    known, new = patient < groups, X[patient >= groups] + far
    return answer(X[known], y[known], new, np.full(len(new), far > 0), patient[known], seed=seed)


def cases(data: Path | None) -> list[Case]:
    """The worlds; none needs a data folder."""

    def case(world: str, planted: bool, made: Callable[[np.random.Generator], World], distance: str = "auto") -> Case:
        return Case(
            world, planted, lambda seed: answer(*made(np.random.default_rng(seed)), distance=distance, seed=seed)
        )

    return [
        case("digits, pixels of each row permuted", True, permuted),
        case("the same, Euclidean distance", True, permuted, "euclidean"),
        case("digits, 20 % of the rows permuted", True, lambda rng: permuted(rng, 0.2)),
        case("digits, a class left out (10 % of the new rows)", True, left_out),
        case("the same, Euclidean distance", True, left_out, "euclidean"),
        case("digits, uniform noise", True, lambda rng: uniform(load_digits, 1.0, rng)),
        case("breast cancer, 20 % uniform noise", True, lambda rng: uniform(load_breast_cancer, 0.2, rng)),
        case("wine, uniform noise", True, lambda rng: uniform(load_wine, 1.0, rng)),
        case("breast cancer, each column permuted", True, columns_apart),
        case("rings, 17 % of the rows in the middle", True, between),
        Case("300 patients, new ones 6 away", True, lambda seed: in_groups(300, 6.0, seed)),
        Case("100 patients, new ones 6 away", True, lambda seed: in_groups(100, 6.0, seed)),
        case("digits, held out", False, lambda rng: same(load_digits, rng)),
        case("the same, Euclidean distance", False, lambda rng: same(load_digits, rng), "euclidean"),
        case("breast cancer, held out", False, lambda rng: same(load_breast_cancer, rng)),
        case("wine, held out", False, lambda rng: same(load_wine, rng)),
        case("clouds, 100 rows, 5 columns", False, lambda rng: clouds(100, 5, rng)),
        case("clouds, 600 rows, 30 columns", False, lambda rng: clouds(600, 30, rng)),
        Case("300 patients, new ones alike", False, lambda seed: in_groups(300, 0.0, seed)),
        Case("30 patients, new ones alike", False, lambda seed: in_groups(30, 0.0, seed)),
    ]
