"""Concepts and their attributes, and how often two concepts predict the same: exact on small discrete spaces."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from classay import InputError, agreement
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
    points = attributes(2).probes(np.array([[0.1, 0.2], [0.3, 0.4]]), 10, 0)
    assert (points.kind, points.rows.shape) == ("given", (2, 2))
    assert attributes(2, 0.9).probes("data", 500, 0).rows.shape == (500, 2)


@pytest.mark.parametrize(
    ("given", "correlation", "message"),
    [
        (0, 0, "at least 1"),
        ("two", 0, "number of columns"),
        ({}, 0, "number of columns"),
        ([(0, 1), "bool"], 0, "a dict of columns"),
        ({"a": (1, 0)}, 0, "must be smaller"),
        ({"a": ["x"]}, 0, "one category"),
        ({"a": 3}, 0, "described by 3"),
        ({"a": [[1], [2]]}, 0, "described by"),
        ({"a": (0, float("inf"))}, 0, "described by"),
        (2, 1.0, "between -1 and 1"),
        (2, "high", "between -1 and 1"),
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
    space = attributes(TABLE)
    assert concept(len, "f1", space).name == "len"
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


# How often two concepts predict the same.


LETTERS = {"a": "bool", "b": "bool", "c": "bool"}
FORMULAS = [
    "a",
    "not a",
    "a and b",
    "a or b",
    "not (not a or not b)",
    "(a and b) or c",
    "(a or c) and (b or c)",
    "c or b and a",
]


def test_theorem_1_agreement_is_1_for_equivalent_formulas_and_for_no_others():
    worlds = list(itertools.product([False, True], repeat=3))
    tables = {text: [eval(text, {}, dict(zip("abc", world))) for world in worlds] for text in FORMULAS}
    for one, two in itertools.product(FORMULAS, repeat=2):
        found = agreement(one, two, LETTERS)
        overlap = np.mean(np.array(tables[one]) == np.array(tables[two]))
        assert (found.value, found.low, found.high) == pytest.approx((overlap,) * 3)
        assert (found.value > 1 - 1e-9) == (tables[one] == tables[two])
        assert found.kind == "exact, over all points"


def test_categories_are_enumerated_and_unequal_sizes_count_right():
    space = {"hue": ["red", "blue", "green"], "wet": "bool"}
    assert agreement("hue == 'red'", "hue == 'red' and wet", space).value == pytest.approx(5 / 6)


def test_other_spaces_are_sampled_with_an_interval():
    found = agreement("x0 > 0.5", "x0 > 0.25", n_probes=4000)
    assert found.low < 0.75 < found.high
    assert found.high - found.low < 0.04
    mixed = agreement("heat > 50", "heat > 50 and wet", {"heat": (0, 100), "wet": "bool"})
    assert mixed.low < 0.75 < mixed.high
    many = agreement("c0", "c1", {f"c{place}": "bool" for place in range(21)}, n_probes=500)
    assert many.kind == "of a proportion, over 500 uniform comparison points"


def test_rows_classifiers_and_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(300)})
    X["b"] = X["a"]
    trees = [DecisionTreeClassifier(max_depth=1, random_state=seed).fit(X, X["a"] > 0.5) for seed in (0, 1)]
    assert agreement("a > 0.5", "b > 0.5", X, probes="data").value == 1.0  # together in the data
    assert agreement("a > 0.5", "b > 0.5", X).value == pytest.approx(0.5, abs=0.03)  # not on the attribute space
    assert agreement(trees[0], trees[1], X, probes="data").value == 1.0
    near = agreement(lambda rows: rows[:, 0], lambda rows: rows[:, 0] + 0.1, 1, tolerance=0.2)
    with pytest.raises(InputError, match=r"returns numbers such as .* and `tolerance` is missing"):
        agreement(lambda rows: rows[:, 0], lambda rows: rows[:, 0] + 1e-12, 1)
    far = agreement(lambda rows: rows[:, 0], lambda rows: rows[:, 0] + 0.1, 1, tolerance=0.05)
    assert (near.value, far.value) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("concepts", "message"),
    [
        (("a", "b"), "`attributes` is missing"),
        (("a and", "b", LETTERS), "a and"),
        (("a", "d", LETTERS), "d"),
        (("x0 > 0.5", lambda rows: np.full(len(rows), "yes"), 1), "the same class names in both"),
        (("a", 5, LETTERS), "expected an expression"),
    ],
)
def test_concepts_that_cannot_agree(concepts, message):
    with pytest.raises(InputError, match=message):
        agreement(*concepts)
    with pytest.raises(InputError, match="tolerance"):
        agreement("a", "b", LETTERS, tolerance=-1)
