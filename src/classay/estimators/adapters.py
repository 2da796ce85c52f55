"""What is needed from a learner of any package: its name, its seeds, and the labels it accepts."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

LONGEST = 60
SEEDS = ("random_state", "random_seed")
REPEATABLE = {"sklearn", "classay", "numpy"}
"""Packages whose learners are random by a seed or not at all."""


def short_name(learner: Any) -> str:
    """Class and changed parameters on one line, cut at 60 characters; for a learner wrapped by `encoded`, its own.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> short_name(KNeighborsClassifier(3)), short_name(KNeighborsClassifier())
    ('KNeighborsClassifier(n_neighbors=3)', 'KNeighborsClassifier')
    """
    steps = getattr(learner, "steps", None)
    if isinstance(steps, list) and [name for name, _ in steps] == ["encode", "learner"]:
        learner = steps[1][1]
    text = " ".join(_spelled(learner).split())
    text = type(learner).__name__ if text.startswith("<") else text.removesuffix("()")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def free_seeds(learner: Any) -> list[str]:
    """Names of the learner's seeds, at any depth, that the user left free.

    >>> from sklearn.svm import SVC
    >>> free_seeds(SVC()), free_seeds(SVC(random_state=0))
    (['random_state'], [])
    """
    return sorted(name for name, value in _seeds(learner).items() if value is None)


def has_seed(learner: Any) -> bool:
    """Whether the learner has a seed anywhere."""
    return bool(_seeds(learner))


def is_repeatable(learner: Any) -> bool:
    """Whether fits on the same rows must agree: no seed is free, and no part is of a package that may do anything.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> is_repeatable(KNeighborsClassifier()), is_repeatable(KNeighborsClassifier(metric=max))
    (True, False)
    """
    parts = [learner, *learner.get_params(deep=True).values()]
    packages = {str(getattr(p, "__module__", "")).split(".")[0] for p in parts if callable(p) or hasattr(p, "fit")}
    return not free_seeds(learner) and packages <= REPEATABLE


def parameters_of(learner: Any) -> dict[str, Any]:
    """All parameters, at any depth, by name; those that CatBoost does not list because they were not set are None."""
    listed = dict(learner.get_params(deep=True))
    if not _lists_what_was_set(learner):
        return listed
    return {**dict.fromkeys(inspect.signature(type(learner)).parameters), **listed}


def numbered(learner: Any, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Labels as the learner accepts them, and the classes that its predictions index; None: predictions are labels.

    Classifiers of XGBoost only accept whole numbers from 0 without gaps.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> numbered(GaussianNB(), np.array(["no", "yes"]))
    (array(['no', 'yes'], dtype='<U3'), None)
    """
    last = learner
    while True:  # into Pipelines, searches and other wrappers of one learner
        if isinstance(getattr(last, "steps", None), list) and last.steps:
            last = last.steps[-1][1]
        elif hasattr(getattr(last, "estimator", None), "get_params"):
            last = last.estimator
        else:
            break
    if not _is_from("xgboost", last) or not hasattr(last, "predict_proba"):
        return y, None
    classes, codes = np.unique(y, return_inverse=True)
    return codes, classes


def as_given(predicted: Any, classes: NDArray[Any] | None = None) -> NDArray[Any]:
    """The predictions of a learner, one label per row, as the labels were before `numbered`."""
    labels = np.asarray(predicted)
    if labels.ndim == 2 and labels.shape[1] == 1:  # CatBoost, with three classes or more
        labels = labels[:, 0]
    return labels if classes is None else classes[labels.astype(np.intp)]


def kind_of(learner: Any) -> str | None:
    """The type that the learner declares: classifier, regressor, …; None if it does not."""
    try:
        kind: str | None = get_tags(learner).estimator_type
    except AttributeError:  # it does not build on BaseEstimator
        return None
    return kind


def _seeds(learner: Any) -> dict[str, Any]:
    """Values of all parameters that are a `random_state` or `random_seed`, by name."""
    parameters = learner.get_params(deep=True)
    seeds = {name: value for name, value in parameters.items() if name.split("__")[-1] in SEEDS}
    for name, part in {"": learner, **parameters}.items():
        # If not set, such a seed is the same for every fit.
        if _lists_what_was_set(part):
            own = f"{name}__" if name else ""
            if not any(f"{own}{seed}" in seeds for seed in SEEDS):
                seeds[f"{own}random_seed"] = None
    return seeds


def _lists_what_was_set(learner: Any) -> bool:
    """Whether `get_params` only lists what was set, as CatBoost's learners do."""
    return _is_from("catboost", learner) and hasattr(learner, "predict")


def _is_from(package: str, learner: Any) -> bool:
    return any(kind.__module__.split(".")[0] == package for kind in type(learner).__mro__)


def _spelled(learner: Any) -> str:
    """As `repr` prints it; if a class takes its parameters as **others, `repr` treats all of them as changed."""
    try:
        takes = inspect.signature(type(learner)).parameters.values()
        if not hasattr(learner, "get_params") or all(each.kind is not each.VAR_KEYWORD for each in takes):
            return repr(learner)
        usual = type(learner)().get_params(deep=False)
    except Exception:  # a third-party class may do anything here; only its name is needed
        return repr(learner)
    changed = {
        name: value
        for name, value in learner.get_params(deep=False).items()
        if name not in usual or repr(usual[name]) != repr(value)
    }
    return f"{type(learner).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"
