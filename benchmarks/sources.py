"""Data sets that the benchmarks of rows share: scikit-learn's own, and tables and texts from a folder."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets as bundled
from sklearn.linear_model import LogisticRegression

from classay import InputError, encoded
from classay.data.text import embed
from classay.tables.read import read_table

BUNDLED = {
    "iris": bundled.load_iris,
    "wine": bundled.load_wine,
    "breast_cancer": bundled.load_breast_cancer,
    "digits": bundled.load_digits,
}
FILES = {
    "letter": "tabular/letter_recognition.csv.gz",
    "spambase": "tabular/spambase.csv.gz",
    "obesity": "tabular/obesity_levels.csv.gz",
    "car": "tabular/car_evaluation.csv.gz",
    "wine_quality": "tabular/wine_quality.csv.gz",
    "abalone": "tabular/abalone.csv.gz",
    "bank": "tabular/bank_marketing_deposit.csv.gz",
    "eeg": "tabular/eeg_eye_state.csv.gz",
}
TEXTS = {
    "HWU64": "text/hwu64.csv.gz",
    "20 Newsgroups": "text/newsgroups20.csv.gz",
    "ATIS": "text/atis.csv.gz",
    "BANKING77": "text/banking77.csv.gz",
}


@dataclass(frozen=True)
class Rows:
    """A data set: numbers and codes of labels; of texts, also the labels, the texts and which part they belong to."""

    X: np.ndarray
    y: np.ndarray
    labels: np.ndarray | None = None
    texts: np.ndarray | None = None
    split: np.ndarray | None = None


def available(names: list[str], data: Path | None, most: int | None = None) -> dict[str, Rows]:
    """Those of the data sets that can be had, at most so many rows of each, and a sentence on each that cannot."""
    found = {}
    for name in names:
        try:
            found[name] = load(name, data, most)
        except (InputError, FileNotFoundError) as problem:
            print(f"{name} is left out: {problem}")
    return found


def load(name: str, data: Path | None, most: int | None = None) -> Rows:
    """One data set by name; `most` rows of it at random, the same ones each time."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        chosen = some(len(y), most)
        return Rows(X[chosen], codes(y[chosen]))
    if data is None:
        raise FileNotFoundError("it is in the folder that --data names, and none was given.")
    path = data / (FILES | TEXTS)[name]
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}.")
    if name in TEXTS:
        frame = pd.read_csv(path, keep_default_na=False)
        frame = frame[frame["text"].str.strip() != ""]
        frame = frame.iloc[some(len(frame), most)]
        parts = (frame[name].to_numpy() for name in ("label", "text", "split"))
        return Rows(vectors(frame["text"]), codes(frame["label"]), *parts)
    table = read_table(path)
    learner = encoded(LogisticRegression(), table.X)
    X = table.X if not hasattr(learner, "named_steps") else learner.named_steps["encode"].fit_transform(table.X)
    chosen = some(len(X), most)
    return Rows(np.asarray(X, dtype=float)[chosen], codes(np.asarray(table.y)[chosen]))


def vectors(texts: pd.Series) -> np.ndarray:
    """Embedded by length: batches are filled up to their longest text, so that a few long ones would slow down all."""
    order = np.argsort(texts.str.len(), kind="stable")
    found = np.asarray(embed(texts.iloc[order].tolist()), dtype=float)
    return found[np.argsort(order)]


def some(n: int, most: int | None) -> np.ndarray:
    """At most so many of n rows at random, in their order."""
    return np.sort(np.random.default_rng(7).permutation(n)[:most])


def codes(labels) -> np.ndarray:
    return np.unique(labels, return_inverse=True)[1]


def quietly() -> None:
    """No warnings of solvers that stop early and of classes with fewer rows than folds: the tables stay readable."""
    from sklearn.exceptions import ConvergenceWarning

    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message="The least populated class")
    warnings.filterwarnings("ignore", message="Number of classes in training fold")
