"""The inputs of `record` and `sweep`, checked and laid out before any fit: `prepare` returns a `Setup`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ... import expect, seeds
from ...arrays import AnyInts, Ints
from ...estimators.adapters import free_seeds, kind_of
from ...estimators.fit import expect_weights
from ...estimators.scores import may_score
from ...expect import InputError
from ...inputs import take
from ...notes import Note
from ...splits import PerRow, split_rows
from ...tables.data import Data
from ..records.codecs import LabelCodec, NumberCodec
from ..records.scores import ScoreForm
from .folds import Folds
from .probes import probes as drawn_probes
from .schemes import COMPLETED, REDRAWN, HalfSplits, Retrain, Sample, Scheme, Subsets
from .task import Bench

MOST_SHARE = 0.5
"""If fits need at most this share of the rows, only these are sent to workers."""


@dataclass(frozen=True, kw_only=True)
class Setup(Bench):
    """Checked data, parts, scheme, its samples, and seed; `codes` is the class of each row.

    `given_test` is the number of test rows that were given as `X_test`; they are the last rows. `probe_rows` are the
    row numbers of probes that are test points. `fresh`: samples are those of a source. `altered` says how the training
    part was changed, by name. `notes`: what the user should know, `of_samples` likewise of the samples.
    """

    codes: Ints
    train: Ints
    scheme: Scheme | Folds
    repeats: int
    test_size: float | None
    probe_kind: str = "given"
    probe_rows: Ints | None = None
    given_test: int | None = None
    fresh: bool = False
    altered: dict[str, Any] | None = None
    samples: tuple[Sample, ...] = ()
    notes: tuple[Note, ...] = ()
    of_samples: tuple[Note, ...] = ()

    @property
    def masked(self) -> bool:
        """Whether each fit predicts its own rows, so that fits cannot be compared on the same ones."""
        return self.samples[0].points is not None

    @property
    def test_groups(self) -> Ints | None:
        """The groups of the test points, if they are known."""
        return self._groups_of(self.test)

    @property
    def probe_groups(self) -> Ints | None:
        """The groups of the probes, if they are test points whose groups are known."""
        return None if self.probe_rows is None else self._groups_of(self.probe_rows)

    def _groups_of(self, points: AnyInts) -> Ints | None:
        groups = None if self.per_row.groups is None else self.per_row.groups[points]
        return None if groups is None or (groups < 0).any() else groups

    def drawn(self, scheme: Scheme) -> Setup:
        """The same parts with the samples of a scheme, checked first."""
        codes, rows = self.codes[self.train], self.per_row.take(self.train)
        scheme.check(codes, rows)
        drawn = list(scheme.draw(codes, self.seed, rows))
        samples = tuple(Sample(number, self.train[rows]) for number, (rows, _) in enumerate(drawn))
        notes = [
            Note(code, count=count, subsets=len(drawn))
            for code, way in (("subsets-redrawn", REDRAWN), ("subsets-completed", COMPLETED))
            if (count := sum(how == way for _, how in drawn))
        ]
        return replace(self, scheme=scheme, samples=samples, of_samples=(*notes, *self._lacking(samples)))

    def with_samples(self, samples: Sequence[Sample]) -> Setup:
        """The same with samples that were made elsewhere: folds, or those of a source."""
        return replace(self, samples=tuple(samples), of_samples=tuple(self._lacking(samples)))

    def _lacking(self, samples: Sequence[Sample]) -> list[Note]:
        classes = np.unique(self.codes[self.train]).size
        lacking = sum(np.unique(self.codes[sample.rows]).size < classes for sample in samples)
        return [Note("subsets-lack-classes", count=lacking, subsets=len(samples))] if lacking else []

    def with_rows_used(self) -> Setup:
        """The same with only the rows that are fitted or tested, if these are few: workers need no others.

        Predictions depend on the content of rows, not on their numbers.
        """
        if sum(sample.rows.size for sample in self.samples) + self.test.size > MOST_SHARE * self.y.size:
            return self
        used = np.unique(np.concatenate([*(sample.rows for sample in self.samples), self.test]))

        def place(rows: Ints | None) -> Any:
            return None if rows is None else np.searchsorted(used, rows)

        return replace(
            self,
            X=take(self.X, used),
            y=self.y[used],
            codes=self.codes[used],
            test=place(self.test),
            per_row=self.per_row.take(used),
            samples=tuple(replace(each, rows=place(each.rows), points=place(each.points)) for each in self.samples),
        )


def prepare(
    learner: Any,
    X: Any,
    y: ArrayLike,
    scheme: Scheme | Folds | None,
    repeats: int | None,
    test_size: float,
    probes: Any,
    random_state: int | np.random.Generator | None,
    time_limit: float | None,
    n_probes: int,
    *,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    two_fold: bool = False,
    scores: bool | str = "auto",
    samples: Sequence[Sample] | None = None,
) -> Setup:
    """Check everything, split the rows and draw the probes. The parameters are those of `record`.

    `two_fold`: whether test_size may be 0, for halves that are tested on each other. `samples`: those of a source.
    """
    scheme = Subsets() if scheme is None else scheme
    if not isinstance(scheme, (Subsets, HalfSplits, Retrain, Folds)):
        raise InputError(f"`scheme` is {scheme!r}; expected Subsets(...), HalfSplits(...), Retrain(...) or Folds(cv).")
    by_fold = isinstance(scheme, Folds)
    repeats = expect.whole((1 if by_fold else 5) if repeats is None else repeats, "repeats", at_least=1)
    if by_fold and (probes is not None or X_test is not None):
        raise InputError(
            "`scheme` is Folds, whose fits predict rows of `X`; expected neither `probes` nor `X_test`. Use "
            "Subsets(...) or HalfSplits(...) with them."
        )
    two_fold = two_fold and isinstance(test_size, (int, float)) and test_size == 0
    if two_fold:
        _expect_two_fold(scheme, time, X_test, scores)
        scores = False  # half of the rows of every refit are its own
    else:
        test_size = expect.fraction(test_size, "test_size")
    seed = seeds.settle(random_state)
    learner, of_learner = unfitted_learner(learner)
    given = {"groups": groups, "time": time, "sample_weight": sample_weight, "X_test": X_test, "y_test": y_test}
    data = Data.of(X, y, **given, numbers=kind_of(learner) == "regressor")
    if data.groups_in_both:
        raise InputError(
            f"{data.groups_in_both} groups of `groups` have rows in `X` and in `X_test`; a group must be in one of "
            "them. Move its rows to one side, or leave `groups` out."
        )
    both = data.joined()
    if both.per_row.weights is not None:
        expect_weights(learner)
    setup = Setup(
        learner=learner,
        X=both.X,
        y=both.y,
        codec=NumberCodec() if kind_of(learner) == "regressor" else LabelCodec(data.classes),
        codes=both.codes,
        train=np.arange(both.codes.size),
        test=np.arange(both.codes.size),
        probes=None,
        free=tuple(free_seeds(learner)),
        scheme=scheme,
        repeats=repeats,
        test_size=test_size if data.test is None and not by_fold else None,
        seed=seed,
        time_limit=seconds_limit(time_limit),
        per_row=both.per_row,
        given_test=None if data.test is None else len(data.test),
        fresh=samples is not None,
        notes=(*of_learner, *(note for note in data.notes if isinstance(note, Note))),
    )
    if isinstance(scheme, Folds):
        setup = _with_folds(setup, scheme)
    else:
        if not two_fold:
            setup = _with_parts(setup, test_size, scheme)
        setup = setup.drawn(scheme) if samples is None else setup.with_samples(samples)
    if probes is not None:
        probing = drawn_probes(probes, n_probes, setup.X, setup.test, seed)
        assert probing is not None
        setup = replace(setup, probes=probing.rows, probe_kind=probing.kind, probe_rows=probing.test_rows)
    form, of_scores = _score_form(scores, setup)
    return replace(setup, scores=form, notes=(*setup.notes, *of_scores), own_points=0 if setup.masked else None)


def _with_folds(setup: Setup, scheme: Folds) -> Setup:
    samples = scheme.samples(setup.X, setup.y, setup.codes, setup.per_row, setup.seed)
    points = [sample.points for sample in samples if sample.points is not None]
    test = np.unique(np.concatenate(points))
    if len(points) > 1 and all(
        np.array_equal(rows, test) for rows in points
    ):  # fits can be compared, as those of subsets
        samples = [replace(sample, points=None, fold=None) for sample in samples]
    left_out = setup.codes.size - test.size if scheme.tested is None else 0
    notes = [Note("rows-not-predicted", count=left_out)] if left_out else []
    return replace(setup, test=test, notes=(*setup.notes, *notes)).with_samples(samples)


def _with_parts(setup: Setup, test_size: float, scheme: Scheme) -> Setup:
    """The setup with a training and a test part: as given, or split."""
    codes = setup.codes
    if setup.given_test is not None:
        train, test = np.split(np.arange(codes.size), [codes.size - setup.given_test])
    else:
        # Halves that are drawn without looking at labels are independent samples only if the training part is one too.
        blind = isinstance(scheme, HalfSplits) and not scheme.stratify
        train, test = split_rows(np.zeros_like(codes) if blind else codes, test_size, setup.seed, setup.per_row)
    notes = _notes_on_parts(codes, train, test, setup.per_row)
    return replace(setup, train=train, test=test, notes=(*setup.notes, *notes))


def _score_form(wanted: Any, setup: Setup) -> tuple[ScoreForm | None, list[Note]]:
    """How scores are kept, if at all, and notes about that. `wanted`: "auto", True or False."""
    if not isinstance(wanted, (bool, np.bool_)) and wanted != "auto":
        raise InputError(f"`scores` is {wanted!r}; expected 'auto', True or False.")
    learner = type(setup.learner).__name__
    if not isinstance(setup.codec, LabelCodec):
        if wanted is True:
            raise InputError(f"`scores` is True, but {learner} is a regressor: its values are kept.")
        return None, []
    if wanted is False:
        return None, []
    form = ScoreForm(setup.codec.classes, setup.masked)
    answers = sum(setup.points(sample).size + setup.n_probes for sample in setup.samples)
    size = form.bytes_of(setup.repeats * answers)
    if wanted is True:
        if not may_score(setup.learner):
            raise InputError(
                f"`scores` is True, but {learner} has neither predict_proba nor decision_function. Use a classifier "
                "that has one (such as SVC(probability=True)), or scores=False."
            )
        expect.within(size, "score_bytes", "The size of all scores, in bytes,")
    elif size > (most := expect.limit_of("score_bytes")):
        return None, [Note("scores-not-kept", bytes=size, limit=most)]
    return form, []


# Checks of learner, rows, labels, probes


def unfitted_learner(estimator: Any) -> tuple[Any, list[Note]]:
    """An unfitted copy of the learner, and notes about it."""
    if isinstance(estimator, type):
        raise InputError(f"`learner` is the class {estimator.__name__}; expected an instance: {estimator.__name__}().")
    # Some learners, such as StackingClassifier, have `predict` only once they are fitted.
    kind = kind_of(estimator)
    needed = ["fit", *["predict"] * (kind not in ("classifier", "regressor")), "get_params"]
    lacking = [verb for verb in needed if not hasattr(estimator, verb)]
    if lacking:
        raise InputError(
            f"`learner` is {estimator!r}, which has no {' and no '.join(lacking)}; expected a scikit-learn classifier "
            "or regressor."
        )
    if kind not in ("classifier", "regressor", None):
        article = "an" if kind[0] in "aeiou" else "a"
        raise InputError(
            f"`learner` is {type(estimator).__name__}, {article} {kind.replace('_', ' ')}; expected a classifier or a "
            "regressor. Is there one of the same family?"
        )
    try:
        fresh = clone(estimator)
    except (RuntimeError, TypeError) as error:
        raise InputError(
            f"{type(estimator).__name__} cannot be copied, as every refit needs: "
            f"{str(error).splitlines()[0].rstrip('.')}. "
            "Pass its parameters in a form that it keeps unchanged (such as tuples for lists), or wrap it in a class."
        ) from error
    # An estimator that needs no fitting, such as a Pipeline of stateless steps, always counts as fitted, even a copy.
    fitted = _is_fitted(estimator) and not _is_fitted(fresh)
    return fresh, [Note("learner-was-fitted")] if fitted else []


def _is_fitted(learner: Any) -> bool:
    try:
        check_is_fitted(learner)
    except (NotFittedError, TypeError, AttributeError):
        return False
    return True


def _expect_two_fold(scheme: Any, time: Any, X_test: Any, scores: Any) -> None:
    """Refuse test_size=0 where there is no other half to test on."""
    if not isinstance(scheme, HalfSplits) or scheme.size is not None or time is not None or X_test is not None:
        raise InputError(
            "`test_size` is 0: each half is then tested on the other half of all rows, which needs HalfSplits(m) "
            "without a size, and neither `time` nor `X_test`. Use a share such as 0.2 otherwise."
        )
    if scores is True:
        raise InputError(
            "`scores` is True and `test_size` is 0; scores are kept on a test part. Leave one of them out."
        )


def _notes_on_parts(codes: Ints, train: Ints, test: Ints, rows: PerRow) -> list[Note]:
    """What users should know about the parts; an error if nothing can be learned from the training part."""
    classes = np.unique(codes).size
    trained, tested = np.unique(codes[train]).size, np.unique(codes[test]).size
    if trained < 2 <= classes:
        raise InputError(
            f"The training part of {train.size} rows has 1 class of {classes}; at least 2 are needed. "
            + ("Classes change with `time`: use a smaller test_size." if rows.time is not None else "Use other parts.")
        )
    notes = []
    if tested < classes:
        notes.append(Note("classes-not-tested", count=classes - tested, classes=classes))
    if trained < classes:
        notes.append(Note("classes-not-trained", count=classes - trained, classes=classes))
    left_out = codes.size - train.size - test.size
    if left_out:
        notes.append(Note("rows-of-tested-groups", count=left_out))
    return notes


def seconds_limit(seconds: Any) -> float | None:
    """Seconds that a fit may take, or None."""
    if seconds is None:
        return None
    return expect.number(seconds, "time_limit", above=0, why="In seconds; None is no limit.")


def advice(X: Any, error: str) -> str:
    """Advice on an error that every refit raised, if the data suggest one."""
    if "could not convert string" in error:
        need = "Text columns need encoding"
    elif "NaN" in error:
        need = "Missing values need imputing"
    else:
        return ""
    frame = "" if isinstance(X, pd.DataFrame) else "make `X` a DataFrame and "
    return f". {need}: {frame}pass classay.encoded(learner, X) as the learner."
