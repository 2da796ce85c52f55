"""Tables become plain arrays and come back as they were."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from classay.engine import store
from classay.engine.archive import MOST_TABLE_BYTES, pack_table, unpack_table

FRAME = pd.DataFrame(
    {
        "whole": [1, 2, 3],
        "real": [1.5, np.nan, 2],
        "text": ["x", None, "z"],
        "grade": pd.Categorical(["u", None, "v"], categories=["v", "u", "w"], ordered=True),
        "numbered": pd.Categorical([3, 1, 3]),
        "day": pd.to_datetime(["2020-01-01", None, "2021-03-04"]),
        "there": pd.to_datetime(["2020-01-01", None, "2021-03-04"]).tz_localize("Europe/Paris"),
        "took": pd.to_timedelta([1, 2, 3], unit="h"),
        "flag": [True, False, True],
        "maybe": pd.array([1, None, 3], dtype="Int64"),
        "perhaps": pd.array([True, None, False], dtype="boolean"),
        "share": pd.array([0.5, None, 1.5], dtype="Float64"),
        "string": pd.array(["a", None, "b"], dtype="string"),
        "objects": np.array([True, None, False], dtype=object),
        "counts": np.array([1, 2, None], dtype=object),
        "nothing": np.array([None, None, None], dtype=object),
    }
)


def round_trip(table, tmp_path):
    header, arrays = pack_table(table, "rows")
    store.write(tmp_path / "file", "test", {"rows": header}, arrays)
    restored, arrays = store.read(tmp_path / "file")
    return unpack_table(restored["rows"], arrays, "rows")


def test_every_kind_of_column_comes_back(tmp_path):
    pd.testing.assert_frame_equal(round_trip(FRAME, tmp_path), FRAME)


def test_names_may_be_numbers_and_rows_few(tmp_path):
    numbered = FRAME[["whole", "text"]].set_axis(pd.Index([4, 2]), axis=1)
    pd.testing.assert_frame_equal(round_trip(numbered, tmp_path), numbered)
    pd.testing.assert_frame_equal(round_trip(FRAME.iloc[:1], tmp_path), FRAME.iloc[:1])


@pytest.mark.parametrize("dtype", [float, np.float32, int, bool, "U3"])
def test_arrays_come_back(dtype, tmp_path):
    array = np.array([[1, 0], [0, 1]]).astype(dtype)
    restored = round_trip(array, tmp_path)
    assert restored.dtype == array.dtype
    np.testing.assert_array_equal(restored, array)


@pytest.mark.parametrize(
    "table",
    [
        np.array([["a", 1]], dtype=object),
        sparse.eye_array(3).tocsr(),
        pd.DataFrame({"a": [[1], [2]]}),
        pd.DataFrame({"a": ["text", 1]}),
        pd.DataFrame({("a", "b"): [1]}),
        pd.DataFrame({"a": pd.period_range("2020", periods=2, freq="M")}),
        np.zeros(MOST_TABLE_BYTES // 8 + 1),
        pd.DataFrame({"a": np.zeros(MOST_TABLE_BYTES // 8 + 1)}),
    ],
    ids=["objects", "sparse", "lists", "mixed", "tuples", "periods", "large", "large frame"],
)
def test_what_cannot_be_kept(table):
    assert pack_table(table, "rows") is None
