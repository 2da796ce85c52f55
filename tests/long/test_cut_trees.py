"""Trees cut at a depth answer as trees grown to it, of many fits. Run with `make long`."""

import pytest
from cut_trees import LEARNERS, assert_alike


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: str(learner)[:60])
def test_cut_trees_answer_as_grown_ones_do(learner):
    assert_alike(learner, 300)
