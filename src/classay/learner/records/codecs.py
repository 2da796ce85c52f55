"""How the predictions of refits are stored: labels as codes, numbers as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...inputs import one_per_row, plain_labels

MISSING = -1
"""The code of a prediction that is not there."""


@dataclass(frozen=True)
class LabelCodec:
    """Codes into sorted classes, -1 where missing. Quality is accuracy."""

    classes: NDArray[Any]

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        return np.full(shape, MISSING, dtype=code_type(self.classes.size))

    def read(self, predicted: Any, count: int) -> NDArray[Any]:
        """The predictions of a fitted learner for `count` rows; a ValueError if they cannot be read."""
        values = plain_labels(one_per_row(predicted, count, "label"))
        if self.classes.dtype.kind == "U":
            values = values.astype(str)
        codes = np.minimum(np.searchsorted(self.classes, values), self.classes.size - 1)
        strange = self.classes[codes] != values
        if strange.any():
            raise ValueError(f"it predicted {values[strange][0].item()!r}, which is not one of the classes")
        return codes

    def truth(self, y: NDArray[Any]) -> NDArray[Any]:
        return np.searchsorted(self.classes, y).astype(code_type(self.classes.size))

    def holds(self, stored: NDArray[Any]) -> bool:
        """Whether all of these can be stored predictions: possible values, or missing."""
        return stored.dtype.kind in "iu" and not ((stored < MISSING) | (stored >= self.classes.size)).any()

    def known(self, stored: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(stored != MISSING)

    def fit_quality(self, answered: NDArray[Any], truth: NDArray[Any], times: NDArray[np.integer]) -> float:
        """How well a refit predicts its own training rows, each counted as often as it was drawn."""
        return float(np.average(answered == truth, weights=times))


def code_type(n_classes: int) -> np.dtype[Any]:
    """The smallest signed integer type that holds the codes of `n_classes` classes, and -1."""
    return np.min_scalar_type(-max(n_classes, 1))


@dataclass(frozen=True)
class NumberCodec:
    """Numbers, NaN where missing. Quality is the root mean squared error."""

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        return np.full(shape, np.nan)

    def read(self, predicted: Any, count: int) -> NDArray[Any]:
        values = one_per_row(predicted, count, "number").astype(float)
        strange = ~np.isfinite(values)
        if strange.any():
            raise ValueError(f"it predicted {values[strange][0]}, which is not a finite number")
        return values

    def truth(self, y: NDArray[Any]) -> NDArray[Any]:
        return y.astype(float)

    def holds(self, stored: NDArray[Any]) -> bool:
        return stored.dtype.kind == "f" and not np.isinf(stored).any()

    def known(self, stored: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(stored))

    def fit_quality(self, answered: NDArray[Any], truth: NDArray[Any], times: NDArray[np.integer]) -> float:
        return float(np.sqrt(np.average((answered - truth) ** 2, weights=times)))


Codec = LabelCodec | NumberCodec
