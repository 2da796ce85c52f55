"""Whether a slice tells something that others do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Four = tuple[int, int, int, int]
ALIKE = 0.7
"""Rows in common, of the rows in either, from which two slices are one."""
OVERLAP = 0.5
"""Rows in common, of the rows of one of them, from which a slice has to show what it adds."""
INSIDE = 0.8
"""Share of a slice's rows in a larger one, from which it is shown as a part of that."""


@dataclass(frozen=True)
class Beside:
    """What a slice has beside others: rows and errors of a part, rows and errors of the whole it is a part of.

    `outside`: its rows in none of the others, of all rows that are in none. `within`: its rows in that other with which
    it shares most, of all rows of that one. `alike`: it is one of the others, nearly. `overlaps`: it has half of its
    rows in others, or half of another's. `explained`: it has half of its errors in others.
    """

    alike: bool = False
    overlaps: bool = False
    explained: bool = False
    outside: Four = (0, 0, 0, 0)
    within: Four = (0, 0, 0, 0)


class Taken:
    """Slices taken so far, as masks over the same rows."""

    def __init__(self, wrong: Mask) -> None:
        self.wrong = wrong
        self.masks: list[Mask] = []
        self.sizes: list[int] = []
        self.uncovered = np.ones(len(wrong), dtype=bool)

    def add(self, mask: Mask) -> None:
        """Take one more."""
        self.masks.append(mask)
        self.sizes.append(_count(mask))
        self.uncovered &= ~mask

    def beside(self, mask: Mask) -> Beside:
        """Compare a slice with those taken."""
        if not self.masks:
            return Beside()
        size = _count(mask)
        shared = [_count(mask & other) for other in self.masks]
        if any(both >= ALIKE * (size + own - both) for both, own in zip(shared, self.sizes)):
            return Beside(alike=True)
        covers = any(both >= OVERLAP * own for both, own in zip(shared, self.sizes))
        alone, most = mask & self.uncovered, self.masks[int(np.argmax(shared))]
        outside = self._four(alone, self.uncovered)
        errors = _count(mask & self.wrong)
        return Beside(
            overlaps=covers or size - outside[0] >= OVERLAP * size,
            explained=errors - outside[1] >= OVERLAP * errors,
            outside=outside,
            within=self._four(mask & most, most),
        )

    def _four(self, part: Mask, whole: Mask) -> Four:
        return _count(part), _count(part & self.wrong), _count(whole), _count(whole & self.wrong)


def nesting(masks: list[Mask]) -> list[int | None]:
    """For each slice the smallest larger one that holds most of its rows, or None."""
    sizes = [_count(mask) for mask in masks]
    holders: list[int | None] = []
    for place, mask in enumerate(masks):
        larger = [
            other
            for other in range(len(masks))
            if sizes[other] > sizes[place] and _count(mask & masks[other]) >= INSIDE * sizes[place]
        ]
        holders.append(min(larger, key=lambda other: sizes[other], default=None))
    return holders


def _count(mask: Mask) -> int:
    return int(np.count_nonzero(mask))
