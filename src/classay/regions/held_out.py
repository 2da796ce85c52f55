"""Testing regions on the rows that were not searched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..intervals import Estimate
from .boxes import Box, Half
from .repeats import Taken

Floats = NDArray[np.float64]
CLEAR = 0.01
"""What a region with rows or outcome of others has to add, as a p-value, so as not to be a repetition of them."""
CHANCE, REPEATS, STANDS = "may be chance", "repeats another", "stands out"


@dataclass(frozen=True)
class Verdict:
    """A box on the held-out rows: how many of them are in it, the share of the outcome there, and what that means."""

    box: Box
    size: int
    rate: Estimate
    rest_rate: float
    p_value: float
    q_value: float
    verdict: str


def judged(boxes: tuple[Box, ...], half: Half, least: int, q: float, level: float) -> list[Verdict]:
    """Test the boxes, in order, that have `least` of the rows.

    How many rows a box has is known without their outcome, so to leave out the small ones does not touch the test.
    """
    masks = [half.inside(box) for box in boxes]
    sizes = [int(np.count_nonzero(mask)) for mask in masks]
    kept = [place for place, size in enumerate(sizes) if least <= size < half.n]
    outcome, everything = half.outcome, np.ones(half.n, dtype=bool)
    p_values = [outcome.chance(masks[place], everything) for place in kept]
    found = []
    taken = Taken(outcome)
    for place, p_value, q_value in zip(kept, p_values, q_values(p_values)):
        verdict = CHANCE
        if q_value <= q:
            added = taken.beside(masks[place])
            verdict = REPEATS if added.alike else STANDS
            if verdict == STANDS and (added.overlaps or added.explained):
                clear = min(outcome.chance(*added.outside), outcome.chance(*added.within)) <= CLEAR
                verdict = STANDS if clear else REPEATS
        if verdict == STANDS:
            taken.add(masks[place])
        rate = outcome.rate(masks[place], level)
        rest = (outcome.total - outcome.of(masks[place])) / (half.n - sizes[place])
        found.append(Verdict(boxes[place], sizes[place], rate, rest, p_value, float(q_value), verdict))
    return found


def q_values(p_values: ArrayLike) -> Floats:
    """Benjamini and Hochberg's: the lowest false-discovery rate at which each is still a discovery.

    >>> q_values([0.01, 0.04, 0.03, 0.5]).round(3).tolist()
    [0.04, 0.053, 0.053, 0.5]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(-p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(p[order] * p.size / np.arange(p.size, 0, -1))
    return adjusted.clip(max=1.0)
