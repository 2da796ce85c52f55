"""Fits of a drift monitor without the checks that scikit-learn makes at each of them, for simulations of many streams.

Two thirds of a stream are copies and checks of learners, rows and parameters. `quick_refit` replaces `refit` in
`calibration`; the figures of a stream are the same up to ties, which `tests/long/test_change_rates.py` checks.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor


def quick_refit(bench, sample, refits):
    """What a calibration reads of `refit`, for a tree, LogisticRegression() of two classes or Ridge()."""
    X, y = bench.X[sample.rows], bench.y[sample.rows]
    if isinstance(bench.learner, (DecisionTreeClassifier, DecisionTreeRegressor)):
        predict = _tree(bench.learner, X, y, bench.random_states(sample, refits[0])["random_state"])
    else:
        weights = (_logistic if isinstance(bench.learner, LogisticRegression) else _ridge)(X, y.astype(float))

        def predict(points):
            score = points @ weights[1:] + weights[0]
            return (score > 0).astype(int) if isinstance(bench.learner, LogisticRegression) else score

    return SimpleNamespace(errors={}, probes=[predict(bench.probes)], test=[predict(bench.X[bench.test])])


def _tree(learner, X, y, random_state):
    """For two classes, Gini's impurity is twice the variance of 0 and 1, so the regression tree has the same splits."""
    with config_context(skip_parameter_validation=True, assume_finite=True):
        tree = DecisionTreeRegressor(max_depth=learner.max_depth, random_state=random_state)
        tree.fit(X.astype(np.float32), y.astype(float), check_input=False)

    def predict(points):
        values = tree.tree_.predict(points.astype(np.float32))[:, 0]
        return values if isinstance(learner, DecisionTreeRegressor) else (values > 0.5).astype(int)

    return predict


def _with_ones(X):
    return np.column_stack([np.ones(len(X)), X])


def _logistic(X, y, steps=25):
    """Newton's method for C = 1: the same optimum as that of LogisticRegression()."""
    X = _with_ones(X)
    penalty = np.eye(X.shape[1])
    penalty[0, 0] = 0
    weights = np.zeros(X.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-X @ weights))
        step = np.linalg.solve((X.T * (p * (1 - p))) @ X + penalty, X.T @ (p - y) + penalty @ weights)
        weights = weights - step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def _ridge(X, y):
    centre, mean = X.mean(axis=0), y.mean()
    weights = np.linalg.solve((X - centre).T @ (X - centre) + np.eye(X.shape[1]), (X - centre).T @ (y - mean))
    return np.array([mean - centre @ weights, *weights])
