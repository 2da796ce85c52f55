"""Which settings of a sweep are fitted together: a strand is a line along a parameter whose values share fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..learners import free_seeds
from .answer_chunks import ALONE
from .describe import is_sparse
from .paths import path_for
from .sweep_grid import Grid, with_settings


@dataclass(frozen=True)
class Strand:
    """Points of a grid that one task fits for one subset, and how: by a shared path, or each on its own.

    `values` are those of `parameter` at the `points`; `learner` has the settings of the other parameter, and, where
    there is no path, of the only point. `free` are the seeds that refits vary.
    """

    points: tuple[Any, ...]
    learner: Any
    parameter: str
    values: tuple[Any, ...]
    path: Any
    free: tuple[str, ...]

    @property
    def kind(self) -> str:
        """How fits are shared."""
        return ALONE if self.path is None else str(self.path.KIND)

    @property
    def exact(self) -> bool:
        """Whether it answers bit for bit what separate fits do."""
        return self.path is None or bool(self.path.EXACT)

    def only(self, places: Sequence[int]) -> Strand:
        """The strand of some of its points."""
        return replace(
            self,
            points=tuple(self.points[place] for place in places),
            values=tuple(self.values[place] for place in places),
        )


def strands(grid: Grid, share: bool) -> list[Strand]:
    """Strands through all points of a grid, along the parameter of which a path answers most values at once."""
    lines: list[Strand] = []
    if share:
        by_length = sorted(range(len(grid.parameters)), key=lambda place: -len(grid.values[place]))
        lines = next((found for axis in by_length if (found := _lines(grid, axis))), [])
    covered = {point for line in lines for point in line.points}
    return lines + [_alone(grid, point) for point in grid.points if point not in covered]


def can_join(X: Any, probes: Any) -> bool:
    """Whether test rows and probes make one table without a change of types, so that a path is asked once."""
    if probes is None or (isinstance(X, np.ndarray) and isinstance(probes, np.ndarray)):
        return True
    if isinstance(X, pd.DataFrame):
        return list(X.dtypes) == list(probes.dtypes)
    return is_sparse(X) and is_sparse(probes)


def _lines(grid: Grid, axis: int) -> list[Strand]:
    """Strands along one parameter, one for each value of the other, where there is a path."""
    name, values = grid.parameters[axis], grid.values[axis]
    lines = []
    for other in grid.values[1 - axis] if len(grid.parameters) == 2 else [None]:
        learner, points = grid.learner, values
        if len(grid.parameters) == 2:
            learner = with_settings(learner, {grid.parameters[1 - axis]: other})
            points = tuple((value, other) if axis == 0 else (other, value) for value in values)
        path = path_for(learner, name, values)
        if path is None:
            continue
        # A value may bring seeds of its own, as an estimator does; refits would then not vary alike.
        free = {tuple(free_seeds(with_settings(learner, {name: value}))) for value in values}
        if len(free) == 1:
            lines.append(Strand(points, learner, name, values, path, free.pop()))
    return lines


def _alone(grid: Grid, point: Any) -> Strand:
    learner = grid.learner_at(point)
    settings = grid.settings(point)
    name = grid.parameters[-1]
    return Strand((point,), learner, name, (settings[name],), None, tuple(free_seeds(learner)))
