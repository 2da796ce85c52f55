"""Coverage of the intervals of `compare`, `judges` and `repeats_needed` over items, and false alarms of churn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import classay
from classay import Labelings


@pytest.mark.parametrize("n", [50, 200, 1000])
@pytest.mark.parametrize("cells", [(0.80, 0.05, 0.02, 0.13), (0.95, 0.02, 0.01, 0.02), (0.4, 0.25, 0.25, 0.1)])
def test_paired_figures_cover_over_items(n, cells):
    """Cells: both right, only old right, only new right, none right."""
    rng = np.random.default_rng(n)
    truth = {"difference": cells[2] - cells[1], "churn": cells[1] + cells[2], "regressions": cells[1]}
    covered = dict.fromkeys(truth, 0)
    worlds = 1000
    zeros = np.zeros(n, dtype=int)
    for _ in range(worlds):
        cell = rng.choice(4, size=n, p=cells)
        old, new = (Labelings.from_arrays([(~np.isin(cell, own)).astype(int)], zeros, classes=[0, 1])
                    for own in ((0, 1), (0, 2)))  # fmt: skip
        result = classay.compare(old, new)
        for name, value in truth.items():
            covered[name] += getattr(result, name).low <= value <= getattr(result, name).high
    # With one expected change in 50 items, Wilson's own interval covers 92 %.
    assert min(covered.values()) / worlds >= (0.90 if n == 50 else 0.925), covered


@pytest.mark.parametrize("fits", [3, 5, 10])
def test_the_difference_covers_over_fits_and_items(fits):
    """Versions whose fits differ as a whole: the interval is about the learner, not about these fits."""
    rng = np.random.default_rng(fits)
    covered, worlds, n = 0, 600, 300
    zeros = np.zeros(n, dtype=int)
    for _ in range(worlds):
        wrong = [
            (rng.random((fits, n)) < np.clip(rng.normal(mean, 0.03, (fits, 1)), 0, 1)).astype(int)
            for mean in (0.2, 0.25)
        ]
        old, new = (Labelings.from_arrays(each[None], zeros, classes=[0, 1]) for each in wrong)
        gap = classay.compare(old, new).difference
        covered += gap.low <= -0.05 <= gap.high
    assert covered / worlds >= 0.93


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


@pytest.mark.parametrize(("old", "new"), [(5, 5), (19, 1)])
def test_false_alarms_of_churn(old, new):
    """Only the seed changed: exact by exchange, so at most 5 %."""
    rng = np.random.default_rng(old)
    alarms, worlds, n = 0, 400, 400
    x = rng.random(n)
    for _ in range(worlds):
        labels = (x > 0.5 + rng.normal(0, 0.05, (old + new, 1))).astype(int)
        truth = (x > 0.5).astype(int)
        result = classay.compare(
            Labelings.from_arrays(labels[None, :old], truth), Labelings.from_arrays(labels[None, old:], truth),
            pd.DataFrame({"x": x}), max_features=1,
        )  # fmt: skip
        alarms += result.beyond_shown
    assert alarms / worlds <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / worlds)
