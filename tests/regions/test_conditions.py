"""How ranges read: short, and not of other rows than those that they mean."""

import numpy as np
import pandas as pd
import pytest

from classay.regions.conditions import between


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
        # Most rows have the value 0; the region begins at the smallest value above it, or ends below it.
        ([0.0, 0.0381, 0.5, 3.0, 20.0, 50.0, 361.0], 1, 6, "v ≥ 0.03"),
        ([-20.0, -3.0, -0.5, -0.0381, 0.0], 0, 3, "v ≤ -0.03"),
        ([0.0, 1.00000001, 1.00000002, 50.0, 100.0], 2, 3, "v 1–50"),
    ],
)
def test_numbers_are_as_short_as_tells_the_rows(values, low, high, text):
    assert between("v", pd.Index(values), low, high).text == text
