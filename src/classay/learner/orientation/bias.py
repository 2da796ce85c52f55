"""Which labelings a learner produces and how often, the bias to any target, and what a bias leaves possible.

A column of the matrix is P_F, the distribution of labelings over the refits on one subset; its mean over columns is
P_D, the inductive orientation vector. Only labelings that occur have a row: of c^h possible ones, most do not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...arrays import Floats
from ...expect import InputError, shown, whole
from ...intervals import Estimate
from ..records.labelings import Labelings
from .entropy import binary_entropy, interval_kind, over_subsets

MOST_ENUMERATED = 2**16
"""With more labelings than this, the size of a target must be given."""
Target = int | Callable[..., Any] | Collection[Any]


def distribution_matrix(record: Labelings, points: NDArray[np.int64], every: bool = False) -> pd.DataFrame:
    """P_F of every subset on the test points `points`: labelings x subsets. `every`: also those that never occur."""
    labels = record.complete()[:, :, points]
    n_subsets, n_refits, size = labels.shape
    codes = labels.reshape(-1, size)
    if every and len(record.classes) ** size > MOST_ENUMERATED:
        raise InputError(
            f"There are {len(record.classes)}^{size} labelings, more than {MOST_ENUMERATED:,}. Leave out every=True: "
            "only those that occur are then listed."
        )
    listed = _every_labeling(len(record.classes), size) if every else np.unique(codes, axis=0)
    _, number = np.unique(np.concatenate([listed, codes]), axis=0, return_inverse=True)
    times = np.zeros((len(listed), n_subsets))
    np.add.at(times, (number.ravel()[len(listed) :], np.repeat(np.arange(n_subsets), n_refits)), 1)
    index = pd.MultiIndex.from_arrays(list(record.classes[listed.T]), names=[f"point {point}" for point in points])
    return pd.DataFrame(times / n_refits, index, pd.RangeIndex(n_subsets, name="subset"))


def _every_labeling(n_classes: int, size: int) -> NDArray[np.int64]:
    """(c^h, h): all labelings, sorted."""
    return np.array(list(itertools.product(range(n_classes), repeat=size)))


class Biases(dict[int, Estimate]):
    """The bias at each threshold, by key; call it for the bias to any other target.

    `o.bias[4]` is the bias to "at least four labels right"; `o.bias(target=...)` is that to any set of labelings.
    """

    def __init__(
        self,
        bias: Mapping[int, Estimate],
        record: Labelings | None = None,
        holdouts: NDArray[np.int64] | None = None,
        level: float = 0.95,
    ) -> None:
        super().__init__(bias)
        self._record, self._holdouts, self._level = record, holdouts, level

    def own_record(self) -> Labelings:
        if self._record is None:
            raise InputError("This orientation was kept without its record; measure the record again.")
        return self._record

    def __missing__(self, threshold: Any) -> Estimate:
        most = max(self, default=0)
        raise InputError(
            f"There is no bias at threshold {threshold!r}: holdouts have {most} points, so thresholds are 1 to {most}. "
            "Pass holdout_size=5 for the five of the paper."
        )

    def __call__(self, target: Target, size: int | None = None) -> Estimate:
        """The bias to a target: how much more often a labeling is in it than if labelings were drawn evenly.

        t·P_D − |T|/|Ω|, mean over holdouts. From −|T|/|Ω| (never hit) to 1 − |T|/|Ω| (always); 0: as by guessing.

        target : at least so many right (a whole number); a collection of labelings, each with one class per point of
            a holdout; or a function of predicted and true labels, arrays (..., h) and (h,), that returns True
            where a labeling is in the target
        size : |T|, how many labelings are in the target; needed for a function if there are too many to try
        """
        record, points = self.own_record(), self._holdouts
        assert points is not None
        n_classes, h, kind = len(record.classes), points.shape[1], interval_kind(record)
        if isinstance(target, (int, np.integer)) and not isinstance(target, bool):
            right = whole(target, "target", at_least=0)
            if right > h:
                raise InputError(f"`target` is {right} labels right, but holdouts have {h} points. Use at most {h}.")
            hits = _asked(record, points, lambda predicted, truth: (predicted == truth).sum(axis=-1) >= right)
            return bias_of(hits, chance(right, h, n_classes), self._level, kind)
        if callable(target):
            hits = _asked(record, points, target)
            if size is None:
                return bias_of(hits, _chance_of(target, record, points), self._level, kind)
            number = whole(size, "size", at_least=0)
            if number > n_classes**h:
                raise InputError(
                    f"`size` is {number}, but there are only {n_classes}^{h} labelings. Use at most as many."
                )
            return bias_of(hits, float(number / n_classes**h), self._level, kind)
        wanted = _labelings(target, record.classes, h)
        hits = _asked(record, points, lambda predicted, truth: _member(predicted, wanted, record.classes))
        return bias_of(hits, len(wanted) / n_classes**h, self._level, kind)


def bias_of(hits: Floats, p: float, level: float, kind: str) -> Estimate:
    """Share of refits that hit a target, over holdouts and subsets (M, K), minus the chance of that."""
    return over_subsets(hits - p, level, kind, -p, 1 - p)


def _asked(record: Labelings, holdouts: NDArray[np.int64], target: Callable[..., Any]) -> Floats:
    """Share of refits in the target, (M, K)."""
    labels = record.complete()
    return np.stack([_answers(target, record, labels[:, :, points], points).mean(axis=1) for points in holdouts])


def _answers(
    target: Callable[..., Any], record: Labelings, codes: NDArray[Any], points: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether each labeling, (..., h) codes, is in the target."""
    try:
        answers = np.asarray(target(record.classes[codes], record.classes[record.truth[points]]))
    except InputError:
        raise
    except Exception as error:  # the target is the user's and may fail in any way
        raise InputError(
            f"`target` failed: {type(error).__name__}: {error}. Expected a function of two arrays, predicted labels "
            f"(..., {len(points)}) and true ones ({len(points)},)."
        ) from error
    if answers.dtype.kind not in "biu" or not np.isin(answers, (0, 1)).all():
        raise InputError(
            f"`target` returned {answers.dtype} values such as {answers.ravel()[0].item()!r}; expected True or False "
            "for every labeling, as (predicted == truth).all(axis=-1) gives."
        )
    if answers.shape != codes.shape[:-1]:
        raise InputError(
            f"`target` returned an array of shape {answers.shape} for labelings of shape {codes.shape}; expected one "
            f"True or False per labeling, {codes.shape[:-1]}. Use operations along the last axis, as .all(axis=-1)."
        )
    return answers.astype(bool)


