"""`max_iter` of logistic regression (lbfgs): the solver's iterate after m steps is the fit with max_iter=m.

The iterates are read by scikit-learn's own callbacks (`set_callbacks`, since version 1.9); older versions have none,
and then only values past convergence share (`saturation`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from .shared import SharedPath, ascending, register

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
        """Predict with the coefficients of each iterate."""
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
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to clear up."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing is known yet."""

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
