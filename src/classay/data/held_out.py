"""Testing slices on the rows that were not searched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from .boxes import Box, Half
from .repeats import Four, Taken

Floats = NDArray[np.float64]
CLEAR = 0.01
"""What a slice with rows or errors of others has to add, as a p-value, so as not to be a repetition of them."""
CHANCE, REPEATS, STANDS = "may be chance", "repeats another", "stands out"


@dataclass(frozen=True)
class Verdict:
    """A box on the held-out rows: how many of them are in it, how many of those are wrong, and what that means."""

    box: Box
    size: int
    errors: int
    p_value: float
    q_value: float
    verdict: str


def judged(boxes: tuple[Box, ...], half: Half, least: int, q: float) -> list[Verdict]:
    """Test the boxes, in order, that have `least` of the rows.

    How many rows a box has is known without their errors, so to leave out the small ones does not touch the test.
    """
    masks = [half.inside(box) for box in boxes]
    sizes = [int(np.count_nonzero(mask)) for mask in masks]
    kept = [place for place, size in enumerate(sizes) if least <= size < half.n]
    errors = [int(np.count_nonzero(masks[place] & half.wrong)) for place in kept]
    p_values = [fisher((sizes[place], wrong, half.n, half.errors)) for place, wrong in zip(kept, errors)]
    found = []
    taken = Taken(half.wrong)
    for place, wrong, p_value, q_value in zip(kept, errors, p_values, q_values(p_values)):
        verdict = CHANCE
        if q_value <= q:
            added = taken.beside(masks[place])
            shows = min(fisher(added.outside), fisher(added.within)) <= CLEAR
            repeats = added.alike or ((added.overlaps or added.explained) and not shows)
            verdict = REPEATS if repeats else STANDS
        if verdict == STANDS:
            taken.add(masks[place])
        found.append(Verdict(boxes[place], sizes[place], wrong, p_value, float(q_value), verdict))
    return found


def fisher(counts: Four) -> float:
    """P(at least so many errors in a part | its size, and rows and errors of the whole): Fisher's exact test."""
    size, errors, n, all_errors = counts
    if not 0 < size < n:
        return 1.0
    return min(float(stats.hypergeom.sf(errors - 1, n, all_errors, size)), 1.0)


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
