"""One task of `record` or `sweep`: fit a learner on one subset, several times, and keep its predictions.

`refit` fits one learner. `fit_group` fits all values of a group: where values share fits, a path gives the predictions
at all of them; the others are fitted one by one, so that an error is reported for the value it belongs to. Both run in
a worker.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from ... import seeds
from ...arrays import Floats, Ints
from ...engine import work
from ...estimators.adapters import as_given, numbered
from ...estimators.fit import Fitted, fit_once, fresh_copy, guard, turn
from ...estimators.scores import PROBABILITY, labels_and_scores
from ...inputs import is_sparse, take
from ..records.codecs import Codec
from ..records.scores import KINDS, RefitScores, ScoreForm, ranking_and_probabilities
from .groups import FitGroup, with_settings

SubsetTask = tuple[int, Ints, tuple[int, ...]]  # subset, its training rows, its refits
GroupTask = tuple[int, int, tuple[int, ...]]  # group, subset, refits


@dataclass(frozen=True)
class Bench:
    """What every refit needs, sent once to each worker. `free` are the seeds that refits vary.

    A refit predicts at most `own_points` of its training rows, at even steps; None: all of them. `weights` are those of
    all rows; `groups` and `probe_groups` those of test points and probes, for the record. `scores` is how scores are
    kept; None: not at all. `asked` are the rows that each subset predicts, if not all of `test`, and `folds` the
    numbers of their folds, by which their seeds are found.
    """

    learner: Any
    X: Any
    y: NDArray[Any]
    codec: Codec
    test: Ints
    probes: Any
    free: tuple[str, ...]
    seed: int
    time_limit: float | None
    own_points: int | None = None
    weights: Floats | None = None
    groups: Ints | None = None
    probe_groups: Ints | None = None
    scores: ScoreForm | None = None
    asked: tuple[Ints, ...] | None = None
    folds: tuple[int, ...] = ()

    def points(self, subset: int) -> Ints:
        """The rows that refits of a subset predict."""
        return self.test if self.asked is None else self.asked[subset]

    @property
    def n_probes(self) -> int:
        """How many probes there are."""
        return 0 if self.probes is None else int(self.probes.shape[0])

    def weights_of(self, rows: Ints) -> Floats | None:
        """The weights of some rows, if there are any."""
        return None if self.weights is None else self.weights[rows]

    def random_states(self, subset: int, refit: int) -> dict[str, int]:
        """The seeds of one refit."""
        if not self.free:
            return {}
        place = (subset, refit) if self.asked is None else (self.folds[subset], *([refit] if refit else []))
        purpose = "refit" if self.asked is None else "fit"
        return dict(zip(self.free, seeds.integers(self.seed, purpose, *place, count=len(self.free))))

    def process_seed(self, subset: int, refit: int) -> int:
        """The seed of the global generators during one refit, for learners that draw from them."""
        return seeds.integers(self.seed, "global", subset, refit, count=1)[0]


@dataclass
class SubsetAnswers:
    """The predictions of the refits of one subset; rows are refits."""

    test: NDArray[Any]
    probes: NDArray[Any] | None
    quality: Floats
    seconds: Floats
    errors: dict[int, str]
    warnings: list[set[str]]
    drew: bool = False
    scores: RefitScores | None = None

    @classmethod
    def empty(cls, bench: Bench, subset: int, refits: int) -> SubsetAnswers:
        """Those of refits of a subset that were not run."""
        quality, seconds = np.full((2, refits), np.nan)
        return cls(
            bench.codec.empty((refits, bench.points(subset).size)),
            bench.codec.empty((refits, bench.n_probes)) if bench.probes is not None else None,
            quality,
            seconds,
            {},
            [set() for _ in range(refits)],
        )

    def same_twice(self) -> bool:
        """Whether the first two refits agree on everything; not if they drew from numpy's global generator.

        On few points random predictions may well agree twice. Scores, if there are any, may differ by rounding only.
        """
        if self.drew:
            return False
        arrays = [self.test, self.quality]
        if self.probes is not None:
            arrays.append(self.probes)
        # Fits of folds do not predict their own rows: their quality is NaN.
        if self.errors or not all(np.array_equal(array[0], array[1], equal_nan=True) for array in arrays):
            return False
        return self.scores is None or _near_twice(self.scores)

    def joined(self, more: SubsetAnswers) -> SubsetAnswers:
        """With the refits of the same subset from another task."""
        probes = None
        if self.probes is not None and more.probes is not None:
            probes = np.concatenate([self.probes, more.probes])
        return SubsetAnswers(
            np.concatenate([self.test, more.test]),
            probes,
            np.concatenate([self.quality, more.quality]),
            np.concatenate([self.seconds, more.seconds]),
            self.errors | more.errors,
            self.warnings + more.warnings,
            self.drew or more.drew,
            self._joined_scores(more),
        )

    def _joined_scores(self, more: SubsetAnswers) -> RefitScores | None:
        known = self.scores or more.scores
        if known is None:
            return None

        def of(answers: SubsetAnswers) -> RefitScores:
            return answers.scores or known.missing(len(answers.seconds))

        return of(self).joined(of(more))


SAME_SCORE = 1e-4
"""Scores that differ by less, relative to the largest, are those of the same classifier, computed in another order."""


def _near_twice(scores: RefitScores) -> bool:
    arrays = [scores.test] + ([] if scores.probes is None else [scores.probes])
    if scores.kinds[0] != scores.kinds[1]:
        return False
    for one, other in (array[:2] for array in arrays):
        largest = max(float(np.max(np.abs(one[np.isfinite(one)]), initial=0.0)), 1e-300)
        if not np.allclose(one, other, rtol=0.0, atol=SAME_SCORE * largest, equal_nan=True):
            return False
    return True


@dataclass
class GroupAnswers:
    """Predictions of the refits of one subset at each value of a group, and warnings of fits that values share."""

    by_value: list[SubsetAnswers]
    warnings: list[set[str]]

    def only(self, places: Sequence[int], warnings: bool) -> GroupAnswers:
        """The predictions at some of its values, with or without the warnings."""
        return GroupAnswers([self.by_value[place] for place in places], self.warnings if warnings else [])


@dataclass(frozen=True)
class FitJob:
    """What every task of a group needs, sent once to each worker. The learner and seeds of `bench` are a group's."""

    bench: Bench
    subsets: tuple[Ints, ...]
    groups: tuple[FitGroup, ...]


