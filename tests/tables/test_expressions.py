"""Expressions written as text: read, never run."""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay.expect import InputError
from classay.tables.expressions import compare, parse

TABLE = pd.DataFrame(
    {
        "label": ["a", "b", "a", "b"],
        "predicted": pd.Categorical(["a", "a", "a", None]),
        "score": [0.1, 0.6, np.nan, -2.0],
        "error": [True, False, False, True],
        "count": [1, 0, 0, 1],
        "my guess": ["a", "b", "b", "b"],
        "when": pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01", None]),
        "mixed": ["a", 1, "b", 2],
    }
)


@pytest.mark.parametrize(
    ("text", "meets", "columns"),
    [
        ("label != predicted", [0, 1, 0, 0], ("label", "predicted")),
        ("label == 'a'", [1, 0, 1, 0], ("label",)),
        ("'a' == label", [1, 0, 1, 0], ("label",)),
        ("score < 0.5", [1, 0, 0, 1], ("score",)),
        ("score == -2", [0, 0, 0, 1], ("score",)),
        ("error", [1, 0, 0, 1], ("error",)),
        ("count", [1, 0, 0, 1], ("count",)),
        ("error == 1", [1, 0, 0, 1], ("error",)),
        ("error == True", [1, 0, 0, 1], ("error",)),
        ("not error", [0, 1, 1, 0], ("error",)),
        ("not (error or score > 0.5)", [0, 0, 0, 0], ("error", "score")),
        ("error and label == 'b'", [0, 0, 0, 1], ("error", "label")),
        ("my guess", None, ("my guess",)),
        ("label != `my guess`", [0, 0, 1, 0], ("label", "my guess")),
        ("`my guess` == 'b' and `label` == 'a'", [0, 0, 1, 0], ("my guess", "label")),
        ("when >= '2024-02-01'", [0, 1, 1, 0], ("when",)),
        ("mixed == 'a'", [1, 0, 0, 0], ("mixed",)),
        ("0 < score < 0.5", [1, 0, 0, 0], ("score",)),
        ("-3 <= score <= count != 0", [1, 0, 0, 1], ("score", "count")),
        ("True", [1, 1, 1, 1], ()),
        ("error and not False", [1, 0, 0, 1], ("error",)),
    ],
)
def test_what_is_read(text, meets, columns):
    if meets is None:
        with pytest.raises(InputError, match="`my guess` == 'a'"):
            compare(text, TABLE)
        return
    comparison = compare(text, TABLE)
    assert comparison.meets.tolist() == [bool(each) for each in meets]
    assert comparison.columns == columns


def test_rows_that_cannot_tell():
    assert compare("label != predicted", TABLE).known.tolist() == [True, True, True, False]
    assert compare("score < 1 or error", TABLE).known.tolist() == [True, True, False, True]
    assert compare("error", TABLE).known.all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lable != predicted", "Did you mean label"),
        ("label != 1", "text with number"),
        ("score == 'x'", "number with text"),
        ("label < predicted", "compares text by order"),
        ("label", "label == 'a'"),
        ("1 < 2 < score", "two fixed values"),
        ("label == -'a'", "a sign instead of"),
        ("1 == 1", "two fixed values"),
        ("label in predicted", "uses in"),
        ("label is predicted", "uses is"),
        ("(label == 'a') & error", "arithmetic or & and |"),
        ("score + 1 > 2", "arithmetic"),
        ("__import__('os').system('touch /tmp/owned')", "a call"),
        ("label.__class__ == 'a'", "a dot"),
        ("label[0] == 'a'", "brackets"),
        ("(lambda: 1)() == score", "a call"),
        ("label == f'{score}'", "column, number or text"),
        ("label == None", "column, number or text"),
        ("label == 1j", "column, number or text"),
        ("label != ", "cannot be read"),
        ("", "cannot be read"),
        ("label = predicted", "cannot be read"),
        ("label != 'a\0'", "cannot be read"),
        ("label != '`my guess`'", "backticks inside a text"),
        ("when > 'tomorrow'", "dates with a text that is not one"),
        ("(" * 300 + "error" + ")" * 300, "cannot be read"),
        ("not " * 240 + "score", "score"),
        ("a" * 2000, "2000 characters"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(InputError) as caught:
        compare(text, TABLE)
    assert message in str(caught.value)


def test_an_expression_is_read_once_and_asked_of_any_table():
    comparison = parse("`my guess` == 'b' and 0 < score")
    assert comparison.columns == ("my guess", "score")
    assert str(comparison) == "`my guess` == 'b' and 0 < score"
    assert comparison(TABLE).tolist() == [False, True, False, False]
    assert comparison(TABLE.assign(score=1.0)).tolist() == [False, True, True, True]
    with pytest.raises(InputError, match="uses 'my guess', which is not a column"):
        comparison(TABLE[["score"]])


def test_names_are_checked_early_where_they_are_known():
    with pytest.raises(InputError, match="Did you mean x0"):
        parse("x_0 > 0.5", ["x0", "x1"])
    assert parse("my guess", ["my guess"]).columns == ("my guess",)
    with pytest.raises(InputError, match="expected a text"):
        parse(3)


def test_a_column_that_is_called_as_a_stand_in_is_itself():
    table = pd.DataFrame({"a b": [1, 2], "_quoted_0": [2, 1]})
    assert parse("`a b` < _quoted_0")(table).tolist() == [True, False]


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(InputError):
        assert parse(text, TABLE.columns)(TABLE).dtype == bool


KINDS = pd.DataFrame(
    {
        "grade": pd.Categorical([1, 2, None]),
        "wet": pd.Categorical([True, False, None]),
        "zoned": pd.to_datetime(["2024-01-01 00:00", "2024-01-15 00:30", None]).tz_localize("Europe/Paris"),
        "plain": pd.to_datetime(["2024-01-02", "2024-01-14", None]),
        "took": pd.to_timedelta([1, 3, None], unit="D"),
        "day": pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01"]).date,
        "whole": pd.array([1, 2, None], dtype="Int64"),
    }
)


@pytest.mark.parametrize(
    ("text", "meets"),
    [
        ("grade > 1", [0, 1, 0]),
        ("grade == whole", [1, 1, 0]),
        ("not wet", [0, 1, 0]),
        ("zoned >= '2024-01-15'", [0, 0, 0]),  # half past midnight in Paris is still the 14th in UTC
        ("'2024-01-14T23:15+00:00' < zoned", [0, 1, 0]),
        ("zoned < plain", [1, 0, 0]),
        ("plain >= '2024-01-14'", [0, 1, 0]),
        ("took == took", [1, 1, 0]),
        ("took > '2 days'", [0, 1, 0]),
        ("day > '2024-01-15'", [0, 1, 1]),
        ("day == '2024-01-01'", [1, 0, 0]),
    ],
)
def test_columns_of_every_kind_are_compared_as_what_they_stand_for(text, meets):
    assert parse(text)(KINDS).tolist() == [bool(each) for each in meets]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("took > 2", "duration with a number. Write it as text"),
        ("took > 'long'", "durations with a text"),
        ("took > plain", "duration with a date"),
        ("zoned > 'noon'", "dates with a text"),
        (f"whole > {10**400}", "too large"),
    ],
)
def test_kinds_that_cannot_be_compared(text, message):
    with pytest.raises(InputError, match=message):
        parse(text)(KINDS)
