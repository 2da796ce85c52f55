"""What records of classifiers (`Labelings`) and of regressors (`Predictions`) have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...arrays import AnyInts, Floats, Ints, Mask
from ...engine import archive, store
from ...expect import InputError, counted, fraction, one_of, shown
from ...intervals import AT_LEAST, Estimate
from ...notes import Note, notes_from_json, notes_to_json
from .codecs import Codec

LEAST_SHARE = 0.8
"""Measures refuse a record in which a smaller share of the refits is present."""


MOSTLY = 0.9
"""Fits on this share of the available rows are as good as fits on all of them."""
TRAINING = "of these training rows"
"""What intervals of refits on subsets of one table, tested on new points, are about."""
PREDICTIONS = "predictions"
"""The source of a record that was made of a table of predictions: variants and runs, not subsets and refits."""


@dataclass(frozen=True)
class Failure:
    """A refit without predictions, and why. Its training rows are `train_rows[subset]` of the record."""

    subset: int
    refit: int
    error: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Refits(ABC):
    """Predictions of K subsets x R refits on n test points, and on probes if there are any.

    What every record has; `complexity` is how much each refit has learned: leaves, coefficients or numbers kept, NaN or
    None if not counted. Subclasses add the predictions themselves, in the fields that `ANSWERS`, `ON_PROBES` and
    `QUALITY` (of each refit on its own rows) name.
    """

    truth: NDArray[Any]
    seconds: Floats
    train_rows: tuple[AnyInts, ...] = ()
    test_rows: AnyInts = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    probes: Any = None
    failures: tuple[Failure, ...] = ()
    deterministic: bool = False
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)
    groups: AnyInts | None = None
    probe_groups: AnyInts | None = None
    predicted: Mask | None = None
    columns: pd.DataFrame | None = None
    complexity: Floats | None = None

    KIND: ClassVar[str]
    ANSWERS: ClassVar[str]
    ON_PROBES: ClassVar[str]
    QUALITY: ClassVar[str]

    @property
    @abstractmethod
    def codec(self) -> Codec:
        """How predictions are stored."""

    def answers(self, on: str = "test") -> NDArray[Any]:
        """(K, R, n) predictions on the `test` points or the `probes`."""
        name = self.ANSWERS if one_of(on, "on", ["test", "probes"]) == "test" else self.ON_PROBES
        answers: NDArray[Any] | None = getattr(self, name)
        if answers is None:
            raise InputError("The record has no probes; record with probes='uniform', or use on='test'.")
        return answers

    @property
    def has_probes(self) -> bool:
        """Whether refits predicted probes."""
        return getattr(self, self.ON_PROBES) is not None

    @property
    def present(self) -> NDArray[np.bool_]:
        """(K, R): which refits gave predictions."""
        answers = self.answers() if self.predicted is not None else self.answers()[:, :, :1]
        return np.asarray(self.codec.known(answers).any(axis=2))

    @property
    def name(self) -> str:
        """The learner's name."""
        return str(self.about.get("learner", {}).get("name", "learner"))

    @property
    def halves(self) -> bool:
        """Whether subsets 2i and 2i + 1 are disjoint halves of one split."""
        return bool(self.about.get("scheme", {}).get("kind") == "HalfSplits")

    @property
    def of_predictions(self) -> bool:
        """Whether it was made of a table of predictions: subsets are variants and refits are runs."""
        return self.about.get("source") == PREDICTIONS

    @property
    def by_fold(self) -> bool:
        """Whether each fit predicted only some of the test points, as with `Folds`."""
        return self.predicted is not None and not self.predicted.all()

    @property
    def two_fold(self) -> bool:
        """Whether there is no test part: each half is tested on the other half of all rows."""
        return self.about.get("test_size") == 0

    @property
    def fresh(self) -> bool:
        """Whether subsets are fresh samples of a source, and not subsets of one table."""
        return bool(self.about.get("scheme", {}).get("fresh", False))

    @property
    def by_class(self) -> bool:
        """Whether the halves were dealt by class, as they were before there was a choice."""
        scheme = self.about.get("scheme", {})
        return self.halves and bool(scheme.get("stratify", self.about.get("source") != "arrays"))

    @property
    def probe_kind(self) -> str:
        """How the probes were drawn: uniform, marginal, data, or given."""
        return str((self.about.get("probes") or {}).get("kind", "given"))

    def groups_of(self, on: str = "test") -> AnyInts | None:
        """The groups of the `test` points or the `probes`; None if points are independent."""
        return self.groups if on == "test" else self.probe_groups

    def over(self, on: str = "test") -> str:
        """What intervals of means over refits and points are over."""
        several = len(self.seconds) > 1 and (self.predicted is None or on != "test")
        units = "" if not several else "variants and " if self.of_predictions else "subsets and "
        points = "items" if self.of_predictions else "points"
        return f"over {units}{points if self.groups_of(on) is None else 'groups'}"

    def over_rows(self) -> str:
        """What the interval of accuracy is over: subsets of these rows, or fresh samples."""
        return self.about_population(self.over(), TRAINING)

    def about_population(self, kind: str, rows: str = "of these rows") -> str:
        """A kind of interval with the population that it is about: refits on these rows, or on data like these."""
        return kind if self.of_predictions else f"{'of data like these' if self.fresh else rows}, {kind}"

    def named(self, estimate: Estimate, rows: str = "of these rows") -> Estimate:
        """The estimate, whose kind names the population; one without an interval around a value is left as it is."""
        if not estimate.known or not estimate.kind.startswith(("over ", AT_LEAST)):
            return estimate
        if not estimate.kind.startswith(AT_LEAST):
            return replace(estimate, kind=self.about_population(estimate.kind, rows))
        population = self.about_population("", rows).rstrip(", ")
        return replace(estimate, kind=f"{estimate.kind}, {population}") if population else estimate

    def chosen(self, pairs: bool = False, there: NDArray[np.bool_] | None = None) -> tuple[AnyInts, AnyInts]:
        """The choice of subsets (K',) and of refits of each (K', R') without gaps that keeps most of them.

        With `pairs`, subsets 2i and 2i + 1 are kept or dropped together. Raises InputError if fewer than 80 % of the
        refits are present: the rest may not be a fair sample. `there`: which count as present; default: all that are.
        """
        there = self.present if there is None else there
        if there.mean() < LEAST_SHARE:
            raise InputError(
                f"{int((~there).sum())} of {there.size} refits of {self.name} are missing"
                + (f" (first: {self.failures[0].error})" if self.failures else "")
                + f"; measures need at least {LEAST_SHARE:.0%}. See `failures` of the record."
            )
        had = there.sum(axis=1)
        if pairs:
            had = had.reshape(-1, 2).min(axis=1).repeat(2)
        kept = max(range(1, there.shape[1] + 1), key=lambda refits: (refits * int((had >= refits).sum()), refits))
        subsets = np.flatnonzero(had >= kept)
        first = np.argsort(~there[subsets], axis=1, kind="stable")[:, :kept]
        return subsets, first

    def complete(self, on: str = "test", pairs: bool = False) -> NDArray[Any]:
        """(K', R', n) predictions without gaps, of the refits that are `chosen`."""
        if on == "test":
            self.expect_same_points()
        if on == "test" and self.two_fold:
            raise InputError(
                "The record has no test part (test_size=0): every row is a training row of one half. Only accuracy is "
                "measured on the other half; for all else use on='probes', or record with a test part."
            )
        return self._without_gaps(on, pairs)

    def expect_same_points(self) -> None:
        """Refuse a record of folds, where fits cannot be compared on the same points."""
        if self.by_fold:
            raise InputError(
                f"In the record of {self.name} each fit predicted only the rows of its own fold (Folds), and this "
                "measure compares refits on the same test points. Record with Subsets(...) or HalfSplits(...)."
            )

    def _without_gaps(self, on: str, pairs: bool) -> NDArray[Any]:
        subsets, refits = self.chosen(pairs)
        answers = self.answers(on)
        return answers if self.present.all() else answers[subsets[:, None], refits]

    def on_unseen_rows(self, figure: Callable[[NDArray[Any]], NDArray[Any]]) -> Floats:
        """(units, n): a figure of predictions, mean over refits, on test points: of each subset, or, without a test
        part, of each split: at every row that of the half that was not fitted on it (two-fold cross-validation).
        """
        if self.predicted is not None:
            known = self.predicted[:, None, :] & self.present[:, :, None]
            times = known.sum(axis=(0, 1))
            if not times.all():
                self.chosen(there=np.zeros_like(self.present))  # says which folds are missing, and why
            return np.asarray(np.where(known, figure(self.answers()), 0.0).sum(axis=(0, 1)) / times)[None]
        by_subset: Floats = figure(self._without_gaps("test", self.two_fold)).mean(axis=1)
        if not self.two_fold:
            return by_subset
        subsets, _ = self.chosen(pairs=True)
        fitted_on = np.stack([np.isin(self.test_rows, self.train_rows[subset]) for subset in subsets[::2]])
        return np.where(fitted_on, by_subset[1::2], by_subset[::2])

    def mean_of_unseen(self, values: NDArray[Any]) -> Floats:
        """(K, R): the mean over test points of a figure of each refit, without rows that it was fitted on."""
        if self.predicted is not None:
            return np.stack([own[:, asked].mean(axis=1) for own, asked in zip(values, self.predicted)])
        if not self.two_fold:
            return np.asarray(values.mean(axis=2))
        others = [~np.isin(self.test_rows, rows) for rows in self.train_rows]
        return np.stack([own[:, unseen].mean(axis=1) for own, unseen in zip(values, others)])

    def by_refit(self, **figures: Floats) -> pd.DataFrame:
        """One row per refit: subset, refit, figures, seconds, complexity if it was counted, error."""
        subset, refit = np.indices(self.present.shape).reshape(2, -1)
        figures |= {"seconds": self.seconds} | ({} if self.complexity is None else {"complexity": self.complexity})
        columns = {name: values.ravel() for name, values in figures.items()}
        frame = pd.DataFrame({"subset": subset, "refit": refit, **columns})
        errors = pd.DataFrame(list(self.failures), columns=["subset", "refit", "error"])
        return frame.merge(errors.astype({"subset": int, "refit": int}), on=["subset", "refit"], how="left")

    def save(self, path: str | Path) -> Path:
        """Write the record to one file that `classay.load` reads: arrays and a JSON header, no pickle."""
        header, arrays = self.to_file()
        return store.write(Path(path), self.KIND, header, arrays)

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays, as the store keeps them: fields that are arrays, by their names."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        tables = {name: values.pop(name) for name in TABLES}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        arrays["train_rows"] = np.concatenate([*self.train_rows, np.empty(0, dtype=np.int64)]).astype(np.int64)
        arrays["train_sizes"] = np.array([rows.size for rows in self.train_rows], dtype=np.int64)
        header: dict[str, Any] = {
            "about": self.about,
            "deterministic": self.deterministic,
            "interrupted": self.interrupted,
            "failures": [[failure.subset, failure.refit, failure.error] for failure in self.failures],
        }
        notes = list(self.notes)
        if self.columns is not None:
            kept = [name for name in self.columns if archive.pack_table(self.columns[[name]], "columns") is not None]
            lost = [name for name in self.columns if name not in kept]
            tables["columns"] = self.columns[kept]
            notes += [Note("text", f"Not saved, because of their types: the columns {shown(lost)}.")] if lost else []
        for name, table in tables.items():
            packed = None if table is None else archive.pack_table(table, name)
            if packed is not None:
                header[name] = packed[0]
                arrays |= packed[1]
        return {**header, "notes": notes_to_json(notes)}, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The record from what `to_file` wrote. A ValueError says what in it cannot be."""
        sizes = arrays["train_sizes"]
        if sizes.ndim != 1 or (sizes < 0).any() or sizes.sum() != arrays["train_rows"].size:
            raise ValueError("training rows do not match their sizes")
        content: dict[str, Any] = {
            name: archive.unpack_table(header[name], arrays, name) for name in TABLES if name in header
        }
        names = {each.name for each in fields(cls)} - {"train_rows", *TABLES}
        content |= {name: array for name, array in arrays.items() if name in names}
        record = cls(
            **content,
            train_rows=tuple(np.split(arrays["train_rows"], np.cumsum(sizes)[:-1])) if sizes.size else (),
            failures=tuple(Failure(*entry) for entry in header["failures"]),
            deterministic=header["deterministic"],
            interrupted=header["interrupted"],
            notes=notes_from_json(header["notes"]),
            about=header["about"],
        )
        record.expect_valid()
        return record

    def expect_valid(self) -> None:
        """Raise a ValueError if this cannot be a record: shapes do not fit, or codes or numbers are out of range.

        A file can be whole and still be wrong, if its arrays were edited or come from elsewhere. Measures would then
        give figures that mean nothing, so this is checked at every read.
        """
        answers, truth, codec = self.answers(), self.truth, self.codec
        require(answers.ndim == 3 and 0 not in answers.shape, f"predictions have shape {answers.shape}")
        subsets, refits, points = answers.shape
        require(truth.shape == (points,), f"{points} test points but truth has shape {truth.shape}")
        require(codec.holds(answers), "predictions are out of range")
        require(codec.holds(truth), "the truth is out of range")
        require(self.of_predictions or bool(codec.known(truth).all()), "the truth is out of range")
        on_probes = None
        if self.has_probes:
            probing = self.answers("probes")
            require(probing.ndim == 3 and probing.shape[:2] == (subsets, refits), "predictions on probes do not fit")
            require(codec.holds(probing), "predictions on probes are out of range")
            on_probes = probing.shape[2]
            require(self.probes is None or len(self.probes) == on_probes, "probes and predictions on them do not fit")
        for name in ("seconds", self.QUALITY, *(["complexity"] if self.complexity is not None else [])):
            values = getattr(self, name)
            require(values.dtype.kind == "f" and values.shape == (subsets, refits), f"{name} has shape {values.shape}")
            require(not (values < 0).any(), f"{name} has numbers below 0")
        self._expect_rows(subsets, points)
        for groups, number in ((self.groups, points), (self.probe_groups, on_probes)):
            require(groups is None or groups.shape == (number,), "groups do not match their points")
        outside = [fail for fail in self.failures if not (0 <= fail.subset < subsets and 0 <= fail.refit < refits)]
        # A learner that turned out to be deterministic may have failed in a refit that the record no longer has.
        require(self.deterministic or not outside, "it lists failures of refits that it does not have")
        for name in ("deterministic", "interrupted"):
            require(isinstance(getattr(self, name), bool), f"{name} is not true or false")
        require(isinstance(self.about, dict), "its description is not a mapping")

    def _expect_rows(self, subsets: int, points: int) -> None:
        require(len(self.train_rows) in (0, subsets), f"{len(self.train_rows)} sets of training rows")
        require(self.test_rows.size in (0, points), f"{self.test_rows.size} test rows")
        for rows in (*self.train_rows, self.test_rows):
            require(rows.dtype.kind in "iu" and rows.ndim == 1 and not (rows < 0).any(), "row numbers are out of range")
        require(self.columns is None or len(self.columns) == points, "columns do not fit the predictions")
        mask = self.predicted
        if mask is not None:
            require(mask.dtype == bool and mask.shape == (subsets, points), "which rows were predicted does not fit")
            beyond = self.codec.known(self.answers()) & ~mask[:, None, :]
            matching = not beyond.any() and bool(mask.any(axis=0).all())
            require(matching, "predictions and the rows predicted do not match")


TABLES = ("probes", "columns")
"""The fields that are tables."""


def require(holds: bool, problem: str) -> None:
    """Raise a ValueError with the problem unless something holds."""
    if not holds:
        raise ValueError(problem)


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """What cross-validation predicts for each row: by a fit that was not trained on it.

    `labels[i]` is the code into `classes` predicted for row `rows[i]`, `truth[i]` its own, and `groups[i]` its group,
    if there are groups; `scores` (n, C) are what ranks best (decision values, else log-probabilities), `probabilities`
    (n, C) those of `predict_proba`; None if some fit did not give them. `fit_rows` is the smallest number of training
    rows of a fit, `available` what it is without a limit of rows. Predictions of another system may have neither, but a
    `confidence` in each; of several runs, `labels` are the most frequent predictions, and `share_right` is the share of
    runs that are right.
    """

    labels: Ints
    truth: Ints
    classes: NDArray[Any]
    rows: Ints
    scores: Floats | None = None
    probabilities: Floats | None = None
    groups: Ints | None = None
    fit_rows: int = 0
    available: int = 0
    confidence: Floats | None = None
    share_right: Floats | None = None

    @property
    def is_full(self) -> bool:
        """Whether fits had nearly all rows that they could have."""
        return self.fit_rows >= MOSTLY * self.available

    @property
    def right(self) -> Mask:
        """Which rows are predicted correctly."""
        return np.asarray(self.labels == self.truth)

    @property
    def correct(self) -> Floats:
        """1 for rows that are predicted correctly, 0 for others; of several runs, the share of them."""
        return self.right.astype(float) if self.share_right is None else self.share_right


def over(groups: AnyInts | None) -> str:
    """What the interval of a mean over refits and points is over."""
    return "over subsets and points" if groups is None else "over subsets and groups"


def three_axes(answers: NDArray[Any], truth: NDArray[Any], name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Predictions as (K, R, n), and the truth (n,), if they fit together."""
    shape = answers.shape
    answers = answers[:, None, :] if answers.ndim == 2 else answers
    if answers.ndim != 3 or truth.ndim != 1:
        raise InputError(
            f"`{name}` has shape {shape} and `y_true` {truth.shape}; expected (subsets, refits, points) or (subsets, "
            "points), and (points,)."
        )
    if 0 in answers.shape[:2]:
        raise InputError(f"`{name}` has shape {shape}; expected at least one subset and one refit.")
    if answers.shape[2] != truth.size or truth.size == 0:
        raise InputError(
            f"`{name}` has {answers.shape[2]} points but `y_true` has {truth.size}; they must match, with at least 1 "
            f"point. Is the last axis of `{name}` the points?"
        )
    return answers, truth


