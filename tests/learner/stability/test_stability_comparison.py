"""Learners side by side."""

from __future__ import annotations

import numpy as np
import pytest

from classay import InputError, Labelings, stability

TRUTH = np.arange(300) % 2


def noisy(rate, seed=0, units=20, n=300, **options):
    wrong = np.random.default_rng(seed).random((units, n)) < rate
    return Labelings.from_arrays(wrong ^ (np.arange(n) % 2), np.arange(n) % 2, **options)


def constant():
    return Labelings.from_arrays(np.zeros((20, 300), dtype=int), TRUTH)


def test_who_is_unbeaten():
    table = stability({"constant": constant(), "good": noisy(0.1), "bad": noisy(0.3)})
    assert table.names == ("constant", "good", "bad")
    assert table.unbeaten == ("constant", "good")
    assert "constant (stability 1" in str(table)
    assert "good" in str(table)
    assert table.stability["good"] == stability(noisy(0.1)).stability
    frame = table.to_frame()
    assert len(frame) == 9
    assert set(frame.figure) == {"stability", "kappa", "accuracy"}


def test_equal_learners_do_not_beat_each_other():
    table = stability({"a": noisy(0.2), "b": noisy(0.2)})
    assert table.unbeaten == ("a", "b")


def test_one_learner_is_a_table_too():
    assert "most repeatable and the most accurate" in str(stability({"only": stability(noisy(0.2))}))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, "is empty"),
        ({"a": 3}, "is int; expected the record of a classifier"),
        ({"a": constant(), "b": noisy(0.1, n=200)}, "'b' was compared on 200 test points"),
        ({"a": constant(), "b": noisy(0.1, halves=True)}, "by disjoint halves"),
    ],
)
def test_mistakes(found, said):
    with pytest.raises(InputError, match=said):
        stability(found)
