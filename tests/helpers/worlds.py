"""Ways in which subsets may behave, with known entropies.

`NAMES` are the five on which the estimator was made; `JUDGES` are five others, on which it is judged.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from scipy.special import digamma

NAMES = ["uniform", "fixed", "half", "dirichlet", "flips"]
JUDGES = ["correlated flips", "mixed subsets", "heavy tails", "comonotone", "imbalance"]


def world(name: str, n_subsets: int, refits: int, seed: int, points: int = 5):
    """Numbers of labelings (1, K, R), and the true stochasticity and expressivity in bits."""
    rng = np.random.default_rng(seed)
    labelings = 2**points
    base = rng.integers(labelings, size=n_subsets)
    shares = np.zeros((n_subsets, labelings))
    if name == "uniform":
        shares[:] = 1 / labelings
        within = float(points)
    elif name == "fixed":
        shares[np.arange(n_subsets), base] = 1
        within = 0.0
    elif name == "half":
        shares[:] = 0.5 / labelings
        shares[np.arange(n_subsets), base] += 0.5
        top, rest = 0.5 + 0.5 / labelings, 0.5 / labelings
        within = -top * np.log2(top) - (labelings - 1) * rest * np.log2(rest)
    elif name == "dirichlet":
        shares = rng.dirichlet(np.full(labelings, 0.3), n_subsets)
        within = (digamma(labelings * 0.3 + 1) - digamma(1.3)) / np.log(2)
    elif name == "flips":
        wrong = np.array([bin(number).count("1") for number in range(labelings)])
        distance = wrong[base[:, None] ^ np.arange(labelings)]
        shares = 0.1**distance * 0.9 ** (points - distance)
        within = points * (-0.1 * np.log2(0.1) - 0.9 * np.log2(0.9))
    elif name in JUDGES:
        shares = _shares(name, rng, n_subsets, points)
        numbers = np.stack([rng.choice(labelings, refits, p=share / share.sum()) for share in shares])
        return numbers[None], *_truth(name, points)
    else:
        raise ValueError(name)
    numbers = np.stack([rng.choice(labelings, refits, p=share) for share in shares])
    return numbers[None], within, float(points)


def _shares(name: str, rng, n_subsets: int, points: int):
    """The distribution over labelings of each subset, (K, 2^points), in the worlds that judge."""
    bits = np.arange(2**points)[:, None] >> np.arange(points) & 1
    if name == "correlated flips":
        # A refit is a careful one, or a careless one that errs on many points at once.
        base = bits[rng.integers(2**points, size=n_subsets)]
        wrong = (base[:, None] != bits[None]).sum(axis=2)
        return sum(w * f**wrong * (1 - f) ** (points - wrong) for w, f in ((0.8, 0.02), (0.2, 0.4)))
    if name == "mixed subsets":
        # Half of the subsets leave no choice, half leave nearly all.
        shares = rng.dirichlet(np.full(2**points, 2.0), n_subsets)
        certain = np.arange(n_subsets) % 2 == 0
        shares[certain] = 0
        shares[certain, rng.integers(2**points, size=certain.sum())] = 1
        return shares
    if name == "comonotone":
        # One draw decides all points: those whose share of 1 is above it say 1.
        p = rng.beta(0.5, 0.5, size=(n_subsets, points))
        shares = np.zeros((n_subsets, 2**points))
        for order, row in enumerate(p):
            cuts = np.concatenate([[0.0], np.sort(row), [1.0]])
            for low, high in pairwise(cuts):
                shares[order, int((row >= high) @ (1 << np.arange(points)))] += high - low
        return shares
    if name == "heavy tails":
        p = 1 / (1 + np.exp(-1.5 * rng.standard_t(2, size=(n_subsets, points))))
    else:  # imbalance: label 1 is rare, and rarer still for most subsets
        p = rng.beta(0.2, 3.8, size=(n_subsets, points))
    return np.where(bits[None], p[:, None], 1 - p[:, None]).prod(axis=2)


@cache
def _truth(name: str, points: int) -> tuple[float, float]:
    """Stochasticity and expressivity, from very many subsets."""
    shares = _shares(name, np.random.default_rng(12345), 40_000, points)
    within = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1).mean()
    overall = shares.mean(axis=0)
    return float(within), float(-(overall * np.log2(overall)).sum())


def as_labels(numbers, points: int = 5):
    """The same answers as labels of points, (K, R, points): the bits of each number."""
    return numbers[0][..., None] >> np.arange(points) & 1
