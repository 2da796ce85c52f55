"""Worlds of `dependence`: rows of a patient, site, speaker, day or regime; and tables in which rows stand alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from cases import FOUND, NO, OTHER, UNDECIDED, Case
from sklearn import datasets

from classay import dependence

World = Callable[[np.random.Generator], tuple[pd.DataFrame, Any]]
TABLES = ("abalone", "bank_marketing_deposit", "car_evaluation", "letter_recognition", "online_shoppers_intention")
"""Tables of independent rows; the last column is the label."""


def named(values: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(values, columns=[f"m{place}" for place in range(values.shape[1])])


def drawn(score: Any, rng: np.random.Generator) -> np.ndarray:
    score = np.asarray(score, dtype=float)
    return (rng.random(score.size) < 1 / (1 + np.exp(-score))).astype(int)


def grouped(
    rng: np.random.Generator, group: np.ndarray, spread: float = 0.4, usual: float = 2.5
) -> tuple[pd.DataFrame, Any]:
    """Each group has its own measurements (variance 1, rows vary by `spread`) and its own usual label."""
    number = int(group.max()) + 1
    X = rng.normal(size=(number, 8))[group] + spread * rng.normal(size=(group.size, 8))
    own = usual * rng.choice([-1, 1], number)
    # Not all groups alike, however few.
    own[:2] = -usual, usual
    X[:, 0] = rng.normal(size=group.size)
    return named(X), drawn(1.2 * X[:, 0] + own[group], rng)


def patients(rng: np.random.Generator, known: bool) -> tuple[pd.DataFrame, Any]:
    number = int(rng.integers(40, 120))
    group = rng.permutation(np.repeat(np.arange(number), rng.integers(4, 16, number)))
    X, y = grouped(rng, group, 0.3)
    return (X.assign(Id=rng.permutation(9000)[group]) if known else X), y


def sites(rng: np.random.Generator, name: str, least: int, most: int) -> tuple[pd.DataFrame, Any]:
    """Few groups that overlap more, with names."""
    number = int(rng.integers(least, most + 1))
    group = rng.choice(number, int(rng.integers(400, 1500)), p=rng.dirichlet(np.full(number, 10.0)))
    X, y = grouped(rng, np.unique(group, return_inverse=True)[1], 0.6)
    return X.assign(**{name: [f"{name} {place}" for place in group]}), y


def speakers(rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """As mlbench's Vowel: 15 speakers say each of 11 vowels six times."""
    speaker, vowel = (part.ravel() for part in np.meshgrid(np.arange(15), np.repeat(np.arange(11), 6)))
    own, sound = rng.normal(size=(15, 11, 9)), rng.normal(size=(11, 9))
    X = sound[vowel] + 0.8 * own[speaker, vowel] + 0.4 * rng.normal(size=(speaker.size, 9))
    return named(X).assign(speaker=speaker), vowel


