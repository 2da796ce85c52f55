"""Counts and tests of boxes agree with brute force and with scipy's."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from classay.regions.boxes import BinnedRows, BinSet, pair_counts, selections_of
from classay.regions.columns import bin_column
from classay.regions.outcome import BinaryOutcome, fisher_p_value
from classay.regions.region import q_values, ranked_q_values

RNG = np.random.default_rng(0)


def mixed_table(n):
    columns = {"x0": RNG.normal(size=n), "age": RNG.integers(18, 80, n), "vip": RNG.random(n) < 0.3}
    return pd.DataFrame({**columns, "job": RNG.choice(["student", "clerk", "nurse", "retired"], n)})


def test_counts_of_all_boxes_equal_brute_force():
    table = mixed_table(800)
    table.loc[::7, "x0"] = np.nan
    table["job"] = table["job"].where(table.index % 9 != 0)
    wrong = RNG.random(800) < 0.08
    columns = tuple(bin_column(table[name], 10) for name in ("age", "job", "vip", "x0"))
    binned = BinnedRows(columns, BinaryOutcome(wrong), np.arange(0, 800, 2))
    selections = [selections_of(binned, place) for place in range(len(columns))]
    for first, second in itertools.combinations(range(len(columns)), 2):
        sizes, wrongs = pair_counts(binned, selections, first, second)
        sides = itertools.product(enumerate(selections[first].sides), enumerate(selections[second].sides))
        for (row, one), (place, two) in itertools.islice(sides, 0, None, 7):
            inside = binned.inside((one, two))
            assert (sizes[row, place], wrongs[row, place]) == (inside.sum(), binned.outcome.total_in(inside))
            in_bins = np.bincount(binned.bins[0][inside], minlength=columns[0].n_bins)
            np.testing.assert_array_equal(binned.bin_counts(0, (one, two))[0], in_bins)


def test_likelihood_ratio_is_that_of_a_two_by_two_table():
    table = mixed_table(400)
    binned = BinnedRows((bin_column(table["job"], 10),), BinaryOutcome(RNG.random(400) < 0.3), np.arange(400))
    inside = binned.inside((BinSet(0, (0, 2)),))
    a, n, wrong = binned.outcome.total_in(inside), inside.sum(), binned.outcome.total
    counts = [[a, n - a], [wrong - a, 400 - n - wrong + a]]
    g = stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood").statistic
    ratio = binned.outcome.ratio_from_counts(np.array([n, 400 - n]), np.array([a, wrong - a]))
    assert ratio.max() == pytest.approx(g)
    assert ratio.min() == 0.0  # of a part and its complement one is below the rest


def test_fisher_and_q_values_by_hand():
    assert fisher_p_value(10, 4, 40, 8) == pytest.approx(
        stats.fisher_exact([[4, 6], [4, 26]], alternative="greater").pvalue, rel=1e-10
    )
    assert fisher_p_value(10, 0, 40, 8) == 1.0
    assert fisher_p_value(0, 0, 40, 8) == 1.0
    p = np.array([0.001, 0.008, 0.039, 0.041, 0.9])
    np.testing.assert_allclose(q_values(p), stats.false_discovery_control(p))
    assert q_values([]).size == 0


def test_chance_alone_needs_the_union_bound():
    """Twenty p-values of .04 are no proof if all of them are the same test: Simes would say so, Bonferroni does not."""
    assert (ranked_q_values(np.full(20, 0.04)) > 0.05).all()
    weights = 1 / np.arange(1, 21) / (1 / np.arange(1, 21)).sum()
    for place in range(20):
        p = np.ones(20)
        p[place] = 0.05 * weights[place]
        assert ranked_q_values(p)[place] == pytest.approx(0.05)
    assert ranked_q_values([]).size == 0
