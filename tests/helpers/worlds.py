"""Five ways in which subsets may behave, with known entropies: the benchmark of METHODS, section 1."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

NAMES = ["uniform", "fixed", "half", "dirichlet", "flips"]


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
    else:
        raise ValueError(name)
    numbers = np.stack([rng.choice(labelings, refits, p=share) for share in shares])
    return numbers[None], within, float(points)


def as_labels(numbers, points: int = 5):
    """The same answers as labels of points, (K, R, points): the bits of each number."""
    return numbers[0][..., None] >> np.arange(points) & 1
