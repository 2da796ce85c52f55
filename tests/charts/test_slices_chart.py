"""The chart of slices."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from drawings import drawn, rows_with

from classay.charts.regions import slices_chart
from classay.data.model.error_slices import slices


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    names = ["<script>alert(1)</script>", "datum.value + ${x}\n\x00", "y" * 5000]
    return pd.DataFrame({name: rng.choice(["</script>", "b.c[0]", "z" * 300], 3000) for name in names})


def test_bars_have_the_right_numbers(table):
    column = table.iloc[:, 0]
    found = slices(table, np.random.default_rng(1).random(3000) < np.where(column == "</script>", 0.5, 0.1))
    chart = slices_chart(found)
    rows = rows_with(chart, "condition")
    first = found.slices[0]
    assert len(rows) == len(found.slices)
    assert (rows[0]["value"], rows[0]["low"], rows[0]["high"]) == (
        first.rate.value,
        first.rate.low,
        first.rate.high,
    )
    assert [row["overall"] for row in rows_with(chart, "overall")] == [found.error_rate.value]
    assert "Where errors concentrate" in drawn(chart)


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_no_slice_is_drawn_too(table, rate):
    found = slices(table, np.random.default_rng(2).random(3000) < rate, q=1e-9)
    assert found.slices == ()
    chart = slices_chart(found)
    assert "No slice stands out" in drawn(chart)
