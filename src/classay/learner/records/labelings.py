"""`Labelings`: what every refit predicted. The record that all measures of a learner use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ...arrays import AnyInts, Floats
from ...estimators.scores import DECISION, PROBABILITY
from ...expect import InputError, one_of, shown
from ...inputs import plain_labels
from ...intervals import Estimate, by_group, of_mean, of_proportion_by_group, of_table
from ...splits import per_row
from . import base
from .base import OutOfFold, Refits, require
from .codecs import LabelCodec
from .scores import Scores, names_of, scores_from_arrays, scores_from_file


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Labelings(Refits):
    """What K subsets x R refits predicted on n test points.

    `labels[k, r, i]` is a code into `classes`, or -1 if a refit is missing; `truth[i]` likewise. A deterministic
    learner is fitted once per subset, so R is then 1. `probe_labels` are the predictions on `probes`, if there are any;
    the probes themselves are None if they cannot be stored: sparse, too large, or of unusual types.
    `train_rows[k]` and `test_rows` are row numbers of the data. `about` is the provenance of the record: learner and
    parameters, scheme, seed, fingerprint of the data, versions. `groups[i]` is the group of test point i, if there are
    groups: intervals are then over groups. `scores` are the probabilities or decision values of the same refits on the
    test points, `probe_scores` those on the probes; None if they were not kept. With `Folds`, `predicted[k, i]` says
    which points fit k predicted, None: all. `full_scores[r, p]` are scores and probabilities (2C) in 64 bits of
    prediction p, in the order of fits and points, of folds and of tables of predictions. Of such tables, `confidence`
    (K, R, n) is the score of the answer given, and `columns` has the other columns, a row for each item. Make one with
    `classay.record`, `from_arrays` or `from_frame`.
    """

    labels: AnyInts
    classes: NDArray[Any]
    train_accuracy: Floats
    probe_labels: AnyInts | None = None
    scores: Scores | None = None
    probe_scores: Scores | None = None
    full_scores: Floats | None = None
    confidence: Floats | None = None

    KIND, ANSWERS, ON_PROBES, QUALITY = "labelings", "labels", "probe_labels", "train_accuracy"

    @property
    def codec(self) -> LabelCodec:
        """Codes into the classes."""
        return LabelCodec(self.classes)

    @classmethod
    def from_arrays(
        cls,
        labels: ArrayLike,
        y_true: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        deterministic: bool = False,
        name: str = "learner",
        probe_labels: ArrayLike | None = None,
        probes: Any = None,
        halves: bool = False,
        groups: ArrayLike | None = None,
        scores: ArrayLike | None = None,
        probe_scores: ArrayLike | None = None,
        score_kind: str | None = None,
        retrained: float | None = None,
    ) -> Labelings:
        """Labelings from predictions of any system, in any language.

        labels : (K, R, n) or (K, n) predictions, class names or codes; y_true : (n,) the truth, with the same names.
        With (K, n) there is one refit per subset: stochasticity is unknown unless `deterministic` says that it is 0.
        classes : all classes that could be predicted, if some never occur here; chance depends on their number.
        probe_labels : (K, R, p) or (K, p) predictions of the same refits on probes; probes : the rows of these.
        halves : whether subsets 2i and 2i + 1 are disjoint halves of one split, as in `HalfSplits`.
        groups : (n,) the group of each point, if points of a group depend on each other.
        scores, probe_scores : scores of the same refits, with one more axis for classes, in the order of `classes`
        (sorted, if not given); of two classes, also the score of the second one without that axis. score_kind :
        'probability' or 'decision'; default: probabilities if they are from 0 to 1 and sum to 1 over classes.
        retrained : the share of training rows in which any two subsets differ, as in `Retrain`.

        >>> answers = [["spam", "ham", "ham"], ["spam", "spam", "ham"]]
        >>> Labelings.from_arrays(answers, ["spam", "ham", "ham"]).labels.shape
        (2, 1, 3)
        """
        answers, truth = base.three_axes(_array(labels, "labels"), _array(y_true, "y_true"), "labels")
        _same_words(answers, "labels", truth, "y_true")
        if deterministic and (answers != answers[:, :1]).any():
            raise InputError(
                "`deterministic` is True, but refits on the same subset differ in `labels`. Leave it out: differences "
                "between refits are the learner's stochasticity."
            )
        probing = None
        if probe_labels is not None:
            probing = base.of_probes(_array(probe_labels, "probe_labels"), "probe_labels", probes, answers)
            _same_words(probing, "probe_labels", answers, "labels")
        elif probes is not None:
            raise InputError("`probes` are given without `probe_labels`; the predictions on them are needed too.")
        observed = [truth, np.unique(answers)] + ([] if probing is None else [np.unique(probing)])
        occurring = np.unique(np.concatenate(observed))
        order = None if classes is None else _array(classes, "classes")
        known = occurring if order is None else np.unique(order)
        strange = np.setdiff1d(occurring, known)
        if strange.size:
            raise InputError(f"`classes` lacks {shown(strange, 4)}, which `labels` or `y_true` have. Add them.")
        if known.size < 2:
            raise InputError(f"There is 1 class ({known[0].item()!r}) in `labels` and `y_true`; at least 2 are needed.")
        unknown = np.full(answers.shape[:2], np.nan)
        codes = LabelCodec(known)
        if order is not None and order.size != known.size:
            order = None  # repeated, so they do not name columns
        scored = None if scores is None else scores_from_arrays(scores, "scores", answers, known, order, score_kind)
        on_probes = None
        if probe_scores is not None:
            if probing is None or scored is None:
                raise InputError("`probe_scores` are given without `scores` or `probe_labels`; both are needed too.")
            on_probes = scores_from_arrays(probe_scores, "probe_scores", probing, known, order, scored.kind)
        return cls(
            labels=codes.truth(answers),
            truth=codes.truth(truth),
            classes=known,
            train_accuracy=unknown,
            seconds=unknown.copy(),
            deterministic=deterministic,
            test_rows=np.arange(truth.size),
            probe_labels=None if probing is None else codes.truth(probing),
            probes=probes,
            about=base.from_arrays(name, len(answers), halves, probing, retrained),
            groups=per_row(groups, rows=truth.size).groups,
            scores=scored,
            probe_scores=on_probes,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        truth: str,
        prediction: str | Sequence[str] | None = None,
        item: str | None = None,
        run: str | None = None,
        variant: str | None = None,
        score: str | Sequence[str] | None = None,
        groups: str | None = None,
        wide: str = "variant",
        normalise: bool | Mapping[str, str] = False,
        missing: str = "wrong",
        classes: Iterable[Any] | None = None,
        name: str = "predictions",
    ) -> Labelings:
        """Labelings from a table of predictions: variants (models, prompts) x runs (repetitions) x items.

        A long table has one row per prediction, with columns that say of which item, run and variant. A wide table has
        one row per item and several prediction columns. One vector of predictions, and one variant with several runs,
        are records too. In the record a variant stands where `record` has a training subset, a run where it has a
        refit. Nothing is fitted.

        frame : a table of pandas, polars or Arrow
        truth : column of the true class of each item
        prediction : column of the answers, or several columns or a pattern such as 'run_*' for a wide table
        item : column that names the item; default: rows of every run are in the same order
        run : column that names the repetition; default: repeated answers to an item are numbered in their order
        variant : column that names the model or prompt; default: there is one
        score : columns with the score of every class, such as 'p_*': p_yes, p_no; the record keeps them
        groups : column whose values group items that depend on each other
        wide : whether several prediction columns are 'variant's or 'run's; a column given for one leaves the other
        normalise : True to ignore case, spaces, and quotes or punctuation at the ends; a dict also replaces words
        missing : 'wrong' counts a missing prediction as a class of its own, never right; 'drop' leaves out the item
        classes : all classes that could be answered, if some never occur here

        >>> votes = pd.DataFrame({"id": [1, 2, 1, 2], "try": [1, 1, 2, 2], "said": list("yyny"), "label": list("ynyn")})
        >>> Labelings.from_frame(votes, truth="label", prediction="said", item="id", run="try").labels.shape
        (1, 2, 2)
        """
        from .prediction_table import labelings_of_table  # which makes records

        if truth is None:
            raise InputError("`truth` is missing: name the column of the true class. For ratings without a truth, use "
                             "classay.judges.")  # fmt: skip
        return labelings_of_table(
            frame, truth=truth, prediction=prediction, item=item, run=run, variant=variant, score=score, groups=groups,
            wide=wide, normalise=normalise, missing=missing, classes=classes, name=name,
        )  # fmt: skip

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the first axis: variants of a table of predictions, else numbers from 1."""
        return tuple(self.about.get("variants") or (str(number + 1) for number in range(len(self.labels))))

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the second axis."""
        return tuple(self.about.get("runs") or (str(number + 1) for number in range(self.labels.shape[1])))

    @property
    def items(self) -> NDArray[Any]:
        """Names of the points."""
        return np.asarray(self.about.get("items") or np.arange(self.truth.size))

    def scored(self, on: str = "test") -> tuple[Labelings, Scores]:
        """The record and its scores without gaps: of the refits that are `chosen` among those with scores.

        The labels are those of the same refits.
        """
        if self.by_fold and on == "test":
            self.complete()  # says why not
        given = self.scores if one_of(on, "on", ["test", "probes"]) == "test" else self.probe_scores
        if given is None:
            raise InputError(
                f"The record of {self.name} has no scores on the {'test points' if on == 'test' else 'probes'}. Record "
                "with scores=True, or pass scores to `Labelings.from_arrays`; the learner needs predict_proba or "
                "decision_function."
            )
        smaller = self.taken(*self.chosen(there=self.present & given.present))
        kept = smaller.scores if on == "test" else smaller.probe_scores
        assert kept is not None
        return smaller, kept

    def taken(self, subsets: AnyInts, refits: AnyInts) -> Labelings:
        """The record of some subsets (K',) and some refits of each (K', R')."""
        every = np.arange(self.labels.shape[1])
        if np.array_equal(subsets, np.arange(len(self.labels))) and (refits == every).all():
            return self
        rows = subsets[:, None]
        return replace(
            self,
            labels=self.labels[rows, refits],
            train_accuracy=self.train_accuracy[rows, refits],
            seconds=self.seconds[rows, refits],
            complexity=None if self.complexity is None else self.complexity[rows, refits],
            train_rows=tuple(self.train_rows[subset] for subset in subsets) if self.train_rows else (),
            probe_labels=None if self.probe_labels is None else self.probe_labels[rows, refits],
            failures=(),
            predicted=None if self.predicted is None else self.predicted[subsets],
            full_scores=None,
            confidence=None if self.confidence is None else self.confidence[rows, refits],
            scores=None if self.scores is None else self.scores.take(subsets, refits),
            probe_scores=None if self.probe_scores is None else self.probe_scores.take(subsets, refits),
        )

    def out_of_fold(self, refit: int = 0, folds: int | None = None) -> OutOfFold:
        """The predictions of all folds together, of a record with `Folds`: each row by a fit that did not see it.

        Of a row that several fits predict, the prediction of the first counts. `refit`: which of the repeats; `folds`:
        so many first folds, with the rows that they predict. A record of one set of predictions gives these.
        """
        by_fold = self.predicted is not None or self.about.get("scheme", {}).get("kind") == "Folds"
        if not by_fold and len(self.labels) > 1:
            raise InputError(f"The record of {self.name} is not of Folds: its refits all predict the same test points.")
        folds = len(self.labels) if folds is None else folds
        missing = np.flatnonzero(~self.present[:folds, refit])
        if missing.size:
            errors = [each.error for each in self.failures if each.refit == refit and each.subset < folds]
            raise InputError(
                f"{self.name} has no predictions in {missing.size} of {folds} folds"
                + (f": {errors[0]}" if errors else ", which were not run.")
            )
        by_fit = np.ones((1, self.truth.size)) if self.predicted is None else self.predicted[:folds]
        fit, point = np.nonzero(by_fit)
        rows, first = np.unique(point, return_index=True)
        ranking = probabilities = None
        if self.full_scores is not None:
            ranking, probabilities = np.split(self.full_scores[refit][first], 2, axis=1)
        elif self.scores is not None and not self.scores.compact:  # of fits that all predict the same rows
            ranking = self.scores.values[0, refit].astype(float)
            probabilities = ranking if self.scores.probabilities else None
        sizes = [each.size for each in self.train_rows[:folds]] or [0]
        return OutOfFold(
            self.labels[fit[first], refit, rows].astype(np.int64),
            self.truth[rows].astype(np.int64),
            self.classes,
            self.test_rows[rows].astype(np.int64),
            None if ranking is None or np.isnan(ranking).any() else ranking,
            None if probabilities is None or np.isnan(probabilities).any() else probabilities,
            None if self.groups is None else self.groups[rows].astype(np.int64),
            min(sizes),
            int(self.about.get("scheme", {}).get("available", min(sizes))),
        )

    def joined(self) -> Labelings:
        """The folds of a record with `Folds` put together, as of one fit that predicted every row; else itself."""
        if not self.by_fold:
            return self
        repeats = [self.out_of_fold(refit) for refit in range(self.labels.shape[1])]
        probable = all(each.probabilities is not None for each in repeats)
        tables = [each.probabilities if probable else each.scores for each in repeats]
        known = [table for table in tables if table is not None]
        scores = None
        if len(known) == len(repeats):
            kind = PROBABILITY if probable else DECISION
            scores = Scores(np.stack(known)[None].astype(np.float32), kind, names_of(self.classes, compact=False))
        return replace(
            self,
            labels=np.stack([each.labels for each in repeats])[None],
            train_accuracy=self.train_accuracy.mean(axis=0, keepdims=True),
            seconds=self.seconds.sum(axis=0, keepdims=True),
            complexity=None if self.complexity is None else self.complexity.mean(axis=0, keepdims=True),
            train_rows=(),
            predicted=np.ones((1, self.truth.size), dtype=bool),
            scores=scores,
            full_scores=None,
        )

    @property
    def test_accuracy(self) -> Floats:
        """(K, R): share of test points that each refit predicts correctly; NaN if it is missing."""
        return np.where(self.present, self.mean_of_unseen(self.labels == self.truth), np.nan)

    def accuracy(self, part: str = "test", level: float = 0.95) -> Estimate:
        """Mean accuracy over refits on the `test` or `train` rows, with an interval.

        On test points the interval is over subsets of these training rows, and over points (groups, if the record has
        them): for new rows, but not for refits on another training part. On training rows it is over subsets. Accuracy
        on training rows is NaN if it was not recorded.
        """
        if one_of(part, "part", ["test", "train"]) == "train":
            by_subset = pd.DataFrame(self.train_accuracy).mean(axis=1).dropna().to_numpy()
            if not by_subset.size:
                return Estimate(np.nan, 0.0, 1.0, level, "not recorded")
            kind = self.about_population("over subsets", base.TRAINING)
            return of_mean(by_subset, level, kind, limits=(0.0, 1.0))
        if (self.truth < 0).any():
            return Estimate(np.nan, 0.0, 1.0, level, "the truth is not known")
        right = self.on_unseen_rows(lambda labels: labels == self.truth)
        if len(right) > 1:
            return of_table(right, level, self.over_rows(), self.groups)
        if np.isin(right, (0.0, 1.0)).all():  # one prediction per row and repeat: only rows vary
            return replace(of_proportion_by_group(right[0], self.groups, level), kind=self.over())
        return of_table(right, level, self.over(), self.groups, draws=by_group(right, self.groups).shape[1])

    def to_frame(self) -> pd.DataFrame:
        """One row per refit: subset, refit, train and test accuracy, seconds, error."""
        return self.by_refit(train_accuracy=self.train_accuracy, test_accuracy=self.test_accuracy)

    def __str__(self) -> str:
        return base.counted_refits(self, f" of {len(self.classes)} classes ({shown(self.classes, 4)})")

    __repr__ = __str__

    def to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays, with scores and their kind."""
        header, arrays = super().to_file()
        for name, scores in (("scores", self.scores), ("probe_scores", self.probe_scores)):
            if scores is not None:
                header["scores"] = scores.header()
                arrays[name] = scores.values
        return header, arrays

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The record from what `to_file` wrote. A ValueError says what in it cannot be."""
        scores = {
            name: scores_from_file(header.get("scores"), arrays[name], arrays["classes"])
            for name in ("scores", "probe_scores")
            if name in arrays
        }
        record = super().from_file(header, {name: array for name, array in arrays.items() if name not in scores})
        record = replace(record, scores=scores.get("scores"), probe_scores=scores.get("probe_scores"))
        for part, answers in ((record.scores, record.labels), (record.probe_scores, record.probe_labels)):
            if part is not None:
                part.expect_valid(answers, record.classes.size)
        return record

    def expect_valid(self) -> None:
        """Raise a ValueError if this cannot be the record of a classifier."""
        classes = self.classes
        require(classes.ndim == 1 and classes.size > 0, f"classes have shape {classes.shape}")
        require(np.unique(classes).size == classes.size, "classes are repeated")
        super().expect_valid()
        require(not (self.train_accuracy > 1).any(), "accuracy on the training rows is above 1")
        require(self.confidence is None or self.confidence.shape == self.labels.shape, "confidence does not fit")
        full = self.full_scores
        if full is not None:
            subsets, refits, points = self.labels.shape
            number = subsets * points if self.predicted is None else int(self.predicted.sum())
            fits = full.dtype == np.float64 and full.shape == (refits, number, 2 * classes.size)
            require(fits, f"full scores have shape {full.shape}")
            require(not (full[..., classes.size :] < 0).any(), "probabilities are out of range")


def expect_record(record: Any, name: str) -> Labelings:
    """`given`, if it is the record of a classifier."""
    if isinstance(record, Refits) and not isinstance(record, Labelings):
        raise InputError(
            f"`{name}` is the record of a regressor ({record.name}); this measure counts labels: expected the record "
            "of a classifier. `classay.stability` takes both."
        )
    if not isinstance(record, Labelings):
        raise InputError(
            f"`{name}` is {type(record).__name__}; expected a record: what `classay.record` returns, or "
            "`Labelings.from_arrays(labels, y_true)`."
        )
    return record


def _array(values: ArrayLike, name: str) -> NDArray[Any]:
    """An array of labels; missing ones are refused."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"`{name}` is not an array ({error}). All rows must have the same length.") from error
    if pd.isna(array.ravel()).any():
        raise InputError(f"`{name}` has missing (NaN) labels; every point needs one. Drop those points first.")
    return plain_labels(array)


def _same_words(one: NDArray[Any], name: str, other: NDArray[Any], other_name: str) -> None:
    if (one.dtype.kind == "U") != (other.dtype.kind == "U"):
        raise InputError(
            f"`{name}` contains {'text' if one.dtype.kind == 'U' else 'numbers'} such as {one.flat[0].item()!r} and "
            f"`{other_name}` such as {other.flat[0].item()!r}; expected the same labels in both. Convert the codes of "
            "one to the names of the other."
        )
