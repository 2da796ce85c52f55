"""Cross-validated answers: each row by a fit that has not seen it, the same for any number of workers."""

import numpy as np
import pandas as pd
import pytest
from planted import Rule, gaussians
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from classay import InputError
from classay.report.held_out import held_out


def test_no_row_is_answered_by_a_fit_that_saw_it():
    rng = np.random.default_rng(0)
    X, codes = pd.DataFrame(rng.normal(size=(200, 3))), rng.integers(2, size=200)
    answers = held_out(KNeighborsClassifier(1), X, codes, executor=1)
    # A fit that had seen the row would answer its label.
    assert 0.35 < (answers.labels == codes).mean() < 0.65
    assert answers.rows == 160


def test_labels_are_those_of_the_highest_score():
    X, codes = gaussians(200, classes=3)
    answers = held_out(GaussianNB(), X, codes, executor=1)
    assert answers.scores.shape == (200, 3)
    assert (answers.scores.argmax(axis=1) == answers.labels).all()


def test_fewer_rows_keep_every_class():
    codes = np.repeat([0, 1], [190, 10])
    answers = held_out(DummyClassifier(), pd.DataFrame({"x": np.arange(200.0)}), codes, rows=20, executor=1)
    assert 20 <= answers.rows <= 21
    assert answers.scores is not None


def test_the_same_for_any_number_of_workers():
    X, codes = gaussians(150)
    first = held_out(RandomForestClassifier(5), X, codes, 60, 3, executor=1)
    second = held_out(RandomForestClassifier(5), X, codes, 60, 3, executor=2)
    assert np.array_equal(first.labels, second.labels)
    assert np.array_equal(first.scores, second.scores)


def test_learners_without_scores_have_answers():
    X, codes = gaussians(100)
    assert held_out(Rule(), X, codes, executor=1).scores is None


def test_a_fit_that_fails_is_told():
    X, codes = gaussians(100)
    with pytest.raises(InputError, match="max_depth"):
        held_out(DecisionTreeClassifier(max_depth="deep"), X, codes, executor=1)
