"""Tables in which nothing is wrong, and tables with one planted problem: what checks of the data must leave and find.

Each world is a function of a seed. It returns the keywords of `characterize`: X, y, and groups or a test part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

World = dict[str, Any]


def named(values: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(values, columns=[f"m{place}" for place in range(values.shape[1])])


def drawn(score: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels 0 and 1 with the probabilities of a logistic model."""
    return (rng.random(score.size) < 1 / (1 + np.exp(-score))).astype(int)


def split(X: pd.DataFrame, y: np.ndarray, rng: np.random.Generator, share: float = 0.3) -> World:
    """The same rows, some of them as a test part drawn at random."""
    test = rng.random(len(X)) < share
    parts = {"X": X[~test], "X_test": X[test]}
    return {name: part.reset_index(drop=True) for name, part in parts.items()} | {"y": y[~test], "y_test": y[test]}


# Nothing is wrong.


def plain(seed: int, n: int = 1000) -> World:
    rng = np.random.default_rng([1, seed])
    X = rng.normal(size=(n, 6))
    return split(named(X), drawn(1.5 * X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3], rng), rng)


def rare(seed: int, n: int = 3000) -> World:
    """1.7 % of the rows are of the rarer class; a logistic model reaches an AUC of about .85."""
    rng = np.random.default_rng([2, seed])
    X = rng.normal(size=(n, 6))
    return split(named(X), drawn(-5.2 + 1.2 * X[:, 0] + X[:, 1] - 0.7 * X[:, 2], rng), rng)


def heavy_tails(seed: int, n: int = 1000) -> World:
    rng = np.random.default_rng([3, seed])
    X = rng.standard_t(1.5, size=(n, 6))
    return split(named(X), drawn(2 * np.tanh(X[:, 0]) + np.sign(X[:, 1]) - np.tanh(X[:, 2]), rng), rng)


def thirty_classes(seed: int, n: int = 1800) -> World:
    rng = np.random.default_rng([4, seed])
    y = rng.integers(30, size=n)
    return split(named(2 * rng.normal(size=(30, 5))[y] + rng.normal(size=(n, 5))), y, rng)


def useless_columns(seed: int, n: int = 1000) -> World:
    rng = np.random.default_rng([5, seed])
    X = rng.normal(size=(n, 23))
    return split(named(X), drawn(1.5 * X[:, 0] + 1.5 * X[:, 1] - X[:, 2], rng), rng)


def duplicates(seed: int, n: int = 1000) -> World:
    """Few values in each column, so that equal rows are frequent and honest."""
    rng = np.random.default_rng([6, seed])
    X = pd.DataFrame({f"q{place}": rng.integers(4, size=n) for place in range(4)})
    score = X["q0"] - X["q1"] + 0.5 * (X["q2"] == 3)
    return split(X, drawn(score.to_numpy(dtype=float), rng), rng)


def given_groups(seed: int, patients: int = 100, each: int = 10) -> World:
    """Rows of a patient are alike, and the patients are given."""
    rng = np.random.default_rng([7, seed])
    own = rng.normal(size=(patients, 6))
    patient = np.repeat(np.arange(patients), each)
    X = own[patient] + 0.3 * rng.normal(size=(patient.size, 6))
    y = drawn((1.5 * own[:, 0] - own[:, 1])[patient], rng)
    order = rng.permutation(patient.size) if seed % 2 else np.arange(patient.size)
    return {"X": named(X[order]), "y": y[order], "groups": patient[order]}


def mixed_categories(seed: int, n: int = 1500) -> World:
    """Numbers, categories, a store with an effect of its own, missing values."""
    rng = np.random.default_rng([8, seed])
    store, job = (
        rng.integers(40, size=n),
        rng.choice(["clerk", "nurse", "smith", "cook", "none"], n, p=[4 / 9, 2 / 9, 1 / 9, 1 / 9, 1 / 9]),
    )
    age, income = rng.integers(18, 80, n), rng.lognormal(1, 0.6, n)
    score = 0.05 * (age - 45) + rng.normal(size=40)[store] + (job == "nurse") - 0.3 * income + 1
    X = pd.DataFrame({"age": age, "job": job, "store": [f"s{each}" for each in store], "income": income})
    X.loc[rng.random(n) < 0.05, "income"] = np.nan
    return split(X, drawn(np.asarray(score), rng), rng)


CLEAN = {
    "plain": plain,
    "rare class (1.7 %)": rare,
    "heavy tails": heavy_tails,
    "30 classes": thirty_classes,
    "20 useless columns": useless_columns,
    "honest duplicates": duplicates,
    "groups given": given_groups,
    "mixed categories": mixed_categories,
}


def sorted_by_class(seed: int) -> World:
    made = plain(seed)
    order = np.argsort(made["y"], kind="stable")
    return {"X": made["X"].iloc[order].reset_index(drop=True), "y": made["y"][order]}


def sorted_by_date(seed: int, n: int = 1200) -> World:
    """Columns and the share of a class change slowly along the file; rows are independent given their date."""
    rng = np.random.default_rng([9, seed])
    time = np.linspace(-1, 1, n)
    X = rng.normal(size=(n, 5))
    X[:, 0] += time
    return {"X": named(X), "y": drawn(1.5 * X[:, 1] + X[:, 2] * time + time, rng)}


