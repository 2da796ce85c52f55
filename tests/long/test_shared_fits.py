"""Shared fits as separate ones: cut trees, of many fits, and neighbours with every setting. Run with `make long`."""

import pytest
from cut_trees import LEARNERS, assert_alike
from separate_fits import ALGORITHMS, TABLES, WEIGHTS, compare_neighbours


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: str(learner)[:60])
def test_cut_trees_answer_as_grown_ones_do(learner):
    assert_alike(learner, 300)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("table", TABLES)
def test_every_setting_of_neighbours(table, algorithm, weights):
    compare_neighbours(table, algorithm, weights)
