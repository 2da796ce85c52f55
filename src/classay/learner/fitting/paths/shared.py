"""What a shared path is: one fit that gives the predictions at every value of a parameter. Paths register here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from ....engine.pool import TimeLimitExceeded


class SharedPath:
    """One fit that gives the predictions at many values of a parameter, because smaller values are part of it.

    A path names the learners that it knows (`LEARNERS`, `holds`) and reads the predictions at all values off the fit of
    the largest (`read`), or walks along them in its own way (`along`). The rest is here: earlier steps of a Pipeline
    are fitted and applied once, and a value that is left out, because it is invalid or does not share, is fitted by
    itself. So an error is reported for its own value, as a separate fit reports it.

    A third-party learner, say one with `predict(X, iteration_range=(0, n))`, is added with one small class:

        from classay.learner.fitting.paths import SharedPath, register

        @register
        class TreesOfBoosters(SharedPath):
            LEARNERS = {Booster: ("n_estimators",)}
            KIND, EXACT = "prefixes of the trees", True

            @classmethod
            def read(cls, booster, values, asked):
                for value in values:
                    yield value, booster.predict(asked, iteration_range=(0, value))

    """

    LEARNERS: ClassVar[Mapping[Any, tuple[str, ...]]] = {}
    """The parameters of each class of learners; a class of a library that is not imported by its full name."""
    KIND: ClassVar[str]
    """What is shared, for records and results."""
    EXACT: ClassVar[bool]
    """True: bit for bit the labels of separate fits. False: the same in distribution."""
    ONE_FIT: ClassVar[bool] = True
    """Whether one fit is enough for all values; such a path takes precedence."""

    @classmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether the path holds for this learner, as the user set it, and knows all values.

        A subclass of a known class may fit or predict in its own way.
        """
        kind = type(learner)
        known = cls.LEARNERS.get(kind, cls.LEARNERS.get(f"{kind.__module__}.{kind.__qualname__}", ()))
        return param_name in known and cls.are_values(param_name, values) and bool(cls.holds(learner))

    @classmethod
    def are_values(cls, param_name: str, values: Sequence[Any]) -> bool:
        """Whether values are of the kind that the path knows: whole numbers."""
        return all(map(is_count, values))

    @classmethod
    def holds(cls, learner: Any) -> bool:
        """Whether the path holds with the settings of a learner that it knows."""
        return True

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """Pairs of a value and its labels for the rows `asked`, in any order; values are distinct.

        A value that is left out, or not reached because something raises, is fitted by itself.
        """
        valid = ascending(values)
        if valid:
            yield from cls.read(fitted(learner, param_name, valid[-1], X, y), valid, asked)

    @classmethod
    def read(cls, fit: Any, values: list[Any], asked: Any) -> Iterator[tuple[Any, Any]]:
        """Pairs of a value and its labels, from the fit of the largest; values ascend."""
        raise NotImplementedError

    @classmethod
    def answers(cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any) -> Iterator[Any]:
        """Fit the learner once on X, y; yield for each of `values`, in order, its labels for the rows `asked`.

        The learner is unfitted and stays so; every `random_state` that was free is set. Labels are what `predict`
        returns. If a separate fit of a value raises, that exception is yielded instead, for this value alone. Only a
        time limit ends the walk.
        """
        try:
            learner, param_name, X, asked = through(learner, param_name, X, y, asked)
        except TimeLimitExceeded:
            raise
        except Exception as error:  # an earlier step may raise anything, and would for every value
            yield from [error] * len(values)
            return
        by_value: dict[Any, Any] = {}
        try:
            by_value.update(cls.along(learner, param_name, list(dict.fromkeys(values)), X, y, asked))
        except TimeLimitExceeded:
            raise
        except Exception:  # whatever it was, a separate fit of each value reports it better
            pass
        for value in values:
            if value not in by_value:
                by_value[value] = by_itself(learner, param_name, value, X, y, asked)
            yield by_value[value]


PATHS: list[type[SharedPath]] = []
P = TypeVar("P", bound=type[SharedPath])


def register(path: P) -> P:
    """Make a path known to `path_for`; if several apply, the one registered last is used."""
    PATHS.append(path)
    return path


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
    able = [path for path in reversed(PATHS) if path.applies(*step, values)]
    return next((path for path in able if path.ONE_FIT), able[0] if able else None)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def fitted(learner: Any, param_name: str, value: Any, X: Any, y: Any) -> Any:
    """A copy of the learner with one parameter set, fitted."""
    return clone(learner).set_params(**{param_name: value}).fit(X, y)


def by_itself(learner: Any, param_name: str, value: Any, X: Any, y: Any, asked: Any) -> Any:
    """The predictions of a separate fit for one value, or the exception that it raises."""
    try:
        return fitted(learner, param_name, value, X, y).predict(asked)
    except TimeLimitExceeded:
        raise
    except Exception as error:  # a learner may raise anything; the other values go on
        return error


def is_count(value: Any) -> bool:
    """Whether a value is a whole number; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def ascending(values: Sequence[Any]) -> list[Any]:
    """The whole numbers from 1 up among the values, in order, and None (no limit) as the largest; others fail."""
    return sorted(value for value in values if is_count(value) and value >= 1) + [None] * (None in values)


def alike(values: Sequence[Any], used: int) -> list[Any]:
    """The largest of ascending values, which was fitted, and all above what it used: they give the same fit.

    A value equal to what was used is not included: the last step, or the deepest nodes, were tried without it.
    """
    return [value for value in values if value == values[-1] or value > used]


# A parameter inside a Pipeline: the step it belongs to, and the rows as that step receives them.


def last_step(learner: Any, param_name: str) -> tuple[Any, str] | None:
    """The learner that a parameter belongs to and its name there: through Pipelines, at any depth.

    None if it belongs to an earlier step, which must then be fitted again for every value, or to the Pipeline itself.
    """
    # A subclass may fit or predict in its own way.
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
            # As the Pipeline does: fitting and transforming at once may differ from one after the other.
            X = earlier.fit_transform(X, y)
            asked = earlier.transform(asked)
        learner, param_name = learner.steps[-1][1], param_name.partition("__")[2]
    return learner, param_name, X, asked
