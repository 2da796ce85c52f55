"""`classay data` as a user runs it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import classay as library
from classay.data import text
from classay.data.model.error_slices import slices
from classay.estimators.encoder import numbers
from classay.learner.records.prediction_file import read_predictions
from classay.tables.read import read_table


@pytest.fixture
def intents(tmp_path):
    path = tmp_path / "intents.csv"
    rows = ["utterance,intent"]
    rows += [f"{'play' if i % 2 else 'pay'} number {i},{'music' if i % 2 else 'bank'}" for i in range(60)]
    rows.append("play the jazz <b>now</b>,bank")
    path.write_text("\n".join(rows))
    return path


def test_tables_are_printed(shown):
    out = shown("data", "iris")
    for word in ("versicolor", "baseline accuracy", "Hardest rows", "clear enough to be listed", "petal"):
        assert word in out


@pytest.mark.parametrize("paper", [False, True])
def test_json_has_every_row(measured, paper):
    table = read_table("iris")
    plain = {"distance": "mahalanobis", "cross_fit": False, "temperature": 1} if paper else {}
    expected = library.complexity(table.X, table.y, **plain)
    content = measured("data", "iris", "-n", "3", *(["--paper"] if paper else []))
    np.testing.assert_allclose(content["complexity"]["values"], expected.values)
    assert [row["row"] for row in content["hardest"]] == expected.hardest(3)["row"].tolist()
    assert content["complexity"]["baseline_accuracy"]["value"] == expected.baseline_accuracy.value


def test_texts_are_embedded_and_shown(shown, measured, intents, monkeypatch):
    def load(name):
        return lambda texts: np.array([[row.startswith("play"), len(row) / 50, row.count("a")] for row in texts], float)

    monkeypatch.setattr(text, "_load_model", load)
    arguments = ["data", intents, "--text", "utterance", "--target", "intent"]
    assert measured(*arguments)["hardest"][0]["content"] == "play the jazz <b>now</b>"
    assert "play the jazz <b>now</b>" in shown(*arguments)


@pytest.mark.slow
def test_charts_are_saved_also_of_a_class_with_one_row(shown, tmp_path):
    X, y = load_iris(return_X_y=True)
    rows = [f"{a},{b},{c},{d},{'xyz'[label]}" for (a, b, c, d), label in zip(X, y)]
    (tmp_path / "lone.csv").write_text("\n".join(["a,b,c,d,kind", *rows, "5,3,1,0.2,typo"]))
    assert "typo" in shown("data", tmp_path / "lone.csv", "--charts", tmp_path / "charts")
    saved = {path.name for path in (tmp_path / "charts").iterdir()}
    assert {"complexity.svg", "nearest_classes.svg", "hardest.svg", "hardest.png"} <= saved


def test_filled_values_are_reported(classay, tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,kind\n" + "\n".join(f"{'' if i % 4 == 0 else i},{i * i % 7},{i % 2}" for i in range(60)))
    _, _, err = classay("data", path)
    assert "15 of 60 rows have missing values" in err


@pytest.fixture
def split(tmp_path):
    """Train and test files of two overlapping clouds with a category, and a model's predictions."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    frame = pd.DataFrame(rng.normal(size=(900, 3)) + 2 * np.eye(3)[y], columns=["u", "v", "w"])
    frame["job"] = rng.choice(["clerk", "nurse", "pilot"], 900)
    frame["kind"] = np.array(["a", "b", "c"])[y]
    frame.iloc[895:, :3] += 30  # unlike anything known
    wrong = rng.random(300) < np.where(frame["job"][600:] == "pilot", 0.6, 0.05)
    predicted = np.where(wrong, "a", frame["kind"][600:]).astype(str)
    sure = rng.uniform(0.6, 0.9, 300)
    shares = np.repeat((1 - sure)[:, None] / 2, 3, axis=1)
    shares[np.arange(300), np.searchsorted(["a", "b", "c"], predicted)] = sure
    frame[:600].to_csv(tmp_path / "train.csv", index=False)
    frame[600:].to_csv(tmp_path / "test.csv", index=False)
    table = pd.DataFrame(shares, columns=["p_a", "p_b", "p_c"]).assign(predicted=predicted, row=range(300))
    table.to_csv(tmp_path / "predictions.csv", index=False)
    table.to_parquet(tmp_path / "predictions.parquet")
    np.savez(tmp_path / "predictions.npz", predictions=predicted, probabilities=shares)
    return tmp_path, frame, predicted


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_one_workflow(measured, split, kind):
    folder, frame, predicted = split
    arguments = ["data", folder / "train.csv", "--test", folder / "test.csv", "--distance", "gaussian"]
    content = measured(*arguments, "--predictions", folder / f"predictions.{kind}")
    versus = content["versus_baseline"]
    assert versus["model"]["accuracy"]["value"] == pytest.approx((predicted == frame["kind"][600:]).mean())
    assert versus["rows"] == 300
    assert versus["verdict"] in ("yes", "no", "not shown")
    assert content["slices"]["slices"][0]["condition"].startswith("job = pilot")
    assert content["known_slices"]["slices"][0]["condition"].startswith("job = pilot")
    assert {"complexity", "confidence", "job", "u"} <= {row["column"] for row in content["slices_by_column"]}
    assert {295, 296, 297, 298, 299} <= set(content["unlike_known"]["flagged"])
    assert content["unlike_known"]["false_alarms"] == pytest.approx(0.05)
    assert content["complexity_against"]["auc_confidence"]["value"] is not None
    assert not {row["row"] for row in content["hardest"]} & {row["row"] for row in content["suspects"]}
    # Geometry from the training rows alone.
    X = numbers(frame.drop(columns="kind"))
    c = library.complexity(X[:600], frame["kind"][:600], "gaussian", X[600:], frame["kind"][600:])
    np.testing.assert_allclose(content["complexity"]["values"], c.values, rtol=1e-6)