def from_arrays(
    name: str, n_subsets: int, halves: bool, probing: NDArray[Any] | None, retrained: float | None = None
) -> dict[str, Any]:
    """The provenance of a record made from arrays."""
    about: dict[str, Any] = {"learner": {"name": name}, "source": "arrays"}
    if halves:
        if n_subsets % 2:
            raise InputError(f"`halves` is True, but there are {n_subsets} subsets; expected two per split.")
        about["scheme"] = {"kind": "HalfSplits", "m": n_subsets // 2}
    if retrained is not None:
        if halves:
            raise InputError("`halves` and `retrained` are both given; subsets are halves or samples of a retraining.")
        replaced = fraction(retrained, "retrained", why="It is the share of the rows that a retraining replaces.")
        about["scheme"] = {"kind": "Retrain", "n": n_subsets, "replaced": replaced}
    if probing is not None:
        about["probes"] = {"kind": "given", "rows": int(probing.shape[2])}
    return about


def of_probes(predicted: NDArray[Any], name: str, probes: Any, answers: NDArray[Any]) -> NDArray[Any]:
    """Predictions on probes (K, R, p), if they come from the refits that gave `answers`."""
    shape = predicted.shape
    predicted = predicted[:, None, :] if predicted.ndim == 2 else predicted
    if predicted.ndim != 3 or predicted.shape[:2] != answers.shape[:2] or predicted.shape[2] == 0:
        raise InputError(
            f"`{name}` has shape {shape} but the predictions on test points {answers.shape}; expected the same subsets "
            "and refits in both, and at least 1 probe."
        )
    if probes is not None and len(probes) != predicted.shape[2]:
        raise InputError(f"There are {len(probes)} `probes` but predictions on {predicted.shape[2]}; they must match.")
    return predicted


def counted_refits(record: Refits, what: str) -> str:
    """The first sentence of `str(record)`: "tree: 20 subsets x 5 refits on 30 test points …"."""
    subsets, refits = record.present.shape
    points = record.answers().shape[2]
    text = f"{record.name}: {subsets} subsets x {refits} refit{'s' * (refits != 1)} on {points} test points{what}."
    if record.predicted is not None:
        text = f"{record.name}: {counted(subsets, 'fold')} of {points} rows{what}."
    if record.of_predictions:
        times = f"{counted(subsets, 'variant')} x {counted(refits, 'run')}"
        text = f"{record.name}: {times} on {counted(points, 'item')}{what}."
    if record.has_probes:
        text += f" They also predicted {record.answers('probes').shape[2]} comparison points ({record.probe_kind})."
    if record.deterministic:
        text += " The learner is deterministic: one refit per subset is enough."
    gone = int((~record.present).sum())
    if gone:
        text += f" {gone} of {subsets * refits} {'runs' if record.of_predictions else 'refits'} are missing."
    return " ".join([text, *record.notes])
