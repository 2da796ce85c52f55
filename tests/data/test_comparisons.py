"""Comparisons written as text: read, never run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from classay.data.comparisons import compare
from classay.expect import InputError

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
    ],
)
def test_what_is_read(text, meets, columns):
    if meets is None:
        with pytest.raises(InputError, match="`my guess` == 'a'"):
            compare(text, TABLE)
        return
    found = compare(text, TABLE)
    assert found.meets.tolist() == [bool(each) for each in meets]
    assert found.columns == columns


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
        ("label < predicted", "order of texts"),
        ("label", "label == 'a'"),
        ("1 < score < 2", "Write a < b and b < c"),
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
        ("when > 'tomorrow'", "dates with a text that is none"),
        ("(" * 300 + "error" + ")" * 300, "cannot be read"),
        ("not " * 240 + "score", "score"),
        ("a" * 2000, "2000 letters"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(InputError) as caught:
        compare(text, TABLE)
    assert message in str(caught.value)
