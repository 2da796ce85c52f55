"""All fits of a record or a sweep: the tasks of its strands on any executor, less what is done already."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine import work
from ..engine.chunks import Chunks
from .line import Line
from .preparing import Prepared
from .sweep_refit import Strip, SweepBench, Task, refit_strand
from .sweep_strands import Strand

Opened = tuple[Chunks | None, dict[str, Any]]


@dataclass
class Fitting:
    """The fits on prepared data. `opened` gives the chunks of a strand, and what they say of the whole.

    `lost` says why tasks could not be done at all, if the executor broke.
    """

    given: Prepared
    subsets: list[NDArray[np.int64]]
    executor: Executor | int | None
    progress: bool
    label: str
    opened: Callable[[Strand], Opened]
    interrupted: bool = False
    lost: str = ""

    def run(self, strands: list[Strand]) -> list[Line]:
        """Do all that is not done. A strand becomes two lines where some of its values are deterministic, some not."""
        repeats = self.given.repeats
        lines = [self._line(strand, repeats, piloted=not strand.free and repeats > 1) for strand in strands]
        going = True
        while True:
            lines = [part for line in lines for part in self._by_determinism(line)]
            if not going:
                return lines
            going = self._go(lines) and not self.interrupted and not self.lost

    def _line(self, strand: Strand, refits: int, **more: Any) -> Line:
        chunks, about = self.opened(strand)
        line = Line(strand, len(self.subsets), refits, chunks=chunks, about=about, **more)
        line.take_up()
        return line

    def _by_determinism(self, line: Line) -> list[Line]:
        """The line as it is, or what is deterministic of it, with one refit a subset, and the rest."""
        same = line.same_twice()
        if len(set(same)) < 2:
            return [replace(line, refits=1, deterministic=True) if any(same) else line]
        cut: list[Line] = []
        for agrees in (True, False):
            places = [place for place, found in enumerate(same) if found is agrees]
            refits = 1 if agrees else line.refits
            part = self._line(line.strand.only(places), refits, piloted=True, deterministic=agrees)
            # What the fits of both said is told of one of them.
            part.done |= {place: strip.only(places, said=agrees) for place, strip in line.done.items()}
            part.broken |= line.broken
            part.lost |= line.lost
            cut.append(part)
        return cut

    def _go(self, lines: list[Line]) -> bool:
        """Run what is waiting; False if that was nothing. By subset, so that all lines get as far if it is stopped."""
        plan = sorted((place[0], number, place[1]) for number, line in enumerate(lines) for place in line.waiting())
        tasks: list[Task] = [(number, subset, refits) for subset, number, refits in plan]
        if not tasks:
            return False
        was_open = [line.is_open() for line in lines]

        def wanted(index: int) -> bool:
            number = tasks[index][0]
            # Once the pilot tells that refits differ, they are planned anew, subset by subset.
            differ = was_open[number] and not all(lines[number].same_twice())
            return not differ and not lines[number].hopeless()

        def keep(index: int, strip: Strip) -> None:
            number, subset, refits = tasks[index]
            lines[number].keep((subset, refits), strip)

        outcome = work.run(
            refit_strand,
            tasks,
            shared=SweepBench(
                self.given.bench(self.given.learner), tuple(self.subsets), tuple(line.strand for line in lines)
            ),
            executor=self.executor,
            on_result=keep,
            wanted=wanted,
            progress=self.progress,
            label=self.label,
            isolate=self.given.time_limit is not None and self.executor is None,
        )
        for index, failure in outcome.failures.items():
            number, subset, refits = tasks[index]
            if failure.error == "BrokenExecutor":
                lines[number].lost[subset, refits] = str(failure)
                self.lost = failure.message
            else:
                lines[number].fail((subset, refits), str(failure))
        self.interrupted = outcome.interrupted
        return bool(outcome.results or outcome.failures)


def alone(given: Prepared) -> Strand:
    """The strand of one learner as it is: a record is a sweep of one value."""
    return Strand((None,), given.learner, "", (None,), None, given.bench(given.learner).free)
