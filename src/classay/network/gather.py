"""Carrying out a plan of walks, piece by piece: what is in the store is not walked again, what is stopped is kept."""

from __future__ import annotations

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

    def draw(self, targets: NDArray[np.integer], start: int) -> Tensor:
        """A random input for each of these classes."""
        return draw(self.split, targets, self.seed, start, self.box, self.embeddings)

    def walk(self, starts: Tensor, targets: NDArray[np.integer], origin: Any = None, **options: Any) -> Walks:
        """Walk; a batch that proved too large for memory stays small."""
        options = {"step": self.step, "max_steps": self.max_steps, "deadline": self.deadline, **options}
        found = walk(self.split, starts, targets, origin, delta=self.delta, box=self.box, batch=self.batch, **options)
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

    def add(self, walks: Walks, keep: bool, **named: NDArray[Any]) -> bool:
        """Take in what has ended; whether to go on."""
        done = walks.finished
        for name, values in {**walks.rows(), **named}.items():
            if name != "finished":
                self.rows.setdefault(name, []).append(values[done])
        if keep and walks.ends is not None:
            self.inputs.append(walks.ends[np.flatnonzero(done)].float().cpu().numpy())
        self.cut = self.cut or not done.all()
        self.interrupted = self.interrupted or walks.interrupted
        return not self.cut

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Each array of the record in one piece."""
        return {name: np.concatenate(parts) for name, parts in self.rows.items()}


def gather(
    course: Course, plan: Plan, keep: bool, store: Store | None, description: Mapping[str, Any], progress: bool
) -> Gathered:
    """Make every walk of the plan. `keep`: the inputs, too; `description`: what the walks are of, for the store."""
    gathered = Gathered()
    with Progress(plan.walks, "walking", progress) as shown:

        def tick(ended: int) -> None:
            shown.done += ended
            shown.tick()

        for group in plan.groups():
            seeds = _seeds(course, plan, group, keep, store, description, gathered, tick)
            if gathered.cut:
                break
            start, origin, target = plan.cores(group)
            place = {(one, int(of)): at for at, (one, of) in enumerate((one, of) for one in group for of in plan.pool)}
            at = np.array([place[int(one), int(of)] for one, of in zip(start, origin)], dtype=np.int64)
            size = CHUNK * course.batch
            for first in range(0, len(at), size):
                rows = slice(first, first + size)
                named = {"target": target[rows], "origin": origin[rows], "start": start[rows]}
                walks = _walked(course, seeds, at[rows], keep, store, description, named, tick)
                if not gathered.add(walks, keep, **named):
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
) -> Tensor:
    """Walk to the seeds of some starts; the ends of those that cores begin at, start by start."""
    import torch

    ends = []
    for first in range(0, len(plan.classes), plan.rows):
        classes = plan.classes[first : first + plan.rows]
        start = np.repeat(np.array(group, dtype=np.int64), len(classes))
        target = np.tile(classes, len(group))
        named = {"target": target, "origin": np.full(len(target), SEED, dtype=np.int64), "start": start}
        begun = torch.cat([course.draw(classes, one) for one in group])
        walks = _walked(course, begun, np.arange(len(target)), True, store, description, named, tick)
        if not gathered.add(walks, keep, **named) or walks.ends is None:
            break
        if not gathered.probed:
            few = slice(0, PROBED)
            gathered.probed.append((begun[few].clone(), walks.ends[few].clone(), target[few]))
        ends.append(walks.ends[np.flatnonzero(np.isin(target, plan.pool))])
    # In the order of starts, then classes: several starts are walked together only where all their classes are.
    return torch.cat(ends) if ends else begun[:0]


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
        return Walks(**arrays, ends=ends, batch=course.batch, interrupted=False)
    walks = course.walk(starts, named["target"], at, keep=keep, tick=tick)
    if walks.finished.all():
        arrays = walks.rows()
        if walks.ends is not None:
            arrays["ends"] = walks.ends.cpu().numpy()
        store.put(key, "walks", {}, arrays)
    return walks