def test_one_workflow_in_words(shown, split):
    folder, _, _ = split
    arguments = ["data", folder / "train.csv", "--test", folder / "test.csv"]
    out = shown(*arguments, "--predictions", folder / "predictions.csv")
    for words in ("Does the model beat the geometry?", "largest class", "Complexity and errors", "false alarms"):
        assert words in out
    for words in ("Rows unlike anything known", "Each column alone", "Labels:", "Hardest rows", "Confused most often"):
        assert words in out


@pytest.mark.slow
def test_the_page_is_written_with_its_verdict_on_the_terminal(classay, shown, refused, split):
    folder, frame, predicted = split
    page, figures = folder / "data.html", folder / "data.json"
    arguments = ["data", folder / "train.csv", "--test", folder / "test.csv", "--predictions"]
    arguments += [folder / "predictions.csv", "-o", page, "-o", figures]
    code, out, err = classay(*arguments)
    assert code == 0, err
    for words in ("the geometry", "job = pilot", "D205"):
        assert words in out
    assert f"Saved {page}" in err
    report = library.load(page)
    assert report == library.load(figures)
    assert report.figure("the model", "accuracy").value == pytest.approx((predicted == frame["kind"][600:]).mean())
    assert "--force" in report.settings["command"]
    # It is not overwritten unless asked, and nothing is left beside it.
    refused("already exists", *arguments)
    shown(*arguments, "--force", "-q")
    assert not list(folder.glob(".classay-*"))


@pytest.mark.slow
def test_leaks_are_found_without_a_page(shown, measured, split):
    folder, _, _ = split
    table = pd.read_csv(folder / "train.csv")
    table = table.assign(code=table["kind"].str.upper())[["code", "u", "v", "w", "kind"]]
    table.to_csv(folder / "leak.csv", index=False)
    assert "warning: D205" in shown("data", folder / "leak.csv", "--checks")
    findings = measured("data", folder / "leak.csv", "--checks")["findings"]
    assert (findings[0]["code"], findings[0]["level"]) == ("D205", "warning")


