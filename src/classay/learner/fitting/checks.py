"""The inputs of `record` and `sweep`, checked and laid out before any fit: `prepare` returns a `Setup`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ... import expect, seeds
from ...arrays import AnyInts, Ints
from ...estimators.adapters import free_seeds, kind_of
from ...estimators.fit import expect_weights
from ...estimators.scores import may_score
from ...expect import InputError
from ...notes import Note
from ...splits import NOTHING, PerRow, split_rows
from ...tables.data import Data
from ..records.codecs import Codec, LabelCodec, NumberCodec
from ..records.scores import ScoreForm
from . import provenance
from .folds import FoldFits, Folds
from .fresh_samples import FreshSamples
from .probes import probes as drawn_probes
from .retrain_scheme import Retrain, Scheme
from .schemes import COMPLETED, REDRAWN, HalfSplits, Subsets
from .task import Bench


@dataclass(frozen=True)
class Setup:
    """Checked data, parts, scheme and seed; `codes` is the class of each row, `notes` what the user should know.

    `given_test` is the number of test rows that were given as `X_test`; they are the last rows. `probe_rows` are the
    row numbers of probes that are test points.
    """

    learner: Any
    X: Any
    y: NDArray[Any]
    codec: Codec
    codes: Ints
    train: Ints
    test: Ints
    probes: Any
    probe_kind: str
    scheme: Scheme | FoldFits | FreshSamples
    repeats: int
    test_size: float | None
    seed: int
    time_limit: float | None
    notes: tuple[Note, ...]
    own_points: int | None = None
    per_row: PerRow = NOTHING
    given_test: int | None = None
    probe_rows: Ints | None = None
    scores: ScoreForm | None = None

    @property
    def test_groups(self) -> Ints | None:
        """The groups of the test points, if they are known."""
        return _groups_of_points(self.per_row, self.test)

    @property
    def probe_groups(self) -> Ints | None:
        """The groups of the probes, if they are test points whose groups are known."""
        return None if self.probe_rows is None else _groups_of_points(self.per_row, self.probe_rows)

    def about(self, name: str | None) -> dict[str, Any]:
        """The provenance of a record of the learner."""
        return provenance.everything(
            self.learner,
            name,
            self.X,
            self.y,
            self.probes,
            self.scheme,
            self.repeats,
            self.test_size,
            self.seed,
            probe_kind=self.probe_kind,
            per_row=self.per_row,
            given_test=self.given_test,
            scores=self.scores,
        )

    def draw(self) -> tuple[list[Ints], list[Note]]:
        """The training rows of every subset, and notes about them."""
        codes = self.codes[self.train]
        drawn = list(self.scheme.draw(codes, self.seed, self.per_row.take(self.train)))
        notes = [
            Note(code, count=count, subsets=self.scheme.n)
            for code, how in (("subsets-redrawn", REDRAWN), ("subsets-completed", COMPLETED))
            if (count := sum(done == how for _, done in drawn))
        ]
        lacking = sum(np.unique(codes[rows]).size < np.unique(codes).size for rows, _ in drawn)
        if lacking:
            notes.append(Note("subsets-lack-classes", count=lacking, subsets=self.scheme.n))
        return [self.train[rows] for rows, _ in drawn], notes

    def bench(self, learner: Any) -> Bench:
        """What refits of a learner need."""
        free = tuple(free_seeds(learner))
        folds = self.scheme if isinstance(self.scheme, FoldFits) and not self.scheme.common else None
        return Bench(
            learner,
            self.X,
            self.y,
            self.codec,
            self.test,
            self.probes,
            free,
            self.seed,
            self.time_limit,
            own_points=self.own_points,
            weights=self.per_row.weights,
            groups=self.test_groups,
            probe_groups=self.probe_groups,
            scores=self.scores,
            asked=None if folds is None else folds.asked,
            folds=() if folds is None else folds.numbers,
        )


def prepare(
    learner: Any,
    X: Any,
    y: ArrayLike,
    scheme: Scheme | Folds | FreshSamples | None,
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
) -> Setup:
    """Check everything, split the rows and draw the probes. The parameters are those of `record`.

    `two_fold`: whether test_size may be 0, for halves that are tested on each other.
    """
    wanted = checked_scheme(scheme)
    by_fold = isinstance(wanted, Folds)
    repeats = expect.whole((1 if by_fold else 5) if repeats is None else repeats, "repeats", at_least=1)
    if by_fold and (probes is not None or X_test is not None):
        raise InputError(
            "`scheme` is Folds, whose fits predict rows of `X`; expected neither `probes` nor `X_test`. Use "
            "Subsets(...) or HalfSplits(...) with them."
        )
    two_fold = two_fold and isinstance(test_size, (int, float)) and test_size == 0
    if two_fold:
        _expect_two_fold(wanted, time, X_test, scores)
        scores = False  # half of the rows of every refit are its own
    else:
        test_size = expect.fraction(test_size, "test_size")
    time_limit = seconds_limit(time_limit)
    seed = seeds.settle(random_state)
    learner, of_learner = unfitted_learner(learner)
    given = {"groups": groups, "time": time, "sample_weight": sample_weight, "X_test": X_test, "y_test": y_test}
    data = _expect_apart(Data.of(X, y, **given, numbers=kind_of(learner) == "regressor"))
    both = data.joined()
    codes, rows = both.codes, both.per_row
    of_data = [note for note in data.notes if isinstance(note, Note)]
    codec = codec_for(learner, data.classes)
    if rows.weights is not None:
        expect_weights(learner)
    # Halves that are drawn without looking at labels are independent samples only if the training part is one too.
    blind = isinstance(wanted, HalfSplits) and not wanted.stratify
    train = test = np.arange(codes.size)
    drawn: Scheme | FoldFits | FreshSamples
    of_parts: list[Note] = []
    if isinstance(wanted, Folds):
        drawn = wanted.applied(both.X, both.y, codes, rows, seed)
        test = drawn.tested
        if wanted.tested is None and test.size < codes.size:
            of_parts.append(Note("rows-not-predicted", count=codes.size - test.size))
    else:
        drawn = wanted
        if not two_fold:
            train, test = np.arange(len(data)), np.arange(len(data), codes.size)
            if data.test is None:
                train, test = split_rows(np.zeros_like(codes) if blind else codes, test_size, seed, rows)
            of_parts = _notes_on_parts(codes, train, test, rows)
    drawn.check(codes[train], rows.take(train))
    probing = None if probes is None else drawn_probes(probes, n_probes, both.X, test, seed)
    answers = drawn.n * (test.size + (0 if probing is None else int(probing.rows.shape[0])))
    masked = isinstance(drawn, FoldFits) and not drawn.common
    if isinstance(drawn, FoldFits) and masked:
        answers = sum(rows.size for rows in drawn.asked)
    form, of_scores = _score_form(scores, learner, codec, repeats * answers, masked)
    return Setup(
        learner=learner,
        X=both.X,
        y=both.y,
        codec=codec,
        codes=codes,
        train=train,
        test=test,
        probes=None if probing is None else probing.rows,
        probe_kind="given" if probing is None else probing.kind,
        probe_rows=None if probing is None else probing.test_rows,
        scheme=drawn,
        repeats=repeats,
        test_size=test_size if data.test is None and not by_fold else None,
        seed=seed,
        time_limit=time_limit,
        notes=(*of_learner, *of_data, *of_parts, *of_scores),
        per_row=rows,
        given_test=None if data.test is None else test.size,
        scores=form,
        own_points=0 if masked else None,
    )


def _score_form(
    wanted: Any, learner: Any, codec: Codec, answers: int, both: bool
) -> tuple[ScoreForm | None, list[Note]]:
    """How scores are kept, if at all, and notes about that. `wanted`: "auto", True or False."""
    if not isinstance(wanted, (bool, np.bool_)) and wanted != "auto":
        raise InputError(f"`scores` is {wanted!r}; expected 'auto', True or False.")
    if not isinstance(codec, LabelCodec):
        if wanted is True:
            raise InputError(f"`scores` is True, but {type(learner).__name__} is a regressor: its values are kept.")
        return None, []
    if wanted is False:
        return None, []
    form = ScoreForm(codec.classes, both)
    size = form.bytes_of(answers)
    if wanted is True:
        if not may_score(learner):
            raise InputError(
                f"`scores` is True, but {type(learner).__name__} has neither predict_proba nor decision_function. Use "
                "a classifier that has one (such as SVC(probability=True)), or scores=False."
            )
        expect.within(size, "score_bytes", "The size of all scores, in bytes,")
    elif size > (most := expect.limit_of("score_bytes")):
        return None, [Note("scores-not-kept", bytes=size, limit=most)]
    return form, []


def checked_scheme(scheme: Any) -> Scheme | Folds | FreshSamples:
    """The scheme, `Subsets()` if there is none."""
    if scheme is None:
        return Subsets()
    if not isinstance(scheme, (Subsets, HalfSplits, Retrain, Folds, FreshSamples)):
        raise InputError(f"`scheme` is {scheme!r}; expected Subsets(...), HalfSplits(...), Retrain(...) or Folds(cv).")
    return scheme


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


def codec_for(learner: Any, classes: NDArray[Any]) -> Codec:
    """How the learner's predictions are stored."""
    return NumberCodec() if kind_of(learner) == "regressor" else LabelCodec(classes)


def _expect_apart(data: Data) -> Data:
    if data.groups_in_both:
        raise InputError(
            f"{data.groups_in_both} groups of `groups` have rows in `X` and in `X_test`; a group must be in one of "
            "them. Move its rows to one side, or leave `groups` out."
        )
    return data


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


def _groups_of_points(rows: PerRow, points: AnyInts) -> NDArray[Any] | None:
    """The groups of some test points; None if they are unknown."""
    if rows.groups is None or (rows.groups[points] < 0).any():
        return None
    return rows.groups[points]


def seconds_limit(seconds: Any) -> float | None:
    """Seconds that a fit may take, or None."""
    if seconds is None:
        return None
    is_number = isinstance(seconds, (int, float, np.integer, np.floating)) and not isinstance(seconds, bool)
    if not is_number or not 0 < seconds < np.inf:
        raise InputError(f"`time_limit` is {seconds!r}; expected a number of seconds above 0, or None for no limit.")
    return float(seconds)


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
