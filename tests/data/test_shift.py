"""Test rows unlike training rows, or among them."""

import numpy as np
import pandas as pd
import pytest
from suspect_worlds import contaminated, duplicates, shifted_test

import classay


def parts(world):
    return world["X"], world["X_test"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["number", "whole number", "category"])
def test_a_column_that_differs_only_by_missing_values_is_named(kind):
    rng = np.random.default_rng(3)
    values = {"number": rng.normal(size=800), "whole number": rng.integers(0, 5, 800).astype(float)}
    values = values.get(kind, rng.choice(["u", "v"], 800).astype(object)).reshape(2, 400)
    train, test = (pd.DataFrame({"a": rng.normal(size=400), "b": part}) for part in values)
    test.loc[rng.random(400) < 0.6, "b"] = None
    (named,) = classay.shift(train, test).columns
    assert named.column == "b"
    assert named.distance == pytest.approx(test["b"].isna().mean(), abs=0.1)
    if kind != "category":
        assert (named.train, named.test) == ("0% missing", f"{test['b'].isna().mean():.0%} missing")
    # Of the same share of missing values, nothing is said.
    train.loc[rng.random(400) < 0.6, "b"] = None
    assert classay.shift(train, test).columns == ()


def test_a_shifted_column_is_named():
    result = classay.shift(*parts(shifted_test(0)))
    assert result.unlike
    assert not result.contaminated
    assert result.verdict == "found"
    assert [each.column for each in result.columns] == ["m4"]
    assert "unlike" in str(result)


def test_rare_categories_that_are_new():
    rng = np.random.default_rng(1)
    train, test = (pd.DataFrame({"a": rng.normal(size=300), "job": rng.choice(list("uvw"), 300)}) for _ in range(2))
    test.loc[:13, "job"] = ["x", "y"] * 7
    (named,) = classay.shift(train, test).columns
    assert named.column == "job"


def test_rows_in_both_parts():
    result = classay.shift(*parts(contaminated(0)))
    assert (result.verdict, result.copies_p_value) == ("found", pytest.approx(0.001))
    assert str(result).startswith("Test rows are in the training part:")
    assert not result.unlike
    assert result.copies.value == pytest.approx(0.1, abs=0.02)
    assert result.usual_copies == pytest.approx(0)


def test_equal_rows_that_are_usual_are_no_contamination():
    result = classay.shift(*parts(duplicates(0)))
    assert result.copies.value > 0.9
    assert result.verdict == "no"
    assert "would have been seen" in str(result)


@pytest.mark.parametrize("gaps", [0, 0.12])
def test_half_a_standard_deviation_and_missing_values_are_seen(gaps):
    rng = np.random.default_rng(8)
    train, test = (pd.DataFrame(rng.normal(size=(size, 6))).rename(columns="m{}".format) for size in (300, 150))
    moved = test.mask(rng.random(test.shape) < gaps) if gaps else test.assign(m2=test["m2"] + 0.5)
    result = classay.shift(train.mask(rng.random(train.shape) < 0.02) if gaps else train, moved)
    assert result.unlike
    assert "missing values in a row" in str(result) if gaps else result.columns[0].column == "m2"


def test_one_pair_of_equal_rows_is_no_contamination():
    X = np.random.default_rng(0).normal(size=(150, 4))
    X[120] = X[3]
    result = classay.shift(X[:100], X[100:])
    assert result.copies_p_value == pytest.approx(2 * 100 * 50 / (150 * 149), abs=0.06)
    assert (result.copies.value, result.verdict) == (pytest.approx(0.02), "no")


def test_copies_by_hand():
    train = pd.DataFrame({"a": [1, 1, *range(2, 12)], "b": ["x"] * 12})
    test = pd.DataFrame({"b": ["x"] * 10, "a": [1.0, 2.0, 50, 51, 52, 53, 54, 55, 56, 57]})
    result = classay.shift(train, test)
    assert result.copies.value == pytest.approx(0.2)
    assert result.usual_copies == pytest.approx(2 / 12)


def test_other_patients_are_no_shift_if_they_are_given():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 10)
    X = rng.normal(size=(60, 4))[patient] + 0.05 * rng.normal(size=(600, 4))
    train, test = X[patient < 40], X[patient >= 40]
    assert classay.shift(train, test).auc.value > 0.9  # it recognises the patient
    assert not classay.shift(train, test, groups=patient).unlike


@pytest.mark.parametrize(
    ("train", "test", "match"),
    [
        (pd.DataFrame({"a": range(20)}), pd.DataFrame({"b": range(20)}), "different columns"),
        (np.ones((20, 2)), np.ones((5, 2)), "at least 10"),
    ],
)
def test_mistakes_are_refused(train, test, match):
    with pytest.raises(classay.InputError, match=match):
        classay.shift(train, test)


def test_few_values_show_nothing_and_exclude_nothing():
    a = np.random.default_rng(1).normal(size=200)
    X = pd.DataFrame({"a": a, "b": np.nan, "c": [f"id {value:.6f}"[-6:] for value in a]})
    X.loc[[0, 1], "b"], X.loc[[100, 101], "b"] = 1.0, 2.0  # two against two: p = 1/3 at best
    result = classay.shift(X[:100].assign(d="v"), X[100:].assign(d="v"))
    assert (result.verdict, result.unread) == ("no", ("b", "c"))
    assert str(result).endswith("columns): b, c.")
    few = classay.shift(X[["a"]][:12], X[["a"]][12:24])
    assert few.verdict == classay.shift(X[["b", "c"]][:100], X[["b", "c"]][100:]).verdict == "undecided"
    assert str(few).startswith("Too few rows")


@pytest.mark.parametrize("levels", [1000, 4])
def test_the_distance_that_would_be_seen_is_seen(levels):
    """A share of the rows, a little more than that distance, goes from the one end to the other; or half of it."""
    values = np.arange(400) / 400
    train = pd.DataFrame({"a": (levels * values).astype(int)}).astype(int if levels > 4 else str)
    visible = classay.shift(train, train).visible
    for moved in (0.5, 1.1):
        test = train["a"].where(values >= moved * visible, train["a"].to_numpy()[::-1])
        assert bool(classay.shift(train, test.to_frame()).columns) == (moved > 1)
