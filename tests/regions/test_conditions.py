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
