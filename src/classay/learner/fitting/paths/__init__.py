"""Shared paths: one fit gives the predictions at every value of a parameter, exactly, or exactly in distribution.

| parameter | how | equal to separate fits |
| --- | --- | --- |
| `n_estimators` of forests, extra trees | prefixes of the ensemble | exactly |
| `n_estimators` / `max_iter` of AdaBoost and gradient boosting | predictions by stage | exactly |
| `n_neighbors` of nearest neighbours | one search, running votes | exactly |
| `max_iter` of logistic regression (lbfgs) | the iterates of the solver | exactly |
| `max_depth` of trees and forests, random_state free | the full tree, cut | in distribution |
| `max_iter`, `max_depth` of others | values past saturation are one fit | exactly |
"""

from __future__ import annotations

# Each registers its paths; where several apply, the last is used: iterates share more than values past convergence.
from . import trees  # noqa: F401

# isort: split
from . import neighbours, stages  # noqa: F401
from .shared import SharedPath, fitted, path_for, register

__all__ = ["SharedPath", "fitted", "path_for", "register"]
