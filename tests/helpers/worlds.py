"""Ways in which subsets may behave, with known entropies.

`NAMES` are the five on which the estimator was made; `JUDGES` are five others, on which it is judged.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise

import numpy as np

NAMES = ["uniform", "fixed", "half", "dirichlet", "flips"]
JUDGES = ["correlated flips", "mixed subsets", "heavy tails", "comonotone", "imbalance"]


def world(name: str, n_subsets: int, refits: int, seed: int, points: int = 5):
    """Numbers of labelings (1, K, R), and the true stochasticity and expressivity in bits."""
    rng = np.random.default_rng(seed)
    shares = _shares(name, rng, n_subsets, points)
    numbers = np.stack([rng.choice(2**points, refits, p=share / share.sum()) for share in shares])
    return numbers[None], *_truth(name, points)


def _shares(name: str, rng, n_subsets: int, points: int):
    """The distribution over labelings of each subset, (K, 2^points)."""
    labelings = 2**points
    bits = np.arange(labelings)[:, None] >> np.arange(points) & 1
    own = rng.integers(labelings, size=n_subsets)
    wrong = (bits[own][:, None] != bits[None]).sum(axis=2)
    if name == "uniform":
        return np.full((n_subsets, labelings), 1 / labelings)
    if name == "fixed":
        return (wrong == 0).astype(float)
    if name == "half":
        return 0.5 / labelings + 0.5 * (wrong == 0)
    if name == "dirichlet":
        return rng.dirichlet(np.full(labelings, 0.3), n_subsets)
    if name == "flips":
        return 0.1**wrong * 0.9 ** (points - wrong)
    if name == "correlated flips":
        # A refit is a careful one, or a careless one that errs on many points at once.
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
    return float(_bits(shares).mean()), float(_bits(shares.mean(axis=0)))


def _bits(shares):
    return -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=-1)


def as_labels(numbers, points: int = 5):
    """The same answers as labels of points, (K, R, points): the bits of each number."""
    return numbers[0][..., None] >> np.arange(points) & 1


# Worlds of many points: subset k has components with weights (K, T), and component t says 1 with probability (K, T, n).
# A refit is one of the components of its subset; given that, its labels are independent.

COMPONENTS = ["few collapse", "one point", "two bits", "own five", "sharper laws", "three states", "never"]


def components(name: str, rng, n_subsets: int, n_points: int = 10):
    """Weights (K, T) and probabilities (K or 1, T, n) of label 1. Patterns are the same for every `rng`."""
    fixed = np.random.default_rng(len(name))
    patterns = fixed.integers(2, size=(1, 15, n_points)).astype(float)
    if name in ("few collapse", "three states"):
        q = rng.choice([0.02, 0.5, 0.98], p=[0.5, 0.1, 0.4], size=(n_subsets, 1, n_points))
        if name == "few collapse":  # 3 % of subsets predict 0 everywhere
            q = np.where(rng.random((n_subsets, 1, 1)) < 0.03, 0.0, 0.02 + 0.3 * patterns[:, :1])
        return np.ones((n_subsets, 1)), q
    if name in ("one point", "never"):  # 4 % of subsets are different at one point, or none
        q = patterns[:, :1].repeat(n_subsets, axis=0)
        changed = np.flatnonzero(rng.random(n_subsets) < (0.04 if name == "one point" else 0))
        q[changed, 0, rng.integers(n_points, size=changed.size)] = 0.5
        return np.ones((n_subsets, 1)), q
    if name == "two bits":  # one of four patterns is learned from the sample; one refit of seven is a random one
        return 0.15 / 4 + 0.85 * np.eye(4)[rng.choice(4, n_subsets, p=[0.6, 0.25, 0.1, 0.05])], patterns[:, :4]
    if name == "own five":
        own = rng.random((n_subsets, 15)).argsort(axis=1) < 5
        weights = rng.exponential(size=own.shape) * own
    else:  # Zipf's law, with another exponent for each subset
        weights = np.arange(1.0, 16) ** -rng.uniform(0.3, 3, size=(n_subsets, 1))
    return weights / weights.sum(axis=1, keepdims=True), patterns


def predictions(name: str, n_subsets: int, refits: int, seed: int):
    """Labels (K, R, n) of refits."""
    rng = np.random.default_rng([seed, n_subsets, refits])
    weights, q = components(name, rng, n_subsets)
    chosen = (weights.cumsum(axis=1)[:, None] < rng.random((n_subsets, refits, 1)) * 0.999999).sum(axis=2)
    return (rng.random((*chosen.shape, q.shape[2])) < q[np.arange(n_subsets)[:, None] % len(q), chosen]).astype(int)


@cache
def true_figures(name: str, size: int, threshold: int):
    """Expressivity, capacity, stochasticity, and the share of at least `threshold` of `size` labels 1."""
    rng = np.random.default_rng(54321)
    weights, q = components(name, rng, 3000 if name in ("two bits", "own five", "sharper laws") else 30_000)
    bits = np.arange(2**size)[:, None] >> np.arange(size) & 1
    figures = []
    for holdout in combinations(range(q.shape[2]), size):
        here = q[:, :, None, holdout]
        law = (weights[:, :, None] * np.where(bits, here, 1 - here).prod(axis=3)).sum(axis=1)
        overall, within = _bits(law.mean(axis=0)), _bits(law).mean()
        figures.append((overall, overall - within, within, law.mean(axis=0)[bits.sum(axis=1) >= threshold].sum()))
    return np.mean(figures, axis=0)
