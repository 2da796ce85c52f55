"""Records in rounds are those that `record` makes in one go, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from planted import Breaks, Rule, gaussians
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from classay import HalfSplits, record
from classay.learner.fitting import checks
from classay.learner.fitting.checks import prepare
from classay.learner.fitting.task import fit_group
from classay.learner.rounds import RecordRounds

LEARNERS = {"tree": DecisionTreeClassifier(), "bayes": GaussianNB(), "fickle": Rule(fickle=True)}


@pytest.fixture(autouse=True)
def few_rows_are_sent_alone(monkeypatch):
    """Also in small tables, so that every test covers it."""
    monkeypatch.setattr(checks, "MOST_SHARE", 0.9)


def setup_of(X, y, learner, size=None, **more):
    return prepare(learner, X, y, HalfSplits(3, size), 2, 0.3, "uniform", 7, None, 40, **more)


def in_one_go(learner, X, y, splits, name, size=None, **more):
    """The record with the settings of `setup_of`."""
    scheme = HalfSplits(splits, size)
    return record(learner, X, y, scheme, 2, 0.3, "uniform", 7, executor=1, name=name, n_probes=40, **more)


def pressed_after(number):
    """Fits until Ctrl-C."""
    begun = []

    def fit(job, task):
        begun.append(task)
        if len(begun) > number:
            raise KeyboardInterrupt
        return fit_group(job, task)

    return fit


def same(one, other):
    """Whether two records are equal, except for the time that fits took."""
    (header, arrays), (expected, others) = one.to_file(), other.to_file()
    assert header == expected
    assert arrays.keys() == others.keys()
    for name in arrays:
        if name != "seconds":
            np.testing.assert_array_equal(arrays[name], others[name], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("size", [None, 6, 30])
def test_rounds_give_the_record_of_one_go(workers, size):
    X, y = gaussians(200)
    rounds = RecordRounds(setup_of(X, y, LEARNERS["tree"], size), LEARNERS, workers)
    for splits in (4, 5, 9):
        assert rounds.grow(list(LEARNERS), splits)
        for name, learner in LEARNERS.items():
            same(rounds.record(name), in_one_go(learner, X, y, splits, name, size))


def test_a_slow_learner_stays_behind():
    X, y = gaussians(200)
    rounds = RecordRounds(setup_of(X, y, LEARNERS["tree"]), LEARNERS, 1)
    rounds.grow(list(LEARNERS), 4)
    before = rounds.record("bayes")
    rounds.grow(["tree"], 6)
    assert rounds.splits == {"tree": 6, "bayes": 4, "fickle": 4}
    same(rounds.record("bayes"), before)
    assert len(rounds.record("tree").labels) == 12


def test_a_round_that_is_cut_leaves_the_last_one():
    X, y = gaussians(200)
    rounds = RecordRounds(setup_of(X, y, LEARNERS["tree"]), LEARNERS, 1)
    rounds.grow(list(LEARNERS), 4)
    with patch("classay.learner.fitting.runner.fit_group", pressed_after(3)):
        assert not rounds.grow(list(LEARNERS), 8)
    assert set(rounds.splits.values()) == {4}
    # What was done before the cut is not done again, and changes nothing.
    assert rounds.grow(list(LEARNERS), 8)
    same(rounds.record("tree"), in_one_go(LEARNERS["tree"], X, y, 8, "tree"))


def test_a_first_round_that_is_cut_keeps_complete_splits():
    X, y = gaussians(200)
    rounds = RecordRounds(setup_of(X, y, LEARNERS["tree"]), {"tree": DecisionTreeClassifier()}, 1)
    with patch("classay.learner.fitting.runner.fit_group", pressed_after(4)):
        assert not rounds.grow(["tree"], 8)
    assert rounds.splits["tree"] == 2
    assert rounds.record("tree").labels.shape[0] == 4


def test_failures_are_those_of_record():
    X, y = gaussians(200)
    learners = {"breaks": Breaks(), "deep": DecisionTreeClassifier(max_depth="deep")}
    rounds = RecordRounds(setup_of(X, y, learners["breaks"]), learners, 1)
    rounds.grow(list(learners), 4)
    assert "max_depth" in rounds.failed["deep"]
    same(rounds.record("breaks"), in_one_go(Breaks(), X, y, 4, "breaks"))


def test_a_store_has_the_record_of_each_round(tmp_path):
    X, y = gaussians(200)
    learners = {"tree": DecisionTreeClassifier()}
    rounds = RecordRounds(setup_of(X, y, learners["tree"]), learners, 1, tmp_path)
    rounds.grow(["tree"], 4)
    made = rounds.record("tree")
    stored = in_one_go(learners["tree"], X, y, 4, "tree", store=tmp_path)
    np.testing.assert_array_equal(stored.seconds, made.seconds)  # read, not fitted again
    again = RecordRounds(setup_of(X, y, learners["tree"]), learners, 1, tmp_path)
    again.grow(["tree"], 4)
    np.testing.assert_array_equal(again.record("tree").seconds, made.seconds)


def test_few_training_rows_are_predicted_where_there_are_many():
    X, y = gaussians(400, apart=1.0)
    setup = setup_of(X, y, LEARNERS["tree"])
    few = RecordRounds(setup, {"tree": DecisionTreeClassifier()}, 1)
    few.setup = replace(setup, own_points=20)
    few.grow(["tree"], 4)
    whole = RecordRounds(setup, {"tree": DecisionTreeClassifier()}, 1)
    whole.grow(["tree"], 4)
    np.testing.assert_array_equal(few.record("tree").labels, whole.record("tree").labels)
    assert (few.record("tree").train_accuracy == 1).all()
    assert few.record("tree").about["own_points"] == 20
