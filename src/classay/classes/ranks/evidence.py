"""`Evidence`: everything that later steps use. Pure arrays, without names.

A test row beats L other classes and ties with t. In a label set of k classes, drawn at random around the true one, it
is right if the k − 1 others are all among those it beats. Averaged over *all* such sets that is

    ties wrong: C(L, k−1) / C(K−1, k−1);   right: the same with L + t;   random: the mean of it over L, …, L + t,

the last because ties broken at random put the true class anywhere among those it ties with. It equals the usual
[C(L+t+1, k) − C(L, k)] / ((t+1)·C(K−1, k−1)), without its cancellation. So one histogram, of how many classes rows
beat, gives the whole curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import AnyInts, Floats
from ...expect import InputError, one_of

TIES = ("random", "wrong", "right")
NEGLIGIBLE = 1e-20
FEW = 32
MOST_NUMBERS = 2**21
"""A table of probabilities up to this size (16 MB) is computed at once and cached."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """How m test rows ranked against the other K − 1 classes.

    `lower` and `tied` count the other classes with a lower and with the same score; `weights` sum to 1 and give every
    class the same weight. `z` is (true score − mean of the others) / their standard deviation, NaN if that is 0 or was
    not computed; `kernel` the smoothed share of other classes below the true score, NaN if it was not computed.

    >>> Evidence(3, np.array([2, 1]), np.array([0, 1]), np.array([0.5, 0.5])).accuracy()
    array([1.   , 0.875, 0.75 ])
    """

    n_classes: int
    lower: AnyInts
    tied: AnyInts
    weights: Floats
    z: Floats = None  # type: ignore[assignment]  # set below
    kernel: Floats = None  # type: ignore[assignment]
    ties: str = "random"

    def __post_init__(self) -> None:
        one_of(self.ties, "ties", TIES)
        for name in ("z", "kernel"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.full(self.lower.shape, np.nan))

    @cached_property
    def beaten(self) -> Floats:
        """(K,): weight of the rows that beat 0, 1, …, K − 1 other classes. The curve depends on nothing else."""
        lower = self.lower + (self.tied if self.ties == "right" else 0)
        tied = self.tied if self.ties == "random" else np.zeros_like(self.tied)
        beaten = spread_weights(lower, tied, self.weights, self.n_classes)
        return beaten / beaten.sum() if lower.size else beaten  # without the rounding of many small weights

    def accuracy(self, k: ArrayLike | None = None) -> Floats:
        """Average accuracy over all label sets of each size k, by default 1, …, K. NaN if there are no rows."""
        sizes = np.arange(1, self.n_classes + 1) if k is None else np.asarray(k, dtype=np.int64)
        if sizes.size and not 1 <= sizes.min() <= sizes.max() <= self.n_classes:
            raise InputError(
                f"`k` reaches from {sizes.min()} to {sizes.max()}; expected sizes from 1 to {self.n_classes}, the "
                "observed classes. For more classes use `classay.extrapolate`."
            )
        if not self.lower.size:
            return np.full(sizes.shape, np.nan)
        accuracy = mean_over_label_sets(self.beaten, sizes.ravel()).reshape(sizes.shape)
        return np.where(sizes == 1, 1.0, np.minimum(accuracy, 1.0))  # rounding may leave 1 + 2e-16


def mean_over_label_sets(beaten: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Σ_j beaten[j]·C(j, k−1)/C(K−1, k−1) for each size k. `beaten` must not be negative."""
    n_classes = beaten.size
    if n_classes * sizes.size <= MOST_NUMBERS:
        means: Floats = chance_table(n_classes, sizes.tobytes()) @ beaten
    elif 4 * np.unique(sizes).size > sizes.max():
        means = _by_recursion(beaten, int(sizes.max()))[sizes - 1]
    else:
        step = max(1, MOST_NUMBERS // n_classes)
        parts = [_chance_table(n_classes, sizes[start : start + step]) @ beaten for start in range(0, sizes.size, step)]
        means = np.concatenate(parts)
    return means


@lru_cache(maxsize=4)
def chance_table(n_classes: int, sizes: bytes) -> Floats:
    """`_chance_table`, remembered: resampling asks for the same sizes again and again."""
    table = _chance_table(n_classes, np.frombuffer(sizes, dtype=np.int64))
    table.flags.writeable = False
    return table


def _chance_table(n_classes: int, sizes: NDArray[np.int64]) -> Floats:
    """(sizes, K): C(j, k−1)/C(K−1, k−1) for j = 0, …, K − 1; what is too small for a float becomes 0.

    It is a product of k − 1 factors, or equally of K − 1 − j. Few factors keep all digits: for small k those are the
    former, and for large k the latter, where it matters.
    """
    table = np.empty((sizes.size, n_classes))
    lower = np.arange(n_classes, dtype=float)
    row = np.ones(n_classes)
    for k in range(1, FEW + 1):
        table[sizes == k] = row
        row = row * np.maximum(lower - k + 1, 0.0) / max(n_classes - k, 1)
    many = np.flatnonzero(sizes > FEW)
    if many.size:
        # From the right: with one class less that is beaten, C(j−1, k−1)/C(j, k−1) = (j − k + 1)/j.
        factors = np.ones((many.size, n_classes))
        np.subtract(lower[:0:-1], (sizes[many] - 1)[:, None], out=factors[:, 1:])
        factors[:, 1:] /= lower[:0:-1]
        np.maximum(factors, 0.0, out=factors)
        table[many] = np.multiply.accumulate(factors, axis=1, out=factors)[:, ::-1]
    return table


def _by_recursion(beaten: Floats, most: int) -> Floats:
    """The whole curve to k = `most`, without a table: from k to k + 1 every term gets a factor (j − k + 1)/(K − k).

    The factor is larger for larger j, so terms that have become negligible stay so, and are dropped.
    """
    n_classes = beaten.size
    sums = np.zeros(most)
    terms, steps, first = beaten.copy(), np.arange(n_classes, dtype=float), 0
    for k in range(1, most + 1):
        sums[k - 1] = np.add.reduce(terms[first:])
        if k % 32 == 0:
            running = np.cumsum(terms[first:])
            first += int(np.searchsorted(running, NEGLIGIBLE * running[-1]))
        first = max(first, k)
        left = terms[first:]
        left *= steps[first - k + 1 : n_classes - k + 1]
        left /= max(n_classes - k, 1)
    return sums


def spread_weights(first: AnyInts, tied: AnyInts, weights: Floats, size: int) -> Floats:
    """(size,): every weight in equal parts on the places first, …, first + tied.

    A part goes to few nodes of a binary tree over the places, and from there down to the leaves: only sums of weights,
    where a running sum of differences would leave errors of 1e-17 that hide small accuracies.
    """
    among = np.flatnonzero(tied)
    whole = np.where(tied == 0, weights, 0.0) if among.size else weights
    spread: Floats = np.bincount(first, whole, size).astype(np.float64, copy=False)
    if not among.size:
        return spread
    leaves = 1 << max(size - 1, 1).bit_length()
    tree = np.zeros(2 * leaves)
    left = first[among].astype(np.int64) + leaves
    right = left + tied[among] + 1
    part = weights[among] / (tied[among] + 1)
    while left.size:
        odd = (left & 1) == 1
        tree += np.bincount(left[odd], part[odd], tree.size)
        left = (left + odd) >> 1
        odd = (right & 1) == 1
        tree += np.bincount(right[odd] - 1, part[odd], tree.size)
        right = right >> 1
        inside = left < right
        left, right, part = left[inside], right[inside], part[inside]
    width = 1
    while width < leaves:
        tree[2 * width : 4 * width] += np.repeat(tree[width : 2 * width], 2)
        width *= 2
    return spread + tree[leaves : leaves + size]
