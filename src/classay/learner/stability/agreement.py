"""How often refits agree at each point: the two halves of each split, or all pairs of subsets.

Labels agree if they are equal, numbers if they differ by at most a tolerance. Pairs are never compared one by one: each
prediction is counted among all predictions at its point, and those of refits on the same subset are subtracted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import expect
from ...arrays import AnyInts, Floats
from ...notes import Note
from ..records.base import Refits

BLOCK = 2**22
"""Predictions, or cells of points by classes, to hold in memory at a time."""
TOLERANCE = 0.1
"""In standard deviations of the target."""
Same = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.bool_]]


@dataclass(frozen=True)
class PairComparison:
    """`table[u, i]`: what unit u (a split or a subset) contributes at point i; its mean is the agreement.

    `per_point` is the agreement at each point, `per_refit` (K, R) that of each refit with those it is compared with.
    `within` (K, n) is the agreement of refits on the same subset; (0, n) if there is one refit per subset. `same` says
    where two arrays of predictions agree.
    """

    table: Floats
    per_point: Floats
    per_refit: Floats
    within: Floats
    same: Same

    @property
    def value(self) -> float:
        return float(self.per_point.mean())


def agreement(labels: AnyInts, n_classes: int, halves: bool) -> PairComparison:
    """Agreement of labels (K, R, n): between subsets 2i and 2i + 1, or between all pairs of different subsets."""

    def alike(block: NDArray[Any]) -> AnyInts:
        cells = block.astype(np.int64) + np.arange(block.shape[2]) * n_classes
        counts = np.bincount(cells.ravel(), minlength=block.shape[2] * n_classes)
        return np.asarray(counts[cells])

    return _compared(labels, halves, np.equal, alike, n_classes)


def closeness(values: Floats, tolerance: float, halves: bool) -> PairComparison:
    """Agreement of numbers (K, R, n), which count as equal if they differ by at most the tolerance."""

    def near(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(np.abs(one - other) <= tolerance)

    def alike(block: NDArray[Any]) -> AnyInts:
        flat = block.reshape(-1, block.shape[2])
        counts = np.empty(flat.shape, dtype=np.int64)
        for point, order in enumerate(np.sort(flat, axis=0).T):
            upto = np.searchsorted(order, flat[:, point] + tolerance, "right")
            counts[:, point] = upto - np.searchsorted(order, flat[:, point] - tolerance, "left")
        return counts.reshape(block.shape)

    return _compared(values, halves, near, alike, 1)


def tolerance_for(truth: Floats, tolerance: float | None) -> float:
    """The tolerance that a user gave, checked, or that of the standard deviation of the truth."""
    if tolerance is None:
        deviation = float(truth.std())
        if deviation == 0:
            raise expect.InputError("The truth is one number, so there is no scale for `tolerance`. Pass one.")
        return TOLERANCE * deviation
    why = "In units of the target: predictions that differ by at most this count as the same."
    return expect.number(tolerance, "tolerance", at_least=0, why=why)


def _compared(
    answers: NDArray[Any], halves: bool, same: Same, alike: Callable[[NDArray[Any]], AnyInts], width: int
) -> PairComparison:
    """Compare refits. `alike` counts, for each prediction, those of all refits that agree with it.

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
    return PairComparison(table, per_point, by_refit.mean(axis=2), np.concatenate(within, axis=1), same)


def _matches(one: NDArray[Any], other: NDArray[Any], same: Same) -> AnyInts:
    """(K, R, n): how many refits of the other give the same prediction."""
    count = np.zeros(one.shape, dtype=np.int64)
    for shift in range(one.shape[1]):
        count += same(one, np.roll(other, shift, axis=1))
    return count


# Agreement beyond chance: kappa of labels, Lin's concordance of numbers. Each has a table of units x points whose
# mean it is, to first order, and which gives its error.


def chance_agreement(labels: AnyInts, n_classes: int, halves: bool) -> Floats:
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
        return np.asarray(met - met.mean(axis=1, keepdims=True) / 2)
    return np.asarray(2 * met - float(met.mean()))


def kappa(compared: PairComparison, expected: Floats) -> tuple[float, Floats]:
    """(agreement − chance) / (1 − chance), and its table, from the `expected` agreement, whose mean must not be 1."""
    theta, e = compared.value, float(expected.mean())
    value = (theta - e) / (1 - e)
    tilt = (compared.table - theta) * (1 - e) - (1 - theta) * (expected - e)
    return value, value + tilt / (1 - e) ** 2


