from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from classay import InputError
from classay.learner.drift.memory import MemorizingClassifier


@parametrize_with_checks(
    [
        MemorizingClassifier(LogisticRegression()),
        MemorizingClassifier(DecisionTreeClassifier(random_state=0), alpha=0.5),
        MemorizingClassifier(GaussianNB(), folds=2),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def batch(seed, concept=0, n=200, noise=0.1):
    """Rows of three columns, labelled by the sign of one of them, with some labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, concept] > 0) ^ (rng.random(n) < noise)


def tree():
    return DecisionTreeClassifier(max_depth=2, random_state=0)


def test_the_old_concept_is_kept_where_nothing_changed():
    memory = MemorizingClassifier(tree()).fit(*batch(0))
    first = memory.concept_
    for seed in range(1, 6):
        memory.partial_fit(*batch(seed))
    assert memory.concept_ is first
    assert memory.history_["kept"].tolist() == ["new"] + ["old"] * 5
    assert "first batch" in memory.history_["why"][0]
    assert memory.history_["why"].str.contains("does not show").sum() == 5


def test_a_new_concept_is_taken_when_the_process_changed():
    memory = MemorizingClassifier(tree()).fit(*batch(0))
    memory.partial_fit(*batch(1, concept=1))
    last = memory.history_.iloc[-1]
    assert last["kept"] == "new"
    assert last["new_accuracy"] > last["old_accuracy"] + 0.2
    X, y = batch(2, concept=1)
    assert memory.score(X, y) > 0.8


def test_inverted_labels_are_learned():
    """With a utility of accuracy and agreement, the old concept stayed for ever: accuracy 0.02 on four batches."""
    memory = MemorizingClassifier(LogisticRegression()).fit(*batch(0, noise=0.02))
    for seed in range(1, 5):
        X, y = batch(seed, noise=0.02)
        memory.partial_fit(X, ~y)
    assert memory.history_["kept"].tolist() == ["new", "new", "old", "old", "old"]
    X, y = batch(9, noise=0.02)
    assert memory.score(X, ~y) > 0.9


@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_without_change_the_concept_is_rarely_replaced(noise):
    """At most as often as alpha, up to 3 standard errors of 20 streams; `tests/long` has more."""
    changed = 0
    for stream in range(20):
        memory = MemorizingClassifier(GaussianNB(), alpha=0.1, folds=2).fit(*batch(1000 * stream, n=60, noise=noise))
        for number in range(1, 4):
            memory.partial_fit(*batch(1000 * stream + number, n=60, noise=noise))
        changed += (memory.history_["kept"][1:] == "new").any()
    assert changed <= 20 * 0.1 + 3 * (20 * 0.1 * 0.9) ** 0.5


def test_the_test_is_what_it_says():
    memory = MemorizingClassifier(tree()).fit(*batch(0))
    old = memory.concept_
    X, y = batch(1, concept=1)
    last = memory.partial_fit(X, y).history_.iloc[-1]
    assert last["old_accuracy"] == (old.predict(X) == y).mean()
    b, c = int(last["only_new_right"]), int(last["only_old_right"])
    assert b - c == round(200 * (last["new_accuracy"] - last["old_accuracy"]))
    tail = sum(math.comb(b + c, k) for k in range(b, b + c + 1)) / 2 ** (b + c)
    assert last["p_value"] == pytest.approx(tail)
    assert last["level"] == pytest.approx(0.05 / 4)
    for update in (2, 3):
        last = memory.partial_fit(*batch(update, concept=1)).history_.iloc[-1]
        assert last["level"] == pytest.approx(0.05 / (2 * update * (update + 1)))


def test_a_strict_level_needs_more_rows():
    kept = {}
    for alpha in (0.2, 1e-12):
        memory = MemorizingClassifier(tree(), alpha=alpha).fit(*batch(0))
        kept[alpha] = memory.partial_fit(*batch(1, concept=1, n=40)).history_["kept"].iloc[-1]
    assert kept == {0.2: "new", 1e-12: "old"}


def test_new_concepts_are_judged_on_rows_that_they_have_not_seen():
    # Labels at random: one neighbour is always right on its own row, and half of the time on others.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), rng.integers(2, size=400)
    memory = MemorizingClassifier(KNeighborsClassifier(1)).fit(X[:200], y[:200])
    memory.partial_fit(X[200:], y[200:])
    assert abs(memory.history_["new_accuracy"].iloc[-1] - 0.5) < 0.12


def test_fit_starts_anew():
    memory = MemorizingClassifier(tree()).fit(*batch(0)).partial_fit(*batch(1))
    memory.fit(*batch(2, concept=2))
    assert len(memory.history_) == 1
    assert memory.score(*batch(3, concept=2)) > 0.8


def test_a_batch_of_one_class_teaches_nothing():
    memory = MemorizingClassifier(LogisticRegression()).fit(*batch(0))
    X, _ = batch(1)
    memory.partial_fit(X, np.ones(len(X), dtype=bool))
    assert memory.history_["kept"].iloc[-1] == "old"
    assert "one class" in memory.history_["why"].iloc[-1]


def test_classes_that_a_batch_lacks_keep_their_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    two = y != "b"
    for learner in (LogisticRegression(), GaussianNB()):
        memory = MemorizingClassifier(learner).partial_fit(X[two], y[two], classes=["a", "b", "c"])
        shares = memory.predict_proba(X)
        assert shares.shape == (300, 3)
        assert (shares[:, 1] == 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1)
    scores = (
        MemorizingClassifier(LogisticRegression()).partial_fit(X[two], y[two], ["a", "b", "c"]).decision_function(X)
    )
    assert (scores[:, 1] == -np.inf).all()
    assert (
        np.where(scores[:, 2] > scores[:, 0], "c", "a") == np.where(shares[:, 2] > shares[:, 0], "c", "a")
    ).mean() > 0.9


def test_verbs_are_those_of_the_learner():
    memory = MemorizingClassifier(Perceptron())
    assert not hasattr(memory, "predict_proba")
    assert hasattr(memory.fit(*batch(0)), "decision_function")
    assert not hasattr(MemorizingClassifier(KNeighborsClassifier()), "decision_function")


def test_it_works_in_pipelines_and_searches():
    X, y = batch(0)
    found = GridSearchCV(
        make_pipeline(StandardScaler(), MemorizingClassifier(tree())),
        {"memorizingclassifier__learner__max_depth": [1, 2], "memorizingclassifier__alpha": [0.2]},
        cv=2,
    ).fit(X, y)
    assert found.best_score_ > 0.7
    again = clone(found.best_estimator_[-1])
    assert again.alpha == 0.2
    assert not hasattr(again, "concept_")


def test_frames_keep_their_columns_and_order_of_rows_is_seeded():
    X, y = batch(0)
    frame = pd.DataFrame(X, columns=list("abc"))
    memories = [
        MemorizingClassifier(tree()).fit(frame, y).partial_fit(frame.assign(a=-frame["a"]), y) for _ in range(2)
    ]
    pd.testing.assert_frame_equal(memories[0].history_, memories[1].history_)
    assert list(memories[0].concept_.feature_names_in_) == ["a", "b", "c"]


def test_mistakes_are_explained():
    X, y = batch(0)
    with pytest.raises(InputError, match="alpha"):
        MemorizingClassifier(tree(), alpha=2).fit(X, y)
    with pytest.raises(InputError, match="folds"):
        MemorizingClassifier(tree(), folds=1).fit(X, y)
    memory = MemorizingClassifier(tree()).fit(X, y)
    with pytest.raises(InputError, match="the first batch did not have"):
        memory.partial_fit(X, np.where(y, 1, 7))
    with pytest.raises(InputError, match="differs from the first batch"):
        memory.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(InputError, match="they must match"):
        memory.partial_fit(X, y[:-1])
    with pytest.raises(ValueError, match="features"):
        memory.partial_fit(X[:, :2], y)
    with pytest.raises(InputError, match="at least one row"):
        memory.partial_fit(X[:0], y[:0])
    assert len(memory.history_) == 1
    for learner, message in (
        (5, "has no fit"),
        (GaussianNB, "expected an instance"),
        (LinearRegression(), "a regressor.*Use MemorizingRegressor"),
    ):
        with pytest.raises(InputError, match=message):
            MemorizingClassifier(learner).fit(X, y)
