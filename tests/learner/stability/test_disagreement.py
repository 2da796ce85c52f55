"""Where refits disagree: planted regions are found, chance is not, and mistakes get a sentence."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import HalfSplits, InputError, Labelings, record


def regions(labelings, table=None, **options):
    return classay.stability(labelings).regions(table, **options)


def points(n=3000, seed=0):
    dice = np.random.default_rng(seed)
    return pd.DataFrame(
        {"heat": dice.uniform(0, 100, n), "speed": dice.uniform(0, 1, n), "line": dice.choice(list("abc"), n)}
    )


def planted(table, units=40, seed=1, halves=True):
    """Refits that agree but for 2 % of their answers, and toss a coin where it is hot and fast."""
    dice = np.random.default_rng(seed)
    truth = (table.speed > 0.5).to_numpy().astype(int)
    rate = np.where((table.heat > 70) & (table.speed > 0.6), 0.5, 0.02)
    labels = np.where(dice.random((2 * units, 1, len(table))) < rate, 1 - truth, truth)
    return Labelings.from_arrays(labels, truth, probe_labels=labels, probes=table, halves=halves)


@pytest.mark.parametrize("halves", [True, False])
def test_a_planted_region_is_found_in_the_users_units(halves):
    table = points()
    found = regions(planted(table, halves=halves))
    first = found.regions[0]
    assert set(first.features) == {"heat", "speed"}
    inside = (table.heat > 70) & (table.speed > 0.6)
    assert (first.rows(table) == inside).mean() > 0.98
    np.testing.assert_array_equal(first.rows(table), found.rows(0))
    assert first.rate.low <= 0.5 <= first.rate.high
    assert first.rest_rate == pytest.approx(2 * 0.02 * 0.98, abs=0.01)
    assert first.condition in str(found)
    assert found.disagreement.value == pytest.approx(
        1 - classay.stability(planted(table, halves=halves)).stability.value
    )


def test_what_a_few_refits_have_in_common_is_no_region():
    """Each refit draws stripes at a random place, so each disagrees with the next in stripes: none is to be found."""
    discoveries = 0
    for seed in range(20):
        dice = np.random.default_rng(seed)
        table = points(800, seed)
        waves = np.sin(table.heat.to_numpy() / 12 + dice.uniform(0, 2 * np.pi, (32, 1)))
        labels = (waves > 0).astype(int)
        found = regions(Labelings.from_arrays(labels, labels[0], halves=True), table, random_state=seed)
        discoveries += len(found.regions) > 0
    assert discoveries <= 3


def test_test_points_come_from_the_whole_table_or_alone():
    dice = np.random.default_rng(0)
    table = points(1500)
    y = (table.heat + 10 * dice.normal(size=1500) > 60).astype(int)
    X = table[["heat", "speed"]]
    labelings = record(DecisionTreeClassifier(max_depth=3), X, y, HalfSplits(12), 1, executor=1)
    whole = regions(labelings, table)
    alone = regions(labelings, table.iloc[labelings.test_rows])
    assert whole.on == "test points"
    assert str(whole) == str(alone)
    with pytest.raises(InputError, match="Test points are known by number only"):
        regions(labelings)
    with pytest.raises(InputError, match=r"`table` has 7 rows but the refits predicted 300 test points"):
        regions(labelings, table.head(7))


def test_the_result_is_tidy_and_plain():
    labelings = planted(points())
    found = regions(labelings)
    as_array = points()[["heat", "speed"]].to_numpy()
    assert set(regions(dataclasses.replace(labelings, probes=as_array)).regions[0].features) == {"x0", "x1"}
    frame = found.to_frame()
    assert frame["rank"].tolist() == list(range(1, len(frame) + 1))
    assert (frame.q_value <= 0.05).all()
    assert frame.columns.is_unique
    first, row = found.regions[0], frame.iloc[0]
    ends = (getattr(first.conditions[0], "low", np.nan), getattr(first.conditions[0], "high", np.nan))
    np.testing.assert_array_equal(row[["low", "high"]].astype(float), np.array(ends, dtype=float))
    assert (row.rate_low, row.rate_high) == (first.rate.low, first.rate.high)
    assert set(found.tested.columns) >= {"condition", "rate", "p_value", "q_value", "verdict"}
    json.dumps(found.to_dict(), allow_nan=False)
    with pytest.raises(InputError, match="counted from 0"):
        found.rows(99)


def test_refits_that_never_differ():
    labels = np.zeros((20, 100), dtype=int)
    found = regions(Labelings.from_arrays(labels, [0, 1] * 50, halves=True), points(100))
    assert found.regions == ()
    assert "no region stands out" in str(found)


@pytest.mark.parametrize(
    ("options", "units", "message"),
    [
        ({"columns": ["haet"]}, 40, "Did you mean heat"),
        ({"q": 2}, 40, "`q` is 2"),
        ({"table": [[1]]}, 40, "expected a pandas DataFrame|has 1 rows"),
        ({}, 3, "has 3 splits; regions need at least 8"),
    ],
)
def test_mistakes(options, units, message):
    with pytest.raises(InputError, match=message):
        regions(planted(points(300), units), **options)
