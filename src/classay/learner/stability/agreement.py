"""How often refits agree at each point: the two halves of each split, or all pairs of subsets.

Pairs are never compared one by one. At a point where c_a of N refits predict a, each of them agrees with c_a of them;
the agreement among refits on the same subset is subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import expect
from ...arrays import AnyInts, Floats
from ...intervals import Estimate, around, by_group, crossed_standard_error, draws_of, exact, share_around
from ...notes import Note
from ...result import Result, figures_frame
from ..records.base import Refits, over
from .new_data import Same, for_new_data

BLOCK = 2**22
"""Predictions, or cells of points by classes, to hold in memory at a time."""


@dataclass(frozen=True)
class PairComparison:
    """`table[u, i]`: what unit u (a split or a subset) contributes at point i; its mean is the agreement.

    `per_point` is the agreement at each point, `per_refit` (K, R) that of each refit with those it is compared with.
    `within` (K, n) is the agreement of refits on the same subset; (0, n) if there is one refit per subset.
    """

    table: Floats
    per_point: Floats
    per_refit: Floats
    within: Floats

    @property
    def value(self) -> float:
        """The agreement."""
        return float(self.per_point.mean())


@dataclass(frozen=True)
class Agreement(PairComparison):
    """Agreement of labels. `expected[u, i]` is what unit u contributes at point i to the chance agreement of the same
    pairs; its mean is `chance`.
    """

    expected: Floats

    @property
    def chance(self) -> float:
        """The agreement of two refits whose predictions are shuffled over the points: mean over pairs of Σ_c p1·p2."""
        return float(self.expected.mean())

    @property
    def kappa(self) -> float:
        """(agreement − chance) / (1 − chance), which must not be 1."""
        return (self.value - self.chance) / (1 - self.chance)

    def kappa_table(self) -> Floats:
        """What unit u at point i contributes to kappa = (agreement − chance) / (1 − chance), to first order."""
        theta, e = self.value, self.chance
        tilt = (self.table - theta) * (1 - e) - (1 - theta) * (self.expected - e)
        return self.kappa + tilt / (1 - e) ** 2


def agreement(labels: AnyInts, n_classes: int, halves: bool) -> Agreement:
    """Agreement of labels (K, R, n): between subsets 2i and 2i + 1, or between all pairs of different subsets.

    >>> answers = np.array([[[0, 1, 1]], [[0, 1, 0]], [[0, 0, 0]]])
    >>> agreement(answers, 2, halves=False).per_point.round(2).tolist()
    [1.0, 0.33, 0.33]
    """

    def alike(block: NDArray[Any]) -> AnyInts:
        cells = block.astype(np.int64) + np.arange(block.shape[2]) * n_classes
        counts = np.bincount(cells.ravel(), minlength=block.shape[2] * n_classes)
        same: AnyInts = counts[cells]
        return same

    return Agreement(*compared(labels, halves, np.equal, alike, n_classes), _chance(labels, n_classes, halves))


def _chance(labels: AnyInts, n_classes: int, halves: bool) -> Floats:
    """(U, n): the chance agreement of the compared pairs, by unit and point, to first order.

    E = mean over pairs (r, s) of Σ_c p_r(c)·p_s(c), p_r the class shares of the predictions of subset r; a subset is
    never paired with itself, or kappa would be −1/(K − 1) where it is 0. E is linear in pairs and bilinear in points:
    a point at which r predicts a and s predicts b moves the term of their pair by p_s(a) + p_r(b).
    """
    subsets, refits, points = labels.shape
    cells = labels.reshape(subsets, -1).astype(np.int64) + n_classes * np.arange(subsets)[:, None]
    shares = np.bincount(cells.ravel(), minlength=subsets * n_classes).reshape(subsets, n_classes) / (refits * points)
    if halves:
        others = shares.reshape(-1, 2, n_classes)[:, ::-1].reshape(subsets, n_classes)
    else:
        others = (shares.sum(axis=0) - shares) / (subsets - 1)
    met = np.stack([share[own].mean(axis=0) for share, own in zip(others, labels)])
    if halves:
        met = met[::2] + met[1::2]
        of_pairs: Floats = met - met.mean(axis=1, keepdims=True) / 2
        return of_pairs
    projected: Floats = 2 * met - float(met.mean())
    return projected


def compared(
    answers: NDArray[Any], halves: bool, same: Same, alike: Callable[[NDArray[Any]], AnyInts], width: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """The fields of `PairComparison`. `alike` counts, for each prediction, the equal predictions among all refits.

    The agreement of a pair of subsets is the mean over all R² pairs of their refits. When all pairs are compared, the
    unit is a subset: table = 2·h − per_point, h[k, i] the mean agreement of subset k with the others at point i. It is
    the projection of a U-statistic: its variation over subsets is that of the mean of all pairs (Hoeffding, 1948).
    """
    subsets, refits, points = answers.shape
    step = max(BLOCK // max(subsets * refits, width), 1)
    per_refit, within = [], []
    for start in range(0, points, step):
        block = answers[:, :, start : start + step]
        own = _matches(block, block, same)
        if halves:
            other = block.reshape(-1, 2, *block.shape[1:])[:, ::-1].reshape(block.shape)
            per_refit.append(_matches(block, other, same) / refits)
        else:
            per_refit.append((alike(block) - own) / max((subsets - 1) * refits, 1))
        within.append((own.mean(axis=1) - 1)[: subsets if refits > 1 else 0] / max(refits - 1, 1))
    by_refit = np.concatenate(per_refit, axis=2)
    by_subset = by_refit.mean(axis=1)
    per_point = by_subset.mean(axis=0)
    table = by_subset[::2] if halves else 2 * by_subset - per_point
    return table, per_point, by_refit.mean(axis=2), np.concatenate(within, axis=1)


def _matches(one: NDArray[Any], other: NDArray[Any], same: Same) -> AnyInts:
    """(K, R, n): how many refits of the other give the same prediction."""
    count = np.zeros(one.shape, dtype=np.int64)
    for shift in range(one.shape[1]):
        count += same(one, np.roll(other, shift, axis=1))
    return count


# Figures from pairs of refits, with intervals: pairs share refits, and all of them share the points.


ON = ("auto", "test", "probes")
TEST = "test points"
ITEMS = "items"
RUNS = "the same variant"
ROWS = "the same rows"
FRESH = "fresh samples"
ONE_PAIR = "unknown: one pair of subsets"


def compared_on(record: Refits, on: str) -> str:
    """Where to compare refits, 'test' or 'probes', if the record has it."""
    where = expect.one_of(on, "on", ON)
    where = ("probes" if record.has_probes else "test") if where == "auto" else where
    record.answers(where)
    if where == "test":
        record.complete()  # refuses a record without a test part
    return where


def points_called(record: Refits, where: str) -> str:
    """What the points are called, such as "test points" or "uniform comparison points"."""
    if where == "test":
        return ITEMS if record.of_predictions else TEST
    return f"{record.probe_kind} comparison points"


def pairs_called(record: Refits) -> str:
    """What the two refits of a pair were fitted on."""
    if len(record.present) == 1:
        return RUNS if record.of_predictions else ROWS
    if record.of_predictions:
        return "different variants"
    if record.fresh:
        return FRESH
    return "disjoint halves" if record.halves else "different subsets"


def as_units(answers: NDArray[Any]) -> NDArray[Any]:
    """Predictions (K, R, n) whose first axis is compared: with one subset, its refits are the units."""
    return answers.transpose(1, 0, 2) if len(answers) == 1 else answers


def used(record: Refits, shape: tuple[int, ...]) -> list[str]:
    """Notes on a record of which subsets x refits `shape` were used; an error if they are too few."""
    if shape[0] * shape[1] < 2:
        raise expect.InputError(
            "The record has one set of predictions; comparing needs two refits or runs. Record more, or use "
            "`accuracy()` of the record."
        )
    if shape[0] < 2:
        what = (
            "variant: agreement is that of its runs"
            if record.of_predictions
            else "subset: agreement is that of its refits"
        )
        return [*record.notes, f"There is one {what}, on which only randomness differs."]
    notes = list(record.notes)
    if shape[:2] != record.present.shape:
        notes.append(f"Refits are missing; {shape[0]} subsets with {shape[1]} refits each were used.")
    if record.by_class:
        notes.append(Note("halves-by-class"))
    if shape[0] < 4:
        notes.append("There is only one pair of disjoint subsets, so how agreement varies between pairs is unknown.")
    return notes


@dataclass(frozen=True, kw_only=True)
class PairFigures(Result):
    """What stability has for classifiers and regressors alike."""

    FIGURES: ClassVar[tuple[str, ...]]

    learner: str
    on: str
    pairs: str
    n_points: int
    n_subsets: int
    n_refits: int
    stability: Estimate
    stability_new_data: Estimate
    same_subset: Estimate
    standard_error: float
    worst_case_points: float
    worst_case_pairs: float
    per_point: Floats
    per_refit: Floats
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: learner, on, figure, value, low, high, level, kind."""
        return figures_frame(self.learner, self.on, {name: getattr(self, name) for name in self.FIGURES})


