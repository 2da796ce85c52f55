"""One task of `record` or `sweep`: fit a learner on one sample, several times, and keep its predictions.

`Bench` is what refits need, `Answers` what they predicted. `refit` fits one learner. `fit_group` fits all values of a
group: where values share fits, a path gives the predictions at all of them; the others are fitted one by one, so that
an error is reported for the value it belongs to. Both run in a worker.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from ... import seeds
from ...arrays import Floats, Ints
from ...engine import work
from ...estimators.adapters import as_given, numbered
from ...estimators.fit import Fitted, fit_once, fresh_copy, guard, turn
from ...estimators.scores import PROBABILITY, labels_and_scores, may_score
from ...inputs import is_sparse, take
from ...splits import NOTHING, PerRow
from ..records.codecs import Codec
from ..records.scores import KINDS, ScoreForm, ranking_and_probabilities
from .groups import FitGroup, with_settings
from .schemes import Sample

Task = tuple[int, int, tuple[int, ...]]  # group, sample, refits


@dataclass(frozen=True)
class Bench:
    """What every refit needs, sent once to each worker. `free` are the seeds that refits vary.

    A refit predicts at most `own_points` of its training rows, at even steps; None: all of them. `per_row` has weights
    and groups of all rows. `scores` is how scores are kept; None: not at all.
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
    per_row: PerRow = NOTHING
    scores: ScoreForm | None = None

    def of(self, learner: Any, free: tuple[str, ...]) -> Self:
        """The same for another learner; scores are kept only if it may have some."""
        return replace(self, learner=learner, free=free, scores=self.scores if may_score(learner) else None)

    def points(self, sample: Sample) -> Ints:
        """The rows that refits of a sample predict."""
        return self.test if sample.points is None else sample.points

    @property
    def n_probes(self) -> int:
        """How many probes there are."""
        return 0 if self.probes is None else int(self.probes.shape[0])

    def weights_of(self, rows: Ints) -> Floats | None:
        """The weights of some rows, if there are any."""
        return None if self.per_row.weights is None else self.per_row.weights[rows]

    def random_states(self, sample: Sample, refit: int) -> dict[str, int]:
        """The seeds of one refit."""
        if not self.free:
            return {}
        return dict(zip(self.free, seeds.integers(self.seed, *sample.seed_place(refit), count=len(self.free))))

    def process_seed(self, sample: Sample, refit: int) -> int:
        """The seed of the global generators during one refit, for learners that draw from them."""
        return seeds.integers(self.seed, "global", sample.number, refit, count=1)[0]

    def empty_arrays(self, refits: int, points: int) -> dict[str, NDArray[Any]]:
        """What refits that were not run answered: nothing. The arrays that `Answers` has, with their shapes."""
        arrays = {"test": self.codec.empty((refits, points))}
        arrays |= {name: np.full(refits, np.nan) for name in ("quality", "seconds", "complexity")}
        if self.probes is not None:
            arrays["probes"] = self.codec.empty((refits, self.n_probes))
        if self.scores is not None:
            arrays["scores"] = self.scores.empty((refits, points))
            arrays["score_kinds"] = np.zeros(refits, dtype=np.int8)
            if self.probes is not None:
                arrays["probe_scores"] = self.scores.empty((refits, self.n_probes))
        return arrays


SAME_SCORE = 1e-4
"""Scores that differ by less, relative to the largest, are those of the same classifier, computed in another order."""


