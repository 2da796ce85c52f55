"""Decisions at a threshold: what they cost, and the threshold at which they cost least."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import expect
from ...arrays import AnyInts, Floats
from ...expect import InputError
from ..records.labelings import Labelings
from ..records.scores import Scores

CANDIDATES = 200
FORMS = "a pair (cost of a false positive, cost of a false negative)"


def costs_of(cost: Any) -> tuple[float, float]:
    """What a false positive and a false negative cost."""
    try:
        pair = tuple(float(each) for each in cost)
    except (TypeError, ValueError):
        pair = ()
    if len(pair) != 2 or not all(0 <= each < np.inf for each in pair) or not any(pair):
        raise InputError(f"`cost` is {cost!r}; expected {FORMS}, numbers from 0 up, such as (1, 5).")
    return pair[0], pair[1]


def expect_threshold(threshold: Any, scores: Scores) -> float:
    """A threshold on the score of the second class."""
    low, high = (0, 1) if scores.probabilities else (None, None)
    return expect.number(threshold, "threshold", above=low, below=high)


def expect_two(record: Labelings, purpose: str) -> None:
    if record.classes.size != 2:
        raise InputError(
            f"{purpose} is for two classes, and the record has {record.classes.size}. Leave it out, or merge classes."
        )


def cheapest_threshold(scores: Scores, truth: AnyInts, cost: Any, blocks: AnyInts) -> tuple[float, float]:
    """The threshold that costs least over all refits and test points, and its mean cost per row.

    At equal cost, the one nearest to the usual threshold. For calibrated probabilities it is near fp/(fp + fn). The
    cost is cross-fitted: a threshold is chosen on one half of the points and its cost counted on the other; `blocks`
    assigns points to these.
    """
    false_positive, false_negative = costs_of(cost)
    positive = scores.positive
    usual = 0.5 if scores.probabilities else 0.0
    candidates = np.unique(np.append(np.quantile(positive, np.linspace(0, 1, CANDIDATES)), usual))

    def total(points: NDArray[np.bool_], at: Floats) -> Floats:
        negatives = np.sort(positive[:, :, points & (truth == 0)], axis=None)
        positives = np.sort(positive[:, :, points & (truth == 1)], axis=None)
        wrong = false_positive * (negatives.size - np.searchsorted(negatives, at))
        wrong = wrong + false_negative * np.searchsorted(positives, at)
        return np.asarray(wrong / max(int(points.sum()) * positive.shape[0] * positive.shape[1], 1))

    def least(points: NDArray[np.bool_]) -> float:
        costs = total(points, candidates)
        ties = candidates[costs <= costs.min() * (1 + 1e-12) + 1e-15]
        return float(ties[np.argmin(np.abs(ties - usual))])

    halves = [blocks % 2 == half for half in (0, 1)]
    crossed = sum(
        float(total(rest, np.array([least(half)]))[0]) * float(rest.mean())
        for half, rest in (halves, halves[::-1])
        if half.any() and rest.any()
    )
    return least(np.ones(truth.size, dtype=bool)), crossed
