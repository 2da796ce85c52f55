"""`n_estimators` of forests and bagging: the first n members of a larger ensemble are the smaller one.

Seeds of members are drawn one after the other from the ensemble's, so member i is the same in every ensemble of more
than i members. Votes are added up in the order in which scikit-learn adds them, so that even ties fall alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils.validation import validate_data

from .shared import SharedPath, fitted, is_count, positive, register

Floats = NDArray[np.float64]
KIND = "prefixes of the ensemble"


@register
class ForestPrefixes(SharedPath):
    """Random forests and extra trees. With `n_jobs` above 1 scikit-learn adds votes in the order in which threads
    finish; here they are added in the order of the trees, which is one of those orders.
    """

    KIND = KIND
    EXACT = True

    @classmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether it is scikit-learn's own forest, and all values are whole numbers."""
        forests = (RandomForestClassifier, ExtraTreesClassifier)
        return type(learner) in forests and param_name == "n_estimators" and all(map(is_count, values))

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """Add up the votes tree by tree."""
        wanted = positive(values)
        if not wanted:
            return
        forest = fitted(learner, param_name, wanted[-1], X, y)
        leaves = forest.apply(asked)
        votes: Floats = np.zeros((leaves.shape[0], len(forest.classes_)))
        for size, tree in enumerate(forest.estimators_, start=1):
            votes += tree.tree_.value[leaves[:, size - 1], 0, :]
            if size in wanted:
                yield size, forest.classes_.take(np.argmax(votes / size, axis=1), axis=0)


@register
class BaggingPrefixes(SharedPath):
    """Bagging of any learner, over rows and over columns."""

    KIND = KIND
    EXACT = True

    @classmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether it is scikit-learn's own bagging, and all values are whole numbers."""
        return type(learner) is BaggingClassifier and param_name == "n_estimators" and all(map(is_count, values))

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """Add up the votes member by member, or, as scikit-learn does with several jobs, job by job."""
        wanted = positive(values)
        if not wanted:
            return
        bag = fitted(learner, param_name, wanted[-1], X, y)
        rows = validate_data(bag, asked, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False, reset=False)
        each = (
            _votes(member, rows[:, columns], len(bag.classes_))
            for member, columns in zip(bag.estimators_, bag.estimators_features_)
        )
        jobs = effective_n_jobs(bag.n_jobs)
        sums = _running(each) if jobs == 1 else _by_job(list(each), jobs, wanted)
        for size, votes in sums:
            if size in wanted:
                yield size, bag.classes_.take(np.argmax(votes / size, axis=1), axis=0)


def _votes(member: Any, rows: Any, n_classes: int) -> Floats:
    """Probabilities that one member gives to all classes, of which its own sample may lack some."""
    votes: Floats = np.zeros((rows.shape[0], n_classes))
    if hasattr(member, "predict_proba"):
        votes[:, member.classes_] += member.predict_proba(rows)
    else:
        votes[np.arange(rows.shape[0]), member.predict(rows)] += 1
    return votes


def _running(each: Iterator[Floats]) -> Iterator[tuple[int, Floats]]:
    total: Any = 0.0
    for size, votes in enumerate(each, start=1):
        total = total + votes
        yield size, total


def _by_job(each: list[Floats], jobs: int, sizes: Sequence[int]) -> Iterator[tuple[int, Floats]]:
    """Sums of sums, one a job: another order of addition may tip a tie."""
    for size in sizes:
        parts = np.array_split(np.arange(size), min(jobs, size))
        yield size, sum(sum((each[member] for member in part), 0.0) for part in parts)  # type: ignore[misc]
