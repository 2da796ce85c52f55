"""Which walks to make: all classes from all others where that is feasible, else a random sample that fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import expect, seeds
from ..expect import InputError, counted

Ints = NDArray[np.int64]
IN_FULL = 100
"""Up to so many classes every class is reached from every other."""
ORIGINS = 10
LEAST_ORIGINS = 3
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
    wanted = k if classes is None else expect.whole(classes, "classes", at_least=2)
    if wanted > k:
        raise InputError(f"`classes` is {classes}, but the network has {k}. Ask for fewer, or leave it out.")
    if origins is not None:
        expect.whole(origins, "origins", at_least=1, why="Each class is reached from so many others.")
        if origins >= wanted:
            raise InputError(f"`origins` is {origins}; at most {wanted - 1} are there, the classes but one.")
    each = (wanted - 1 if wanted <= IN_FULL else ORIGINS) if origins is None else origins
    notes = []
    if affordable is not None and starts * wanted * (1 + each) > affordable:
        least = each if origins is not None else min(LEAST_ORIGINS, each)
        a_start = affordable / starts
        if classes is None and a_start < wanted * (1 + least):
            wanted = int(np.clip(a_start / (1 + least), 2, k))
            least = min(least, wanted - 1)
        if origins is None:
            each = int(np.clip(a_start / wanted - 1, least, wanted - 1))
    order = seeds.generator(seed, "classes").permutation(k)[:wanted]
    rows = max(MEMORY // max(input_bytes, 1), 2 * (each + 1))
    pool = np.sort(order[:rows]) if rows < wanted else np.sort(order)
    if wanted < k:
        notes.append(f"A random sample of {wanted} of the {k} classes was walked to.")
    if each < wanted - 1:
        notes.append(f"Each class was reached from {counted(each, 'other')} of {wanted - 1}, drawn at random.")
    return Plan(np.sort(order), pool, each, starts, rows, seed, tuple(notes))
