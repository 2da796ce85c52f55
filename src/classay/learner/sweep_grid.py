"""Which settings a sweep goes through: one parameter with its values, or two and all pairs of theirs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from ..expect import InputError, nearest, shown
from ..learners import parameters_of

MOST_SETTINGS = 10_000


@dataclass(frozen=True)
class Grid:
    """Parameters of a learner, as `set_params` takes them, their `names` as asked for, and the values of each.

    A point of the grid is a value, or a pair of values where there are two parameters.
    """

    learner: Any
    names: tuple[str, ...]
    parameters: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]

    @property
    def points(self) -> list[Any]:
        """All settings, in order; the last parameter runs fastest."""
        if len(self.parameters) == 1:
            return list(self.values[0])
        return list(product(*self.values))

    def settings(self, point: Any) -> dict[str, Any]:
        """Parameter -> value at a point."""
        return dict(zip(self.parameters, point if len(self.parameters) > 1 else (point,)))

    def learner_at(self, point: Any) -> Any:
        """An unfitted learner with the settings of a point."""
        return with_settings(self.learner, self.settings(point))


def with_settings(learner: Any, settings: dict[str, Any]) -> Any:
    """An unfitted copy of the learner with other settings."""
    try:
        return clone(learner).set_params(**settings)
    except (TypeError, ValueError, AttributeError) as error:
        told = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        raise InputError(f"{type(learner).__name__} does not take {told}: {error}") from error


def grid(learner: Any, param_name: Any, param_range: Any) -> Grid:
    """The grid that `sweep` was asked for, checked."""
    if isinstance(param_name, str):
        names, ranges = [param_name], [param_range]
        if isinstance(param_range, Mapping):
            ranges = _by_name(names, param_range)
    else:
        try:
            names = list(param_name)
        except TypeError:
            names = []
        if len(names) != 2 or not all(isinstance(name, str) for name in names):
            raise InputError(f"`param_name` is {param_name!r}; the name of a parameter, or two names, are expected.")
        if names[0] == names[1]:
            raise InputError(f"`param_name` has {names[0]!r} twice; two different parameters are expected.")
        ranges = _by_name(names, param_range)
    known = [parameter(learner, name) for name in names]
    values = tuple(_values(each, name) for each, name in zip(ranges, names))
    found = Grid(learner, tuple(names), tuple(known), values)
    settings = int(np.prod([len(each) for each in values]))
    if settings > MOST_SETTINGS:
        raise InputError(f"The grid has {settings:,} settings; at most {MOST_SETTINGS:,} are gone through.")
    return found


def parameter(learner: Any, name: str) -> str:
    """The parameter's full name; of what `encoded` wrapped, the learner's own names will do."""
    known = parameters_of(learner)
    steps = getattr(learner, "steps", None)
    if name in known:
        return name
    if isinstance(steps, list) and [step for step, _ in steps] == ["encode", "learner"]:
        if f"learner__{name}" in known or name in parameters_of(steps[1][1]):
            return f"learner__{name}"
        learner = steps[1][1]
        known = parameters_of(learner)
    # The parameters of steps of a pipeline are found by their last part, too.
    ends = {each.rpartition("__")[2]: each for each in known}
    hint = nearest(name, known) or (f" Did you mean {ends[name]}?" if name in ends else nearest(name, ends))
    raise InputError(f"{type(learner).__name__} has no parameter {name!r}.{hint} It has {shown(sorted(known), 40)}.")


def is_numeric(values: Iterable[Any]) -> bool:
    """Whether all values are numbers, which have an order and distances."""
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _by_name(names: list[str], ranges: Any) -> list[Any]:
    if isinstance(ranges, Mapping):
        strange = [name for name in ranges if name not in names]
        lacking = [name for name in names if name not in ranges]
        if strange or lacking:
            raise InputError(
                f"`param_range` has values of {shown(ranges) or 'nothing'}, and `param_name` is {shown(names)}; the "
                "same names are expected in both."
            )
        return [ranges[name] for name in names]
    try:
        given = list(ranges)
    except TypeError:
        given = []
    if len(given) != len(names) or any(isinstance(each, (int, float, str)) for each in given):
        raise InputError(
            f"`param_range` is {_short(ranges)}; values for each of {shown(names)} are expected: a pair of lists, or a "
            "mapping of names to lists."
        )
    return given


def _values(given: Any, name: str) -> tuple[Any, ...]:
    if isinstance(given, (str, bytes, Mapping)):
        raise InputError(
            f"`param_range` of {name} is {given!r}; a list of values is expected, such as range(1, 71, 5)."
        )
    try:
        values = [_plain(value) for value in given]
    except TypeError as error:
        raise InputError(
            f"`param_range` of {name} is {_short(given)}; a list of values is expected, such as range(1, 71, 5)."
        ) from error
    if not values:
        raise InputError(f"`param_range` of {name} is empty; at least one value is expected.")
    kept: list[Any] = []
    for value in values:
        alike = [other for other in kept if other == value]
        if any(type(other) is not type(value) for other in alike):
            # As keys of a dict, 1 and 1.0 are one; to a learner (max_features) they may not be.
            raise InputError(f"`param_range` of {name} has {value!r} and {alike[0]!r}; sweep them apart.")
        if isinstance(value, float) and not np.isfinite(value):
            raise InputError(f"`param_range` of {name} has {value!r}; finite numbers are expected.")
        if not alike:
            kept.append(value)
    return tuple(kept)


def _plain(value: Any) -> Any:
    """A value that can be a key: numbers of numpy as Python's, lists as tuples."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, np.ndarray, pd.Series)):
        value = tuple(_plain(part) for part in value)
    if not isinstance(value, Hashable):
        raise InputError(
            f"The value {_short(value)} of a sweep has no hash, by which its record is found; a number, text or tuple "
            "is expected."
        )
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
