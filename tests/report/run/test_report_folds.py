"""Cross-validated answers: each row by a fit that has not seen it, the same for any number of workers."""

import numpy as np
import pandas as pd
import pytest
from planted import Rule, gaussians
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from classay import InputError
from classay.report.run.folds import Folds, cross_validate
from classay.splits import per_row


def held_out(learner, X, codes, rows=None, seed=0, executor=1, classes=None, **more):
    """The predictions of one learner."""
    folds = Folds.of(X, codes, classes, seed, **more)
    done = cross_validate({"it": learner}, folds, rows, executor)
    if done.failed:
        raise InputError(done.failed["it"])
    return done.held_out["it"]


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


class Columns(GaussianNB):
    """Answers in a column, as CatBoost does with three classes."""

    def predict(self, X):
        return super().predict(X)[:, None]


def test_answers_in_a_column():
    X, codes = gaussians(150, classes=3)
    one, other = (held_out(learner, X, codes, executor=1) for learner in (Columns(), GaussianNB()))
    assert np.array_equal(one.labels, other.labels)


def test_settings_that_go_by_the_users_labels():
    X, codes = gaussians(200, apart=0.5)
    words = np.array(["no", "yes"])
    heavy = held_out(LogisticRegression(class_weight={"yes": 1000.0}), X, codes, executor=1, classes=words)
    assert (heavy.labels == 1).mean() > 0.95
    light = held_out(LogisticRegression(class_weight={"no": 1000.0}), X, codes, executor=1, classes=words)
    assert (light.labels == 0).mean() > 0.95


def test_strange_answers_are_told():
    class Odd(GaussianNB):
        def predict(self, X):
            return np.full(len(X), "maybe")

    X, codes = gaussians(100)
    with pytest.raises(InputError, match="not among the classes"):
        held_out(Odd(), X, codes, executor=1, classes=np.array(["no", "yes"]))


def test_a_sample_of_the_rows_is_predicted_as_in_the_whole():
    X, codes = gaussians(200)
    some = np.arange(0, 200, 3)
    whole, part = held_out(GaussianNB(), X, codes), held_out(GaussianNB(), X, codes, tested=some)
    assert np.array_equal(part.tested, some)
    assert np.array_equal(part.labels, whole.labels[some])
    assert np.array_equal(part.scores, whole.scores[some])
    assert np.array_equal(part.right(codes), whole.right(codes)[some])


def test_folds_in_time_are_trained_on_the_past():
    codes = np.tile([0, 1], 60)
    X = pd.DataFrame({"when": np.arange(120.0)})
    seen = []

    class Past(DummyClassifier):
        def fit(self, X, y):
            self.latest_ = X["when"].max()
            return super().fit(X, y)

        def predict(self, X):
            seen.append((self.latest_, X["when"].min()))
            return super().predict(X)

    answers = held_out(Past(), X, codes, per_row=per_row(time=np.arange(120), rows=120))
    assert all(latest < first for latest, first in seen)
    assert answers.tested.min() == 20


def test_one_fold_of_all_learners_comes_before_the_next_and_complete_ones_are_kept():
    X, codes = gaussians(100)
    seen = []

    class Pressed(GaussianNB):
        def fit(self, X, y):
            seen.append("second")
            if len(seen) == 10:
                raise KeyboardInterrupt
            return super().fit(X, y)

    class First(GaussianNB):
        def fit(self, X, y):
            seen.append("first")
            return super().fit(X, y)

    done = cross_validate({"first": First(), "second": Pressed()}, Folds.of(X, codes), executor=1)
    assert seen == ["first", "second"] * 5
    assert set(done.held_out) == {"first"}
    assert done.interrupted
    assert not done.failed
