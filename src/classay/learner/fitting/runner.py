"""`Recorder`: the fits of records and sweeps on any executor, without those already done, and the records of these.

`record` has one learner, rounds of a report several, a sweep groups of settings that share fits: all are groups of
points, and every point gets a record. Interruption, deadline, broken workers and resuming from a store are handled
here, once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine import archive, work
from ...engine.store import Chunks, Store
from ...estimators.adapters import has_seed, is_repeatable
from ...notes import Note
from ..records.base import Failure
from ..records.codecs import LabelCodec
from ..records.labelings import Labelings
from ..records.predictions import Predictions
from ..records.scores import KINDS, Scores, names_of
from .checkpoints import FORMAT, Place, Record, chunk_name, packed, record_key, stored_record, taken_up
from .checks import Setup
from .groups import FitGroup
from .provenance import DRAWING
from .task import Answers, Task, fit_group


@dataclass
class Recorder:
    """The fits on a setup, and the records of the points of its groups; `abouts` has the provenance of each.

    `described` adds to what each part in the store says of the whole. `in_turn`: group after group, so that the first
    are complete; otherwise sample after sample, so that all groups get equally far if time ends. `lost` says why tasks
    could not be run at all, if the executor broke. `first`: run only so many first samples; None: all.
    """

    setup: Setup
    abouts: Mapping[Any, dict[str, Any]]
    store: Store | None = None
    executor: Executor | int | None = None
    progress: bool = False
    label: str = ""
    isolate: bool = False
    in_turn: bool = False
    first: int | None = None
    described: Callable[[FitGroup], dict[str, Any]] | None = None
    interrupted: bool = False
    lost: str = ""
    _opened: list[Chunks] = field(default_factory=list)
    _keys: dict[Any, str] = field(default_factory=dict)

    # What a store has

    def key(self, point: Any) -> str:
        """The key of the record of a point."""
        if point not in self._keys:
            self._keys[point] = record_key(self.abouts[point], self.setup.time_limit)
        return self._keys[point]

    def stored(self, group: FitGroup, failed: Iterable[Any] = ()) -> dict[Any, Record]:
        """The records that are there. For a path that is not exact, all or none: they belong together."""
        if self.store is None:
            return {}
        records = {point: stored_record(self.store, self.key(point), self.setup) for point in group.points}
        there = {point: record for point, record in records.items() if record is not None}
        if not group.exact and set(group.points) - there.keys() - set(failed):
            return {}
        # Keys do not depend on names, so the stored one may be another.
        return {point: replace(record, about=self.abouts[point]) for point, record in there.items()}

    def keep(self, records: Mapping[Any, Record]) -> None:
        """Write complete records; their parts are removed by `discard`."""
        if self.store is not None:
            for point, record in records.items():
                self.store.put(self.key(point), record.KIND, *record.to_file())

    def discard(self, groups: Sequence[FitGroup] = ()) -> None:
        """Remove the parts of what was run, and of more groups."""
        for group in groups:
            self._chunks(group)
        for chunks in self._opened:
            chunks.remove()

    @property
    def parts(self) -> set[str]:
        """The names of the folders with parts that were used."""
        return {chunks.folder.name for chunks in self._opened}

    def _chunks(self, group: FitGroup) -> tuple[Chunks | None, dict[str, Any]]:
        """Where the parts of records that are fitted together are stored, and their description."""
        if self.store is None:
            return None, {}
        which = {"records": [self.key(point) for point in group.points], "path": group.kind, "chunks": FORMAT}
        about = self.abouts[group.points[0]] if self.described is None else self.described(group)
        chunks = Chunks(self.store, self.store.key(which))
        self._opened.append(chunks)
        return chunks, {**about, **which, "drawing": DRAWING}

    # Fits

    def run(self, groups: list[FitGroup], earlier: Iterable[Progress] = ()) -> list[Progress]:
        """Run everything that is not done. A group is split in two if only some of its values are deterministic.

        `earlier`: progress of the same groups, in the same order, on the first of the samples.
        """
        if groups and self.store is not None:
            self.store.expect_writable()
        repeats, several = self.setup.repeats, self.setup.repeats > 1
        states = [self._state(group, repeats, piloted=several and not group.free) for group in groups]
        for state in states:  # without a pilot, by what is known of the learner
            state.deterministic = not several and is_repeatable(state.group.learner)
        for state, known in zip(states, earlier):
            state.done |= known.done
            state.broken |= known.broken
        going = True
        while True:
            states = [part for state in states for part in self._by_determinism(state)]
            if not going:
                return states
            going = self._go(states) and not (self.interrupted or self.lost)

    def _state(self, group: FitGroup, refits: int, **more: Any) -> Progress:
        chunks, about = self._chunks(group)
        setup = self.setup.of(group.learner, group.free)
        state = Progress(group, setup, refits, chunks=chunks, about=about, **more)
        if chunks is not None:
            state.done |= taken_up(chunks, setup, len(group.values))
        return state

    def _by_determinism(self, state: Progress) -> list[Progress]:
        """The group as it is, or its deterministic values, with one refit per sample, and the rest."""
        same = state.same_twice()
        if len(set(same)) < 2:
            return [replace(state, refits=1, deterministic=True) if any(same) else state]
        cut: list[Progress] = []
        for agrees in (True, False):
            places = [place for place, is_same in enumerate(same) if is_same is agrees]
            refits = 1 if agrees else state.refits
            part = self._state(state.group.only(places), refits, piloted=True, deterministic=agrees)
            for task, answers in state.done.items():
                some = [answers[place] for place in places]
                # Warnings that both share are reported for one of them.
                part.done[task] = some if agrees else [replace(value, shared=[]) for value in some]
            part.broken |= state.broken
            part.lost |= state.lost
            cut.append(part)
        return cut

    def _go(self, states: list[Progress]) -> bool:
        """Run what is waiting; False if nothing was."""
        waiting = ((number, *place) for number, state in enumerate(states) for place in state.waiting())
        tasks: list[Task] = [task for task in waiting if self.first is None or task[1] < self.first]
        tasks.sort(key=lambda task: task if self.in_turn else (task[1], task[0], task[2]))
        if not tasks:
            return False
        was_open = [state.is_open() for state in states]

        def wanted(index: int) -> bool:
            number = tasks[index][0]
            # Once the pilot shows that refits differ, they are planned again, sample by sample.
            differ = was_open[number] and not all(states[number].same_twice())
            return not differ and not states[number].hopeless()

        def keep(index: int, answers: list[Answers]) -> None:
            number, sample, refits = tasks[index]
            states[number].keep((sample, refits), answers)

        setup = self.setup.with_rows_used()
        outcome = work.run(
            fit_group,
            tasks,
            shared=(setup, setup.samples, tuple(state.group for state in states)),
            executor=self.executor,
            on_result=keep,
            wanted=wanted,
            progress=self.progress,
            label=self.label,
            isolate=self.isolate or (self.setup.time_limit is not None and self.executor is None),
        )
        for index, failure in outcome.failures.items():
            number, sample, refits = tasks[index]
            if isinstance(failure, work.LostTask):
                states[number].lost[sample, refits] = str(failure)
                self.lost = failure.message
            else:
                states[number].fail((sample, refits), str(failure))
        self.interrupted = outcome.interrupted
        return bool(outcome.results or outcome.failures)

    # From answers to records

    def record(self, state: Progress, value: int = 0, whole: bool = False) -> Record | str:
        """The record of one of the points of a group, or the error if there is no prediction; "" if nothing was run.

        `whole`: only of the samples whose refits have all ended; otherwise those that were not run are missing.
        """
        numbers = [number for number in range(len(state.setup.samples)) if not whole or state.whole(number)]
        answers = [state.answer(value, number) for number in numbers]
        known = any(state.setup.codec.known(answer.test).any() for answer in answers)
        if state.hopeless([value]) or not known:
            return next((error for answer in answers for error in answer.errors.values()), "")
        setup = replace(state.setup, samples=tuple(state.setup.samples[number] for number in numbers))
        incomplete = self.interrupted and not (whole and len(numbers) == len(state.setup.samples))
        made = _joined(setup, answers, state.refits)
        notes = [*setup.notes, *setup.of_samples, *_notes(setup, made, answers, state.deterministic, incomplete)]
        about = self.abouts[state.group.points[value]]
        return replace(made, deterministic=state.deterministic, interrupted=incomplete, notes=tuple(notes), about=about)


def _notes(
    setup: Setup, made: Record, answers: list[Answers], deterministic: bool, interrupted: bool
) -> Iterable[Note]:
    """What users should know of the refits of a record."""
    failed, missing, refits = len(made.failures), int((~made.present).sum()), made.present.size
    if deterministic and has_seed(setup.learner):
        yield Note("seed-fixed")
    if interrupted:
        yield Note("refits-not-run", count=missing - failed, refits=refits)
    if failed:
        yield Note("refits-failed", count=failed, refits=refits)
    if setup.probes is not None and made.probes is None:
        yield Note("probes-not-stored")
    if isinstance(made, Labelings) and made.scores is not None:
        without = int((made.present & ~made.scores.present).sum())
        if without:
            yield Note("scores-missing", count=without, refits=refits)
    # The refit that showed a learner to be deterministic is not among the refits of the record.
    kept = (refit for answer in answers for refit in answer.warnings[: made.present.shape[1]])
    yield from most_common((text for refit in kept for text in refit), refits)


def most_common(warnings: Iterable[str], refits: int, most: int = 3) -> list[Note]:
    """The most frequent warnings, each with how many of the refits gave it."""
    counts = sorted(Counter(warnings).items(), key=lambda item: (-item[1], item[0]))
    return [Note("refits-warned", text, count=times, refits=refits) for text, times in counts[:most]]


def _joined(setup: Setup, answers: list[Answers], refits: int) -> Record:
    """The answers of all samples as the arrays of one record."""
    shape = (len(answers), refits)
    arrays = {
        name: np.stack([answer.arrays[name][:refits] for answer in answers])
        for name in answers[0].arrays
        if name not in ("test", "scores")
    }
    on_test, predicted = setup.codec.empty((*shape, setup.test.size)), None
    if setup.masked:
        predicted = np.stack([np.isin(setup.test, setup.points(sample)) for sample in setup.samples])
    for number, answer in enumerate(answers):
        on_test[number][:, slice(None) if predicted is None else predicted[number]] = answer.test[:refits]
    failures = [
        Failure(number, repeat, error)
        for number, answer in enumerate(answers)
        for repeat, error in sorted(answer.errors.items())
    ]
    can_keep = setup.probes is not None and archive.pack_table(setup.probes, "probes") is not None
    common: dict[str, Any] = {
        "truth": setup.codec.truth(setup.y[setup.test]),
        "seconds": arrays["seconds"],
        "complexity": arrays["complexity"],
        "train_rows": tuple(sample.rows for sample in setup.samples),
        "test_rows": setup.test,
        "probes": setup.probes if can_keep else None,
        "failures": tuple(failures),
        "groups": setup.test_groups,
        "probe_groups": setup.probe_groups,
        "predicted": predicted,
    }
    if not isinstance(setup.codec, LabelCodec):
        return Predictions(values=on_test, train_rmse=arrays["quality"], probe_values=arrays.get("probes"), **common)
    labelings = Labelings(
        labels=on_test,
        classes=setup.codec.classes,
        train_accuracy=arrays["quality"],
        probe_labels=arrays.get("probes"),
        **common,
    )
    if setup.scores is None or not arrays["score_kinds"].any():
        return labelings
    scored = [answer.arrays["scores"][:refits] for answer in answers]
    if setup.masked:  # in the order of fits and points
        return replace(labelings, full_scores=np.concatenate(scored, axis=1))
    return _with_scores(setup, labelings, np.stack(scored), arrays.get("probe_scores"), arrays["score_kinds"])


def _with_scores(
    setup: Setup, labelings: Labelings, test: NDArray[Any], probes: NDArray[Any] | None, kinds: NDArray[Any]
) -> Labelings:
    """The record with scores on test points and probes; if refits gave different kinds, the more frequent one's."""
    assert setup.scores is not None
    kind = 1 + int(np.argmax(np.bincount(kinds.ravel(), minlength=len(KINDS))[1:]))
    columns = names_of(setup.scores.classes, setup.scores.compact)
    for values in (test, probes):
        if values is not None:
            values[kinds != kind] = np.nan
    on_probes = None if probes is None else Scores(probes, KINDS[kind], columns)
    return replace(labelings, scores=Scores(test, KINDS[kind], columns), probe_scores=on_probes)


