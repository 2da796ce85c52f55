"""`Predictions`: what every refit of a regressor predicted. The record that its measures use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ...arrays import Floats
from ...engine import store
from ...expect import InputError
from . import base
from .base import Refits
from .codecs import NumberCodec
from .labelings import Labelings


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Predictions(Refits):
    """What K subsets x R refits of a regressor predicted on n test points.

    `values[k, r, i]` is a number, NaN if a refit is missing; `truth[i]` is the observed value. `train_rmse[k, r]` is
    the root mean squared error of a refit on its own rows. Everything else is as in `Labelings`. Make one with
    `classay.record` or `from_arrays`.
    """

    values: Floats
    train_rmse: Floats
    probe_values: Floats | None = None

    KIND, ANSWERS, ON_PROBES, QUALITY = "predictions", "values", "probe_values", "train_rmse"

    @property
    def codec(self) -> NumberCodec:
        """Numbers as they are."""
        return NumberCodec()

    @classmethod
    def from_arrays(
        cls,
        values: ArrayLike,
        y_true: ArrayLike,
        *,
        name: str = "learner",
        probe_values: ArrayLike | None = None,
        probes: Any = None,
        halves: bool = False,
    ) -> Predictions:
        """Predictions made anywhere: values (K, R, n) or (K, n), y_true (n,). Options are as in `Labelings`.

        >>> Predictions.from_arrays([[1.0, 2.0, 3.5], [1.1, 2.0, 3.0]], [1, 2, 3]).values.shape
        (2, 1, 3)
        """
        answers, truth = base.three_axes(_numbers(values, "values"), _numbers(y_true, "y_true"), "values")
        probing = None if probe_values is None else _numbers(probe_values, "probe_values")
        probing = None if probing is None else base.of_probes(probing, "probe_values", probes, answers)
        about = base.from_arrays(name, len(answers), halves, probing)
        unknown = np.full(answers.shape[:2], np.nan)
        return cls(
            values=answers,
            truth=truth,
            train_rmse=unknown,
            seconds=unknown.copy(),
            test_rows=np.arange(truth.size),
            probe_values=probing,
            probes=probes,
            about=about,
        )

    @property
    def test_rmse(self) -> Floats:
        """(K, R): root mean squared error of each refit on the test points; NaN if it is missing."""
        return np.asarray(np.sqrt(self.mean_of_unseen((self.values - self.truth) ** 2)))

    def to_frame(self) -> pd.DataFrame:
        """One row per refit: subset, refit, train and test error, seconds, error message."""
        return self.by_refit(train_rmse=self.train_rmse, test_rmse=self.test_rmse)

    def __str__(self) -> str:
        return base.counted_refits(self, f", which run from {self.truth.min():.4g} to {self.truth.max():.4g}")

    __repr__ = __str__


def _numbers(values: ArrayLike, name: str) -> Floats:
    try:
        numbers = np.asarray(values, dtype=float)
    except (ValueError, TypeError) as error:
        raise InputError(f"`{name}` is not an array of numbers ({error}). All rows must be equally long.") from error
    if not np.isfinite(numbers).all():
        raise InputError(f"`{name}` has values that are missing or infinite; every point needs a finite number.")
    return numbers


# Records of learners on disk: `load` reads what `save` wrote.


KINDS: dict[str, type[Labelings] | type[Predictions]] = {kind.KIND: kind for kind in (Labelings, Predictions)}


def load(path: str | Path) -> Labelings | Predictions:
    """Read a record that `Labelings.save` or `Predictions.save` wrote."""
    header, arrays = store.read(Path(path))
    if header["kind"] not in KINDS:
        raise store.RecordError(
            f"{path} is a record of kind {header['kind']!r}; expected one of {', '.join(map(repr, KINDS))}."
        )
    try:
        return restored(header, arrays)
    except store.CANNOT_BE as error:
        raise InputError(f"{path} is not a complete record of {header['kind']} ({error}). Make it again.") from error


def restored(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Labelings | Predictions:
    """The record from what `to_file` wrote."""
    return KINDS[header["kind"]].from_file(header, arrays)
