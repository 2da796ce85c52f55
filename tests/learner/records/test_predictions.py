"""Regressors: the same record, and agreement within a tolerance and concordance from it."""

from __future__ import annotations

import itertools
import json
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import classay
from classay import HalfSplits, InputError, Predictions, Subsets, record, stability
from classay.learner.stability.agreement import concordance, spread

X, Y = load_diabetes(return_X_y=True)
SETTINGS = {"repeats": 2, "probes": "uniform", "n_probes": 100}


@pytest.fixture(scope="module")
def forest():
    return record(RandomForestRegressor(5), X, Y, HalfSplits(4), **SETTINGS, executor=1)


def test_the_record_of_a_regressor(forest):
    assert isinstance(forest, Predictions)
    assert forest.values.shape == (8, 2, 88)
    assert forest.probe_values.shape == (8, 2, 100)
    np.testing.assert_array_equal(forest.truth, Y[forest.test_rows])
    fitted = np.sqrt(((forest.values - forest.truth) ** 2).mean(axis=2))
    np.testing.assert_allclose(forest.test_rmse, fitted)
    assert (forest.train_rmse < forest.test_rmse).all()
    assert "88 test points, which run from" in str(forest)
    figures = {"train_rmse", "test_rmse", "seconds", "complexity"}
    assert set(forest.to_frame().columns) == {"subset", "refit", "error", *figures}


def test_refits_are_those_of_the_learner_itself(forest):
    linear = record(LinearRegression(), X, Y, Subsets(3, 0.5), repeats=2, executor=1)
    assert linear.deterministic
    assert linear.values.shape == (3, 1, 88)
    for rows, values in zip(linear.train_rows, linear.values[:, 0]):
        np.testing.assert_allclose(LinearRegression().fit(X[rows], Y[rows]).predict(X[linear.test_rows]), values)


def test_the_same_bits_and_the_same_file(forest, tmp_path):
    again = record(RandomForestRegressor(5), X, Y, HalfSplits(4), **SETTINGS, executor=ThreadPoolExecutor(2))
    np.testing.assert_array_equal(again.values, forest.values)
    loaded = classay.load(forest.save(tmp_path / "record"))
    assert isinstance(loaded, Predictions)
    np.testing.assert_array_equal(loaded.probe_values, forest.probe_values)
    np.testing.assert_array_equal(loaded.probes, forest.probes)
    assert str(stability(loaded)) == str(stability(forest))
    stored = record(LinearRegression(), X, Y, Subsets(3), executor=1, store=tmp_path / "store")
    found = record(LinearRegression(), X, Y, Subsets(3), executor=1, store=tmp_path / "store")
    np.testing.assert_array_equal(found.values, stored.values)
    np.testing.assert_array_equal(found.seconds, stored.seconds)


@pytest.mark.parametrize(
    "learner",
    [
        make_pipeline(StandardScaler(), DecisionTreeRegressor()),
        GridSearchCV(DecisionTreeRegressor(), {"max_depth": [1]}, cv=2),
    ],
)
def test_regressors_in_disguise(learner):
    assert isinstance(record(learner, X, Y, Subsets(2, 0.5), repeats=1, executor=1), Predictions)


def test_figures_of_a_regressor(forest):
    found = stability(forest)
    assert found.on == "uniform comparison points"
    assert found.tolerance == pytest.approx(0.1 * forest.truth.std())
    assert found.rmse.low < found.rmse.value < found.rmse.high
    assert found.rmse.value == pytest.approx(math.sqrt(((forest.values - forest.truth) ** 2).mean()))
    assert found.r2.value == pytest.approx(1 - found.rmse.value**2 / forest.truth.var())
    assert found.same_subset.known
    assert found.spread.shape == found.per_point.shape == (100,)
    wider = stability(forest, tolerance=1e6)
    assert wider.stability.value == 1.0
    assert "differ by at most" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_constant_regressor():
    found = stability(Predictions.from_arrays(np.full((8, 20), 3.0), np.arange(20)))
    assert found.stability.value == 1.0
    assert math.isnan(found.concordance.value)
    assert "one number" in found.concordance.kind
    mean = stability(record(DummyRegressor(), X, Y, HalfSplits(4), 1, executor=1))
    assert mean.concordance.value < 0.1
    assert mean.r2.value < 0.05


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3), st.booleans())
def test_concordance_and_spread_by_the_loop_over_pairs(seed, splits, refits, halves):
    rng = np.random.default_rng(seed)
    values = 5 + rng.normal(size=12) + rng.normal(0, 0.5, (2 * splits, refits, 12))
    if halves:
        pairs = [(k, k + 1) for k in range(0, 2 * splits, 2)]
    else:
        pairs = list(itertools.combinations(range(2 * splits), 2))
    near, far, at_point = 0.0, 0.0, np.zeros(12)
    for k, other in pairs:
        for r, s in itertools.product(range(refits), repeat=2):
            a, b = values[k, r], values[other, s]
            near += ((a - b) ** 2).mean()
            far += a.var() + b.var() + (a.mean() - b.mean()) ** 2
            at_point += (a - b) ** 2
    value, table = concordance(values, halves)
    assert value == pytest.approx(1 - near / far, abs=1e-10)
    assert table.mean() == pytest.approx(value, abs=1e-10)
    np.testing.assert_allclose(spread(values, halves), np.sqrt(at_point / (2 * len(pairs) * refits**2)), atol=1e-9)


def test_scale_and_shift_of_the_target_make_no_difference(forest):
    found = stability(forest)
    moved = Predictions.from_arrays(
        7 + 3 * forest.values, 7 + 3 * forest.truth, probe_values=7 + 3 * forest.probe_values, halves=True
    )
    other = stability(moved)
    assert other.stability.value == pytest.approx(found.stability.value)
    assert other.concordance.value == pytest.approx(found.concordance.value)
    assert other.rmse.value == pytest.approx(3 * found.rmse.value)
    np.testing.assert_allclose(other.spread, 3 * found.spread)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: record(LinearRegression(), X, np.where(Y > 100, "a", "b")),
            "contains text.*Did you mean a classifier",
        ),
        (lambda: record(LinearRegression(), X, np.full(len(Y), 2.0)), "is 2.0 in all 442 rows"),
        (lambda: record(LinearRegression(), X, np.where(Y > 300, np.inf, Y)), "infinite values"),
        (lambda: Predictions.from_arrays([["a"]], [1]), "`values` is not an array of numbers"),
        (lambda: Predictions.from_arrays([[np.nan]], [1]), "missing or infinite"),
        (lambda: Predictions.from_arrays([[1, 2]], [1]), "`values` has 2 points but `y_true` has 1"),
        (lambda: Predictions.from_arrays([[1]] * 3, [1], halves=True), "there are 3 subsets"),
        (lambda: stability(Predictions.from_arrays([[1.0]] * 4, [1])), "no scale for `tolerance`"),
    ],
)
def test_mistakes(call, said):
    with pytest.raises(InputError, match=said):
        call()


@pytest.mark.parametrize("tolerance", [-1, "wide", np.nan, True])
def test_tolerances_that_are_none(forest, tolerance):
    with pytest.raises(InputError, match="`tolerance` is"):
        stability(forest, tolerance=tolerance)


def test_other_measures_say_that_they_count_labels(forest):
    for measure in (classay.orientation, lambda one: classay.kinship({"a": one, "b": one})):
        with pytest.raises(InputError, match="record of a regressor"):
            measure(forest)
    with pytest.raises(InputError, match="expected the record of a classifier"):
        stability({"forest": stability(forest)})
