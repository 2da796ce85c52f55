"""All fits of a record or a sweep: the tasks of its groups on any executor, without those already done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine import work
from ...engine.store import Chunks
from .checkpoints import Place, chunk_name, packed, taken_up
from .checks import Setup
from .groups import FitGroup
from .task import Bench, FitJob, GroupAnswers, GroupTask, SubsetAnswers, fit_group

Opened = tuple[Chunks | None, dict[str, Any]]


@dataclass
class FitRunner:
    """The fits on prepared data. `opened` gives the chunks of a group, and their description.

    `lost` says why tasks could not be run at all, if the executor broke.
    """

    setup: Setup
    subsets: list[NDArray[np.int64]]
    executor: Executor | int | None
    progress: bool
    label: str
    opened: Callable[[FitGroup], Opened]
    interrupted: bool = False
    lost: str = ""
    isolate: bool = False
    in_turn: bool = False

    def run(self, groups: list[FitGroup], earlier: Iterable[GroupProgress] = ()) -> list[GroupProgress]:
        """Run everything that is not done. A group is split in two if only some of its values are deterministic.

        `earlier`: progress of the same groups, in the same order, on the first of the subsets.
        """
        repeats = self.setup.repeats
        states = [self._state(group, repeats, piloted=not group.free and repeats > 1) for group in groups]
        for state, known in zip(states, earlier):
            state.done |= known.done
            state.broken |= known.broken
        going = True
        while True:
            states = [part for state in states for part in self._by_determinism(state)]
            if not going:
                return states
            going = self._go(states) and not (self.interrupted or self.lost)

    def _state(self, group: FitGroup, refits: int, **more: Any) -> GroupProgress:
        chunks, about = self.opened(group)
        state = GroupProgress(group, len(self.subsets), refits, chunks=chunks, about=about, **more)
        state.take_up(self.setup.bench(self.setup.learner))
        return state

    def _by_determinism(self, state: GroupProgress) -> list[GroupProgress]:
        """The group as it is, or its deterministic values, with one refit per subset, and the rest."""
        same = state.same_twice()
        if len(set(same)) < 2:
            return [replace(state, refits=1, deterministic=True) if any(same) else state]
        cut: list[GroupProgress] = []
        for agrees in (True, False):
            places = [place for place, is_same in enumerate(same) if is_same is agrees]
            refits = 1 if agrees else state.refits
            part = self._state(state.group.only(places), refits, piloted=True, deterministic=agrees)
            # Warnings that both share are reported for one of them.
            part.done |= {place: answers.only(places, warnings=agrees) for place, answers in state.done.items()}
            part.broken |= state.broken
            part.lost |= state.lost
            cut.append(part)
        return cut

    def _go(self, states: list[GroupProgress]) -> bool:
        """Run what is waiting; False if nothing was.

        By subset, so that all groups get equally far if time ends, or `in_turn`, so that the first are complete.
        """
        tasks: list[GroupTask] = [(number, *place) for number, state in enumerate(states) for place in state.waiting()]
        tasks.sort(key=lambda task: task if self.in_turn else (task[1], task[0], task[2]))
        if not tasks:
            return False
        was_open = [state.is_open() for state in states]

        def wanted(index: int) -> bool:
            number = tasks[index][0]
            # Once the pilot shows that refits differ, they are planned again, subset by subset.
            differ = was_open[number] and not all(states[number].same_twice())
            return not differ and not states[number].hopeless()

        def keep(index: int, answers: GroupAnswers) -> None:
            number, subset, refits = tasks[index]
            states[number].keep((subset, refits), answers)

        outcome = work.run(
            fit_group,
            tasks,
            shared=FitJob(
                self.setup.bench(self.setup.learner), tuple(self.subsets), tuple(state.group for state in states)
            ),
            executor=self.executor,
            on_result=keep,
            wanted=wanted,
            progress=self.progress,
            label=self.label,
            isolate=self.isolate or (self.setup.time_limit is not None and self.executor is None),
        )
        for index, failure in outcome.failures.items():
            number, subset, refits = tasks[index]
            if isinstance(failure, work.LostTask):
                states[number].lost[subset, refits] = str(failure)
                self.lost = failure.message
            else:
                states[number].fail((subset, refits), str(failure))
        self.interrupted = outcome.interrupted
        return bool(outcome.results or outcome.failures)


def alone(setup: Setup) -> FitGroup:
    """The group of a single learner with its own settings: a record is a sweep over one value."""
    return FitGroup((None,), setup.learner, "", (None,), None, setup.bench(setup.learner).free)


# A group of settings and its progress: its tasks, their predictions, and the chunks that store them.


HOPELESS = 3
"""If every refit of this many first subsets failed, the rest is not tried."""
PILOT: Place = (0, (0, 1))
"""Whether two refits agree is checked on subset 0 alone, so that it cannot depend on the order of the tasks."""
BUSY = 200
"""Tasks of a group with a path; with fewer subsets, their refits are split, so that no worker waits long."""


@dataclass
class GroupProgress:
    """A group with `refits` of each subset; what is `done`, `broken` (and why) or `lost`, by subset and refits.

    A broken task killed its worker; a lost one could not run because the executor broke, and can be run again.

    `piloted`: the first task of subset 0 is the `PILOT`, and that of the others has one refit. `about`: the description
    of the whole that each chunk contains, for those who inspect the store.
    """

    group: FitGroup
    n_subsets: int
    refits: int
    piloted: bool = False
    deterministic: bool = False
    chunks: Chunks | None = None
    about: dict[str, Any] = field(default_factory=dict)
    done: dict[Place, GroupAnswers] = field(default_factory=dict)
    broken: dict[Place, str] = field(default_factory=dict)
    lost: dict[Place, str] = field(default_factory=dict)

    def places(self, subset: int) -> list[Place]:
        """The tasks of a subset, in order, whether done or not."""
        first = PILOT[1][: 2 if subset == 0 else 1] if self.piloted else ()
        rest = range(len(first), self.refits)
        number = 1 if self.group.path is None else -(-BUSY // self.n_subsets)
        parts = np.array_split(np.array(rest), min(number, len(rest))) if rest else []
        return [(subset, refits) for refits in (first, *(tuple(part.tolist()) for part in parts)) if refits]

    def waiting(self) -> list[Place]:
        """The tasks to run next; until the pilot has shown whether refits differ, the first of every subset."""
        if self.hopeless():
            return []
        number = 1 if self.is_open() else None
        every = (place for subset in range(self.n_subsets) for place in self.places(subset)[:number])
        return [place for place in every if place not in self.done and place not in self.broken]

    def is_open(self) -> bool:
        """Whether it is not known yet if refits differ."""
        return self.piloted and PILOT not in self.done and PILOT not in self.broken

    def same_twice(self) -> list[bool]:
        """Whether the two refits of the pilot agree, at each value; empty without a pilot."""
        pilot = self.done.get(PILOT) if self.piloted else None
        return [] if pilot is None else [answer.same_twice() for answer in pilot.by_value]

    def keep(self, place: Place, answers: GroupAnswers) -> None:
        """Accept the result of a task; with a store, write it there first."""
        if self.chunks is not None:
            tasks = self._tasks(answers if place == PILOT else None)
            self.chunks.put(chunk_name(*place), *packed(answers.by_value, answers.warnings, self.about, tasks))
        self.done[place] = answers

    def _tasks(self, pilot: GroupAnswers | None) -> int:
        """How many tasks there are, as far as is known; `pilot` is the result of the pilot if it has just arrived."""
        same = self.same_twice() if pilot is None else [answer.same_twice() for answer in pilot.by_value]
        state = replace(self, refits=1) if self.piloted and same and all(same) else self
        return len(state.places(0)) + (self.n_subsets - 1) * len(state.places(1))

    def fail(self, place: Place, why: str) -> None:
        """A task could not be run. If it is a first refit, the next ones would fail too."""
        places = self.places(place[0])
        self.broken |= dict.fromkeys(places if self.piloted and place == places[0] else [place], why)

    def take_up(self, bench: Bench) -> None:
        """Load what an earlier run has left in the store."""
        if self.chunks is not None:
            stored = taken_up(self.chunks, bench, len(self.group.values))
            self.done |= {place: GroupAnswers(*part) for place, part in stored.items()}

    def whole(self, subset: int) -> bool:
        """Whether all tasks of a subset have ended."""
        return all(place in self.done or place in self.broken for place in self.places(subset))

    def begun(self, subset: int) -> bool:
        """Whether any task of a subset has ended."""
        return any(place in ended for ended in (self.done, self.broken, self.lost) for place in self.places(subset))

    def answer(self, bench: Bench, value: int, subset: int) -> SubsetAnswers:
        """The predictions of all refits of a subset at one value; those that were not run are empty."""
        parts = [self._part(bench, value, place) for place in self.places(subset)]
        answers = parts[0]
        for part in parts[1:]:
            answers = answers.joined(part)
        return answers

    def hopeless(self, values: Iterable[int] | None = None) -> bool:
        """Whether every refit of the first subsets raised an error, at some values or at all."""
        chosen = range(len(self.group.values)) if values is None else list(values)
        early = [place for subset in range(min(HOPELESS, self.n_subsets)) for place in self.places(subset)]
        return all(
            place in self.done and all(_all_failed(self.done[place].by_value[value]) for value in chosen)
            for place in early
        )

    def _part(self, bench: Bench, value: int, place: Place) -> SubsetAnswers:
        if place in self.done:
            return self.done[place].by_value[value]
        part = SubsetAnswers.empty(bench, place[0], len(place[1]))
        why = self.broken.get(place) or self.lost.get(place)
        if why is not None:
            part.errors.update(dict.fromkeys(place[1], why))
        return part


def _all_failed(answer: SubsetAnswers) -> bool:
    return len(answer.errors) == len(answer.seconds)
