"""How ranges read: short, and not of other rows than those that they mean."""

import numpy as np
import pandas as pd
import pytest

from classay.regions.conditions import between


def test_above_nothing_is_not_told_as_everything():
    """Most pages have the value 0; the region begins at the smallest value above it."""
    values = pd.Index([0.0, 0.0381, 0.5, 3.0, 20.0, 50.0, 361.0])
    assert between("pages", values, 1, 6).text == "pages ≥ 0.03"


def test_neighbours_that_differ_by_far_too_little_are_rounded():
    values = pd.Index([0.0, 1.00000001, 1.00000002, 50.0, 100.0])
    assert between("x", values, 2, 3).text == "x 1–50"


@pytest.mark.parametrize("flip", [1, -1])
def test_both_ends_by_one_rule(flip):
    values = pd.Index(np.sort(flip * np.array([0.0, 0.0381, 0.5, 3.0, 20.0])))
    place = (1, 4) if flip == 1 else (0, 3)
    assert between("x", values, *place).text == ("x ≥ 0.03" if flip == 1 else "x ≤ -0.03")


@pytest.mark.parametrize(
    ("values", "low", "high", "text"),
    [
        (range(18, 80), 12, 27, "v 30–45"),
        ([0.1998, 0.2003, 0.35, 0.4999, 0.5002], 1, 3, "v 0.2–0.5"),
        (np.linspace(0, 5000, 5001) + 0.37, 1187, 1523, "v 1190–1520"),
        (np.linspace(-3, 3, 601), 100, 400, "v -2 to 1"),
        ([1e-9, 2e-9, 3e-9, 4e-9], 1, 2, "v 2e-09 to 3e-09"),
        (2**60 + np.arange(1000), 100, 300, f"v {2**60 + 100}–{2**60 + 300}"),
        ([2018, 2019, 2020, 2021, 2022], 1, 2, "v 2019–2020"),
        ([0, 1200, 1201, 9000], 1, 3, "v ≥ 1000"),
        ([True, False], 0, 0, "v = True"),
    ],
)
def test_numbers_are_as_short_as_tells_the_rows(values, low, high, text):
    assert between("v", pd.Index(values), low, high).text == text
