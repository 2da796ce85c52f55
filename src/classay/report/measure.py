"""The work behind `characterize`: trial and pilot fits, folds, then rounds of refits until the budget ends.

Cross-validated fits come first, at full size; then rounds of half splits in a fixed order. After each round there are
results of everything that is done so far.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..data.complexity import Complexity
from ..data.slices import Slices
from ..estimators.trial import ready
from ..expect import InputError
from ..inputs import take
from ..learner.fitting.checks import Setup, prepare
from ..learner.fitting.schemes import HalfSplits
from ..learner.rounds import RecordRounds
from ..network.quality.quality import NetworkQuality
from .budget import (
    AT_LATEST,
    FOLDS_END,
    ON_FIGURES,
    ON_FOLDS,
    PROBES,
    REPEATS,
    SPLITS,
    TEST_POINTS,
    BudgetSettings,
    Clock,
    Speed,
    enough,
    fold_rows_for,
    next_round,
    size_for,
    time_text,
)
from .cross_validated import FOLDS, Folds, HeldOut, cross_validate
from .derived import classes_of, complexity_of, kinship_of, learner_results, slices_of
from .phrases import share
from .pilot import speeds
from .reproduction import Fitted, settings_of
from .results import DataResults, LearnerResults, Results
from .stages import Stages
from .subjects import sampled

MEASURED_ROWS = 50_000
"""Most rows whose complexity is measured; of a larger table, a sample."""
LARGE = 20_000
"""With more rows, every fit runs in a worker, where it can be ended when time is up."""
ALONE = 4.0
"""Seconds of work that are done in this process rather than in workers."""
LEAST_SPLITS = 4
"""Fewest splits from which figures are made."""


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """How learners are fitted: the keywords of `classay.record` that do not depend on the budget.

    `spent` are the seconds of the budget that had passed before.
    """

    test_size: float
    seed: int
    executor: Executor | int | None = None
    store: str | Path | None = None
    progress: bool = False
    time_limit: float | None = None
    spent: float = 0.0
    X_test: Any = None
    y_test: Any = None


def measure(
    data: DataResults,
    learners: Mapping[str, Any],
    networks: Mapping[str, NetworkQuality],
    budget: BudgetSettings,
    settings: FitSettings,
    command: str | None = None,
    each_round: bool = False,
) -> Iterator[Results]:
    """All results of a report; with `each_round`, after every round of refits, the last ones being final.

    A learner that fails is left out; if all fail, that is an error.
    """
    work = _Work(data, dict(learners), networks, budget, settings, command)
    work.try_learners()
    work.time_learners()
    work.cross_validate()
    work.measure_rows()
    work.choose_size()
    yield from work.refit(each_round)


@dataclass
class _Work:
    """What is done so far, by learner, and why not."""

    data: DataResults
    learners: dict[str, Any]
    networks: Mapping[str, NetworkQuality]
    budget: BudgetSettings
    settings: FitSettings
    command: str | None
    wrapped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    slow: list[str] = field(default_factory=list)
    speeds: dict[str, Speed] = field(default_factory=dict)
    held_out: dict[str, HeldOut] = field(default_factory=dict)
    not_held_out: dict[str, str] = field(default_factory=dict)
    fold_rows: dict[str, int | None] = field(default_factory=dict)
    slices: dict[str, Slices | str] = field(default_factory=dict)
    complexity: Complexity | None = None
    why: dict[str, str] = field(default_factory=dict)
    size: int | None = None
    made: dict[str, tuple[int, LearnerResults]] = field(default_factory=dict)
    page_seconds: float | None = None
    kept: dict[tuple[str, ...], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        data, settings = self.data, self.settings
        self.clock = Clock(self.budget.seconds, settings.spent)
        self.stages = Stages(settings.progress)
        if settings.spent:
            self.stages.seconds["Reading"] = settings.spent
        self.given = self.learners
        self.workers = _workers(settings.executor)
        self.rows = data.codes.size
        self.test_points = TEST_POINTS if self.budget.test_points is None else self.budget.test_points
        self.measured = sampled(data.codes, max(MEASURED_ROWS, self.test_points), settings.seed)
        self.isolate = self.rows > LARGE and not isinstance(settings.executor, Executor)
        self.folds = Folds.of(
            data.for_learners,
            data.codes,
            data.classes,
            settings.seed,
            sampled(data.codes, self.test_points, settings.seed),
            data.per_row,
        )
        self.setup = self._prepared()
        self.half = self.setup.train.size // 2
        self.rounds = RecordRounds(self.setup, {})

    @property
    def going(self) -> list[str]:
        """The learners that have not failed."""
        return [name for name in self.learners if name not in self.failed]

    def _prepared(self) -> Setup:
        """Data, parts and probes, checked once for all learners, before any fit."""
        settings, budget = self.settings, self.budget
        size = budget.size if isinstance(budget.size, int) else None
        setup = prepare(
            next(iter(self.learners.values())),
            self.data.for_learners,
            self.data.labels,
            HalfSplits(SPLITS[0], size),
            REPEATS if budget.repeats is None else budget.repeats,
            min(settings.test_size, self.test_points / self.rows),
            "uniform",
            settings.seed,
            settings.time_limit,
            PROBES if budget.n_probes is None else budget.n_probes,
            groups=self.data.per_row.groups,
            time=self.data.per_row.time,
            sample_weight=self.data.per_row.weights,
            X_test=settings.X_test,
            y_test=settings.y_test,
        )
        return replace(setup, own_points=self.test_points if setup.train.size // 2 > self.test_points else None)

    def try_learners(self) -> None:
        """Give each learner the table as it is, or wrapped where it does not take it."""
        with self.stages.stage("Trial fits"):
            for name, learner in self.learners.items():
                try:
                    tried = ready(learner, self.data.for_learners, self.data.labels, self.settings.seed)
                except InputError as mistake:
                    self.failed[name] = str(mistake)
                    continue
                self.learners = {**self.learners, name: tried.learner}
                if tried.wrapped:
                    self.wrapped[name] = tried.wrapped
        for name in self.going:
            if self.budget.splits_of.get(name) == 0:
                self._leave_out(name, "It was left out, as its number of splits is 0.")
        self._refuse_none()

    def time_learners(self) -> None:
        """Pilot fits, where the budget decides about anything."""
        if self.budget.is_plan:
            return
        with self.stages.stage("Pilot fits"):
            self.speeds, unfinished = speeds(
                {name: self.learners[name] for name in self.going},
                self.folds.X,
                self.data.codes,
                self.data.classes,
                most=self.folds.available,
                seconds=max(0.03 * self.clock.left, 0.5),
                seed=self.settings.seed,
                executor=self.settings.executor,
                isolate=self.isolate,
                stop=lambda: self.clock.after(ON_FOLDS),
            )
        for name in unfinished:
            self._too_slow(name, "even a fit on a few hundred rows did not finish", 4 * self.clock.seconds)
        self._refuse_none()

    def cross_validate(self) -> None:
        """Predict rows by fits that have not seen them, on as many rows as the budget allows."""
        given, most = self.budget.fold_rows, self.folds.available
        self.fold_rows = dict.fromkeys(self.going, given if isinstance(given, int) else None)
        if given is None and self.speeds:
            chosen, slow = fold_rows_for(
                self.speeds, ON_FOLDS * self.clock.left, most, self.folds.tested.size, self.workers
            )
            self.fold_rows |= {name: None if rows >= most else rows for name, rows in chosen.items()}
            for name, seconds in slow.items():
                self._too_slow(name, f"its cross-validated fits would take about {time_text(seconds)}", 5 * seconds)
            self._refuse_none()
        for name, rows in self.budget.fold_rows_of.items():
            self.fold_rows[name] = rows if isinstance(rows, int) else None
        with self.stages.stage("Cross-validated predictions"):
            done = cross_validate(
                {name: self.learners[name] for name in self._fastest_first() if self.fold_rows.get(name) != 0},
                self.folds,
                self.fold_rows,
                self._executor(self._fold_seconds()),
                self.settings.progress,
                self.isolate,
                None if self.budget.is_plan else lambda done: self.clock.after(FOLDS_END if done else AT_LATEST),
            )
        if done.interrupted:
            raise KeyboardInterrupt
        self.held_out, self.not_held_out = done.held_out, done.failed
        for name in self.going:
            if name in self.held_out:
                if name in self.speeds:
                    self.speeds[name] = self.speeds[name].measured(self.held_out[name])
            elif done.stopped and name not in done.failed:
                self._too_slow(name, "its cross-validated fits did not finish", 4 * self.clock.seconds)
        self._refuse_none()

    def measure_rows(self) -> None:
        """What does not depend on refits: how hard rows are, and where errors concentrate."""
        with self.stages.stage("Figures of the rows"):
            self.complexity = complexity_of(self.data, self.measured, self.settings.seed, self.why)
            for name in self.going:
                held = self.held_out.get(name)
                self.slices[name] = (
                    self.not_held_out.get(name, "there are no cross-validated predictions")
                    if held is None
                    else slices_of(held, self.data, self.settings.seed)
                )

    def choose_size(self) -> None:
        """Rows of each half: all, or as many as the first round can use."""
        if isinstance(self.budget.size, int):
            self.size = None if self.budget.size >= self.half else self.budget.size
        elif self.budget.size is None and self.speeds:
            rows, slow = size_for(
                {name: self.speeds[name] for name in self.going if name in self.speeds},
                self.clock.left - self._on_figures(),
                self.half,
                self.setup.test.size + self.setup.probes.shape[0],
                self.workers,
                self.budget.splits or SPLITS[0],
                self.setup.repeats,
            )
            self.size = None if rows >= self.half else rows
            for name, seconds in slow.items():
                self._too_slow(
                    name, f"the first {SPLITS[0]} splits would take about {time_text(seconds)}", 3 * seconds
                )
            self._refuse_none()
        self.setup = replace(self.setup, scheme=HalfSplits(SPLITS[0], self.size))
        self.rounds = RecordRounds(
            self.setup,
            self.learners,
            self.settings.executor,
            self.settings.store,
            self.settings.progress,
            self.isolate,
        )

    def refit(self, each_round: bool) -> Iterator[Results]:
        """Rounds of refits, until the splits that were asked for are done, or time is up."""
        ladder = self._ladder(each_round)
        names = self.going
        for number, splits in enumerate(ladder, start=1):
            begin = self.clock.passed
            with self.stages.stage("Refits", f"round {number} of at most {len(ladder)}, {splits} splits"):
                wanted = [name for name in names if self._most(name) is None or (self._most(name) or 0) >= splits]
                work = {name: splits - self.rounds.splits.get(name, 0) for name in wanted}
                self.rounds.executor = self._executor(self._refit_seconds(work))
                complete = self.rounds.grow(wanted, splits, self._stop(), "refits")
            self.failed |= self.rounds.failed
            self._refuse_none()
            if not complete or number == len(ladder):
                break
            names = self._next(ladder[number], work, self.clock.passed - begin, each_round)
            if not names:
                break
            if each_round:
                begin = self.clock.passed
                yield self._results(f"round {number} of at most {len(ladder)}")
                # With the time that the page took outside, until the next result was asked for.
                self.page_seconds = self.clock.passed - begin
        yield self._results("")

    def _ladder(self, each_round: bool) -> list[int]:
        """Numbers of splits, round by round."""
        if self.budget.splits is None and self.budget.seconds is not None:
            return list(SPLITS)
        targets = {self._most(name) or SPLITS[-1] for name in self.going}
        between = {splits for splits in SPLITS if splits < max(targets)} if each_round else set()
        return sorted(targets | between)

    def _most(self, name: str) -> int | None:
        """The number of splits that was asked for."""
        return self.budget.splits_of.get(name, self.budget.splits)

    def _stop(self) -> Any:
        if self.budget.splits is not None or self.budget.seconds is None:
            return None
        first = not self.rounds.splits
        return lambda: self.clock.left < self._on_figures() and not (
            first and self.rounds.most_complete() < LEAST_SPLITS and not self.clock.after(AT_LATEST)
        )

    def _executor(self, seconds: float) -> Executor | int | None:
        """Where fits run. Work of a few seconds is done here: starting workers takes as long."""
        here = self.settings.executor is None and not self.isolate and seconds < ALONE
        return 1 if here else self.settings.executor

    def _fold_seconds(self) -> float:
        """Estimated time of all cross-validated fits in one process."""
        points = 2 * self.folds.tested.size // FOLDS
        rows = {name: self.fold_rows.get(name) or self.folds.available for name in self.going}
        return sum(FOLDS * self.speeds[name].at(rows[name], points) for name in rows if name in self.speeds) or math.inf

    def _refit_seconds(self, splits: Mapping[str, int]) -> float:
        """Estimated time of so many more splits of each learner in one process."""
        points = self.setup.test.size + self.setup.probes.shape[0] + min(self.half, self.test_points)
        rows, fits = self.size or self.half, 2 * self.setup.repeats
        return sum(splits[name] * fits * self.speeds[name].at(rows, points) for name in splits if name in self.speeds) or (
            math.inf
        )

    def _fastest_first(self) -> list[str]:
        """Learners in the order of their folds; those of unknown speed last."""

        def seconds(name: str) -> float:
            speed = self.speeds.get(name)
            return math.inf if speed is None else speed.at(self.folds.available, 0)

        return sorted(self.going, key=seconds)

    def _next(self, splits: int, work: dict[str, int], seconds: float, each_round: bool) -> list[str]:
        """The learners that go on to the next round."""
        if self.budget.splits is not None or self.budget.seconds is None:
            return self.going
        times = {name: self.rounds.seconds(name) / self.workers for name in self.going if name in work}
        # Besides fits there are copies of rows, and waiting.
        ideal = sum(times[name] * work[name] for name in times)
        factor = max(seconds / ideal, 1.0) if ideal > 0 else 1.0
        left = self.clock.left - self._on_figures() * (2 if each_round else 1)
        names, expected = next_round(
            {name: factor * each for name, each in times.items()}, self.rounds.splits, splits, left
        )
        for name in times:
            if names and name not in names:
                self.stages.say(
                    f"{name} is too slow for {splits} splits in this budget; it has {self.rounds.splits[name]}."
                )
        return names

    def _on_figures(self) -> float:
        """Seconds to keep for figures and the page."""
        return ON_FIGURES * self.clock.seconds if self.page_seconds is None else 1.2 * self.page_seconds

    def _results(self, preliminary: str) -> Results:
        """All results of what is done. `preliminary` is the round if more follow."""
        why, failed = dict(self.why), dict(self.failed)
        by_learner: dict[str, LearnerResults] = {}
        with self.stages.stage("Figures of learners"):
            for name in self.going:
                splits = self.rounds.splits.get(name, 0)
                if splits < LEAST_SPLITS:
                    failed[name] = self._unfinished(name, splits)
                    continue
                try:
                    if name not in self.made or self.made[name][0] != splits:
                        self.made[name] = splits, self._learner(name)
                    by_learner[name] = self.made[name][1]
                except InputError as mistake:
                    failed[name] = str(mistake)
            if not by_learner:
                if self.rounds.interrupted:
                    raise KeyboardInterrupt
                raise InputError("No learner gave results. " + _reasons(failed))
            akin = kinship_of({name: one.labelings for name, one in by_learner.items()}, self.settings.seed, why)
            held = {name: one.held_out for name, one in by_learner.items() if one.held_out is not None}
            classes = classes_of(self.data, held, why)
        return Results(
            data=self.data,
            learners=by_learner,
            kinship=akin,
            complexity=self.complexity,
            classes=classes,
            networks=dict(self.networks),
            failed=failed,
            why=why,
            settings=self._settings(by_learner, preliminary),
            slow=tuple(name for name in failed if name in self.slow),
            measured_rows=self.measured,
            test_table=self._test_table(),
            kept=self.kept,
        )

    def _learner(self, name: str) -> LearnerResults:
        return learner_results(
            name,
            self.rounds.record(name),
            self.held_out.get(name),
            self.slices[name],
            self._test_table(),
            self.settings.seed,
            self.wrapped.get(name, ""),
        )

    def _test_table(self) -> pd.DataFrame:
        rows = take(self.setup.X, self.setup.test)
        return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, columns=self.data.X.columns, copy=False)

    def _unfinished(self, name: str, splits: int) -> str:
        if self.rounds.interrupted:
            return f"Interrupted after {splits} splits; figures need at least {LEAST_SPLITS}."
        if name not in self.slow:
            self.slow.append(name)
        return self._slow_sentence(name, f"{splits} splits were done when time was up", 3 * self.clock.seconds)

    def _settings(self, by_learner: Mapping[str, LearnerResults], preliminary: str) -> dict[str, Any]:
        splits = {name: self.rounds.splits.get(name, 0) if name in by_learner else 0 for name in self.given}
        usual = max(splits.values())
        # A learner that failed of itself fails again.
        fewer = {n: m for n, m in splits.items() if m < usual and (n in by_learner or n in self.slow)}
        rows = {name: self.fold_rows.get(name) for name in self.going}
        usual_rows = None if None in rows.values() or not rows else max(each for each in rows.values() if each is not None)
        fewer_rows = {
            name: each for name, each in rows.items() if each is not None and (usual_rows is None or each < usual_rows)
        }
        fewer_rows |= {name: 0 for name in self.slow if name not in self.held_out}
        fitted = Fitted(
            splits=usual,
            repeats=self.setup.repeats,
            size=self.size,
            n_probes=int(self.setup.probes.shape[0]),
            fold_rows=usual_rows,
            test_points=self.test_points,
            half=self.half,
            test=self.setup.test.size,
            fewer_splits=fewer,
            fewer_fold_rows=fewer_rows,
        )
        return settings_of(
            fitted,
            self.budget,
            test_size=self.settings.test_size,
            seed=self.settings.seed,
            workers=self.workers,
            learners=self.given,
            wrapped=self.wrapped,
            command=self.command,
            rows=self.rows,
            half=self.half,
            measured_rows=int(self.measured.size),
            tested_rows=int(self.folds.tested.size),
            interrupted=self.rounds.interrupted,
            preliminary=preliminary,
            seconds=self.clock.passed,
            stages=dict(self.stages.seconds),
        )

    def _too_slow(self, name: str, what: str, seconds: float) -> None:
        self.slow.append(name)
        self._leave_out(name, self._slow_sentence(name, what, seconds))

    def _slow_sentence(self, name: str, what: str, seconds: float) -> str:
        held = self.held_out.get(name)
        known = ""
        if held is not None:
            known = f" Its cross-validated accuracy is {share(float(held.right(self.data.codes).mean()))}."
        return (
            f"Too slow for a budget of {time_text(self.clock.seconds)}: {what}.{known} Use a budget of "
            f"{enough(self.clock.passed + seconds)} or more, fewer rows, or a faster learner."
        )

    def _leave_out(self, name: str, why: str) -> None:
        self.failed[name] = why
        self.stages.say(f"{name}: {why}")

    def _refuse_none(self) -> None:
        if not self.going:
            raise InputError("No learner could be fitted. " + _reasons(self.failed))


def _reasons(failed: Mapping[str, str]) -> str:
    return " ".join(f"{name}: {why}" for name, why in failed.items())


def _workers(executor: Executor | int | None) -> int:
    """Number of fits that run at once."""
    import loky

    return executor if isinstance(executor, int) else int(loky.cpu_count())

