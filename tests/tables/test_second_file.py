"""A second file is read in the way of the first, and rows keep the numbers of their file."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from classay.cli.app import run
from classay.expect import InputError
from classay.tables.read import read_table


@pytest.fixture
def written(tmp_path):
    """Write lines to a file and return its path."""

    def write(name, header, *rows):
        path = tmp_path / name
        path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
        return path

    return write


def test_numbers_of_a_second_file_are_in_the_format_of_the_first(written):
    train = written("train.csv", "size;y", *[f"{i}.592,5;{'ab'[i % 2]}" for i in range(1, 9)])
    test = written("test.csv", "size;y", "6.592;a", "7;b")
    assert read_table(train, "y").X["size"].to_list()[0] == 1592.5
    assert read_table(train, "y", test=test).test.X["size"].to_list() == [6592, 7]
    empty = written("empty.csv", "size;more;y", ";1;a", "NA;2;b")
    assert read_table(empty, "y", like=read_table(train, "y")).X["size"].dtype == float


def test_shares_without_a_percent_sign_are_refused_where_the_first_file_has_it(written):
    train = written("train.csv", "share,y", *[f"{i}%,{'ab'[i % 2]}" for i in range(1, 9)])
    test = written("test.csv", "share,y", "0.01,a", "0.02,b")
    with pytest.raises(InputError, match=r"'share' contains texts such as '0.01' in 2 of 2 rows; .*\(in percent\)"):
        read_table(train, "y", test=test)


@pytest.mark.parametrize(("first", "expected"), [("1.0", ["1.0", "2.0"]), ("1", ["1", "2"])])
def test_codes_keep_the_spelling_of_the_first_file(written, first, expected):
    train = written("train.csv", "code,n,y", *[f"{(first, 'x')[i % 2]},{i},{'ab'[i % 2]}" for i in range(9)])
    test = written("test.csv", "code,n,y", "1.0,1,a", "2.0,2,b", ",3,b")
    codes = read_table(train, "y", test=test).test.X["code"]
    assert codes.to_list()[:2] == expected
    assert pd.isna(codes.iloc[2])


def test_rows_keep_the_numbers_of_their_file(written, capsys):
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal() + 9 * (i % 2):.3f},{rng.normal():.3f},g{i % 7},{'ab'[i % 2]}" for i in range(60)]
    rows[0], rows[1] = "1,1,g,", "0,0,g,"
    rows[40] = "9,0,g5,a"
    path = written("t.csv", "u,v,who,y", *rows)
    assert read_table(path, "y").positions.tolist() == list(range(2, 60))
    assert run(["data", str(path), "--target", "y", "--drop", "who", "--json", "--quiet"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["suspects"][0]["row"] == 40
    assert 40 not in [row["row"] for row in content["hardest"]]
    rows[5] = "1,1,,b"
    with pytest.raises(InputError, match=r"groups column 'who' is missing in 1 of 58 rows \(row 6, counted from 1\)"):
        read_table(written("t.csv", "u,v,who,y", *rows), "y", groups="who")


def test_points_are_thousands_where_other_columns_have_decimal_commas(written):
    rows = [f"{i},5;{i}.592;{i}.5;0.{i}25;{i}.250 €;{'ab'[i % 2]}" for i in range(1, 9)]
    table = read_table(written("t.csv", "a;size;b;c;price;y", *rows, "1,5;?;1.5;0.125;1.250 €;a"), "y")
    plain = read_table(written("plain.csv", "a;size;y", *[f"{i};{i}.592;{'ab'[i % 2]}" for i in range(1, 9)]), "y")
    native = read_table(written("native.csv", "a;size;y", *[f"{i},5;{i}.592;{'ab'[i % 2]}" for i in range(1, 9)]), "y")
    assert table.X["size"].to_list()[:2] == native.X["size"].to_list()[:2] == [1592, 2592]
    assert table.X["price"].to_list()[0] == 1250
    assert (table.X["a"].iloc[0], table.X["b"].iloc[0], table.X["c"].iloc[0]) == (1.5, 1.5, 0.125)
    assert plain.X["size"].to_list()[0] == 1.592
    why = next(each.why for each in native.audit.columns if each.name == "size")
    assert "points are thousands; three digits follow every point, so this is a guess: other columns" in why
    assert native.audit.formats["size"].number.guessed


def test_a_test_file_needs_no_weights(written):
    rows = [f"{i},{i + 1},{'ab'[i % 2]}" for i in range(8)]
    train, test = written("train.csv", "n,w,y", *rows), written("test.csv", "n,y", "1,a", "2,b")
    table = read_table(train, "y", weight="w", test=test)
    assert table.weights is not None
    assert table.test.weights is None
    with pytest.raises(InputError, match="no column 'w'"):
        read_table(test, "y", weight="w", like=table)


def test_dropped_columns_of_a_second_file_are_not_looked_at(tmp_path, written):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"n": range(8), "parts": [[1, 2]] * 8, "y": list("abababab")})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", "y", drop=["parts"], test=tmp_path / "t.parquet")
    assert list(table.X) == list(table.test.X) == ["n"]
    assert list(read_table(tmp_path / "t.parquet", "y", like=table).X) == ["n"]
    absent = written("test.csv", "n,y", "1,a", "2,b")
    assert list(read_table(tmp_path / "t.parquet", "y", drop="parts", test=absent).test.X) == ["n"]