@dataclass(frozen=True)
class _Questions:
    """The rows that a refit predicts: the test points and its own training rows, in one call: half the overhead."""

    points: Ints
    rows: Ints
    times: Ints
    truth: NDArray[Any]

    @classmethod
    def of(cls, bench: Bench, subset: int, rows: Ints) -> _Questions:
        # Quality on the training rows counts a row as often as it was drawn.
        own, times = np.unique(rows, return_counts=True)
        if bench.own_points is not None and bench.own_points < own.size:
            some = np.arange(bench.own_points) * own.size // bench.own_points
            own, times = own[some], times[some]
        points = bench.points(subset)
        return cls(points, np.concatenate([points, own]), times, bench.codec.truth(bench.y[own]))

    def quality(self, codec: Codec, predicted: NDArray[Any]) -> float:
        """How well a refit predicts its own rows, if it is asked for any."""
        own = predicted[self.points.size : self.rows.size]
        return codec.fit_quality(own, self.truth, self.times) if own.size else np.nan


def refit(bench: Bench, task: SubsetTask) -> SubsetAnswers:
    """Fit the learner on one subset, several times, and predict the test points. Runs in a worker."""
    with turn:
        return _refit(bench, *task)


def _refit(bench: Bench, subset: int, rows: Ints, refits: tuple[int, ...]) -> SubsetAnswers:
    questions = _Questions.of(bench, subset, rows)
    points = questions.points
    answers = SubsetAnswers.empty(bench, subset, len(refits))
    kept = None
    if bench.scores is not None:
        probes = None if bench.probes is None else bench.n_probes
        kept = RefitScores.empty(bench.scores, len(refits), points.size, probes)
    for place, repeat in enumerate(refits):
        # A fresh copy for each refit, because a learner may write into its inputs.
        X_train, y_train, X_asked = take(bench.X, rows), bench.y[rows], take(bench.X, questions.rows)
        begin = time.perf_counter()
        try:
            with guard(bench.process_seed(subset, repeat)) as watched:
                limit = work.time_limit(bench.time_limit)
                states = bench.random_states(subset, repeat)
                fitted = fit_once(bench.learner, X_train, y_train, states, limit, bench.weights_of(rows))
                on_test = _Answered.of(bench, fitted, X_asked, points.size, points)
                predicted = bench.codec.read(on_test.labels, questions.rows.size)
                on_probes = None
                if answers.probes is not None:
                    on_probes = _Answered.of(bench, fitted, bench.probes.copy(), bench.n_probes)
                    answers.probes[place] = bench.codec.read(on_probes.labels, bench.n_probes)
                answers.drew |= watched.drew()
            problem = _keep_scores(kept, place, on_test, on_probes)
            answers.test[place] = predicted[: points.size]
            answers.quality[place] = questions.quality(bench.codec, predicted)
            answers.warnings[place] = {*watched.warnings(), *([f"No scores: {problem}"] if problem else [])}
        except Exception as error:  # a learner may raise anything; the others go on
            answers.errors[repeat] = f"{type(error).__name__}: {error}"
        answers.seconds[place] = time.perf_counter() - begin
    if kept is not None and kept.kinds.any():
        answers.scores = kept
    return answers


