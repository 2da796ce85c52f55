"""Worlds for `leaks`: columns made from the label or recorded after it, and honest tables.

A planted world is *found* if exactly its columns are named as leaks, *undecided* if exactly these are named but some as
suspects only, *other* if an innocent column is named at all, *no* if one of them is missing. In an honest world, what
is named counts as found or undecided.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from cases import FOUND, NO, OTHER, UNDECIDED, Case
from sklearn import datasets

import classay

Numbers = np.ndarray
Table = tuple[pd.DataFrame, Numbers]
Random = np.random.Generator


def drawn(score: Numbers, rng: Random) -> Numbers:
    """Labels 0 and 1 with the probabilities of a logistic model."""
    return (rng.random(len(score)) < 1 / (1 + np.exp(-score))).astype(int)


def framed(values: Numbers) -> pd.DataFrame:
    return pd.DataFrame(values, columns=[f"m{place}" for place in range(values.shape[1])])


# Honest tables.


def linear(rng: Random, n: int = 400) -> Table:
    X = rng.normal(size=(n, 6))
    return framed(X), drawn(1.5 * X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3], rng)


def informative(rng: Random, n: int = 400, columns: int = 13) -> Table:
    """Thirteen columns that are all informative: together they predict most labels."""
    y = rng.integers(2, size=n)
    return framed(rng.normal(size=(n, columns)) + 0.9 * y[:, None] * rng.uniform(0.5, 1.5, columns)), y


def weak(rng: Random) -> Table:
    return informative(rng, columns=25)


def dominant(rng: Random, n: int = 400) -> Table:
    """One measurement whose classes overlap predicts nearly all labels."""
    y = rng.integers(2, size=n)
    X = framed(rng.normal(size=(n, 5)))
    return X.assign(m2=X["m2"] + rng.uniform(2.5, 4.5) * y), y


def threshold(rng: Random, n: int = 400) -> Table:
    """The label is a threshold on one measurement, which is recorded with a small error."""
    X = rng.normal(size=(n, 5))
    return framed(X), (X[:, 2] + rng.uniform(0.1, 0.3) * rng.normal(size=n) > 0.3).astype(int)


def alike(rng: Random, n: int = 400) -> Table:
    """Four strong measurements of the same quantity."""
    hidden = rng.normal(size=n)
    y = (hidden + 0.1 * rng.normal(size=n) > 0).astype(int)
    return framed(np.column_stack([hidden[:, None] + 0.2 * rng.normal(size=(n, 4)), rng.normal(size=(n, 3))])), y


def categories(rng: Random, n: int = 600) -> Table:
    store, job, age = rng.integers(30, size=n), rng.integers(5, size=n), rng.integers(18, 80, n)
    y = drawn(0.06 * (age - 45) + 1.5 * rng.normal(size=30)[store] + rng.normal(size=5)[job], rng)
    X = pd.DataFrame({"age": age, "job": [f"j{code}" for code in job], "store": [f"s{code}" for code in store]})
    return X.assign(paid=np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(0, 1, n))), y


def survey(rng: Random, n: int = 600) -> Table:
    """Categories only: two of them decide most labels by a rule."""
    X = pd.DataFrame({f"q{place}": rng.integers(4, size=n) for place in range(6)})
    y = ((X["q0"] >= 2) & (X["q1"] >= 1)).to_numpy().astype(int)
    return X.apply(lambda answers: answers.map(dict(enumerate("abcd")))), np.where(rng.random(n) < 0.1, 1 - y, y)


def rare(rng: Random, n: int = 1200) -> Table:
    X = rng.normal(size=(n, 6))
    return framed(X), drawn(-4.5 + 1.2 * X[:, 0] + X[:, 1] - 0.7 * X[:, 2], rng)


def several_classes(rng: Random, n: int = 600) -> Table:
    y = rng.integers(6, size=n)
    return framed(1.5 * rng.normal(size=(6, 5))[y] + rng.normal(size=(n, 5))), y


def rated(rng: Random, n: int = 400) -> Table:
    """A rating from 1 to 10 decides most labels, beside four weaker measurements."""
    y = rng.integers(2, size=n)
    rating = np.clip(np.round(4 + rng.uniform(2, 4) * y + rng.normal(size=n)), 1, 10)
    return framed(rng.normal(size=(n, 4)) + 0.8 * y[:, None]).assign(rating=rating), y


def moons(rng: Random, n: int = 400) -> Table:
    """Two measurements decide the label together, the others say nothing."""
    X, y = datasets.make_moons(n, noise=0.2, random_state=int(rng.integers(2**31)))
    return framed(np.column_stack([X, rng.normal(size=(n, 4))])), y


def clusters(rng: Random, n: int = 400) -> Table:
    state = int(rng.integers(2**31))
    X, y = datasets.make_classification(n, 10, n_informative=5, n_classes=3, class_sep=2, random_state=state)
    return framed(X), y


def strong_category(rng: Random, n: int = 400) -> Table:
    """A category decides nearly all labels, beside six good measurements: what a leak looks like, too."""
    y = rng.integers(2, size=n)
    level = np.where(rng.random(n) < 0.96, 4 * y + rng.integers(4, size=n), rng.integers(8, size=n))
    return framed(rng.normal(size=(n, 6)) + 1.2 * y[:, None]).assign(kind=[f"k{code}" for code in level]), y


def sampled(load: Callable[..., Table], most: int, columns: int = 30) -> Callable[[Random], Table]:
    """Some rows and columns of a table that scikit-learn has."""

    def world(rng: Random) -> Table:
        X, y = load(return_X_y=True, as_frame=True)
        rows = rng.choice(len(X), min(most, int(0.9 * len(X))), replace=False)
        kept = np.sort(rng.choice(X.shape[1], min(columns, X.shape[1]), replace=False))
        return X.iloc[rows, kept].reset_index(drop=True), y.to_numpy()[rows]

    return world


HONEST: dict[str, Callable[[Random], Table]] = {
    "linear": linear,
    "25 informative columns": weak,
    "one dominant measurement": dominant,
    "a threshold, measured with error": threshold,
    "four strong measurements": alike,
    "mixed categories": categories,
    "a rule of two categories": survey,
    "a class of 3 %": rare,
    "six classes": several_classes,
    "a rating from 1 to 10": rated,
    "two moons": moons,
    "clusters of three classes": clusters,
    "a category with a skill of .95": strong_category,
    "iris": sampled(datasets.load_iris, 150),
    "wine": sampled(datasets.load_wine, 170),
    "breast cancer": sampled(datasets.load_breast_cancer, 300, 15),
    "digits": sampled(datasets.load_digits, 500, 20),
}


# Columns made from the label: the honest table with them.


def flipped(y: Numbers, share: float, rng: Random) -> Numbers:
    """The labels, some of them changed to another class."""
    size = int(y.max()) + 1
    return np.where(rng.random(len(y)) < share, (y + rng.integers(1, size, len(y))) % size, y)


def shown(labels: Numbers, form: int, rng: Random) -> Numbers:
    """Labels as another column has them: a code, an amount, a number of days."""
    number, noise = rng.integers(30, size=len(labels)), rng.normal(size=len(labels))
    return [9.5 * labels, 40 * labels + noise, 100 + number - 60 * labels][form]


def one(share: float, form: int = 1, honest: Callable[[Random], Table] = linear) -> Callable[[Random], Table]:
    def world(rng: Random) -> Table:
        X, y = honest(rng)
        return X.assign(leak1=shown(flipped(y, share, rng), form, rng)), y

    return world


def several(
    number: int, same: bool, honest: Callable[[Random], Table] = linear, wrong: float = 0
) -> Callable[[Random], Table]:
    """Leaks that err on 2 or 3 % of the rows, unless stated: the same ones, or each on others."""

    def world(rng: Random) -> Table:
        X, y = honest(rng)
        share = wrong or rng.choice([0.02, 0.03])
        copies = [flipped(y, share, rng)] * number if same else [flipped(y, share, rng) for _ in range(number)]
        columns = {f"leak{place}": shown(copy, place % 3, rng) for place, copy in enumerate(copies)}
        return X.assign(**columns).assign(leak1=[f"c{code}" for code in copies[1]]), y

    return world


def missing(rng: Random) -> Table:
    """An amount that is known for one class only, but for 2 % of the rows."""
    X, y = linear(rng)
    return X.assign(leak1=np.where(flipped(y, 0.02, rng) == 1, np.nan, rng.lognormal(0, 1, len(y)))), y


def by_name(rng: Random) -> Table:
    X, y = linear(rng)
    return X.assign(label_code_leak=flipped(y, 0.1, rng)), y


def exclusive(rng: Random) -> Table:
    """Two codes: the label is whether they differ. Neither says anything alone."""
    X, y = linear(rng)
    code = rng.integers(2, size=len(y))
    return X.assign(leak1=code * 3.5, leak2=np.where(code ^ y, "yes", "no")), y


def bounds(rng: Random) -> Table:
    """Two limits: the label is whether they are far apart. Either says little alone."""
    X, y = linear(rng)
    lower = 3 * rng.normal(size=len(y))
    return X.assign(leak1_lower=lower, leak2_upper=lower + np.where(y == 1, 4, 1) * rng.uniform(0.8, 1.2, len(y))), y


def offers(rng: Random, n: int = 600) -> Table:
    """Limits of what a person pays, known from two answers: the label is how often they said yes."""
    X = rng.normal(size=(n, 5))
    worth = np.exp(3.5 + 0.6 * X[:, 0] - 0.5 * X[:, 1] + 1.2 * rng.normal(size=n))
    first = rng.choice([5, 10, 20, 50, 100], n)
    second = np.where(worth > first, 2.5, 0.4) * first
    asked = np.sort(np.column_stack([np.zeros(n), first, second, np.full(n, 999)]), axis=1)
    lower = np.where(asked < worth[:, None], asked, 0).max(axis=1)
    upper = np.where(asked >= worth[:, None], asked, 999).min(axis=1)
    y = (worth > first).astype(int) + (worth > second)
    return framed(X).assign(leak1_lower=lower, leak2_upper=upper), y


def group_mean(rng: Random, n: int = 600) -> Table:
    """The mean label of four rows that belong together, the row itself among them."""
    group = rng.permutation(np.repeat(np.arange(n // 4), 4))
    X = rng.normal(size=(n, 6))
    y = drawn(X[:, 0] - 0.7 * X[:, 1] + 3 * rng.normal(size=n // 4)[group], rng)
    return framed(X).assign(leak1=(np.bincount(group, y) / 4)[group]), y


def late_time(rng: Random, n: int = 800) -> Table:
    """Years until death, or until the study ends: who is followed longest has not died."""
    X = rng.normal(size=(n, 6))
    death = rng.exponential(12 * np.exp(-1.4 * X[:, 0] - 0.7 * X[:, 1]))
    end = np.where(rng.random(n) < 0.1, rng.uniform(0, 14, n), rng.uniform(10, 14, n))
    return framed(X).assign(leak1=np.minimum(death, end)), (death < end).astype(int)


PLANTED: dict[str, Callable[[Random], Table]] = {
    "an exact leak": one(0),
    "a leak, 2 % of rows wrong": one(0.02),
    "a leak, 10 % of rows wrong (suspect)": one(0.1),
    "a leak among 13 informative columns": one(0, honest=informative),
    "a leak among 13, 2 % of rows wrong": one(0.02, honest=informative),
    "a leak of six classes, 2 % of rows wrong": one(0.02, 0, several_classes),
    "two leaks, other rows wrong": several(2, same=False),
    "two leaks, the same rows wrong": several(2, same=True),
    "two leaks of six classes, the same rows wrong": several(2, same=True, honest=several_classes),
    "two leaks among 13, the same rows wrong": several(2, same=True, honest=informative),
    "two leaks beside a rule, the same rows wrong": several(2, same=True, honest=survey),
    "two leaks, the same 10 % of rows wrong (suspects)": several(2, same=True, wrong=0.1),
    "two leaks among categories, the same rows wrong": several(2, same=True, honest=categories),
    "three leaks, other rows wrong": several(3, same=False),
    "three leaks, the same rows wrong": several(3, same=True),
    "missing for one class": missing,
    "a name like the label, 10 % of rows wrong": by_name,
    "two codes that differ (suspects)": exclusive,
    "lower and upper limit (suspects)": bounds,
    "lower and upper offer": offers,
    "mean label of a group (suspect)": group_mean,
    "time until death or end (suspect)": late_time,
}


def answer(result: classay.Leaks, planted: bool, names: list[str]) -> str:
    leaks = {leak.column for leak in result.found}
    named = leaks | {leak.column for leak in result.suspects}
    if not planted:
        return str(result.verdict)
    made = {name for name in names if "leak" in name}
    if named - made:
        return OTHER
    return FOUND if leaks == made else UNDECIDED if named == made else NO


def cases(data: Path | None) -> list[Case]:
    def case(name: str, world: Callable[[Random], Table], planted: bool) -> Case:
        def run(seed: int) -> str:
            X, y = world(np.random.default_rng([*name.encode(), seed]))
            return answer(classay.leaks(X, y), planted, list(X.columns))

        return Case(name, planted, run)

    return [case(name, world, True) for name, world in PLANTED.items()] + [
        case(name, world, False) for name, world in HONEST.items()
    ]
