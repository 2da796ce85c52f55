"""`BeatenShare`: a distribution of U, the share of all classes that a row beats, and what follows from it.

Accuracy with k classes, the chance to be among the first m, and the mean cost of a rank are all integrals of it. Each
method of `methods` that assumes something about U has its distribution here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, expit, gammaln, log_ndtr, logit, ndtr, ndtri

from ...arrays import Floats
from ...expect import InputError

MOST_FOR_COSTS = 10**7
"""Costs by rank need a sum over ranks; with more classes than this it would take too long."""
REACH = 12.0
"""Standard deviations of a binomial number that are summed to each side; what lies beyond is below 1e-30."""
RankCost = Callable[[NDArray[np.int64]], ArrayLike]


@dataclass(frozen=True, eq=False)
class BeatenShare:
    """U = Φ(z) at places `z` with `weights` that sum to 1. z may be infinite: a row that beats all classes, or none.

    >>> half = BeatenShare(np.array([0.0]), np.array([1.0]))
    >>> half.accuracy([1, 2, 3]), half.top(2, [3, 4])
    (array([1.  , 0.5 , 0.25]), array([0.75, 0.5 ]))
    """

    z: Floats
    weights: Floats

    def accuracy(self, k: ArrayLike) -> Floats:
        """E[U^(k−1)] for each k."""
        powers = np.asarray(k, dtype=float) - 1
        logs = np.maximum(log_ndtr(self.z), -1e280)  # times 1e12 is still a number
        accuracy: Floats = self.weights @ np.exp(logs[:, None] * powers.ravel())
        return np.minimum(accuracy, 1.0).reshape(powers.shape)

    def top(self, m: int, k: ArrayLike) -> Floats:
        """The chance that at most m − 1 of k − 1 others score higher: E P[Bin(k − 1, 1 − U) ≤ m − 1] for each k."""
        sizes = np.asarray(k, dtype=float)
        flat, beaten_by = sizes.ravel(), ndtr(-self.z)[:, None]
        chance = np.ones((self.z.size, flat.size))
        more = flat > m
        if more.any():
            # P[Bin(n, q) ≤ m − 1] = 1 − I_q(m, n − m + 1), which stays exact where q is tiny.
            chance[:, more] = 1 - betainc(float(m), flat[more] - m, beaten_by)
        chances: Floats = self.weights @ chance
        return np.minimum(chances, 1.0).reshape(sizes.shape)

    def below(self, u: ArrayLike) -> Floats:
        """P[U ≤ u]: between places it rises evenly on the probit scale."""
        wanted = np.asarray(u, dtype=float)
        finite = np.isfinite(self.z)
        order = np.argsort(self.z[finite], kind="stable")
        z, weights = self.z[finite][order], self.weights[finite][order]
        none = float(self.weights[np.isneginf(self.z)].sum())
        places = ndtri(wanted)
        if z.size == 1:
            rising = np.where(places >= z[0], weights[0], 0.0)
        elif z.size:
            ends = np.concatenate([[z[0] - (z[1] - z[0]) / 2], (z[1:] + z[:-1]) / 2, [z[-1] + (z[-1] - z[-2]) / 2]])
            rising = np.interp(places, ends, np.concatenate([[0.0], np.cumsum(weights)]))
        else:
            rising = np.zeros(wanted.shape)
        shares: Floats = np.where(wanted >= 1, 1.0, np.minimum(none + rising, 1.0))
        return shares

    def mean_cost(self, k: int, cost: RankCost) -> float:
        """E[cost(R)], R the rank of the true class among k, from 1: R − 1 is Bin(k − 1, 1 − U)."""
        if k > MOST_FOR_COSTS:
            raise InputError(
                f"`k` is {k}; costs by rank are summed over ranks, for at most {MOST_FOR_COSTS:,} classes."
            )
        n, total = k - 1, 0.0
        for z, weight in zip(self.z, self.weights):
            share = float(ndtr(-z))
            middle, reach = n * share, REACH * np.sqrt(n * share * (1 - share)) + 30
            above = np.arange(max(int(middle - reach), 0), min(int(middle + reach), n) + 1)
            # A sum of terms: a binomial number far from its mean has a chance below 1e-30.
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = gammaln(n + 1) - gammaln(above + 1) - gammaln(n - above + 1)
                logs += np.where(above > 0, above * log_ndtr(-z), 0.0)
                logs += np.where(above < n, (n - above) * log_ndtr(z), 0.0)
            chances = np.exp(logs)
            total += float(weight) * float(chances @ costs_of_ranks(cost, above + 1)) / float(chances.sum())
        return total


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


def combine(shares: list[Floats]) -> Floats:
    """The mean of several shares on the logit scale, which is that of one share if there is only one."""
    if len(shares) == 1:
        return shares[0]
    mean = sum(logit(np.clip(share, 1e-300, 1 - 1e-15)) for share in shares) / len(shares)
    combined: Floats = expit(np.asarray(mean))
    return combined
