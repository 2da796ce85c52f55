"""Carrying out a plan of walks, piece by piece: what is in the store is not walked again, what is stopped is kept."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..engine.progress import Progress
from ..engine.store import Store
from .plan import Plan
from .record import SEED
from .starts import draw
from .walks import Walks, walk

if TYPE_CHECKING:
    from torch import Tensor

    from .split import Split

CHUNK = 8
"""Walks made and stored at once, in batches. More would lose more at Ctrl-C, fewer would let batches run empty."""
PROBED = 100
"""Seeds whose beginnings and ends are kept for probes."""


@dataclass
class Course:
    """How walks are made: everything but where from and where to."""

    split: Split
    seed: int
    step: float
    delta: float
    max_steps: int
    batch: int
    box: tuple[Tensor, Tensor] | None
    embeddings: Tensor | None
    deadline: float | None = None
    passes: int = 0
    seconds: float = 0.0

    @property
    def pace(self) -> float:
        """Seconds that a row takes for one step, by all walks so far."""
        return max(self.seconds, 1e-9) / max(self.passes, 1)

    def draw(self, targets: NDArray[np.integer], start: int) -> Tensor:
        """A random input for each of these classes."""
        return draw(self.split, targets, self.seed, start, self.box, self.embeddings)

    def walk(self, starts: Tensor, targets: NDArray[np.integer], origin: Any = None, **options: Any) -> Walks:
        """Walk; a batch that proved too large for memory stays small."""
        options = {"step": self.step, "max_steps": self.max_steps, "deadline": self.deadline, **options}
        began = time.monotonic()
        found = walk(self.split, starts, targets, origin, delta=self.delta, box=self.box, batch=self.batch, **options)
        self.seconds += time.monotonic() - began
        self.passes += found.passes
        self.batch = min(self.batch, found.batch)
        return found


@dataclass
class Gathered:
    """Rows of the record so far, by name; some seeds with their beginnings; whether all was done."""

    rows: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    inputs: list[NDArray[np.float32]] = field(default_factory=list)
    probed: list[tuple[Tensor, Tensor, NDArray[np.int64]]] = field(default_factory=list)
    cut: bool = False
    interrupted: bool = False

    def add(self, walks: Walks, keep: bool, **named: NDArray[Any]) -> None:
        """Take in what has ended."""
        done = walks.finished
        for name, values in {**walks.rows(), **named}.items():
            if name != "finished":
                self.rows.setdefault(name, []).append(values[done])
        if keep and walks.ends is not None:
            self.inputs.append(walks.ends[np.flatnonzero(done)].float().cpu().numpy())
        self.cut = self.cut or not done.all()
        self.interrupted = self.interrupted or walks.interrupted

    def __len__(self) -> int:
        return sum(map(len, self.rows.get("target", [])))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Each array of the record in one piece."""
        return {name: np.concatenate(parts) for name, parts in self.rows.items()}


def gather(
    course: Course, plan: Plan, keep: bool, store: Store | None, description: Mapping[str, Any], progress: bool
) -> Gathered:
    """Make every walk of the plan. `keep`: the inputs, too; `description`: what the walks are of, for the store.

    Where time is short, seeds get half of it at most: the classes they reached by then are gone on with.
    """
    gathered = Gathered()
    until = course.deadline
    with Progress(plan.walks, "walking", progress) as shown:

        def tick(ended: int) -> None:
            shown.done += ended
            shown.tick()

        for group in plan.groups():
            course.deadline = None if until is None else (until + min(time.monotonic(), until)) / 2
            ends, place = _seeds(course, plan, group, keep, store, description, gathered, tick)
            course.deadline = until
            reached = [one for one in plan.classes.tolist() if all((start, one) in place for start in group)]
            plan = plan.narrowed(reached)
            if gathered.interrupted or len(plan.pool) < 2:
                break
            start, origin, target = plan.cores(group)
            at = np.array([place[int(one), int(of)] for one, of in zip(start, origin)], dtype=np.int64)
            size = CHUNK * course.batch
            for first in range(0, len(at), size):
                rows = slice(first, first + size)
                named = {"target": target[rows], "origin": origin[rows], "start": start[rows]}
                walks = _walked(course, ends, at[rows], keep, store, description, named, tick)
                gathered.add(walks, keep, **named)
                if not walks.finished.all():
                    return gathered
    return gathered


def _seeds(
    course: Course,
    plan: Plan,
    group: range,
    keep: bool,
    store: Store | None,
    description: Mapping[str, Any],
    gathered: Gathered,
    tick: Any,
) -> tuple[Tensor, dict[tuple[int, int], int]]:
    """Walk to the seeds of some starts. The ends of those that cores may begin at; where among them each one is.

    A class outside of the pool has no place among the ends: it is -1.
    """
    import torch

    ends: list[Tensor] = []
    place: dict[tuple[int, int], int] = {}
    kept = 0
    for first in range(0, len(plan.classes), plan.rows):
        classes = plan.classes[first : first + plan.rows]
        start = np.repeat(np.array(group, dtype=np.int64), len(classes))
        target = np.tile(classes, len(group))
        named = {"target": target, "origin": np.full(len(target), SEED, dtype=np.int64), "start": start}
        begun = torch.cat([course.draw(classes, one) for one in group])
        walks = _walked(course, begun, np.arange(len(target)), True, store, description, named, tick)
        gathered.add(walks, keep, **named)
        assert walks.ends is not None  # they are kept
        if not gathered.probed and walks.finished.any():
            few = np.flatnonzero(walks.finished)[:PROBED]
            gathered.probed.append((begun[few].clone(), walks.ends[few].clone(), target[few]))
        pooled = walks.finished & np.isin(target, plan.pool)
        ends.append(walks.ends[np.flatnonzero(pooled)])
        for row in np.flatnonzero(walks.finished).tolist():
            place[int(start[row]), int(target[row])] = kept if pooled[row] else -1
            kept += int(pooled[row])
        if not walks.finished.all():
            break
    return torch.cat(ends), place


def _walked(
    course: Course,
    starts: Tensor,
    at: NDArray[np.int64],
    keep: bool,
    store: Store | None,
    description: Mapping[str, Any],
    named: Mapping[str, NDArray[np.int64]],
    tick: Any,
) -> Walks:
    """One piece of the plan, from the store if it is there; put there if it is whole."""
    if store is None:
        return course.walk(starts, named["target"], at, keep=keep, tick=tick)
    import torch

    key = store.key({"walks": description, "keep": keep, **{name: values.tolist() for name, values in named.items()}})
    known = store.get(key, "walks")
    if known is not None:
        arrays = known[1]
        ends = torch.from_numpy(arrays.pop("ends")).to(starts) if "ends" in arrays else None
        tick(len(at))
        return Walks(**arrays, ends=ends, batch=course.batch, interrupted=False, passes=0)
    walks = course.walk(starts, named["target"], at, keep=keep, tick=tick)
    if walks.finished.all():
        arrays = walks.rows()
        if walks.ends is not None:
            # NumPy has no bfloat16, and float32 holds all of it.
            exact = walks.ends.float() if walks.ends.itemsize < 4 else walks.ends
            arrays["ends"] = exact.cpu().numpy()
        store.put(key, "walks", {}, arrays)
    return walks
