"""Measures recomputed with some classes left out: how much a figure depends on which classes were drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ... import seeds
from ...arrays import Floats
from ...expect import InputError, fraction, whole
from ..ranks.evidence import Evidence
from ..ranks.ranks import Ranks

MOST_PAIRS = 200
"""Pairs of groups that `paired_error` leaves out."""
Figure = TypeVar("Figure", float, Floats)


def leave_groups_out(ranks: Ranks, ties: str = "random", statistics: bool = True) -> Iterator[Evidence]:
    """The evidence without the classes of one group, for each of the G groups in turn; see `Ranks.among`."""
    for group in range(ranks.n_groups):
        mask = np.ones(ranks.n_groups, dtype=bool)
        mask[group] = False
        yield ranks.among(mask, ties, statistics)


def class_samples(
    ranks: Ranks, ties: str = "random", n: int = 10, seed: int = 0, share: float = 0.5
) -> Iterator[Evidence]:
    """The evidence of a random `share` of the groups, `n` times."""
    size = round(fraction(share, "share") * ranks.n_groups)
    if size < 2:
        raise InputError(
            f"A share of {share:g} of {ranks.n_classes} classes is {size}; at least 2 are needed. Use more classes or "
            "a larger share."
        )
    for draw in range(whole(n, "n", at_least=1)):
        chosen = seeds.generator(seed, "some classes", draw).choice(ranks.n_groups, size, replace=False)
        mask = np.zeros(ranks.n_groups, dtype=bool)
        mask[chosen] = True
        yield ranks.among(mask, ties)


def standard_error(
    ranks: Ranks, figure: Callable[[Evidence], Figure], ties: str = "random", statistics: bool = True
) -> Figure:
    """Standard error of a figure over the choice of classes: the delete-a-group jackknife.

    se² = 1/G · Σ_g (K/m_g − 1)·(θ_g − θ̄)², where θ_g is the figure without the m_g classes of group g and θ̄ their mean
    with weights K − m_g: exact for a mean over classes, whatever the sizes of the groups (Busing, Meijer & van der
    Leeden, 1999), and (G−1)/G·Σ(θ_g − θ̄)² if they are equal. NaN if a figure is NaN without some group.
    """
    values = np.array([figure(evidence) for evidence in leave_groups_out(ranks, ties, statistics)], dtype=float)
    return jackknife_error(values, np.bincount(ranks.group))  # type: ignore[return-value]  # an array or a float


def jackknife_error(values: Floats, sizes: NDArray[np.integer]) -> Floats | float:
    """The standard error from figures without each group, (G,) or (G, …), and the sizes of the groups."""
    error = np.sqrt(contributions(values, sizes).mean(axis=0))
    return float(error) if values.ndim == 1 else error


def contributions(values: Floats, sizes: NDArray[np.integer]) -> Floats:
    """What each group contributes to the squared standard error, which is their mean."""
    n_classes, wide = sizes.sum(), (slice(None),) + (None,) * (values.ndim - 1)
    left = (n_classes - sizes)[wide]
    mean = (left * values).sum(axis=0) / left.sum()
    parts: Floats = (n_classes / sizes - 1)[wide] * (values - mean) ** 2
    return parts


def paired_error(ranks: Ranks, figure: Callable[[Evidence], float], ties: str = "random") -> float:
    """Standard error of a figure over the choice of classes. It includes that of rows, which come with their class.

    Whether a class is recognised depends on its neighbours, so accuracy is far from a mean over classes. Split its
    variance into what classes do alone, in pairs, in threes: σ₁ + σ₂ + σ₃ + … The jackknife counts these once, twice,
    three times: V₁ = σ₁ + 2σ₂ + 3σ₃ + …, too much. Leaving out two groups at a time gives V₂ = σ₂ + 3σ₃ + 6σ₄ + …
    (Efron & Stein, 1981), and V₁ − V₂ = σ₁ + σ₂ − 2σ₄ − … is too little. The mean of the two, as for an alternating
    series, is used here.
    """
    n_groups = ranks.n_groups

    def without(*groups: int) -> float:
        mask = np.ones(n_groups, dtype=bool)
        mask[list(groups)] = False
        return figure(ranks.among(mask, ties, statistics=False))

    single = np.array([without(group) for group in range(n_groups)])
    alone = float(jackknife_error(single, np.bincount(ranks.group))) ** 2
    if n_groups < 4 or alone == 0:
        return math.sqrt(alone)
    # How much more two groups do together than each alone.
    whole = without()
    together = [
        n_groups * whole - (n_groups - 1) * (single[a] + single[b]) + (n_groups - 2) * without(a, b)
        for a, b in group_pairs(n_groups)
    ]
    in_pairs = float(np.var(together)) * (n_groups - 1) / (2 * (n_groups + 1))
    return math.sqrt(alone - min(in_pairs, alone) / 2)


def group_pairs(n_groups: int) -> NDArray[np.int64]:
    """All pairs of groups, or some at random, always the same."""
    pairs = np.array(list(combinations(range(n_groups), 2)), dtype=np.int64)
    if len(pairs) <= MOST_PAIRS:
        return pairs
    return pairs[seeds.generator(0, "pairs of groups", n_groups).choice(len(pairs), MOST_PAIRS, replace=False)]
