"""What a learner is made of, as far as it changes what a figure means."""

from __future__ import annotations

from typing import Any

from sklearn import preprocessing
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

VOTERS = (
    BaggingClassifier,
    ExtraTreesClassifier,
    KNeighborsClassifier,
    RadiusNeighborsClassifier,
    RandomForestClassifier,
)
SCALERS = (
    preprocessing.MaxAbsScaler,
    preprocessing.MinMaxScaler,
    preprocessing.Normalizer,
    preprocessing.PowerTransformer,
    preprocessing.QuantileTransformer,
    preprocessing.RobustScaler,
    preprocessing.StandardScaler,
)


def votes_for_itself(learner: Any) -> bool:
    """Whether a training row is predicted by a vote in which it takes part itself, as among its nearest neighbours.

    Its accuracy on training rows then says nothing about what it memorises.
    """
    return any(isinstance(part, VOTERS) for part in _parts(learner))


def scales(learner: Any) -> bool:
    """Whether it scales columns itself."""
    return any(isinstance(part, SCALERS) for part in _parts(learner))


def with_more_iterations(learner: Any, times: int) -> Any | None:
    """The learner with so many times the iterations; None if it has no `max_iter`, or no fixed one."""
    limits = {
        name: value
        for name, value in _parameters(learner).items()
        if name.split("__")[-1] == "max_iter" and isinstance(value, int) and value > 0
    }
    return clone(learner).set_params(**{name: times * value for name, value in limits.items()}) if limits else None


def _parts(learner: Any) -> list[Any]:
    return [learner, *_parameters(learner).values()]


def _parameters(learner: Any) -> dict[str, Any]:
    try:
        return dict(learner.get_params(deep=True))
    except Exception:  # not every learner has parameters
        return {}
