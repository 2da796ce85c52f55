"""Worlds for `shift`: a test part that is unlike the training part, or has rows of it, and parts that are alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from cases import FOUND, OTHER, Case
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

import classay

Parts = tuple[Any, Any]


def answer(parts: Parts, seed: int, cause: str | None = None) -> str:
    """cause: the column that differs, "copies" for rows in both parts, "rows" for rows as a whole."""
    result = classay.shift(*parts, random_state=seed)
    if result.verdict != FOUND or cause is None:
        return result.verdict
    seen = {
        "copies": result.contaminated,
        "rows": result.auc.low > 0.5,
    }.get(cause, cause in [each.column for each in result.columns])
    return FOUND if seen else OTHER


def numbers(rng: np.random.Generator, sizes: tuple[int, int], columns: int = 10) -> list[pd.DataFrame]:
    """Correlated columns m0, m1, … of both parts, alike."""
    mix = np.eye(columns) + 0.3 * rng.normal(size=(columns, columns))
    return [pd.DataFrame(rng.normal(size=(n, columns)) @ mix).rename(columns="m{}".format) for n in sizes]


def moved(rng: np.random.Generator, sizes: tuple[int, int]) -> Parts:
    train, test = numbers(rng, sizes)
    return train, test.assign(m3=test["m3"] + 0.5 * train["m3"].std())


def gaps(rng: np.random.Generator, sizes: tuple[int, int], shares: tuple[float, float], columns: list[str]) -> Parts:
    parts = numbers(rng, sizes)
    for part, share in zip(parts, shares):
        for name in columns:
            part.loc[rng.random(len(part)) < share, name] = np.nan
    return parts[0], parts[1]


def correlated(rng: np.random.Generator, sizes: tuple[int, int], strength: float) -> Parts:
    """Two columns are correlated in the test part only; each alone is the same in both."""
    train, test = (pd.DataFrame(rng.normal(size=(n, 6))).rename(columns="m{}".format) for n in sizes)
    return train, test.assign(m1=strength * test["m0"] + np.sqrt(1 - strength**2) * test["m1"])


def kinds(rng: np.random.Generator, sizes: tuple[int, int], moved: float = 0.0) -> Parts:
    """Categories and whole numbers alone, so that many rows are equal."""
    parts = []
    for n, more in zip(sizes, (0.0, moved)):
        shares = np.array([0.4 - more, 0.3 + more, 0.2, 0.1])
        parts.append(
            pd.DataFrame(
                {
                    "job": rng.choice(list("abcd"), n, p=shares),
                    "town": rng.choice([f"t{place}" for place in range(12)], n),
                    "children": rng.poisson(1.0, n),
                    "age": rng.integers(2, 8, n) * 10,
                }
            )
        )
    return parts[0], parts[1]


def rare_kinds(rng: np.random.Generator, sizes: tuple[int, int]) -> Parts:
    """Two categories that the training part does not have, in 2 % of the test rows each."""
    train, test = kinds(rng, sizes)
    drawn = rng.random(len(test))
    return train, test.assign(job=np.where(drawn < 0.02, "new", np.where(drawn < 0.04, "newer", test["job"])))


def copied(rng: np.random.Generator, sizes: tuple[int, int], share: float) -> Parts:
    train, test = numbers(rng, sizes)
    count = round(share * len(test))
    test.iloc[:count] = train.iloc[rng.choice(len(train), count, replace=False)].to_numpy()
    return train, test


def at_random(load: Callable[..., Any], rng: np.random.Generator) -> Parts:
    X = load(as_frame=True).data
    order = rng.permutation(len(X))
    return X.iloc[order[: 2 * len(X) // 3]], X.iloc[order[2 * len(X) // 3 :]]


def files_at_random(path: Path, rng: np.random.Generator) -> Parts:
    X = pd.read_csv(path).iloc[:, :-1]
    order = rng.permutation(len(X))[:1500]
    return X.iloc[order[:1000]], X.iloc[order[1000:]]


def cases(data: Path | None) -> list[Case]:
    """The worlds; with a data folder, also its tables, split at random."""
    small, large = (300, 300), (1000, 500)

    def case(world: str, made: Callable[[np.random.Generator], Parts], cause: str | None = None) -> Case:
        return Case(world, cause is not None, lambda seed: answer(made(np.random.default_rng(seed)), seed, cause))

    planted = [
        case(f"{words}, {sizes[0]} + {sizes[1]} rows", lambda rng, made=made, sizes=sizes: made(rng, sizes), cause)
        for words, made, cause in (
            ("one of 10 columns by half a standard deviation", moved, "m3"),
            ("missing in one column, 5 % to 20 %", lambda rng, n: gaps(rng, n, (0.05, 0.2), ["m3"]), "m3"),
            ("correlation 0 to .9 of two columns", lambda rng, n: correlated(rng, n, 0.9), "rows"),
            ("correlation 0 to .6 of two columns", lambda rng, n: correlated(rng, n, 0.6), "rows"),
            ("shares of a category by .15", lambda rng, n: kinds(rng, n, 0.15), "job"),
            ("two new categories, 2 % of the rows each", rare_kinds, "job"),
            ("copies of training rows, 100 %", lambda rng, n: copied(rng, n, 1.0), "copies"),
            ("copies of training rows, 10 %", lambda rng, n: copied(rng, n, 0.1), "copies"),
            ("copies of training rows, 3 %", lambda rng, n: copied(rng, n, 0.03), "copies"),
        )
        for sizes in (small, large)
    ]
    alike = [
        case("10 columns, 300 + 300 rows", lambda rng: tuple(numbers(rng, small))),
        case("10 columns, 1000 + 500 rows", lambda rng: tuple(numbers(rng, large))),
        case("100 columns, 200 + 100 rows", lambda rng: tuple(numbers(rng, (200, 100), 100))),
        case("missing in three columns, 20 %", lambda rng: gaps(rng, small, (0.2, 0.2), ["m1", "m2", "m3"])),
        case("categories, rows equal by nature, 1000 + 500 rows", lambda rng: kinds(rng, large)),
        case("categories, rows equal by nature, 100 + 1000 rows", lambda rng: kinds(rng, (100, 1000))),
        *(
            case(f"{load.__name__[5:]} at random", lambda rng, load=load: at_random(load, rng))
            for load in (load_iris, load_wine, load_diabetes, load_breast_cancer, load_digits)
        ),
    ]
    if data is not None:
        for path in sorted((data / "tabular").glob("*.csv.gz")):
            name = path.name.removesuffix(".csv.gz")
            alike.append(case(f"{name} at random", lambda rng, path=path: files_at_random(path, rng)))
    return planted + alike
