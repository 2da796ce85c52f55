"""`Data`: rows, labels and what belongs to them, checked once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from classay.expect import InputError
from classay.tables.data import Data
from classay.tables.read import read_table

FRAME = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0, 1.0], "hue": pd.Categorical(list("abaca"))})
Y = ["x", "y", "x", "y", "y"]


def test_what_learners_get_and_what_a_page_shows():
    array = np.arange(8.0).reshape(4, 2)
    assert Data.of(array, [0, 1, 0, 1]).X is array
    assert list(Data.of(array, [0, 1, 0, 1]).table) == ["x0", "x1"]
    texts = Data.of(["one", "two", "three"], [0, 1, 0])
    assert texts.X.tolist() == ["one", "two", "three"]
    assert texts.table["text"].tolist() == ["one", "two", "three"]
    numbered = Data.of(FRAME.set_axis([1, 2], axis=1).set_axis(list("vwxyz")), Y)
    assert list(numbered.X) == [1, 2]
    assert list(numbered.table) == ["1", "2"]
    assert numbered.table.index.tolist() == list(range(5))
    with pytest.raises(InputError, match="sparse matrix; expected a DataFrame or array"):
        _ = Data.of(sparse.eye(4), [0, 1, 0, 1]).table


def test_a_target_of_numbers_has_no_classes():
    data = Data.of(FRAME, [0.5, 1.5, 2.5, 3.5, 4.5], numbers=True, X_test=FRAME, y_test=[1.0] * 5)
    assert data.classes.size == 0
    assert data.codes.tolist() == [0] * 5
    with pytest.raises(InputError, match="is 2 in all 5 rows"):
        Data.of(FRAME, [2] * 5, numbers=True)


def test_a_test_part_has_the_columns_codes_and_groups_of_the_rows():
    test = FRAME[["hue", "size"]]
    data = Data.of(FRAME, Y, groups=list("abcde") + list("edfga"), X_test=test, y_test=["y", "z", "x", "x", "x"],
                   new_classes=True)  # fmt: skip
    assert list(data.test.X) == ["size", "hue"]
    assert data.test.codes.tolist() == [1, -1, 0, 0, 0]
    assert data.test.groups.tolist() == [4, 3, 5, 6, 0]
    assert data.groups_in_both == 3
    joined = data.joined()
    assert joined.y.tolist() == [*Y, "y", "z", "x", "x", "x"]
    assert joined.groups.tolist() == [0, 1, 2, 3, 4, 4, 3, 5, 6, 0]
    assert len(joined.X) == 10
    alone = Data.of(FRAME, Y, groups=list("abcde"), sample_weight=[1, 2, 3, 4, 5], X_test=test, y_test=Y).joined()
    assert alone.groups.tolist() == [0, 1, 2, 3, 4, -1, -1, -1, -1, -1]
    assert alone.weights.tolist() == [1, 2, 3, 4, 5, 1, 1, 1, 1, 1]


def test_categories_of_a_test_part_are_added():
    later = FRAME.assign(hue=pd.Categorical(list("abada")))
    joined = Data.of(FRAME, Y, X_test=later, y_test=Y).joined()
    assert joined.X["hue"].cat.categories.tolist() == list("abcd")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X_test": FRAME}, "`X_test` and `y_test` belong together"),
        ({"X_test": FRAME, "y_test": Y, "time": range(5)}, "`time` and `X_test` are both given"),
        ({"X_test": FRAME, "y_test": ["x"] * 4 + ["z"]}, "classes that `y` does not have: z"),
        ({"X_test": FRAME, "y_test": range(5)}, "`y_test` has labels such as 0, and the first ones are such as 'x'"),
        ({"X_test": FRAME.rename(columns={"size": "sizes"}), "y_test": Y}, "missing size, additional sizes. Did you"),
        ({"X_test": FRAME.to_numpy(), "y_test": Y}, "`X` is a DataFrame but `X_test` is an array"),
        ({"X_test": ["one"] * 5, "y_test": Y}, "`X` is a DataFrame but `X_test` is a list of texts"),
        ({"X_test": FRAME.assign(size=list("abcde")), "y_test": Y}, "'size' has numbers in one of `X` and `X_test`"),
        ({"X_test": FRAME.assign(size=np.inf), "y_test": Y}, "`X_test` has 5 infinite values, in: size"),
    ],
)
def test_a_test_part_that_does_not_belong_to_the_rows(given, message):
    with pytest.raises(InputError, match=message):
        Data.of(FRAME, Y, **given)


def test_some_rows_and_some_classes():
    data = Data.of(FRAME, ["x", "y", "z", "y", "z"], groups=list("abcde"), X_test=FRAME, y_test=list("xyzzy"))
    some = data.take(np.array([3, 1]))
    assert some.y.tolist() == ["y", "y"]
    assert some.positions.tolist() == [3, 1]
    assert some.groups.tolist() == [3, 1]
    two = data.of_classes(np.array([False, True, True]))
    assert two.classes.tolist() == ["y", "z"]
    assert two.codes.tolist() == [0, 1, 0, 1]
    assert two.test.y.tolist() == list("yzzy")
    assert two.test.codes.tolist() == [0, 1, 1, 0]


def test_equal_rows():
    rows = pd.DataFrame({"a": [1, 1, 1, 2, 2, 3], "b": list("uuuvvw")})
    data = Data.of(rows, ["x", "x", "y", "x", "y", "y"])
    assert data.duplicates == 1
    assert data.contradicted_rows.tolist() == [True] * 5 + [False]
    assert data.surely_wrong == 2


def test_what_is_masked_is_refused():
    X, y = np.arange(8.0).reshape(8, 1), np.array([0, 1] * 4)
    hidden = np.arange(8) == 3
    with pytest.raises(InputError, match="`X` has masked values"):
        Data.of(np.ma.masked_array(X, hidden[:, None]), y)
    with pytest.raises(InputError, match="`y` has masked values"):
        Data.of(X, np.ma.masked_array(y, hidden))


def test_long_numbers_with_a_missing_one_are_not_merged(tmp_path):
    rows = [{"a": row % 7, "y": 2**53 + row % 2 if row else None} for row in range(60)]
    pd.DataFrame(rows, dtype=object).to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    with pytest.raises(InputError, match=r"numbers from 2\*\*53 up as floats"):
        read_table(tmp_path / "t.jsonl")
