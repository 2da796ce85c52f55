"""`max_depth` of trees and forests: a tree cut at a depth is a tree that was not allowed to grow deeper.

A tree grows depth first, and what happens at a node depends on its rows, its parents and fresh random numbers. Cutting
a full tree at depth d therefore gives a tree with the distribution of one grown with max_depth=d, but not the same tree
from the same seed: the full tree drew random numbers below the cut. That does not hold, and the path is not used, if
the tree grows best first (`max_leaf_nodes`) or is pruned (`ccp_alpha`); nor if `random_state` is fixed, which asks for
the trees of one seed. With `monotonic_cst` it is not known to hold.
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

from ....arrays import AnyInts
from .shared import SharedPath, fitted, is_count, positive, register

KIND = "the full tree, cut"


@register
class CutTree(SharedPath):
    """A decision tree or an extremely randomized one."""

    PARAMETERS = ("max_depth",)
    KIND = KIND
    EXACT = False

    @classmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether it is scikit-learn's own tree, free to grow from any seed, and values are depths or None."""
        trees = (DecisionTreeClassifier, ExtraTreeClassifier)
        return type(learner) in trees and param_name == "max_depth" and _can_be_cut(learner) and are_depths(values)

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """Climb from the leaves to each depth, and predict as the node there does."""
        wanted = deepest_first(values)
        if not wanted:
            return
        tree = fitted(learner, param_name, wanted[0], X, y)
        labels = tree.classes_.take(np.argmax(tree.tree_.value[:, 0, :], axis=1), axis=0)
        for depth, nodes in cuts(tree.tree_, tree.apply(asked), wanted):
            yield depth, labels[nodes]


@register
class CutForest(SharedPath):
    """A random forest or extra trees: every tree is cut, and the cut ones vote."""

    PARAMETERS = ("max_depth",)
    KIND = "the full trees, cut"
    EXACT = False

    @classmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether it is scikit-learn's own forest, free to grow from any seed, and values are depths or None."""
        forests = (RandomForestClassifier, ExtraTreesClassifier)
        return type(learner) in forests and param_name == "max_depth" and _can_be_cut(learner) and are_depths(values)

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """Add up the votes of every depth, tree by tree."""
        wanted = deepest_first(values)
        if not wanted:
            return
        forest = fitted(learner, param_name, wanted[0], X, y)
        leaves = forest.apply(asked)
        votes = {depth: np.zeros((leaves.shape[0], len(forest.classes_))) for depth in wanted}
        for place, tree in enumerate(forest.estimators_):
            for depth, nodes in cuts(tree.tree_, leaves[:, place], wanted):
                votes[depth] += tree.tree_.value[nodes, 0, :]
        for depth, share in votes.items():
            yield depth, forest.classes_.take(np.argmax(share / len(forest.estimators_), axis=1), axis=0)


def are_depths(values: Sequence[Any]) -> bool:
    """Whether all values are whole numbers, or None: as deep as it grows."""
    return all(value is None or is_count(value) for value in values)


def deepest_first(values: Sequence[Any]) -> list[int | None]:
    """Valid depths from the deepest; None is deeper than any."""
    unlimited: list[int | None] = [None] * (None in values)
    return unlimited + positive(values)[::-1]


def cuts(tree: Any, leaves: AnyInts, depths: Sequence[int | None]) -> Iterator[tuple[int | None, AnyInts]]:
    """For each depth, deepest first, the nodes where rows that end in `leaves` pass it or stop before.

    `tree` is the `tree_` of a fitted decision tree.
    """
    parent, level = _places(tree)
    nodes = leaves
    for depth in depths:
        if depth is not None:
            while (too_deep := level[nodes] > depth).any():
                nodes = np.where(too_deep, parent[nodes], nodes)
        yield depth, nodes


def _places(tree: Any) -> tuple[AnyInts, AnyInts]:
    """Parent and depth of every node; the root is its own parent."""
    parent, level = np.zeros((2, tree.node_count), dtype=np.intp)
    here = np.zeros(1, dtype=np.intp)
    while here.size:
        here = here[tree.children_left[here] >= 0]
        for children in (tree.children_left[here], tree.children_right[here]):
            parent[children] = here
            level[children] = level[here] + 1
        here = np.concatenate([tree.children_left[here], tree.children_right[here]])
    return parent, level


def _can_be_cut(learner: Any) -> bool:
    return bool(
        learner.random_state is None
        and learner.max_leaf_nodes is None
        and learner.ccp_alpha == 0
        and learner.monotonic_cst is None
    )


# Values past saturation give the same fit: a solver converged after s steps, a tree stopped growing at depth d.
#
# The largest value is fitted. If it did not use all it was allowed, a larger allowance changes nothing, and every value
# above what was used gets its predictions. The values below are fitted one by one.


@register
class Converged(SharedPath):
    """Learners that step until they converge or `max_iter` is reached, and whose steps do not depend on it.

    Others with `n_iter_` are left out: their learning rate may depend on `max_iter`.
    """

    PARAMETERS = ("max_iter",)
    KIND = "one fit past convergence"
    EXACT = True
    ONE_FIT = False

    @classmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether it is one of scikit-learn's that are known to behave so, and all values are whole numbers."""
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
        # With several solvers, one per class, none was stopped by a value above the longest.
        labels = classifier.predict(asked)
        yield from ((value, labels) for value in alike(wanted, int(np.max(classifier.n_iter_))))


@register
class FullyGrown(SharedPath):
    """Trees and forests whose `random_state` is fixed, or that cannot be cut: deeper gives the same tree."""

    PARAMETERS = ("max_depth",)
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

    A value equal to what was used is not included: the last step, or the deepest nodes, were tried without it.
    """
    return [value for value in ascending if value == ascending[-1] or value > used]
