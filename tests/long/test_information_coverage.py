"""How often bounds on Bayes accuracy fail, and intervals of implied information hold. Run with `make long`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from class_worlds import gaussian_scores

from classay import accuracy_curve, information
from classay.classes.information.bayes import lower_bound
from classay.classes.information.channel import fit_mean_top, log_spaced_sizes
from classay.classes.ranks.ranks import Ranks

RUNS, DRAWS = 300, 1000
# Classes, rows of each, dimensions, noise: from .07 to .97 accurate, crowded (one dimension) and not.
SETTINGS = [
    (50, 20, 10, 0.75),
    (50, 20, 2, 0.3),
    (20, 10, 10, 0.75),
    (100, 1, 10, 0.75),
    (20, 20, 1, 0.2),
    (50, 4, 10, 5.0),
    (20, 2, 5, 0.3),
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_gaussian_channels(setting):
    n_classes, _, dimensions, noise = setting
    rng = np.random.default_rng(0)
    curves = [Ranks.from_scores(*gaussian_scores(*setting, rng)).evidence().accuracy() for _ in range(DRAWS)]
    population, sizes = np.mean(curves, axis=0), log_spaced_sizes(n_classes)
    implied = max(fit_mean_top(population[sizes - 1], sizes), 0.0) ** 2 / 2
    truth = dimensions / 2 * math.log1p(noise**-2)
    missed = dict.fromkeys(["guaranteed", "of 5 classes", "jackknife", "information", "too high", "too low"], 0)
    for _ in range(RUNS):
        curve = accuracy_curve(*gaussian_scores(*setting, rng))
        missed["guaranteed"] += curve.bayes_bound().low > population[-1]
        missed["of 5 classes"] += curve.bayes_bound(k=5).low > population[4]
        missed["jackknife"] += curve.bayes_bound(method="jackknife").low > population[-1]
        nats = information(curve).nats
        missed["information"] += nats["bound"].low > truth
        found = nats["implied"]
        missed["too high"] += found.low > implied
        missed["too low"] += found.high < implied
    shares = {name: count / RUNS for name, count in missed.items()}
    held = 1 - shares["too high"] - shares["too low"]
    print(
        f"{setting}: accuracy {population[-1]:.3f}, implied {implied:.2f} of {truth:.2f} nats; missed: "
        + ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
        + f"; implied held {held:.1%}"
    )
    error = math.sqrt(0.05 * 0.95 / RUNS)
    assert shares["guaranteed"] <= 0.05
    assert shares["of 5 classes"] <= 0.05
    assert shares["information"] <= 0.05
    assert shares["jackknife"] <= 0.07 + 2 * error
    # Near 1 hardly a run has an error, and what is not seen is allowed for.
    assert shares["jackknife"] >= 0.03 - 2 * error or population[-1] > 0.95
    assert held >= 0.95 - 3 * error


@pytest.mark.parametrize("rows", [1, 10])
@pytest.mark.parametrize(("n_classes", "common"), [(20, 0.5), (50, 0.5), (50, 0.1), (200, 0.9), (500, 0.02)])
def test_the_channel_that_varies_most(n_classes, common, rows):
    """Some classes all look the same and the others like nothing else: Bayes accuracy is a share of a sample."""
    rng = np.random.default_rng(1)
    draws = 20_000
    same = rng.binomial(n_classes, common, draws)
    best = (n_classes - same + (same > 0)) / n_classes
    # Of those that look the same one is always answered: all rows of one class are right and of the others wrong.
    right = rows * (n_classes - same + (same > 0))
    mean = best.mean()
    values, counts = np.unique(right, return_counts=True)
    trials = np.full(n_classes, rows)
    bounds = np.array([lower_bound(value / (n_classes * rows), math.log(0.05), n_classes, trials) for value in values])
    missed = counts[bounds > mean].sum() / draws
    print(f"{n_classes} classes x {rows}, {common:.0%} alike: Bayes accuracy {mean:.3f}, missed {missed:.2%}")
    assert missed <= 0.05


def test_decoders_near_chance_are_seldom_told_apart():
    """A decoder below chance by accident must not seem surely behind one that is above by accident."""
    runs, apart = 100, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        y = np.repeat(np.arange(20), 3)
        curves = {name: accuracy_curve(rng.normal(size=(60, 20)), y) for name in "ab"}
        apart += len(information(curves).groups()) > 1
    print(f"two decoders at chance: told apart in {apart / runs:.1%} of runs")
    assert apart <= 0.1 * runs