FiguresT = TypeVar("FiguresT", bound=PairFigures)


def pair_figures(
    result: type[FiguresT],
    record: Refits,
    where: str,
    compared: PairComparison,
    answers: NDArray[Any],
    same: Same,
    level: float,
) -> partial[FiguresT]:
    """A result with all figures of compared pairs of refits; to be called with the others of its own, and its notes."""
    n_subsets, n_points, n_refits = len(compared.per_refit), len(compared.per_point), answers.shape[1]
    disjoint, groups = n_subsets // 2, record.groups_of(where)
    error = crossed_standard_error(by_group(compared.table, groups))
    these = record.named(share(compared.table, disjoint, level, groups))
    # With one subset, its refits are the pairs.
    alone = len(record.present) == 1
    return partial(
        result,
        learner=record.name,
        on=points_called(record, where),
        pairs=pairs_called(record),
        n_points=n_points,
        n_subsets=n_subsets,
        n_refits=n_refits,
        stability=these,
        stability_new_data=for_new_data(record, these, error, answers, same, where),
        same_subset=these if alone else record.named(same_subset(compared.within, record.deterministic, level, groups)),
        standard_error=error,
        worst_case_points=0.5 / math.sqrt(n_points if groups is None else np.unique(groups).size),
        worst_case_pairs=0.5 / math.sqrt(disjoint),
        per_point=compared.per_point,
        per_refit=compared.per_refit,
    )


