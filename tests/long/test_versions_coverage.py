"""Coverage of the intervals of `compare`, `judges` and `repeats_needed` over items, and false alarms of churn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import classay
from classay import Labelings


@pytest.mark.parametrize("n", [50, 200, 1000])
@pytest.mark.parametrize("cells", [(0.80, 0.05, 0.02, 0.13), (0.95, 0.02, 0.01, 0.02), (0.4, 0.25, 0.25, 0.1)])
def test_paired_figures_cover_over_items(n, cells):
    """One fit each. Cells: both right, only old right, only new right, none right."""
    rng = np.random.default_rng(n)
    truth = {"difference": cells[2] - cells[1], "churn": cells[1] + cells[2], "regressions": cells[1]}
    results = []
    for _ in range(1000):
        cell = rng.choice(4, size=n, p=cells)
        results.append(compared(np.zeros(n, int), *((~np.isin(cell, own))[None] for own in ((0, 1), (0, 2)))))
    assert least_coverage(results, truth) >= 0.925


@pytest.mark.parametrize("n", [60, 500])
@pytest.mark.parametrize(("spread", "shift"), [(0.02, 0.03), (0.15, 0.4), (0.1, 0.0)])
def test_figures_cover_over_fits_and_items(n, spread, shift):
    """Five fits each, thresholds that vary as a whole; those of new are shifted. Changes are rare or frequent."""
    rng = np.random.default_rng(n)
    drawn = stats.norm.ppf((np.arange(400) + 0.5) / 400) * spread
    old, new = stats.norm.cdf(drawn), stats.norm.cdf(drawn + shift)
    churn, *own = (np.abs(one[:, None] - other).mean() for one, other in ((old, new), (old, old), (new, new)))
    refit, difference = np.mean(own), np.abs(old - 0.5).mean() - np.abs(new - 0.5).mean()
    truth = {"churn": churn, "refit_churn": refit, "beyond_refit": churn - refit, "difference": difference}
    results = []
    for _ in range(400):
        x, cuts = rng.normal(size=n), rng.normal(0, spread, (2, 5, 1))
        results.append(compared(x > 0, x > cuts[0], x > cuts[1] + shift))
    assert least_coverage(results, truth) >= 0.92


def compared(truth, old, new, table=None):
    records = (Labelings.from_arrays(labels[None].astype(int), truth.astype(int), classes=[0, 1])
               for labels in (old, new))  # fmt: skip
    return classay.compare(*records, table, max_features=1)


def least_coverage(results, truth):
    estimates = {name: [getattr(result, name) for result in results] for name in truth}
    return min(np.mean([each.low <= truth[name] <= each.high for each in own]) for name, own in estimates.items())


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("rate", [0.03, 0.15, 0.4])
def test_judges_cover_over_items(n, rate):
    rng = np.random.default_rng(n)
    worlds = 600
    covered = {"kappa": 0, "self": 0}
    share = 0.4 * (1 - rate) + 0.6 * rate
    agree, chance = (1 - rate) ** 2 + rate**2, share**2 + (1 - share) ** 2
    for _ in range(worlds):
        quality = rng.random(n) < 0.4
        rows = [
            pd.DataFrame({"id": range(n), "rater": rater, "said": (quality ^ (rng.random(n) < rate)).astype(int)})
            for rater in "ab"
            for _ in range(3)
        ]
        result = classay.judges(pd.concat(rows), item="id", rater="rater", rating="said")
        covered["kappa"] += result.kappa.low <= (agree - chance) / (1 - chance) <= result.kappa.high
        own = result.raters[0].self_agreement
        covered["self"] += own.low <= agree <= own.high
    assert min(covered.values()) / worlds >= 0.92, covered


@pytest.mark.parametrize(("old", "new"), [(1, 1), (2, 2), (5, 5), (19, 1)])
@pytest.mark.parametrize("n", [60, 400])
def test_false_alarms(old, new, n):
    """Only the seed changed: churn is exact by exchange, so at most 5 %; one fit each shows nothing."""
    rng = np.random.default_rng(old)
    alarms, worlds, x = np.zeros(2), 400, rng.random(n)
    for _ in range(worlds):
        labels = x > 0.5 + rng.normal(0, 0.05, (old + new, 1))
        result = compared(x > 0.5, labels[:old], labels[old:], pd.DataFrame({"x": x}))
        alarms += result.beyond_shown, result.regression_shown
    assert (alarms / worlds <= (0.05 + 3 * np.sqrt(0.05 * 0.95 / worlds)) * (old + new > 2)).all(), alarms
