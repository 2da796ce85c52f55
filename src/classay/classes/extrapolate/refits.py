"""Learners whose training changes with the number of classes: the theory does not hold for them, their refits do.

A curve of label sets takes the scores of a learner fitted on all classes. If refits on fewer classes
(`curve_of_learner(..., retrain=True)`) are off that curve by more than chance, scores depend on the other classes, and
what the learner will reach with more is better extrapolated from the refits themselves.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats
from ..curve.curve import Curve
from .methods import SHRINK, fit_family, normal_family

LEAST_SIZES = 2


def training_changes(curve: Curve) -> bool:
    """Whether refits are off the curve by more than their intervals, for most sizes and all on one side."""
    tested = [one for one in curve.retrained if one.draws.size > 1 and one.k < curve.n_classes]
    sides = [
        int(one.accuracy.low > curve.accuracy[one.k - 1]) - int(one.accuracy.high < curve.accuracy[one.k - 1])
        for one in tested
    ]
    return len(tested) >= LEAST_SIZES and 2 * abs(sum(sides)) > len(tested)


def from_refits(curve: Curve, k: ArrayLike) -> Floats:
    """Accuracy for each k: the normal family, fitted to the refits and to the accuracy with all classes."""
    points = {one.k: one.accuracy.value for one in curve.retrained} | {curve.n_classes: float(curve.accuracy[-1])}
    sizes = np.array(sorted(points), dtype=np.int64)
    accuracy = np.array([points[size] for size in sizes.tolist()])
    last = min(float(accuracy[-1]), 1.0)
    uncertainty = max(math.sqrt(last * (1 - last) / curve.n_classes), 0.5 / curve.n_classes)
    family = normal_family()
    return np.clip(family.accuracy(*fit_family(family, sizes, accuracy, uncertainty, SHRINK), k), 0.0, 1.0)
