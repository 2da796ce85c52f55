from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from classay import InputError
from classay.learner.preference.concepts import attributes, columns_named, concept

TABLE = pd.DataFrame(
    {"heat": [20.0, 80.0, 50.0], "runs": [1, 9, 4], "alloy": ["A", "B", "A"], "wet": [True, False, True]}
)


def test_numbers_make_uniform_columns():
    rows = attributes(3).draw(20_000, np.random.default_rng(0))
    assert rows.shape == (20_000, 3)
    assert abs(rows.mean() - 0.5) < 0.01
    assert np.abs(np.corrcoef(rows.T) - np.eye(3)).max() < 0.03


@pytest.mark.parametrize("wanted", [0.9, 0.3, -0.8])
def test_correlation_is_that_of_the_columns_and_margins_stay_uniform(wanted):
    rows = attributes(2, wanted).draw(50_000, np.random.default_rng(0))
    assert np.corrcoef(rows.T)[0, 1] == pytest.approx(wanted, abs=0.01)
    for column in rows.T:
        np.testing.assert_allclose(np.quantile(column, [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.01)


def test_described_columns_stay_in_their_domain():
    space = attributes({"heat": (20, 80), "alloy": ["A", "B", "C"], "wet": "bool", "size": (0, 1)}, 0.95)
    rows = space.draw(5_000, np.random.default_rng(0))
    assert list(rows.columns) == ["heat", "alloy", "wet", "size"]
    assert rows["heat"].between(20, 80).all()
    assert set(rows["alloy"]) == {"A", "B", "C"}
    assert rows["wet"].dtype == bool
    assert rows["heat"].corr(rows["size"]) > 0.9
    probes = space.probes(None, 5_000, 0).rows
    assert abs(probes["heat"].corr(probes["size"])) < 0.05
    assert (probes["alloy"].value_counts() > 1_500).all()


def test_rows_of_data_are_drawn_anew_and_probes_spread_out():
    space = attributes(TABLE)
    rows = space.draw(1_000, np.random.default_rng(0))
    assert set(map(tuple, rows.itertuples(index=False))) == set(map(tuple, TABLE.itertuples(index=False)))
    probes = space.probes(None, 1_000, 0).rows
    assert probes["heat"].between(20, 80).all()
    assert probes["heat"].nunique() > 50
    assert set(probes["runs"]) <= set(range(1, 10))
    assert space.probes("data", 1_000, 0).kind == "data"


def test_probes_may_be_given():
    rows = np.array([[0.1, 0.2], [0.3, 0.4]])
    found = attributes(2).probes(rows, 10, 0)
    assert found.kind == "given"
    np.testing.assert_array_equal(found.rows, rows)
    assert attributes(2, 0.9).probes("data", 500, 0).rows.shape == (500, 2)


@pytest.mark.parametrize(
    ("given", "correlation", "message"),
    [
        (0, 0, "at least 1"),
        ("two", 0, "number of columns"),
        ({}, 0, "number of columns"),
        ({"a": (1, 0)}, 0, "must be smaller"),
        ({"a": ["x"]}, 0, "one category"),
        ({"a": 3}, 0, "described by 3"),
        ({"a": [[1], [2]]}, 0, "described by"),
        ({"a": (0, float("inf"))}, 0, "described by"),
        (2, 1.0, "below 1"),
        (2, "high", "below 1"),
        (1, 0.5, "no pair"),
        (5, -0.9, "negatively correlated"),
        (TABLE, 0.5, "rows of data have their own"),
        (TABLE.iloc[:0], 0, "rows and columns"),
        (np.array([["a", "b"]]), 0, "expected numbers"),
        (TABLE.set_axis(["a", "a", "b", "c"], axis=1), 0, "same name"),
    ],
)
def test_mistakes_are_explained(given, correlation, message):
    with pytest.raises(InputError, match=message):
        attributes(given, correlation)


def test_concepts_are_expressions_functions_or_classifiers():
    space = attributes(2)
    rows = np.array([[0.2, 0.9], [0.8, 0.1]])
    assert concept("x0 > 0.5", "f1", space)(rows).tolist() == [False, True]
    assert concept(lambda X: X[:, 1] > 0.5, "f1", space)(rows).tolist() == [True, False]
    classifier = DecisionTreeClassifier().fit([[0.0, 0.0], [1.0, 0.0]], ["low", "high"])
    assert concept(classifier, "f1", space)(rows).tolist() == ["low", "high"]
    frame = pd.DataFrame({"b": [0.0, 1.0], "a": [0.0, 0.0]})
    by_name = concept(DecisionTreeClassifier().fit(frame, [0, 1]), "f2", attributes({"a": (0, 1), "b": (0, 1)}))
    assert by_name(pd.DataFrame({"a": [0.0, 0.0], "b": [0.1, 0.9]})).tolist() == [0, 1]


def test_concepts_have_names():
    def heat_is_high(rows):
        return rows["heat"] > 50

    space = attributes(TABLE)
    assert concept(heat_is_high, "f1", space).name == "heat_is_high"
    assert concept(lambda rows: rows, "f2", space).name == "f2"
    assert concept("heat > 50", "f1", space).name == "heat > 50"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("x7 > 1", "x7"),
        ("__import__('os').system('x')", "call"),
        (LogisticRegression(), "not fitted"),
        (3, "an expression such as"),
    ],
)
def test_what_is_no_concept(given, message):
    with pytest.raises(InputError, match=message):
        concept(given, "f1", attributes(2))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (lambda X: X, "shape"),
        (lambda X: np.full(len(X), np.nan), "NaN"),
        (lambda X: 1, "shape"),
        (lambda X: X["heat"] > 1, "'f1' failed when called with 3 rows: IndexError"),
    ],
)
def test_odd_answers_of_concepts(answers, message):
    with pytest.raises(InputError, match=message):
        concept(answers, "f1", attributes(2))(np.zeros((3, 2)))


def test_expressions_say_how_many_columns_there_are():
    assert columns_named("x0 > 0.5", "x3 > x1") == 4
    assert columns_named("heat > 0.5", "x3 > 0.5") is None
    assert columns_named("x0 > 0.5", lambda X: X) is None


def test_a_function_that_takes_an_array_hears_that_rows_are_a_frame():
    space = attributes({"heat": (20, 80)})
    with pytest.raises(
        InputError, match=r"Rows are a DataFrame: use rows\['heat'\], rows.iloc\[:, 0\] or rows.to_numpy"
    ):
        concept(lambda rows: rows[:, 0] > 1, "f1", space)(space.draw(5, np.random.default_rng(0)))
