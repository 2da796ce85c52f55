"""Values past saturation are one fit: a solver that converged after s steps, a tree that stopped growing at depth d.

The largest value is fitted. If it did not use what it was allowed, no larger allowance changes anything, and every
value above what was used gets its answers. The values below are fitted one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from .depths import are_depths, deepest_first
from .shared import SharedPath, fitted, is_count, positive, register


@register
class Converged(SharedPath):
    """Learners that step until they converge or `max_iter` is reached, and whose steps do not depend on it.

    Others with `n_iter_` are left out: the rate of learning may be planned from `max_iter`.
    """

    KIND = "one fit past convergence"
    EXACT = True
    ONE_FIT = False

    @classmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether it is one of scikit-learn's that are known to step so, and all values are whole numbers."""
        steppers = (LogisticRegression, Perceptron, SGDClassifier, MLPClassifier, LinearSVC, SVC, NuSVC)
        return type(learner) in steppers and param_name == "max_iter" and all(map(is_count, values))

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """The largest value, and all that it did not need."""
        wanted = positive(values)
        if not wanted:
            return
        classifier = fitted(learner, param_name, wanted[-1], X, y)
        # Of several solvers, one a class, none was stopped by a value above the longest.
        labels = classifier.predict(asked)
        yield from ((value, labels) for value in alike(wanted, int(np.max(classifier.n_iter_))))


@register
class FullyGrown(SharedPath):
    """Trees and forests whose `random_state` is frozen, or that cannot be cut: deeper than deep is the same tree."""

    KIND = "one fit past the full depth"
    EXACT = True
    ONE_FIT = False

    @classmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether it is scikit-learn's own tree or forest, not pruned, and values are depths or None."""
        trees = (DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier, ExtraTreesClassifier)
        # Pruning hides how deep the tree had grown.
        return type(learner) in trees and param_name == "max_depth" and learner.ccp_alpha == 0 and are_depths(values)

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """The deepest value, and all that are deeper than its trees."""
        wanted = deepest_first(values)
        if not wanted:
            return
        classifier = fitted(learner, param_name, wanted[0], X, y)
        trees = getattr(classifier, "estimators_", [classifier])
        labels = classifier.predict(asked)
        yield from ((value, labels) for value in alike(wanted[::-1], max(tree.get_depth() for tree in trees)))


def alike(ascending: Sequence[Any], used: int) -> list[Any]:
    """The largest value, which was fitted, and all above what it used.

    One that equals what was used is not among them: the last step, or the deepest nodes, were tried without it.
    """
    return [value for value in ascending if value == ascending[-1] or value > used]
