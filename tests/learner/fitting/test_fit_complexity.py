"""How much a fit has learned: counted by hand, kept in records, and weighed against accuracy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import InputError, Subsets
from classay.learner.fitting.task import complexity

X, Y = load_iris(return_X_y=True)


class Odd:
    @property
    def coef_(self):
        raise RuntimeError("not now")


def test_leaves_coefficients_or_numbers():
    forest = RandomForestClassifier(7, random_state=0).fit(X, Y)
    assert complexity(forest) == sum(tree.get_n_leaves() for tree in forest.estimators_)
    assert complexity(HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=2).fit(X, Y)) == 2 * 3 * 2
    assert complexity(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)) == 12
    sparse = SGDClassifier(penalty="l1", alpha=0.1, random_state=0).fit(X, Y)
    assert complexity(sparse) == np.count_nonzero(sparse.coef_) < 12
    assert complexity(sparse.sparsify()) == np.count_nonzero(sparse.densify().coef_)
    # means and variances of 3 classes x 4 columns, 3 counts, 3 shares and 3 classes
    assert complexity(GaussianNB().fit(X, Y)) == 2 * 12 + 9
    assert math.isnan(complexity(Odd()))
    assert math.isnan(complexity(object()))


def test_it_is_kept_and_weighed(tmp_path):
    options = {"share_paths": False, "executor": 1, "store": tmp_path / "store"}
    found = classay.sweep(DecisionTreeClassifier(), X, Y, "max_depth", [1, 5], Subsets(6), 2, **options)
    assert (found.records[1].complexity == 2).all()
    saved = classay.load(found.records[5].save(tmp_path / "record"))
    np.testing.assert_array_equal(saved.complexity, found.records[5].complexity)
    again = classay.sweep(DecisionTreeClassifier(), X, Y, "max_depth", [1, 5], Subsets(6), 2, **options)
    np.testing.assert_array_equal(again.records[5].complexity, found.records[5].complexity)
    by_hand = found.records[5].labels == found.records[5].truth
    worth = found.compare({"accuracy": 1, "complexity": -1})
    assert worth.utility[5].value == pytest.approx(by_hand.mean() - saved.complexity.mean())
    assert worth.best == 1
    with pytest.raises(InputError, match="a complexity is a loss"):
        found.compare({"complexity": 1})
    shared = classay.sweep(DecisionTreeClassifier(), X, Y, "max_depth", [1, 5], Subsets(6), 2, executor=1)
    with pytest.raises(InputError, match=r"fits at 1 have none.*share_paths=False"):
        shared.compare({"accuracy": 1, "complexity": -0.1})
