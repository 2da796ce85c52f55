"""Whether more changed than a refit changes, anywhere in a table: a test that exchanges fits between versions.

Regions are searched and tested on different items, but with the same fits; a fit that happens to differ from the others
in some region does so in both halves. So before regions are reported, the largest difference over *all* ranges and
categories of single columns, and over all items, is compared with what exchanged fits give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from ... import seeds
from ...arrays import AnyInts, Floats
from ...regions.columns import Column, bin_column

LEAST_FITS = 3
"""Fits of the old version from which it is known how much a refit changes."""
FEWEST_SPLITS = 20
"""With fewer ways to divide the fits into two versions, exchange alone cannot reach 5 %."""
MOST_SPLITS = 500
"""Ways that are tried; all of them if there are fewer."""
MOST_FITS = 19
"""Fits of each version that are exchanged."""
MOST_COLUMNS = 40
CAUTION = 1.5
"""The largest difference of a fit is skewed to the right, so Student's t needs a wider spread (by simulation)."""
Statistic = Callable[[AnyInts, AnyInts], float]
"""Places of the fits of both versions -> the largest difference over all boxes."""


class BoxFamily:
    """All items, and every range or category of each column that has at least `min_rows` items."""

    def __init__(self, n_items: int, frame: pd.DataFrame | None, names: Sequence[str] = (), min_size: int = 2) -> None:
        self.n_items = n_items
        binned = [] if frame is None else [bin_column(frame[name], min_size) for name in list(names)[:MOST_COLUMNS]]
        self.columns: list[Column] = [each for each in binned if each.varies]
        sizes = self._totals(np.ones(n_items))
        self.kept = (sizes >= min_size) & ((sizes <= n_items - min_size) | (np.arange(sizes.size) == 0))
        self.sizes: Floats = sizes[self.kept]

    def totals(self, values: Floats) -> Floats:
        """The sum of values of the items in each box."""
        return np.asarray(self._totals(values)[self.kept])

    def _totals(self, values: Floats) -> Floats:
        parts = [np.array([float(values.sum())])]
        for column in self.columns:
            sums = np.bincount(column.bins, weights=values, minlength=column.n_bins)
            if not column.ordered:
                parts.append(sums)
                continue
            steps = np.concatenate([[0.0], np.cumsum(sums[:-1])])  # the last bin is for missing values
            low, high = np.triu_indices(steps.size, 1)
            parts += [steps[high] - steps[low], sums[-1:]]
        return np.concatenate(parts)


def p_changed(old: AnyInts, new: AnyInts, family: BoxFamily, seed: int) -> float:
    """P-value that predictions changed no more than a refit changes them, from labels (fits, n) of both versions.

    The statistic of a box is the share of its items on which an old and a new fit differ, minus the mean of that among
    old and among new fits, over its error. NaN if there are too few fits.
    """
    fits = np.concatenate([old[:MOST_FITS], new[:MOST_FITS]])
    number, boxes = len(fits), family.sizes.size
    apart = np.zeros((number, number, boxes))
    for one, other in combinations(range(number), 2):
        share = family.totals((fits[one] != fits[other]).astype(float)) / family.sizes
        apart[one, other] = apart[other, one] = share
    pooled = apart.sum(axis=(0, 1)) / (number * (number - 1))
    of_items = (pooled * (1 - pooled) + 1 / family.sizes) / family.sizes

    def largest(first: AnyInts, second: AnyInts) -> float:
        across = apart[np.ix_(first, second)].mean(axis=(0, 1))
        inside, spreads = [], []
        for side in (first, second):
            if side.size > 1:
                own = apart[np.ix_(side, side)].sum(axis=1) / (side.size - 1)
                inside.append(own.mean(axis=0))
                if side.size > 2:
                    spreads.append(own.var(axis=0, ddof=1) * ((side.size - 1) / (side.size - 2)) ** 2)
        return _largest(across - np.mean(inside, axis=0), of_items, spreads, first.size, second.size)

    return _exchanged(len(old[:MOST_FITS]), number, largest, seed)


def p_worse(old: AnyInts, new: AnyInts, family: BoxFamily, seed: int) -> float:
    """P-value that the new fits are nowhere less often right, beyond exchange of fits; `old`, `new`: (fits, n)."""
    fits = np.concatenate([old[:MOST_FITS], new[:MOST_FITS]]).astype(float)
    rates = np.stack([family.totals(right) / family.sizes for right in fits])
    pooled = rates.mean(axis=0)
    of_items = (pooled * (1 - pooled) + 1 / family.sizes) / family.sizes

    def largest(first: AnyInts, second: AnyInts) -> float:
        spreads = [rates[side].var(axis=0, ddof=1) for side in (first, second) if side.size > 1]
        drop = rates[first].mean(axis=0) - rates[second].mean(axis=0)
        return _largest(drop, of_items, spreads, first.size, second.size)

    return _exchanged(len(old[:MOST_FITS]), len(fits), largest, seed, symmetric=False)


def _largest(gaps: Floats, of_items: Floats, spreads: list[Floats], first: int, second: int) -> float:
    """The largest gap of all boxes, each over its own error: that of items, and of fits if their spread is known.

    With few fits a spread may be small by chance, so the middle one of all boxes counts as much as the box's own.
    """
    variance = of_items
    if spreads:
        own = np.mean(spreads, axis=0)
        variance = of_items + (own + np.median(own)) / 2 * (1 / first + 1 / second)
    return float((gaps / np.sqrt(variance)).max())


def _exchanged(first: int, number: int, largest: Statistic, seed: int, symmetric: bool = True) -> float:
    """The share of ways to divide the fits that give a statistic at least as large; Student's t if they are few."""
    places = np.arange(number)
    observed = largest(places[:first], places[first:])
    ways = math.comb(number, first)
    distinct = ways // 2 if symmetric and 2 * first == number else ways
    if first < 1 or first == number or distinct < FEWEST_SPLITS:
        return _one_more(first, places, observed, largest)
    if ways <= MOST_SPLITS:
        chosen = [np.array(each) for each in combinations(range(number), first)]
        values = np.array([largest(each, np.setdiff1d(places, each)) for each in chosen])
        return float(np.mean(values >= observed - 1e-9))
    generator = seeds.generator(seed, "exchange")
    orders = [generator.permutation(number) for _ in range(MOST_SPLITS - 1)]
    values = np.array([largest(order[:first], order[first:]) for order in orders])
    return float((1 + np.sum(values >= observed - 1e-9)) / MOST_SPLITS)


def _one_more(first: int, places: AnyInts, observed: float, largest: Statistic) -> float:
    """How unusual the new version is as one more fit: each old fit in turn against the other old ones.

    Those statistics share fits, so they vary by (U − 2)/(U − 1) too little. asinh: differences near 0 count as they
    are, large ones by their ratio.
    """
    if first < LEAST_FITS:
        return math.nan
    own = np.arcsinh([largest(np.delete(places[:first], each), places[each : each + 1]) for each in range(first)])
    spread = CAUTION * float(np.std(own, ddof=1)) * (first - 1) / (first - 2)
    gap = float(np.arcsinh(observed)) - float(own.mean())
    if spread == 0:
        return 1.0 if gap <= 0 else 0.5**first
    return float(stats.t.sf(gap / (spread * math.sqrt(1 + 1 / first)), first - 1))