@pytest.mark.parametrize("test", [True, False])
def test_a_learner_is_fitted_or_cross_validated(measured, split, test):
    folder, _, _ = split
    arguments = ["--test", folder / "test.csv"] if test else []
    content = measured("data", folder / "train.csv", *arguments, "--learner", "GaussianNB")
    assert content["versus_baseline"]["rows"] == (300 if test else 600)
    assert content["versus_baseline"]["model"]["accuracy"]["value"] > 0.7
    assert "learner" in content["wrong_labels"]["used"]
    assert (content["unlike_known"] is not None) == test


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["iriss"], "iris"),
        (["iris", "--distance", "euclid"], "euclidean"),
        (["iris", "--hardest", "0"], "hardest"),
        (["iris", "--text", "nosuch"], "nosuch"),
        (["iris", "-o", "page.pdf"], ".html, .json, .md"),
    ],
)
def test_mistakes_get_a_sentence(refused, arguments, message):
    refused(message, "data", *arguments)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ("predicted\na\nb\n", "2 predictions but there are 600 rows"),
        ("x,y\n1,2\n", "expected one named `predicted`"),
        ("predicted\n" + "a\n" * 599 + '""\n', "missing"),
        ("predicted\n" + "a\n" * 599 + "A\n", "1 prediction of 600 is not a class of the data: A; expected a, b, c"),
        ("p_a,p_b\n" + "0.5,0.5\n" * 600, "has no column p_c"),
        ("p_a,p_b,p_c\n" + "50,50,0\n" * 600, "not scores or percent"),
        ("predicted,Predicted\n" + "a,b\n" * 600, "differ by upper case alone"),
        ("predicted,predicted\n" + "a,b\n" * 600, "same name"),
        ("predicted,p_a,p_b\n" + "a,0.5,0.5\n" * 600, "has the columns p_a, p_b but not p_c"),
        ("predicted,confidence\n" + "a,90 %\n" * 600, "column 'confidence' has '90 %'; expected numbers"),
        ("predicted\n", "no rows"),
        ("", "is empty"),
    ],
)
def test_prediction_files_that_do_not_fit(refused, split, made, words):
    folder, _, _ = split
    (folder / "odd.csv").write_text(made)
    refused(words, "data", folder / "train.csv", "--predictions", folder / "odd.csv", "--quiet")


@pytest.mark.parametrize("name", ["predictions", "probabilities", "confidence"])
def test_one_value_in_an_npz_file_is_refused(refused, split, name):
    folder, _, predicted = split
    np.savez(folder / "odd.npz", **{"predictions": predicted, name: np.array(0.5 if name == "confidence" else "a")})
    files = ["--test", folder / "test.csv", "--predictions", folder / "odd.npz"]
    refused(f"`{name}` is a single value; expected one for each row", "data", folder / "train.csv", *files)


@pytest.fixture
def with_gaps(split):
    """Two rows of the test file have no label."""
    folder, _, predicted = split
    test = pd.read_csv(folder / "test.csv")
    test.loc[[3, 7], "kind"] = None
    test.to_csv(folder / "test.csv", index=False)
    return ["data", folder / "train.csv", "--test", folder / "test.csv"], folder, predicted


def test_rows_of_an_unknown_class_are_found(measured, split):
    """Rows outside the scope of the training rows have a label that these do not have."""
    folder, _, _ = split
    test = pd.read_csv(folder / "test.csv")
    test.loc[295:, "kind"] = "other"
    test.to_csv(folder / "test.csv", index=False)
    content = measured("data", folder / "train.csv", "--test", folder / "test.csv")
    assert {295, 296, 297, 298, 299} <= set(content["unlike_known"]["flagged"])
    assert any("labels that are not in `y` (other)" in note for note in content["complexity"]["notes"])
    assert 295 not in [row["row"] for row in content["hardest"]]


def test_rows_are_numbered_as_in_the_file_where_some_were_dropped(shown, measured, with_gaps):
    arguments, _, _ = with_gaps
    table = shown(*arguments).split("Most unlike the known rows")[1].split("Classes, hardest first")[0]
    assert all(f" {row} " in table for row in range(295, 300))
    content = measured(*arguments)
    flagged = np.array(content["row_numbers"])[content["unlike_known"]["flagged"]]
    assert {295, 296, 297, 298, 299} <= set(flagged.tolist())


@pytest.mark.parametrize("rows", [297, 298, 299, 300, 301])
def test_predictions_for_all_rows_or_for_those_that_were_kept(measured, refused, with_gaps, rows):
    arguments, folder, predicted = with_gaps
    pd.DataFrame({"predicted": np.resize(predicted, rows)}).to_csv(folder / "some.csv", index=False)
    arguments = [*arguments, "--predictions", folder / "some.csv"]
    if rows in (298, 300):
        assert measured(*arguments)
    else:
        refused(f"{rows} predictions but there are 298 rows, of 300 in the file", *arguments)


