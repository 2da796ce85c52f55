"""`Predictions`: what every refit of a regressor predicted. The record that its measures use."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ...arrays import AnyInts, Floats, Mask
from ...engine import store
from ...expect import InputError, one_of
from . import base
from .base import Failure, Refits, common_fields
from .codecs import NumberCodec
from .labelings import Labelings
from .validity import expect_valid


@dataclass(frozen=True, eq=False)
class Predictions(Refits):
    """What K subsets x R refits of a regressor predicted on n test points.

    `values[k, r, i]` is a number, NaN if a refit is missing; `truth[i]` is the observed value. `train_rmse[k, r]` is
    the root mean squared error of a refit on its own rows. Everything else is as in `Labelings`. Make one with
    `classay.record` or `from_arrays`.
    """

    values: Floats
    truth: Floats
    train_rmse: Floats
    seconds: Floats
    train_rows: tuple[AnyInts, ...] = ()
    test_rows: AnyInts = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    probe_values: Floats | None = None
    probes: Any = None
    failures: tuple[Failure, ...] = ()
    deterministic: bool = False
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)
    groups: AnyInts | None = None
    probe_groups: AnyInts | None = None
    predicted: Mask | None = None

    KIND = "predictions"

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
        answers, truth = _numbers(values, "values"), _numbers(y_true, "y_true")
        answers = answers[:, None, :] if answers.ndim == 2 else answers
        if answers.ndim != 3 or truth.ndim != 1 or answers.shape[2] != truth.size or 0 in answers.shape:
            raise InputError(
                f"`values` has shape {np.shape(values)} and `y_true` {np.shape(y_true)}; expected (subsets, refits, "
                "points) or (subsets, points), and (points,)."
            )
        probing = None if probe_values is None else _numbers(probe_values, "probe_values")
        probing = None if probing is None else base.of_probes(probing, "probe_values", probes, answers)
        about = base.from_arrays(name, len(answers), halves, probing)
        unknown = np.full(answers.shape[:2], np.nan)
        return cls(answers, truth, unknown, unknown.copy(), (), np.arange(truth.size), probing, probes, about=about)

    def answers(self, on: str = "test") -> Floats:
        """(K, R, n) predictions on the `test` points or the `probes`."""
        if one_of(on, "on", ["test", "probes"]) == "test":
            return self.values
        if self.probe_values is None:
            raise InputError("The record has no probes; record with probes='uniform', or use on='test'.")
        return self.probe_values

    @property
    def has_probes(self) -> bool:
        """Whether refits predicted probes."""
        return self.probe_values is not None

    @property
    def present(self) -> NDArray[np.bool_]:
        """(K, R): which refits gave predictions."""
        if self.predicted is not None:
            return np.asarray((~np.isnan(self.values)).any(axis=2))
        there: NDArray[np.bool_] = ~np.isnan(self.values[:, :, 0])
        return there

    @property
    def test_rmse(self) -> Floats:
        """(K, R): root mean squared error of each refit on the test points; NaN if it is missing."""
        error: Floats = np.sqrt(self.mean_of_unseen((self.values - self.truth) ** 2))
        return error

    def to_frame(self) -> pd.DataFrame:
        """One row per refit: subset, refit, train and test error, seconds, error message."""
        return self.by_refit(train_rmse=self.train_rmse, test_rmse=self.test_rmse)

    def __str__(self) -> str:
        return base.counted_refits(self, f", which run from {self.truth.min():.4g} to {self.truth.max():.4g}")

    __repr__ = __str__

    def own_arrays(self) -> dict[str, NDArray[Any]]:
        """Values, truth, error on the training rows, and values of probes."""
        arrays = {"values": self.values, "truth": self.truth, "train_rmse": self.train_rmse}
        return arrays if self.probe_values is None else {**arrays, "probe_values": self.probe_values}

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Predictions:
        """The record from what `to_file` wrote. A ValueError says what in it cannot be."""
        record = cls(
            values=arrays["values"],
            truth=arrays["truth"],
            train_rmse=arrays["train_rmse"],
            probe_values=arrays.get("probe_values"),
            **common_fields(header, arrays),
        )
        expect_valid(record, NumberCodec(), record.train_rmse, record.probe_values)
        return record


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
