"""What paths are compared with: separate fits, on tables with and without ties."""

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.neighbors import KNeighborsClassifier

from classay.learner.fitting.paths import path_for


def _tables():
    draw = np.random.default_rng(0)
    wine, cultivar = load_wine(return_X_y=True)
    digits, digit = load_digits(return_X_y=True)
    two, side = make_classification(240, 14, n_informative=6, flip_y=0.1, random_state=0)
    return {
        "iris": load_iris(return_X_y=True),
        "wine, words": (wine, np.array(["Barolo", "Grignolino", "Barbera"])[cultivar]),
        "digits": (digits[:240], digit[:240]),
        # Whole numbers of few kinds: nearly all distances and many splits are tied.
        "whole numbers": (draw.integers(0, 4, (180, 4)), draw.integers(0, 3, 180)),
        "two classes": (two, side),
        "single precision": (two.astype(np.float32), side.astype(bool)),
    }


TABLES = _tables()
ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree")
WEIGHTS = ("uniform", "distance", None)


def drawn(X, y):
    """Half as many training rows as there are, drawn with replacement, so that some are the same row twice."""
    rows = np.random.default_rng(1).choice(len(y), len(y) // 2)
    return X[rows], y[rows]


def alone(learner, param_name, value, X, y, asked):
    """What a separate fit answers, or the error that it raises."""
    try:
        return clone(learner).set_params(**{param_name: value}).fit(X, y).predict(asked)
    except Exception as error:
        return error


def same(one, other):
    """Whether two answers are the same to the bit and the type, or the same error."""
    if isinstance(one, Exception) or isinstance(other, Exception):
        return type(one) is type(other) and str(one) == str(other)
    return one.dtype == other.dtype and np.array_equal(one, other)


def compare(learner, param_name, values, X, y, asked):
    """Answers along the path, once they are seen to be those of separate fits."""
    path = path_for(learner, param_name, values)
    assert path.EXACT
    found = list(path.answers(learner, param_name, values, X, y, asked))
    wrong = [
        value
        for value, labels in zip(values, found, strict=True)
        if not same(labels, alone(learner, param_name, value, X, y, asked))
    ]
    assert wrong == []
    return found


def compare_neighbours(table, algorithm, weights):
    """Nearest neighbours for few and for many values, also where distances are tied."""
    X, y = TABLES[table]
    metric = {"kd_tree": {"p": 1}, "ball_tree": {"metric": "chebyshev"}}.get(algorithm, {})
    learner = KNeighborsClassifier(algorithm=algorithm, weights=weights, **metric)
    values = [1, 2, 3, 4, 5, 7, 8, 12, 20, 33, 34, len(y) // 4 - 1, len(y) // 4, len(y) // 4 + 1, len(y) // 2]
    compare(learner, "n_neighbors", values, *drawn(X, y), X)


def fits_of(monkeypatch, learner, param_name):
    """A list that grows by the value of the parameter whenever such a learner is fitted."""
    seen, kind = [], type(learner)
    before = kind.fit

    def fit(self, *given, **more):
        seen.append(getattr(self, param_name))
        return before(self, *given, **more)

    monkeypatch.setattr(kind, "fit", fit)
    return seen
