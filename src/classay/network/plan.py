"""Which walks to make: all classes from all others where that is feasible, else a random sample that fits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .. import expect, seeds
from ..expect import InputError, counted

Ints = NDArray[np.int64]
IN_FULL = 100
"""Up to so many classes every class is reached from every other."""
ORIGINS = 10
LADDER = (("origins", 3), ("starts", 2), ("classes", 10), ("starts", 1), ("classes", 2), ("origins", 1))
"""What is taken less of where time is short, in this order, each down to so many before the next."""
MEMORY = 1 << 28
"""Bytes of inputs held at once."""


@dataclass(frozen=True, eq=False)
class Plan:
    """The classes to reach, sorted; those whose seeds are kept to begin at; how many each is reached from; how often.

    `rows` is how many inputs may be held at once. Cores come in rounds: in each, every class of every start is reached
    once more, so that whenever time is up all classes have as many prototypes.
    """

    classes: Ints
    pool: Ints
    origins: int
    starts: int
    rows: int
    seed: int
    notes: tuple[str, ...]

    @property
    def walks(self) -> int:
        """Walks in all."""
        return self.starts * len(self.classes) * (1 + self.origins)

    def narrowed(self, classes: Sequence[int]) -> Plan:
        """The same plan for some of its classes."""
        own, pool = (every[np.isin(every, classes)] for every in (self.classes, self.pool))
        return replace(self, classes=own, pool=pool, origins=min(self.origins, max(len(pool) - 1, 0)))

    def groups(self) -> Iterator[range]:
        """Starts that are walked together: as many as memory allows."""
        together = max(self.rows // len(self.classes), 1)
        for first in range(0, self.starts, together):
            yield range(first, min(first + together, self.starts))

    def cores(self, group: range) -> tuple[Ints, Ints, Ints]:
        """Start, origin and target of each core walk of some starts, round by round."""
        start, target = (grid.ravel() for grid in np.meshgrid(np.array(group), self.classes, indexing="ij"))
        rounds = np.stack([self._origins(int(one), int(to)) for one, to in zip(start, target)], axis=1)
        return np.tile(start, self.origins), rounds.ravel(), np.tile(target, self.origins)

    def _origins(self, start: int, target: int) -> Ints:
        others: Ints = self.pool[self.pool != target]
        if self.origins == len(others):
            return others
        drawn: Ints = seeds.generator(self.seed, "origins", start, target).permutation(others)
        return drawn[: self.origins]


def plan(
    k: int,
    input_bytes: int,
    starts: int,
    classes: int | None,
    origins: int | None,
    affordable: float | None,
    seed: int,
) -> Plan:
    """The plan for a head of `k` classes, of at most `affordable` walks (None: no limit)."""
    wanted = expect_sample(k, classes, origins)
    each = (wanted - 1 if wanted <= IN_FULL else ORIGINS) if origins is None else origins
    sizes = {"starts": starts, "classes": wanted, "origins": each}
    if affordable is not None:
        fixed = [name for name, given in (("classes", classes), ("origins", origins)) if given is not None]
        sizes = _affordable(sizes, affordable, fixed)
    wanted, each = sizes["classes"], sizes["origins"]
    notes = []
    order = seeds.generator(seed, "classes").permutation(k)[:wanted]
    rows = max(MEMORY // max(input_bytes, 1), 2 * (each + 1))
    pool = np.sort(order[:rows]) if rows < wanted else np.sort(order)
    if wanted < k:
        notes.append(f"A random sample of {wanted} of the {k} classes was walked to.")
    if each < wanted - 1:
        notes.append(f"Each class was reached from {counted(each, 'other')} of {wanted - 1}, drawn at random.")
    if sizes["starts"] < starts:
        notes.append(f"There was time for {sizes['starts']} of the {starts} starts.")
    return Plan(np.sort(order), pool, each, sizes["starts"], rows, seed, tuple(notes))


def expect_sample(k: int, classes: int | None, origins: int | None) -> int:
    """How many classes are to be reached, where what was given is possible."""
    wanted = k if classes is None else expect.whole(classes, "classes", at_least=2)
    if wanted > k:
        raise InputError(f"`classes` is {classes}, but the network has {k}. Ask for fewer, or leave it out.")
    if origins is not None:
        expect.whole(origins, "origins", at_least=1, why="Each class is reached from so many others.")
        if origins >= wanted:
            raise InputError(f"`origins` is {origins}; at most {wanted - 1} are there, the classes but one.")
    return wanted


def _affordable(sizes: dict[str, int], affordable: float, fixed: Sequence[str]) -> dict[str, int]:
    """Fewer starts, classes and origins, until there is time for all walks or the least is reached."""
    wanted, sizes = sizes, dict(sizes)

    def fits(name: str) -> int:
        """How much of one there is time for, the others being as they are."""
        others = [sizes[other] + (other == "origins") for other in sizes if other != name]
        return int(min(affordable / math.prod(others), 1e9)) - (name == "origins")

    for name, least in LADDER:
        if name not in fixed:
            sizes[name] = min(sizes[name], max(fits(name), least))
            sizes["origins"] = min(sizes["origins"], sizes["classes"] - 1)
    for name in ("classes", "origins"):  # what the last rung left over
        sizes[name] = min(wanted[name], max(fits(name), sizes[name]))
    sizes["origins"] = min(sizes["origins"], sizes["classes"] - 1)
    return sizes