def _chance_of(target: Callable[..., Any], record: Labelings, holdouts: NDArray[np.int64]) -> float:
    """The mean share of all labelings that are in the target, by trying them."""
    n_classes, h = len(record.classes), holdouts.shape[1]
    if n_classes**h > MOST_ENUMERATED:
        raise InputError(
            f"There are {n_classes}^{h} labelings, too many to try. Give `size`, how many of them are in the target."
        )
    labelings = _every_labeling(n_classes, h)
    return float(np.mean([_answers(target, record, labelings, points).mean() for points in holdouts]))


def _labelings(target: Any, classes: NDArray[Any], h: int) -> set[tuple[int, ...]]:
    codes = {label: code for code, label in enumerate(classes.tolist())}
    example = tuple(classes.tolist()[place % len(classes)] for place in range(h))
    expected = (
        f"expected a collection of labelings, such as [{example!r}], a number of labels right, or a function of "
        "predicted and true labels."
    )
    if not isinstance(target, Iterable) or isinstance(target, (str, bytes, Mapping)):
        raise InputError(f"`target` is {target!r}; {expected}")
    wanted = set()
    for labeling in target:
        if not isinstance(labeling, Iterable) or (isinstance(labeling, (str, bytes)) and h > 1):
            raise InputError(
                f"`target` has {labeling!r}, which is no labeling; {expected} Put one labeling in brackets."
            )
        parts = [part.item() if isinstance(part, np.generic) else part for part in labeling]
        if len(parts) != h or any(not isinstance(part, Hashable) or part not in codes for part in parts):
            raise InputError(
                f"`target` has the labeling {shown(parts)}; expected {h} labels, each one of {shown(classes.tolist())}."
            )
        wanted.add(tuple(codes[part] for part in parts))
    if not wanted:
        raise InputError(f"`target` is empty; {expected}")
    return wanted


