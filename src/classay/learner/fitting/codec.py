"""How the predictions of a refit are stored: `Codes` of classes for a classifier, `Numbers` for a regressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...inputs import plain_labels

MISSING = -1


class Codec(Protocol):
    """What `record` needs to know about predictions."""

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """Predictions that are all missing."""
        ...

    def read(self, predicted: Any, count: int) -> NDArray[Any]:
        """The predictions of a fitted learner for `count` rows; a ValueError if they cannot be read."""
        ...

    def truth(self, y: NDArray[Any]) -> NDArray[Any]:
        """The true values."""
        ...

    def fit_quality(self, answered: NDArray[Any], truth: NDArray[Any], times: NDArray[np.integer]) -> float:
        """How well a refit predicts its own training rows, each counted as often as it was drawn."""
        ...


@dataclass(frozen=True)
class LabelCodec:
    """Codes into sorted classes, -1 where missing. Quality is accuracy."""

    classes: NDArray[Any]

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        return np.full(shape, MISSING, dtype=code_type(self.classes.size))

    def read(self, predicted: Any, count: int) -> NDArray[Any]:
        values = plain_labels(_one_each(predicted, count, "label"))
        if self.classes.dtype.kind == "U":
            values = values.astype(str)
        codes = np.minimum(np.searchsorted(self.classes, values), self.classes.size - 1)
        strange = self.classes[codes] != values
        if strange.any():
            raise ValueError(f"it predicted {values[strange][0].item()!r}, which is not one of the classes")
        return codes

    def truth(self, y: NDArray[Any]) -> NDArray[Any]:
        return np.searchsorted(self.classes, y).astype(code_type(self.classes.size))

    def fit_quality(self, answered: NDArray[Any], truth: NDArray[Any], times: NDArray[np.integer]) -> float:
        return float(np.average(answered == truth, weights=times))


@dataclass(frozen=True)
class NumberCodec:
    """Numbers, NaN where missing. Quality is the root mean squared error."""

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        return np.full(shape, np.nan)

    def read(self, predicted: Any, count: int) -> NDArray[Any]:
        values = _one_each(predicted, count, "number").astype(float)
        strange = ~np.isfinite(values)
        if strange.any():
            raise ValueError(f"it predicted {values[strange][0]}, which is not a finite number")
        return values

    def truth(self, y: NDArray[Any]) -> NDArray[Any]:
        return y.astype(float)

    def fit_quality(self, answered: NDArray[Any], truth: NDArray[Any], times: NDArray[np.integer]) -> float:
        return float(np.sqrt(np.average((answered - truth) ** 2, weights=times)))


def _one_each(predicted: Any, count: int, what: str) -> NDArray[Any]:
    values = np.asarray(predicted)
    if values.shape not in ((count,), (count, 1)):
        raise ValueError(f"it predicted an array of shape {values.shape} for {count} rows; expected one {what} per row")
    return values.reshape(count)


def code_type(n_classes: int) -> np.dtype[Any]:
    """The smallest signed integer type that holds the codes of `n_classes` classes, and -1."""
    return np.min_scalar_type(-max(n_classes, 1))