@dataclass(frozen=True)
class _Answered:
    """Labels that a fitted learner predicts, and scores of the first rows, if they are kept: or why not."""

    labels: NDArray[Any]
    kind: str = ""
    scores: NDArray[Any] | None = None
    problem: str = ""

    @classmethod
    def of(cls, bench: Bench, fitted: Fitted, X: Any, scored: int, rows: Ints | None = None) -> _Answered:
        """`rows` are the row numbers of the first rows, whose true classes are known."""
        if bench.scores is None:
            return cls(fitted.predict(X))
        if bench.scores.both:
            # In this order, and of the same rows: a fit is asked for these rows alone.
            labels, both = fitted.predict(X.copy()), ranking_and_probabilities(fitted, X, bench.scores.classes)
            return cls(labels, PROBABILITY, both) if np.isfinite(both).any() else cls(labels)
        labels, scores = labels_and_scores(fitted, X, scored)
        if isinstance(scores, str):
            return cls(labels, problem=scores)
        try:
            truth = None if rows is None else bench.codec.truth(bench.y[rows])
            return cls(labels, scores.kind, bench.scores.read(scores, truth))
        except ValueError as error:
            return cls(labels, problem=str(error))


def _keep_scores(kept: RefitScores | None, place: int, test: _Answered, probes: _Answered | None) -> str:
    """Store the scores of one refit; if there are none, say why, if there is anything to say."""
    problem = test.problem or ("" if probes is None else probes.problem)
    if kept is None or test.scores is None or problem or (probes is not None and probes.kind != test.kind):
        return problem
    kept.keep(place, KINDS.index(test.kind), test.scores, None if probes is None else probes.scores)
    return ""


def fit_group(job: FitJob, task: GroupTask) -> GroupAnswers:
    """Fit one subset, several times, and predict at every value of a group. Runs in a worker."""
    group, rows = job.groups[task[0]], job.subsets[task[1]]
    bench = replace(job.bench, learner=group.learner, free=group.free)
    if group.path is None:
        return GroupAnswers([refit(bench, (task[1], rows, task[2]))], [set() for _ in task[2]])
    with turn:
        return _along_path(bench, group, task[1], rows, task[2])


