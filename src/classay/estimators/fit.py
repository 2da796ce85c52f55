"""One fit of a learner, as all of classay does it: a fresh copy, its seeds set, labels in a form that it accepts.

`fit_once` fits. `guard` keeps what a fit does to the process apart: warnings are collected, global generators are
seeded and put back. Warning filters and global generators belong to the process, so guarded fits on its threads take
turns.
"""

from __future__ import annotations

import copy
import random
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils.metadata_routing import MetadataRouter, get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from .. import seeds
from ..arrays import Floats
from ..expect import InputError
from ..inputs import label_array
from ..private_apis import own_requests
from ..seeds import one_thread
from .adapters import as_given, free_seeds, numbered, short_name

turn = threading.RLock()


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator; `indexed` are the classes that its predictions index, None if they are labels already."""

    estimator: Any
    indexed: NDArray[Any] | None
    warnings: tuple[str, ...] = ()

    def predict(self, X: Any) -> NDArray[Any]:
        """Its predictions, as labels of the user."""
        return as_given(self.estimator.predict(X), self.indexed)

    @property
    def classes(self) -> NDArray[Any]:
        """The classes in the order of its scores, as labels of the user."""
        return as_given(label_array(self.estimator.classes_, "classes_"), self.indexed)


def seeded(learner: Any, seed: int, purpose: str, *place: int) -> dict[str, int]:
    """A value for every seed that the user left free, by purpose and place."""
    free = free_seeds(learner)
    return dict(zip(free, seeds.integers(seed, purpose, *place, count=len(free)))) if free else {}


def fresh_copy(learner: Any, random_states: Mapping[str, int]) -> Any:
    """An unfitted copy, with these seeds."""
    fresh = clone(learner)
    if random_states:
        fresh.set_params(**random_states)
    return fresh


def fit_once(
    learner: Any,
    X: Any,
    y: NDArray[Any],
    random_states: Mapping[str, int] | None = None,
    limit: AbstractContextManager[Any] | None = None,
    sample_weight: Floats | None = None,
) -> Fitted:
    """Fit a copy of the learner on all rows, on one thread: threads of several fits would wait for each other.

    `limit` surrounds the fit alone, to stop one that takes too long.
    """
    fresh = fresh_copy(learner, random_states or {})
    labels, indexed = numbered(fresh, y)
    # Workers that a learner starts would outlive a run that is killed.
    with one_thread(), joblib.parallel_config(backend="sequential"), limit or nullcontext():
        if sample_weight is None:
            fresh.fit(X, labels)
        else:
            fit_weighted(fresh, X, labels, sample_weight)
    return Fitted(fresh, indexed)


class Watched:
    """What happened inside `guard`."""

    def __init__(self, caught: list[warnings.WarningMessage], begin: tuple[bytes, int] | None) -> None:
        self._caught, self._begin = caught, begin

    def warnings(self) -> list[str]:
        """Category and first line of each warning, in order, each once."""
        return list(dict.fromkeys(_headline(each) for each in self._caught))

    def drew(self) -> bool:
        """Whether numpy's global generator was used. Python's is not checked: other threads of a cluster use it."""
        return self._begin is not None and _numpy_state() != self._begin


@contextmanager
def guard(process_seed: int | None = None) -> Iterator[Watched]:
    """Collect warnings; with a seed, also seed the global generators of numpy and Python, and put them back after."""
    with turn, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if process_seed is None:
            yield Watched(caught, None)
            return
        before = np.random.get_state(), random.getstate()
        np.random.seed(process_seed)
        random.seed(process_seed)
        try:
            yield Watched(caught, _numpy_state())
        finally:
            np.random.set_state(before[0])
            random.setstate(before[1])


def _headline(warning: warnings.WarningMessage) -> str:
    first = str(warning.message).strip().partition("\n")[0]
    return f"{warning.category.__name__}: {first}"


def _numpy_state() -> tuple[bytes, int]:
    _, keys, place, *_ = np.random.get_state()
    return np.asarray(keys).tobytes(), int(place)


# Weights of rows, by the rules of scikit-learn: as an argument of `fit`, or by metadata routing.
#
# A learner whose `fit` takes `sample_weight` gets it. A Pipeline, a search or another learner made of others routes it
# to the parts that requested it (`set_fit_request`); if no part has, to every classifier and regressor in it that takes
# it, and to no transformer. Scores inside a search stay unweighted unless requested.


WEIGHT = "sample_weight"


def expect_weights(learner: Any) -> None:
    """Refuse a learner that cannot take weights, before any fit."""
    learner = clone(learner)
    if _routes(learner):
        with config_context(enable_metadata_routing=True):
            _request(learner)
            if WEIGHT in get_routing_for_object(learner).consumes("fit", [WEIGHT]):
                return
            why = "no part of it takes them, or none that requested them"
    elif has_fit_parameter(learner, WEIGHT):
        return
    else:
        why = "its fit has no `sample_weight`"
    raise InputError(
        f"{short_name(learner)} cannot use weights of rows: {why}. Leave `sample_weight` out, or use a learner that "
        "takes it."
    )


def fit_weighted(learner: Any, X: Any, y: Any, weights: Floats) -> None:
    """Fit a learner in place, with the weights where they belong."""
    if not _routes(learner):
        learner.fit(X, y, sample_weight=weights)
        return
    # The setting belongs to the thread, so it is set around every fit.
    with config_context(enable_metadata_routing=True):
        _request(learner)
        learner.fit(X, y, sample_weight=weights)


def weight_requests(learner: Any) -> dict[str, Any]:
    """What users requested for the weights, by part: parameters do not show it."""
    named = {"": learner, **learner.get_params(deep=True)}
    with config_context(enable_metadata_routing=True):
        found = {
            f"{name}.{method}": _requested(part, method)
            for name, part in named.items()
            if hasattr(part, "get_metadata_routing") and not isinstance(part, type)
            for method in ("fit", "score")
        }
    return {name: request for name, request in sorted(found.items()) if request is not None}


def _routes(learner: Any) -> bool:
    """Whether it hands metadata on to parts; some learners made of others cannot, and take weights themselves."""
    with config_context(enable_metadata_routing=True):
        try:
            return isinstance(get_routing_for_object(learner), MetadataRouter) and bool(list(_parts(learner)))
        except NotImplementedError:
            return False


def _request(learner: Any) -> None:
    """Request weights for every predictor that takes them if the user requested nothing; all else as requested."""
    parts = list(_parts(learner))
    by_user = any(_requested(part, "fit") is not None for part in parts)
    for part in parts:
        if _takes(part, "fit") and _requested(part, "fit") is None:
            part.set_fit_request(**{WEIGHT: not by_user and (is_classifier(part) or is_regressor(part))})
    by_weight = any(_requested(part, "score") for part in parts)
    for router in (learner, *parts):
        if not isinstance(get_routing_for_object(router), MetadataRouter) or not hasattr(router, "scoring"):
            continue
        if router.scoring is not None or not by_weight:
            router.set_params(scoring=_unweighted(router.scoring))


def _unweighted(scoring: Any) -> Any:
    """Scorers that say whether they take weights: without a word of the user, they do not."""
    if scoring is None:
        return own_score
    if isinstance(scoring, dict):
        return {name: _unweighted(one) for name, one in scoring.items()}
    if isinstance(scoring, (list, tuple, set)):
        return {name: _unweighted(name) for name in scoring}
    if isinstance(scoring, str) and scoring in get_scorer_names():
        scoring = get_scorer(scoring)
    if _takes(scoring, "score") and _requested(scoring, "score") is None:
        return copy.copy(scoring).set_score_request(**{WEIGHT: False})
    return scoring


def own_score(estimator: Any, X: Any, y: Any) -> float:
    """What an estimator's `score` gives without weights, as a search without `scoring` uses it."""
    # With routing, the score of a Pipeline fails unless its last step requests weights (scikit-learn 1.9).
    with config_context(enable_metadata_routing=False):
        return float(estimator.score(X, y))


def _parts(learner: Any) -> Iterator[Any]:
    """The estimators inside a learner."""
    seen = {id(learner)}
    for part in learner.get_params(deep=True).values():
        if hasattr(part, "get_metadata_routing") and not isinstance(part, type) and id(part) not in seen:
            seen.add(id(part))
            yield part


def _takes(part: Any, method: str) -> bool:
    return hasattr(part, f"set_{method}_request") and WEIGHT in own_requests(part, method)


def _requested(part: Any, method: str) -> Any:
    """What was requested: True, False, another name, or None for nothing."""
    return own_requests(part, method).get(WEIGHT)
