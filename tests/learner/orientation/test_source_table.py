import math

import numpy as np
import pandas as pd
import pytest

import classay
from classay import InputError
from classay.tables.read import read_table


def test_the_random_table_has_the_published_figures():
    """Table 3: 2,000 rows, subsets of 240, bootstrap standard error 1.8638 for even numbers below 100."""
    table = read_table("random")
    row = classay.source_table({"random": (table.X, table.y)}).table.iloc[0]
    assert (row["rows"], row.subset_rows) == (2000, 240)
    assert row.value == pytest.approx(1.8638, rel=0.02)
    assert row.balance == pytest.approx(0.501, abs=0.03)


def test_it_is_what_bootstrapping_gives():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2)) * [1, 10]
    means = [X[rng.integers(500, size=60)].mean(axis=0) for _ in range(3000)]
    row = classay.source_table({"a": (X, rng.integers(3, size=500))}).table.iloc[0]
    assert row.value == pytest.approx(np.std(means, axis=0).mean(), rel=0.04)
    assert row.scaled == pytest.approx(1 / math.sqrt(60))


def test_columns_that_are_not_numbers_are_left_out():
    X = pd.DataFrame({"colour": ["red", "blue"] * 50, "constant": 1.0})
    row = classay.source_table({"a": (X, ["x"] * 30 + ["y"] * 70)}).table.iloc[0]
    assert row["columns"] == 1
    assert row.value == 0 == row.scaled
    assert row.balance == pytest.approx(0.7)


@pytest.mark.filterwarnings("error")
def test_columns_without_a_value():
    X = pd.DataFrame({"empty": np.nan, "a": np.arange(10.0)})
    one, other = (classay.source_table({"a": (table, [0, 1] * 5)}) for table in (X, X[["a"]]))
    pd.testing.assert_frame_equal(one.table, other.table)
    none = classay.source_table(
        {"a": (X[["empty"]], [0, 1] * 5), "b": (pd.DataFrame({"w": list("ab") * 5}), [0, 1] * 5)}
    )
    assert none.table["value"].isna().all()
    assert str(none).count("no column of numbers, so no bootstrap standard error") == 2
    assert "nan" not in str(none)


@pytest.mark.parametrize(
    "tables", [{}, [1], {"a": 1}, {"a": (np.zeros((3, 1)), [1, 2])}, {"a": (np.zeros((1, 1)), [1])}]
)
def test_tables_that_cannot_be(tables):
    with pytest.raises(InputError, match="tables"):
        classay.source_table(tables)
