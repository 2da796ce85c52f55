"""Target leaks: tables computed by hand, and what must not be mistaken for a leak."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from suspect_worlds import leak, leak_category, mixed_categories, plain

import classay
from classay.data.checks.quick_models import predicted_by_column, skill
from classay.data.checks.target_leaks import looks_like


def test_skill_by_hand():
    codes = np.repeat([0, 1], 20)
    assert skill(codes, codes, 2).value == pytest.approx(1)
    half = np.array([0] * 20 + [0, 1] * 10)  # recalls 1 and 1/2: balanced accuracy 3/4
    assert skill(half, codes, 2).value == pytest.approx(0.5)
    assert skill(np.zeros(40, dtype=int), codes, 2).value == pytest.approx(0)
    assert skill(codes, codes, 2).low < 1


def test_a_value_predicts_the_class_that_it_had_in_other_folds():
    column, codes = pd.Series(list("aabbccdd")), np.array([0, 0, 1, 1, 0, 0, 1, 1])
    folds = np.array([0, 1] * 4)
    assert predicted_by_column(column, codes, 2, folds, 0).tolist() == codes.tolist()


def test_missing_may_be_what_tells():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    column = pd.Series(np.where(y == 1, np.nan, rng.normal(size=200)))
    predicted = predicted_by_column(column, y, 2, np.arange(200) // 2 % 5, 0)
    assert (predicted == y).all()


@pytest.mark.slow
@pytest.mark.parametrize("world", [leak, leak_category])
def test_a_planted_leak_is_found_and_nothing_else(world):
    made = world(0)
    result = classay.leaks(made["X"], made["y"])
    (found,) = result.found
    pd.testing.assert_frame_equal(classay.leaks(made["X"], made["y"]).to_frame(), result.to_frame())
    assert found.column == made["X"].columns[-1]
    assert found.skill.value > 0.9
    assert found.others.value < 0.8


@pytest.mark.slow
def test_no_leak_where_none_is():
    """Nor in an easy task: two columns of iris have a skill of .9, but err where classes overlap."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    for made in (plain(0), mixed_categories(0), {"X": X, "y": y}):
        result = classay.leaks(made["X"], made["y"])
        assert result.verdict == "no"
        assert str(result).startswith("No sign of a target leak")


@pytest.mark.slow
@pytest.mark.parametrize(("errors", "verdict"), [(0, "found"), (0.03, "found"), (None, "undecided")])
def test_columns_that_hide_or_need_each_other_are_named(errors, verdict):
    made, rng = plain(0), np.random.default_rng(5)
    X, y = made["X"], made["y"]
    one, two = (np.where(rng.random(y.size) < (errors or 0), 1 - y, y) for _ in range(2))
    if errors is None:  # neither says anything alone
        one = rng.integers(2, size=y.size)
        two = one ^ y
    result = classay.leaks(X.assign(one=one * 9.5, two=np.where(two == 1, "yes", "no")), y)
    assert {leak.column: leak.verdict for leak in result.columns if leak.verdict != "no"} == dict.fromkeys(
        ("one", "two"), verdict
    )
    assert "without" in str(result)


@pytest.mark.slow
def test_leaks_that_err_on_the_same_rows_are_named_beside_good_columns():
    rng, y = np.random.default_rng(0), np.arange(300) % 2
    X = pd.DataFrame(rng.normal(size=(300, 9)) + y[:, None])
    copy = np.where(rng.random(300) < 0.025, 1 - y, y)
    result = classay.leaks(X.assign(one=9.5 * copy, two=np.where(copy, "yes", "no")), y)
    assert sorted(leak.column for leak in result.found) == ["one", "two"]
    assert not result.suspects


@pytest.mark.slow
def test_names_like_the_target_need_less():
    assert looks_like("default_code", "default")
    assert looks_like("Age", "age group")
    assert not looks_like("x", "y")
    assert not looks_like("balance", "lance")
    made, rng = plain(1), np.random.default_rng(0)
    follows = np.where(rng.random(made["y"].size) < 0.9, made["y"], 1 - made["y"])
    table = made["X"][["m4", "m5"]]
    by_name = {
        name: classay.leaks(table.assign(**{name: follows}), made["y"], target="churn").columns[0].verdict
        for name in ("is_churn", "other")
    }
    assert by_name == {"is_churn": "found", "other": "undecided"}


