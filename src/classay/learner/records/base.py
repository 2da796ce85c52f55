"""What records of classifiers (`Labelings`) and of regressors (`Predictions`) have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...arrays import AnyInts, Floats, Ints, Mask
from ...engine import archive, store
from ...expect import InputError, counted, fraction
from ...intervals import AT_LEAST, Estimate
from ...notes import notes_from_json, notes_to_json

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


class Refits(ABC):
    """Predictions of K subsets x R refits on n test points, and on probes if there are any.

    Subclasses are frozen dataclasses with at least the fields named here.
    """

    KIND: ClassVar[str]
    truth: NDArray[Any]
    seconds: Floats
    train_rows: tuple[AnyInts, ...]
    test_rows: AnyInts
    probes: Any
    failures: tuple[Failure, ...]
    deterministic: bool
    interrupted: bool
    notes: tuple[str, ...]
    about: dict[str, Any]
    groups: AnyInts | None
    probe_groups: AnyInts | None
    predicted: Mask | None
    columns: pd.DataFrame | None = None

    @abstractmethod
    def answers(self, on: str = "test") -> NDArray[Any]:
        """(K, R, n) predictions on the `test` points or the `probes`, which must be there."""

    @property
    @abstractmethod
    def present(self) -> NDArray[np.bool_]:
        """(K, R): which refits gave predictions."""

    @property
    @abstractmethod
    def has_probes(self) -> bool:
        """Whether refits predicted probes."""

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
        if self.predicted is not None and on == "test":
            return "over points" if self.groups is None else "over groups"
        if self.of_predictions:
            return (
                f"over {'variants and ' if len(self.seconds) > 1 else ''}{'items' if self.groups is None else 'groups'}"
            )
        return over(self.groups_of(on))

    def over_rows(self) -> str:
        """What the interval of accuracy is over: subsets of these rows, or fresh samples."""
        return self.about_population(self.over(), TRAINING)

    def about_population(self, kind: str, rows: str = "of these rows") -> str:
        """A kind of interval with the population that it is about: refits on these rows, or on data like these."""
        if self.of_predictions:
            return kind
        return f"{'of data like these' if self.fresh else rows}, {kind}"

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
        if on == "test" and self.predicted is not None:
            raise InputError(
                f"In the record of {self.name} each fit predicted only the rows of its own fold (Folds), and this "
                "measure compares refits on the same test points. Record with Subsets(...) or HalfSplits(...)."
            )
        if on == "test" and self.two_fold:
            raise InputError(
                "The record has no test part (test_size=0): every row is a training row of one half. Only accuracy is "
                "measured on the other half; for all else use on='probes', or record with a test part."
            )
        return self._without_gaps(on, pairs)

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
            means: Floats = values.mean(axis=2)
            return means
        others = [~np.isin(self.test_rows, rows) for rows in self.train_rows]
        return np.stack([own[:, unseen].mean(axis=1) for own, unseen in zip(values, others)])

    def by_refit(self, **figures: Floats) -> pd.DataFrame:
        """One row per refit: subset, refit, figures, seconds, error."""
        subset, refit = np.indices(self.present.shape).reshape(2, -1)
        columns = {name: values.ravel() for name, values in figures.items()}
        frame = pd.DataFrame({"subset": subset, "refit": refit, **columns, "seconds": self.seconds.ravel()})
        errors = pd.DataFrame(
            [(failure.subset, failure.refit, failure.error) for failure in self.failures],
            columns=["subset", "refit", "error"],
        ).astype({"subset": int, "refit": int})
        return frame.merge(errors, on=["subset", "refit"], how="left")

    def save(self, path: str | Path) -> Path:
        """Write the record to one file that `classay.load` reads: arrays and a JSON header, no pickle."""
        header, arrays = self.to_file()
        return store.write(Path(path), self.KIND, header, arrays)

    @abstractmethod
    def own_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that only this kind of record has."""

    def own_header(self) -> dict[str, Any]:
        """What the header says of this kind of record only."""
        return {}

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays, as the store keeps them."""
        arrays: dict[str, NDArray[Any]] = {
            **self.own_arrays(),
            "seconds": self.seconds,
            "train_rows": np.concatenate([*self.train_rows, np.empty(0, dtype=np.int64)]).astype(np.int64),
            "train_sizes": np.array([rows.size for rows in self.train_rows], dtype=np.int64),
            "test_rows": self.test_rows,
        }
        of_points = {"groups": self.groups, "probe_groups": self.probe_groups, "predicted": self.predicted}
        arrays |= {name: groups for name, groups in of_points.items() if groups is not None}
        header: dict[str, Any] = {
            "about": self.about,
            "deterministic": self.deterministic,
            "interrupted": self.interrupted,
            "notes": notes_to_json(self.notes),
            "failures": [[failure.subset, failure.refit, failure.error] for failure in self.failures],
            **self.own_header(),
        }
        for name, table in (("probes", self.probes), ("columns", self.columns)):
            packed = None if table is None else archive.pack_table(table, name)
            if packed is not None:
                header[name] = packed[0]
                arrays |= packed[1]
        return header, arrays


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """What cross-validation predicts for each row: by a fit that was not trained on it.

    `labels[i]` is the code into `classes` predicted for row `rows[i]`, `truth[i]` its own, and `groups[i]` its group,
    if there are groups; `scores` (n, C) are what ranks best (decision values, else log-probabilities), `probabilities`
    (n, C) those of `predict_proba`; None if some fit did not give them. `fit_rows` is the smallest number of training
    rows of a fit, `available` what it is without a limit of rows.
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

    @property
    def is_full(self) -> bool:
        """Whether fits had nearly all rows that they could have."""
        return self.fit_rows >= MOSTLY * self.available

    @property
    def right(self) -> Mask:
        """Which rows are predicted correctly."""
        return np.asarray(self.labels == self.truth)


def over(groups: AnyInts | None) -> str:
    """What the interval of a mean over refits and points is over."""
    return "over subsets and points" if groups is None else "over subsets and groups"


def common_fields(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The fields that all records have, from what `to_file` wrote."""
    sizes = arrays["train_sizes"]
    if sizes.ndim != 1 or (sizes < 0).any() or sizes.sum() != arrays["train_rows"].size:
        raise ValueError("training rows do not match their sizes")
    return {
        "seconds": arrays["seconds"],
        "train_rows": tuple(np.split(arrays["train_rows"], np.cumsum(sizes)[:-1])) if sizes.size else (),
        "test_rows": arrays["test_rows"],
        "probes": archive.unpack_table(header["probes"], arrays, "probes") if "probes" in header else None,
        "failures": tuple(Failure(*entry) for entry in header["failures"]),
        "deterministic": header["deterministic"],
        "interrupted": header["interrupted"],
        "notes": notes_from_json(header["notes"]),
        "about": header["about"],
        "groups": arrays.get("groups"),
        "probe_groups": arrays.get("probe_groups"),
        "predicted": arrays.get("predicted"),
    }


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
