"""How often the intervals of stability hold the truth, by simulation. Run with `make long`.

The target is the expected agreement of two refits on subsets drawn this way from these rows, on probes drawn this way.
So the rows stay the same; a large pool of refits, answering a large pool of probes, is the truth, and each run draws a
few of both from it.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import classay
from classay import HalfSplits, Labelings, Predictions, Subsets

RUNS = 1000
PROBES = 10_000
POOL = {"halves": HalfSplits(1000), "subsets": Subsets(1500)}
LEARNERS = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "logistic": LogisticRegression(),
    "regression tree": DecisionTreeRegressor(max_depth=4, random_state=0),
    "ridge": Ridge(),
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    X[:, 1] = 0.9 * X[:, 0] + np.sqrt(1 - 0.81) * X[:, 1]
    score = X[:, 0] + X[:, 1] + 0.5 * X[:, 2] + rng.logistic(size=500)
    return X, (score > 0).astype(int), score


@pytest.mark.parametrize("scheme", POOL)
@pytest.mark.parametrize("learner", ["tree", "logistic"])
def test_classifiers(rows, learner, scheme):
    X, y, _ = rows
    pool = classay.record(
        LEARNERS[learner], X, y, POOL[scheme], 1, probes="uniform", n_probes=PROBES, name=learner, executor=1
    )
    truth = classay.stability(pool)
    for units, n in [(10, 500), (25, 500), (25, 5000), (60, 200)]:
        held = np.zeros(2)
        sides = np.zeros((2, 2))
        for seed in range(RUNS):
            few = drawn(pool.probe_labels, pool.halves, units, n, seed)
            found = classay.stability(Labelings.from_arrays(few, few[0, 0], halves=pool.halves, classes=[0, 1]))
            for place, figure in enumerate(("stability", "kappa")):
                estimate, target = getattr(found, figure), getattr(truth, figure).value
                sides[place] += [target < estimate.low, target > estimate.high]
                held[place] += estimate.low <= target <= estimate.high
        print(
            f"{learner}, {units} {scheme}, {n} probes: stability {truth.stability.value:.3f} held in "
            f"{held[0] / RUNS:.1%} (below {sides[0, 0] / RUNS:.1%}, above {sides[0, 1] / RUNS:.1%}), kappa "
            f"{truth.kappa.value:.3f} in {held[1] / RUNS:.1%}"
        )
        assert 0.93 * RUNS <= held[0] <= 0.97 * RUNS
        assert held[1] >= 0.92 * RUNS


def heavy_tails(rng, n):
    X = rng.standard_t(1.5, size=(n, 2))
    return X, np.where(rng.random(n) < 0.15, rng.integers(3, size=n), np.digitize(X.sum(axis=1), [-0.7, 0.7]))


def labels_at_random(rng, n):
    return rng.normal(size=(n, 4)), (rng.random(n) < 0.3).astype(int)


@pytest.mark.parametrize("learner", [KNeighborsClassifier(5), DecisionTreeClassifier()])
@pytest.mark.parametrize("world", [heavy_tails, labels_at_random])
def test_kappa_with_few_splits_and_points(world, learner):
    """With one class for nearly all points, kappa depends on a few; heavy tails were in view when this was set.

    Too narrow where one split in twenty disagrees on two thirds of the points, as for neighbours with heavy tails: ten
    splits often show none of these.
    """
    X, y = world(np.random.default_rng(4), 160)
    pool = classay.record(learner, X, y, HalfSplits(200), 1, probes="uniform", n_probes=2000, executor=1)
    truth = classay.stability(pool).kappa.value
    for units, n in [(10, 60), (10, 300), (20, 100)]:
        found = []
        for seed in range(300):
            few = drawn(pool.probe_labels, True, units, n, seed)
            classes = range(len(pool.classes))
            found.append(classay.stability(Labelings.from_arrays(few, few[0, 0], halves=True, classes=classes)).kappa)
        held = np.mean([each.low <= truth <= each.high for each in found])
        width = np.mean([each.high - each.low for each in found])
        print(
            f"{learner}, {world.__name__}, {units} splits, {n} probes: kappa {truth:.3f} held in {held:.1%}, "
            f"width {width:.2f}"
        )
        known_narrow = world is heavy_tails and isinstance(learner, KNeighborsClassifier)
        assert held >= (0.8 if known_narrow else 0.92) - 2 * np.sqrt(0.08 * 0.92 / 300)


@pytest.mark.parametrize("scheme", POOL)
@pytest.mark.parametrize("learner", ["regression tree", "ridge"])
def test_regressors(rows, learner, scheme):
    X, _, y = rows
    pool = classay.record(
        LEARNERS[learner], X, y, POOL[scheme], 1, probes="uniform", n_probes=PROBES, name=learner, executor=1
    )
    truth = classay.stability(pool)
    for units, n in [(25, 500), (60, 200)]:
        held = np.zeros(2)
        for seed in range(RUNS):
            few = drawn(pool.probe_values, pool.halves, units, n, seed)
            found = classay.stability(
                Predictions.from_arrays(few, few[0, 0], halves=pool.halves), tolerance=truth.tolerance
            )
            for place, figure in enumerate(("stability", "concordance")):
                estimate, target = getattr(found, figure), getattr(truth, figure).value
                held[place] += estimate.low <= target <= estimate.high
        print(
            f"{learner}, {units} {scheme}, {n} probes: stability {truth.stability.value:.3f} held in "
            f"{held[0] / RUNS:.1%}, concordance {truth.concordance.value:.3f} in {held[1] / RUNS:.1%}"
        )
        assert (held >= 0.92 * RUNS).all()


def drawn(answers, halves, units, n, seed):
    """Answers of a few splits, or subsets, on a few probes."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(answers) // 2 if halves else len(answers), units, replace=False)
    subsets = np.stack([2 * chosen, 2 * chosen + 1], axis=1).ravel() if halves else chosen
    return answers[subsets][:, :, rng.choice(answers.shape[2], n, replace=False)]
