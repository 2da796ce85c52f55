"""Accuracy on a test part beside that of cross-validation, by hand and on arrays."""

import numpy as np
import pytest

from classay.learner.scores.part_accuracy import HARDER, RELATION, UNKNOWN, part_accuracy

RIGHT = np.arange(1000) % 10 < 9
"""Nine of ten training rows are predicted correctly; of the first half all, of the second eight of ten."""
HALVES = np.r_[np.ones(500, dtype=bool), np.arange(500) % 10 < 8]


def test_weights_give_the_accuracy_of_rows_like_the_test_rows():
    """The second half is three times as frequent in the test part: (1 + 3 · .8) / 4 = .85 is what rows explain."""
    made = part_accuracy(HALVES, np.repeat([0.5, 1.5], 500), np.arange(1000) % 20 < 17)
    assert made.expected.value == pytest.approx(0.9)
    assert made.change.value == pytest.approx(-0.05)
    assert made.beyond.value == pytest.approx(0.0)
    assert made.effective == pytest.approx(1000 / 1.25)
    assert (made.falls, made.cause) == (True, HARDER)


def test_what_rows_do_not_explain_is_the_relation():
    made = part_accuracy(RIGHT, np.ones(1000), np.arange(600) % 10 < 6)
    assert (made.falls, made.cause) == (True, RELATION)
    assert not part_accuracy(RIGHT, np.ones(1000), RIGHT[:400]).falls


@pytest.mark.parametrize("odds", [np.full(1000, np.nan), np.r_[np.full(20, 1e3), np.full(980, 1e-6)]])
def test_without_enough_training_rows_like_them_the_cause_is_unknown(odds):
    made = part_accuracy(RIGHT, odds, np.arange(600) % 10 < 6)
    assert (made.falls, made.cause) == (True, UNKNOWN)


def test_groups_widen_the_interval():
    groups, test_groups = np.arange(1000) // 100, np.arange(600) // 100
    in_groups = np.repeat([True, True, False, True, True, True], 100)
    alone = part_accuracy(RIGHT, np.ones(1000), in_groups)
    grouped = part_accuracy(RIGHT, np.ones(1000), in_groups, groups, test_groups)
    assert alone.falls
    assert not grouped.falls
