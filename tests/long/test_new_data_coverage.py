"""How often intervals "of data like these" hold the truth, over data sets. Run with `make long`.

The target of stability is the expected agreement of refits on two independent samples, on points of the same
distribution: for uniform probes, of the box of *this* data set, on which a pool of refits on fresh samples is compared;
for the test part the mean over data sets of the estimates, which have no bias. That of accuracy is the expected
accuracy of a fit on a fresh sample of as many rows. The estimator was chosen with the worlds of `TUNED` in view.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import classay
from classay.engine import work

DATA_SETS = 100
POOL = 60
"""Refits on fresh samples, for the truth."""
LEARNERS = {
    "tree": DecisionTreeClassifier(),
    "logistic regression": LogisticRegression(),
    "5 nearest neighbours": KNeighborsClassifier(5),
    "forest": RandomForestClassifier(8),
}


def line(rng, n):
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)


def crossed(rng, n):
    X = rng.uniform(size=(n, 4))
    return X, ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5) ^ (rng.random(n) < 0.1)).astype(int)


def three(rng, n):
    y = rng.integers(3, size=n)
    centres = np.array([[0, 0, 0, 0], [1.2, 0.5, 0, 0], [0, 1.2, 0.8, 0]])
    return centres[y] + rng.normal(size=(n, 4)), y


def rare(rng, n):
    X = rng.normal(size=(n, 6))
    X[:, 1] = 0.9 * X[:, 0] + 0.44 * X[:, 1]
    odds = np.exp(-2.2 + 1.2 * X[:, 0] + 0.8 * X[:, 2] * X[:, 3])
    return X, (rng.random(n) < odds / (1 + odds)).astype(int)


def rings(rng, n):
    X = rng.normal(size=(n, 3))
    outside = np.hypot(X[:, 0], X[:, 1]) + 0.15 * rng.normal(size=n) > 1.1
    return X, 2 * outside + (X[:, 2] + 0.4 * rng.normal(size=n) > 0)


def heavy_tails(rng, n):
    X = rng.standard_t(3, size=(n, 4))
    return X, ((X[:, 0] - 0.7 * X[:, 1] > 1) ^ (rng.random(n) < 0.1)).astype(int)


def skewed(rng, n):
    X = np.exp(rng.normal(size=(n, 8)))
    odds = np.exp(-3.2 + 0.8 * X[:, 0] + 0.9 * np.log(X[:, 1]) * (X[:, 2] > 1))
    return X, (rng.random(n) < odds / (1 + odds)).astype(int)


def mixed(rng, n):
    columns = [rng.poisson(2, n), rng.random(n) < 0.3, rng.standard_t(2, n), rng.normal(size=n), rng.uniform(size=n)]
    X = np.column_stack(columns).astype(float)
    score = 0.6 * X[:, 0] + 1.5 * X[:, 1] + 0.5 * np.tanh(X[:, 2]) + X[:, 3] + rng.normal(size=n)
    return X, np.digitize(score, [1.0, 2.2, 4.0])


def tight_cluster(rng, n):
    y = (rng.random(n) < 0.08).astype(int)
    X = rng.normal(size=(n, 10))
    X[y == 1] = X[y == 1] * 0.6 + 0.9
    return X, y


def heavier_tails(rng, n):
    X = rng.standard_t(1.5, size=(n, 2))
    return X, np.where(rng.random(n) < 0.15, rng.integers(3, size=n), np.digitize(X.sum(axis=1), [-0.7, 0.7]))


TUNED = {
    "line": line,
    "crossed": crossed,
    "three classes": three,
    "rare class": rare,
    "rings": rings,
    "heavy tails": heavy_tails,
    "skewed columns": skewed,
}
WORLDS = {**TUNED, "mixed columns": mixed, "tight cluster": tight_cluster, "heavier tails": heavier_tails}


def measure(settings, seed):
    learner, draw, n, on, test_size = settings
    X, y = draw(np.random.default_rng([seed, n]), n)
    labelings = classay.record(
        learner,
        X,
        y,
        classay.HalfSplits(20),
        1,
        test_size=test_size,
        probes=on,
        n_probes=300,
        random_state=seed,
        executor=1,
    )
    found = classay.stability(labelings)
    box = X.min(axis=0), np.ptp(X, axis=0)
    size = len(labelings.train_rows[0])
    return found.stability.value, found.stability_new_data, found.accuracy_new_data, box, size


def fresh_refits(learner, draw, size):
    for seed in range(POOL):
        yield learner.fit(*draw(np.random.default_rng([seed, size, 1]), size))


def agreement_in_boxes(learner, draw, size, boxes):
    """The agreement of refits on fresh samples, on uniform points of each box."""
    rng = np.random.default_rng(2)
    points = np.concatenate([low + rng.random((200, len(low))) * width for low, width in boxes])
    labels = np.stack([refit.predict(points) for refit in fresh_refits(learner, draw, size)])
    counts = np.stack([(labels == label).sum(axis=0) for label in np.unique(labels)])
    pairs = (counts * (counts - 1)).sum(axis=0) / (POOL * (POOL - 1))
    return pairs.reshape(len(boxes), -1).mean(axis=1)


def held(estimates, truth):
    low, high = np.array([(each.low, each.high) for each in estimates]).T
    return np.mean((low <= truth) & (truth <= high)), np.mean(high - low)


LEAST = 0.92 - 2 * np.sqrt(0.08 * 0.92 / DATA_SETS)


@pytest.mark.parametrize("on", ["data", "uniform"])
@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_stability(learner, world, n, on):
    settings = (LEARNERS[learner], WORLDS[world], n, on, 0.2)
    values, new_data, _, boxes, sizes = zip(*work.run(measure, range(DATA_SETS), shared=settings).results.values())
    truth = np.mean(values)
    if on == "uniform":
        truth = agreement_in_boxes(LEARNERS[learner], WORLDS[world], sizes[0], boxes)
    share, width = held(new_data, truth)
    print(f"{learner}, {world}, {n} rows, {on}: truth {np.mean(truth):.3f}, held in {share:.2f}, width {width:.2f}")
    assert share >= LEAST


@pytest.mark.parametrize("test_size", [0.2, 0])
@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_accuracy(learner, world, n, test_size):
    settings = (LEARNERS[learner], WORLDS[world], n, "uniform", test_size)
    _, _, new_data, _, sizes = zip(*work.run(measure, range(DATA_SETS), shared=settings).results.values())
    X, y = WORLDS[world](np.random.default_rng(3), 2000)
    truth = np.mean([refit.score(X, y) for refit in fresh_refits(LEARNERS[learner], WORLDS[world], sizes[0])])
    share, width = held(new_data, truth)
    print(f"{learner}, {world}, {n} rows, test_size {test_size}: {truth:.3f}, held in {share:.2f}, width {width:.2f}")
    assert share >= LEAST
