"""`MemorizingClassifier` and `MemorizingRegressor`."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, QuantileRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from classay import InputError, MemorizingClassifier, MemorizingRegressor
from classay.learner.drift.memory import paired_p_value


@parametrize_with_checks(
    [
        MemorizingClassifier(LogisticRegression()),
        MemorizingClassifier(DecisionTreeClassifier(random_state=0), alpha=0.5, desired=(0.9, 0.95)),
        MemorizingClassifier(GaussianNB(), folds=2),
        MemorizingRegressor(LinearRegression()),
        MemorizingRegressor(DecisionTreeRegressor(random_state=0), alpha=0.5),
        MemorizingRegressor(Ridge(), folds=2, desired=(0.1, 0.1)),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def batch(seed, concept=0, n=200, noise=0.1):
    """Rows of three columns, labelled by the sign of one of them, with some labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, concept] > 0) ^ (rng.random(n) < noise)


def numbers(seed, concept=0, n=100, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, 3 * X[:, concept] + noise * rng.normal(size=n)


def tree():
    return DecisionTreeClassifier(max_depth=2, random_state=0)


KINDS = {
    "classes": (lambda: MemorizingClassifier(tree()), batch),
    "numbers": (lambda: MemorizingRegressor(Ridge()), numbers),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_concept_is_kept_until_another_is_shown_to_be_better(kind):
    make, rows = KINDS[kind]
    memory = make().fit(*rows(0))
    first = memory.concept_
    for seed in range(1, 4):
        memory.partial_fit(*rows(seed))
    assert memory.concept_ is first
    memory.partial_fit(*rows(4, concept=1))
    assert memory.history_["kept"].tolist() == ["new", "old", "old", "old", "new"]
    assert "first batch" in memory.history_["why"][0]
    assert memory.history_["why"].str.contains("does not show").sum() == 3
    last = memory.history_.iloc[-1]
    assert "shows that the new one is better" in last["why"]
    better = (
        last["new_accuracy"] - 0.2 > last["old_accuracy"]
        if kind == "classes"
        else last["new_error"] < last["old_error"] / 2
    )
    assert better
    assert memory.score(*rows(5, concept=1)) > 0.8
    memory.fit(*rows(6, concept=2))
    assert len(memory.history_) == 1
    assert memory.score(*rows(7, concept=2)) > 0.8


def test_inverted_labels_are_learned():
    """With a utility of accuracy and agreement, the old concept stayed for ever: accuracy 0.02 on four batches."""
    memory = MemorizingClassifier(LogisticRegression()).fit(*batch(0, noise=0.02))
    for seed in range(1, 5):
        X, y = batch(seed, noise=0.02)
        memory.partial_fit(X, ~y)
    assert memory.history_["kept"].tolist() == ["new", "new", "old", "old", "old"]
    X, y = batch(9, noise=0.02)
    assert memory.score(X, ~y) > 0.9


def test_the_test_of_classes_is_what_it_says():
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


def test_the_test_of_numbers_is_what_it_says():
    memory = MemorizingRegressor(LinearRegression()).fit(*numbers(0))
    old, (X, y) = memory.concept_, numbers(1, concept=1)
    last = memory.partial_fit(X, y).history_.iloc[-1]
    assert last["old_error"] == pytest.approx(np.abs(old.predict(X) - y).mean())
    assert last["level"] == pytest.approx(0.05 / 4)
    assert last["new_nearer"] + last["old_nearer"] == 100
    assert last["difference"] >= last["old_error"] - last["new_error"]
    d = np.random.default_rng(0).normal(0.3, 1, size=40)
    assert paired_p_value(d) == pytest.approx(stats.ttest_1samp(d, 0, alternative="greater").pvalue)
    assert paired_p_value(-d) == pytest.approx(1 - paired_p_value(d))
    assert paired_p_value(np.zeros(4)) == 1.0
    # Three signs show no more than 1/8; Student's t would say .029.
    assert paired_p_value(np.array([1.0, 1.0, 0.0, 1.0])) == 1 / 8
    assert paired_p_value(np.full(4, 2.0)) == 1 / 16
    assert paired_p_value(np.full(4, -2.0)) == 1.0


@pytest.mark.parametrize("outliers", [[1e9, -1e9, 1e9], [1e15]])
def test_outliers_in_the_target_decide_nothing(outliers):
    """Squared errors would be those of one row, and an outlier made every difference a rounding error."""
    memory = MemorizingRegressor(QuantileRegressor(alpha=0.01)).fit(*numbers(0))
    X, y = numbers(1, concept=1)
    y[: len(outliers)] = outliers
    assert memory.partial_fit(X, y).history_["kept"].iloc[-1] == "new"


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rounding_errors_decide_nothing(offset):
    """Errors of 1e-16 changed the concept, with a p-value of 4e-8."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    memory = MemorizingRegressor(Ridge(alpha=0)).fit(X, X[:, 0] + offset)
    last = memory.partial_fit(X, X[:, 0] + offset).history_.iloc[-1]
    assert (last["kept"], last["p_value"], last["new_nearer"], last["old_nearer"]) == ("old", 1.0, 0, 0)


def test_new_concepts_are_judged_on_rows_that_they_have_not_seen():
    # Labels at random: one neighbour is always right on its own row, and half of the time on others.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), rng.integers(2, size=400)
    memory = MemorizingClassifier(KNeighborsClassifier(1)).fit(X[:200], y[:200])
    memory.partial_fit(X[200:], y[200:])
    assert abs(memory.history_["new_accuracy"].iloc[-1] - 0.5) < 0.12


def test_a_batch_that_teaches_nothing_is_noted():
    memory = MemorizingClassifier(LogisticRegression()).fit(*batch(0))
    last = memory.partial_fit(batch(1)[0], np.ones(200, dtype=bool)).history_.iloc[-1]
    assert last["kept"] == "old"
    assert "one class" in last["why"]
    memory = MemorizingRegressor(Ridge()).fit(*numbers(0))
    assert "one row" in memory.partial_fit(numbers(1)[0][:1], [3]).history_["why"].iloc[-1]


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
    memory = MemorizingClassifier(LogisticRegression()).partial_fit(X[two], y[two], ["a", "b", "c"])
    scores = memory.decision_function(X)
    assert (scores[:, 1] == -np.inf).all()
    assert ((scores[:, 2] > scores[:, 0]) == (shares[:, 2] > shares[:, 0])).mean() > 0.9


def test_verbs_are_those_of_the_learner():
    memory = MemorizingClassifier(Perceptron())
    assert not hasattr(memory, "predict_proba")
    assert hasattr(memory.fit(*batch(0)), "decision_function")
    assert not hasattr(MemorizingClassifier(KNeighborsClassifier()), "decision_function")


def test_it_works_in_pipelines_and_searches():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), MemorizingClassifier(tree())),
        {"memorizingclassifier__learner__max_depth": [1, 2], "memorizingclassifier__alpha": [0.2]},
        cv=2,
    ).fit(*batch(0))
    assert search.best_score_ > 0.7
    again = clone(search.best_estimator_[-1])
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
    whole = (10 * X[:, 0]).astype(int)
    memory = MemorizingRegressor(make_pipeline(StandardScaler(), Ridge())).fit(frame, whole).partial_fit(frame, whole)
    assert memory.history_["new_error"].iloc[-1] % 1 != 0
    assert memory.predict(frame).dtype == float


@pytest.mark.parametrize("kind", KINDS)
def test_mistakes_are_explained(kind):
    make, rows = KINDS[kind]
    X, y = rows(0)
    for option in ({"alpha": 2}, {"folds": 1}, {"desired": 0.9}, {"desired": (-1, 0.9)}):
        with pytest.raises(InputError, match=next(iter(option))):
            make().set_params(**option).fit(X, y)
    memory = make().fit(X, y)
    noun = "labels" if kind == "classes" else "values"
    for rows_given, target, message in (
        (X, y[:-1], f"`y` has {len(y) - 1} {noun}; they must match"),
        (X[:, :2], y, "features"),
        (X[:0], y[:0], f"0 {noun}; expected at least one row"),
    ):
        with pytest.raises(ValueError, match=message):
            memory.partial_fit(rows_given, target)
    assert len(memory.history_) == 1
    for learner, message in (
        (5, "has no fit"),
        (GaussianNB, "expected an instance"),
        (LinearRegression(), "a regressor.*Use MemorizingRegressor") if kind == "classes" else (
            LogisticRegression(), "a classifier; expected a regressor"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            make().set_params(learner=learner).fit(X, y)


def test_classes_may_be_new_unless_they_are_declared():
    """A new class was an error: a stream could not go on with it."""
    X, y = batch(0)
    y = y.astype(int)
    memory = MemorizingClassifier(tree()).fit(X, y)
    assert "New class: 7, in 200 rows. The batch has one class" in memory.partial_fit(X, y * 0 + 7).history_["why"][1]
    memory.partial_fit(X, np.where(X[:, 1] > 0.5, 9, y))
    assert (memory.classes_.tolist(), memory.history_["kept"][2]) == ([0, 1, 7, 9], "new")
    assert memory.predict_proba(X).shape == (200, 4)
    for target, classes, message in (
        (y, [0, 1, 2], "differs from the classes so far"),
        (np.where(y, 1, 5), [0, 1, 7, 9], "the labels 5, which are not among"),
        (np.where(y, "a", "b"), None, "labels of the same kind"),
    ):
        with pytest.raises(InputError, match=message):
            memory.partial_fit(X, target, classes=classes)
    with pytest.raises(InputError, match="the labels 1, which are not among 0, 2"):
        MemorizingClassifier(tree()).partial_fit(X, y, classes=[0, 2])


@pytest.mark.parametrize(
    ("kind", "desired", "kept"),
    [
        ("classes", (0.4, 0.95), "old"),  # accurate enough, and the new concept agrees on fewer rows
        ("classes", (0.4, 0.3), "new"),  # accurate enough, and so is the agreement
        ("classes", (0.9, 0.95), "new"),  # not accurate enough: stability yields
        ("numbers", (3.0, 0.1), "old"),
        ("numbers", (3.0, 3.0), "new"),
        ("numbers", (0.3, 0.1), "new"),
    ],
)
def test_a_better_concept_is_used_for_the_desired_accuracy_and_stability(kind, desired, kept):
    make, rows = KINDS[kind]
    memory = make().set_params(desired=desired).fit(*rows(0))
    last = memory.partial_fit(*rows(1, concept=1)).history_.iloc[-1]
    assert last["p_value"] <= last["level"]
    assert last["kept"] == kept
    assert ("as desired" in last["why"]) == (kept == "old")


@pytest.mark.parametrize(
    ("y", "shown"),
    [
        (["low"] * 50, "'low'"),
        (["1", "2"] * 25, "'1'"),
        (np.array([1.0, "2"] * 25, dtype=object), "'2'"),
        (np.array([1.0, b"2"] * 25, dtype=object), "b'2'"),
        (np.array([1.0, None] * 25, dtype=object), "None"),
        (pd.Series(["a", "b"] * 25, dtype="category"), "'a'"),
        (pd.date_range("2020", periods=50), "'2020-01-01T00:00:00'"),
        (pd.timedelta_range("1h", periods=50), "'3600 seconds'"),
    ],
)
def test_text_and_dates_are_no_numbers(y, shown):
    """Dates were learned as nanoseconds, and text such as '1' as a number."""
    with pytest.raises(InputError) as caught:
        MemorizingRegressor(Ridge()).fit(numbers(0, n=50)[0], y)
    assert str(caught.value) == f"`y` contains {shown}; expected numbers. Did you mean MemorizingClassifier?"
