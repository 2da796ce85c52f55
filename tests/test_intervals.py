import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from classay import Estimate, InputError, intervals


def test_estimate_reads_well():
    estimate = Estimate(2.941, 2.87, 3.0149, kind="over holdouts")
    assert str(estimate) == "2.94 [2.87, 3.01]"
    assert f"{estimate:.1f}" == "2.9 [2.9, 3.0]"
    assert float(estimate) == 2.941
    assert str(Estimate(math.nan, 0, 5)) == "unknown [0, 5]"
    assert not Estimate(math.nan, 0, 5).known


def test_of_mean_is_students_interval():
    values = [1.0, 2.0, 4.0, 7.0]
    estimate = intervals.of_mean(values, 0.9)
    low, high = stats.t.interval(0.9, 3, np.mean(values), stats.sem(values))
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((3.5, low, high))
    assert intervals.of_mean([3.0]) == Estimate(3.0, -math.inf, math.inf, kind="of a mean")


def test_of_proportion_is_wilsons_interval():
    # Newcombe (1998), Table I: 81 of 263, score method without correction: 0.2553 to 0.3662.
    estimate = intervals.of_proportion(81, 263)
    assert (estimate.low, estimate.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert intervals.of_proportion(0, 20).low == 0
    with pytest.raises(InputError, match="21 successes in 20"):
        intervals.of_proportion(21, 20)


def test_crossed_standard_error_of_one_column_is_the_usual_one():
    values = np.random.default_rng(0).normal(size=30)
    assert intervals.crossed_standard_error(values[:, None]) == pytest.approx(stats.sem(values))
    assert intervals.crossed_standard_error(values[None, :]) == pytest.approx(stats.sem(values))


@pytest.mark.parametrize(("row", "column", "entry"), [(1.0, 0.0, 0.5), (0.5, 1.0, 1.0), (0.0, 0.0, 1.0)])
def test_crossed_standard_error_is_right_on_average(row, column, entry):
    rng = np.random.default_rng(1)
    rows, columns, runs = 30, 20, 400
    means, errors = [], []
    for _ in range(runs):
        table = row * rng.normal(size=(rows, 1)) + column * rng.normal(size=columns)
        table = table + entry * rng.normal(size=(rows, columns))
        means.append(table.mean())
        errors.append(intervals.crossed_standard_error(table) ** 2)
    truth = row**2 / rows + column**2 / columns + entry**2 / (rows * columns)
    # It never understates; where only entries vary it may overstate, being at least either one-way error.
    assert np.mean(errors) == pytest.approx(truth, rel=0.25)
    assert np.var(means) == pytest.approx(truth, rel=0.25)


def test_difference_uses_the_side_that_matters():
    gap = intervals.difference(Estimate(3.0, 2.0, 4.0), Estimate(1.0, 0.5, 1.5))
    assert (gap.value, gap.low, gap.high) == pytest.approx((2.0, 2 - math.hypot(1, 0.5), 2 + math.hypot(1, 0.5)))
    gap = intervals.difference(Estimate(3.0, 3.0, 3.0), Estimate(1.0, 0.9, 2.0))
    assert (gap.low, gap.high) == pytest.approx((1.0, 2.1))
    one, other = Estimate(5.0, 3.0, 8.0), Estimate(2.0, 1.0, 4.0)
    together = intervals.difference(one, other, correlation=0.5)
    assert (together.low, together.high) == pytest.approx((3 - math.sqrt(4 + 4 - 4), 3 + math.sqrt(9 + 1 - 3)))
    assert intervals.difference(one, Estimate(2.0, 1.0, math.inf), correlation=0.5).low == -math.inf


def test_levels_are_checked():
    with pytest.raises(InputError, match="level"):
        intervals.of_mean([1.0, 2.0], level=95)


def test_shares_stay_between_0_and_1_and_are_skewed_near_them():
    middle = intervals.share_around(0.5, 0.01)
    assert (middle.low, middle.high) == pytest.approx((0.4804, 0.5196), abs=1e-4)
    near = intervals.share_around(0.98, 0.02, draws=10)
    assert 0 < near.low < near.value < near.high < 1
    assert near.value - near.low > near.high - near.value
    assert intervals.share_around(1.0, 0.1).high == 1.0
    assert intervals.share_around(0.3, 0.0).low == 0.3


def test_by_group_keeps_means_and_has_the_cluster_robust_variance():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), rng.integers(1, 6, 10))
    table = rng.normal(size=(4, groups.size))
    grouped = intervals.by_group(table, groups)
    assert grouped.shape == (4, 10)
    assert grouped.mean(axis=1) == pytest.approx(table.mean(axis=1))
    values = table[:1]
    pulls = [values[0, groups == group] - values.mean() for group in range(10)]
    expected = sum(pull.sum() ** 2 for pull in pulls) * 10 / 9 / groups.size**2
    assert intervals.crossed_standard_error(intervals.by_group(values, groups)) ** 2 == pytest.approx(expected)


