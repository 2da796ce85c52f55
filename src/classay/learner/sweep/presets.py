"""Ranges of parameters that a paper swept, by the class of the learner."""

from __future__ import annotations

from typing import Any

from ...estimators.adapters import short_name
from ...expect import InputError, one_of, shown

TABLE_2: dict[str, dict[str, range]] = {
    "KNeighborsClassifier": {"n_neighbors": range(1, 201, 5)},
    "DecisionTreeClassifier": {"max_depth": range(1, 71, 5)},
    "LinearSVC": {"max_iter": range(1, 1001, 50)},
    "SVC": {"max_iter": range(1, 1001, 50)},
    "LogisticRegression": {"max_iter": range(1, 201, 10)},
    "RandomForestClassifier": {"max_depth": range(1, 71, 5), "n_estimators": range(1, 201, 5)},
    "AdaBoostClassifier": {"n_estimators": range(1, 101, 5)},
}
"""The eight ranges of Table 2 of Pang-Naylor, Chen & Montañez."""
PRESETS = {"table-2": TABLE_2}


def preset_range(preset: str, learner: Any, parameter: str | None) -> tuple[str, list[int]]:
    """The parameter and its values that a preset has for a learner; a Pipeline counts as its last step."""
    one_of(preset, "preset", PRESETS)
    last, prefix = learner, ""
    while hasattr(last, "steps"):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    ranges = PRESETS[preset].get(type(last).__name__)
    if ranges is None:
        raise InputError(
            f"The preset {preset!r} has no range for {short_name(learner)}; it has them for {shown(PRESETS[preset])}. "
            "Give param_name and param_range."
        )
    if parameter is None and len(ranges) > 1:
        raise InputError(
            f"The preset {preset!r} has {len(ranges)} ranges for {type(last).__name__}: give param_name, one of "
            f"{shown(prefix + name for name in ranges)}."
        )
    wanted = next(iter(ranges)) if parameter is None else str(parameter).removeprefix(prefix)
    one_of(wanted, "param_name", ranges)
    return prefix + wanted, list(ranges[wanted])
