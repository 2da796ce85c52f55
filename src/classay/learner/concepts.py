"""Concepts: functions from rows to classes, written as expressions, functions or fitted classifiers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..expect import InputError
from ..expressions import parse
from ..learners import short_name
from .answers import plain
from .attributes import Attributes, named_rows


@dataclass(frozen=True, eq=False)
class Concept:
    """A concept under its name. Called with rows of the attributes, it tells the class of each."""

    name: str
    answer: Callable[[Any], Any]

    def __call__(self, rows: Any) -> NDArray[Any]:
        try:
            given = self.answer(rows)
        except InputError:
            raise
        except Exception as error:  # the concept is the user's and may fail in any way
            raise InputError(
                f"The concept {self.name!r} failed when asked for the classes of {len(rows)} rows: "
                f"{type(error).__name__}: {error}"
            ) from error
        values = given.to_numpy() if isinstance(given, (pd.Series, pd.Index)) else np.asarray(given)
        if values.shape == (len(rows), 1):
            values = values[:, 0]
        if values.shape != (len(rows),):
            raise InputError(
                f"The concept {self.name!r} answers an array of shape {values.shape} for {len(rows)} rows; one class a "
                "row is expected."
            )
        if pd.isna(values).any():
            raise InputError(f"The concept {self.name!r} answers nothing (NaN) for some rows; a class is expected.")
        return plain(values)


def concept(given: Any, role: str, attributes: Attributes) -> Concept:
    """A concept from what a user hands in; `role` is what to call it where it has no name.

    - a text is a true-or-false expression over the columns: "heat > 60 and alloy == 'A'";
    - a fitted classifier answers by `predict`;
    - anything callable is called with the rows, as a DataFrame or an array, as the learner gets them.
    """
    if isinstance(given, str):
        expression = parse(given, attributes.names)
        return Concept(given, lambda rows: expression(named_rows(attributes, rows)))
    if hasattr(given, "predict") and not isinstance(given, type):
        try:
            check_is_fitted(given)
        except NotFittedError:
            raise InputError(
                f"The concept {role} is {short_name(given)}, which is not fitted; a fitted classifier is expected."
            ) from None
        except TypeError:  # no estimator of scikit-learn; it knows itself
            pass
        return Concept(f"{short_name(given)} ({role})", lambda rows: given.predict(_as_it_was_fitted(given, rows)))
    if callable(given):
        name = getattr(given, "__name__", role)
        return Concept(role if name == "<lambda>" else name, given)
    raise InputError(
        f"The concept {role} is {given!r}; an expression such as 'x0 > 0.5', a function of rows, or a fitted "
        "classifier is expected."
    )


def columns_named(*concepts: Any) -> int | None:
    """How many columns x0, x1, … expressions speak of; None if they are no expressions or name others."""
    places = [0]
    for given in concepts:
        if not isinstance(given, str):
            return None
        for name in parse(given).columns:
            match = re.fullmatch(r"x(\d{1,4})", name)
            if match is None:
                return None
            places.append(int(match[1]) + 1)
    return max(places) or None


def _as_it_was_fitted(classifier: Any, rows: Any) -> Any:
    """Rows with or without names, as the classifier knows them."""
    names = getattr(classifier, "feature_names_in_", None)
    if isinstance(rows, pd.DataFrame):
        return rows.to_numpy() if names is None else rows[list(names)]
    return rows if names is None else pd.DataFrame(rows, columns=names)