def _along_path(bench: Bench, group: FitGroup, subset: int, rows: Ints, refits: tuple[int, ...]) -> GroupAnswers:
    questions = _Questions.of(bench, subset, rows)
    answers = GroupAnswers(
        [SubsetAnswers.empty(bench, subset, len(refits)) for _ in group.values], [set() for _ in refits]
    )
    for place, repeat in enumerate(refits):
        X_train, y_train = take(bench.X, rows), bench.y[rows]
        asked = _one_table(take(bench.X, questions.rows), bench.probes)
        labels, indexed = numbered(bench.learner, y_train)
        begin, answered = time.perf_counter(), 0
        try:
            with guard(bench.process_seed(subset, repeat)) as watched:
                fresh = fresh_copy(bench.learner, bench.random_states(subset, repeat))
                with work.time_limit(bench.time_limit):
                    predictions = group.path.answers(fresh, group.parameter, group.values, X_train, labels, asked)
                    for at_value, predicted in zip(answers.by_value, predictions):
                        if not isinstance(predicted, Exception):
                            predicted = as_given(predicted, indexed)
                        _keep(bench, at_value, place, repeat, predicted, questions)
                        answered += 1
                if watched.drew():
                    for at_value in answers.by_value:
                        at_value.drew = True
            answers.warnings[place] = set(watched.warnings())
        except Exception:  # a path may raise anything; the remaining values are fitted alone, and report their error
            pass
        if answered:
            share = (time.perf_counter() - begin) / answered
            for at_value in answers.by_value[:answered]:
                at_value.seconds[place] = share
        for number in range(answered, len(group.values)):
            _fit_alone(bench, group, number, answers.by_value[number], subset, rows, place, repeat)
    return answers


def _keep(bench: Bench, answers: SubsetAnswers, place: int, repeat: int, predicted: Any, questions: _Questions) -> None:
    """Store what a path predicted at one value, or its error."""
    asked = questions.rows.size
    try:
        if isinstance(predicted, Exception):
            raise predicted
        codes = bench.codec.read(predicted, asked + bench.n_probes)
    except Exception as error:
        answers.errors[repeat] = f"{type(error).__name__}: {error}"
        return
    answers.test[place] = codes[: questions.points.size]
    answers.quality[place] = questions.quality(bench.codec, codes)
    if answers.probes is not None:
        answers.probes[place] = codes[asked:]


def _fit_alone(
    bench: Bench,
    group: FitGroup,
    number: int,
    answers: SubsetAnswers,
    subset: int,
    rows: Ints,
    place: int,
    repeat: int,
) -> None:
    learner = with_settings(bench.learner, {group.parameter: group.values[number]})
    alone = refit(replace(bench, learner=learner), (subset, rows, (repeat,)))
    answers.test[place], answers.quality[place], answers.seconds[place] = (
        alone.test[0],
        alone.quality[0],
        alone.seconds[0],
    )
    if answers.probes is not None and alone.probes is not None:
        answers.probes[place] = alone.probes[0]
    # A path predicts labels only, so values that share fits have no scores, and neither has one that was fitted alone.
    answers.errors.update(alone.errors)
    answers.drew |= alone.drew
    answers.warnings[place] = alone.warnings[0]


def _one_table(rows: Any, probes: Any) -> Any:
    """Test rows, training rows and probes as one table, so that a path predicts once."""
    if probes is None:
        return rows
    if isinstance(rows, pd.DataFrame):
        return pd.concat([rows, probes], ignore_index=True)
    if is_sparse(rows):
        stack: Any = sparse.vstack
        return stack([rows, probes], format="csr")
    return np.concatenate([rows, probes])
