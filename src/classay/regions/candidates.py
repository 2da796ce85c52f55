"""Which regions to test: the best of all columns and pairs in the half that is searched, no two that tell the same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .boxes import Box, Found, Half, best_of_column, best_of_pair, selections
from .edges import refined
from .repeats import Mask, Taken

MOST_PAIRED = 30
"""Columns of which pairs are searched."""
MOST_TESTED = 20
"""Regions to test. Each one more makes all the others harder to tell from chance."""
MOST_EXAMINED = 1000


@dataclass(frozen=True)
class Candidates:
    """Boxes in the order of their score, how many boxes were looked at, and how many columns were paired."""

    boxes: tuple[Box, ...]
    n_searched: int
    n_paired: int


def candidates(half: Half, least: int, max_features: int) -> Candidates:
    """Search all columns, and pairs of those that tell most by themselves.

    Boxes are ordered by their score, likelihood ratio − Σ 2·log(m·d) over their columns, m the ways to select of the
    column and d the number of columns: the best of so many boxes without any excess gains about that much. d counts
    all columns, since those that are paired were chosen by the same rows. What is left compares one column with two,
    and a column of two categories with one of many ranges.
    """
    choices = [selections(half, place) for place in range(len(half.columns))]
    alone = [best_of_column(half, choice, place, least) for place, choice in enumerate(choices)]
    n_searched = sum(len(choice.parts) for choice in choices)
    found = [each for some in alone for each in some]
    paired: list[int] = []
    if max_features > 1:
        strength = [some[0][0] if some else 0.0 for some in alone]
        paired = sorted(sorted(range(len(choices)), key=lambda place: -strength[place])[:MOST_PAIRED])
        for first, second in combinations(paired, 2):
            found += best_of_pair(half, choices, first, second, least)
            n_searched += len(choices[first].parts) * len(choices[second].parts)
    penalties = [2 * math.log(max(len(choice.parts), 1) * len(choices)) for choice in choices]
    scored = sorted(((ratio - _penalty(box, penalties), box) for ratio, box in found), key=lambda each: -each[0])
    return Candidates(_distinct(scored, half, least, penalties), n_searched, len(paired))


def _distinct(scored: list[Found], half: Half, least: int, penalties: list[float]) -> tuple[Box, ...]:
    """Take boxes by score, refine their edges, and pass over those that add nothing to what was taken."""
    boxes: list[Box] = []
    taken, clear = Taken(half.outcome), Taken(half.outcome)
    for score, rough in scored[:MOST_EXAMINED]:
        if len(boxes) == MOST_TESTED:
            break
        mask = half.inside(rough)
        if taken.beside(mask).alike or not _adds(mask, clear, _penalty(rough, penalties)):
            continue
        box = _simplest(refined(rough, half, least), half, least, penalties)
        mask = half.inside(box)
        if not taken.beside(mask).alike and _adds(mask, clear, _penalty(box, penalties)):
            boxes.append(box)
            taken.add(mask)
            # What may itself be chance explains nothing away.
            if score > 0:
                clear.add(mask)
    return tuple(boxes)


def _simplest(box: Box, half: Half, least: int, penalties: list[float]) -> Box:
    """The box, or one of its parts alone if that scores as well: what spans most of a column does not need it."""
    options = [box, *((part,) for part in box if len(box) > 1)]
    scores = []
    for option in options:
        mask = half.inside(option)
        size = int(np.count_nonzero(mask))
        fits = least <= size <= half.n - least
        ratio = half.outcome.gain(mask, np.ones_like(mask))
        scores.append(ratio - _penalty(option, penalties) if fits else -math.inf)
    best = max(range(len(options)), key=lambda place: (scores[place], place))
    return refined(options[best], half, least) if best else box


def _penalty(box: Box, penalties: list[float]) -> float:
    return sum(penalties[part.column] for part in box)


def _adds(mask: Mask, taken: Taken, penalty: float) -> bool:
    """Whether a region tells more, beside those already taken, than the best of so many would by chance."""
    added = taken.beside(mask)
    if added.alike or not added.overlaps:
        return not added.alike
    return max(taken.outcome.gain(*added.outside), taken.outcome.gain(*added.within)) >= penalty
