"""Outcomes seen in several units: tested by units, and as fine as single answers would be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from classay.regions.outcome import BinaryOutcome, GroupedOutcome, RepeatedOutcome

dice = np.random.default_rng(0)
EVERYTHING = np.ones(200, dtype=bool)
PART = np.arange(200) < 60


def test_with_many_rows_the_test_is_a_t_test_over_units():
    """Where rows are alike within a unit, the p-value is that of the units' means."""
    excess = dice.normal(0.1, 0.1, 12)
    table = np.where(PART, 0.3 + excess[:, None], 0.3)
    p_value = RepeatedOutcome(table).p_value(PART, EVERYTHING)
    assert p_value == pytest.approx(stats.ttest_1samp(excess, 0, alternative="greater").pvalue)


def test_with_units_alike_the_test_is_over_rows():
    row = dice.random(200) + 0.1 * PART
    p_value = RepeatedOutcome(np.tile(row, (500, 1))).p_value(PART, EVERYTHING)
    welch = stats.ttest_ind(row[PART], row[~PART], equal_var=False, alternative="greater")
    assert p_value == pytest.approx(stats.t.sf(welch.statistic, 499), rel=1e-6)


def test_p_values_are_uniform_where_rows_share_the_units():
    p_values = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        # Each unit has its own smooth wave, so neighbouring rows go up and down together.
        waves = np.sin(np.arange(200) / 15 + rng.uniform(0, 2 * np.pi, (10, 1))) / 2 + 0.5
        p_values.append(RepeatedOutcome(waves).p_value(PART, EVERYTHING))
    assert 0.02 <= np.mean(np.array(p_values) < 0.05) <= 0.08


def test_no_spread_at_all_tells_no_more_than_signs_do():
    table = np.tile(PART.astype(float), (6, 1))
    assert RepeatedOutcome(table).p_value(PART, EVERYTHING) == 0.5**6
    assert RepeatedOutcome(1 - table).p_value(PART, EVERYTHING) == 1.0
    assert RepeatedOutcome(table[:1]).p_value(PART, EVERYTHING) == 1.0


def test_rounding_is_no_excess():
    """Means of unequal parts of the same number differ in the last digits."""
    table = np.tile(dice.random((9, 1)), (1, 200))
    for size in range(3, 190, 7):
        assert RepeatedOutcome(table).p_value(np.arange(200) < size, EVERYTHING) == 1.0


def test_true_or_false_seen_once_is_as_it_happens():
    values = dice.random(200) < 0.3
    once, many = BinaryOutcome(values), RepeatedOutcome(values[None].astype(float))
    sizes = np.array([60, 140])
    sums = np.array([once.total_in(PART), once.total_in(~PART)])
    ratios = once.ratio_from_counts(sizes, sums)
    np.testing.assert_allclose(many.ratio_from_counts(sizes, sums) * many.dispersion, ratios)
    assert many.dispersion == pytest.approx(1.0)
    keys = np.arange(200) % 7
    np.testing.assert_allclose(many.sums(keys, 7), once.sums(keys, 7))
    assert many.likelihood_ratio(PART, EVERYTHING) == pytest.approx(once.likelihood_ratio(PART, EVERYTHING))


def test_means_over_units_tell_more_than_single_answers():
    mean = 0.3 + 0.05 * PART
    few = RepeatedOutcome((dice.random((50, 200)) < mean).astype(float))
    assert few.dispersion < 0.1
    assert few.likelihood_ratio(PART, EVERYTHING) > BinaryOutcome(few.table[0] > 0.5).likelihood_ratio(PART, EVERYTHING)


@pytest.mark.parametrize("n", [2, 7, 200])
def test_halves_share_the_outcome(n):
    outcome = RepeatedOutcome(dice.random((4, n)))
    one, two = outcome.split(np.random.default_rng(0))
    assert sorted([*one, *two]) == list(range(n))
    assert abs(len(one) - len(two)) <= 1
    if n == 200:
        assert outcome.values[one].mean() == pytest.approx(outcome.values[two].mean(), abs=0.01)


@pytest.mark.parametrize("outcome", [BinaryOutcome(PART), GroupedOutcome(PART, np.arange(200))])
def test_more_rows_search_than_test(outcome):
    searched, tested = outcome.split(np.random.default_rng(0))
    assert sorted([*searched, *tested]) == list(range(200))
    assert len(searched) == pytest.approx(120, abs=2)
    assert PART[searched].mean() == pytest.approx(PART.mean(), abs=0.02)


def test_the_rate_of_a_part_covers_units_and_rows():
    p_value = RepeatedOutcome(np.full((10, 200), 0.25) + dice.normal(0, 0.05, (10, 1))).rate(PART, 0.95)
    assert 0 < p_value.low < p_value.value < p_value.high < 1


def test_a_part_or_a_rest_without_rows_is_no_evidence_with_groups_either():
    outcome = RepeatedOutcome(np.random.default_rng(0).random((10, 60)), np.repeat(np.arange(6), 10))
    for part in (np.zeros(60, dtype=bool), np.ones(60, dtype=bool)):
        assert outcome.p_value(part, np.ones(60, dtype=bool)) == 1.0
