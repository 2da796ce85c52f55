"""`DriftMonitor`: whether a change between refits comes from the process, or only from the learner.

Each batch of data gives a concept. Its agreement with the concept of the reference, and with that of the previous
batch, is compared with the agreement of concepts when nothing changes: the learner's own stability at that batch size,
estimated from the reference. So is the accuracy of the reference's concept on the batch.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import expect, seeds
from ...engine import work
from ...estimators.adapters import free_seeds, kind_of, short_name
from ...estimators.fit import expect_weights
from ...expect import InputError
from ...inputs import encode, take
from ...splits import PerRow, per_row
from ...tables.data import refuse_classes, refuse_target
from ..fitting import checks
from ..fitting.probes import KINDS, probes
from ..fitting.provenance import fingerprint
from ..fitting.task import Bench
from ..stability.agreement import tolerance_for
from .batches import batch, last_time, reference, row_shift
from .calibration import LEAST_BLOCKS, Calibration, Target, calibrate, draws_needed, predictions
from .state import Concept, MonitorState, load, save
from .verdict import ACCURACY, ERROR, ROWS_UNLIKE, Drift, Update, judge, on_new_classes

BATCH, STREAM = CONTROLS = ("batch", "stream")


class DriftMonitor:
    """Monitor batches of data for a change of the concept that a learner finds in them.

    `fit` takes the reference; each `update` learns a concept from a batch, compares it on probes with that of the
    reference, and has the reference's concept predict the batch. The verdict names what moved:

    - "new class": the batch has a class that the reference does not have. Figures are of the other rows, and the
      reference stays as it is: the class is an alarm in every batch, until the monitor is fitted again;
    - "concept moved": agreement and accuracy of the old concept are together lower than batches without change have
      them, at the stated false-alarm rate: z(agreement) + 2·z(accuracy), z the standard score among blocks of the
      reference;
    - "rows moved": only agreement is low, and columns of the batch are distributed unlike those of the reference;
    - "learner unsteady": agreement could not show a change, because a concept unrelated to the reference would not
      disagree enough, or stability is below `min_stability`;
    - "nothing shown".

    With a regressor, two concepts agree on a probe if their predictions differ by at most `tolerance`, and the error of
    the old concept takes the place of its accuracy: the mean absolute error, in which no error counts more than three
    times the usual (median) one, so that a rare huge error of a heavy-tailed target is no alarm.

    It misleads in two ways. Rows that move to where the old concept is less accurate lower its accuracy as a change of
    the concept does: `p_rows` says whether the rows are unlike the reference. And "nothing shown" does not prove that
    nothing changed: `low_below_reference` and `metric_limit` of the update show what would have been unusual.

    Parameters
    ----------
    learner : a scikit-learn classifier or regressor
    probes : 'uniform' over the domain of each column, 'marginal', 'data' (the reference's rows), or as in `record`
    n_probes : how many to draw
    false_alarm_rate : for each update, or for all of them together
    control : 'batch': the rate is that of each update, so over many a false alarm is likely; 'stream': that of at least
        one false alarm however many updates there are. Update j then raises an alarm at rate/(j(j + 1))
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
        control: str = "batch",
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
            raise InputError("`tolerance` is for regressors; predicted classes are the same or not.")
        self.tolerance = None if tolerance is None else tolerance_for(np.empty(0), tolerance)
        if isinstance(probes, str):
            expect.one_of(probes, "probes", KINDS)
        self.probes = probes
        self.n_probes = expect.whole(n_probes, "n_probes", at_least=2)
        self.false_alarm_rate = expect.fraction(false_alarm_rate, "false_alarm_rate")
        self.control = expect.one_of(control, "control", CONTROLS)
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
        until = last_time(time, len(labels))
        if given.weights is not None:
            expect_weights(self.learner)
        if self._of_numbers:
            refuse_target(labels)
            target = Target(None, tolerance_for(labels, self.tolerance), float(labels.std()))
        else:
            refuse_classes(*np.unique(labels, return_inverse=True))
            target = Target(np.unique(labels))
        drawn = probes(self.probes, self.n_probes, rows, np.arange(len(labels)), self.seed)
        if drawn is None:
            raise InputError("`probes` is None; expected 'uniform', 'marginal', 'data', rows or a function.")
        concept = Concept(0, rows, labels, given.weights)
        state = MonitorState(concept, target, drawn.rows, drawn.kind, given.groups, until)
        state.reference = replace(concept, answers=self._predictions(state, concept, drawn.rows))
        self._state = state
        if batch_size is not None:
            self._calibrated(expect.whole(batch_size, "batch_size", at_least=2))
        return self

    def update(
        self, X: Any, y: ArrayLike, name: str | None = None, time: Any = None, sample_weight: Any = None
    ) -> Update:
        """Learn a concept from a batch and report whether it shows a change.

        time, sample_weight : as in `fit`, and needed if they were given there
        """
        state = self._fitted()
        rows, labels = batch(X, y, state.reference.rows, state.target.classes)
        weights = per_row(sample_weight=sample_weight, rows=len(labels)).weights
        _as_before("sample_weight", weights is not None, state.reference.weights is not None)
        _as_before("time", time is not None, state.until is not None)
        until = last_time(time, len(labels), state.until)
        number, classes, rate = len(state.updates) + 1, state.target.classes, self.false_alarm_rate
        new = np.zeros(len(labels), dtype=bool) if classes is None else ~np.isin(labels, classes)
        update = Update(
            learner=self.name,
            n_reference=len(state.reference.y),
            name=str(number) if name is None else str(name),
            number=number,
            n_rows=len(labels),
            false_alarm_rate=rate,
            level=rate if self.control == BATCH else rate / (number * (number + 1)),
            metric=ERROR if self._of_numbers else ACCURACY,
            tolerance=state.target.tolerance,
            fingerprint=fingerprint(rows, labels),
            new_classes=dict(zip(*(part.tolist() for part in np.unique(labels[new].astype(str), return_counts=True)))),
        )
        known = Concept(number, take(rows, ~new), labels[~new], None if weights is None else weights[~new])
        try:
            update, state.last = self._judged(state, known, update)
        except InputError as mistake:
            if not new.any():
                raise
            update = replace(update, notes=(f"Its other rows could not be compared: {mistake}",))
        state.updates.append(on_new_classes(update) if new.any() else update)
        state.until = until
        return state.updates[-1]

    def _judged(self, state: MonitorState, concept: Concept, update: Update) -> tuple[Update, Concept]:
        """An update with the figures of a batch and its verdict, and the concept of the batch."""
        target, rate, size = state.target, self.false_alarm_rate, len(concept.y)
        if target.classes is not None:
            if np.unique(concept.y).size < 2:
                raise InputError("they have fewer than 2 classes.")
            concept = replace(concept, y=target.classes[encode(concept.y, target.classes)])
        calibration = self._calibrated(size)
        concept = replace(concept, answers=self._predictions(state, concept, state.probes))
        truth, cap = target.codec.truth(concept.y), calibration.cap
        predicted = self._predictions(state, state.reference, concept.rows)
        agreement = float(target.alike(concept.answers, state.reference.answers).mean())
        quality, usual = target.quality(predicted, truth, cap), calibration.usual("quality")
        agreement_last, p_last, metric_last = math.nan, math.nan, math.nan
        if state.last is not None:
            agreement_last = float(target.alike(concept.answers, state.last.answers).mean())
            # The smaller of the two sizes: concepts from few rows agree less, so this errs on the side of no alarm.
            p_last = self._calibrated(min(size, len(state.last.y))).p_value(agreement_last, "last")
            predicted_last = self._predictions(state, state.last, concept.rows)
            metric_last = target.metric(target.quality(predicted_last, truth, cap))
        p_rows, column = row_shift(state.reference.rows, concept.rows)
        low, high = sorted(target.metric(end) for end in (usual.low, usual.high))
        limit = target.metric(calibration.low_below(rate, "quality"))
        update = replace(
            update,
            p_value=calibration.joint_p_value(agreement, quality),
            agreement_reference=agreement,
            agreement_last=agreement_last,
            p_reference=calibration.p_value(agreement, "reference"),
            p_last=p_last,
            low_below_reference=max(calibration.low_below(rate, "reference"), 0.0),
            metric_reference=target.metric(quality),
            metric_uncapped=target.metric(target.quality(predicted, truth, math.inf)),
            metric_last=metric_last,
            p_metric=calibration.p_value(quality, "quality"),
            metric_limit=max(limit, 0.0),
            usual_metric=replace(usual, value=target.metric(usual.value), low=low, high=high),
            cap=cap,
            p_rows=p_rows,
            moved_column=column if p_rows <= min(ROWS_UNLIKE, update.level) else "",
            stability=calibration.usual("last"),
            chance=calibration.chance,
        )
        return judge(update, calibration, self.min_stability), concept

    @property
    def fitted(self) -> bool:
        """Whether there is a reference."""
        return self._state is not None

    def knows(self, X: Any, y: ArrayLike) -> bool:
        """Whether these are the rows of the reference."""
        known = self._fitted().reference
        return fingerprint(*reference(X, y, self._of_numbers)) == fingerprint(known.rows, known.y)

    def has_seen(self, X: Any, y: ArrayLike) -> bool:
        """Whether these rows have already been a batch."""
        state = self._fitted()
        seen = fingerprint(*batch(X, y, state.reference.rows, state.target.classes))
        return any(update.fingerprint == seen for update in state.updates)

    @property
    def history(self) -> Drift:
        """All updates so far."""
        state = self._fitted()
        return Drift(self.name, state.probe_kind, self.false_alarm_rate, len(state.reference.y), tuple(state.updates))

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

    def _fitted(self) -> MonitorState:
        if self._state is None:
            raise InputError("The monitor has no reference yet. Call fit(X, y) with rows of the process first.")
        return self._state

    def _bench(self, state: MonitorState, concept: Concept, points: Any, seed: int) -> Bench:
        return Bench(
            self.learner,
            concept.rows,
            concept.y,
            state.target.codec,
            np.empty(0, dtype=np.int64),
            points,
            tuple(free_seeds(self.learner)),
            seed,
            self.time_limit,
            per_row=PerRow(weights=concept.weights),
        )

    def _predictions(self, state: MonitorState, concept: Concept, points: Any) -> NDArray[Any]:
        """What a concept predicts on some points.

        It is learned again whenever it is needed: its rows and seed define it, so it is saved without pickle.
        """
        bench = self._bench(state, concept, points, self.seed)
        outcome = work.run(_on_points, [concept.number], shared=bench, executor=1)
        if outcome.interrupted:
            raise KeyboardInterrupt
        for failure in outcome.failures.values():
            raise InputError(f"{self.name} failed: {failure.message}{checks.advice(bench.X, failure.message)}")
        return np.asarray(outcome.results[0])

    def _calibrated(self, size: int) -> Calibration:
        """What chance does at a batch size; estimated once."""
        state = self._fitted()
        if size not in state.calibrations:
            (seed,) = seeds.integers(self.seed, "calibration", size, count=1)
            bench = self._bench(state, state.reference, state.probes, seed)
            # `calibrate` refuses fewer blocks, with words.
            blocks, rate = max(len(bench.y) / size, LEAST_BLOCKS), self.false_alarm_rate
            wanted = max(draws_needed(rate / 2, blocks), draws_needed(rate, state.target.worth(blocks)))
            state.calibrations[size] = calibrate(
                bench, state.target, size, self.draws or wanted, self.executor, self.progress, self.name, state.groups
            )
        return state.calibrations[size]


def _on_points(bench: Bench, number: int) -> NDArray[Any]:
    """The predictions of the concept of all rows on the probes. Runs in a worker."""
    return predictions(bench, np.arange(len(bench.y)), number)[0]


def _as_before(name: str, here: bool, before: bool) -> None:
    """Refuse what a batch has and the reference had not, or the other way round."""
    if here != before:
        raise InputError(
            f"`{name}` is given for the {'batch' if here else 'reference'} but not for the "
            f"{'reference' if here else 'batch'}; expected it for both or for neither."
        )
