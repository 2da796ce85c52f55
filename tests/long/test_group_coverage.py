"""How often intervals over groups hold the truth, by simulation. Run with `make long`.

The population is the one that the intervals name: refits on subsets, and groups of points, both drawn at random. A
refit predicts the class of a point by a score with an effect of the group, of the refit, of the refit in the group, and
of the point. Without groups the same intervals hold far too rarely.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from classay import Labelings, stability
from classay.intervals import of_proportion_by_group

RUNS = 600
OF_GROUP, OF_REFIT, OF_BOTH = 1.0, 0.5, 0.5


def wrong(rng, refits, groups, rows):
    """(K, n): whether each refit errs at each point."""
    score = 1 + OF_GROUP * rng.normal(size=groups) + OF_REFIT * rng.normal(size=(refits, 1))
    score = score + OF_BOTH * rng.normal(size=(refits, groups))
    return np.repeat(score, rows, axis=1) + rng.normal(size=(refits, groups * rows)) < 0


def truths():
    spread = np.sqrt(OF_REFIT**2 + OF_BOTH**2 + 1)
    right = stats.norm.cdf((1 + OF_GROUP * np.random.default_rng(0).normal(size=10**6)) / spread)
    return float(right.mean()), float((right**2 + (1 - right) ** 2).mean())


@pytest.mark.parametrize("halves", [True, False], ids=["halves", "subsets"])
@pytest.mark.parametrize(("refits", "groups", "rows"), [(20, 40, 12), (50, 40, 12), (50, 8, 12), (50, 200, 5)])
def test_accuracy_and_stability(refits, groups, rows, halves):
    rng = np.random.default_rng(1)
    accuracy, agreement = truths()
    codes = np.repeat(np.arange(groups), rows)
    held = {"by group": np.zeros(2), "by point": np.zeros(2)}
    for _ in range(RUNS):
        labels = wrong(rng, refits, groups, rows).astype(int)
        for name, given in (("by group", codes), ("by point", None)):
            record = Labelings.from_arrays(
                labels, np.zeros(codes.size, int), classes=[0, 1], halves=halves, groups=given
            )
            found = stability(record)
            held[name] += [
                found.accuracy.low <= accuracy <= found.accuracy.high,
                found.stability.low <= agreement <= found.stability.high,
            ]
    shares = {name: counts / RUNS for name, counts in held.items()}
    print(f"{refits} refits, {groups} groups of {rows}: (accuracy, stability) held in {shares}")
    assert (shares["by group"] > 0.91).all()
    assert (shares["by point"] < 0.92).all()


def test_a_proportion_by_group():
    rng = np.random.default_rng(2)
    for groups, rows in [(40, 12), (10, 12), (100, 3)]:
        codes, held = np.repeat(np.arange(groups), rows), 0
        for _ in range(3000):
            chance = rng.beta(3, 1, groups)
            estimate = of_proportion_by_group(rng.random(codes.size) < chance[codes], codes)
            held += estimate.low <= 0.75 <= estimate.high
        print(f"{groups} groups of {rows}: held in {held / 3000:.1%}")
        assert 0.92 < held / 3000 < 0.98
