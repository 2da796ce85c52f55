"""The order of work behind `characterize`: folds, figures of the data, then rounds of refits, with results after each.

A deadline is an automatic Ctrl-C: what runs is ended, and the last complete round counts. So the speed of the machine
decides how many rounds are done, and nothing else. The smallest report has one fold of every learner: it may take as
long as the budget once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ...arrays import Ints
from ...expect import InputError
from ...inputs import take
from ...intervals import Estimate, of_proportion_by_group
from ...learner.fitting.checks import Setup, prepare
from ...learner.fitting.folds import Folds
from ...learner.fitting.schemes import HalfSplits
from ...learner.records.base import OutOfFold
from ...learner.rounds import RecordRounds
from ...learner.scores.retrain_change import Retraining
from ...network.quality.quality import NetworkQuality
from ...notes import Note
from ...splits import fold_of_rows, train_rows_of_fold
from ...tables.data import Data
from ..results import LearnerResults, Results, Suspicions
from .learners import refuse_none, scales, tried, votes_for_itself, with_more_iterations
from .measures import (
    kinship_of,
    learner_results,
    predictions_of,
    retrained,
    with_metrics,
    with_predictions,
    with_row_figures,
)
from .rows import sampled
from .settings import FOLDS, Clock, Effort, settings_of, time_text
from .suspicions import importance_of, suspicions_of

EARLY = 2_000
"""With so many rows, a first page comes after one fold of every learner."""
LATER = "it is measured after all folds"
LARGE = 20_000
"""With more rows, every fit runs in a worker, where it can be ended when time is up."""
MORE_ITERATIONS = 10
"""So many times the iterations are tried on one fold where fits did not converge."""
COPIES = 0.005
"""Share of copied rows from which their effect is measured."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All that rounds need: rows, what is asked, the setups of folds and refits, and the clock.

    `learners` are those that take the table, as it is or `wrapped` (how it is changed for them), of those `given`;
    `failed` says why others do not.
    """

    data: Data
    given: Mapping[str, Any]
    learners: Mapping[str, Any]
    wrapped: Mapping[str, str]
    failed: Mapping[str, str]
    effort: Effort
    networks: Mapping[str, NetworkQuality]
    clock: Clock
    folds: Setup
    setup: Setup
    measured: Ints

    @property
    def isolate(self) -> bool:
        """Whether fits never run in this process."""
        return self.data.codes.size > LARGE and not isinstance(self.effort.executor, Executor)

    def records(self, setup: Setup, learners: Mapping[str, Any], **other: Any) -> RecordRounds:
        """The fits of these learners on the samples of a setup."""
        effort = replace(self.effort, **other)
        return RecordRounds(setup, learners, effort.executor, effort.store, effort.progress, isolate=self.isolate)

    @property
    def test_table(self) -> pd.DataFrame:
        """The test points."""
        rows, columns = take(self.setup.X, self.setup.test), self.data.table.columns
        return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, columns=columns, copy=False)


def rounds_of(
    data: Data,
    learners: Mapping[str, Any],
    networks: Mapping[str, NetworkQuality],
    effort: Effort,
    each_round: bool = False,
) -> Iterator[Results]:
    """All results of a report; with `each_round`, after every round, the last ones being final.

    A learner that fails, or has no time for its first round, is left out and listed; if all fail, that is an error.
    """
    clock = Clock(effort.seconds, effort.progress)
    plan = _planned(data, learners, networks, effort, clock)
    folds, records = plan.records(plan.folds, plan.learners), plan.records(plan.setup, plan.learners)
    ladder, early = effort.ladder(each_round), int(each_round and data.codes.size >= EARLY)
    rounds = early + 1 + len(ladder)
    base = _cross_validated(plan, folds, 1)
    if early and not clock.over:
        yield _named(plan, _early(plan, base), f"round 1 of at most {rounds}")
    if not clock.over:
        base = _cross_validated(plan, folds)
    base = results = _with_figures(plan, base)
    retrainings: dict[str, Retraining] = {}
    interrupted = False
    for number, splits in enumerate(ladder, start=early + 1):
        if clock.over:
            break
        if each_round:
            yield _named(plan, results, f"round {number} of at most {rounds}")
        with clock.stage("Refits", f"round {number + 1} of at most {rounds}, {splits} splits"), clock.limit():
            # At first one learner after another: if time ends, some are complete.
            complete = records.grow(list(plan.learners), splits, "refits", in_turn=splits == ladder[0])
        interrupted = records.interrupted and not clock.over
        if not complete:
            break
        if splits == ladder[0]:
            try:
                base, retrainings = _with_full_fits(plan, base)
            except KeyboardInterrupt:
                interrupted = True
                break
        if each_round and splits < ladder[-1]:
            results = _refitted(plan, base, results, records, retrainings, ladder[0])
    results = _refitted(plan, base, results, records, retrainings, ladder[0])
    yield _named(plan, results, interrupted=interrupted)


def _planned(
    data: Data, learners: Mapping[str, Any], networks: Mapping[str, NetworkQuality], effort: Effort, clock: Clock
) -> Plan:
    setup = _setup(data, effort, next(iter(learners.values())))
    with clock.stage("Trial fits"):
        usable, wrapped, failed = tried(learners, data, effort.seed)
    return Plan(
        data=data,
        given=learners,
        learners=usable,
        wrapped=wrapped,
        failed=failed,
        effort=effort,
        networks=networks,
        clock=clock,
        folds=fold_setup(data, effort, next(iter(learners.values())), data.per_row.groups),
        setup=setup,
        measured=sampled(data.codes, effort.limited(data.codes.size), effort.seed),
    )


def _setup(data: Data, effort: Effort, learner: Any) -> Setup:
    """Data, parts and probes of refits, checked once for all learners, before any fit."""
    groups, test = data.per_row.groups, data.test
    if test is not None:
        test = test.take(sampled(test.codes, effort.tested, effort.seed))
        if groups is not None and test.groups is not None:
            groups = np.concatenate([groups, test.groups])
    setup = prepare(
        learner,
        data.X,
        data.y,
        HalfSplits(4, None),
        effort.repeats,
        min(effort.test_size, effort.tested / data.codes.size),
        "uniform",
        effort.seed,
        effort.time_limit,
        effort.n_probes,
        groups=groups,
        time=data.per_row.time,
        sample_weight=None,
        X_test=None if test is None else test.X,
        y_test=None if test is None else test.y,
    )
    setup = _weighted(setup, data)
    half = setup.train.size // 2
    size = effort.limited(half)
    return replace(
        setup,
        scheme=HalfSplits(4, None if size >= half else size),
        own_points=effort.tested if half > effort.tested else None,
    )


def fold_setup(data: Data, effort: Effort, learner: Any, groups: Ints | None, points: Ints | None = None) -> Setup:
    """The folds of cross-validated predictions: of a large table, those of a sample; or of these `points` only."""
    points = sampled(data.codes, effort.tested, effort.seed) if points is None else points
    cv: Any = FOLDS
    if data.copies_together and groups is not None:
        # Groups of equal rows keep their order, by which they are dealt.
        fold = fold_of_rows(data.codes, FOLDS, effort.seed, data.per_row)
        cv = [(train_rows_of_fold(fold, part, data.per_row), np.flatnonzero(fold == part)) for part in range(FOLDS)]
    roles: dict[str, Any] = {"groups": groups, "time": data.per_row.time}
    scheme = Folds(cv, effort.rows, points)
    return _weighted(prepare(learner, data.X, data.y, scheme, 1, 0.5, None, effort.seed, None, 1, **roles), data)


def _weighted(setup: Setup, data: Data) -> Setup:
    """The setup with the weights of rows. Each learner is asked whether it takes them when it is tried."""
    weights = data.per_row.weights
    if weights is None:
        return setup
    padded = np.concatenate([weights, np.ones(setup.y.size - weights.size)])  # test rows need none
    return replace(setup, per_row=replace(setup.per_row, weights=padded))


# The first rounds: cross-validated predictions, then figures of the rows


def _cross_validated(plan: Plan, folds: RecordRounds, number: int | None = None) -> Results:
    """Predictions by fits that have not seen the rows, of so many folds or of all, as far as there is time for them."""
    failed, clock = dict(plan.failed), plan.clock
    with clock.stage("Cross-validated predictions", "" if number is None else "the first fold"):
        # Without one fold there is no report, so that this may take the time of the budget once more.
        predicted, errors, done = predictions_of(folds, clock, number, 1 if number is None else 2)
    unfinished = [name for name in plan.learners if name not in predicted and name not in errors]
    for name in unfinished:
        failed[name] = _not_finished("its cross-validated fits were not done", clock)
        clock.say(f"{name}: {failed[name]}")
    if plan.given and not set(plan.given) - set(failed) and not unfinished:
        refuse_none(failed)
    groups = {name: plan.data.groups_of(held.rows) for name, held in predicted.items()}
    return Results(
        data=plan.data,
        predicted={name: replace(held, groups=groups[name]) for name, held in predicted.items()},
        networks=dict(plan.networks),
        failed=failed,
        unfinished=tuple(unfinished),
        why={"slices": list(errors.values())[-1]} if errors else {},
        measured_rows=plan.measured,
        contrast=plan.effort.contrast,
        folds=(done, len(plan.folds.samples)),
    )


def _early(plan: Plan, base: Results) -> Results:
    """What a first page shows: every learner, by its metric."""
    why = base.why | dict.fromkeys(("complexity", "slices", "classes", "kinship"), LATER)
    checks = Suspicions(why=dict.fromkeys(("leaks", "dependence", "shift", "importance"), LATER))
    return with_metrics(replace(base, why=why, suspicions=checks), plan.effort.seed, plan.effort.metrics)


def _with_figures(plan: Plan, results: Results) -> Results:
    """The results with figures of the rows, and of predictions; they are made in any case, also after the deadline."""
    effort, seed, clock = plan.effort, plan.effort.seed, plan.clock
    with clock.stage("Figures of the rows"):
        results, _ = with_row_figures(results, plan.measured, seed)
    with clock.stage("Checks of the data"):
        results = replace(results, suspicions=suspicions_of(plan.data, plan.setup.test, seed, effort.progress))
    with clock.stage("Figures of predictions"):
        return with_predictions(results, seed, effort.metrics, effort.more_classes)


def _not_finished(what: str, clock: Clock) -> str:
    limit = "" if clock.seconds is None else f" ({time_text(clock.seconds)})"
    return f"Not finished: {what} when time was up{limit}. Use a larger budget, fewer rows, or a faster learner."


# After the first refits: what needs fits of nearly full size


def _with_full_fits(plan: Plan, base: Results) -> tuple[Results, dict[str, Retraining]]:
    """The effect of copies of rows, which columns count, and what a retraining changes, as far as there is time."""
    effort, clock = plan.effort, plan.clock
    with clock.stage("Importance of columns"):
        base = replace(base, with_copies=_with_copies(plan, base))
        relied, why = importance_of(plan.data, base.most_accurate, plan.learners, effort, clock)
        checks = base.suspicions
        missing = {"importance": why} if why else {}
        base = replace(base, suspicions=replace(checks, importance=relied, why=checks.why | missing))
    retrainings: dict[str, Retraining] = {}
    reasons: dict[str, str] = {}
    asked = [name for name in plan.learners if name not in effort.contrast]
    if effort.retrains:
        with clock.stage("Retraining", f"{effort.retrains} samples that share most rows"), clock.limit():
            for name in asked:
                change = retrained(plan.data, plan.learners[name], name, effort, clock)
                if isinstance(change, str):
                    reasons[f"retraining of {name}"] = change
                else:
                    retrainings[name] = change
    return replace(base, why=base.why | reasons), retrainings


def _with_copies(plan: Plan, base: Results) -> tuple[str, OutOfFold] | None:
    """Predictions of the most accurate learner with copies of rows on both sides, which shows how much they help."""
    data, best = plan.data, base.most_accurate
    if not data.copies_together or data.duplicates < COPIES * data.codes.size or best is None:
        return None
    learner = plan.learners[best]
    folds = plan.records(fold_setup(data, plan.effort, learner, groups=None), {best: learner}, progress=False)
    predicted, _, _ = predictions_of(folds, plan.clock)
    return (best, predicted[best]) if best in predicted and not folds.interrupted else None


# Results after a round


def _refitted(
    plan: Plan, base: Results, before: Results, records: RecordRounds, retrainings: Mapping[str, Retraining], first: int
) -> Results:
    """The results with those of refits, as far as they are through their first round of so many splits."""
    failed, why = base.failed | records.failed, dict(base.why)
    learners: dict[str, LearnerResults] = {}
    unfinished = list(base.unfinished)
    with plan.clock.stage("Figures of learners"):
        for name in [each for each in plan.learners if each not in records.failed]:
            splits = records.splits.get(name, 0)
            if splits < first:
                if name not in unfinished:
                    unfinished.append(name)
                    failed[name] = _not_finished(f"{splits} of {first} splits were done", plan.clock)
                continue
            known = before.learners.get(name)
            try:
                if known is None or len(known.labelings.labels) != 2 * splits:
                    known = _learner(plan, name, records, known, base.predicted.get(name))
                learners[name] = replace(known, retraining=retrainings.get(name))
            except InputError as mistake:
                failed[name] = str(mistake)
        if not learners and not base.predicted and not unfinished:
            refuse_none(failed)
        akin = kinship_of({name: one.labelings for name, one in learners.items()}, plan.effort.seed, why)
    return replace(base, learners=learners, kinship=akin, why=why, failed=failed, unfinished=tuple(unfinished))


def _learner(
    plan: Plan, name: str, records: RecordRounds, known: LearnerResults | None, held: OutOfFold | None
) -> LearnerResults:
    """The results of the refits of a learner; what does not depend on their number is taken from `known`."""
    learner = plan.learners[name]
    made = learner_results(name, records.record(name), plan.test_table, plan.effort.seed)
    effect: Estimate | None = None if known is None else known.more_iterations
    warned = any(isinstance(note, Note) and "Convergence" in note.subject for note in made.labelings.notes)
    if warned and effect is None and not plan.clock.over:
        effect = _more_iterations(plan, learner, held)
    return replace(
        made,
        wrapped=plan.wrapped.get(name, ""),
        votes_for_itself=votes_for_itself(learner),
        scales=scales(learner),
        more_iterations=effect,
    )


def _more_iterations(plan: Plan, learner: Any, held: OutOfFold | None) -> Estimate | None:
    """The share of predictions that ten times the iterations change, on one fold; None if that cannot be said."""
    longer, data = with_more_iterations(learner, MORE_ITERATIONS), plan.data
    if longer is None or held is None or held.fit_rows < held.available:
        return None
    here = plan.folds.points(plan.folds.samples[0])
    folds = fold_setup(data, plan.effort, longer, data.per_row.groups, here)
    alone = plan.records(folds, {"longer": longer}, executor=1, progress=False, store=None)
    try:
        predicted, _, _ = predictions_of(alone, plan.clock)
    except KeyboardInterrupt:  # what is done so far makes a report without it
        return None
    if not predicted:
        return None
    changed = predicted["longer"].labels != held.labels[np.searchsorted(held.rows, here)]
    return of_proportion_by_group(changed, data.groups_of(here))


def _named(plan: Plan, results: Results, preliminary: str = "", interrupted: bool = False) -> Results:
    """The results with the settings that made them. `preliminary` is the round if more follow."""
    data, contrast = plan.data, plan.effort.contrast
    given = [name for name in data.per_row.given if name != "groups" or not data.copies_together]
    settings = settings_of(
        plan.effort,
        plan.setup,
        min((len(one.labelings.labels) // 2 for one in results.learners.values()), default=0),
        plan.given,
        [*given, *(("X_test", "y_test") if data.test is not None else ())],
        folds=results.folds[0],
        measured_rows=int(plan.measured.size),
        tested_rows=next((held.rows.size for held in results.predicted.values()), int(plan.folds.test.size)),
        interrupted=interrupted,
        preliminary=preliminary,
        seconds=plan.clock.passed,
        stages=dict(plan.clock.stages),
        wrapped=dict(plan.wrapped),
    )
    return replace(
        results,
        settings=settings,
        failed={name: reason for name, reason in results.failed.items() if name not in contrast},
        contrast=contrast if set(results.names) - contrast else frozenset(),
    )
