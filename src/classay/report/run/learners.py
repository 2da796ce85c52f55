"""The learners of a report: as users bring them, or by default, tried on the table before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn import preprocessing
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

from ...estimators.adapters import kind_of
from ...estimators.fit import expect_weights
from ...estimators.spec import learners_from_texts
from ...estimators.trial import ready
from ...expect import InputError
from ...learner.fitting import checks
from ...tables.data import Data

RESERVED = ("data", "classes")
CONTRAST = ("tree", "nearest neighbours")
"""Of these, only for contrast: a page has their figures, but no warnings about them."""
USUAL = (
    "boosting=HistGradientBoostingClassifier",
    "forest=RandomForestClassifier",
    "logistic regression=make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))",
    "tree=DecisionTreeClassifier",
    "nearest neighbours=make_pipeline(StandardScaler(), KNeighborsClassifier())",
)


def default_learners(contrast: bool = True) -> dict[str, Any]:
    """Gradient boosting, a forest and logistic regression; a tree and nearest neighbours for contrast."""
    learners = learners_from_texts(list(USUAL))
    return {name: one for name, one in learners.items() if contrast or name not in CONTRAST}


def learners_from(learners: Any) -> dict[str, Any]:
    """Learners by name, each an unfitted copy. One learner, or a list, is named after its class."""
    named = _named(learners)
    if not named:
        raise InputError("`learners` is empty; expected at least one, as in {'tree': DecisionTreeClassifier()}.")
    checked = {}
    for name, one in named.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"`learners` has the name {name!r}; expected a string that is not empty.")
        try:
            checked[name], _ = checks.unfitted_learner(one)
        except InputError as mistake:
            raise InputError(f"{name!r}: {mistake}") from None
        if kind_of(checked[name]) == "regressor":
            raise InputError(f"{name!r} is a regressor; expected a classifier. Use `classay.stability` for regressors.")
    if any(name in checked for name in RESERVED):
        raise InputError(
            "A learner is named 'data' or 'classes', but these names are reserved for other figures. Rename it."
        )
    return checked


def _named(learners: Any) -> dict[Any, Any]:
    if isinstance(learners, Mapping):
        return dict(learners)
    # A Pipeline has a length, but is one learner.
    several = list(learners) if isinstance(learners, (list, tuple)) else [learners]
    if any(isinstance(one, (str, bytes)) for one in several):
        raise InputError(
            f"`learners` is {learners!r}; expected a learner, a list of learners, or a dict of names and learners, as "
            'in {"tree": DecisionTreeClassifier()}.'
        )
    names: dict[str, Any] = {}
    for one in several:
        base = name = _class_name(one)
        times = 1
        while name in names:
            times += 1
            name = f"{base} {times}"
        names[name] = one
    return names


def _class_name(learner: Any) -> str:
    """The name of its class; of a Pipeline, that of its last step."""
    steps = getattr(learner, "steps", None)
    last = steps[-1][1] if isinstance(steps, list) and steps else learner
    return last.__name__ if isinstance(last, type) else type(last).__name__


def tried(learners: Mapping[str, Any], data: Data, seed: int) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """Try each learner on a few rows: learners that take the table, how it is changed for some, why others fail.

    Raises InputError if none takes it.
    """
    usable: dict[str, Any] = {}
    wrapped: dict[str, str] = {}
    failed: dict[str, str] = {}
    for name, learner in learners.items():
        try:
            if data.per_row.weights is not None:
                expect_weights(learner)
            trial = ready(learner, data.X, data.y, seed, data.texts)
        except InputError as mistake:
            failed[name] = str(mistake)
            continue
        usable[name] = trial.learner
        if trial.wrapped:
            wrapped[name] = trial.wrapped
    if learners and not usable:
        refuse_none(failed)
    return usable, wrapped, failed


def refuse_none(failed: Mapping[str, str]) -> None:
    """Raise what made every learner fail."""
    raise InputError(f"No learner could be fitted. {' '.join(f'{name}: {why}' for name, why in failed.items())}")


# Properties that change how figures are read.


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
