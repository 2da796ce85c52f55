"""The work behind `characterize`: groundwork, then rounds of refits until the budget ends, with results after each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..expect import InputError
from ..intervals import Estimate
from ..learner.rounds import RecordRounds
from ..learner.scores.retrain_change import Retraining
from ..network.quality.quality import NetworkQuality
from ..notes import Note
from .budget import AT_LATEST, SPLITS, BudgetSettings, next_round
from .cross_validated import HeldOut
from .derived import classes_of, kinship_of, learner_results
from .groundwork import FitSettings, Groundwork
from .metric import ACCURACY, RANKING, Scored, metric_for, scored
from .reproduction import Fitted, settings_of
from .results import DataResults, LearnerResults, Results
from .retrained import retrained, samples_for
from .traits import scales, votes_for_itself

LEAST_SPLITS = 4
"""Fewest splits from which figures are made."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is asked of the results: metrics, whether to forecast more classes, learners that are only a contrast.

    The first of the metrics is what learners are compared by.
    """

    metrics: tuple[str, ...] = ()
    more_classes: bool | None = None
    contrast: frozenset[str] = frozenset()

    @property
    def keywords(self) -> dict[str, Any]:
        """What was given, as keywords of `characterize`."""
        metrics = {"metric": list(self.metrics) if len(self.metrics) > 1 else self.metrics[0]} if self.metrics else {}
        return metrics | ({} if self.more_classes is None else {"more_classes": self.more_classes})


def measure(
    data: DataResults,
    learners: Mapping[str, Any],
    networks: Mapping[str, NetworkQuality],
    budget: BudgetSettings,
    settings: FitSettings,
    command: str | None = None,
    each_round: bool = False,
    wanted: Wanted | None = None,
) -> Iterator[Results]:
    """All results of a report; with `each_round`, after every round of refits, the last ones being final.

    A learner that fails is left out; if all fail, that is an error.
    """
    wanted = wanted or Wanted()
    ground = Groundwork(data, learners, budget, settings, wanted.contrast)
    ground.lay()
    yield from _Rounds(ground, networks, command, wanted).run(each_round)


class _Rounds:
    """Rounds of refits in a fixed order: each adds splits to those that are done."""

    def __init__(
        self, ground: Groundwork, networks: Mapping[str, NetworkQuality], command: str | None, wanted: Wanted
    ) -> None:
        self.ground, self.networks, self.command, self.wanted = ground, networks, command, wanted
        self.budget, self.clock, self.stages = ground.budget, ground.clock, ground.stages
        self.records = RecordRounds(
            ground.setup,
            ground.learners,
            ground.settings.executor,
            ground.settings.store,
            ground.settings.progress,
            ground.isolate,
        )
        self.made: dict[str, tuple[int, LearnerResults]] = {}
        self.iterated: dict[str, Estimate | None] = {}
        self.retrainings: dict[str, Retraining] = {}
        self.samples = 0
        self.kept: dict[tuple[str, ...], Any] = {}
        self.page_seconds: float | None = None
        self.test_table = ground.test_table

    def run(self, each_round: bool) -> Iterator[Results]:
        """Results after each round, until the splits that were asked for are done, or time is up."""
        ladder, ground = self._ladder(each_round), self.ground
        names = ground.going
        for number, splits in enumerate(ladder, start=1):
            wanted = [name for name in names if (self._asked(name) or splits) >= splits]
            more = {name: splits - self.records.splits.get(name, 0) for name in wanted}
            begin = self.clock.passed
            with self.stages.stage("Refits", f"round {number} of at most {len(ladder)}, {splits} splits"):
                self.records.executor = ground.executor(ground.refit_seconds(more))
                # First of all, one learner after another: if time ends, some are complete.
                order = sorted(wanted, key=lambda name: ground.refit_seconds({name: 1})) if number == 1 else wanted
                complete = self.records.grow(order, splits, self._stop(), "refits", in_turn=number == 1)
            ground.failed |= self.records.failed
            ground.refuse_none()
            if number == 1 and complete:
                self._retrain()
            if not complete or number == len(ladder):
                break
            names = self._next(ladder[number], more, self.clock.passed - begin, each_round)
            if not names:
                break
            if each_round:
                begin = self.clock.passed
                yield self._results(f"round {number} of at most {len(ladder)}")
                # With the time that the page took outside, until the next result was asked for.
                self.page_seconds = self.clock.passed - begin
        yield self._results("")

    def _retrain(self) -> None:
        """What a retraining changes, of the learners that were asked for, as far as there is time."""
        ground = self.ground
        names = [name for name in ground.going if name not in self.wanted.contrast]
        self.samples = samples_for(ground, names, self.clock.left - self._page())
        if not self.samples:
            return
        with self.stages.stage("Retraining", f"{self.samples} samples that share most rows"):
            for name in names:
                found = retrained(ground, name, self.samples)
                if isinstance(found, str):
                    ground.why[f"retraining of {name}"] = found
                else:
                    self.retrainings[name] = found

    @property
    def _is_open(self) -> bool:
        """Whether the budget decides on the number of splits."""
        return self.budget.splits is None and self.budget.seconds is not None

    def _ladder(self, each_round: bool) -> list[int]:
        """Numbers of splits, round by round."""
        if self._is_open:
            return list(SPLITS)
        targets = {self._asked(name) or SPLITS[-1] for name in self.ground.going}
        between = {splits for splits in SPLITS if splits < max(targets)} if each_round else set()
        return sorted(targets | between)

    def _asked(self, name: str) -> int | None:
        """The number of splits that was asked for."""
        return self.budget.splits_of.get(name, self.budget.splits)

    def _stop(self) -> Callable[[], bool] | None:
        """Whether time is up. One learner gets its first splits in any case, unless that takes far too long."""
        if not self._is_open:
            return None
        first, start = not self.records.splits, self.clock.passed

        def stop() -> bool:
            if not self.clock.after(1 - self._page() / self.clock.seconds, start):
                return False
            nothing_yet = first and self.records.most_complete() < LEAST_SPLITS
            return not nothing_yet or self.clock.after(AT_LATEST, start)

        return stop

    def _page(self) -> float:
        """Seconds to keep for figures and the page."""
        return self.ground.first_page if self.page_seconds is None else 1.2 * self.page_seconds

    def _next(self, splits: int, more: Mapping[str, int], seconds: float, each_round: bool) -> list[str]:
        """The learners that go on to the next round; the last one added `more` splits in so many seconds."""
        if not self._is_open:
            return self.ground.going
        times = {name: self.records.seconds(name) / self.ground.workers for name in self.ground.going if name in more}
        # Besides fits there are copies of rows, and waiting.
        ideal = sum(times[name] * more[name] for name in times)
        factor = max(seconds / ideal, 1.0) if ideal > 0 else 1.0
        left = self.clock.left - self._page() * (2 if each_round else 1)
        slowed = {name: factor * each for name, each in times.items()}
        names, _ = next_round(slowed, self.records.splits, splits, left)
        for name in times:
            if names and name not in names:
                has = self.records.splits[name]
                self.stages.say(f"{name} is too slow for {splits} splits in this budget; it stays at {has}.")
        return names

    def _results(self, preliminary: str) -> Results:
        """All results of what is done. `preliminary` is the round if more follow."""
        ground, seed = self.ground, self.ground.settings.seed
        why, failed = dict(ground.why), dict(ground.failed)
        by_learner: dict[str, LearnerResults] = {}
        with self.stages.stage("Figures of learners"):
            for name in ground.going:
                splits = self.records.splits.get(name, 0)
                if splits < LEAST_SPLITS:
                    failed[name] = self._unfinished(name, splits)
                    continue
                try:
                    by_learner[name] = self._learner(name, splits)
                except InputError as mistake:
                    failed[name] = str(mistake)
            if not by_learner and self.records.interrupted:
                raise KeyboardInterrupt
            if not by_learner:
                reasons = " ".join(f"{name}: {reason}" for name, reason in failed.items())
                raise InputError(f"No learner gave results. {reasons}")
            akin = kinship_of({name: one.labelings for name, one in by_learner.items()}, seed, why)
            predicted = {name: ground.held_out[name] for name in ground.learners if name in ground.held_out}
            classes = classes_of(ground.data, predicted, why, self.wanted.more_classes)
            # Also of learners that had no time for refits: how accurate they are is known.
            full = {name: each for name, each in ground.held_out.items() if each.is_full}
            metric = metric_for(next(iter(self.wanted.metrics), None), full, ground.data)
            by_metric = {
                each: {name: found for name, one in full.items() if (found := self._scored(each, name, one))}
                for each in dict.fromkeys((metric, *self.wanted.metrics, *_usual_metrics(ground.data)))
            }
        return Results(
            data=ground.data,
            learners=by_learner,
            predicted=predicted,
            slices=ground.found_slices,
            kinship=akin,
            complexity=ground.complexity,
            classes=classes,
            networks=dict(self.networks),
            failed={name: reason for name, reason in failed.items() if name not in self.wanted.contrast},
            why=ground.why_no_slices | why,
            settings=self._settings(by_learner, preliminary),
            slow=tuple(name for name in failed if name in ground.slow),
            measured_rows=ground.measured,
            test_table=self.test_table,
            kept=self.kept,
            with_copies=ground.with_copies,
            suspicions=ground.suspicions,
            checks=ground.checks,
            unlike=ground.unlike,
            metric=metric,
            scored=by_metric.pop(metric),
            more_metrics=by_metric,
            contrast=self.wanted.contrast if set(by_learner) - self.wanted.contrast else frozenset(),
        )

    def _scored(self, metric: str, name: str, held: HeldOut) -> Scored | None:
        """The metric of a learner, computed once."""
        key = (metric, name)
        if key not in self.kept:
            self.kept[key] = scored(metric, name, held, self.ground.data, self.ground.settings.seed)
        found: Scored | None = self.kept[key]
        return found

    def _learner(self, name: str, splits: int) -> LearnerResults:
        """The results of a learner, made once for each number of splits."""
        if name not in self.made or self.made[name][0] != splits:
            ground, learner = self.ground, self.ground.learners[name]
            results = learner_results(
                name,
                self.records.record(name),
                self.test_table,
                ground.settings.seed,
                ground.wrapped.get(name, ""),
            )
            self.made[name] = (
                splits,
                replace(
                    results,
                    votes_for_itself=votes_for_itself(learner),
                    scales=scales(learner),
                    more_iterations=self._more_iterations(results),
                    retraining=self.retrainings.get(name),
                ),
            )
        return self.made[name][1]

    def _more_iterations(self, results: LearnerResults) -> Estimate | None:
        """What more iterations would change, if fits did not converge; measured once."""
        if not any(isinstance(note, Note) and "Convergence" in note.subject for note in results.labelings.notes):
            return None
        if results.name not in self.iterated:
            self.iterated[results.name] = self.ground.more_iterations(results.name)
        return self.iterated[results.name]

    def _unfinished(self, name: str, splits: int) -> str:
        if self.records.interrupted:
            return f"Interrupted after {splits} splits; figures need at least {LEAST_SPLITS}."
        what = f"{splits} splits were done when time was up"
        return self.ground.too_slow(name, what, 3 * self.clock.seconds)

    def _settings(self, by_learner: Mapping[str, LearnerResults], preliminary: str) -> dict[str, Any]:
        ground = self.ground
        splits = {name: self.records.splits[name] for name in by_learner}
        usual = max(splits.values())
        # A learner that failed of itself fails again; one that lacked time is left out.
        fewer = {name: number for name, number in splits.items() if number < usual} | dict.fromkeys(ground.slow, 0)
        rows = {name: ground.fold_rows.get(name) for name in by_learner}
        known = [each for each in rows.values() if each is not None]
        usual_rows = max(known) if len(known) == len(rows) else None
        fewer_rows = {name: each for name, each in rows.items() if each is not None and each != usual_rows}
        fitted = Fitted(
            splits=usual,
            repeats=ground.setup.repeats,
            size=ground.size,
            n_probes=int(ground.setup.probes.shape[0]),
            fold_rows=usual_rows,
            test_points=ground.test_points,
            half=ground.half,
            test=ground.setup.test.size,
            retrains=self.samples,
            fewer_splits=fewer,
            fewer_fold_rows=fewer_rows,
        )
        return settings_of(
            fitted,
            self.budget,
            test_size=ground.settings.test_size,
            seed=ground.settings.seed,
            workers=ground.workers,
            learners=ground.given,
            wrapped=ground.wrapped,
            given=[
                *(name for name in ground.data.per_row.given if name != "groups" or not ground.data.copies_together),
                *(("X_test", "y_test") if ground.data.test is not None else ()),
            ],
            command=self.command,
            asked=self.wanted.keywords,
            rows=ground.rows,
            half=ground.half,
            measured_rows=int(ground.measured.size),
            tested_rows=int(ground.folds.tested.size),
            interrupted=self.records.interrupted,
            preliminary=preliminary,
            seconds=self.clock.passed,
            stages=dict(self.stages.seconds),
        )


def _usual_metrics(data: DataResults) -> tuple[str, ...]:
    """What a page shows besides the metric that was asked for, as far as it costs nothing."""
    return (ACCURACY, RANKING) if data.classes.size == 2 else (ACCURACY,)
