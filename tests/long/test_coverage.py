"""How often intervals hold the truth, by simulation. Run with `make long`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma
from worlds import JUDGES, NAMES, predictions, true_figures

import classay
from classay.learner.orientation.orientation import usual_threshold

RUNS = 200


def holds(estimate, truth):
    return estimate.low - 1e-6 <= truth <= estimate.high + 1e-6


@pytest.mark.parametrize("name", [*NAMES, *JUDGES])
@pytest.mark.parametrize(("n_subsets", "refits", "goal"), [(100, 10, 0.1), (100, 5, 0.25), (25, 10, 1.0)])
def test_worlds(name, n_subsets, refits, goal):
    """Label 1 is the truth of every point. `goal`: the largest mean error of capacity."""
    truths = true_figures(name) - [0, 0, 0, stats.binom.sf(3, 5, 0.5)]
    held, errors = np.zeros(4), []
    for seed in range(RUNS):
        labels = predictions(name, n_subsets, refits, seed)
        record = classay.Labelings.from_arrays(labels, np.ones(labels.shape[2], dtype=int), classes=[0, 1])
        o = classay.orientation(record, 5, 1 if name in NAMES else 20, random_state=seed)
        figures = (o.expressivity, o.capacity, o.stochasticity, o.bias[4])
        held += [holds(estimate, truth) for estimate, truth in zip(figures, truths)]
        errors.append([estimate.value for estimate in figures] - truths)
    error = np.nanmean(errors, axis=0)
    print(f"{name} K={n_subsets} R={refits}: {truths.round(2)}, error {error.round(2)}, held {held / RUNS}")
    assert abs(error[1]) <= goal
    assert (held >= 0.92 * RUNS).all()


def binary_entropy(q):
    return stats.entropy([q, 1 - q], base=2)


@pytest.mark.parametrize(
    ("refits", "spread", "size"),
    [(2, 1.0, 5), (5, 1.0, 5), (10, 0.3, 5), (10, 3.0, 5), (10, 30.0, 5), (5, 0.3, 13), (10, 0.3, 20), (5, 0.3, 8)],
)
def test_many_holdouts(refits, spread, size):
    """Subsets differ in how often each point is labelled wrong; given that, refits err on their own.

    Point i is wrong with probability q, Beta-distributed over subsets around its own mean; a small `spread` makes data
    decide, a large one dice. Points are independent, so entropies are sums: H(P_F) = Σ H2(q), H(P_D) = Σ H2(mean q).
    """
    rng = np.random.default_rng(0)
    means = rng.uniform(0.02, 0.5, size=200)
    a, b = means * spread, (1 - means) * spread
    # E H2(q) for q ~ Beta(a, b), in closed form.
    within = size * np.mean(digamma(a + b + 1) - means * digamma(a + 1) - (1 - means) * digamma(b + 1)) / np.log(2)
    overall = size * np.mean([binary_entropy(q) for q in means])
    z = usual_threshold(size)
    right = stats.binom.sf(z - 1, size, 1 - means.mean()) - stats.binom.sf(z - 1, size, 0.5)
    held = np.zeros(4)
    values = []
    for seed in range(RUNS):
        rng = np.random.default_rng(1 + seed)
        q = rng.beta(a, b, size=(50, 1, 200))
        truth = rng.integers(2, size=200)
        labels = np.where(rng.random((50, refits, 200)) < q, 1 - truth, truth)
        o = classay.orientation(classay.Labelings.from_arrays(labels, truth), size, random_state=seed)
        truths = (within, overall, overall - within, right)
        held += [holds(e, t) for e, t in zip((o.stochasticity, o.expressivity, o.capacity, o.bias[z]), truths)]
        values.append([o.stochasticity.value - within, o.expressivity.value - overall])
    error = np.mean(values, axis=0)
    print(
        f"h={size} R={refits} spread {spread}: stochasticity {within:.2f} ({error[0]:+.3f}) held {held[0] / RUNS:.1%}, "
        f"expressivity {overall:.2f} ({error[1]:+.3f}) {held[1] / RUNS:.1%}, capacity {held[2] / RUNS:.1%}, "
        f"bias {held[3] / RUNS:.1%}"
    )
    assert (held >= 0.9 * RUNS).all()
