"""Intervals of metrics, of the sources of score variance and of what a retraining changes hold the truth they name.

The truth of metrics: the mean over fits like these, or that of a single fit, over all test rows of the source.
That of the variance of scores: over samples, at fixed points. That of a retraining: over whole data sets.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from classay import Labelings, metrics, retraining
from classay.learner.scores.score_variance import score_variance

LEAST = 0.90
"""Of 95 % intervals, in each of the worlds; with 200 data sets the standard error is 0.015."""


def rows(rng, n, kind):
    """Rows of fitted learners."""
    X = rng.normal(size=(n, 5))
    z = 1.2 * X[:, 0] - X[:, 1] + (X[:, 2] * X[:, 3] if kind == "curved" else 0)
    shift = {"rare": -4.5, "even": 0.0, "curved": 0.0}[kind]
    return X, (rng.random(n) < 1 / (1 + np.exp(-2 * z - shift))).astype(int)


# Metrics


METRICS = ("roc_auc", "average_precision", "log_loss", "brier", "balanced_accuracy", "f1", "matthews", "accuracy")
METRIC_WORLDS = [(0.05, 300, 1, 1, 1.5), (0.05, 600, 12, 1, 2.5), (0.05, 200, 8, 2, 1.0), (0.3, 150, 1, 1, 1.5),
                 (0.3, 300, 8, 2, 3.0)]  # fmt: skip
"""Share of positive rows, rows, subsets, refits, and how far apart the classes are."""


def drawn_scores(rng, share, n, apart, tilts, cuts):
    """A record of linear scores of normal rows: fits differ in direction (K, R, 2) and in where they cut (K, R)."""
    y = (rng.random(n) < share).astype(int)
    x, others = rng.normal(size=n) + apart * y, rng.normal(size=(2, n))
    scores = (x + tilts @ others) / np.sqrt(1 + (tilts**2).sum(axis=2))[..., None] - cuts[..., None]
    p = 1 / (1 + np.exp(-1.5 * scores))
    return metrics(Labelings.from_arrays((p > 0.5).astype(int), y, classes=[0, 1], scores=p), list(METRICS))


def metric_coverage(share, n, subsets, refits, apart, data_sets, seed=1):
    rng = np.random.default_rng(seed)

    def fits(count):
        tilts, cuts = 0.4 * rng.normal(size=(count, 1, 2)), apart - 0.5 + 0.2 * rng.normal(size=(count, 1))
        return tilts + 0.2 * rng.normal(size=(count, refits, 2)), cuts + 0.1 * rng.normal(size=(count, refits))

    true, hits = drawn_scores(rng, share, 50_000, apart, *fits(100)), dict.fromkeys(METRICS, 0)
    for _ in range(data_sets):
        some = fits(subsets)
        if subsets == 1:  # the figure of this fit
            true = drawn_scores(rng, share, 50_000, apart, *some)
        m = drawn_scores(rng, share, n, apart, *some)
        for name in METRICS:
            hits[name] += m[name].low <= true[name].value <= m[name].high
    return {name: count / data_sets for name, count in hits.items()}


@pytest.mark.parametrize("world", METRIC_WORLDS)
def test_metrics_are_covered(world):
    coverage = metric_coverage(*world, 200)
    print(world, coverage)
    assert min(coverage.values()) >= LEAST


# The sources of variance


VARIANCES = [(0.06, 0.06, 10, 2), (0.02, 0.08, 15, 3), (0.08, 0.02, 8, 2), (0.05, 0.05, 30, 5)]


def variance_coverage(sample, chance, subsets, refits, data_sets, seed=2, scale="probability"):
    rng = np.random.default_rng(seed)
    share = sample**2 / (sample**2 + chance**2)
    hits = np.zeros(3)
    for _ in range(data_sets):
        # Effects of a sample are shared by neighbouring points, as those of a classifier are.
        common = np.repeat(rng.normal(size=(subsets, 1, 12)), 5, axis=2)
        noise = np.repeat(rng.normal(size=(subsets, refits, 12)), 5, axis=2)
        p = 0.5 + sample * common + chance * noise
        v = score_variance(Labelings.from_arrays((p > 0.5).astype(int), [0, 1] * 30, scores=p.clip(0.001, 0.999)))
        truths = (share, sample**2 + chance**2, sample**2)
        found = (v.share_sample, v.total, v.from_sample)
        hits += [each.low <= truth <= each.high for each, truth in zip(found, truths)]
    return dict(zip(("share", "total", "from_sample"), hits / data_sets))


@pytest.mark.parametrize(("sample", "chance", "subsets", "refits"), VARIANCES)
def test_sources_of_variance_are_covered(sample, chance, subsets, refits):
    coverage = variance_coverage(sample, chance, subsets, refits, 300)
    print((sample, chance, subsets, refits), coverage)
    assert min(coverage.values()) >= LEAST


# What a retraining changes


RETRAININGS = {
    "logistic": (lambda seed: LogisticRegression(), "even", 250, 300, 12, 1),
    "neighbours": (lambda seed: KNeighborsClassifier(3), "curved", 300, 250, 10, 1),
    "rare": (lambda seed: LogisticRegression(), "rare", 500, 500, 10, 1),
    "tree": (lambda seed: DecisionTreeClassifier(max_depth=6, random_state=seed), "curved", 400, 300, 10, 2),
    "forest": (lambda seed: RandomForestClassifier(6, max_depth=5, random_state=seed), "curved", 250, 300, 8, 2),
}


def retrain_coverage(world, data_sets, seed=3):
    make, kind, n, n_test, samples, refits = RETRAININGS[world]
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(data_sets):
        (X, y), (points, truth) = rows(rng, n, kind), rows(rng, n_test, kind)
        labels = np.empty((samples, refits, n_test), dtype=int)
        for sample in range(samples):
            some = rng.choice(n, round(0.9 * n), replace=False)
            for refit in range(refits):
                labels[sample, refit] = make(int(rng.integers(2**31))).fit(X[some], y[some]).predict(points)
        found.append(retraining(Labelings.from_arrays(labels, truth, classes=[0, 1], retrained=0.1)))
    names = ("change", "by_seed", "by_rows") if refits > 1 else ("change",)
    coverage = {}
    for name in names:
        estimates = [getattr(each, name) for each in found]
        truth = np.mean([each.value for each in estimates])
        coverage[name] = float(np.mean([each.low <= truth <= each.high for each in estimates]))
    return coverage


@pytest.mark.parametrize("world", RETRAININGS)
def test_retrainings_are_covered(world):
    coverage = retrain_coverage(world, 150)
    print(world, coverage)
    assert min(coverage.values()) >= LEAST
