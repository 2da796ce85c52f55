"""All fits of a sweep: the tasks of its strands on any executor, less what is done already."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine import work
from ..engine.chunks import Chunks
from ..expect import InputError
from .answer_chunks import Place
from .preparing import Prepared
from .record import HOPELESS
from .sweep_line import PILOT, Line
from .sweep_refit import Strip, SweepBench, Task, refit_strand
from .sweep_strands import Strand

Opened = tuple[Chunks | None, dict[str, Any]]


@dataclass
class Sweeping:
    """The fits of a sweep on prepared data. `opened` gives the chunks of a strand, and what they say of the whole."""

    given: Prepared
    subsets: list[NDArray[np.int64]]
    executor: Executor | int | None
    progress: bool
    label: str
    opened: Callable[[Strand], Opened]
    interrupted: bool = False

    def run(self, strands: list[Strand]) -> list[Line]:
        """Do all that is not done. A strand becomes two lines where some of its values are deterministic, some not."""
        repeats = self.given.repeats
        lines = [self._line(strand, repeats, piloted=not strand.free and repeats > 1) for strand in strands]
        # With the pilots, the first refit of every other subset: it is needed whatever they tell.
        self._until_done(lines, lambda line: line.firsts() if line.piloted else [], Line.fails_from_the_start)
        lines = [part for line in lines for part in self._by_determinism(line)]
        self._until_done(lines, Line.waiting, Line.hopeless)
        return lines

    def _until_done(
        self, lines: list[Line], waiting: Callable[[Line], list[Place]], hopeless: Callable[[Line], bool]
    ) -> None:
        """Run what is waiting of each line. A line of which nothing can be fitted is given up; the others go on."""
        # An earlier run may have seen that already.
        given_up = {number for number, line in enumerate(lines) if hopeless(line)}
        while not self.interrupted:
            # By subset, so that all lines have got as far when it is interrupted.
            tasks = sorted(
                (place[0], number, place[1])
                for number, line in enumerate(lines)
                if number not in given_up
                for place in waiting(line)
            )
            if not self._go(lines, [(number, subset, refits) for subset, number, refits in tasks], given_up, hopeless):
                break

    def _line(self, strand: Strand, refits: int, **more: Any) -> Line:
        chunks, about = self.opened(strand)
        line = Line(strand, len(self.subsets), refits, chunks=chunks, about=about, **more)
        line.take_up()
        return line

    def _by_determinism(self, line: Line) -> list[Line]:
        """The line as it is, or what is deterministic of it, with one refit a subset, and the rest."""
        if PILOT in line.broken:
            # What killed its worker twice would do so again.
            line.broken |= dict.fromkeys(line.places(0), line.broken[PILOT])
        pilot = line.done.get(PILOT) if line.piloted else None
        if pilot is None:
            return [line]
        same = [answer.same_twice() for answer in pilot.answers]
        if len(set(same)) == 1:
            return [replace(line, refits=1, deterministic=True) if same[0] else line]
        cut: list[Line] = []
        for agrees in (True, False):
            places = [place for place, found in enumerate(same) if found is agrees]
            refits = 1 if agrees else line.refits
            part = self._line(line.strand.only(places), refits, piloted=True, deterministic=agrees)
            part.done |= {place: strip.only(places) for place, strip in line.done.items()}
            part.broken |= line.broken
            cut.append(part)
        return cut

    def _go(self, lines: list[Line], tasks: list[Task], given_up: set[int], hopeless: Callable[[Line], bool]) -> bool:
        """Run tasks; True if it was stopped because a line is newly given up, as nothing of it can be fitted."""

        def keep(index: int, strip: Strip) -> bool:
            number, subset, refits = tasks[index]
            lines[number].keep((subset, refits), strip)
            if subset >= HOPELESS or not hopeless(lines[number]):
                return False
            given_up.add(number)
            return True

        if not tasks:
            return False
        outcome = work.run(
            refit_strand,
            tasks,
            shared=SweepBench(
                self.given.bench(self.given.learner), tuple(self.subsets), tuple(line.strand for line in lines)
            ),
            executor=self.executor,
            on_result=keep,
            progress=self.progress,
            label=self.label,
            isolate=self.given.time_limit is not None and self.executor is None,
        )
        lost = [failure for failure in outcome.failures.values() if failure.error == "BrokenExecutor"]
        if lost:
            raise InputError(
                f"{len(lost)} of {len(tasks)} tasks were not done: {lost[0].message} What is done is kept if there is "
                "a store: run the same again, and it goes on from there."
            )
        for index, failure in outcome.failures.items():
            number, subset, refits = tasks[index]
            lines[number].broken[subset, refits] = str(failure)
        self.interrupted = outcome.interrupted
        return outcome.stopped
