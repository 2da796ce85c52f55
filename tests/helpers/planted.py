"""Learners and tables with a known problem, for tests of findings."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

from classay import characterize

QUICK = {"budget": None, "splits": 12, "repeats": 3, "n_probes": 100, "retrains": 0, "executor": 1}


class Rule(ClassifierMixin, BaseEstimator):
    """Answers x0 > 0, wrong at the same tenth of the points always, or at another tenth with every seed."""

    def __init__(self, fickle=False, random_state=None):
        self.fickle = fickle
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.turn_ = int(np.random.default_rng(self.random_state).integers(2**31)) if self.fickle else 0
        return self

    def predict(self, X):
        x = np.asarray(X, dtype=float)
        # A hash of the row, so that a point always has the same answer from the same classifier.
        spread = np.modf(np.abs(np.sin(x @ np.arange(1, x.shape[1] + 1) * 91.7 + self.turn_ % 1000) * 43758.5453))[0]
        return self.classes_[((x[:, 0] > 0) ^ (spread < 0.1)).astype(int)]


class Breaks(Rule):
    """Fails on every other fit."""

    def fit(self, X, y):
        if int(np.asarray(X).sum() * 1e6) % 2:
            raise ValueError("the oven was cold")
        return super().fit(X, y)


def table(n=600, columns=4, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, columns))
    return pd.DataFrame(X, columns=[f"x{place}" for place in range(columns)])


def gaussians(n=600, classes=2, apart=3.0, columns=4, seed=0):
    """Round classes of equal size, their centres at random, about `apart` from each other."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    centres = rng.normal(size=(classes, columns))
    centres *= apart / np.linalg.norm(centres[0] - centres[1])
    X = rng.normal(size=(n, columns)) + centres[y]
    return pd.DataFrame(X, columns=[f"x{place}" for place in range(columns)]), y


class NoCharts:
    """In the place of `classay.charts`."""

    def __getattr__(self, name):
        return lambda *_, **__: None


@contextmanager
def not_drawn():
    """Reports without charts."""
    sections = "classay.report.document"
    rooms = [f"{sections}.{name}" for name in ("learners_section", "rows_section", "slices_section", "classes_section")]
    with ExitStack() as patches:
        for room in rooms:
            patches.enter_context(patch(f"{room}.charts", NoCharts()))
            patches.enter_context(patch(f"{room}.spec_of", lambda chart: {}))
        yield


def found(learners, X, y, **settings):
    """The assay, and its findings by code and whose they are."""
    assay = characterize(learners, X, y, **(QUICK | settings))
    return assay, {(each.code, each.of): each for each in assay.findings}
