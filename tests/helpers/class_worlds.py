"""Eight sources of classes for which the accuracy with any number of them can be drawn: what extrapolation must meet.

Every source has class means, the noise of its classes and scores by the nearest mean, so that classes can be added at
will. Four were used to choose the rules of `classay.classes.extrapolate`; the other four were kept aside until the end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from classay.classes.ranks.ranks import Ranks

ROWS = 4
Rng = np.random.Generator
Source = Callable[[int, Rng], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Number of classes, generator -> means (K, d), noise of each class (K,), rows of each class (K,)."""


def lognormal_spreads(n: int, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normal means in 10 dimensions; the noise of a class is log-normal."""
    return rng.normal(size=(n, 10)), 0.6 * np.exp(0.5 * rng.normal(size=n)), np.full(n, ROWS)


def easy_and_hard(n: int, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half of the classes have little noise, the others much."""
    return rng.normal(size=(n, 10)), np.where(rng.random(n) < 0.5, 0.35, 1.2), np.full(n, ROWS)


def twins(n: int, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Classes come in pairs whose means are close: not drawn independently, and random subsets separate the pairs."""
    pairs = np.repeat(rng.normal(size=((n + 1) // 2, 10)), 2, axis=0)[:n]
    return pairs + 0.25 * rng.normal(size=(n, 10)), np.full(n, 0.5), np.full(n, ROWS)


def heavy_tails(n: int, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means with Student's t with 3 degrees of freedom: few classes far out, many close together."""
    return rng.standard_t(3, size=(n, 10)) / np.sqrt(3), np.full(n, 0.6), np.full(n, ROWS)


def families(n: int, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A hierarchy: 12 families, within them 8 genera each, the same for every draw; classes around the genera."""
    fixed = np.random.default_rng(17)
    family = fixed.normal(size=(12, 10))
    genera = np.repeat(family, 8, axis=0) + 0.5 * fixed.normal(size=(96, 10))
    return genera[rng.integers(96, size=n)] + 0.35 * rng.normal(size=(n, 10)), np.full(n, 0.33), np.full(n, ROWS)


def zipf_sizes(n: int, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a class by Zipf's law, in random order; rarer classes are noisier."""
    place = rng.permutation(n) + 1.0
    rows = np.clip(np.round(ROWS * 3 / (place * 12 / n)), 1, 40).astype(int)
    return rng.normal(size=(n, 8)), 0.35 + 0.35 * place / n, rows


def on_a_sphere(n: int, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Directions in 16 dimensions, as embeddings are, with noise that varies by class."""
    means = rng.normal(size=(n, 16))
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return means, rng.uniform(0.1, 0.35, size=n), np.full(n, ROWS)


def crowded(n: int, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A third of the classes crowd in a corner of 6 dimensions, the others are spread out."""
    means = rng.normal(size=(n, 6))
    inside = rng.random(n) < 1 / 3
    means[inside] = 2.0 + 0.3 * means[inside]
    return means, np.full(n, 0.25), np.full(n, ROWS)


TUNED: dict[str, Source] = {
    "lognormal spreads": lognormal_spreads,
    "easy and hard": easy_and_hard,
    "twins": twins,
    "heavy tails": heavy_tails,
}
KEPT_ASIDE: dict[str, Source] = {
    "families": families,
    "Zipf sizes": zipf_sizes,
    "sphere": on_a_sphere,
    "crowded corner": crowded,
}


def class_scores(source: Source, n_classes: int, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Test rows of every class, scored by the nearest mean, and their true classes."""
    means, noise, rows = source(n_classes, rng)
    y = np.repeat(np.arange(n_classes), rows)
    x = means[y] + noise[y][:, None] * rng.normal(size=(y.size, means.shape[1]))
    return (2 * x @ means.T - (means**2).sum(axis=1)).astype(np.float32), y


def class_ranks(source: Source, n_classes: int, rng: Rng) -> Ranks:
    """The record of such scores."""
    return Ranks.from_scores(*class_scores(source, n_classes, rng), marginal=True)


def true_accuracy(source: Source, sizes: list[int], seed: int = 99, draws: int = 8) -> np.ndarray:
    """The accuracy with each number of classes, from several draws of so many classes."""
    values = [
        [class_ranks(source, k, np.random.default_rng([seed, k, draw])).evidence().accuracy([k])[0] for k in sizes]
        for draw in range(draws)
    ]
    return np.mean(values, axis=0)


def led_scores(n_classes: int = 30, rows: int = 6, lead: float = 2.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal scores, and the true class ahead by `lead`; ι = lead²/2."""
    truth = np.repeat(np.arange(n_classes), rows)
    noise = np.random.default_rng(seed).normal(size=(truth.size, n_classes))
    return noise + lead * np.eye(n_classes)[truth], truth


def gaussian_scores(
    n_classes: int, rows: int, dimensions: int, noise: float, rng: Rng
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the best classifier of a Gaussian channel: stimulus normal, response with normal noise."""
    centres, y = rng.normal(size=(n_classes, dimensions)), np.repeat(np.arange(n_classes), rows)
    responses = centres[y] + noise * rng.normal(size=(y.size, dimensions))
    return responses @ centres.T - (centres**2).sum(axis=1) / 2, y