def days(rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    group = np.sort(rng.integers(60, size=900))
    X, y = grouped(rng, np.unique(group, return_inverse=True)[1])
    time = (
        pd.Timestamp("2024-01-01") + pd.to_timedelta(group, "D") + pd.to_timedelta(rng.integers(86400, size=900), "s")
    )
    order = rng.permutation(900)
    return X.assign(taken=time.strftime("%Y-%m-%d %H:%M:%S")).iloc[order].reset_index(drop=True), y[order]


def regimes(rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """States that hold for 50 to 150 rows, with their own measurements and usual label."""
    group = np.repeat(np.arange(60), rng.integers(50, 150, 60))[:1500]
    return grouped(rng, group, 0.6)


def twins(rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """Two rows of each of 400 people, in any order, and a column that honestly predicts much of the label."""
    person = rng.permutation(np.repeat(np.arange(400), 2))
    X = rng.normal(size=(400, 8))[person] + 0.1 * rng.normal(size=(800, 8))
    honest = rng.normal(size=800)
    y = (1.5 * honest + 2.0 * rng.normal(size=400)[person] > 0).astype(int)
    return named(X).assign(honest=honest, code=[f"p{place}" for place in rng.permutation(400)[person]]), y


def plain(rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    X = rng.normal(size=(int(rng.integers(300, 2000)), 8))
    return named(X), drawn(1.5 * X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3], rng)


def mixed(rng: np.random.Generator, rows: int = 0) -> tuple[pd.DataFrame, Any]:
    """Numbers and four categories with 3 to 12 values, which predict the label."""
    n = rows or int(rng.integers(300, 2000))
    X, score = named(rng.normal(size=(n, 5))), np.zeros(n)
    score += 1.2 * X["m0"] - 0.8 * X["m1"]
    for name, number in zip(("job", "region", "plan", "channel"), rng.integers(3, 13, 4)):
        value = rng.choice(number, n, p=rng.dirichlet(np.full(number, 5.0)))
        score += rng.normal(size=number)[value]
        X[name] = [f"{name[0]}{place}" for place in value]
    return X.assign(age=rng.integers(18, 80, n)), drawn(score, rng)


def correlated(rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """Categories that go with the numbers (rooms with the area, a district with its prices), and smooth labels."""
    n = int(rng.integers(500, 1500))
    area, price = rng.normal(size=n), rng.normal(size=n)
    X = named(rng.normal(size=(n, 4))).assign(area=area, price=price)
    X["rooms"] = np.clip(np.round(3 + 1.2 * area + 0.5 * rng.normal(size=n)), 1, 6).astype(int)
    X["district"] = [f"d{int(place)}" for place in np.clip(np.floor(2.5 + 1.2 * price + rng.normal(size=n)), 0, 5)]
    return X, drawn(1.5 * area + 1.2 * price - X["m0"], rng)


def sorted_file(rng: np.random.Generator, by: str | None) -> tuple[pd.DataFrame, Any]:
    X, y = plain(rng) if by is None else mixed(rng)
    order = np.argsort(y if by is None else X[by].to_numpy(), kind="stable")
    return X.iloc[order].reset_index(drop=True), y[order]


def random_id(rng: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    X, y = plain(rng)
    return X.assign(customer=rng.integers(len(X) // 5, size=len(X))), y


def known(rng: np.random.Generator, load: Callable[..., Any], most: int = 900) -> tuple[pd.DataFrame, Any]:
    X, y = load(return_X_y=True)
    rows = rng.permutation(len(X))[:most]
    return named(X[rows]), y[rows]


def table(rng: np.random.Generator, path: Path) -> tuple[pd.DataFrame, Any]:
    """1,500 rows in any order, without classes that have fewer than 30 of them."""
    frame = pd.read_csv(path)
    label = str(frame.columns[-1])
    frame = frame.iloc[rng.permutation(len(frame))[:1500]]
    frame = frame[frame.groupby(label)[label].transform("size") >= 30].reset_index(drop=True)
    return frame.drop(columns=label), frame[label].to_numpy()


def answer(make: World, planted: str | None, number: int, seed: int) -> str:
    X, y = make(np.random.default_rng([71, number, seed]))
    result = dependence(X, y, random_state=seed)
    if result.found:
        return FOUND if planted is None or planted in {tie.name for tie in result.found} else OTHER
    return UNDECIDED if result.verdict == UNDECIDED else NO


def cases(data: Path | None) -> list[Case]:
    planted: list[tuple[str, str, World]] = [
        ("patients with an id", "Id", partial(patients, known=True)),
        ("patients without an id", "near rows", partial(patients, known=False)),
        ("3 to 8 sites", "site", partial(sites, name="site", least=3, most=8)),
        ("15 speakers, 11 vowels", "speaker", speakers),
        ("days of a time", "taken", days),
        ("regimes in file order", "file order", regimes),
        ("two rows a person, an honest column", "code", twins),
        ("two machines", "machine", partial(sites, name="machine", least=2, most=2)),
    ]
    clean: list[tuple[str, World]] = [
        ("plain", plain),
        ("mixed, honest categories", mixed),
        ("categories that go with numbers", correlated),
        ("sorted by class", partial(sorted_file, by=None)),
        ("sorted by an honest column", partial(sorted_file, by="region")),
        ("a random id", random_id),
        ("breast cancer", partial(known, load=datasets.load_breast_cancer)),
        ("wine", partial(known, load=datasets.load_wine)),
        ("digits", partial(known, load=datasets.load_digits)),
    ]
    if data is not None:
        clean += [(name, partial(table, path=data / "tabular" / f"{name}.csv.gz")) for name in TABLES]
    worlds = [*planted, *((name, None, make) for name, make in clean)]
    return [
        Case(name, what is not None, partial(answer, make, what, number))
        for number, (name, what, make) in enumerate(worlds)
    ]
