"""Which labelings a learner produces, and how often: the label distribution matrix, and the bias to any target.

A column of the matrix is P_F, the distribution of labelings over the refits on one subset; its mean over columns is
P_D, the inductive orientation vector. Only labelings that occur have a row: of c^h possible ones, most do not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...arrays import Floats
from ...expect import InputError, shown, whole
from ...intervals import Estimate, around, crossed_standard_error, within_limits
from ..records.labelings import Labelings
from .entropy import chance
from .holdouts import interval_kind

MOST_ENUMERATED = 2**16
"""With more labelings than this, the size of a target must be given."""
Target = int | Callable[..., Any] | Collection[Any]


def distribution_matrix(record: Labelings, points: NDArray[np.int64], every: bool = False) -> pd.DataFrame:
    """P_F of every subset on the test points `points`: labelings x subsets. `every`: also those that never occur."""
    labels = record.complete()[:, :, points]
    n_subsets, n_refits, size = labels.shape
    named = {f"point {point}": record.classes[labels[:, :, place].ravel()] for place, point in enumerate(points)}
    subset = np.repeat(np.arange(n_subsets), n_refits)
    table: pd.DataFrame = pd.crosstab([pd.Series(each, name=name) for name, each in named.items()], subset) / n_refits
    if every:
        if len(record.classes) ** size > MOST_ENUMERATED:
            raise InputError(
                f"There are {len(record.classes)}^{size} labelings, more than {MOST_ENUMERATED:,}. Leave out "
                "every=True: only those that occur are then listed."
            )
        whole_index = pd.MultiIndex.from_product([record.classes] * size, names=list(named))
        keys = pd.MultiIndex.from_tuples([key if size > 1 else (key,) for key in table.index], names=list(named))
        table = table.set_axis(keys).reindex(whole_index, fill_value=0.0)
    if size == 1 and not isinstance(table.index, pd.MultiIndex):
        table.index = pd.MultiIndex.from_arrays([table.index], names=list(named))
    table.columns = pd.RangeIndex(n_subsets, name="subset")
    return table


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
        """The record that it was measured from."""
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
            p = _chance_of(target, record, points) if size is None else _share(size, n_classes, h)
            return bias_of(hits, p, self._level, kind)
        wanted = _labelings(target, record.classes, h)
        hits = _asked(record, points, lambda predicted, truth: _member(predicted, wanted, record.classes))
        return bias_of(hits, len(wanted) / n_classes**h, self._level, kind)


def bias_of(hits: Floats, p: float, level: float, kind: str) -> Estimate:
    """Share of refits that hit a target, over holdouts and subsets (M, K), minus the chance of that."""
    error = crossed_standard_error(hits)
    return within_limits(around(float(hits.mean()) - p, error, level, kind, hits.shape[1]), -p, 1 - p)


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
    every = np.array(list(itertools.product(range(n_classes), repeat=h)))
    return float(np.mean([_answers(target, record, every, points).mean() for points in holdouts]))


def _share(size: int, n_classes: int, h: int) -> float:
    number = whole(size, "size", at_least=0)
    if number > n_classes**h:
        raise InputError(f"`size` is {number}, but there are only {n_classes}^{h} labelings. Use at most as many.")
    return float(number / n_classes**h)


def _labelings(target: Any, classes: NDArray[Any], h: int) -> set[tuple[int, ...]]:
    """The labelings of a collection, as codes."""
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
    found = np.zeros(predicted.shape[:-1], dtype=bool)
    for labeling in wanted:
        found |= (predicted == classes[list(labeling)]).all(axis=-1)
    return found
