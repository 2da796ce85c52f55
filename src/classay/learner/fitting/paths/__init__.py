"""Shared paths: one fit gives the predictions at every value of a parameter, exactly, or exactly in distribution.

| parameter | how | equal to separate fits |
| --- | --- | --- |
| `n_estimators` of forests, extra trees, bagging | prefixes of the ensemble | exactly |
| `n_estimators` / `max_iter` of AdaBoost and gradient boosting | predictions by stage | exactly |
| `n_estimators` of LightGBM and XGBoost | prefixes of the trees | exactly |
| `n_neighbors` of nearest neighbours | one search, running votes | exactly |
| `max_iter` of logistic regression (lbfgs) | the iterates of the solver | exactly |
| `max_depth` of trees and forests, random_state free | the full tree, cut | in distribution |
| `C`, `nu`, `tol`, `max_iter` of SVC and NuSVC (rbf) | fits by value, one kernel | exactly |
| `max_iter`, `max_depth` of others | values past saturation are one fit | exactly |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Each registers its paths.
from . import ensembles, iterates, kernels, neighbours, trees  # noqa: F401
from .shared import PATHS, SharedPath, fitted, is_count, last_step, positive, register

__all__ = ["SharedPath", "fitted", "is_count", "path_for", "positive", "register"]


def path_for(learner: Any, param_name: str, values: Sequence[Any]) -> type[SharedPath] | None:
    """The path along which one fit gives the predictions at all values of a parameter, or None: fit value by value.

    Pass the learner as the user set it, before free seeds are drawn: if a path holds only in distribution, a
    `random_state` that the user fixed asks for the fits of that very seed, and the path is not used.

    Parameters
    ----------
    learner : an unfitted classifier or Pipeline
    param_name : as `set_params` takes it; inside a Pipeline `step__parameter`, of its last step
    values : all values of the sweep

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> path = path_for(RandomForestClassifier(), "n_estimators", [10, 50, 100])
    >>> path.KIND, path.EXACT
    ('prefixes of the ensemble', True)
    >>> path_for(RandomForestClassifier(), "max_features", [1, 2, 3]) is None
    True

    """
    step = last_step(learner, param_name)
    values = list(values)
    # One value has nothing to share with, and values that cannot be hashed are not numbers.
    if step is None or not all(_hashable(value) for value in values) or len(set(values)) < 2:
        return None
    candidates = [path for path in reversed(PATHS) if not path.PARAMETERS or step[1] in path.PARAMETERS]
    able = [path for path in candidates if path.applies(*step, values)]
    return next((path for path in able if path.ONE_FIT), able[0] if able else None)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
