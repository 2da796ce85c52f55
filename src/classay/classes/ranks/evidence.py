"""What ranks say about accuracy with fewer classes: exact averages over label sets, without a model.

`Evidence` is how some rows ranked, with weights of the classes (equal, or a prior). Accuracy with k classes, the chance
to be among the first m, and the mean cost of a rank are averages over all label sets of k of the observed classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from ...arrays import AnyInts, Floats
from ...expect import InputError, one_of, shown

TIES = ("random", "wrong", "right")
NEGLIGIBLE = 1e-20
FEW = 32
MOST_NUMBERS = 2**21
"""A table of probabilities up to this size (16 MB) is computed at once and cached."""
PRIORS = ("rows", "zipf")
BLOCK = 2**21
"""Chances of ranks to compute at a time."""
RankCost = Callable[[NDArray[np.int64]], ArrayLike]
"""Ranks, from 1 -> what each costs."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """How m test rows ranked against the other K − 1 classes.

    `lower` and `tied` count the other classes with a lower and with the same score; `weights` sum to 1 and give every
    class the same weight. `z` is (true score − mean of the others) / their standard deviation, NaN where that is 0;
    None: not computed.

    >>> Evidence(3, np.array([2, 1]), np.array([0, 1]), np.array([0.5, 0.5])).accuracy()
    array([1.   , 0.875, 0.75 ])
    """

    n_classes: int
    lower: AnyInts
    tied: AnyInts
    weights: Floats
    z: Floats | None = None
    ties: str = "random"

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


# Ranks within label sets: the chance to be among the first m, and costs of ranks.


def rank_chances(n_classes: int, k: int, first: int, last: int) -> Floats:
    """(K, ranks): chance of each rank from `first` to `last` among k random classes, by the number of classes beaten.

    A row that beats L of K − 1 others is above k − r of k − 1 random ones with chance C(L, k−r)·C(K−1−L, r−1)/C(K−1,
    k−1): the hypergeometric distribution.

    >>> rank_chances(3, 2, 1, 2).round(12)
    array([[0. , 1. ],
           [0.5, 0.5],
           [1. , 0. ]])
    """
    beaten = np.arange(n_classes)[:, None]
    above = np.arange(first - 1, last)[None]
    others, chosen = n_classes - 1, k - 1
    possible = (above <= others - beaten) & (chosen - above <= beaten)
    with np.errstate(invalid="ignore"):
        logs = _log_choose(others - beaten, above) + _log_choose(beaten, chosen - above) - _log_choose(others, chosen)
        chances: Floats = np.where(possible, np.exp(np.where(possible, logs, 0.0)), 0.0)
    return np.minimum(chances, 1.0)


def top_of_label_sets(beaten: Floats, m: int, sizes: NDArray[np.integer]) -> Floats:
    """The chance that the true class is among the first m of k random classes, for each size k ≤ K.

    beaten : (K,) weight of the rows that beat 0, 1, …, K − 1 other classes
    """
    n_classes = beaten.size
    shares = [
        1.0 if k <= m else float(beaten @ rank_chances(n_classes, int(k), 1, m).sum(axis=1)) for k in sizes.tolist()
    ]
    return np.minimum(shares, 1.0)


def cost_of_label_sets(beaten: Floats, k: int, cost: RankCost) -> float:
    """The mean cost of the rank of the true class among k random classes."""
    step, total = max(1, BLOCK // beaten.size), 0.0
    for first in range(1, k + 1, step):
        last = min(first + step - 1, k)
        ranks = np.arange(first, last + 1)
        total += float(beaten @ rank_chances(beaten.size, k, first, last) @ costs_of_ranks(cost, ranks))
    return total


def _log_choose(n: NDArray[np.integer] | int, r: NDArray[np.integer] | int) -> Floats:
    """Log C(n, r); what is impossible is replaced later."""
    low = np.maximum(np.asarray(n) - np.asarray(r), 0)
    logs: Floats = gammaln(np.asarray(n) + 1.0) - gammaln(np.maximum(np.asarray(r), 0) + 1.0) - gammaln(low + 1.0)
    return logs


def costs_of_ranks(cost: RankCost, ranks: NDArray[np.int64]) -> Floats:
    """The user's costs for an array of ranks, checked."""
    try:
        costs = np.asarray(cost(ranks), dtype=float)
    except Exception as error:  # a user's function may raise anything
        raise InputError(f"`cost` failed for an array of ranks ({type(error).__name__}: {error}).") from error
    if costs.shape not in ((), ranks.shape) or not np.isfinite(costs).all():
        raise InputError(
            f"`cost` gave shape {costs.shape} for {ranks.size} ranks, or numbers that are not finite; expected one "
            "finite cost for each rank, such as lambda rank: np.minimum(rank - 1, 5)."
        )
    return np.broadcast_to(costs, ranks.shape)


# How often each class is the true one.


def class_weights(truth: AnyInts, n_classes: int, prior: Floats | None = None) -> Floats:
    """Weights of rows that give every class with rows the same weight, or that of the prior, and sum to 1."""
    sizes = np.bincount(truth, minlength=n_classes)
    if prior is None:
        weights: Floats = 1.0 / (np.count_nonzero(sizes) * sizes[truth])
        return weights
    share = prior * (sizes > 0)
    # If only classes without weight are left, none counts more than another.
    share = share / share.sum() if share.sum() > 0 else (sizes > 0) / max(int(np.count_nonzero(sizes)), 1)
    return np.asarray(share[truth] / sizes[truth])


def prior_of(prior: Any, classes: NDArray[Any], truth: AnyInts) -> Floats:
    """A prior as weights of the classes that sum to 1."""
    rows = np.bincount(truth, minlength=classes.size).astype(float)
    if isinstance(prior, str):
        if one_of(prior, "prior", PRIORS) == "rows":
            return np.asarray(rows / rows.sum())
        order = np.argsort(-rows, kind="stable")
        weights = np.empty(classes.size)
        weights[order] = 1 / np.arange(1, classes.size + 1)
        return np.asarray(weights / weights.sum())
    if isinstance(prior, Mapping):
        names = classes.tolist()
        missing, unknown = [name for name in names if name not in prior], [name for name in prior if name not in names]
        if missing or unknown:
            raise InputError(
                f"`prior` lacks {shown(missing, 4) or 'no class'} and names {shown(unknown, 4) or 'no other'}; "
                f"expected a weight for each of the {classes.size} classes."
            )
        prior = [prior[name] for name in names]
    try:
        weights = np.asarray(prior, dtype=float)
    except (ValueError, TypeError) as error:
        raise InputError(f'`prior` is {prior!r}; expected weights of the classes, "rows" or "zipf".') from error
    if weights.shape != (classes.size,):
        raise InputError(f"`prior` has shape {weights.shape}; expected one weight for each of {classes.size} classes.")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights * (rows > 0)).sum() > 0):
        raise InputError(
            "`prior` has negative or infinite weights, or none above 0 for a class with test rows; expected weights "
            "from 0 up."
        )
    return np.asarray(weights / weights.sum())