def test_groups_of_one_are_points():
    table = np.random.default_rng(0).normal(size=(5, 30))
    order = np.random.default_rng(1).permutation(30)
    plain, grouped = (
        intervals.crossed_standard_error(each) for each in (table, intervals.by_group(table, order + 100))
    )
    assert grouped == pytest.approx(plain)
    assert intervals.by_group(table, None) is not None
    assert np.ptp(intervals.by_group(np.full((2, 6), 0.1), [0, 0, 1, 1, 1, 2])) == 0


def test_a_proportion_by_group_is_wider_where_groups_are_alike():
    right = np.repeat([1, 0, 1, 1, 0, 1, 1, 1], 20).astype(bool)
    plain = intervals.of_proportion_by_group(right, None)
    grouped = intervals.of_proportion_by_group(right, np.repeat(np.arange(8), 20))
    assert plain == intervals.of_proportion(120, 160)
    assert grouped.value == plain.value
    assert grouped.high - grouped.low > 3 * (plain.high - plain.low)
    assert grouped.low > 0
    assert grouped.high < 1
    perfect = intervals.of_proportion_by_group(np.ones(40, bool), np.arange(40) // 4)
    assert (perfect.value, perfect.low) == (1.0, pytest.approx(0.05 ** (1 / 10)))


def test_an_interval_has_a_width_if_nothing_varied():
    assert intervals.bounded(1.0, 0.0, 20).low == pytest.approx(0.05 ** (1 / 20))
    between = intervals.bounded(0.5, 0.0, 20)
    assert (between.low, between.high) == pytest.approx((0.5 * 0.05 ** (1 / 20), 1 - 0.5 * 0.05 ** (1 / 20)))
    apart = intervals.bounded(0.0, 0.0, 20, least=-1)
    assert apart.high == pytest.approx(1 - 0.05 ** (1 / 20))
    assert intervals.of_mean([0.7] * 20, limits=(0, 1)).low == pytest.approx(0.7 * 0.05 ** (1 / 20))


@pytest.mark.parametrize(("right", "number"), [(1, 1000), (39, 40), (12, 30), (999, 1000)])
def test_of_single_rows_it_is_agresti_and_coulls(right, number):
    share = right / number
    estimate = intervals.bounded(share, math.sqrt(share * (1 - share) / number), number)
    middle, total = (right + 1.920729) / (number + 3.841459), number + 3.841459
    reach = 1.959964 * math.sqrt(middle * (1 - middle) / total)
    assert estimate.low == pytest.approx(middle - reach, rel=1e-5) or middle - reach < 0 < estimate.low < share
    assert estimate.high == pytest.approx(middle + reach, rel=1e-5) or middle + reach > 1 > estimate.high > share


@given(st.integers(0, 1000).map(lambda m: m / 1000), st.floats(0, 0.5), st.integers(1, 500), st.integers(2, 50))
def test_an_interval_of_a_bounded_mean_holds_it_within_the_limits(share, error, units, draws):
    estimate = intervals.bounded(share, error, units, draws=draws)
    assert 0 <= estimate.low <= share <= estimate.high <= 1
    assert estimate.low < estimate.high
    twice = intervals.bounded(2 * share - 1, 2 * error, units, draws=draws, least=-1)
    assert (twice.low, twice.high) == pytest.approx((2 * estimate.low - 1, 2 * estimate.high - 1), abs=1e-9)
