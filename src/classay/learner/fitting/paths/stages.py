"""Fits that pass through the smaller ones: `n_estimators` of ensembles, `max_iter` of boosting and logistic regression.

The first n members of a larger forest are the smaller one: seeds of members are drawn one after the other from the
ensemble's, so member i is the same in every ensemble of more than i members. Votes are added in scikit-learn's order,
so that even ties are resolved the same way.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import validate_data

from ....arrays import Floats
from .shared import SharedPath, ascending, register

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


# `max_iter` of logistic regression (lbfgs): the solver's iterate after m steps is the fit with max_iter=m.
#
# The iterates are read by scikit-learn's own callbacks (`set_callbacks`, since version 1.9); older versions have none,
# and then only values past convergence share.


Coefficients = tuple[NDArray[Any], NDArray[Any]]


@register
class Iterates(SharedPath):
    """Logistic regression by lbfgs, whose steps do not depend on how many are still allowed."""

    LEARNERS: ClassVar = {LogisticRegression: ("max_iter",)}
    KIND, EXACT = "the iterates of the solver", True

    @classmethod
    def holds(cls, learner: Any) -> bool:
        """Whether it is solved by lbfgs, without callbacks of the user."""
        return (
            learner.solver == "lbfgs" and hasattr(learner, "set_callbacks") and not hasattr(learner, "_skl_callbacks")
        )

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        valid = ascending(values)
        if not valid:
            return
        watch = Watch(valid)
        regression = clone(learner).set_params(**{param_name: valid[-1]})
        regression.set_callbacks(watch).fit(X, y)
        # Past convergence all values give the same fit, and so does the value at which the solver was stopped.
        last = regression.predict(asked)
        for value in valid:
            kept = watch.kept.get(value)
            yield value, last if kept is None else _with(regression, *kept).predict(asked)


class Watch:
    """A callback that keeps the coefficients after some steps of the solver."""

    def __init__(self, steps: Sequence[int]):
        """`steps` are counted from 1."""
        self.steps = set(steps)
        self.kept: dict[int, Coefficients] = {}

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing is known before a step has ended, and there is nothing to clear up."""

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> None:
        """Keep the coefficients of the step; a task that ends without a classifier was never run."""
        step = context.task_id + 1
        if context.task_name == "lbfgs-iter" and step in self.steps and fitted_estimator is not None:
            self.kept[step] = fitted_estimator.coef_, fitted_estimator.intercept_


def _with(regression: Any, coefficients: NDArray[Any], intercept: NDArray[Any]) -> Any:
    """The fitted regression with other coefficients, with the memory layout that a fit gives them.

    Products of matrices in another layout may be rounded differently.
    """
    other = copy.copy(regression)
    rows, columns = coefficients.shape
    table = np.empty((rows, columns + bool(regression.fit_intercept)), dtype=coefficients.dtype)
    table[:, :columns] = coefficients
    other.coef_, other.intercept_ = table[:, :columns], np.array(intercept)
    if regression.fit_intercept:
        table[:, -1] = intercept
        other.intercept_ = table[:, -1]
    return other