@dataclass
class Answers:
    """The predictions of some refits of one sample at one value.

    `arrays` have a row for each refit: `test`, `quality`, `seconds` and `complexity`, and if they are kept `probes`,
    `scores`, `probe_scores` and `score_kinds`, codes into `KINDS`. `shared` are warnings of fits that values share.
    """

    arrays: dict[str, NDArray[Any]]
    errors: dict[int, str] = field(default_factory=dict)
    warnings: list[set[str]] = field(default_factory=list)
    shared: list[set[str]] = field(default_factory=list)
    drew: bool = False

    @classmethod
    def empty(cls, bench: Bench, sample: Sample, refits: int) -> Answers:
        """Those of refits that were not run."""
        arrays = bench.empty_arrays(refits, bench.points(sample).size)
        return cls(arrays, warnings=[set() for _ in range(refits)], shared=[set() for _ in range(refits)])

    @property
    def test(self) -> NDArray[Any]:
        """(refits, points): predictions on the rows that were asked for."""
        return self.arrays["test"]

    @property
    def probes(self) -> NDArray[Any] | None:
        """(refits, probes): predictions on the probes, if there are any."""
        return self.arrays.get("probes")

    @property
    def refits(self) -> int:
        """How many refits there are."""
        return len(self.arrays["seconds"])

    @property
    def all_failed(self) -> bool:
        """Whether every refit raised an error."""
        return len(self.errors) == self.refits

    def same_twice(self) -> bool:
        """Whether the first two refits agree on everything; not if they drew from numpy's global generator.

        On few points random predictions may well agree twice. Scores, if there are any, may differ by rounding only.
        """
        if self.drew or self.errors:
            return False
        # Fits of folds do not predict their own rows: their quality is NaN.
        exact = [self.arrays[name] for name in ("test", "quality", "probes", "score_kinds") if name in self.arrays]
        if not all(np.array_equal(array[0], array[1], equal_nan=True) for array in exact):
            return False
        return all(_near(*self.arrays[name][:2]) for name in ("scores", "probe_scores") if name in self.arrays)

    def joined(self, more: Answers) -> Answers:
        """With further refits of the same sample."""
        return Answers(
            {name: np.concatenate([array, more.arrays[name]]) for name, array in self.arrays.items()},
            self.errors | more.errors,
            self.warnings + more.warnings,
            self.shared + more.shared,
            self.drew or more.drew,
        )


def _near(first: NDArray[Any], second: NDArray[Any]) -> bool:
    largest = max(float(np.max(np.abs(first[np.isfinite(first)]), initial=0.0)), 1e-300)
    return bool(np.allclose(first, second, rtol=0.0, atol=SAME_SCORE * largest, equal_nan=True))


@dataclass(frozen=True)
class _Questions:
    """The rows that a refit predicts: the test points and its own training rows, in one call: half the overhead."""

    points: Ints
    rows: Ints
    times: Ints
    truth: NDArray[Any]

    @classmethod
    def of(cls, bench: Bench, sample: Sample) -> _Questions:
        # Quality on the training rows counts a row as often as it was drawn.
        own, times = np.unique(sample.rows, return_counts=True)
        if bench.own_points is not None and bench.own_points < own.size:
            some = np.arange(bench.own_points) * own.size // bench.own_points
            own, times = own[some], times[some]
        points = bench.points(sample)
        return cls(points, np.concatenate([points, own]), times, bench.codec.truth(bench.y[own]))

    def keep(self, bench: Bench, answers: Answers, place: int, predicted: NDArray[Any]) -> None:
        """Store the predictions of one refit for these rows, and how well it predicts its own, if it is asked."""
        own = predicted[self.points.size : self.rows.size]
        answers.test[place] = predicted[: self.points.size]
        answers.arrays["quality"][place] = bench.codec.fit_quality(own, self.truth, self.times) if own.size else np.nan


def refit(bench: Bench, sample: Sample, refits: Sequence[int]) -> Answers:
    """Fit the learner on one sample, several times, and predict the points. Runs in a worker."""
    with turn:
        return _refit(bench, sample, refits)