def many_kinds(seed: int, n: int = 2000) -> World:
    """Sixteen kinds of cases, each with its label: new rows will be from the same clusters."""
    rng = np.random.default_rng([10, seed])
    kind = rng.integers(16, size=n)
    X = 3 * rng.normal(size=(16, 6))[kind] + rng.normal(size=(n, 6))
    y = rng.integers(2, size=16)[kind]
    y[:20] = np.arange(20) % 2
    return {"X": named(X), "y": y}


SORTED = {"sorted by class": sorted_by_class, "sorted by date": sorted_by_date, "16 kinds of cases": many_kinds}


# One planted problem each, with the code of the finding that must say so.


def leak(seed: int) -> World:
    """A number that follows the label up to 3 % of the rows."""
    made, rng = plain(seed), np.random.default_rng([21, seed])
    X, y = made["X"], made["y"]
    follows = np.where(rng.random(y.size) < 0.97, y, 1 - y)
    return {"X": X.assign(refund=follows * 40 + rng.normal(size=y.size)), "y": y}


def leak_category(seed: int) -> World:
    """A code for each of 30 classes, with other names, wrong in 2 % of the rows."""
    made, rng = thirty_classes(seed), np.random.default_rng([22, seed])
    y = made["y"]
    code = np.where(rng.random(y.size) < 0.98, rng.permutation(30)[y], rng.integers(30, size=y.size))
    return {"X": made["X"].assign(ledger=[f"k{each}" for each in code]), "y": y}


def leak_of_a_rare_class(seed: int) -> World:
    """A fee that nearly all rows of the rare class have, and 1 % of the others."""
    made, rng = rare(seed), np.random.default_rng([23, seed])
    y = made["y"]
    fee = np.where(rng.random(y.size) < 0.99, y, 1 - y) * rng.uniform(20, 30, y.size)
    return {"X": made["X"].assign(fee=fee), "y": y}


def patients(
    seed: int, number: int = 80, each: int = 12, spread: float = 0.2
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng([24, seed])
    patient = rng.permutation(np.repeat(np.arange(number), each))
    X = rng.normal(size=(number, 8))[patient] + spread * rng.normal(size=(patient.size, 8))
    return named(X), rng.integers(2, size=number)[patient], patient


def patients_with_id(seed: int) -> World:
    """Eighty patients with twelve rows each and random labels: there is nothing to learn but who it is."""
    X, y, patient = patients(seed)
    return {"X": X.assign(patient=patient + 1000), "y": y}


def patients_without_id(seed: int) -> World:
    X, y, _ = patients(seed)
    return {"X": X, "y": y}


def recording(seed: int, n: int = 3000) -> World:
    """Slow signals, and a state that holds for a while and has nothing to do with them."""
    rng = np.random.default_rng([25, seed])
    noise = rng.normal(size=(n + 300, 6))
    X = np.empty_like(noise)
    X[0] = noise[0]
    for place in range(1, len(X)):
        X[place] = 0.97 * X[place - 1] + 0.24 * noise[place]
    lengths = rng.integers(40, 160, n)
    y = np.repeat(np.arange(n) % 2, lengths)[:n]
    return {"X": named(X[300:] + 0.05 * rng.normal(size=(n, 6))), "y": y}


def jittered_copies(seed: int, n: int = 250) -> World:
    """Each row four times, with a little noise; labels are hard to predict."""
    rng = np.random.default_rng([26, seed])
    X = rng.normal(size=(n, 8))
    y = drawn(0.7 * X[:, 0], rng)
    order = rng.permutation(np.repeat(np.arange(n), 4))
    return {"X": named(X[order] + 0.05 * rng.normal(size=(4 * n, 8))), "y": y[order]}


def contaminated(seed: int) -> World:
    """One test row in ten is a training row."""
    made, rng = plain(seed), np.random.default_rng([27, seed])
    number = len(made["X_test"]) // 10
    rows = rng.choice(len(made["X"]), number, replace=False)
    X = pd.concat([made["X_test"][number:], made["X"].iloc[rows]], ignore_index=True)
    return made | {"X_test": X, "y_test": np.concatenate([made["y_test"][number:], made["y"][rows]])}


def shifted_test(seed: int) -> World:
    """One of six columns is higher by one standard deviation in the test part."""
    made = plain(seed)
    return made | {"X_test": made["X_test"].assign(m4=made["X_test"]["m4"] + 1)}


PLANTED = {
    "leak: a number": ("D205", leak),
    "leak: a code of 30 classes": ("D205", leak_category),
    "leak of a class of 1.7 %": ("D205", leak_of_a_rare_class),
    "80 patients, with their id": ("D206", patients_with_id),
    "80 patients, without": ("D206", patients_without_id),
    "a recording in file order": ("D206", recording),
    "rows copied with noise": ("D206", jittered_copies),
    "test rows copied from training": ("D207", contaminated),
    "test part shifted": ("D208", shifted_test),
}


# For the importance of columns: X and y.


def effects(seed=0, n=600):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    return X, (3 * X["a"] + 2 * X["b"] + X["c"] + 0.5 * rng.normal(size=n) > 0).to_numpy()


def same_information(seed=0, n=600):
    """Eight columns that measure the same, with a little noise."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    X = pd.DataFrame(hidden[:, None] + 0.5 * rng.normal(size=(n, 8))).rename(columns="m{}".format)
    return X, hidden + 0.5 * rng.normal(size=n) > 0