# A group of settings and its progress: its tasks, their answers, and the chunks that store them.


HOPELESS = 3
"""If every refit of this many first samples failed, the rest is not tried."""
PILOT: Place = (0, (0, 1))
"""Whether two refits agree is checked on sample 0 alone, so that it cannot depend on the order of the tasks."""
BUSY = 200
"""Tasks of a group with a path; with fewer samples, their refits are split, so that no worker waits long."""


@dataclass
class Progress:
    """A group with `refits` of each sample; what is `done`, `broken` (and why) or `lost`, by sample and refits.

    A broken task killed its worker; a lost one could not run because the executor broke, and can be run again.

    `piloted`: the first task of sample 0 is the `PILOT`, and that of the others has one refit. `about`: the description
    of the whole that each chunk contains, for those who inspect the store.
    """

    group: FitGroup
    setup: Setup
    refits: int
    piloted: bool = False
    deterministic: bool = False
    chunks: Chunks | None = None
    about: dict[str, Any] = field(default_factory=dict)
    done: dict[Place, list[Answers]] = field(default_factory=dict)
    broken: dict[Place, str] = field(default_factory=dict)
    lost: dict[Place, str] = field(default_factory=dict)

    def places(self, sample: int) -> list[Place]:
        """The tasks of a sample, in order, whether done or not."""
        first = PILOT[1][: 2 if sample == 0 else 1] if self.piloted else ()
        rest = range(len(first), self.refits)
        number = 1 if self.group.path is None else -(-BUSY // len(self.setup.samples))
        parts = np.array_split(np.array(rest), min(number, len(rest))) if rest else []
        return [(sample, refits) for refits in (first, *(tuple(part.tolist()) for part in parts)) if refits]

    def waiting(self) -> list[Place]:
        """The tasks to run next; until the pilot has shown whether refits differ, the first of every sample."""
        if self.hopeless():
            return []
        number = 1 if self.is_open() else None
        every = (place for sample in range(len(self.setup.samples)) for place in self.places(sample)[:number])
        return [place for place in every if place not in self.done and place not in self.broken]

    def is_open(self) -> bool:
        """Whether it is not known yet if refits differ."""
        return self.piloted and PILOT not in self.done and PILOT not in self.broken

    def same_twice(self) -> list[bool]:
        """Whether the two refits of the pilot agree, at each value; empty without a pilot."""
        pilot = self.done.get(PILOT, []) if self.piloted else []
        return [answer.same_twice() for answer in pilot]

    def keep(self, place: Place, answers: list[Answers]) -> None:
        """Accept the result of a task, and write it to the store."""
        self.done[place] = answers
        if self.chunks is not None:
            self.chunks.put(chunk_name(*place), *packed(answers, self.about, self._tasks()))

    def _tasks(self) -> int:
        """How many tasks there are, as far as is known."""
        same = self.same_twice()
        state = replace(self, refits=1) if same and all(same) else self
        return len(state.places(0)) + (len(self.setup.samples) - 1) * len(state.places(1))

    def fail(self, place: Place, why: str) -> None:
        """A task could not be run. If it is a first refit, the next ones would fail too."""
        places = self.places(place[0])
        self.broken |= dict.fromkeys(places if self.piloted and place == places[0] else [place], why)

    def whole(self, sample: int) -> bool:
        """Whether all tasks of a sample have ended."""
        return all(place in self.done or place in self.broken for place in self.places(sample))

    def answer(self, value: int, sample: int) -> Answers:
        """The predictions of all refits of a sample at one value; those that were not run are empty."""
        answers, *more = [self._part(value, place) for place in self.places(sample)]
        for part in more:
            answers = answers.joined(part)
        return answers

    def hopeless(self, values: Iterable[int] | None = None) -> bool:
        """Whether every refit of the first samples raised an error, at some values or at all."""
        chosen = range(len(self.group.values)) if values is None else list(values)
        early = [place for sample in range(min(HOPELESS, len(self.setup.samples))) for place in self.places(sample)]
        return all(
            place in self.done and all(self.done[place][value].all_failed for value in chosen) for place in early
        )

    def _part(self, value: int, place: Place) -> Answers:
        if place in self.done:
            return self.done[place][value]
        part = Answers.empty(self.setup, self.setup.samples[place[0]], len(place[1]))
        why = self.broken.get(place) or self.lost.get(place)
        return part if why is None else replace(part, errors=dict.fromkeys(place[1], why))
