"""Mixed columns: what reaches the learner, and that nothing of other rows does."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from classay.estimators.encoder import (
    DIMENSIONS,
    MOST_CATEGORIES,
    TextNumbers,
    as_levels,
    as_numbers,
    encoded,
    encoding_in_words,
    first_strings,
    is_prose,
    numbers,
)
from classay.expect import InputError


def columns_of(X: pd.DataFrame, fit_on: pd.DataFrame | None = None) -> pd.DataFrame:
    """What the learner sees of `X`, after the encoding was learned on `fit_on`."""
    learner = encoded(DecisionTreeClassifier(), X)
    encode = learner.named_steps["encode"].set_output(transform="pandas")
    return encode.fit(X if fit_on is None else fit_on).transform(X)


def test_plain_numbers_need_nothing():
    learner = DecisionTreeClassifier()
    assert encoded(learner, pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})) is learner
    assert encoded(learner, np.array([[1.0, np.nan]])) is learner


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1.0, None, 3.0, 4.0]),
        pd.Series([True, False, True, False]),
        pd.Series([1, None, 3, 4], dtype="Int64"),
        pd.Series([1, 2, 3, 4], dtype="Int64"),
        pd.Series([True, None, False, True], dtype="boolean"),
        pd.Series(["a", "b", None, "a"]),
        pd.Series(["a", "b", None, "a"], dtype=object),
        pd.Series(["a", "b", None, "a"], dtype="string"),
        pd.Series(["a", "b", None, "a"], dtype="category"),
        pd.Series([1, "b", 2.5, None], dtype=object),
        pd.Series([1, None, 2.5, 3], dtype=object),
        pd.Series([True, None, False, True], dtype=object),
        pd.to_datetime(pd.Series(["2020-01-01", None, "2021-01-01", "2022-01-01"])),
        pd.to_datetime(pd.Series(["2020-01-01", None, "2021-01-01", "2022-01-01"]), utc=True),
        pd.to_timedelta(pd.Series([1, None, 3, 4]), unit="D"),
        pd.Series([None] * 4, dtype=object),
    ],
    ids=lambda column: str(column.dtype),
)
@pytest.mark.parametrize("learner", [GaussianNB(), DecisionTreeClassifier()], ids=["naive bayes", "tree"])
def test_every_kind_of_column_can_be_learned_from(column, learner):
    X = pd.DataFrame({"a": column, "number": [0.0, 0.0, 1.0, 1.0]})
    wrapped = clone(encoded(learner, X))
    assert isinstance(wrapped, Pipeline)
    assert is_classifier(wrapped)
    assert list(wrapped.fit(X, list("nnyy")).predict(X)) == list("nnyy")


def test_categories_become_indicators_and_missing_is_one_of_them():
    seen = columns_of(pd.DataFrame({"hue": ["red", None, "blue"], "size": [1.0, 2.0, 3.0]}))
    assert seen.to_dict("list") == {
        "size": [1, 2, 3],
        "hue_blue": [0, 0, 1],
        "hue_missing": [0, 1, 0],
        "hue_red": [1, 0, 0],
    }


def test_booleans_and_times_are_numbers():
    frame = pd.DataFrame(
        {
            "flag": [True, False],
            "day": pd.to_datetime(["1970-01-02", None]),
            "zoned": pd.to_datetime(["1970-01-01T01:00+01:00", "1970-01-01T12:00+00:00"], utc=True),
            "span": pd.to_timedelta([6, None], unit="h"),
        }
    )
    seen = frame.apply(as_numbers)
    assert seen.dtypes.eq(float).all()
    assert seen.iloc[0].to_list() == [1, 1, 0, 0.25]
    assert seen["zoned"][1] == 0.5
    assert seen.loc[1, ["day", "span"]].isna().all()


def test_nothing_leaks_from_rows_outside_the_training_subset():
    X = pd.DataFrame({"a": [1.0, 2.0, 9.0, 100.0, np.nan], "hue": ["red", "blue", "red", "green", None]})
    seen = columns_of(X, fit_on=X.iloc[:3])
    assert seen["a"].to_list() == [1, 2, 9, 100, 2]
    assert list(seen.columns) == ["a", "hue_blue", "hue_red"]
    assert seen.iloc[3:, 1:].to_numpy().sum() == 0


@pytest.mark.parametrize(
    ("column", "names"),
    [
        (pd.Series([3, 7, 3], dtype="category"), ["code_3", "code_7"]),
        (pd.Categorical(["red", "blue"], categories=["blue", "green", "red"]), ["code_blue", "code_red"]),
    ],
    ids=["numbers", "one without rows"],
)
def test_declared_categories(column, names):
    assert list(columns_of(pd.DataFrame({"code": column})).columns) == names


def test_a_column_missing_throughout_a_subset_stays():
    X = pd.DataFrame({"a": [np.nan, np.nan, 5.0, 6.0], "hue": [None, None, "red", "blue"]})
    seen = columns_of(X, fit_on=X.iloc[:2])
    assert seen.shape == (4, 2)
    assert np.isfinite(seen.to_numpy()).all()


def test_columns_without_text_names_go_by_position():
    X = pd.DataFrame({7: ["a", "b", "a", "b"], 3: [1.0, np.nan, 3.0, 4.0]})
    assert encoded(GaussianNB(), X).fit(X, [0, 1, 0, 1]).score(X, [0, 1, 0, 1]) == 1


def test_transformers_go_by_column_name_so_order_does_not_matter():
    X = pd.DataFrame({"hue": ["a", "b", "a", "b"], "size": [1.0, None, 3.0, 4.0]})
    fitted = encoded(GaussianNB(), X).fit(X, [0, 1, 0, 1])
    assert list(fitted.predict(X[["size", "hue"]])) == [0, 1, 0, 1]


def test_columns_of_one_name_are_refused():
    X = pd.DataFrame([["a", 1], ["b", 2]], columns=["same", "same"])
    with pytest.raises(InputError, match=r"same name \(same\)"):
        encoded(GaussianNB(), X)


def test_the_learner_keeps_its_settings_and_travels_to_workers():
    X = pd.DataFrame({"hue": ["a", "b"]})
    wrapped = encoded(DecisionTreeClassifier(max_depth=3), X)
    assert pickle.loads(pickle.dumps(wrapped)).get_params()["learner__max_depth"] == 3


def test_infinity_is_not_swallowed():
    X = pd.DataFrame({"a": [1.0, np.inf, np.nan]})
    with pytest.raises(ValueError, match="infinity"):
        encoded(GaussianNB(), X).fit(X, [0, 1, 0])


@pytest.mark.parametrize("categories", [3, 99, 100, 101, 250])
def test_the_numbers_are_those_of_scikit_learn(categories):
    rng = np.random.default_rng(0)
    words = np.array([f"v{place}" for place in range(categories)])[rng.zipf(1.2, 600) % categories]
    X = pd.DataFrame({"word": words, "size": np.where(rng.random(600) < 0.1, np.nan, rng.normal(size=600))})
    train, test = X.iloc[:400], X.iloc[400:]
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
    ).fit(train[["word"]])
    middle = SimpleImputer(strategy="median").fit(train[["size"]])
    encode = encoded(GaussianNB(), X).named_steps["encode"].fit(train)
    for rows in (train, test):
        expected = np.hstack([middle.transform(rows[["size"]]), one_hot.transform(rows[["word"]])])
        assert np.array_equal(encode.transform(rows), expected)
    assert list(encode.get_feature_names_out()[1:]) == list(one_hot.get_feature_names_out())


def test_values_that_are_spelled_the_same_are_one_category_and_others_are_not():
    codes, names = as_levels(pd.Series([1, "1", 1.0, True, None, "missing"], dtype=object))
    assert [names[code] for code in codes] == ["1", "1", "1.0", "True", "missing", "missing"]
    codes, names = as_levels(pd.Series(pd.Categorical.from_codes([0, 1, -1], categories=[1, "1"])))
    assert [names[code] for code in codes] == ["1", "1", "missing"]


def test_a_table_as_numbers_keeps_names_that_are_not_text():
    made = numbers(pd.DataFrame({7: ["a", "b"], 3: [1.0, np.nan]}, index=[5, 6]))
    assert list(made.columns) == ["3", "7_a", "7_b"]
    assert list(made.index) == [5, 6]


def test_the_encoding_in_words():
    X = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", None]), "flag": [True, False], "hue": ["a", None]})
    assert encoding_in_words(X) == (
        "one-hot encoding of 1 column (hue), days for the times in 1 column (day), medians for missing numbers in "
        "1 column (day)"
    )
    assert encoding_in_words(X[["flag"]]) == "columns as numbers"


# Columns of texts: recognised, passed on as strings, or turned into numbers that only training rows determine


WORDS = [f"word{place}" for place in range(400)]


def lines(n: int, words: int = 6, seed: int = 0) -> pd.Series:
    rng = np.random.default_rng(seed)
    return pd.Series([" ".join(rng.choice(WORDS, words)) for _ in range(n)], name="text")


@pytest.mark.parametrize("dtype", ["str", "string", object])
def test_texts_of_several_words_are_prose(dtype):
    assert is_prose(lines(120).astype(dtype), beyond=100)
    assert is_prose(lines(90).astype(dtype), beyond=100)
    assert is_prose(pd.concat([lines(110)] * 3).astype(dtype), beyond=100)
    assert not is_prose(pd.concat([lines(90)] * 3).astype(dtype), beyond=100)
    assert not is_prose(lines(10).astype(dtype), beyond=100)
    assert not is_prose(lines(120, words=2).astype(dtype), beyond=100)


@pytest.mark.parametrize("column", [pd.Series(range(200)), lines(200).astype("category"), pd.Series([None] * 200)])
def test_what_is_not_text_is_not_prose(column):
    assert not is_prose(column, beyond=100)


def test_strings_of_one_column():
    strings = first_strings(pd.DataFrame({"text": ["a b", None, "c"]}, index=[4, 5, 6]))
    assert strings.to_dict() == {4: "a b", 5: "", 6: "c"}


def test_numbers_of_texts_repeat_and_are_at_most_so_many():
    first, second = (TextNumbers().fit(lines(300)).transform(lines(20, seed=1)) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.shape == (20, DIMENSIONS)
    assert np.isfinite(first).all()


@pytest.mark.parametrize(
    ("column", "width"),
    [
        (pd.Series(["a b c", "a b d", "a e"]), 2),
        (pd.Series(["", None, "?!"]), 1),
        (pd.Series(["a", "b", "c"]), 1),
        (lines(30, words=200), 30),
    ],
    ids=["few words", "no words", "no word twice", "few texts"],
)
def test_small_columns_of_texts(column, width):
    made = TextNumbers().fit(column)
    assert made.width_ == width
    assert made.transform(column).shape == (len(column), width)
    assert np.isfinite(made.transform(pd.Series([None, "unheard of"]))).all()


def test_words_are_learned_from_the_training_rows_only():
    X = pd.DataFrame({"text": lines(240), "n": range(240)})
    encode = encoded("passthrough", X).named_steps["encode"]
    fitted = clone(encode).fit(X.iloc[:120])
    alone = clone(encode).fit(X.iloc[:120].copy())
    assert np.array_equal(fitted.transform(X)[:120], alone.transform(X.iloc[:120]))
    assert fitted.get_feature_names_out()[:2].tolist() == ["n", "text_0"]


def test_a_table_with_texts_as_numbers():
    made = numbers(pd.DataFrame({"text": lines(240), "n": range(240)}))
    assert made.shape == (240, 1 + DIMENSIONS)