def _refit(bench: Bench, sample: Sample, refits: Sequence[int]) -> Answers:
    questions = _Questions.of(bench, sample)
    answers = Answers.empty(bench, sample, len(refits))
    for place, repeat in enumerate(refits):
        # A fresh copy for each refit, because a learner may write into its inputs.
        X_train, y_train, X_asked = take(bench.X, sample.rows), bench.y[sample.rows], take(bench.X, questions.rows)
        begin = time.perf_counter()
        try:
            with guard(bench.process_seed(sample, repeat)) as watched:
                limit = work.time_limit(bench.time_limit)
                states = bench.random_states(sample, repeat)
                fitted = fit_once(bench.learner, X_train, y_train, states, limit, bench.weights_of(sample.rows))
                labels, scored = _answered(bench, fitted, X_asked, questions.points.size, questions.points)
                predicted = bench.codec.read(labels, questions.rows.size)
                on_probes = None
                if answers.probes is not None:
                    labels, on_probes = _answered(bench, fitted, bench.probes.copy(), bench.n_probes)
                    answers.probes[place] = bench.codec.read(labels, bench.n_probes)
                answers.drew |= watched.drew()
            questions.keep(bench, answers, place, predicted)
            answers.arrays["complexity"][place] = complexity(fitted.estimator)
            problem = _keep_scores(answers, place, scored, on_probes)
            answers.warnings[place] = {*watched.warnings(), *([f"No scores: {problem}"] if problem else [])}
        except Exception as error:  # a learner may raise anything; the others go on
            answers.errors[repeat] = f"{type(error).__name__}: {error}"
        answers.arrays["seconds"][place] = time.perf_counter() - begin
    return answers


Scored = tuple[str, NDArray[Any]] | str
"""The kind of the scores and their values, or why there are none; empty if there is nothing to say about that."""


def _answered(
    bench: Bench, fitted: Fitted, X: Any, scored: int, rows: Ints | None = None
) -> tuple[NDArray[Any], Scored]:
    """Labels of rows, and scores of the first `scored`, whose numbers are `rows` if their true classes are known."""
    if bench.scores is None:
        return fitted.predict(X), ""
    if bench.scores.both:
        # In this order, and of the same rows: a fit is asked for these rows alone.
        labels, both = fitted.predict(X.copy()), ranking_and_probabilities(fitted, X, bench.scores.classes)
        return labels, (PROBABILITY, both) if np.isfinite(both).any() else ""
    labels, scores = labels_and_scores(fitted, X, scored)
    if isinstance(scores, str):
        return labels, scores
    truth = None if rows is None else bench.codec.truth(bench.y[rows])
    try:
        return labels, (scores.kind, bench.scores.read(scores, truth))
    except ValueError as error:
        return labels, str(error)


def _keep_scores(answers: Answers, place: int, test: Scored, probes: Scored | None) -> str:
    """Store the scores of one refit; if there are none, say why, if there is anything to say."""
    for scored in (test, probes):
        if isinstance(scored, str):
            return scored
    if isinstance(test, str) or (probes is not None and probes[0] != test[0]):
        return ""
    answers.arrays["score_kinds"][place] = KINDS.index(test[0])
    answers.arrays["scores"][place] = test[1]
    if probes is not None:
        answers.arrays["probe_scores"][place] = probes[1]
    return ""


def fit_group(job: tuple[Bench, Sequence[Sample], Sequence[FitGroup]], task: Task) -> list[Answers]:
    """Fit one sample, several times, and predict at every value of a group. Runs in a worker."""
    bench, samples, groups = job
    group, sample = groups[task[0]], samples[task[1]]
    bench = bench.of(group.learner, group.free)
    if group.path is None:
        return [refit(bench, sample, task[2])]
    with turn:
        return _along_path(bench, group, sample, task[2])


