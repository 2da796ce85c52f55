"""`classay slices` as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def predictions(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 3000
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "job": rng.choice(["student", "clerk", "[red]nurse[/red]"], n),
            "p_max": rng.random(n).round(3),
            "label": rng.choice(["a", "b"], n),
        }
    )
    rate = np.where(table.age.between(30, 45) & (table.job == "student"), 0.6, 0.05) + 0.3 * (table.p_max < 0.2)
    other = np.where(table.label == "a", "b", "a")
    table["my guess"] = np.where(rng.random(n) < rate, other, table.label)
    table["wrong"] = table["my guess"] != table.label
    path = tmp_path_factory.mktemp("data") / "predictions.csv"
    table.to_csv(path, index=False)
    return path


QUOTED = ["--wrong", "label != `my guess`", "--columns", "age,job"]


def test_a_table_is_printed_and_what_is_not_searched_is_said(classay, predictions):
    code, out, err = classay("slices", str(predictions), "--wrong", "label != `my guess`", "--confidence", "p_max")
    assert code == 0
    assert "wrong = True" in out  # the file holds the answer in another column, which nobody left out
    assert "Not searched because --wrong uses them: label, my guess." in err
    code, out, err = classay("slices", str(predictions), *QUOTED, "--confidence", "p_max")
    assert code == 0
    assert "age 30–45 and job = student" in out
    assert "p_max ≤ 0." in out
    assert "slices were tested" in out


def test_json_is_alone_on_stdout_and_is_what_python_gives(classay, predictions):
    from classay.data.model.error_slices import slices

    code, out, _ = classay("slices", str(predictions), *QUOTED, "--json", "--quiet")
    assert code == 0
    content = json.loads(out)
    table = pd.read_csv(predictions)
    expected = slices(table[["age", "job"]], table.wrong)
    assert content["slices"] == expected.to_dict()["slices"]
    assert content["data"]["columns"] == ["age", "job"]
    assert content["n_errors"] == int(table.wrong.sum())


def test_a_confidence_of_which_wrong_is_made_is_searched(classay, predictions):
    arguments = ["--wrong", "p_max < 0.1 and wrong", "--confidence", "p_max"]
    code, out, err = classay("slices", str(predictions), *arguments)
    assert code == 0
    assert "1. p_max ≤ 0." in out
    assert "--wrong uses them: wrong." in err


def test_columns_named_are_searched_even_if_wrong_is_about_them(classay, predictions):
    arguments = ["--wrong", "label != `my guess`", "--columns", "label,age"]
    code, _, err = classay("slices", str(predictions), *arguments)
    assert code == 0
    assert "Searched because you named them" in err


def test_rows_without_an_answer_are_left_out(classay, predictions, tmp_path):
    table = pd.read_csv(predictions)
    table["label"] = table["label"].where(table.index % 10 != 0)
    table.to_csv(tmp_path / "some.csv", index=False)
    code, _, err = classay("slices", str(tmp_path / "some.csv"), *QUOTED)
    assert code == 0
    assert "is missing: 300 of 3000 rows" in err


def test_nothing_found_is_said(classay, predictions):
    code, out, _ = classay("slices", str(predictions), "--wrong", "age > 500", "--columns", "job")
    assert code == 0
    assert "none of 3000 rows is wrong" in out
    code, out, _ = classay("slices", str(predictions), "--wrong", "label == 'a'", "--columns", "age,job")
    assert code == 0
    assert "No slice stands out" in out


def test_charts_are_saved(classay, predictions, tmp_path):
    folder = tmp_path / "new" / "charts"
    code, _, err = classay("slices", str(predictions), *QUOTED, "--charts", str(folder))
    assert code == 0
    assert {path.name for path in folder.iterdir()} == {"slices.svg", "slices.png"}
    assert all(path.stat().st_size > 1000 for path in folder.iterdir())
    assert "Saved" in err


def test_quiet_is_quiet(classay, predictions):
    assert classay("slices", str(predictions), *QUOTED, "--quiet")[2] == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--wrong", "lable != age"], "Did you mean label"),
        (["--wrong", "label"], "expected True or False"),
        (["--wrong", "__import__('os').getcwd()"], "a call"),
        (["--wrong", "age < 500"], "all 3000 rows"),
        (["--wrong", "wrong", "--columns", "agee"], "Did you mean age"),
        (["--wrong", "wrong", "--columns", ","], "--columns is empty"),
        (["--wrong", "wrong", "--confidence", "pmax"], "Did you mean p_max"),
        (["--wrong", "wrong", "--min-size", "5000"], "min_size"),
        (["--wrong", "wrong", "--q", "2"], "`q` is 2.0"),
        ([], "--wrong"),
    ],
)
def test_mistakes_get_a_sentence_and_exit_code_2(classay, predictions, arguments, message):
    code, out, err = classay("slices", str(predictions), *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_bad_files(classay, tmp_path):
    code, _, err = classay("slices", str(tmp_path / "none.csv"), "--wrong", "a")
    assert code == 2
    assert "no file" in err
    (tmp_path / "header.csv").write_text("a,b\n")
    assert "no rows" in classay("slices", str(tmp_path / "header.csv"), "--wrong", "a")[2]


def test_users_words_are_not_markup(classay, predictions):
    code, out, _ = classay("slices", str(predictions), "--wrong", "job == '[red]nurse[/red]'", "--columns", "job")
    assert code == 0
    assert "[red]nurse[/red]" in out


def test_help_has_examples(classay):
    code, out, _ = classay("slices", "--help")
    assert code == 0
    assert "classay slices predictions.csv --wrong" in out
