"""`classay data` as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from classay.data import text
from classay.tables.read import read_table


@pytest.fixture
def intents(tmp_path):
    path = tmp_path / "intents.csv"
    rows = ["utterance,intent"]
    rows += [f"{'play' if i % 2 else 'pay'} number {i},{'music' if i % 2 else 'bank'}" for i in range(60)]
    rows.append("play the jazz <b>now</b>,bank")
    path.write_text("\n".join(rows))
    return path


def test_tables_are_printed(classay):
    code, out, _ = classay("data", "iris")
    assert code == 0
    for word in ("versicolor", "baseline accuracy", "Hardest rows", "No label is suspected", "petal"):
        assert word in out


def test_json_has_every_row(classay):
    import classay as library

    code, out, _ = classay("data", "iris", "--json", "-n", "3")
    assert code == 0
    content = json.loads(out)
    table = read_table("iris")
    c = library.complexity(table.X, table.y)
    np.testing.assert_allclose(content["complexity"]["values"], c.values)
    assert [row["row"] for row in content["hardest"]] == c.hardest(3)["row"].tolist()
    assert content["complexity"]["baseline_accuracy"]["value"] == c.baseline_accuracy.value


def test_the_papers_plain_figures(classay):
    import classay as library

    _, out, _ = classay("data", "iris", "--json", "--paper")
    table = read_table("iris")
    c = library.complexity(table.X, table.y, distance="mahalanobis", cross_fit=False, temperature=1)
    np.testing.assert_allclose(json.loads(out)["complexity"]["values"], c.values)


def test_texts_are_embedded_and_shown(classay, intents, monkeypatch):
    def load(name):
        return lambda texts: np.array(
            [[each.startswith("play"), len(each) / 50, each.count("a")] for each in texts], float
        )

    monkeypatch.setattr(text, "_load_model", load)
    code, out, _ = classay("data", str(intents), "--text", "utterance", "--target", "intent", "--json")
    assert code == 0
    content = json.loads(out)
    assert content["hardest"][0]["content"] == "play the jazz <b>now</b>"
    code, out, _ = classay("data", str(intents), "--text", "utterance", "--target", "intent")
    assert "play the jazz <b>now</b>" in out


def test_mixed_columns_work(classay, tmp_path):
    path = tmp_path / "mixed.csv"
    rows = ["colour,height,kind"] + [
        f"{'red' if i % 3 else 'blue'},{'' if i % 5 == 0 else i},{i % 2}" for i in range(80)
    ]
    path.write_text("\n".join(rows))
    code, _, err = classay("data", str(path))
    assert code == 0, err


def test_charts_are_saved(classay, tmp_path):
    code, _, _ = classay("data", "iris", "--charts", str(tmp_path / "charts"), "-q")
    assert code == 0
    saved = {path.name for path in (tmp_path / "charts").iterdir()}
    assert {"complexity.svg", "nearest_classes.svg", "hardest.svg", "hardest.png"} <= saved


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["iriss"], "iris"),
        (["iris", "--distance", "euclid"], "euclidean"),
        (["iris", "--hardest", "0"], "hardest"),
        (["iris", "--text", "nosuch"], "nosuch"),
    ],
)
def test_mistakes_get_a_sentence(classay, arguments, message):
    code, out, err = classay("data", *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_a_class_with_one_row_does_not_stop_the_command(classay, tmp_path):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    rows = [f"{a},{b},{c},{d},{'xyz'[label]}" for (a, b, c, d), label in zip(X, y)]
    path = tmp_path / "lone.csv"
    path.write_text("\n".join(["a,b,c,d,kind", *rows, "5,3,1,0.2,typo"]))
    code, out, err = classay("data", str(path), "--charts", str(tmp_path / "charts"))
    assert code == 0, err
    assert "typo" in out


def test_filled_values_are_said(classay, tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,kind\n" + "\n".join(f"{'' if i % 4 == 0 else i},{i * i % 7},{i % 2}" for i in range(60)))
    _, _, err = classay("data", str(path))
    assert "15 of 60 rows have missing values" in err