def _along_path(bench: Bench, group: FitGroup, sample: Sample, refits: Sequence[int]) -> list[Answers]:
    questions = _Questions.of(bench, sample)
    by_value = [Answers.empty(bench, sample, len(refits)) for _ in group.values]
    for place, repeat in enumerate(refits):
        X_train, y_train = take(bench.X, sample.rows), bench.y[sample.rows]
        asked = _one_table(take(bench.X, questions.rows), bench.probes)
        labels, indexed = numbered(bench.learner, y_train)
        begin, answered = time.perf_counter(), 0
        try:
            with guard(bench.process_seed(sample, repeat)) as watched:
                fresh = fresh_copy(bench.learner, bench.random_states(sample, repeat))
                with work.time_limit(bench.time_limit):
                    predictions = group.path.answers(fresh, group.parameter, group.values, X_train, labels, asked)
                    for answers, predicted in zip(by_value, predictions):
                        if not isinstance(predicted, Exception):
                            predicted = as_given(predicted, indexed)
                        _keep(bench, answers, place, repeat, predicted, questions)
                        answered += 1
                for answers in by_value:
                    answers.drew |= watched.drew()
                    answers.shared[place] = set(watched.warnings())
        except Exception:  # a path may raise anything; the remaining values are fitted alone, and report their error
            pass
        seconds = time.perf_counter() - begin
        for answers in by_value[:answered]:
            answers.arrays["seconds"][place] = seconds / answered
        for number in range(answered, len(group.values)):
            _fit_alone(bench, group, number, by_value[number], sample, place, repeat)
    return by_value


def _keep(bench: Bench, answers: Answers, place: int, repeat: int, predicted: Any, questions: _Questions) -> None:
    """Store what a path predicted at one value, or its error."""
    asked = questions.rows.size
    try:
        if isinstance(predicted, Exception):
            raise predicted
        codes = bench.codec.read(predicted, asked + bench.n_probes)
    except Exception as error:
        answers.errors[repeat] = f"{type(error).__name__}: {error}"
        return
    questions.keep(bench, answers, place, codes)
    if answers.probes is not None:
        answers.probes[place] = codes[asked:]


def _fit_alone(
    bench: Bench, group: FitGroup, number: int, answers: Answers, sample: Sample, place: int, repeat: int
) -> None:
    learner = with_settings(bench.learner, {group.parameter: group.values[number]})
    # A path predicts labels only, so values that share fits have no scores, and neither has one that was fitted alone.
    alone = refit(replace(bench, learner=learner, scores=None), sample, (repeat,))
    for name, array in alone.arrays.items():
        answers.arrays[name][place] = array[0]
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


# How much a fit has learned, as one number that does not depend on executors, seeds or versions.


PLAIN = (str, bytes, int, float, complex, np.generic, type, ModuleType, type(None))
MOST_PARTS = 100_000
"""Objects to look at in a fit; one with more has no complexity, so that no refit waits long for it."""


def complexity(fit: Any) -> float:
    """Leaves of trees and coefficients that are not 0; if there are none, the numbers in the arrays that a fit keeps.

    All members of an ensemble and all steps of a Pipeline count. NaN if nothing can be counted: fits of XGBoost and
    LightGBM keep their trees outside Python.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> complexity(DecisionTreeClassifier().fit([[0], [1], [2]], [0, 1, 0]))
    3.0
    """
    try:
        return _counted(fit) or math.nan
    except Exception:  # attributes of a learner may raise anything; its predictions count without this figure
        return math.nan


def _counted(fit: Any) -> float:
    waiting, seen, learned, numbers = [fit], {id(fit)}, 0, 0
    while waiting and len(seen) <= MOST_PARTS:
        part = waiting.pop()
        inner: Any = ()
        if isinstance(part, np.ndarray) and part.dtype != object:
            numbers += part.size
        elif isinstance(part, (list, tuple, set, np.ndarray)):
            inner = part
        elif isinstance(part, dict):
            inner = part.values()
        elif hasattr(part, "tree_"):
            learned += int(part.tree_.n_leaves)
        elif hasattr(part, "get_n_leaf_nodes"):  # of HistGradientBoosting
            learned += int(part.get_n_leaf_nodes())
        elif (coefficients := getattr(part, "coef_", getattr(part, "coefs_", None))) is not None:
            layers = coefficients if isinstance(coefficients, list) else [coefficients]
            learned += sum(int(each.count_nonzero() if is_sparse(each) else np.count_nonzero(each)) for each in layers)
        else:
            inner = getattr(part, "__dict__", {}).values()
        fresh = {id(each): each for each in inner if not isinstance(each, PLAIN) and id(each) not in seen}
        seen.update(fresh)
        waiting += fresh.values()
    return math.nan if waiting else float(learned or numbers)
