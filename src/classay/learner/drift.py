"""`DriftMonitor`: whether a change that a refit shows is in the process, or only in the learner.

Each batch of data gives a concept. How much it agrees with the concept of the reference, and with that of the batch
before, is set against how much concepts of batches agree when nothing changes: the learner's own stability at that
batch size, told by the reference. A learner whose concepts differ as much anyway cannot monitor anything.
"""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import expect, seeds
from ..engine import work
from ..learners import free_seeds, kind_of, short_name
from . import batches, drift_state, examine
from .answers import Codes
from .calibration import Calibration, calibrate, draws_needed
from .describe import fingerprint
from .judging import judge
from .probes import KINDS, probes
from .refit import Bench, refit
from .updates import Drift, Update

Codings = NDArray[np.integer]


class DriftMonitor:
    """Watch batches of data for a change of the concept that a learner finds in them.

    `fit` takes the reference; each `update` learns a concept from a batch and compares it, on probes, with that of the
    reference and with that of the batch before. An alarm is raised if either agreement is lower than batches without
    change have it, at the stated false-alarm rate for each update (both comparisons together). The verdict is «no
    change», «change», or «cannot monitor»: when not even a concept that has nothing to do with the reference would
    agree little enough for an alarm, or when stability is below `min_stability`.

    It misleads in two ways. A batch from another region of the attribute space gives another concept where it has no
    rows, so a change of the rows alone may raise an alarm: look at `accuracy_reference` of the update, how the old
    concept does on the new rows. And «no change» is no proof of none: see `alarm_below` for what would have been seen.

    Parameters
    ----------
    learner : a scikit-learn classifier
    probes : 'uniform' over the domain of each column, 'marginal', 'data' (the reference's rows), or as in `record`
    n_probes : how many to draw
    false_alarm_rate : of each update
    min_stability : stability below which the learner is not trusted to monitor, or None
    draws : blocks of the reference that are fitted to learn what chance does; None for as many as the rate needs
    random_state, executor, progress, time_limit, name : as in `record`

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(800, 2))
    >>> monitor = DriftMonitor(LogisticRegression(), executor=1).fit(X[:600], X[:600, 0] > 0, batch_size=100)
    >>> monitor.update(X[600:700], X[600:700, 0] > 0).verdict, monitor.update(X[700:], X[700:, 1] > 0).verdict
    ('no change', 'change')

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
        draws: int | None = None,
        random_state: int | np.random.Generator | None = 0,
        executor: Executor | int | None = None,
        progress: bool = False,
        time_limit: float | None = None,
        name: str | None = None,
    ) -> None:
        self.learner, _ = examine.learner(learner)
        if kind_of(self.learner) == "regressor":
            raise expect.InputError(f"`learner` is {type(learner).__name__}, a regressor; a classifier is expected.")
        if isinstance(probes, str):
            expect.one_of(probes, "probes", KINDS)
        self.probes = probes
        self.n_probes = expect.whole(n_probes, "n_probes", at_least=2)
        self.false_alarm_rate = expect.fraction(false_alarm_rate, "false_alarm_rate")
        self.min_stability = None if min_stability is None else expect.fraction(min_stability, "min_stability")
        self.draws = None if draws is None else expect.whole(draws, "draws", at_least=20)
        self.seed = seeds.settle(random_state)
        self.executor, self.progress = executor, progress
        self.time_limit = examine.time_limit(time_limit)
        self.name = name or short_name(learner)
        self._state: drift_state.State | None = None

    def fit(self, X: Any, y: ArrayLike, batch_size: int | None = None) -> DriftMonitor:
        """Take the reference, and forget all batches. With `batch_size`, what chance does is learnt now and not later.

        X, y : rows of the process as it should be, at least three times a batch; the more the better
        batch_size : rows of the batches to come
        """
        rows, labels, classes = batches.reference(X, y)
        examine.answers(self.learner, labels)
        drawn = probes(self.probes, self.n_probes, rows, np.arange(len(labels)), self.seed)
        if drawn is None:
            raise expect.InputError("`probes` is None; 'uniform', 'marginal', 'data', rows or a function is expected.")
        state = drift_state.State(rows, labels, classes, drawn.rows, drawn.kind)
        (state.reference_answers,) = self._ask(state, [(rows, labels, 0, drawn.rows)])
        self._state = state
        if batch_size is not None:
            self._calibrated(expect.whole(batch_size, "batch_size", at_least=2))
        return self

    def update(self, X: Any, y: ArrayLike, name: str | None = None) -> Update:
        """Learn a concept from a batch and tell whether it shows a change."""
        state = self._fitted()
        rows, labels = batches.batch(X, y, state.rows, state.classes)
        calibration = self._calibrated(len(labels))
        number = len(state.updates) + 1
        asked = [(rows, labels, number, state.probes), (state.rows, state.labels, 0, rows)]
        if state.last is not None:
            asked.append((state.last.rows, state.last.labels, number - 1, rows))
        answers, *on_batch = self._ask(state, asked)
        truth = Codes(state.classes).truth(labels)
        agreements = {"reference": float((answers == state.reference_answers).mean())}
        calibrations = {"reference": calibration}
        if state.last is not None:
            agreements["last"] = float((answers == state.last.answers).mean())
            # Of two sizes the smaller one: concepts of few rows agree less, so it errs on the side of no alarm.
            calibrations["last"] = self._calibrated(min(len(labels), len(state.last.labels)))
        update = judge(
            name=str(number) if name is None else str(name),
            number=number,
            n_rows=len(labels),
            agreements=agreements,
            accuracies=[float((each == truth).mean()) for each in on_batch],
            calibrations=calibrations,
            rate=self.false_alarm_rate,
            min_stability=self.min_stability,
            learner=self.name,
            n_reference=len(state.labels),
            fingerprint=fingerprint(rows, labels),
        )
        state.updates.append(update)
        state.last = drift_state.Last(rows, labels, answers)
        return update

    @property
    def fitted(self) -> bool:
        """Whether there is a reference."""
        return self._state is not None

    def knows(self, X: Any, y: ArrayLike) -> bool:
        """Whether these are the rows of the reference."""
        state = self._fitted()
        rows, labels, _ = batches.reference(X, y)
        return fingerprint(rows, labels) == fingerprint(state.rows, state.labels)

    def has_seen(self, X: Any, y: ArrayLike) -> bool:
        """Whether these rows were a batch already."""
        state = self._fitted()
        seen = fingerprint(*batches.batch(X, y, state.rows, state.classes))
        return any(update.fingerprint == seen for update in state.updates)

    @property
    def history(self) -> Drift:
        """All updates so far."""
        state = self._fitted()
        return Drift(self.name, state.probe_kind, self.false_alarm_rate, len(state.labels), tuple(state.updates))

    def save(self, path: str | Path) -> Path:
        """Write the state to one file, without pickle: rows from which concepts are learnt again, and all figures."""
        return drift_state.save(self, self._fitted(), Path(path))

    @classmethod
    def load(
        cls, path: str | Path, learner: Any, *, executor: Executor | int | None = None, progress: bool = False
    ) -> DriftMonitor:
        """Go on from a file that `save` wrote, with the same learner: the next update is bit for bit the same."""
        settings, state = drift_state.load(Path(path), learner)
        monitor = cls(learner, executor=executor, progress=progress, **settings)
        monitor._state = state
        return monitor

    def _fitted(self) -> drift_state.State:
        if self._state is None:
            raise expect.InputError("The monitor has no reference yet. Call fit(X, y) with rows of the process first.")
        return self._state

    def _bench(self, state: drift_state.State, rows: Any, labels: NDArray[Any], asked: Any, seed: int) -> Bench:
        free = tuple(free_seeds(self.learner))
        answers, none = Codes(state.classes), np.empty(0, dtype=np.int64)
        return Bench(self.learner, rows, labels, answers, none, asked, free, seed, self.time_limit)

    def _ask(self, state: drift_state.State, asked: list[tuple[Any, NDArray[Any], int, Any]]) -> list[Codings]:
        """What the concepts of some rows, each with its number, answer on other rows.

        A concept is learnt again whenever it is asked: it is its rows and its seed, so it can be saved without pickle.
        """
        benches = [self._bench(state, rows, labels, points, self.seed) for rows, labels, _, points in asked]
        tasks = [(place, number) for place, (_, _, number, _) in enumerate(asked)]
        outcome = work.run(_learn, tasks, shared=benches, executor=1)
        if outcome.interrupted:
            raise KeyboardInterrupt
        failed = [*outcome.failures.values(), *outcome.results.values()]
        errors = [str(each) for each in failed if not isinstance(each, np.ndarray)]
        if errors:
            raise expect.InputError(f"{self.name} failed: {errors[0]}{examine.advice(state.rows, errors[0])}")
        return list(outcome.results.values())

    def _calibrated(self, size: int) -> Calibration:
        """What chance does at a batch size; learnt once."""
        state = self._fitted()
        if size not in state.calibrations:
            (seed,) = seeds.integers(self.seed, "calibration", size, count=1)
            bench = self._bench(state, state.rows, state.labels, state.probes, seed)
            draws = self.draws or draws_needed(self.false_alarm_rate / 2, len(state.labels) / size)
            state.calibrations[size] = calibrate(bench, size, draws, self.executor, self.progress, self.name)
        return state.calibrations[size]


def _learn(benches: list[Bench], task: tuple[int, int]) -> Codings | str:
    """The answers of one concept, or why it could not be learnt."""
    place, number = task
    bench = benches[place]
    found = refit(bench, (number, np.arange(len(bench.y)), (0,)))
    for error in found.errors.values():
        return error
    assert found.probes is not None
    answers: Codings = found.probes[0]
    return answers
