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
from .shared import SharedPath, alike, is_count, register

TREES = (DecisionTreeClassifier, ExtraTreeClassifier)
FORESTS = (RandomForestClassifier, ExtraTreesClassifier)


class Depths(SharedPath):
    @classmethod
    def are_values(cls, param_name: str, values: Sequence[Any]) -> bool:
        """Whether all values are whole numbers, or None: as deep as it grows."""
        return all(value is None or is_count(value) for value in values)


class Cut(Depths):
    """Trees that are cut, if they are free to grow from any seed; of several, the cut ones vote."""

    EXACT = False

    @classmethod
    def holds(cls, learner: Any) -> bool:
        """Whether a tree that is cut is one that was not allowed to grow deeper."""
        return bool(
            learner.random_state is None
            and learner.max_leaf_nodes is None
            and learner.ccp_alpha == 0
            and learner.monotonic_cst is None
        )

    @classmethod
    def read(cls, classifier: Any, values: list[Any], asked: Any) -> Iterator[tuple[Any, Any]]:
        """Climb from the leaves to each depth, and add up the votes of the nodes there, tree by tree."""
        trees = getattr(classifier, "estimators_", [classifier])
        leaves = np.atleast_2d(classifier.apply(asked).T)  # (trees, rows)
        votes = {depth: np.zeros((leaves.shape[1], len(classifier.classes_))) for depth in values}
        for tree, own in zip(trees, leaves):
            for depth, nodes in cuts(tree.tree_, own, values[::-1]):
                votes[depth] += tree.tree_.value[nodes, 0, :]
        for depth, share in votes.items():
            yield depth, classifier.classes_.take(np.argmax(share / len(trees), axis=1), axis=0)


@register
class CutTree(Cut):
    """A decision tree or an extremely randomized one."""

    LEARNERS = dict.fromkeys(TREES, ("max_depth",))
    KIND = "the full tree, cut"


@register
class CutForest(Cut):
    LEARNERS = dict.fromkeys(FORESTS, ("max_depth",))
    KIND = "the full trees, cut"


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


# Values past saturation give the same fit: a solver converged after s steps, a tree stopped growing at depth d.
#
# The largest value is fitted. If it did not use all it was allowed, a larger allowance changes nothing, and every value
# above what was used gets its predictions. The values below are fitted one by one.


@register
class Converged(SharedPath):
    """Learners that step until they converge or `max_iter` is reached, and whose steps do not depend on it.

    Others with `n_iter_` are left out: their learning rate may depend on `max_iter`.
    """

    LEARNERS = dict.fromkeys(
        (LogisticRegression, Perceptron, SGDClassifier, MLPClassifier, LinearSVC, SVC, NuSVC), ("max_iter",)
    )
    KIND, EXACT, ONE_FIT = "one fit past convergence", True, False

    @classmethod
    def read(cls, classifier: Any, values: list[Any], asked: Any) -> Iterator[tuple[Any, Any]]:
        """The largest value, and all that it did not need."""
        # With several solvers, one per class, none was stopped by a value above the longest.
        labels = classifier.predict(asked)
        yield from ((value, labels) for value in alike(values, int(np.max(classifier.n_iter_))))


@register
class FullyGrown(Depths):
    """Trees and forests whose `random_state` is fixed, or that cannot be cut: deeper gives the same tree."""

    LEARNERS = dict.fromkeys((*TREES, *FORESTS), ("max_depth",))
    KIND, EXACT, ONE_FIT = "one fit past the full depth", True, False

    @classmethod
    def holds(cls, learner: Any) -> bool:
        """Whether it is not pruned, which hides how deep the tree had grown."""
        return bool(learner.ccp_alpha == 0)

    @classmethod
    def read(cls, classifier: Any, values: list[Any], asked: Any) -> Iterator[tuple[Any, Any]]:
        """The deepest value, and all that are deeper than its trees."""
        trees = getattr(classifier, "estimators_", [classifier])
        labels = classifier.predict(asked)
        yield from ((value, labels) for value in alike(values, max(tree.get_depth() for tree in trees)))
