"""`DriftMonitor`: whether a change between refits comes from the process, or only from the learner.

Each batch of data gives a concept. Its agreement with the concept of the reference, and with that of the previous
batch, is compared with the agreement of concepts when nothing changes: the learner's own stability at that batch size,
estimated from the reference. So is the accuracy of the reference's concept on the batch.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import expect, seeds
from ...arrays import Floats
from ...engine import work
from ...estimators.adapters import free_seeds, kind_of, short_name
from ...estimators.fit import expect_weights
from ...expect import InputError
from ...splits import per_row
from ...tables.data import refuse_classes, refuse_target
from ..fitting import checks
from ..fitting.probes import KINDS, probes
from ..fitting.provenance import fingerprint
from ..fitting.task import Bench, refit
from ..stability.closeness import tolerance_for
from .batches import TimeSpan, batch, reference, row_shift
from .calibration import LEAST_BLOCKS, Calibration, LabelTarget, NumberTarget, Target, calibrate, draws_needed
from .state import LastBatch, MonitorState, load, save
from .verdict import Drift, RegressionUpdate, Update, judge

Answers = NDArray[Any]


@dataclass(frozen=True)
class Question:
    """What the concept of some rows with their labels and weights, and a number, predicts on points."""

    rows: Any
    labels: NDArray[Any]
    number: int
    points: Any
    weights: Floats | None


class DriftMonitor:
    """Monitor batches of data for a change of the concept that a learner finds in them.

    `fit` takes the reference; each `update` learns a concept from a batch, compares it on probes with that of the
    reference, and has the reference's concept predict the batch. The verdict names what moved:

    - "concept moved": agreement and accuracy of the old concept are together lower than batches without change have
      them, at the stated false-alarm rate per update. T = z(agreement) + 2·z(accuracy), z the standard score among
      blocks of the reference, compared with T of the same blocks;
    - "rows moved": only agreement is low, and columns of the batch are distributed unlike those of the reference;
    - "learner unsteady": agreement could not show a change, because a concept unrelated to the reference would not
      disagree enough, or stability is below `min_stability`;
    - "nothing shown".

    With a regressor, two concepts agree on a probe if their predictions differ by at most `tolerance`, and the error of
    the old concept takes the place of its accuracy: the mean absolute error, in which no error counts more than three
    times the usual (median) one, so that a rare huge error of a heavy-tailed target is no alarm. Updates are then
    `RegressionUpdate`s.

    It misleads in two ways. Rows that move to where the old concept is less accurate lower its accuracy as a change of
    the concept does: `p_rows` says whether the rows are unlike the reference. And "nothing shown" does not prove that
    nothing changed: the `low_below` of the update show what would have been unusual.

    Parameters
    ----------
    learner : a scikit-learn classifier or regressor
    probes : 'uniform' over the domain of each column, 'marginal', 'data' (the reference's rows), or as in `record`
    n_probes : how many to draw
    false_alarm_rate : for each update
    min_stability : stability below which the learner is not trusted to monitor, or None
    tolerance : for a regressor only: predictions that differ by at most this, in units of the target, count as the
        same; default 0.1 standard deviations of the reference's target
    draws : blocks of the reference to fit for estimating chance; None for as many as the rate needs
    random_state, executor, progress, time_limit, name : as in `record`

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(800, 2))
    >>> monitor = DriftMonitor(LogisticRegression(), executor=1).fit(X[:600], X[:600, 0] > 0, batch_size=100)
    >>> monitor.update(X[600:700], X[600:700, 0] > 0).verdict, monitor.update(X[700:], X[700:, 1] > 0).verdict
    ('nothing shown', 'concept moved')

    References
    ----------
    Turney, Technical Note: Bias and the Quantification of Stability, Machine Learning 20 (1995), section 2.3.

    """

    def __init__(
        self,
        learner: Any,
        *,
        probes: Any = "uniform",
        n_probes: int = 2_000,
        false_alarm_rate: float = 0.05,
        min_stability: float | None = None,
        tolerance: float | None = None,
        draws: int | None = None,
        random_state: int | np.random.Generator | None = 0,
        executor: Executor | int | None = None,
        progress: bool = False,
        time_limit: float | None = None,
        name: str | None = None,
    ) -> None:
        self.learner, _ = checks.unfitted_learner(learner)
        self._of_numbers = kind_of(self.learner) == "regressor"
        if tolerance is not None and not self._of_numbers:
            raise expect.InputError("`tolerance` is for regressors; predicted classes are the same or not.")
        self.tolerance = None if tolerance is None else tolerance_for(np.empty(0), tolerance)
        if isinstance(probes, str):
            expect.one_of(probes, "probes", KINDS)
        self.probes = probes
        self.n_probes = expect.whole(n_probes, "n_probes", at_least=2)
        self.false_alarm_rate = expect.fraction(false_alarm_rate, "false_alarm_rate")
        self.min_stability = None if min_stability is None else expect.fraction(min_stability, "min_stability")
        self.draws = None if draws is None else expect.whole(draws, "draws", at_least=20)
        self.seed = seeds.settle(random_state)
        self.executor, self.progress = executor, progress
        self.time_limit = checks.seconds_limit(time_limit)
        self.name = name or short_name(learner)
        self._state: MonitorState | None = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        batch_size: int | None = None,
        groups: Any = None,
        time: Any = None,
        sample_weight: Any = None,
    ) -> DriftMonitor:
        """Set the reference and forget all batches. With `batch_size`, chance is estimated now and not later.

        X, y : rows of the process as it should be, at least three times a batch; more is better
        batch_size : rows of future batches
        groups : a value for each row; chance is then estimated from blocks of whole groups, since the rows of a new
            batch come in groups too
        time : a date or number for each row; batches must then come after the reference, in their order
        sample_weight : a weight for each row, given to every fit; batches then need weights too
        """
        rows, labels = reference(X, y, self._of_numbers)
        given = per_row(groups, None, sample_weight, len(labels))
        span = TimeSpan.of(time, len(labels))
        if given.weights is not None:
            expect_weights(self.learner)
        if kind_of(self.learner) == "regressor":
            refuse_target(labels)
        else:
            refuse_classes(*np.unique(labels, return_inverse=True))
        drawn = probes(self.probes, self.n_probes, rows, np.arange(len(labels)), self.seed)
        if drawn is None:
            raise expect.InputError("`probes` is None; expected 'uniform', 'marginal', 'data', rows or a function.")
        state = MonitorState(rows, labels, self._target(labels), drawn.rows, drawn.kind)
        state.groups, state.weights, state.span = given.groups, given.weights, span
        (state.reference_answers,) = self._ask(state, [Question(rows, labels, 0, drawn.rows, given.weights)])
        self._state = state
        if batch_size is not None:
            self._calibrated(expect.whole(batch_size, "batch_size", at_least=2))
        return self

    def update(
        self, X: Any, y: ArrayLike, name: str | None = None, time: Any = None, sample_weight: Any = None
    ) -> Update | RegressionUpdate:
        """Learn a concept from a batch and report whether it shows a change.

        time, sample_weight : as in `fit`, and needed if they were given there
        """
        state = self._fitted()
        rows, labels = batch(X, y, state.rows, state.target.classes)
        weights = per_row(sample_weight=sample_weight, rows=len(labels)).weights
        span = TimeSpan.of(time, len(labels))
        _as_before("sample_weight", weights is not None, state.weights is not None)
        _as_before("time", span is not None, state.span is not None)
        later = state.span.then(span) if state.span is not None and span is not None else None
        calibration = self._calibrated(len(labels))
        number = len(state.updates) + 1
        asked = [
            Question(rows, labels, number, state.probes, weights),
            Question(state.rows, state.labels, 0, rows, state.weights),
        ]
        if state.last is not None:
            asked.append(Question(state.last.rows, state.last.labels, number - 1, rows, state.last.weights))
        answers, *on_batch = self._ask(state, asked)
        target, truth = state.target, state.target.codec.truth(labels)
        agreements = {"reference": float(target.alike(answers, state.reference_answers).mean())}
        calibrations = {"reference": calibration}
        if state.last is not None:
            agreements["last"] = float(target.alike(answers, state.last.answers).mean())
            # The smaller of the two sizes: concepts from few rows agree less, so this errs on the side of no alarm.
            calibrations["last"] = self._calibrated(min(len(labels), len(state.last.labels)))
        update = judge(
            name=str(number) if name is None else str(name),
            number=number,
            n_rows=len(labels),
            target=target,
            agreements=agreements,
            qualities=[target.quality(each, truth, calibration.cap) for each in on_batch],
            uncapped=target.quality(on_batch[0], truth, math.inf),
            calibrations=calibrations,
            shift=row_shift(state.rows, rows),
            rate=self.false_alarm_rate,
            min_stability=self.min_stability,
            learner=self.name,
            n_reference=len(state.labels),
            fingerprint=fingerprint(rows, labels),
        )
        state.updates.append(update)
        state.last, state.span = LastBatch(rows, labels, answers, weights), later
        return update

    @property
    def fitted(self) -> bool:
        """Whether there is a reference."""
        return self._state is not None

    def knows(self, X: Any, y: ArrayLike) -> bool:
        """Whether these are the rows of the reference."""
        state = self._fitted()
        rows, labels = reference(X, y, self._of_numbers)
        return fingerprint(rows, labels) == fingerprint(state.rows, state.labels)

    def has_seen(self, X: Any, y: ArrayLike) -> bool:
        """Whether these rows have already been a batch."""
        state = self._fitted()
        seen = fingerprint(*batch(X, y, state.rows, state.target.classes))
        return any(update.fingerprint == seen for update in state.updates)

    @property
    def history(self) -> Drift:
        """All updates so far."""
        state = self._fitted()
        return Drift(self.name, state.probe_kind, self.false_alarm_rate, len(state.labels), tuple(state.updates))

    def save(self, path: str | Path) -> Path:
        """Write the state to one file, without pickle: the rows from which concepts are learned again, all figures."""
        return save(self, self._fitted(), Path(path))

    @classmethod
    def load(
        cls, path: str | Path, learner: Any, *, executor: Executor | int | None = None, progress: bool = False
    ) -> DriftMonitor:
        """Continue from a file that `save` wrote, with the same learner: the next update is bit for bit the same."""
        settings, state = load(Path(path), learner)
        monitor = cls(learner, executor=executor, progress=progress, **settings)
        monitor._state = state
        return monitor

    def _target(self, values: NDArray[Any]) -> Target:
        """What the target of the reference is."""
        if not self._of_numbers:
            return LabelTarget(np.unique(values))
        return NumberTarget(tolerance_for(values, self.tolerance), float(values.std()))

    def _fitted(self) -> MonitorState:
        if self._state is None:
            raise expect.InputError("The monitor has no reference yet. Call fit(X, y) with rows of the process first.")
        return self._state

    def _bench(self, state: MonitorState, asked: Question, seed: int) -> Bench:
        free = tuple(free_seeds(self.learner))
        none = np.empty(0, dtype=np.int64)
        return Bench(
            self.learner,
            asked.rows,
            asked.labels,
            state.target.codec,
            none,
            asked.points,
            free,
            seed,
            self.time_limit,
            weights=asked.weights,
        )

    def _ask(self, state: MonitorState, asked: list[Question]) -> list[Answers]:
        """What the concepts of some rows, each with its number, predict on other rows.

        A concept is learned again whenever it is needed: its rows and seed define it, so it is saved without pickle.
        """
        benches = [self._bench(state, each, self.seed) for each in asked]
        tasks = [(place, each.number) for place, each in enumerate(asked)]
        outcome = work.run(_learn, tasks, shared=benches, executor=1)
        if outcome.interrupted:
            raise KeyboardInterrupt
        failed = [*outcome.failures.values(), *outcome.results.values()]
        errors = [str(each) for each in failed if not isinstance(each, np.ndarray)]
        if errors:
            raise expect.InputError(f"{self.name} failed: {errors[0]}{checks.advice(state.rows, errors[0])}")
        return list(outcome.results.values())

    def _calibrated(self, size: int) -> Calibration:
        """What chance does at a batch size; estimated once."""
        state = self._fitted()
        if size not in state.calibrations:
            (seed,) = seeds.integers(self.seed, "calibration", size, count=1)
            bench = self._bench(state, Question(state.rows, state.labels, 0, state.probes, state.weights), seed)
            # `calibrate` refuses fewer blocks, with words.
            blocks, rate = max(len(state.labels) / size, LEAST_BLOCKS), self.false_alarm_rate
            wanted = max(draws_needed(rate / 2, blocks), draws_needed(rate, state.target.worth(blocks)))
            draws = self.draws or wanted
            state.calibrations[size] = calibrate(
                bench, state.target, size, draws, self.executor, self.progress, self.name, state.groups
            )
        return state.calibrations[size]


def _learn(benches: list[Bench], task: tuple[int, int]) -> Answers | str:
    """The predictions of one concept, or why it could not be learned."""
    place, number = task
    bench = benches[place]
    refitted = refit(bench, (number, np.arange(len(bench.y)), (0,)))
    for error in refitted.errors.values():
        return error
    assert refitted.probes is not None
    answers: Answers = refitted.probes[0]
    return answers


def _as_before(name: str, here: bool, before: bool) -> None:
    """Refuse what a batch has and the reference had not, or the other way round."""
    if here != before:
        raise InputError(
            f"`{name}` is given for the {'batch' if here else 'reference'} but not for the "
            f"{'reference' if here else 'batch'}; expected it for both or for neither."
        )
