"""How much a figure varies with the draw of classes, where classes matter in pairs as well as one by one.

Whether a class is told apart hangs on its neighbours, so accuracy is far from a mean over classes. Split its variance
into what classes do alone, in pairs, in threes: σ₁ + σ₂ + σ₃ + … The jackknife counts these once, twice, three times:
V₁ = σ₁ + 2σ₂ + 3σ₃ + …, too much. Leaving out two groups at a time tells V₂ = σ₂ + 3σ₃ + 6σ₄ + … (Efron & Stein, 1981),
and V₁ − V₂ = σ₁ + σ₂ − 2σ₄ − … is too little. The mean of the two, as one sums an alternating series, is used here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .. import seeds
from .evidence import Evidence
from .ranks import Ranks
from .resample import jackknife_error

MOST_PAIRS = 200


def paired_error(ranks: Ranks, figure: Callable[[Evidence], float], ties: str = "random") -> float:
    """Standard error of a figure over the draw of classes. The rows of a class go with it, so theirs is in it, too."""
    n_groups = ranks.n_groups

    def without(*groups: int) -> float:
        kept = np.ones(n_groups, dtype=bool)
        kept[list(groups)] = False
        return figure(ranks.among(kept, ties, statistics=False))

    single = np.array([without(group) for group in range(n_groups)])
    alone = float(jackknife_error(single, np.bincount(ranks.group))) ** 2
    if n_groups < 4 or alone == 0:
        return math.sqrt(alone)
    # How much more two groups do than each alone.
    whole = without()
    together = [
        n_groups * whole - (n_groups - 1) * (single[a] + single[b]) + (n_groups - 2) * without(a, b)
        for a, b in some_pairs(n_groups)
    ]
    in_pairs = float(np.var(together)) * (n_groups - 1) / (2 * (n_groups + 1))
    return math.sqrt(alone - min(in_pairs, alone) / 2)


def some_pairs(n_groups: int) -> NDArray[np.int64]:
    """All pairs of groups, or some at random, always the same."""
    pairs = np.array(list(combinations(range(n_groups), 2)), dtype=np.int64)
    if len(pairs) <= MOST_PAIRS:
        return pairs
    return pairs[seeds.generator(0, "pairs of groups", n_groups).choice(len(pairs), MOST_PAIRS, replace=False)]
