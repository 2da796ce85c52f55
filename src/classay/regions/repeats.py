"""Whether a region tells something that others do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .outcome import Outcome

Mask = NDArray[np.bool_]
Part = tuple[Mask, Mask]
NOTHING: Mask = np.zeros(0, dtype=bool)
ALIKE = 0.7
"""Rows in common, of the rows in either, from which two regions are one."""
OVERLAP = 0.5
"""Rows in common, of the rows of one of them, from which a region has to show what it adds."""
INSIDE = 0.8
"""Share of a region's rows in a larger one, from which it is shown as a part of that."""


@dataclass(frozen=True)
class Beside:
    """What a region has beside others: a part of the rows, and the whole it is a part of.

    `outside`: its rows in none of the others, of all rows that are in none. `within`: its rows in that other with which
    it shares most, of all rows of that one. `alike`: it is one of the others, nearly. `overlaps`: it has half of its
    rows in others, or half of another's. `explained`: it has half of its outcome in others.
    """

    alike: bool = False
    overlaps: bool = False
    explained: bool = False
    outside: Part = (NOTHING, NOTHING)
    within: Part = (NOTHING, NOTHING)


class Taken:
    """Regions taken so far, as masks over the same rows."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.masks: list[Mask] = []
        self.sizes: list[int] = []
        self.uncovered = np.ones(outcome.n, dtype=bool)

    def add(self, mask: Mask) -> None:
        """Take one more."""
        self.masks.append(mask)
        self.sizes.append(_count(mask))
        self.uncovered &= ~mask

    def beside(self, mask: Mask) -> Beside:
        """Compare a region with those taken."""
        if not self.masks:
            return Beside()
        size = _count(mask)
        shared = [_count(mask & other) for other in self.masks]
        if any(both >= ALIKE * (size + own - both) for both, own in zip(shared, self.sizes)):
            return Beside(alike=True)
        covers = any(both >= OVERLAP * own for both, own in zip(shared, self.sizes))
        alone, most = mask & self.uncovered, self.masks[int(np.argmax(shared))]
        total = self.outcome.of(mask)
        return Beside(
            overlaps=covers or size - _count(alone) >= OVERLAP * size,
            explained=total - self.outcome.of(alone) >= OVERLAP * total,
            outside=(alone, self.uncovered.copy()),
            within=(mask & most, most),
        )


def nesting(masks: list[Mask]) -> list[int | None]:
    """For each region the smallest larger one that holds most of its rows, or None."""
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
