"""Columns of texts: recognised, passed on as strings, or turned into numbers that only training rows determine."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from classay.estimators.encoder import DIMENSIONS, TextNumbers, encoded, first_strings, is_prose, numbers

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
