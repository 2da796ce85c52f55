"""Learners as enemies write them. They travel to workers by value, so no worker needs to import this file."""

import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import cloudpickle
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Centroids(ClassifierMixin, BaseEstimator):
    """The nearest class mean: deterministic, fast, without a random_state."""

    def fit(self, X, y):
        self.before_fit(X, y)
        self.classes_ = np.unique(y)
        self.means_ = np.array([np.asarray(X[y == label], dtype=float).mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        distances = ((np.asarray(X, dtype=float)[:, None, :] - self.means_) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]

    def before_fit(self, X, y):
        pass


class Tallied(Centroids):
    """Writes a line to a file for every fit."""

    def __init__(self, path, power=1):
        self.path = path
        self.power = power

    def before_fit(self, X, y):
        with open(self.path, "a") as file:
            file.write(f"{len(X)}\n")


def fits(path):
    return len(Path(path).read_text().splitlines()) if Path(path).exists() else 0


class Coin(Centroids):
    """Draws its answers from the global generator of numpy or of Python, and has no random_state."""

    def __init__(self, of="numpy"):
        self.of = of

    def before_fit(self, X, y):
        self.seed_ = np.random.randint(2**31) if self.of == "numpy" else random.randrange(2**31)

    def predict(self, X):
        return np.random.default_rng(self.seed_).choice(self.classes_, len(X))


class Seeded(Centroids):
    """Answers nothing but its random_state, spread over the classes."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def predict(self, X):
        return np.random.default_rng(self.random_state).choice(self.classes_, len(X))


class Rowwise(Centroids):
    """Does something bad when a certain row, known by the number in its first column, is in its training set."""

    def __init__(self, row=None, deed="raise", random_state=None):
        self.row = row
        self.deed = deed
        self.random_state = random_state

    def before_fit(self, X, y):
        if self.row is None or not (np.asarray(X)[:, 0] == self.row).any():
            return
        if self.deed == "raise":
            raise ArithmeticError(f"row {self.row} is poison")
        if self.deed == "die":
            os._exit(7)
        if self.deed == "outlast":
            # Whatever the time limit is, it is over: so it can be one that no busy machine exceeds.
            signal.setitimer(signal.ITIMER_REAL, 0.05, 1.0)
            time.sleep(600)
        if self.deed == "interrupt":
            raise KeyboardInterrupt


class Hopeless(Centroids):
    """Raises always."""

    def __init__(self, path, message="no"):
        self.path = path
        self.message = message

    def before_fit(self, X, y):
        with open(self.path, "a") as file:
            file.write("tried\n")
        raise RuntimeError(self.message)


class Saying(Centroids):
    """Warns at every fit, one warning a message."""

    def __init__(self, messages=("careful",)):
        self.messages = messages

    def before_fit(self, X, y):
        for message in self.messages:
            warnings.warn(message, UserWarning, stacklevel=2)


class Answering(Centroids):
    """Answers in an odd form."""

    def __init__(self, form="plain"):
        self.form = form

    def predict(self, X):
        answers = super().predict(X)
        return {
            "plain": lambda: answers,
            "column": lambda: answers[:, None],
            "object": lambda: answers.astype(object),
            "list": answers.tolist,
            "float": lambda: answers.astype(float),
            "text": lambda: answers.astype(str),
            "stranger": lambda: np.where(np.arange(len(answers)) == 3, 77, answers),
            "stranger among objects": lambda: np.where(np.arange(len(answers)) == 3, 77, answers).astype(object),
            "bytes": lambda: answers.astype("S"),
            "shares": lambda: np.eye(len(self.classes_), dtype=int)[np.searchsorted(self.classes_, answers)],
            "one": lambda: answers[:1],
            "nan": lambda: np.where(np.arange(len(answers)) == 3, np.nan, answers),
        }[self.form]()


class Scribbler(Centroids):
    """Writes into all it is given."""

    def fit(self, X, y):
        super().fit(X, y)
        X *= -3
        y[:] = y[0]
        return self

    def predict(self, X):
        answers = super().predict(X)
        X *= -3
        return answers


class AfraidOfProbes(Centroids):
    """Raises when asked about a row whose first column is negative."""

    def predict(self, X):
        if (X[:, 0] < 0).any():
            raise ValueError("negative")
        return super().predict(X)


class Duck:
    """Does what a learner must do, and builds on nothing of scikit-learn."""

    def __init__(self, shift=0):
        self.shift = shift

    def get_params(self, deep=True):
        return {"shift": self.shift}

    def set_params(self, **parameters):
        vars(self).update(parameters)
        return self

    def fit(self, X, y):
        self.first_ = y[self.shift]
        return self

    def predict(self, X):
        return np.full(len(X), self.first_)
