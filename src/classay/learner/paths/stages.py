"""`n_estimators` or `max_iter` of boosting: stages are added one after the other, so smaller fits are on the way.

Early stopping looks at what came before, never at how many stages are still allowed: past the stage at which it
stopped, all values are one fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.utils.validation import validate_data

from .shared import SharedPath, fitted, is_count, positive, register

KIND = "predictions by stage"


@register
class GradientStages(SharedPath):
    """Gradient boosting, by trees or by histograms."""

    KIND = KIND
    EXACT = True

    @classmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether it is scikit-learn's own gradient boosting, and all values are whole numbers."""
        known = {GradientBoostingClassifier: "n_estimators", HistGradientBoostingClassifier: "max_iter"}
        return known.get(type(learner)) == param_name and all(map(is_count, values))

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """Read the labels off after each stage."""
        wanted = positive(values)
        if not wanted:
            return
        boosted = fitted(learner, param_name, wanted[-1], X, y)
        stage = 0
        for stage, labels in enumerate(boosted.staged_predict(asked), start=1):
            if stage in wanted:
                yield stage, np.reshape(labels, -1)  # of one row, some give a bare label
        for value in wanted:
            if 0 < stage < value:
                yield value, np.reshape(labels, -1)


@register
class AdaBoostStages(SharedPath):
    """AdaBoost. Its own `staged_predict` divides by weights added up in another order than `predict` does, which
    may tip a tie; here they are added as in `predict`.
    """

    KIND = KIND
    EXACT = True

    @classmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether it is scikit-learn's own AdaBoost, and all values are whole numbers."""
        return type(learner) is AdaBoostClassifier and param_name == "n_estimators" and all(map(is_count, values))

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """Add up the weighted votes stage by stage."""
        wanted = positive(values)
        if not wanted:
            return
        boosted = fitted(learner, param_name, wanted[-1], X, y)
        classes = boosted.classes_
        if len(classes) < 2:  # it knows one answer
            yield from ((value, boosted.predict(asked)) for value in wanted)
            return
        rows = validate_data(boosted, asked, accept_sparse=["csr", "csc"], dtype=None, reset=False)
        votes: Any = 0
        stages = len(boosted.estimators_)
        for stage, (member, weight) in enumerate(zip(boosted.estimators_, boosted.estimator_weights_), start=1):
            is_class = (member.predict(rows) == classes[:, None]).T
            votes = votes + np.where(is_class, weight, -1 / (len(classes) - 1) * weight)
            for value in wanted:
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
