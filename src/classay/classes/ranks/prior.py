"""How often each class is the true one, as weights of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import AnyInts, Floats
from ...expect import InputError, one_of, shown

PRIORS = ("rows", "zipf")


def prior_of(prior: Any, classes: NDArray[Any], truth: AnyInts) -> Floats:
    """A prior as weights of the classes that sum to 1."""
    rows = np.bincount(truth, minlength=classes.size).astype(float)
    if isinstance(prior, str):
        if one_of(prior, "prior", PRIORS) == "rows":
            return np.asarray(rows / rows.sum())
        order = np.argsort(-rows, kind="stable")
        weights = np.empty(classes.size)
        weights[order] = 1 / np.arange(1, classes.size + 1)
        return np.asarray(weights / weights.sum())
    if isinstance(prior, Mapping):
        names = classes.tolist()
        missing, unknown = [name for name in names if name not in prior], [name for name in prior if name not in names]
        if missing or unknown:
            raise InputError(
                f"`prior` lacks {shown(missing, 4) or 'no class'} and names {shown(unknown, 4) or 'no other'}; "
                f"expected a weight for each of the {classes.size} classes."
            )
        prior = [prior[name] for name in names]
    try:
        weights = np.asarray(prior, dtype=float)
    except (ValueError, TypeError) as error:
        raise InputError(f'`prior` is {prior!r}; expected weights of the classes, "rows" or "zipf".') from error
    if weights.shape != (classes.size,):
        raise InputError(f"`prior` has shape {weights.shape}; expected one weight for each of {classes.size} classes.")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights * (rows > 0)).sum() > 0):
        raise InputError(
            "`prior` has negative or infinite weights, or none above 0 for a class with test rows; expected weights "
            "from 0 up."
        )
    return np.asarray(weights / weights.sum())
