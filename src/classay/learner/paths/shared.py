"""What a shared path is: one fit that answers for every value of a parameter, and where paths are registered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import clone

from ...engine.limits import TimeLimitExceeded
from .pipelines import through


class SharedPath(ABC):
    """One fit that answers for many values of one parameter, because what smaller values learn is part of it.

    A path says which learners and values it knows (`applies`) and walks along them (`along`). The rest is here: earlier
    steps of a Pipeline are fitted and applied once, and a value that `along` leaves out, because it is invalid or does
    not share, is fitted by itself. So an error is told of its own value, in the words of a separate fit.

    A learner of a third party, say one with `predict(X, iteration_range=(0, n))`, joins with one small class:

        from classay.learner.paths import SharedPath, fitted, is_count, positive, register

        @register
        class TreesOfBoosters(SharedPath):
            KIND, EXACT = "prefixes of the trees", True

            @classmethod
            def applies(cls, learner, param_name, values):
                return type(learner) is Booster and param_name == "n_estimators" and all(map(is_count, values))

            @classmethod
            def along(cls, learner, param_name, values, X, y, asked):
                booster = fitted(learner, param_name, max(values), X, y)
                for value in positive(values):
                    yield value, booster.predict(asked, iteration_range=(0, value))

    """

    KIND: ClassVar[str]
    """What is shared, for records and results."""
    EXACT: ClassVar[bool]
    """True: bit for bit the labels of separate fits. False: the same in distribution."""
    ONE_FIT: ClassVar[bool] = True
    """Whether one fit is enough for all values; such a path goes before others."""

    @classmethod
    @abstractmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether the path holds for this learner, as the user set it, and knows all values."""

    @classmethod
    @abstractmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """Pairs of a value and its labels for the rows `asked`, in any order; values are distinct.

        What is left out, or not reached because something raises, is fitted by itself.
        """

    @classmethod
    def answers(cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any) -> Iterator[Any]:
        """Fit the learner once on X, y; yield for each of `values`, in order, its labels for the rows `asked`.

        The learner is unfitted and stays so; every `random_state` that was free is set. Labels are what `predict`
        gives. In place of labels, the exception that a separate fit raises is yielded, for its value alone. Only a
        limit on time ends the walk.
        """
        try:
            learner, param_name, X, asked = through(learner, param_name, X, y, asked)
        except TimeLimitExceeded:
            raise
        except Exception as error:  # an earlier step may raise anything, and would for every value
            yield from [error] * len(values)
            return
        found: dict[Any, Any] = {}
        try:
            found.update(cls.along(learner, param_name, list(dict.fromkeys(values)), X, y, asked))
        except TimeLimitExceeded:
            raise
        except Exception:  # whatever it was, a fit of each value by itself tells it better
            pass
        for value in values:
            if value not in found:
                found[value] = by_itself(learner, param_name, value, X, y, asked)
            yield found[value]


PATHS: list[type[SharedPath]] = []
P = TypeVar("P", bound=type[SharedPath])


def register(path: P) -> P:
    """Make a path known to `path_for`; of several that apply, the one registered last is taken."""
    PATHS.append(path)
    return path


def fitted(learner: Any, param_name: str, value: Any, X: Any, y: Any) -> Any:
    """A copy of the learner with one parameter set, fitted."""
    return clone(learner).set_params(**{param_name: value}).fit(X, y)


def by_itself(learner: Any, param_name: str, value: Any, X: Any, y: Any, asked: Any) -> Any:
    """What a separate fit answers for one value, or the exception that it raises."""
    try:
        return fitted(learner, param_name, value, X, y).predict(asked)
    except TimeLimitExceeded:
        raise
    except Exception as error:  # a learner may raise anything; the other values go on
        return error


def is_count(value: Any) -> bool:
    """Whether a value is a whole number; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def positive(values: Sequence[Any]) -> list[int]:
    """The whole numbers from 1 up among the values, in ascending order; others no learner takes."""
    return sorted(value for value in values if is_count(value) and value >= 1)
