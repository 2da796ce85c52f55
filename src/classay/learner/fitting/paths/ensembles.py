"""`n_estimators` of forests: the first n members of a larger ensemble are the smaller one.

Seeds of members are drawn one after the other from the ensemble's, so member i is the same in every ensemble of more
than i members. Votes are added in scikit-learn's order, so that even ties are resolved the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.utils.validation import validate_data

from ....arrays import Floats
from .shared import SharedPath, register

PREFIXES = "prefixes of the ensemble"


@register
class ForestPrefixes(SharedPath):
    """Random forests and extra trees. With `n_jobs` above 1 scikit-learn adds votes in the order in which threads
    finish; here they are added in the order of the trees, which is one of those orders.
    """

    LEARNERS = dict.fromkeys((RandomForestClassifier, ExtraTreesClassifier), ("n_estimators",))
    KIND, EXACT = PREFIXES, True

    @classmethod
    def read(cls, forest: Any, values: list[Any], asked: Any) -> Iterator[tuple[Any, Any]]:
        """Add up the votes tree by tree."""
        leaves = forest.apply(asked)
        votes: Floats = np.zeros((leaves.shape[0], len(forest.classes_)))
        for size, tree in enumerate(forest.estimators_, start=1):
            votes += tree.tree_.value[leaves[:, size - 1], 0, :]
            if size in values:
                yield size, forest.classes_.take(np.argmax(votes / size, axis=1), axis=0)


# `n_estimators` or `max_iter` of boosting: stages are added one after the other, so a fit contains the smaller ones.
#
# Early stopping depends on earlier stages, never on how many are still allowed: past the stage at which it stopped, all
# values give the same fit.


STAGES = "predictions by stage"


@register
class GradientStages(SharedPath):
    """Gradient boosting, by trees or by histograms."""

    LEARNERS: ClassVar = {GradientBoostingClassifier: ("n_estimators",), HistGradientBoostingClassifier: ("max_iter",)}
    KIND, EXACT = STAGES, True

    @classmethod
    def read(cls, boosted: Any, values: list[Any], asked: Any) -> Iterator[tuple[Any, Any]]:
        """Read the labels off after each stage."""
        stage = 0
        for stage, labels in enumerate(boosted.staged_predict(asked), start=1):
            if stage in values:
                yield stage, np.reshape(labels, -1)  # for one row, some return a bare label
        for value in values:
            if 0 < stage < value:
                yield value, np.reshape(labels, -1)


@register
class AdaBoostStages(SharedPath):
    """AdaBoost. Its own `staged_predict` divides by weights added in another order than `predict` does, which may
    change a tie; here they are added as in `predict`.
    """

    LEARNERS: ClassVar = {AdaBoostClassifier: ("n_estimators",)}
    KIND, EXACT = STAGES, True

    @classmethod
    def read(cls, boosted: Any, values: list[Any], asked: Any) -> Iterator[tuple[Any, Any]]:
        """Add up the weighted votes stage by stage."""
        classes = boosted.classes_
        if len(classes) < 2:  # only one prediction is possible
            yield from ((value, boosted.predict(asked)) for value in values)
            return
        rows = validate_data(boosted, asked, accept_sparse=["csr", "csc"], dtype=None, reset=False)
        votes: Any = 0
        stages = len(boosted.estimators_)
        for stage, (member, weight) in enumerate(zip(boosted.estimators_, boosted.estimator_weights_), start=1):
            is_class = (member.predict(rows) == classes[:, None]).T
            votes = votes + np.where(is_class, weight, -1 / (len(classes) - 1) * weight)
            for value in values:
                if value == stage or stage == stages < value:
                    yield value, classes.take(_winner(votes, boosted.estimator_weights_, stage, value), axis=0)


def _winner(votes: Any, weights: Any, stages: int, size: int) -> Any:
    """The class with most votes, divided by the sum of `size` weights, of which `stages` were used."""
    used = np.zeros(size)
    used[:stages] = weights[:stages]
    share = votes / used.sum()
    if share.shape[1] == 2:
        share[:, 0] *= -1
        return (share.sum(axis=1) > 0).astype(int)
    return np.argmax(share, axis=1)