def concordance(values: Floats, halves: bool) -> tuple[float, Floats]:
    """Lin's coefficient over pairs of refits on different subsets, and the table of units x points it is made of.

    1 − E(a − b)² / E₀(a − b)², the mean over pairs and points of the squared difference of two predictions at the same
    point, over that at two independent points: σa² + σb² + (μa − μb)² of each pair. For one pair it is Lin's (1989),
    for many that of Barnhart, Haber & Song (2002). 1: the same predictions; 0: no more similar than predictions for
    other points. NaN if all predictions are one number. The table is linear in the units at each
    point and gives the error.
    """
    centred = values - values.mean()
    mean, square = centred.mean(axis=1), (centred**2).mean(axis=1)
    own = mean.mean(axis=1)
    if halves:
        (m1, m2), (s1, s2), (u1, u2) = ((part[::2], part[1::2]) for part in (mean, square, own[:, None]))
        apart = s1 + s2 - 2 * m1 * m2
        by_chance = s1 + s2 - 2 * (m1 * u2 + m2 * u1 - u1 * u2)
    else:
        others = len(values) - 1
        rest, rest_square, rest_own = ((part.sum(axis=0) - part) / others for part in (mean, square, own))
        each = square + rest_square - 2 * mean * rest
        apart = 2 * each - each.mean(axis=0)
        product = float((own * rest_own).mean())
        by_chance = 2 * square - 4 * mean * rest_own[:, None] + 2 * product
    near, far = float(apart.mean()), float(by_chance.mean())
    if far <= 0:
        return np.nan, np.full(apart.shape, np.nan)
    value = 1 - near / far
    return value, value - (apart - near) / far + near * (by_chance - far) / far**2


def spread(values: Floats, halves: bool) -> Floats:
    """(n,): standard deviation of predictions over subsets at each point: √(mean squared difference of a pair / 2)."""
    centred = values - values.mean(axis=(0, 1))
    mean, square = centred.mean(axis=1), (centred**2).mean(axis=1)
    if halves:
        products = (mean[::2] * mean[1::2]).mean(axis=0)
    else:
        products = (mean.sum(axis=0) ** 2 - (mean**2).sum(axis=0)) / (len(values) * (len(values) - 1))
    return np.asarray(np.sqrt(np.maximum(square.mean(axis=0) - products, 0.0)))


# Which predictions of a record are compared, and what the points and pairs are called.


ON = ("auto", "test", "probes")
TEST = "test points"
ITEMS = "items"
RUNS = "the same variant"
ROWS = "the same rows"
FRESH = "fresh samples"


def compared_answers(record: Refits, on: str) -> tuple[str, NDArray[Any], list[str]]:
    """Where refits are compared ('test' or 'probes'), their predictions (units, refits, n), and notes about them."""
    where = expect.one_of(on, "on", ON)
    where = ("probes" if record.has_probes else "test") if where == "auto" else where
    record.answers(where)  # refuses a record without them
    answers = record.complete(where, pairs=record.halves)
    return where, as_units(answers), _notes(record, answers.shape)


def as_units(answers: NDArray[Any]) -> NDArray[Any]:
    """Predictions (K, R, n) whose first axis is compared: with one subset, its refits are the units."""
    return answers.transpose(1, 0, 2) if len(answers) == 1 else answers


def _notes(record: Refits, shape: tuple[int, ...]) -> list[str]:
    """Notes on a record of which subsets x refits `shape` were used; an error if they are too few."""
    if shape[0] * shape[1] < 2:
        raise expect.InputError(
            "The record has one set of predictions; comparing needs two refits or runs. Record more, or use "
            "`accuracy()` of the record."
        )
    notes = list(record.notes)
    if shape[0] < 2:
        what = ("variant", "runs") if record.of_predictions else ("subset", "refits")
        same = f"There is one {what[0]}: agreement is that of its {what[1]}, on which only randomness differs."
        return [*notes, same]
    if shape[:2] != record.present.shape:
        notes.append(f"Refits are missing; {shape[0]} subsets with {shape[1]} refits each were used.")
    if record.by_class:
        notes.append(Note("halves-by-class"))
    if shape[0] < 4:
        notes.append("There is only one pair of disjoint subsets, so how agreement varies between pairs is unknown.")
    return notes


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
