"""Which settings of a sweep are fitted together: a group is a line along a parameter whose values share fits."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from ...estimators.adapters import free_seeds, parameters_of
from ...expect import InputError, nearest, short, shown
from ...inputs import is_sparse
from .paths import path_for

ALONE = "value by value"


@dataclass(frozen=True)
class FitGroup:
    """Points of a grid that one task fits for one subset, and how: by a shared path, or each separately.

    `values` are those of `parameter` at the `points`; `learner` has the settings of the other parameter, and, where
    there is no path, of the only point. `free` are the seeds that refits vary.
    """

    points: tuple[Any, ...]
    learner: Any
    parameter: str
    values: tuple[Any, ...]
    path: Any
    free: tuple[str, ...]

    @classmethod
    def alone(cls, point: Any, learner: Any, parameter: str = "", value: Any = None) -> FitGroup:
        """A single learner with its own settings: a record is a sweep over one value."""
        return cls((point,), learner, parameter, (value,), None, tuple(free_seeds(learner)))

    @property
    def kind(self) -> str:
        return ALONE if self.path is None else str(self.path.KIND)

    @property
    def exact(self) -> bool:
        """Whether its predictions are bit for bit those of separate fits."""
        return self.path is None or bool(self.path.EXACT)

    def only(self, places: Sequence[int]) -> FitGroup:
        """The group reduced to some of its points."""
        return replace(
            self,
            points=tuple(self.points[place] for place in places),
            values=tuple(self.values[place] for place in places),
        )


def fit_groups(grid: Grid, share: bool) -> list[FitGroup]:
    """Groups that cover all points of a grid, along the parameter whose path serves most values at once."""
    shared: list[FitGroup] = []
    if share:
        by_length = sorted(range(len(grid.parameters)), key=lambda place: -len(grid.values[place]))
        shared = next((along for axis in by_length if (along := _lines(grid, axis))), [])
    covered = {point for line in shared for point in line.points}
    name = grid.parameters[-1]
    return shared + [
        FitGroup.alone(point, grid.learner_at(point), name, grid.settings(point)[name])
        for point in grid.points
        if point not in covered
    ]


def can_join(X: Any, probes: Any) -> bool:
    """Whether test rows and probes make one table without a change of types, so that a path predicts once."""
    if probes is None or (isinstance(X, np.ndarray) and isinstance(probes, np.ndarray)):
        return True
    if isinstance(X, pd.DataFrame):
        return list(X.dtypes) == list(probes.dtypes)
    return is_sparse(X) and is_sparse(probes)


def _lines(grid: Grid, axis: int) -> list[FitGroup]:
    """Groups along one parameter, one for each value of the other, if there is a path."""
    name, values = grid.parameters[axis], grid.values[axis]
    groups = []
    for other in grid.values[1 - axis] if len(grid.parameters) == 2 else [None]:
        learner, points = grid.learner, values
        if len(grid.parameters) == 2:
            learner = with_settings(learner, {grid.parameters[1 - axis]: other})
            points = tuple((value, other) if axis == 0 else (other, value) for value in values)
        path = path_for(learner, name, values)
        if path is None:
            continue
        # A value may bring its own seeds, as an estimator does; refits would then not vary the same way.
        free = {tuple(free_seeds(with_settings(learner, {name: value}))) for value in values}
        if len(free) == 1:
            groups.append(FitGroup(points, learner, name, values, path, free.pop()))
    return groups


# The settings of a sweep: one parameter with its values, or two and all pairs of their values.


MOST_SETTINGS = 10_000


@dataclass(frozen=True)
class Grid:
    """Parameters of a learner, as `set_params` takes them, their `names` as given by the user, and the values of each.

    A point of the grid is a value, or a pair of values where there are two parameters.
    """

    learner: Any
    names: tuple[str, ...]
    parameters: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]

    @property
    def points(self) -> list[Any]:
        """All settings, in order; the last parameter varies fastest."""
        return list(self.values[0]) if len(self.parameters) == 1 else list(product(*self.values))

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
        shown_settings = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        raise InputError(f"{type(learner).__name__} does not take {shown_settings}: {error}") from error


def grid(learner: Any, param_name: Any, param_range: Any) -> Grid:
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
            raise InputError(f"`param_name` is {param_name!r}; expected the name of a parameter, or two names.")
        if names[0] == names[1]:
            raise InputError(f"`param_name` has {names[0]!r} twice; expected two different parameters.")
        ranges = _by_name(names, param_range)
    known = [parameter(learner, name) for name in names]
    values = tuple(_values(each, name) for each, name in zip(ranges, names))
    checked = Grid(learner, tuple(names), tuple(known), values)
    settings = int(np.prod([len(each) for each in values]))
    if settings > MOST_SETTINGS:
        raise InputError(f"The grid has {settings:,} settings; the limit is {MOST_SETTINGS:,}.")
    return checked


def parameter(learner: Any, name: str) -> str:
    """The parameter's full name; if `encoded` wrapped the learner, the learner's own names work too."""
    known = parameters_of(learner)
    steps = getattr(learner, "steps", None)
    if name in known:
        return name
    if isinstance(steps, list) and [step for step, _ in steps] == ["encode", "learner"]:
        if f"learner__{name}" in known or name in parameters_of(steps[1][1]):
            return f"learner__{name}"
        learner = steps[1][1]
        known = parameters_of(learner)
    # The parameters of pipeline steps are also found by their last part.
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
                f"`param_range` has values of {shown(ranges) or 'nothing'}, but `param_name` is {shown(names)}; "
                "expected the same names in both."
            )
        return [ranges[name] for name in names]
    try:
        listed = list(ranges)
    except TypeError:
        listed = []
    if len(listed) != len(names) or any(isinstance(each, (int, float, str)) for each in listed):
        raise InputError(
            f"`param_range` is {short(ranges)}; expected values for each of {shown(names)}: a pair of lists, or a "
            "mapping of names to lists."
        )
    return listed


def _values(param_range: Any, name: str) -> tuple[Any, ...]:
    if isinstance(param_range, (str, bytes, Mapping)):
        raise InputError(
            f"`param_range` of {name} is {param_range!r}; expected a list of values, such as range(1, 71, 5)."
        )
    try:
        values = [_plain(value) for value in param_range]
    except TypeError as error:
        raise InputError(
            f"`param_range` of {name} is {short(param_range)}; expected a list of values, such as range(1, 71, 5)."
        ) from error
    if not values:
        raise InputError(f"`param_range` of {name} is empty; expected at least one value.")
    kept: list[Any] = []
    for value in values:
        alike = [other for other in kept if other == value]
        if any(type(other) is not type(value) for other in alike):
            # As keys of a dict, 1 and 1.0 are equal; for a learner (max_features) they may differ.
            raise InputError(f"`param_range` of {name} has {value!r} and {alike[0]!r}; sweep them separately.")
        if isinstance(value, float) and not np.isfinite(value):
            raise InputError(f"`param_range` of {name} has {value!r}; expected finite numbers.")
        if not alike:
            kept.append(value)
    return tuple(kept)


def _plain(value: Any) -> Any:
    """A value that can be a dict key: numpy numbers as Python's, lists as tuples."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, np.ndarray, pd.Series)):
        value = tuple(_plain(part) for part in value)
    if not isinstance(value, Hashable):
        raise InputError(
            f"The value {short(value)} of a sweep has no hash, which is needed to find its record; expected a number, "
            "text or tuple."
        )
    return value
