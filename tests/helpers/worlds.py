"""Ways in which subsets may behave, with known figures.

On `NAMES`, of five points, the estimator was made; `JUDGES`, of ten points, are others, on which it is judged.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
from scipy.special import expit

NAMES = ["uniform", "fixed", "half", "dirichlet", "flips"]
JUDGES = ["careless", "heavy tails", "rare label", "few collapse", "one point", "two bits", "own five", "sharper laws"]


def world(name: str, n_subsets: int, refits: int, seed: int):
    """Numbers of labelings (1, K, R) of one of `NAMES`, and the true stochasticity and expressivity in bits."""
    overall, _, within, _ = true_figures(name)
    return predictions(name, n_subsets, refits, seed)[None] @ (1 << np.arange(5)), within, overall


def predictions(name: str, n_subsets: int, refits: int, seed: int):
    """Labels (K, R, n) of refits, 0 or 1."""
    rng = np.random.default_rng([seed, n_subsets, refits])
    weights, q = _components(name, rng, n_subsets)
    chosen = (weights.cumsum(axis=1)[:, None] < rng.random((n_subsets, refits, 1)) * 0.999999).sum(axis=2)
    return (rng.random((*chosen.shape, q.shape[2])) < q[np.arange(n_subsets)[:, None] % len(q), chosen]).astype(int)


@cache
def true_figures(name: str):
    """Expressivity, capacity and stochasticity of five points, and how often at least four labels are 1."""
    rng = np.random.default_rng(54321)
    weights, q = _components(name, rng, 4000)
    bits, figures = _labelings(5), []
    for holdout in combinations(range(q.shape[2]), 5):
        here = q[:, :, None, holdout]
        law = (weights[:, :, None] * np.where(bits, here, 1 - here).prod(axis=3)).sum(axis=1)
        overall = _entropy(law.mean(axis=0))
        within = _entropy(law).mean()
        figures.append((overall, overall - within, within, law.mean(axis=0)[bits.sum(axis=1) >= 4].sum()))
    return np.mean(figures, axis=0)


def _components(name: str, rng, n_subsets: int):
    """Weights (K, T) of what a refit may be, and how probable label 1 then is at each point, (K or 1, T, n).

    Given what a refit is, its labels are independent. Patterns of labels are the same for every `rng`.
    """
    if name in NAMES:
        return _shares(name, rng, n_subsets), _labelings(5)[None].astype(float)
    patterns = np.random.default_rng(len(name)).integers(2, size=(1, 15, 10)).astype(float)
    one, each = np.ones((n_subsets, 1)), (n_subsets, 1, 10)
    if name == "careless":  # a refit is a careful one, or a careless one that errs on many points at once
        return one * [0.8, 0.2], np.abs(rng.integers(2, size=each) - np.array([[0.02], [0.4]]))
    if name == "heavy tails":
        return one, expit(1.5 * rng.standard_t(2, size=each))
    if name == "rare label":  # and rarer still for most subsets
        return one, rng.beta(0.2, 3.8, size=each)
    if name == "few collapse":  # 3 % of subsets predict 0 everywhere
        return one, np.where(rng.random((n_subsets, 1, 1)) < 0.03, 0.0, 0.02 + 0.3 * patterns[:, :1])
    if name == "one point":  # 4 % of subsets are different, at one point
        q, changed = patterns[:, :1].repeat(n_subsets, axis=0), np.flatnonzero(rng.random(n_subsets) < 0.04)
        q[changed, 0, rng.integers(10, size=changed.size)] = 0.5
        return one, q
    if name == "two bits":  # one of four patterns is learned from the sample; one refit of seven is a random one
        return 0.15 / 4 + 0.85 * np.eye(4)[rng.choice(4, n_subsets, p=[0.6, 0.25, 0.1, 0.05])], patterns[:, :4]
    if name == "own five":
        weights = rng.exponential(size=(n_subsets, 15)) * (rng.random((n_subsets, 15)).argsort(axis=1) < 5)
    else:  # Zipf's law, with another exponent for each subset
        weights = np.arange(1.0, 16) ** -rng.uniform(0.3, 3, size=(n_subsets, 1))
    return weights / weights.sum(axis=1, keepdims=True), patterns


def _shares(name: str, rng, n_subsets: int):
    """The distribution over the labelings of five points of each subset, (K, 32)."""
    bits = _labelings(5)
    wrong = (bits[rng.integers(32, size=n_subsets)][:, None] != bits[None]).sum(axis=2)
    if name == "uniform":
        return np.full((n_subsets, 32), 1 / 32)
    if name == "dirichlet":
        return rng.dirichlet(np.full(32, 0.3), n_subsets)
    if name == "flips":
        return 0.1**wrong * 0.9 ** (5 - wrong)
    return (wrong == 0) * 1.0 if name == "fixed" else 0.5 / 32 + 0.5 * (wrong == 0)


def _labelings(points: int):
    return np.arange(2**points)[:, None] >> np.arange(points) & 1


def _entropy(shares):
    return -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=-1)
