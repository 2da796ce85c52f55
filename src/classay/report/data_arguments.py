"""Arguments of `data_report`, checked before anything is measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Ints
from ..estimators.adapters import kind_of, short_name
from ..expect import InputError
from ..learner.fitting import checks as of_learners


def expect_matching(
    predictions: ArrayLike | None, probabilities: ArrayLike | None, confidence: ArrayLike | None
) -> None:
    """Refuse a confidence that would not be used."""
    if confidence is None:
        return
    if probabilities is not None:
        raise InputError(
            "`confidence` and `probabilities` are both given; expected one of them, as probabilities have the "
            "confidence in each prediction. Leave `confidence` out."
        )
    if predictions is None:
        raise InputError(
            "`confidence` is given without `predictions`; expected the class that the model predicts for each row too."
        )


def expect_classifier(learner: Any) -> None:
    """Refuse what is no classifier, such as the class instead of an instance."""
    of_learners.unfitted_learner(learner)
    if kind_of(learner) == "regressor":
        raise InputError(f"`learner` is {short_name(learner)}, which is a regressor; expected a classifier.")


def expect_flag(value: Any, name: str) -> bool:
    """A value that is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"`{name}` is {value!r}; expected True or False.")
    return bool(value)


def row_numbers(rows: ArrayLike | None, measured: int) -> Ints:
    """The number of each measured row in its source; by default they are counted."""
    if rows is None:
        return np.arange(measured)
    values = np.asarray(rows)
    if values.shape != (measured,):
        given = f"{values.size} values" if values.ndim == 1 else f"shape {values.shape}"
        raise InputError(f"`rows` has {given}; expected a number for each of the {measured} measured rows.")
    if values.dtype.kind not in "iu":
        raise InputError(f"`rows` has values of type {values.dtype}; expected whole numbers.")
    return values


def several_notes(notes: str | Sequence[str]) -> tuple[str, ...]:
    """Notes as a tuple: a text is one note."""
    return (notes,) if isinstance(notes, str) else tuple(notes)
