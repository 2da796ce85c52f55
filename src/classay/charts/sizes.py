"""The axis of the number of classes, which is logarithmic, and where on it curves are drawn."""

from __future__ import annotations

import math

import altair as alt
import numpy as np

POINTS = 160
"""Sizes at which a curve is drawn; between them no eye could tell."""
ROOMY, CROWDED = 130.0, 45.0
"""Pixels from one power of ten to the next: with `ROOMY`, ticks at 2 and 5 are named, too; below `CROWDED` some tens
are not."""
LARGE = (("million", 1e6), ("billion", 1e9), ("trillion", 1e12))


def drawn(first: int, last: int) -> list[int]:
    """Whole sizes from `first` to `last`, about evenly spread on a logarithmic axis, both ends among them.

    >>> drawn(1, 6), len(drawn(1, 10**6)) <= POINTS
    ([1, 2, 3, 4, 5, 6], True)
    """
    if first >= last:
        return [first]
    return [int(size) for size in np.unique(np.geomspace(first, last, POINTS).round())]


def across(field: str, most: int, width: float, what: str = "classes") -> alt.X:
    """The axis from 1 to `most` classes, or whatever else there are so many of."""
    values, named = _ticks(most, width)
    listed = f"indexof({[float(value) for value in named]}, datum.value) >= 0"
    words = "format(datum.value, ',')"
    for unit, value in LARGE:
        words = f"datum.value >= {value} ? format(datum.value / {value}, ',') + ' {unit}' : {words}"
    return alt.X(
        f"{field}:Q",
        title=f"number of {what} (log scale)",
        scale=alt.Scale(type="log", domain=[1, max(most, 2)], nice=False),
        axis=alt.Axis(values=values, labelExpr=f"{listed} ? ({words}) : ''", labelOverlap=False, labelFlush=False),
    )


def _ticks(most: int, width: float) -> tuple[list[int], list[int]]:
    """All ticks, and those that are named."""
    decades = math.log10(max(most, 2))
    room = width / decades
    powers = [10**power for power in range(math.floor(decades + 1e-9) + 1)]
    between = sorted(scale * power for power in powers for scale in (1, 2, 5) if scale * power <= most)
    if room >= ROOMY:
        return between, between
    step = math.ceil(CROWDED / room)
    return between if step == 1 else powers, powers[::step]