def _member(predicted: NDArray[Any], wanted: set[tuple[int, ...]], classes: NDArray[Any]) -> NDArray[np.bool_]:
    member = np.zeros(predicted.shape[:-1], dtype=bool)
    for labeling in wanted:
        member |= (predicted == classes[list(labeling)]).all(axis=-1)
    return member


# Bounds: what a bias leaves possible for the entropy, and the other way round.


def target_size(threshold: int, holdout_size: int, n_classes: int) -> int:
    """k: how many of the c^h labelings have at least `threshold` labels right."""
    wrong = n_classes - 1
    return sum(
        math.comb(holdout_size, right) * wrong ** (holdout_size - right) for right in range(threshold, holdout_size + 1)
    )


def chance(threshold: int, holdout_size: int, n_classes: int) -> float:
    """p_z: the chance that uniform guessing gets at least `threshold` of `holdout_size` labels right."""
    whole(threshold, "threshold", at_least=0)
    return target_size(threshold, holdout_size, n_classes) / int(n_classes**holdout_size)


def most_expressivity(q: float, threshold: int, holdout_size: int, n_classes: int) -> float:
    """The tight bound: with mass q on the target, H ≤ H2(q) + q·log2 k + (1 − q)·log2(|Ω| − k)."""
    inside = target_size(threshold, holdout_size, n_classes)
    q = min(max(q, 0.0), 1.0)
    masses = ((q, inside), (1 - q, n_classes**holdout_size - inside))
    return sum(mass * (math.log2(number) - math.log2(mass)) for mass, number in masses if mass > 0 and number)


def most_expressivity_lauw(bias: float, log2_labelings: float) -> float:
    """The published bound on expressivity: H ≤ log2|Ω| − 2·bias² (Lauw et al., 2019)."""
    return log2_labelings - 2 * bias**2


@dataclass(frozen=True)
class Bounds:
    """What is possible at one threshold; the plain estimates (`Orientation.plugin`) are within these bounds.

    `bias_low` and `bias_high` are −p and 1 − p, p the `chance`. `expressivity_tight` is the highest expressivity that a
    learner with this bias can have; `expressivity_least` the lowest with its own mass q_h on the target of each
    holdout: the mean of H2(q_h), not H2 of the mean, which is larger. `expressivity_lauw` is the published, looser
    bound. The same for capacity, given the learner's stochasticity, NaN where that is unknown: `capacity_tight` is
    the bound of expressivity less stochasticity, `capacity_least` the information of the subset on whether the target
    is hit.
    """

    threshold: int
    chance: float
    bias_low: float
    bias_high: float
    expressivity_least: float
    expressivity_tight: float
    expressivity_lauw: float
    capacity_least: float
    capacity_tight: float


def bounds(masses: Floats, stochasticity: float, threshold: int, holdout_size: int, n_classes: int) -> Bounds:
    """All bounds at one threshold. `masses` (M, K) is the share of refits that hit the target: holdouts x subsets."""
    p = chance(threshold, holdout_size, n_classes)
    by_holdout = masses.mean(axis=1)
    q = float(by_holdout.mean())
    least = float(binary_entropy(by_holdout).mean())
    most = most_expressivity(q, threshold, holdout_size, n_classes)
    known = not math.isnan(stochasticity)
    return Bounds(
        threshold=threshold,
        chance=p,
        bias_low=-p,
        bias_high=1 - p,
        expressivity_least=least,
        expressivity_tight=most,
        expressivity_lauw=most_expressivity_lauw(q - p, holdout_size * math.log2(n_classes)),
        capacity_least=max(least - float(binary_entropy(masses).mean()), 0.0) if known else math.nan,
        capacity_tight=most - stochasticity,
    )
