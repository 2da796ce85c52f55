"""What is read of dirty files, and what the audit says of it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from one_source import read, refused
from sklearn.tree import DecisionTreeClassifier

from classay.cli.app import run
from classay.expect import InputError
from classay.tables.audit import audit_frame
from classay.tables.read import read_frame, read_table


def column(table, name):
    return next(each for each in table.audit.columns if each.name == name)


# Bad cells


@pytest.mark.parametrize("bad", ["?", "12%", "$3", '"1,234"', '"1,5"', str(2**70), "broken"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_one_bad_cell_keeps_the_best_column(tmp_path, bad, kind):
    a = np.random.default_rng(0).normal(size=500)
    texts = [f"{number:.6f}" for number in a]
    texts[123] = bad.strip('"')
    frame = pd.DataFrame({"a": texts, "y": np.where(a > 0, "up", "down")})
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_csv(path, sep="," if kind == "csv" else "\t", index=False)
    table = read(path)
    assert table.X["a"].dtype == float
    rest = np.arange(500) != 123
    assert np.abs(table.X["a"].to_numpy()[rest] - a[rest]).max() < 1e-6
    fitted = DecisionTreeClassifier().fit(table.X[rest], table.y[rest])
    assert fitted.score(table.X[rest], table.y[rest]) > 0.99
    if bad == "broken":
        assert column(table, "a").examples == ((124, "broken"),)
        said = "Column 'a': 1 cell is not a number and was read as missing (row 124: 'broken')."
        assert said in table.audit.losses
        assert said in table.notes


def test_columns_of_one_file_share_the_decimal_comma(written):
    table = read(written("a\tb\ty", "1,234\t1,5\tx", "5,678\t2,5\tz", name="t.tsv"))
    assert table.X["a"].to_list() == [1.234, 5.678]
    alone = read(written("a\tb\ty", "1,234\t1.5\tx", "5,678\t2.5\tz", name="t.tsv"))
    assert alone.X["a"].to_list() == [1234, 5678]


def test_a_column_that_is_text_in_one_part_of_a_long_file(written, monkeypatch):
    monkeypatch.setattr("classay.tables.text_files.PART", 7)
    rows = [f"{i},{i / 4},{'A' if i == 40 else i},{i % 3},{'' if i < 20 else 'r'},{'xy'[i % 2]}" for i in range(50)]
    table = read(written("whole,half,mixed,few,late,y", *rows))
    expected = pd.read_csv(written("whole,half,mixed,few,late,y", *rows), low_memory=False)
    assert table.X["whole"].dtype == np.int64
    for name in ("whole", "half", "few", "late"):
        pd.testing.assert_series_equal(table.X[name], expected[name])
    assert table.X["mixed"].isna().sum() == 1
    pd.testing.assert_series_equal(
        read_frame(written("whole,half,mixed,few,late,y", *rows))["mixed"], expected["mixed"]
    )


def test_codes_with_leading_zeros_stay_text(written):
    rows = [f'{i % 40:05d},"{i % 7:02d}",{i % 40},{"xy"[i % 2]}' for i in range(60)]
    table = read(written("zip,month,n,y", *rows))
    assert table.X["zip"].iloc[3] == "00003"
    assert table.X["month"].iloc[3] == "03"
    assert table.X["n"].dtype == np.int64
    assert column(table, "zip").why == "whole numbers with leading zeros are codes"


def test_dates_and_booleans(written):
    rows = [
        f"2024-01-{i + 1:02d},{i + 1:02d}.03.2024,1/{i + 1}/2024,{'yn'[i % 2]},{i % 2 == 0},{'ab'[i % 2]}"
        for i in range(28)
    ]
    table = read(written("iso,german,us,word,bool,y", *rows))
    for name in ("iso", "german", "us"):
        assert str(table.X[name].dtype).startswith("datetime64"), name
        assert column(table, name).kind == "date"
    assert (table.X["us"].dt.month == 1).all()
    assert (table.X["german"].dt.month == 3).all()
    assert [column(table, name).kind for name in ("word", "bool")] == ["boolean", "boolean"]
    swapped = read(written("d,y", *(f"0{i + 1}/02/2024,{'ab'[i % 2]}" for i in range(9))))
    assert "so this is a guess" in column(swapped, "d").why


# Labels and headers


def test_labels_that_differ_in_spelling_stay_apart_and_are_noted(written):
    table = read(written("a,y", "1,01", "2,1", "3,Yes", "4,yes"))
    assert table.audit.classes == (("01", 1), ("1", 1), ("Yes", 1), ("yes", 1))
    assert "Classes that differ in spelling only: '01' and '1', 'Yes' and 'yes'." in table.notes


def test_rows_without_a_label_are_dropped_if_few(written):
    rows = [f"{i},{'' if i in (3, 7) else 'xy'[i % 2]}" for i in range(60)]
    table = read(written("a,y", *rows))
    assert len(table.X) == len(table.y) == 58
    assert 3 not in table.X["a"].to_list()
    assert table.audit.losses[0] == "Dropped 2 rows of 60, whose target 'y' is missing (row 4, 8, counted from 1)."
    assert (table.audit.rows_read, table.audit.rows) == (60, 58)
    refused(written("a,y", *rows[:10]), "missing in 2 of 10 rows")
    refused(written("a,y", *rows[:3], "3,NA", *rows[4:]), "written 'NA'.*respell")


@pytest.mark.parametrize("target", [None, "y", "a"])
def test_the_same_name_twice_is_refused(written, target):
    refused(written("a,y,y", "1,x,x", "2,z,z"), r"columns with the same name \(y\)", target=target)


def test_blanks_around_names(written):
    table = read(written("a , b,,y ", "1,2,3,x", "4,5,3,z"), target="y ")
    assert list(table.X) == ["a", "b", "Unnamed: 2"]
    assert table.target == "y"
    assert table.audit.renamed == (("a ", "a"), ("", "Unnamed: 2"), ("y ", "y"))
    assert "Renamed: 'a ' → 'a'" in str(table.audit)
    refused(written("a,y,y ", "1,x,x", "2,z,z"), "the target 'y(_2)?' twice")
    table = read(written("a,a ,y", "1,2,x", "2,1,z"))
    assert list(table.X) == ["a", "a_2"]


def test_a_copy_of_the_target_is_noted(written):
    table = read(written("a,copy,y", "1,x,x", "2,z,z"))
    assert "Columns that equal the target 'y' in every row: copy." in table.audit.notes


# What no learner can read


def test_utf_16_is_read_and_said(written):
    table = read(written("größe,y\n1,x\n2,z\n".encode("utf-16")))
    assert list(table.X) == ["größe"]
    assert "The file is in UTF-16." in table.notes
    refused(written("größe,y\n1,x\n".encode("latin-1")), "byte 0xf6.*WINDOWS-1252")


def test_lists_are_refused_everywhere(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1, 2], "tokens": [[1], [2]], "y": [["x"], ["z"]]})
    frame.to_parquet(tmp_path / "t.parquet")
    refused(tmp_path / "t.parquet", "Column 'tokens' contains ndarray values", target="a")
    refused(tmp_path / "t.parquet", "Column 'y' contains ndarray values", drop=["tokens"])


# Text


def sentences(count=30):
    return [f"please play song number {i}" for i in range(count)]


def test_a_column_of_sentences_stops_the_reading(written):
    rows = [f"{text},{i % 3},{'ab'[i % 2]}" for i, text in enumerate(sentences())]
    path = written("text,split,y", *rows)
    refused(path, "`text` looks like text: add `--text text` to use it, or `--drop text` to drop it")
    assert read(path, text="text").text == "text"
    dropped = read(path, drop=["text"])
    assert (list(dropped.X), dropped.text) == (["split"], None)
    assert column(dropped, "text").use == "left out"
    assert dropped.audit.losses == ()
    refused(path, "'y' is both target and drop", target="y", drop=["y"])


def test_sentences_are_taken_if_there_is_nothing_else(written):
    rows = [f"{text},1,{'ab'[i % 2]}" for i, text in enumerate(sentences())]
    table = read(written("text,constant,y", *rows))
    assert table.text == "text"
    assert any(note.startswith("Text: 'text', the only column") for note in table.notes)
    assert column(table, "text").kind == "text"


# Groups, time and weight


def test_groups_time_and_weight_are_not_learned_from(written):
    rows = [f"{i},{i % 3:02d},2024-01-{i + 1:02d},{i / 2},{'ab'[i % 2]}" for i in range(28)]
    path = written("a,who,when,w,y", *rows)
    table = read(path, groups="who", time="when", weight="w")
    assert list(table.X) == ["a"]
    assert table.per_row["groups"].iloc[1] == "01"
    assert str(table.per_row["time"].dtype).startswith("datetime64")
    assert table.per_row["weight"].iloc[3] == 1.5
    assert [each.use for each in table.audit.columns] == ["feature", "groups", "time", "weight", "target"]
    refused(path, "time column 'who' is of kind category.*expected dates or numbers", time="who")
    refused(path, "weight column 'when' is of kind date", weight="when")
    refused(path, "no column 'whom'. Did you mean who", groups="whom")
    refused(path, "both groups and time", groups="who", time="who")


def test_a_second_file_is_read_as_the_first(written):
    rows = [f"{i % 9}%,{i % 5:02d},{'pq'[i % 2]},{'ab'[i % 2]}" for i in range(40)]
    train = written("share,code,hue,y", *rows)
    test = written("y,hue,code,share,more", "a,1,3,7%,1", "a,2,4,much,2", *["a,2,4,6%,2"] * 20, name="test.csv")
    table = read_table(train, target="y", test=test)
    assert list(table.test.X) == list(table.X)
    assert table.test.X["share"].to_list()[0] == 7
    assert np.isnan(table.test.X["share"].to_list()[1])
    assert table.test.X["code"].to_list()[:2] == ["3", "4"]
    assert table.test.X["hue"].to_list()[:2] == ["1", "2"]
    assert any("(row 2: 'much')" in loss for loss in table.test.audit.losses)
    assert any("Dropped, because the first table does not use it: more." in loss for loss in table.test.audit.losses)
    strange = written("y,hue,code,share", "c,p,3,7%", name="strange.csv")
    refused(train, r"'strange.csv' has classes that 't.csv' does not have \('c', in 1 row\)", target="y", test=strange)
    other = written("y,hue,code,share", "a,p,3,low", "a,p,3,high", name="other.csv")
    refused(train, "'share' contains texts such as 'low' in 2 of 2 rows; expected numbers", target="y", test=other)
    short = written("y,hue,code", "a,p,3", name="short.csv")
    refused(train, "'short.csv' does not have the columns share", target="y", test=short)


# The audit


def test_an_audit_of_everything(written):
    rows = [f"r{i},{i},,1,{'?' if i == 4 else i / 2},{'ab'[i % 2]}" for i in range(30)]
    audit = read(written("id,n,void,one,x,y", *rows)).audit
    by_name = audit.to_frame().set_index("column")
    assert by_name["kind"].to_dict() == {
        "id": "identifier", "n": "number", "void": "empty", "one": "constant", "x": "number", "y": "category",
    }  # fmt: skip
    assert by_name["use"].to_dict() == {
        "id": "left out", "n": "feature", "void": "left out", "one": "feature", "x": "feature", "y": "target",
    }  # fmt: skip
    assert by_name.loc["x", "why"] == "all values are numbers; missing is written '?' (1)"
    assert audit.losses == ("Dropped, without any value: void.", "Dropped, because every value is unique: id.")
    assert json.loads(json.dumps(audit.to_dict()))["classes"] == [
        {"label": "a", "count": 15},
        {"label": "b", "count": 15},
    ]
    assert str(audit).startswith("t.csv: 30 rows, 3 columns, 2 classes. Columns: 2 numbers, 1 constant.")


def test_a_table_given_in_python_is_described_and_not_changed():
    frame = pd.DataFrame({"n": [1.0, np.inf, 2.0], "t": ["1%", "2%", "?"], "l": [[1], [2], [3]], "c": [1j, 2, 3]})
    before = frame.copy(deep=True)
    audit = audit_frame(frame, [0, 1, 1], "mine")
    pd.testing.assert_frame_equal(frame, before)
    assert [each.kind for each in audit.columns] == ["number", "category", "category", "category"]
    assert "not converted" in audit.columns[1].why
    assert (audit.losses, audit.classes) == ((), (("0", 1), ("1", 2)))
    assert len(audit_frame(np.eye(3)).columns) == 3


def test_numbers_of_a_second_file_are_in_the_format_of_the_first(written):
    train = written("size;y", *[f"{i}.592,5;{'ab'[i % 2]}" for i in range(1, 9)], name="train.csv")
    test = written("size;y", "6.592;a", "7;b", name="test.csv")
    assert read_table(train, "y").X["size"].to_list()[0] == 1592.5
    assert read_table(train, "y", test=test).test.X["size"].to_list() == [6592, 7]
    empty = written("size;more;y", ";1;a", "NA;2;b", name="empty.csv")
    assert read_table(empty, "y", like=read_table(train, "y")).X["size"].dtype == float


def test_shares_without_a_percent_sign_are_refused_where_the_first_file_has_it(written):
    train = written("share,y", *[f"{i}%,{'ab'[i % 2]}" for i in range(1, 9)], name="train.csv")
    test = written("share,y", "0.01,a", "0.02,b", name="test.csv")
    with pytest.raises(InputError, match=r"'share' contains texts such as '0.01' in 2 of 2 rows; .*\(in percent\)"):
        read_table(train, "y", test=test)


@pytest.mark.parametrize(("first", "expected"), [("1.0", ["1.0", "2.0"]), ("1", ["1", "2"])])
def test_codes_keep_the_spelling_of_the_first_file(written, first, expected):
    train = written("code,n,y", *[f"{(first, 'x')[i % 2]},{i},{'ab'[i % 2]}" for i in range(9)], name="train.csv")
    test = written("code,n,y", "1.0,1,a", "2.0,2,b", ",3,b", name="test.csv")
    codes = read_table(train, "y", test=test).test.X["code"]
    assert codes.to_list()[:2] == expected
    assert pd.isna(codes.iloc[2])


def test_rows_keep_the_numbers_of_their_file(written, capsys):
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal() + 9 * (i % 2):.3f},{rng.normal():.3f},g{i % 7},{'ab'[i % 2]}" for i in range(60)]
    rows[0], rows[1] = "1,1,g,", "0,0,g,"
    rows[40] = "9,0,g5,a"
    path = written("u,v,who,y", *rows, name="t.csv")
    assert read_table(path, "y").positions.tolist() == list(range(2, 60))
    assert run(["data", str(path), "--target", "y", "--drop", "who", "--json", "--quiet"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["suspects"][0]["row"] == 40
    assert 40 not in [row["row"] for row in content["hardest"]]
    rows[5] = "1,1,,b"
    with pytest.raises(InputError, match=r"groups column 'who' is missing in 1 of 58 rows \(row 6, counted from 1\)"):
        read_table(written("u,v,who,y", *rows, name="t.csv"), "y", groups="who")


def test_points_are_thousands_where_other_columns_have_decimal_commas(written):
    rows = [f"{i},5;{i}.592;{i}.5;0.{i}25;{i}.250 €;{'ab'[i % 2]}" for i in range(1, 9)]
    table = read_table(written("a;size;b;c;price;y", *rows, "1,5;?;1.5;0.125;1.250 €;a", name="t.csv"), "y")
    points = [f"{i};{i}.592;{'ab'[i % 2]}" for i in range(1, 9)]
    plain = read_table(written("a;size;y", *points, name="plain.csv"), "y")
    native = read_table(
        written("a;size;y", *[f"{i},5;{i}.592;{'ab'[i % 2]}" for i in range(1, 9)], name="native.csv"), "y"
    )
    assert table.X["size"].to_list()[:2] == native.X["size"].to_list()[:2] == [1592, 2592]
    assert table.X["price"].to_list()[0] == 1250
    assert (table.X["a"].iloc[0], table.X["b"].iloc[0], table.X["c"].iloc[0]) == (1.5, 1.5, 0.125)
    assert plain.X["size"].to_list()[0] == 1.592
    why = next(each.why for each in native.audit.columns if each.name == "size")
    assert "points are thousands; three digits follow every point, so this is a guess: other columns" in why
    assert native.audit.formats["size"].number.guessed


def test_a_test_file_needs_no_weights(written):
    rows = [f"{i},{i + 1},{'ab'[i % 2]}" for i in range(8)]
    train, test = written("n,w,y", *rows, name="train.csv"), written("n,y", "1,a", "2,b", name="test.csv")
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
    absent = written("n,y", "1,a", "2,b", name="test.csv")
    assert list(read_table(tmp_path / "t.parquet", "y", drop="parts", test=absent).test.X) == ["n"]
