"""How often the intervals of `extrapolate` hold the accuracy that comes, in worlds where it is known."""

from __future__ import annotations

import numpy as np

from classay import accuracy_curve
from classay.classes.extrapolate.extrapolate import forecast
from classay.classes.ranks.ranks import Ranks

RUNS, ROWS = 40, 5
WORLDS = {
    "normal, 10 dimensions, noise .5": ("normal", 10, 0.5),
    "normal, 10 dimensions, noise .8": ("normal", 10, 0.8),
    "normal, 10 dimensions, noise 1.5": ("normal", 10, 1.5),
    "normal, 5 dimensions, noise .4": ("normal", 5, 0.4),
    "normal, 30 dimensions, noise 1.5": ("normal", 30, 1.5),
    "heavy tails, 10 dimensions, noise .6": ("heavy", 10, 0.6),
    "ten clusters, 10 dimensions, noise .5": ("clusters", 10, 0.5),
}
CENTRES = np.random.default_rng(123).normal(size=(10, 30))


def means(kind: str, d: int, n: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "heavy":
        return rng.standard_t(3, size=(n, d)) / np.sqrt(3)
    if kind == "clusters":
        return 0.8 * CENTRES[rng.integers(10, size=n), :d] + 0.6 * rng.normal(size=(n, d))
    return rng.normal(size=(n, d))


def ranks(world: tuple[str, int, float], n_classes: int, rows: int, rng: np.random.Generator) -> Ranks:
    """Test rows around means of classes, scored by the nearest mean."""
    kind, d, noise = world
    centres = means(kind, d, n_classes, rng)
    y = np.repeat(np.arange(n_classes), rows)
    x = centres[y] + noise * rng.normal(size=(y.size, d))
    scores = 2 * x @ centres.T - (centres**2).sum(axis=1)
    return Ranks.from_scores(scores.astype(np.float32), y, marginal=True)


def test_intervals_hold_what_comes():
    every = []
    for number, (name, world) in enumerate(WORLDS.items()):
        for n_classes in (20, 50, 100):
            rng = np.random.default_rng([11, number, n_classes])
            sizes = [2 * n_classes, 5 * n_classes, 10 * n_classes]
            truth = np.mean([ranks(world, sizes[-1], 2, rng).evidence().accuracy(sizes) for _ in range(6)], axis=0)
            held, told = [], []
            for _ in range(RUNS):
                found = forecast(accuracy_curve(ranks(world, n_classes, ROWS, rng)), sizes, "combined", 0)
                held.append([one.low <= each <= one.high for one, each in zip(found, truth)])
                told.append([one.known for one in found])
            every.append(np.mean(held, axis=0))
            print(
                f"{name}, {n_classes} classes to {sizes}: true {truth.round(3)}, held {every[-1].round(3)}, "
                f"identified {np.mean(told, axis=0).round(2)}",
                flush=True,
            )
    overall, least = np.mean(every), np.min(every)
    print(f"held in {overall:.1%} of all, in {least:.0%} of the worst cell")
    assert 0.90 <= overall <= 0.985
    assert least >= 0.6
