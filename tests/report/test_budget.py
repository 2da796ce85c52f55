"""What a budget allows, on fixed steps, and how times are read."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay import InputError
from classay.report.budget import (
    ALWAYS,
    MOST_ON_FOLDS,
    ON_FOLDS,
    ROWS,
    SPLITS,
    SURE,
    BudgetSettings,
    Clock,
    Speed,
    enough,
    fold_rows_for,
    growth,
    next_round,
    seconds_of,
    size_for,
    steps,
    time_text,
)
from classay.report.cross_validated import HeldOut

QUICK = Speed(1000, 0.01, 1e-6)
SLOW = Speed(1000, 10.0, 1e-3)


def test_all_rows_come_first_and_never_few():
    assert steps(4000) == [4000]
    assert steps(10_500) == [10_500]
    assert steps(60_000) == [60_000, 50_000, 20_000, 10_000]
    assert steps(1_000_000) == [1_000_000, *ROWS]
    assert min(ROWS) == 10_000


def test_a_fast_learner_uses_all_rows_though_another_is_slow():
    rows, slow = fold_rows_for({"quick": QUICK, "slow": SLOW}, 60.0, 100_000, 20_000, 2)
    assert rows == {"quick": 100_000}
    assert set(slow) == {"slow"}
    size, slow = size_for({"quick": QUICK, "slow": SLOW}, 60.0, 100_000, 20_000, 2, 5, 2)
    assert size == 100_000
    assert set(slow) == {"slow"}


def test_the_fastest_is_never_too_slow():
    assert fold_rows_for({"slow": SLOW}, 1.0, 100_000, 20_000, 2) == ({"slow": 10_000}, {})
    assert size_for({"slow": SLOW}, 1.0, 4000, 1000, 2, 5, 2) == (4000, {})


speed = st.builds(
    Speed,
    st.integers(250, 64_000),
    st.floats(1e-4, 20),
    st.floats(1e-7, 1e-2),
    st.floats(0.2, 3),
    st.floats(-0.5, 1.5),
    st.booleans(),
)


@given(st.lists(speed, min_size=1, max_size=4), st.floats(1, 3600), st.integers(60, 1_000_000))
def test_fits_keep_to_the_time_or_are_the_least_possible(timed, left, most):
    speeds = {str(place): each for place, each in enumerate(timed)}
    rows, slow = fold_rows_for(speeds, left, most, 1000, 2)
    assert set(rows) | set(slow) == set(speeds)
    assert set(rows.values()) <= set(steps(most))
    cost = sum(5 * speeds[name].at(each, 400) / 2 for name, each in rows.items())
    assert cost <= max(MOST_ON_FOLDS * left, ALWAYS) * 1.0001 or len(rows) == 1
    size, slow = size_for(speeds, left, most, 1000, 2, 5, 2)
    assert size in steps(most)
    assert len(slow) < len(speeds)


def test_a_round_starts_only_if_it_should_end_in_time():
    done = {"a": 5, "b": 5}
    assert next_round({"a": 1.0, "b": 1.0}, done, 10, 10 / SURE + 0.1)[0] == ["a", "b"]
    assert next_round({"a": 1.0, "b": 1.0}, done, 10, 9.0) == ([], 0.0)
    # One that takes longer than all others together stays behind.
    assert next_round({"a": 0.1, "b": 5.0}, done, 10, 9.0)[0] == ["a"]
    assert next_round({"a": 5.0}, {"a": 5}, 10, 9.0) == ([], 0.0)


def test_rounds_double_or_more():
    assert all(later >= 1.5 * earlier for earlier, later in pairwise(SPLITS))
    assert ON_FOLDS < MOST_ON_FOLDS < 1


def test_settings_that_leave_nothing_open_are_the_plan():
    assert BudgetSettings(seconds=30, splits=4, size="all", fold_rows=100).is_plan
    assert BudgetSettings(seconds=None).is_plan
    assert not BudgetSettings(seconds=30, splits=4, repeats=1, size="all").is_plan


def test_more_rows_never_cost_less():
    odd = Speed(1000, 1.0, 1e-3, 0.3, -0.4)
    assert odd.at(500, 0) < odd.at(1000, 0) < odd.at(2000, 0)
    assert odd.at(2000, 0) == pytest.approx(1 + 2 / 3)  # at least half of the growth of a learner that is linear
    assert odd.at(2000, 10) - odd.at(2000, 0) == pytest.approx(0.01)


def test_folds_show_the_speed_better_than_pilots():
    held = HeldOut(None, None, 4000, None, 4000, 0.5, 2e-4)
    measured = Speed(250, 9.0, 9.0, 1.2, 0.1, False).measured(held)
    assert (measured.rows, measured.fit, measured.point) == (4000, 0.5, 1e-4)
    assert (measured.growth, measured.random) == (1.2, False)


def test_growth():
    assert growth((100, 1.0), (1000, 1000.0)) == pytest.approx(3)
    assert growth((100, 1.0), (100, 5.0)) == 1
    assert growth((100, 0.0), (1000, 1.0)) == 1


def test_a_clock_counts_what_was_spent_before():
    clock = Clock(100.0, spent=60.0)
    assert clock.passed >= 60
    assert clock.left <= 40
    assert clock.after(0.5)
    assert not clock.after(0.5, begin=clock.passed)
    assert not Clock(None).after(0.9)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("2m", 120), ("2 min", 120), ("1h", 3600), (45, 45), ("0.5", 0.5)]
)
def test_times_are_read(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2 weeks", "-3s", 0, "nan", "inf"])
def test_other_times_are_refused(text):
    with pytest.raises(InputError, match="90s, 2m or 1h"):
        seconds_of(text)


def test_times_in_words():
    assert time_text(2.345) == "2.3 s"
    assert time_text(150) == "2 min 30 s"
    assert [enough(seconds) for seconds in (3, 61, 3000, 3601)] == ["20s", "2m", "1h", "2h"]


def test_time_that_does_not_depend_on_rows_is_not_multiplied():
    """A forest of 1 s for its trees and 1 ms per row, timed on 250 and 1,000 rows."""

    def seconds(rows):
        return 1 + rows / 1000

    forest = Speed(1000, seconds(1000), 0.0, growth((250, seconds(250)), (1000, seconds(1000))))
    assert forest.at(20_000, 0) == pytest.approx(seconds(20_000), rel=0.5)
