"""How the answers of a refit are kept: `Codes` of classes for a classifier, `Numbers` for a regressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

MISSING = -1
Floats = NDArray[np.float64]


class Answers(Protocol):
    """What `record` has to know of the answers."""

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """Answers that are all missing."""
        ...

    def read(self, given: Any, count: int) -> NDArray[Any]:
        """What a fitted learner answered for so many rows; what cannot be read is a ValueError."""
        ...

    def truth(self, y: NDArray[Any]) -> NDArray[Any]:
        """The right answers."""
        ...

    def fit_quality(self, answered: NDArray[Any], truth: NDArray[Any], times: NDArray[np.integer]) -> float:
        """How well a refit answers its own rows, each counted as often as it was drawn."""
        ...


@dataclass(frozen=True)
class Codes:
    """Codes into sorted classes, -1 where missing. Quality is accuracy."""

    classes: NDArray[Any]

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        return np.full(shape, MISSING, dtype=code_type(self.classes.size))

    def read(self, given: Any, count: int) -> NDArray[Any]:
        found = plain(_one_each(given, count, "label"))
        if self.classes.dtype.kind == "U":
            found = found.astype(str)
        codes = np.minimum(np.searchsorted(self.classes, found), self.classes.size - 1)
        strange = self.classes[codes] != found
        if strange.any():
            raise ValueError(f"it answered {found[strange][0].item()!r}, which is not among the classes")
        return codes

    def truth(self, y: NDArray[Any]) -> NDArray[Any]:
        return np.searchsorted(self.classes, y).astype(code_type(self.classes.size))

    def fit_quality(self, answered: NDArray[Any], truth: NDArray[Any], times: NDArray[np.integer]) -> float:
        return float(np.average(answered == truth, weights=times))


@dataclass(frozen=True)
class Numbers:
    """Numbers, NaN where missing. Quality is the root mean squared error."""

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        return np.full(shape, np.nan)

    def read(self, given: Any, count: int) -> NDArray[Any]:
        found = _one_each(given, count, "number").astype(float)
        strange = ~np.isfinite(found)
        if strange.any():
            raise ValueError(f"it answered {found[strange][0]}, which is not a finite number")
        return found

    def truth(self, y: NDArray[Any]) -> NDArray[Any]:
        return y.astype(float)

    def fit_quality(self, answered: NDArray[Any], truth: NDArray[Any], times: NDArray[np.integer]) -> float:
        return float(np.sqrt(np.average((answered - truth) ** 2, weights=times)))


def _one_each(given: Any, count: int, what: str) -> NDArray[Any]:
    found = np.asarray(given)
    if found.shape not in ((count,), (count, 1)):
        raise ValueError(f"it answered an array of shape {found.shape} for {count} rows; one {what} a row is expected")
    return found.reshape(count)


def code_type(n_classes: int) -> np.dtype[Any]:
    """The smallest signed integer type that holds the codes of so many classes, and -1."""
    return np.min_scalar_type(-max(n_classes, 1))


def plain(values: NDArray[Any]) -> NDArray[Any]:
    """Labels as numbers, booleans or text, which can be sorted and saved: objects as what they hold."""
    if values.dtype == object:
        try:
            held = np.asarray(values.tolist())
        except (ValueError, OverflowError):  # of unequal lengths, or too large
            held = values
        # Only what numpy does not respell: a mix of texts and numbers is made text below.
        alike = len({type(value) for value in values.ravel()}) <= 1
        values = held if alike and held.shape == values.shape else values
    if values.dtype.kind == "S":
        return np.char.decode(values, "utf-8")
    return values if values.dtype.kind in "biufU" else values.astype(str)
