"""What a budget buys, and how times are read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay import InputError
from classay.report.budget import (
    LADDER,
    LEAST_ROWS,
    ON_FOLDS,
    ON_REFITS,
    BudgetSettings,
    Limits,
    Pilot,
    growth,
    plan,
    revised,
    seconds_of,
    time_text,
)

QUICK = {"tree": Pilot(0.001, 200, 1.0, True)}


def limits(half, classes=2, workers=2, others=None):
    return Limits(half=half, others=2 * half if others is None else others, classes=classes, workers=workers)


def test_a_fast_learner_gets_the_top_of_the_ladder():
    made = plan(QUICK, BudgetSettings(seconds=60), limits(200))
    assert (made.splits, made.repeats) == LADDER[0]
    assert made.size is None
    assert made.fold_rows is None
    # 100 halves, ten refits each, and five folds of twice the rows, on two workers.
    assert made.seconds == pytest.approx((100 * 10 * 0.001 + 5 * 0.002) / 2)


def test_a_slow_one_gets_fewer_rows_and_no_fewer_splits_than_the_least():
    made = plan({"slow": Pilot(1.0, 1000, 1.0, True)}, BudgetSettings(seconds=30), limits(10_000))
    assert (made.splits, made.repeats) == LADDER[-1]
    assert made.size is not None
    assert made.size < 1000
    # 20 halves, two refits each.
    assert 40 * made.size / 1000 / 2 <= ON_REFITS * 30


def test_what_is_given_is_kept():
    settings = BudgetSettings(seconds=30, splits=40, repeats=7, size=300, fold_rows="all")
    made = plan({"slow": Pilot(1.0, 1000, 2.0, True)}, settings, limits(10_000))
    assert (made.splits, made.repeats, made.size, made.fold_rows) == (40, 7, 300, None)


def test_settings_that_leave_nothing_open_are_the_plan():
    settings = BudgetSettings(seconds=30, splits=4, repeats=1, size="all", n_probes=20, fold_rows=100)
    assert settings.is_plan
    assert not BudgetSettings(seconds=30, splits=4, repeats=1, size="all").is_plan
    made = plan({}, settings, limits(200))
    assert (made.splits, made.repeats, made.size, made.n_probes, made.fold_rows) == (4, 1, None, 20, 100)
    assert made.seconds == 0


def test_deterministic_learners_are_fitted_once_per_half():
    random, without = (
        plan({"a": Pilot(0.1, 200, 1.0, random)}, BudgetSettings(seconds=60), limits(200, workers=1))
        for random in (True, False)
    )
    assert without.splits > random.splits


@given(
    st.floats(1e-4, 20),
    st.floats(0.2, 3),
    st.floats(5, 3600),
    st.integers(60, 100_000),
    st.booleans(),
    st.integers(2, 50),
)
def test_plans_keep_to_the_budget_or_are_the_least_possible(seconds, exponent, budget, half, dice, classes):
    pilot = Pilot(seconds, min(half, 1000), exponent, dice)
    made = plan({"a": pilot}, BudgetSettings(seconds=budget), limits(half, classes))
    assert (made.splits, made.repeats) in LADDER
    least = min(max(LEAST_ROWS, 5 * classes), half)
    rows = half if made.size is None else made.size
    cost = 2 * made.splits * (made.repeats if dice else 1) * pilot.at(rows) / 2
    assert cost <= ON_REFITS * budget * 1.0001 or (made.splits, made.repeats, rows) == (*LADDER[-1], least)
    folds = 2 * half if made.fold_rows is None else made.fold_rows
    assert 5 * pilot.at(folds) / 2 <= ON_FOLDS * budget * 1.0001 or folds == min(max(LEAST_ROWS, 5 * classes), 2 * half)


def test_more_rows_never_cost_less():
    pilot = Pilot(1.0, 1000, 0.3, True)
    assert pilot.at(500) < pilot.at(1000) < pilot.at(2000)
    assert pilot.at(2000) == 2.0


def test_growth():
    assert growth((100, 1.0), (1000, 1000.0)) == pytest.approx(3)
    assert growth((100, 1.0), (100, 5.0)) == 1
    assert growth((100, 0.0), (1000, 1.0)) == 1


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("2m", 120), ("2 min", 120), ("1h", 3600), (45, 45), ("0.5", 0.5)]
)
def test_times_are_read(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2 weeks", "-3s", 0, "nan", "inf"])
def test_other_times_are_refused(text):
    with pytest.raises(InputError, match="90s, 2m or 1h"):
        seconds_of(text)


def test_plans_in_words():
    made = plan({"slow": Pilot(1.0, 1000, 1.0, True)}, BudgetSettings(seconds=30), limits(10_000))
    assert f"{made.size:,} of 10,000 rows" in made.in_words(10_000)
    assert time_text(2.345) == "2.3 s"
    assert time_text(150) == "2 min 30 s"


def test_folds_get_fewer_rows_where_refits_took_longer_than_foreseen():
    pilots = {"a": Pilot(0.1, 1000, 1.0, True)}
    settings, most = BudgetSettings(seconds=60), limits(5000, others=8000)
    made = plan(pilots, settings, most)
    assert made.fold_rows is None
    slow = np.full((10, 2), 2.0)
    later = revised(made, pilots, {"a": slow}, 59.0, settings, most)
    assert LEAST_ROWS <= later.fold_rows < 8000
    # 2 seconds on 5,000 rows; five folds, two at a time, in a twentieth of the budget.
    assert 5 * 2.0 * later.fold_rows / 5000 / 2 <= 0.05 * 60
    quick = np.full((10, 2), 0.01)
    assert revised(made, pilots, {"a": quick}, 20.0, settings, most) == made
