"""What comes before the rounds of refits: trial fits, pilot fits, cross-validated fits, and figures of the rows."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data.model.error_slices import Slices
from ..data.model.new_rows import UnlikeKnown
from ..data.row_complexity import Complexity
from ..estimators.fit import expect_weights
from ..estimators.trial import ready
from ..expect import InputError
from ..inputs import take
from ..intervals import Estimate, of_proportion_by_group
from ..learner.fitting.checks import Setup, prepare
from ..learner.fitting.schemes import HalfSplits
from .budget import (
    AT_LATEST,
    FOLDS_END,
    ON_FIGURES,
    PROBES,
    REPEATS,
    SPLITS,
    TEST_POINTS,
    BudgetSettings,
    Clock,
    Speed,
    enough,
    fold_rows_for,
    size_for,
    time_text,
)
from .cross_validated import FOLDS, Folds, HeldOut, cross_validate
from .derived import checks_of, complexity_of, slices_of
from .document.phrases import share
from .model_check import ModelCheck
from .pilot import speeds
from .results import DataResults
from .stages import Stages
from .subjects import sampled
from .suspicions import Suspicions, importance_of, suspicions_of
from .traits import with_more_iterations

MEASURED_ROWS = 50_000
"""Most rows whose complexity is measured; of a larger table, a sample."""
LARGE = 20_000
"""With more rows, every fit runs in a worker, where it can be ended when time is up."""
COPIES, ON_COPIES = 0.005, 0.3
"""Share of copied rows from which their effect is measured, and the share of the time that is left for it."""
ON_CONTRAST = 0.05
"""Share of the time that is left for the folds of a learner that nobody asked for."""
MORE_ITERATIONS = 10
"""So many times the iterations are tried on one fold where fits did not converge."""
ALONE, FIRST_PAGE = 8.0, 3.0
"""Seconds of work that are done in this process rather than in workers, and of the first page, on an idle machine."""


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


@dataclass
class Groundwork:
    """What is done so far, by learner, and why not. `lay` does all of it.

    `given` are the learners of the user, `learners` the same or wrapped; `contrast` are those that nobody asked for,
    which go first if time is short; `load` is how much longer work takes here than
    on an idle machine, as far as is known.
    """

    data: DataResults
    given: Mapping[str, Any]
    budget: BudgetSettings
    settings: FitSettings
    contrast: frozenset[str] = frozenset()
    learners: dict[str, Any] = field(default_factory=dict)
    wrapped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    slow: list[str] = field(default_factory=list)
    speeds: dict[str, Speed] = field(default_factory=dict)
    held_out: dict[str, HeldOut] = field(default_factory=dict)
    fold_rows: dict[str, int | None] = field(default_factory=dict)
    slices: dict[str, Slices | str] = field(default_factory=dict)
    complexity: Complexity | None = None
    unlike: UnlikeKnown | None = None
    checks: dict[str, ModelCheck] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    size: int | None = None
    load: float = 1.0
    with_copies: tuple[str, HeldOut] | None = None
    suspicions: Suspicions = field(default_factory=Suspicions)

    def __post_init__(self) -> None:
        data, settings = self.data, self.settings
        self.clock = Clock(self.budget.seconds, settings.spent)
        self.stages = Stages(settings.progress)
        if settings.spent:
            self.stages.seconds["Reading"] = settings.spent
        self.learners = dict(self.given)
        self.workers = _workers(settings.executor)
        self.rows = data.codes.size
        self.isolate = self.rows > LARGE and not isinstance(settings.executor, Executor)
        self.test_points = TEST_POINTS if self.budget.test_points is None else self.budget.test_points
        self.measured = sampled(data.codes, max(MEASURED_ROWS, self.test_points), settings.seed)
        tested = sampled(data.codes, self.test_points, settings.seed)
        self.folds = Folds.of(data.for_learners, data.codes, data.classes, settings.seed, tested, data.per_row)
        self.setup = self._prepared()
        self.half = self.setup.train.size // 2

    def lay(self) -> None:
        """Everything, in order. Raises InputError if no learner is left."""
        self._try_learners()
        self._time_learners()
        self._cross_validate()
        self._cross_validate_with_copies()
        self._measure_rows()
        self._check_data()
        self._choose_size()

    @property
    def going(self) -> list[str]:
        """The learners that have not failed."""
        return [name for name in self.learners if name not in self.failed]

    @property
    def found_slices(self) -> dict[str, Slices]:
        """The slices of the learners that have any."""
        return {name: each for name, each in self.slices.items() if not isinstance(each, str)}

    @property
    def why_no_slices(self) -> dict[str, str]:
        """Why there are none, if no learner has any."""
        reasons = [each for each in self.slices.values() if isinstance(each, str)]
        return {"slices": reasons[0]} if reasons and len(reasons) == len(self.slices) else {}

    @property
    def test_table(self) -> pd.DataFrame:
        """The test points."""
        rows = take(self.setup.X, self.setup.test)
        return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, columns=self.data.X.columns, copy=False)

    @property
    def first_page(self) -> float:
        """Seconds to keep for figures and the page, before the first page shows how long they take."""
        return min(max(ON_FIGURES, FIRST_PAGE * self.load / self.clock.seconds), 2 * ON_FIGURES) * self.clock.seconds

    def executor(self, seconds: float) -> Executor | int | None:
        """Where fits run. Work of a few seconds is done here: starting workers takes as long."""
        here = self.settings.executor is None and not self.isolate and seconds < ALONE * self.load
        return 1 if here else self.settings.executor

    def refit_seconds(self, splits: Mapping[str, int]) -> float:
        """Estimated time of so many more splits of each learner in one process."""
        points = self.setup.test.size + self.setup.probes.shape[0] + min(self.half, self.test_points)
        rows, fits = self.size or self.half, 2 * self.setup.repeats
        known = [name for name in splits if name in self.speeds]
        return sum(splits[name] * fits * self.speeds[name].at(rows, points) for name in known) if known else math.inf

    def refuse_none(self) -> None:
        """Refuse to go on without any learner."""
        if not self.going:
            reasons = " ".join(f"{name}: {why}" for name, why in self.failed.items())
            raise InputError(f"No learner could be fitted. {reasons}")

    def too_slow(self, name: str, what: str, seconds: float) -> str:
        """Note that a learner lacks time, and say so; `seconds` more would be enough for it."""
        if name not in self.slow:
            self.slow.append(name)
        held = self.held_out.get(name)
        known = "" if held is None else f" Its cross-validated accuracy is {share(float(_accuracy(held, self.data)))}."
        more = enough(max(self.clock.passed + seconds, 1.01 * self.clock.seconds))
        return (
            f"Too slow for a budget of {time_text(self.clock.seconds)}: {what}.{known} Use a budget of {more} or more, "
            "fewer rows, or a faster learner."
        )

    def _prepared(self) -> Setup:
        """Data, parts and probes, checked once for all learners, before any fit."""
        settings, budget, data = self.settings, self.budget, self.data
        groups, test = data.per_row.groups, data.test
        if test is not None:
            test = test.take(sampled(np.searchsorted(data.classes, test.y), self.test_points, settings.seed))
            if groups is not None and test.groups is not None:
                groups = np.concatenate([groups, test.groups])
        setup = prepare(
            next(iter(self.given.values())),
            data.for_learners,
            data.labels,
            HalfSplits(SPLITS[0], budget.size if isinstance(budget.size, int) else None),
            REPEATS if budget.repeats is None else budget.repeats,
            min(settings.test_size, self.test_points / self.rows),
            "uniform",
            settings.seed,
            settings.time_limit,
            PROBES if budget.n_probes is None else budget.n_probes,
            groups=groups,
            time=data.per_row.time,
            sample_weight=None,
            X_test=None if test is None else test.X,
            y_test=None if test is None else test.y,
        )
        weights = data.per_row.weights
        if weights is not None:
            # Each learner is asked whether it takes weights when it is tried. Test rows need none.
            padded = np.concatenate([weights, np.ones(setup.y.size - weights.size)])
            setup = replace(setup, per_row=replace(setup.per_row, weights=padded))
        return replace(setup, own_points=self.test_points if setup.train.size // 2 > self.test_points else None)

    def _try_learners(self) -> None:
        """Give each learner the table as it is, or wrapped where it does not take it."""
        with self.stages.stage("Trial fits"):
            for name, learner in self.given.items():
                try:
                    if self.data.per_row.weights is not None:
                        expect_weights(learner)
                    tried = ready(
                        learner, self.data.for_learners, self.data.labels, self.settings.seed, self.data.texts
                    )
                except InputError as mistake:
                    self.failed[name] = str(mistake)
                    continue
                self.learners[name] = tried.learner
                if tried.wrapped:
                    self.wrapped[name] = tried.wrapped
        for name in self.going:
            if self.budget.splits_of.get(name) == 0:
                self.slow.append(name)
                self._leave_out(name, "It was left out, as its number of splits is 0.")
        self.refuse_none()

    def _time_learners(self) -> None:
        """Pilot fits, where the budget decides about anything."""
        if self.budget.is_plan:
            return
        begin, used = time.perf_counter(), time.process_time()
        with self.stages.stage("Pilot fits"):
            self.speeds, slow = speeds(
                {name: self.learners[name] for name in self.going},
                self.folds.X,
                self.data.codes,
                self.data.classes,
                most=self.folds.available,
                seconds=max(0.04 * self.clock.left, 0.5),
                seed=self.settings.seed,
            )
        # How much of a processor this process got.
        self.load = max((time.perf_counter() - begin) / max(time.process_time() - used, 1e-3), 1.0)
        for name in slow:
            why = self.too_slow(name, "even a fit on a few hundred rows did not finish", 4 * self.clock.seconds)
            self._leave_out(name, why)
        self.refuse_none()

    def _cross_validate(self) -> None:
        """Predict rows by fits that have not seen them, on as many rows as the budget allows."""
        self._choose_fold_rows()
        start = self.clock.passed
        with self.stages.stage("Cross-validated predictions"):
            done = cross_validate(
                {name: self.learners[name] for name in self._fastest_first() if self.fold_rows.get(name) != 0},
                self.folds,
                self.fold_rows,
                self.executor(self._fold_seconds()),
                self.settings.progress,
                self.isolate,
                None if self.budget.is_plan else lambda done: self.clock.after(FOLDS_END if done else AT_LATEST, start),
            )
        if done.interrupted:
            raise KeyboardInterrupt
        self.held_out = done.held_out
        for name in self.going:
            if name in self.held_out and name in self.speeds:
                self.speeds[name] = self.speeds[name].measured(self.held_out[name])
            elif name not in self.held_out and name not in done.failed and done.stopped:
                why = self.too_slow(name, "its cross-validated fits did not finish", 4 * self.clock.seconds)
                self._leave_out(name, why)
            self.slices[name] = done.failed.get(name, "there are no cross-validated predictions")
        self.refuse_none()

    def _cross_validate_with_copies(self) -> None:
        """The same for the most accurate learner with copies of rows on both sides, which shows how much they help."""
        if not self.data.copies_together or self.data.duplicates < COPIES * self.rows or not self.held_out:
            return
        best = max(self.held_out, key=lambda name: _accuracy(self.held_out[name], self.data))
        held = self.held_out[best]
        seconds = FOLDS * held.fit_seconds + held.tested.size * held.predict_seconds
        if not self.budget.is_plan and seconds / self.workers > ON_COPIES * self.clock.left:
            return
        apart = replace(self.data.per_row, groups=None)
        folds = Folds.of(self.folds.X, self.data.codes, self.data.classes, self.settings.seed, self.folds.tested, apart)
        with self.stages.stage("Predictions with copies of rows on both sides"):
            done = cross_validate(
                {best: self.learners[best]},
                folds,
                {best: self.fold_rows.get(best)},
                self.executor(seconds),
                isolate=self.isolate,
            )
        if done.interrupted:
            raise KeyboardInterrupt
        if best in done.held_out:
            self.with_copies = (best, done.held_out[best])

    def _choose_fold_rows(self) -> None:
        given, most = self.budget.fold_rows, self.folds.available
        self.fold_rows = dict.fromkeys(self.going, given if isinstance(given, int) else None)
        if given is None and self.speeds:
            asked = {name: speed for name, speed in self.speeds.items() if name not in self.contrast} or self.speeds
            chosen, slow = fold_rows_for(asked, self.clock.left, most, self.folds.tested.size, self.workers)
            # What nobody asked for has full fits if they are cheap, and else none.
            points = 2 * self.folds.tested.size // FOLDS
            for name in [each for each in self.speeds if each not in asked]:
                seconds = FOLDS * self.speeds[name].at(most, points) / self.workers
                if seconds <= ON_CONTRAST * self.clock.left:
                    chosen[name] = most
                else:
                    slow[name] = seconds
            self.fold_rows |= {name: None if rows >= most else rows for name, rows in chosen.items()}
            for name, each in slow.items():
                what = f"its cross-validated fits would take about {time_text(each)}"
                self._leave_out(name, self.too_slow(name, what, 5 * each))
            self.refuse_none()
        for name, rows in self.budget.fold_rows_of.items():
            self.fold_rows[name] = rows if isinstance(rows, int) else None

    def _fold_seconds(self) -> float:
        """Estimated time of all cross-validated fits in one process."""
        points = 2 * self.folds.tested.size // FOLDS
        rows = {name: self.fold_rows.get(name) or self.folds.available for name in self.going if name in self.speeds}
        return sum(FOLDS * self.speeds[name].at(rows[name], points) for name in rows) if rows else math.inf

    def _fastest_first(self) -> list[str]:
        """Learners in the order of their folds; those of unknown speed last, and after them what nobody asked for."""
        points = 2 * self.folds.tested.size // FOLDS

        def seconds(name: str) -> float:
            speed = self.speeds.get(name)
            return math.inf if speed is None else speed.at(self.fold_rows[name] or self.folds.available, points)

        return sorted(self.going, key=lambda name: (name in self.contrast, seconds(name)))

    def _measure_rows(self) -> None:
        """What does not depend on refits: how hard rows are, and where errors concentrate."""
        with self.stages.stage("Figures of the rows"):
            self.complexity, self.unlike = complexity_of(self.data, self.measured, self.settings.seed, self.why)
            for name in self.going:
                if name in self.held_out:
                    self.slices[name] = slices_of(self.held_out[name], self.data, self.settings.seed)
            asked = {name: held for name, held in self.held_out.items() if name not in self.contrast}
            self.checks = checks_of(asked, self.data, self.measured, self.complexity, self.settings.seed)

    def _check_data(self) -> None:
        """Whether a column gives labels away, rows belong together, or the test part is unlike the training part."""
        with self.stages.stage("Checks of the data"):
            seed, seconds = self.settings.seed, math.inf if self.budget.is_plan else ON_COPIES * self.clock.left
            checked = suspicions_of(self.data, self.setup.test, seed, self.settings.progress)
            relied, why = importance_of(self.data, self.learners, self.held_out, seconds, seed)
            self.suspicions = replace(
                checked, importance=relied, why=checked.why | ({"importance": why} if why else {})
            )

    def _choose_size(self) -> None:
        """Rows of each half: all, or as many as the first round can use."""
        if isinstance(self.budget.size, int):
            self.size = None if self.budget.size >= self.half else self.budget.size
        elif self.budget.size is None and self.speeds:
            self._drop_contrast()
            rows, slow = size_for(
                {name: self.speeds[name] for name in self.going if name in self.speeds},
                self.clock.left - self.first_page,
                self.half,
                self.setup.test.size + self.setup.probes.shape[0],
                self.workers,
                self.budget.splits or SPLITS[0],
                self.setup.repeats,
            )
            self.size = None if rows >= self.half else rows
            for name, seconds in slow.items():
                what = f"the first {SPLITS[0]} splits would take about {time_text(seconds)}"
                self._leave_out(name, self.too_slow(name, what, 3 * seconds))
            self.refuse_none()
        self.setup = replace(self.setup, scheme=HalfSplits(SPLITS[0], self.size))

    def _drop_contrast(self) -> None:
        """Leave out what nobody asked for, if the first round would otherwise not end in time."""
        asked = [name for name in self.going if name not in self.contrast]
        seconds = self.refit_seconds(dict.fromkeys(self.going, SPLITS[0])) / self.workers
        if asked and len(asked) < len(self.going) and seconds > 0.5 * (self.clock.left - self.first_page):
            for name in [each for each in self.going if each not in asked]:
                self._leave_out(name, "It was left out to stay within the budget.")
                self.slow.append(name)

    def more_iterations(self, name: str) -> Estimate | None:
        """The share of predictions that ten times the iterations would change, on one fold; None if nobody can say."""
        held, learner = self.held_out.get(name), with_more_iterations(self.learners[name], MORE_ITERATIONS)
        if held is None or learner is None or held.rows < held.available:
            return None
        if not self.budget.is_plan and MORE_ITERATIONS * held.fit_seconds > 0.1 * self.clock.left:
            return None
        fold = self.folds.numbers[0]
        here = self.folds.fold_of_row[self.folds.tested] == fold
        one = replace(self.folds, tested=self.folds.tested[here])
        done = cross_validate({name: learner}, one, executor=1).held_out.get(name)
        if done is None:
            return None
        return of_proportion_by_group(done.labels != held.labels[here], self.data.groups_of(one.tested))

    def _leave_out(self, name: str, why: str) -> None:
        self.failed[name] = why
        self.stages.say(f"{name}: {why}")


def _accuracy(held: HeldOut, data: DataResults) -> float:
    return float(held.right(data.codes).mean())


def _workers(executor: Executor | int | None) -> int:
    """Number of fits that run at once."""
    import loky

    return executor if isinstance(executor, int) else int(loky.cpu_count())
