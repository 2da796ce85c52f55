"""A strand and what is done of it: its tasks, their answers, and the chunks that keep them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..engine.chunks import Chunks
from .answer_chunks import Place, chunk_name, packed, taken_up
from .refit import Answer, Bench, joined
from .sweep_refit import Strip, empty
from .sweep_strands import Strand

HOPELESS = 3
"""If every refit of the first so many subsets failed, the rest is not tried."""
PILOT: Place = (0, (0, 1))
"""Whether two refits agree is seen on subset 0 alone, so that it cannot depend on what is done first."""
BUSY = 200
"""Tasks of a strand with a path; where subsets are fewer, their refits are split, so that no worker waits long."""


@dataclass
class Line:
    """A strand with `refits` of each subset; what is `done`, `broken` (and why) or `lost`, by subset and refits.

    Broken is what killed its worker; lost, what could not be done because the executor broke, and can be done again.

    `piloted`: the first task of subset 0 is the `PILOT`, and of the others one refit. `about`: what each chunk says of
    the whole, for those who look there.
    """

    strand: Strand
    n_subsets: int
    refits: int
    piloted: bool = False
    deterministic: bool = False
    chunks: Chunks | None = None
    about: dict[str, Any] = field(default_factory=dict)
    done: dict[Place, Strip] = field(default_factory=dict)
    broken: dict[Place, str] = field(default_factory=dict)
    lost: dict[Place, str] = field(default_factory=dict)

    def places(self, subset: int) -> list[Place]:
        """The tasks of a subset, in order, whether done or not."""
        first = PILOT[1][: 2 if subset == 0 else 1] if self.piloted else ()
        rest = range(len(first), self.refits)
        number = 1 if self.strand.path is None else -(-BUSY // self.n_subsets)
        parts = np.array_split(np.array(rest), min(number, len(rest))) if rest else []
        return [(subset, refits) for refits in (first, *(tuple(part.tolist()) for part in parts)) if refits]

    def waiting(self) -> list[Place]:
        """The tasks to be done next; while the pilot has not told whether refits differ, the first of every subset."""
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
        return [] if pilot is None else [answer.same_twice() for answer in pilot.answers]

    def keep(self, place: Place, strip: Strip) -> None:
        """Take what a task gave; with a store, first put it there."""
        if self.chunks is not None:
            tasks = self._tasks(strip if place == PILOT else None)
            self.chunks.put(chunk_name(*place), *packed(strip.answers, strip.said, self.about, tasks))
        self.done[place] = strip

    def _tasks(self, pilot: Strip | None) -> int:
        """How many tasks there are, by what is known; `pilot` is that of the pilot if it is in only now."""
        same = self.same_twice() if pilot is None else [answer.same_twice() for answer in pilot.answers]
        line = replace(self, refits=1) if self.piloted and same and all(same) else self
        return len(line.places(0)) + (self.n_subsets - 1) * len(line.places(1))

    def fail(self, place: Place, why: str) -> None:
        """A task could not be done. Where it is a first refit, the next would fare no better."""
        places = self.places(place[0])
        self.broken |= dict.fromkeys(places if self.piloted and place == places[0] else [place], why)

    def take_up(self) -> None:
        """Take what an earlier run has left in the store."""
        self.done |= {place: Strip(*found) for place, found in taken_up(self.chunks).items()}

    def whole(self, subset: int) -> bool:
        """Whether all tasks of a subset came to an end."""
        return all(place in self.done or place in self.broken for place in self.places(subset))

    def begun(self, subset: int) -> bool:
        """Whether any task of a subset came to an end."""
        return any(place in ended for ended in (self.done, self.broken, self.lost) for place in self.places(subset))

    def answer(self, bench: Bench, value: int, subset: int) -> Answer:
        """What all refits of a subset gave at one value; those that were not run are empty."""
        parts = [self._part(bench, value, place) for place in self.places(subset)]
        found = parts[0]
        for part in parts[1:]:
            found = joined(found, part)
        return found

    def hopeless(self, values: Iterable[int] | None = None) -> bool:
        """Whether every refit of the first subsets raised an error, at some values or at all."""
        chosen = range(len(self.strand.values)) if values is None else list(values)
        early = [place for subset in range(min(HOPELESS, self.n_subsets)) for place in self.places(subset)]
        return all(
            place in self.done and all(_all_failed(self.done[place].answers[value]) for value in chosen)
            for place in early
        )

    def _part(self, bench: Bench, value: int, place: Place) -> Answer:
        if place in self.done:
            return self.done[place].answers[value]
        part = empty(bench, len(place[1]))
        why = self.broken.get(place) or self.lost.get(place)
        if why is not None:
            part.errors.update(dict.fromkeys(place[1], why))
        return part


def _all_failed(answer: Answer) -> bool:
    return len(answer.errors) == len(answer.seconds)
