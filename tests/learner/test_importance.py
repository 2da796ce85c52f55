"""Which columns a learner relies on: by hand, and with columns that carry the same information."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from suspect_worlds import effects, same_information

import classay
from classay.learner.importance import _overlap


def test_overlap_by_hand():
    per_refit = np.array([[3, 2, 1, 0], [3, 1, 2, 0], [0, 1, 2, 3.0]])
    # Leading two: {0, 1}, {0, 2}, {3, 2}: shared 1/2, 0, 1/2.
    assert _overlap(per_refit, 2).value == pytest.approx(1 / 3)
    # If all agree, so do two pairs that are independent.
    assert _overlap(np.tile(per_refit[0], (4, 1)), 2).low == pytest.approx(0.05**0.5)


@pytest.mark.parametrize("learner", [LogisticRegression(), LinearSVC()])
def test_the_columns_that_matter_come_first_in_every_refit(learner):
    result = classay.importance(learner, *effects())
    assert result.to_frame()["column"].head(3).tolist() == ["a", "b", "c"]
    assert result.overlap.value == pytest.approx(1)
    assert result.ranks.shape == (6, 6)
    assert (result.ranks[:, 0] == 1).all()


def test_columns_that_a_fit_does_not_use_have_none():
    X, y = effects()
    result = classay.importance(DecisionTreeClassifier(max_depth=1, random_state=0), X, y)
    unused = result.per_refit[:, list(X.columns).index("f")]
    assert np.abs(unused).max() == pytest.approx(0)


def test_the_same_information_in_many_columns():
    result = classay.importance(DecisionTreeClassifier(max_depth=4), *same_information())
    assert result.overlap.value < 0.6
    assert result.chance == pytest.approx(3 / 8)


def test_categories_and_missing_values():
    X, y = effects()
    X = X.assign(job=np.where(y, "clerk", "nurse"), d=X["d"].where(X["d"] > 0))
    result = classay.importance(LogisticRegression(), X, y)
    assert result.to_frame()["column"].iloc[0] == "job"


def test_same_seed_same_bits():
    one, other = (classay.importance(DecisionTreeClassifier(), *effects(), random_state=5) for _ in range(2))
    assert np.array_equal(one.per_refit, other.per_refit)


def test_mistakes_are_refused():
    X, y = effects()
    with pytest.raises(classay.InputError, match="refits"):
        classay.importance(LogisticRegression(), X, y, refits=1)
    with pytest.raises(classay.InputError, match="2 columns"):
        classay.importance(LogisticRegression(), X[["a"]], y)
