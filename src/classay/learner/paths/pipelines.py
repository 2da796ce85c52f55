"""A parameter inside a Pipeline: which step it belongs to, and the rows as that step sees them."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline


def last_step(learner: Any, param_name: str) -> tuple[Any, str] | None:
    """The learner that a parameter belongs to and its name there: through Pipelines, at any depth.

    None if it belongs to an earlier step, which then has to be fitted anew for every value, or to the Pipeline itself.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    >>> last_step(pipeline, "decisiontreeclassifier__max_depth"), last_step(pipeline, "standardscaler__with_mean")
    ((DecisionTreeClassifier(), 'max_depth'), None)
    """
    # A subclass may fit or predict in a way of its own.
    while type(learner) is Pipeline:
        step, _, inner = param_name.partition("__")
        steps = learner.steps
        if not inner or not steps or steps[-1][0] != step or getattr(learner, "transform_input", None) is not None:
            return None
        learner, param_name = steps[-1][1], inner
    known = hasattr(learner, "get_params") and not isinstance(learner, type) and param_name in learner.get_params()
    return (learner, param_name) if known else None


def through(learner: Any, param_name: str, X: Any, y: Any, asked: Any) -> tuple[Any, str, Any, Any]:
    """Fit earlier steps on X, y once; the last step, its parameter, and both tables as they reach it."""
    while type(learner) is Pipeline:
        if len(learner.steps) > 1:
            earlier = clone(learner[:-1])
            # As the Pipeline does it: fitting and transforming at once may differ from one after the other.
            X = earlier.fit_transform(X, y)
            asked = earlier.transform(asked)
        learner, param_name = learner.steps[-1][1], param_name.partition("__")[2]
    return learner, param_name, X, asked