def share(table: Floats, disjoint: int, level: float, groups: AnyInts | None = None) -> Estimate:
    """The mean of a table of units x points, both random, as a share; `disjoint` of the pairs share no subset.

    Points of a group depend on each other, if there are `groups`.
    """
    value = float(table.mean().clip(0.0, 1.0))
    if disjoint < 2:
        return Estimate(value, 0.0, 1.0, level, ONE_PAIR)
    if np.ptp(table) == 0:
        # No pair differs anywhere: pairs that differ are at most as frequent as their absence allows.
        rare = 1 - (1 - level) ** (1 / disjoint)
        return Estimate(value, value * (1 - rare), value + (1 - value) * rare, level, over(groups))
    table = by_group(table, groups)
    return share_around(value, crossed_standard_error(table), level, over(groups), draws_of(table, groups))


ROUNDING = 1e-9


def coefficient(value: float, table: Floats, disjoint: int, level: float, groups: AnyInts | None = None) -> Estimate:
    """A coefficient from −1 to 1, computed from such a table: an interval on the scale of log(1 − value)."""
    if disjoint < 2:
        return Estimate(value, -1.0, 1.0, level, ONE_PAIR)
    missing, reach = 1 - value, 0.0
    table = by_group(table, groups)
    if missing > 0:
        reach = around(0.0, crossed_standard_error(table) / missing, level, draws=draws_of(table, groups)).high
    low, high = (_without_rounding(1 - missing * math.exp(sign * min(reach, 700.0))) for sign in (1, -1))
    value = _without_rounding(value)
    return Estimate(value, min(max(low, -1.0), value), max(high, value), level, over(groups))


def _without_rounding(coefficient: float) -> float:
    """0 for what is 0 but for rounding: sums over many pairs leave some 1e-12."""
    return 0.0 if abs(coefficient) < ROUNDING else coefficient


def same_subset(within: Floats, deterministic: bool, level: float, groups: AnyInts | None = None) -> Estimate:
    """The agreement of refits on the same subset, from a table of subsets x points."""
    if deterministic:
        return exact(1.0, "deterministic", level)
    if not len(within):
        return Estimate(math.nan, 0.0, 1.0, level, "unknown: one refit per subset")
    return share(within, len(within), level, groups)