def test_probabilities_of_one_of_two_classes_are_not_taken_for_confidence(classay, tmp_path):
    """A column `probability` is that of a class if a threshold of it separates the predictions."""
    rng = np.random.default_rng(0)
    classes, shares = np.array(["no", "yes"]), rng.random(200)
    labels = classes[(rng.random(200) < shares).astype(int)]
    predicted = classes[(shares > 0.3).astype(int)]  # a threshold of the user's own
    path = tmp_path / "predictions.csv"
    for values, first in ((shares, 1 - shares), (1 - shares, 1 - shares)):
        pd.DataFrame({"predicted": predicted, "probability": values}).to_csv(path, index=False)
        said, of_classes, _ = read_predictions(str(path), classes, labels.size)
        np.testing.assert_allclose(of_classes[:, 0], first)
        assert said.tolist() == predicted.tolist()
    sure = rng.uniform(0.5, 1, 200)
    pd.DataFrame({"predicted": predicted, "confidence": sure}).to_csv(path, index=False)
    _, of_classes, confidence = read_predictions(str(path), classes, labels.size)
    assert of_classes is None
    np.testing.assert_allclose(confidence, sure)


def test_classes_that_differ_by_upper_case_have_their_own_columns(tmp_path):
    path = tmp_path / "predictions.csv"
    pd.DataFrame({"A": [0.9, 0.2], "a": [0.1, 0.8]}).to_csv(path, index=False)
    _, shares, _ = read_predictions(str(path), np.array(["A", "a"]), 2)
    assert shares.tolist() == [[0.9, 0.1], [0.2, 0.8]]


# Slices.


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
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
    path = tmp_path_factory.mktemp("data") / "logs.csv"
    table.to_csv(path, index=False)
    return path


QUOTED = ["--wrong", "label != `my guess`", "--columns", "age,job"]


def test_a_table_is_printed_and_what_is_not_searched_is_reported(classay, shown, logs):
    code, out, err = classay("data", logs, "--wrong", "label != `my guess`", "--confidence", "p_max")
    assert code == 0
    assert "wrong = True" in out  # the file has the outcome in another column, which nobody dropped
    assert "Not searched because --wrong uses them: label, my guess." in err
    out = shown("data", logs, *QUOTED, "--confidence", "p_max")
    for words in ("age 30–45 and job = student", "p_max ≤ 0.", "slices were tested"):
        assert words in out


def test_slices_are_what_python_gives(measured, logs):
    content = measured("data", logs, *QUOTED)
    table = pd.read_csv(logs)
    expected = slices(table[["age", "job"]], table.wrong)
    assert content["slices"] == expected.to_dict()["slices"]
    assert content["data"]["columns"] == ["age", "job"]
    assert content["n_errors"] == int(table.wrong.sum())


def test_a_confidence_of_which_wrong_is_made_is_searched(classay, logs):
    code, out, err = classay("data", logs, "--wrong", "p_max < 0.1 and wrong", "--confidence", "p_max")
    assert code == 0
    assert "1. p_max ≤ 0." in out
    assert "--wrong uses them: wrong." in err


def test_rows_without_a_value_are_dropped(classay, logs, tmp_path):
    table = pd.read_csv(logs)
    table["label"] = table["label"].where(table.index % 10 != 0)
    table.to_csv(tmp_path / "some.csv", index=False)
    code, _, err = classay("data", tmp_path / "some.csv", *QUOTED)
    assert code == 0
    assert "is missing: 300 of 3000 rows" in err


def test_nothing_is_found(shown, logs):
    assert "none of 3000 rows is wrong" in shown("data", logs, "--wrong", "age > 500", "--columns", "job")
    assert "No slice stands out" in shown("data", logs, "--wrong", "label == 'a'", "--columns", "age,job")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lable != age"], "Did you mean label"),
        (["label"], "expected True or False"),
        (["__import__('os').getcwd()"], "a call"),
        (["age < 500"], "all 3000 rows"),
        (["wrong", "--columns", "agee"], "Did you mean age"),
        (["wrong", "--columns", ","], "`columns` is empty"),
        (["wrong", "--confidence", "pmax"], "Did you mean p_max"),
        (["wrong", "--min-size", "5000"], "min_size"),
        (["wrong", "--q", "2"], "`q` is 2.0"),
    ],
)
def test_mistakes_in_searches(refused, logs, arguments, message):
    refused(message, "data", logs, "--wrong", *arguments)
