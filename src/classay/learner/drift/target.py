"""What a monitor's target is, classes or numbers, and so how its concepts are compared.

Of classes, two concepts are alike where they predict the same one, and a concept is as good as its accuracy. Of
numbers, they are alike where their predictions differ by at most a tolerance, and a concept is as good as its error is
small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats
from ..records.labelings import LabelCodec
from ..records.predictions import NumberCodec

CAP = 3.0
"""Absolute errors count up to this many times the usual (median) one. Chosen by simulation: see docs/change.md."""
ROUNDING = 1e-9
"""Errors of at most this many standard deviations of the target are rounding errors."""

ENOUGH_BLOCKS = 5


def corrected(blocks: float) -> float:
    """How many independent batches a reference of so many blocks is worth: (blocks − 1)/2.

    Blocks of one reference vary less around its mean than batches do around the process's (1 − 1/b of a batch's
    variance), and the reference itself adds 1/b: √((b + 1)/(b − 1)) in all.

    >>> corrected(5)
    2.0
    """
    return (blocks - 1) / 2


@dataclass(frozen=True, eq=False)
class LabelTarget:
    """One of some sorted classes. Predictions are codes into them."""

    classes: NDArray[Any]

    @property
    def codec(self) -> LabelCodec:
        """How predictions are stored."""
        return LabelCodec(self.classes)

    def alike(self, one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
        """Where two concepts predict the same."""
        same: NDArray[np.bool_] = one == other
        return same

    def worth(self, blocks: float) -> float:
        """How many independent batches a reference of so many blocks is worth in `p_value`: as many, if not few.

        Ties of accuracies make up for the correction of numbers below, but not with 3 blocks: there 6 % of 250 streams
        alarmed at 5 % with batches of 300 rows. So 3 blocks are worth `corrected(3)`, 5 are worth 5, and between them
        the worth is on a line, so that one row more or less hardly changes a p-value.

        >>> target = LabelTarget(np.array([0, 1]))
        >>> target.worth(3.0), target.worth(4.0), target.worth(5.0)
        (1.0, 3.0, 5.0)
        """
        return blocks if blocks >= ENOUGH_BLOCKS else 2 * blocks - ENOUGH_BLOCKS

    def cap(self, predicted: list[NDArray[Any]], truth: list[NDArray[Any]]) -> float:
        """No single row can count more than another."""
        return math.inf

    def quality(self, predicted: NDArray[Any], truth: NDArray[Any], cap: float) -> float:
        """The accuracy of predictions."""
        return float((predicted == truth).mean())

    def chance(self, one: NDArray[Any], other: NDArray[Any]) -> float:
        """How often a prediction of the one and one of the other, for unrelated points, are alike."""
        return float(_shares(one, self.classes.size) @ _shares(other, self.classes.size))


@dataclass(frozen=True)
class NumberTarget:
    """A number. `tolerance` is in its units, as is `deviation`, its standard deviation in the reference."""

    tolerance: float
    deviation: float
    classes: ClassVar[None] = None

    @property
    def codec(self) -> NumberCodec:
        """How predictions are stored."""
        return NumberCodec()

    def alike(self, one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
        """Where the predictions of two concepts differ by at most the tolerance."""
        near: NDArray[np.bool_] = np.abs(one - other) <= self.tolerance
        return near

    def worth(self, blocks: float) -> float:
        """How many independent batches a reference of so many blocks is worth in `p_value`."""
        return corrected(blocks)

    def cap(self, predicted: list[NDArray[Any]], truth: list[NDArray[Any]]) -> float:
        """The largest error that counts in full: 3 times the median, or the mean if the median is rounding.

        Without it, a rare large error of a heavy-tailed target, which the reference happens to lack, is an alarm.

        >>> NumberTarget(0.1, 1.0).cap([np.array([1.0, 2.0]), np.array([100.0])], [np.zeros(2), np.zeros(1)])
        6.0
        """
        errors = np.abs(np.concatenate(predicted) - np.concatenate(truth))
        rounding = ROUNDING * self.deviation
        usual = next((float(each) for each in (np.median(errors), errors.mean()) if each > rounding), math.inf)
        return CAP * usual

    def quality(self, predicted: NDArray[Any], truth: NDArray[Any], cap: float) -> float:
        """Minus the mean absolute error of predictions, none counted above the cap, in deviations of the target."""
        return -float(np.minimum(np.abs(predicted - truth), cap).mean()) / self.deviation

    def error(self, quality: float) -> float:
        """The error of a quality, in units of the target."""
        return -quality * self.deviation

    def chance(self, one: NDArray[Any], other: NDArray[Any]) -> float:
        """How often a prediction of the one and one of the other, for unrelated points, are alike.

        >>> NumberTarget(1.0, 1.0).chance(np.array([0.0, 5.0]), np.array([1.0, 2.0, 5.0, 6.0]))
        0.375
        """
        values = np.sort(other, axis=None)
        above = np.searchsorted(values, one.ravel() + self.tolerance, side="right")
        below = np.searchsorted(values, one.ravel() - self.tolerance, side="left")
        return float((above - below).mean()) / values.size


Target = LabelTarget | NumberTarget


def _shares(answers: NDArray[np.integer], n_classes: int) -> Floats:
    counts: Floats = np.bincount(answers.ravel(), minlength=n_classes) / answers.size
    return counts
