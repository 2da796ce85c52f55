"""What pairs of refits tell, with intervals: pairs share refits, and all of them share the points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import expect
from ..intervals import Estimate, around, crossed_standard_error, exact, share_around
from .agreement import Compared
from .refits import Refits

Floats = NDArray[np.float64]
ON = ("auto", "test", "probes")
TEST = "test points"
OVER = "over subsets and points"
ONE_PAIR = "unknown: one pair of subsets"


def compared_on(record: Refits, on: str) -> str:
    """Where to compare refits, 'test' or 'probes', if the record has it."""
    where = expect.one_of(on, "on", ON)
    where = ("probes" if record.has_probes else "test") if where == "auto" else where
    record.answers(where)
    return where


def points_called(record: Refits, where: str) -> str:
    """«test points», «uniform probes»."""
    return TEST if where == "test" else f"{record.probe_kind} probes"


def pairs_called(record: Refits) -> str:
    """What two refits are compared that were fitted on."""
    return "disjoint halves" if record.halves else "different subsets"


def used(record: Refits, shape: tuple[int, ...]) -> list[str]:
    """What has to be said of a record of which subsets x refits `shape` were used; an error if they are too few."""
    if shape[0] < 2:
        raise expect.InputError(
            f"The record has {shape[0]} subset; two refits on different subsets are needed to compare. Record more."
        )
    notes = list(record.notes)
    if shape[:2] != record.present.shape:
        notes.append(f"Refits are missing; {shape[0]} subsets with {shape[1]} refits each were used.")
    if shape[0] < 4:
        notes.append("There is one pair of disjoint subsets only, so how agreement varies between pairs is unknown.")
    return notes


def figures(record: Refits, where: str, found: Compared, n_refits: int, level: float) -> dict[str, Any]:
    """The fields that stability has of every learner."""
    n_subsets, n_points = len(found.per_refit), len(found.per_point)
    disjoint = n_subsets // 2
    return {
        "learner": record.name,
        "on": points_called(record, where),
        "pairs": pairs_called(record),
        "n_points": n_points,
        "n_subsets": n_subsets,
        "n_refits": n_refits,
        "stability": share(found.table, disjoint, level),
        "same_subset": same_subset(found.within, record.deterministic, level),
        "standard_error": crossed_standard_error(found.table),
        "worst_case_points": 0.5 / math.sqrt(n_points),
        "worst_case_pairs": 0.5 / math.sqrt(disjoint),
        "per_point": found.per_point,
        "per_refit": found.per_refit,
    }


def share(table: Floats, disjoint: int, level: float) -> Estimate:
    """The mean of a table of units x points, both random, as a share; `disjoint` of the pairs share no subset."""
    value = float(table.mean().clip(0.0, 1.0))
    if disjoint < 2:
        return Estimate(value, 0.0, 1.0, level, ONE_PAIR)
    if np.ptp(table) == 0:
        # No pair differs from another anywhere: one that does comes at most as often as its absence allows.
        rare = 1 - (1 - level) ** (1 / disjoint)
        return Estimate(value, value * (1 - rare), value + (1 - value) * rare, level, OVER)
    return share_around(value, crossed_standard_error(table), level, OVER, len(table))


def coefficient(value: float, table: Floats, disjoint: int, level: float) -> Estimate:
    """A coefficient from −1 to 1, made of a table as above: an interval on the scale of log(1 − value)."""
    if disjoint < 2:
        return Estimate(value, -1.0, 1.0, level, ONE_PAIR)
    missing = 1 - value
    reach = around(0.0, crossed_standard_error(table) / missing, level, OVER, len(table)).high if missing > 0 else 0.0
    low, high = (1 - missing * math.exp(sign * min(reach, 700.0)) for sign in (1, -1))
    return Estimate(value, max(low, -1.0), high, level, OVER)


def same_subset(within: Floats, deterministic: bool, level: float) -> Estimate:
    """The agreement of refits on one subset, from a table of subsets x points."""
    if deterministic:
        return exact(1.0, "deterministic", level)
    if not len(within):
        return Estimate(math.nan, 0.0, 1.0, level, "unknown: one refit a subset")
    return share(within, len(within), level)
