"""Trees cut at a depth, compared with trees grown to that depth."""

import numpy as np
from scipy.stats import ks_2samp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from classay.learner.fitting.paths import path_for

X, Y = make_classification(260, 6, n_informative=4, flip_y=0.15, random_state=4)
TRAIN, ASKED = slice(0, 160), slice(160, None)
LEARNERS = [
    DecisionTreeClassifier(max_features=2),
    DecisionTreeClassifier(criterion="entropy", max_features=2, min_impurity_decrease=0.004, min_samples_leaf=3),
    ExtraTreeClassifier(class_weight="balanced"),
    RandomForestClassifier(4),
    ExtraTreesClassifier(4, bootstrap=True, class_weight="balanced_subsample"),
]
"""Learners whose splits are left to chance."""


def cut(learner, depths, seed):
    """The labels of one fit, cut at each depth."""
    path = path_for(learner, "max_depth", depths)
    assert not path.EXACT
    seeded = clone(learner).set_params(random_state=seed)
    return list(path.answers(seeded, "max_depth", depths, X[TRAIN], Y[TRAIN], X[ASKED]))


def grown(learner, depth, seed):
    """The labels of a fit to one depth."""
    seeded = clone(learner).set_params(random_state=seed, max_depth=depth)
    return seeded.fit(X[TRAIN], Y[TRAIN]).predict(X[ASKED])


def least_p(one, other):
    """The least p of two comparisons of (refits, points) labels: of accuracies, and of disagreements in a pair."""
    accuracies = [(labels == Y[ASKED]).mean(axis=1) for labels in (one, other)]
    pairs = [(labels[::2] != labels[1::2]).mean(axis=1) for labels in (one, other)]
    return min(ks_2samp(*accuracies).pvalue, ks_2samp(*pairs).pvalue)


def assert_alike(learner, fits):
    """Cut trees answer as grown ones do: in how often they are right, in how often two differ, and at each point."""
    depths = [1, 3, 6]
    # Other seeds than for those that are grown: two samples.
    of_cut = np.array([cut(learner, depths, 10_000 + seed) for seed in range(fits)])
    of_grown = {depth: np.array([grown(learner, depth, seed) for seed in range(fits)]) for depth in depths}
    for place, depth in enumerate(depths):
        assert least_p(of_cut[:, place], of_grown[depth]) > 0.001
        # At each point the share of fits that answer 1 is the same, to 4.5 standard errors.
        share, other = of_cut[:, place].mean(axis=0), of_grown[depth].mean(axis=0)
        error = np.sqrt(0.5 / fits) * np.sqrt((share + other) * (2 - share - other))
        assert (np.abs(share - other) <= 4.5 * error).all()
    # The comparison can tell one depth from another.
    assert least_p(of_cut[:, 0], of_grown[3]) < 0.001
