"""The path of nearest neighbours with every setting on every table. Run with `make long`."""

import pytest
from separate_fits import ALGORITHMS, TABLES, WEIGHTS, compare_neighbours

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("table", TABLES)
def test_every_setting(table, algorithm, weights):
    compare_neighbours(table, algorithm, weights)