@pytest.mark.slow
def test_very_many_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 150)))
    y = (X[0] + X[1] + rng.normal(size=300) > 0).to_numpy()
    X[149] = y * 2.0
    result = classay.leaks(X, y)
    assert len(result.columns) == 100
    assert [each.column for each in result.found] == ["149"]
    y = np.repeat(np.arange(130), np.where(np.arange(130) < 4, 60, 2))
    classes = classay.leaks(pd.DataFrame(rng.normal(size=(y.size, 110))), y)
    assert (classes.n_rows, len(classes.unread)) == (240 + 2 * 96, 10)


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        (np.eye(30), [0] * 30, "1 class"),
        (sparse.eye(30), [0, 1] * 15, "sparse"),
        (np.eye(10), [0, 1] * 5, "at least 20"),
        (np.ones(30), [0, 1] * 15, "shape"),
        (np.ones((30, 0)), [0, 1] * 15, "at least one"),
        (pd.DataFrame([[1, 2]] * 30, columns=["a", "a"]), [0, 1] * 15, "same name"),
        (np.full((30, 2), np.inf), [0, 1] * 15, "contains infinity"),
        (np.eye(30), range(30), "30 rows has its own class"),
        (np.ones((30, 2)), [0, 1] * 15, "constant"),
    ],
)
def test_mistakes_are_refused(X, y, match):
    for verb in (classay.leaks, classay.dependence):
        with pytest.raises(classay.InputError, match=match):
            verb(X, y)


@pytest.mark.slow
def test_a_measurement_whose_classes_overlap_is_no_leak():
    for seed in range(4):
        rng = np.random.default_rng([77, seed])
        y = np.arange(300) % 2
        X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
        X["a"] += 4 * y
        measured = classay.leaks(X, y)
        assert measured.columns[0].column == "a"
        assert measured.columns[0].skill.value > 0.8
        if measured.columns[0].skill.value < 0.99:
            assert not measured.found
        # The same skill from rows that err anywhere.
        flipped = np.where(rng.random(300) < 0.015, 1 - y, y)
        (found,) = classay.leaks(X.assign(a=X["b"] + 40 * flipped), y).found
        assert found.column == "a"


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (lambda X, y: X.assign(refund=np.where(y == 1, 50.0, np.nan)), "found"),  # medians hide it from a forest
        (lambda X, y: X.assign(code=7.5 * y), "found"),
        (lambda X, y: pd.DataFrame({"code": 3.0 * y}), "undecided"),  # nothing to compare with
    ],
)
def test_a_leak_is_not_denied_where_other_columns_cannot_show_it(made, verdict):
    rng = np.random.default_rng(8)
    X, y = pd.DataFrame(rng.normal(size=(400, 4))).rename(columns="m{}".format), np.zeros(400, dtype=int)
    y[:9] = 1
    assert classay.leaks(made(X, y), y).verdict == verdict
    few = pd.DataFrame(np.random.default_rng(8).normal(size=(20, 4)))
    one = np.arange(400) == 7
    # A skill of .75 is not excluded; no class but one has ten rows, and of one row, even a copy is not learned.
    for result in (classay.leaks(few, np.arange(20) % 2), classay.leaks(X.assign(copy=1.0 * one), one)):
        assert (result.verdict, "rows are too few. A column alone may" in str(result)) == ("undecided", True)


@pytest.mark.slow
def test_texts_that_were_not_looked_at_are_named():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(2, size=80), "b": rng.normal(size=80).round(1)})
    X["said"] = [f"sentence number {row} about this and that" for row in range(80)]
    y = rng.integers(2, size=80)
    parts = classay.shift(X[:40].assign(b=0), X[40:].assign(b=0))
    for result in (classay.leaks(X, y), classay.dependence(X, y, near=False), parts):
        assert "columns): said" in str(result)
    assert parts.copies.value == 0  # rows with other texts are not equal
