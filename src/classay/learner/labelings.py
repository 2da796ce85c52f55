"""`Labelings`: what every refit answered. The record on which all measures of a learner stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..engine import store
from ..expect import InputError, one_of, shown
from ..intervals import Estimate, around, crossed_standard_error, of_mean, within_limits

Ints = NDArray[np.integer]
Floats = NDArray[np.float64]

MISSING = -1
LEAST_SHARE = 0.8
"""Measures refuse a record in which a smaller share of the refits is present."""


@dataclass(frozen=True)
class Failure:
    """A refit that gave no labeling, and why. Its training rows are `labelings.train_rows[subset]`."""

    subset: int
    refit: int
    error: str


@dataclass(frozen=True, eq=False)
class Labelings:
    """What K subsets x R refits answered on n test points.

    `labels[k, r, i]` is a code into `classes`, or -1 where a refit is missing; `truth[i]` likewise. A deterministic
    learner is fitted once a subset, so R is then 1. `probe_labels` are the answers on probes, if any were given.
    `train_rows[k]` and `test_rows` are row numbers of the data. `about` says where the record comes from: learner and
    parameters, scheme, seed, fingerprint of the data, versions. Make one with `classay.record` or `from_arrays`.
    """

    labels: Ints
    truth: Ints
    classes: NDArray[Any]
    train_accuracy: Floats
    seconds: Floats
    train_rows: tuple[Ints, ...] = ()
    test_rows: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    probe_labels: Ints | None = None
    failures: tuple[Failure, ...] = ()
    deterministic: bool = False
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_arrays(
        cls,
        labels: ArrayLike,
        y_true: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        deterministic: bool = False,
        name: str = "learner",
    ) -> Labelings:
        """Labelings from predictions made anywhere: any system, any language.

        labels : (K, R, n) or (K, n) answers, class names or codes; y_true : (n,) the truth, in the same words.
        With (K, n) there is one refit a subset: stochasticity is unknown unless `deterministic` says that it is 0.
        classes : all classes that could be answered, if some never occur here; chance depends on how many there are.

        >>> answers = [["spam", "ham", "ham"], ["spam", "spam", "ham"]]
        >>> Labelings.from_arrays(answers, ["spam", "ham", "ham"]).labels.shape
        (2, 1, 3)
        """
        answers, truth = _array(labels, "labels"), _array(y_true, "y_true")
        if answers.ndim == 2:
            answers = answers[:, None, :]
        if answers.ndim != 3 or truth.ndim != 1:
            raise InputError(
                f"`labels` has shape {np.shape(labels)} and `y_true` {np.shape(y_true)}; (subsets, refits, points) or "
                "(subsets, points), and (points,) are expected."
            )
        if 0 in answers.shape[:2]:
            raise InputError(f"`labels` has shape {np.shape(labels)}; at least one subset and one refit are expected.")
        if answers.shape[2] != truth.size or truth.size == 0:
            raise InputError(
                f"`labels` has {answers.shape[2]} points and `y_true` {truth.size}; as many are expected, and at "
                "least 1. Is the last axis of `labels` the points?"
            )
        if (answers.dtype.kind == "U") != (truth.dtype.kind == "U"):
            raise InputError(
                f"`labels` holds {'text' if answers.dtype.kind == 'U' else 'numbers'} such as "
                f"{answers[0, 0, 0].item()!r} and `y_true` such as {truth[0].item()!r}; the same words are expected in "
                "both. Turn the codes of one into the names of the other."
            )
        if deterministic and (answers != answers[:, :1]).any():
            raise InputError(
                "`deterministic` is True, but refits of one subset differ in `labels`. Leave it out: what differs "
                "between refits is the learner's stochasticity."
            )
        occurring = np.unique(np.concatenate([truth, np.unique(answers)]))
        known = occurring if classes is None else np.unique(_array(classes, "classes"))
        strange = np.setdiff1d(occurring, known)
        if strange.size:
            raise InputError(f"`classes` lacks {shown(strange, 4)}, which `labels` or `y_true` have. Add them.")
        if known.size < 2:
            raise InputError(f"There is 1 class ({known[0].item()!r}) in `labels` and `y_true`; at least 2 are needed.")
        unknown = np.full(answers.shape[:2], np.nan)
        return cls(
            labels=np.searchsorted(known, answers).astype(code_type(known.size)),
            truth=np.searchsorted(known, truth).astype(code_type(known.size)),
            classes=known,
            train_accuracy=unknown,
            seconds=unknown.copy(),
            deterministic=deterministic,
            test_rows=np.arange(truth.size),
            about={"learner": {"name": name}, "source": "arrays"},
        )

    @property
    def name(self) -> str:
        """The learner's name."""
        return str(self.about.get("learner", {}).get("name", "learner"))

    @property
    def present(self) -> NDArray[np.bool_]:
        """(K, R): which refits gave a labeling."""
        there: NDArray[np.bool_] = self.labels[:, :, 0] != MISSING
        return there

    @property
    def test_accuracy(self) -> Floats:
        """(K, R): share of test points that each refit labels right; NaN where it is missing."""
        right = (self.labels == self.truth).mean(axis=2)
        return np.where(self.present, right, np.nan)

    def complete(self) -> Ints:
        """(K', R', n) labels without gaps: the choice of subsets and refits that keeps most of them.

        Raises InputError if fewer than 80 % of the refits are present: what is left may not be a fair sample.
        """
        there = self.present
        if there.mean() < LEAST_SHARE:
            raise InputError(
                f"{int((~there).sum())} of {there.size} refits of {self.name} are missing"
                + (f" (first: {self.failures[0].error})" if self.failures else "")
                + f"; measures need at least {LEAST_SHARE:.0%}. See `labelings.failures`."
            )
        if there.all():
            return self.labels
        had = there.sum(axis=1)
        kept = max(range(1, there.shape[1] + 1), key=lambda refits: (refits * int((had >= refits).sum()), refits))
        subsets = np.flatnonzero(had >= kept)
        first = np.argsort(~there[subsets], axis=1, kind="stable")[:, :kept]
        return self.labels[subsets[:, None], first]

    def accuracy(self, part: str = "test", level: float = 0.95) -> Estimate:
        """Mean accuracy over refits on the `test` or `train` rows, with an interval.

        On test points the interval is over subsets and points, on training rows over subsets. Accuracy on
        training rows is NaN where it was not recorded.
        """
        if one_of(part, "part", ["test", "train"]) == "train":
            by_subset = pd.DataFrame(self.train_accuracy).mean(axis=1).dropna().to_numpy()
            if not by_subset.size:
                return Estimate(np.nan, 0.0, 1.0, level, "not recorded")
            return within_limits(of_mean(by_subset, level, "over subsets"), 0.0, 1.0)
        right = (self.complete() == self.truth).mean(axis=1)
        estimate = around(
            float(right.mean()), crossed_standard_error(right), level, "over subsets and points", len(right)
        )
        return within_limits(estimate, 0.0, 1.0)

    def to_frame(self) -> pd.DataFrame:
        """One row a refit: subset, refit, train and test accuracy, seconds, error."""
        subset, refit = np.indices(self.present.shape).reshape(2, -1)
        frame = pd.DataFrame(
            {
                "subset": subset,
                "refit": refit,
                "train_accuracy": self.train_accuracy.ravel(),
                "test_accuracy": self.test_accuracy.ravel(),
                "seconds": self.seconds.ravel(),
            }
        )
        errors = pd.DataFrame(
            [(failure.subset, failure.refit, failure.error) for failure in self.failures],
            columns=["subset", "refit", "error"],
        ).astype({"subset": int, "refit": int})
        return frame.merge(errors, on=["subset", "refit"], how="left")

    def __str__(self) -> str:
        subsets, refits, points = self.labels.shape
        text = (
            f"{self.name}: {subsets} subsets x {refits} refit{'s' * (refits != 1)} on {points} test points of "
            f"{len(self.classes)} classes ({shown(self.classes, 4)})."
        )
        if self.deterministic:
            text += " The learner is deterministic: one refit a subset tells all."
        gone = int((~self.present).sum())
        if gone:
            text += f" {gone} of {subsets * refits} refits are missing."
        return " ".join([text, *self.notes])

    __repr__ = __str__

    def save(self, path: str | Path) -> Path:
        """Write the record to one file that `classay.load` reads: arrays and a JSON header, no pickle."""
        header, arrays = self.to_file()
        return store.write(Path(path), "labelings", header, arrays)

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays, as the store keeps them."""
        arrays: dict[str, NDArray[Any]] = {
            "labels": self.labels,
            "truth": self.truth,
            "classes": self.classes,
            "train_accuracy": self.train_accuracy,
            "seconds": self.seconds,
            "train_rows": np.concatenate([*self.train_rows, np.empty(0, dtype=np.int64)]).astype(np.int64),
            "train_sizes": np.array([rows.size for rows in self.train_rows], dtype=np.int64),
            "test_rows": self.test_rows,
        }
        if self.probe_labels is not None:
            arrays["probe_labels"] = self.probe_labels
        header = {
            "about": self.about,
            "deterministic": self.deterministic,
            "interrupted": self.interrupted,
            "notes": list(self.notes),
            "failures": [[failure.subset, failure.refit, failure.error] for failure in self.failures],
        }
        return header, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Labelings:
        """The record that `to_file` took apart."""
        sizes = arrays["train_sizes"]
        return cls(
            labels=arrays["labels"],
            truth=arrays["truth"],
            classes=arrays["classes"],
            train_accuracy=arrays["train_accuracy"],
            seconds=arrays["seconds"],
            train_rows=tuple(np.split(arrays["train_rows"], np.cumsum(sizes)[:-1])) if sizes.size else (),
            test_rows=arrays["test_rows"],
            probe_labels=arrays.get("probe_labels"),
            failures=tuple(Failure(*entry) for entry in header["failures"]),
            deterministic=header["deterministic"],
            interrupted=header["interrupted"],
            notes=tuple(header["notes"]),
            about=header["about"],
        )


def load(path: str | Path) -> Labelings:
    """Read a record that `Labelings.save` wrote."""
    header, arrays = store.read(Path(path), "labelings")
    try:
        return Labelings.from_file(header, arrays)
    except (KeyError, TypeError) as error:
        raise InputError(f"{path} is no whole record of labelings ({error}). Make the record again.") from error


def expect_record(given: Any, name: str) -> Labelings:
    """`given`, if it is a record."""
    if not isinstance(given, Labelings):
        raise InputError(
            f"`{name}` is {type(given).__name__}; a record is expected: what `classay.record` returns, or "
            "`Labelings.from_arrays(labels, y_true)`."
        )
    return given


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


def _array(values: ArrayLike, name: str) -> NDArray[Any]:
    """An array of labels; missing ones are refused."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"`{name}` is no array ({error}). As many labels are expected in every row.") from error
    if pd.isna(array.ravel()).any():
        raise InputError(f"`{name}` has missing (NaN) labels; every point needs one. Drop those points first.")
    return plain(array)
