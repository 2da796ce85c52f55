"""`classay classes` as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from class_worlds import led_scores

import classay as library
from classay.data import text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files of scores, in which the command runs, so that it can be written as in the docs."""
    scores, y = led_scores(24, 3)
    np.savez(tmp_path / "scores.npz", scores=scores, y=y)
    other, _ = led_scores(24, 3, 1.0, seed=1)
    names = np.array([f"class {c}" for c in range(24)])
    np.savez(tmp_path / "other.npz", scores=other.astype(np.float32), y=names[y], classes=names)
    np.save(tmp_path / "scores.npy", scores)
    (tmp_path / "labels.txt").write_text("\n".join(map(str, y)))
    np.save(tmp_path / "labels.npy", y)
    rng = np.random.default_rng(0)
    letters = np.repeat(list("ABCDEFGHIJKL"), 12)
    table = pd.DataFrame(rng.normal(size=(144, 3)) + 2 * rng.normal(size=(12, 3)).repeat(12, axis=0))
    table.add_prefix("x").assign(letter=letters).to_csv(tmp_path / "letter.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_of_scores(classay, folder):
    code, out, err = classay("classes", "scores.npz", "--k", "1000", "10000")
    assert code == 0, err
    assert out.startswith("scores: accuracy")
    for words in ("with all 24 classes", "with 1,000", "with 10,000", "Back-test", "Implied information", "by implied"):
        assert words in out
    assert "scores: 72 rows, 24 classes." in err


def test_a_learner_on_a_table(classay, folder):
    code, out, err = classay("classes", "letter.csv", "--learner", "LinearDiscriminantAnalysis()", "--k", "100")
    assert code == 0, err
    assert out.startswith("LinearDiscriminantAnalysis: accuracy")
    assert "letter.csv: 144 rows, 3 columns, 12 classes." in err


@pytest.mark.parametrize(
    "spelling",
    [["--k", "50", "100"], ["--k", "50,100"], ["--k", "50", "--k", "100"], ["--k", "100, 50"], ["-k", "5_0", "1_00"]],
)
def test_sizes_in_every_spelling(measured, folder, spelling):
    assert measured("classes", "scores.npz", *spelling)["sources"]["scores"]["extrapolation"]["k"] == [50, 100]


def test_a_file_whose_name_is_a_number_is_a_file(refused, folder):
    (folder / "1000").write_text("")
    refused("'1000'", "classes", "scores.npz", "--k", "50", "1000", "2000")


def test_json_is_what_python_gives(measured, folder):
    content = measured("classes", "scores.npz", "--k", "100", "--level", "0.9")["sources"]["scores"]
    with np.load("scores.npz") as file:
        curve = library.accuracy_curve(library.Ranks.from_scores(file["scores"], file["y"], name="scores"), level=0.9)
    assert content["curve"] == json.loads(json.dumps(curve.to_dict()))
    expected = library.extrapolate(curve, [100])
    assert content["extrapolation"] == json.loads(json.dumps(expected.to_dict()))
    assert content["information"]["implied"]["value"] == library.information(curve, 1 - 0.9).implied.value


def test_sizes_up_to_those_at_hand_are_exact(shown, folder):
    out = shown("classes", "scores.npz", "--k", "7")
    assert "the exact average over all label sets" in out
    assert "Above: extrapolated" not in out


@pytest.mark.parametrize("truth", ["labels.txt", "labels.npy"])
def test_scores_beside_their_truth(measured, folder, truth):
    content = measured("classes", "scores.npy", "--truth", truth, "--marginal")["sources"]["scores"]["curve"]
    expected = measured("classes", "scores.npz")["sources"]["scores"]["curve"]
    assert content["accuracy"] == expected["accuracy"]
    assert content["ranks"]["marginal"] is True


def test_several_sources_are_put_in_order(shown, measured, folder):
    library.Ranks.from_scores(*led_scores(24, 3), name="my decoder").save("ranks.classay")
    out = shown("classes", "other.npz", "scores.npz", "scores.npz", "ranks.classay", "--k", "100")
    assert "Decoders, most information first" in out
    assert out.index("scores (2)") < out.index("other")
    assert "my decoder: accuracy" in out
    content = measured("classes", "other.npz", "scores.npz")
    assert [decoder["name"] for decoder in content["decoders"]["decoders"]] == ["scores", "other"]


@pytest.mark.slow
def test_several_learners_and_retraining(shown, folder):
    out = shown("classes", "letter.csv", "-l", "GaussianNB", "-l", "LogisticRegression(C=2)", "--retrain", "-w", "1")
    for words in ("LogisticRegression(C=2)", "LogisticRegression is not marginal", "Refitted on random label sets"):
        assert words in out


def test_texts_are_embedded(shown, folder, monkeypatch):
    monkeypatch.setattr(text, "_load_model", lambda _: lambda texts: [[len(row), row.count("a")] for row in texts])
    rows = [f"{'a' * (1 + i % 4)} row {'b' * (i % 4)} {i},{'pqrs'[i % 4]}" for i in range(80)]
    (folder / "texts.csv").write_text("\n".join(["utterance,intent", *rows]))
    assert "with all 4 classes" in shown("classes", "texts.csv", "--text", "utterance", "--target", "intent")


def test_a_method_can_be_asked_for(shown, folder):
    for source in ("scores.npz", "letter.csv"):
        out = shown("classes", source, "--k", "60", "--method", "moments")
        assert "extrapolated by the method moments" in out


def test_ties(shown, measured, folder):
    scores, y = led_scores(24, 3)
    np.savez("hard.npz", scores=(scores == scores.max(axis=1, keepdims=True)), y=y)
    curves = {
        ties: measured("classes", "hard.npz", "--ties", ties)["sources"]["hard"]["curve"]["accuracy"][9]
        for ties in ("random", "wrong", "right")
    }
    assert curves["wrong"] < curves["random"] < curves["right"]
    assert "curve is coarse" in shown("classes", "hard.npz")


@pytest.mark.slow
def test_charts_are_saved(shown, folder):
    shown("classes", "scores.npz", "--k", "100", "--charts", "new/charts")
    names = {path.name for path in (folder / "new" / "charts").iterdir()}
    assert names == {f"{name}.{suffix}" for name in ("curve", "information") for suffix in ("svg", "png")}
    shown("classes", "scores.npz", "other.npz", "--k", "100", "--charts", "several")
    names = {path.name for path in (folder / "several").iterdir()}
    assert names == {f"{name}.{suffix}" for name in ("curves", "decoders") for suffix in ("svg", "png")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.npz"], "There is no file"),
        (["irsi"], "iris"),
        (["scores.npz", "--k", "many"], "--k is 'many'"),
        (["scores.npz", "--k", "1"], "--k is '1'"),
        (["scores.npz", "--k", "9" * 20], "at most"),
        (["scores.npz", "--ties", "lucky"], "`ties` is 'lucky'"),
        (["scores.npz", "--k", "50", "--method", "moment"], "Did you mean moments"),
        (["scores.npz", "--level", "95"], "`level` is 95"),
        (["scores.npz", "--learner", "GaussianNB"], "has scores already"),
        (["scores.npz", "--retrain"], "--retrain is for tables"),
        (["scores.npy"], "--truth"),
        (["scores.npz", "other.npz", "--truth", "labels.txt"], "for one file"),
        (["letter.csv", "--truth", "labels.txt"], "is a table"),
        (["letter.csv", "--learner", "GausianNB"], "Did you mean GaussianNB"),
        (["letter.csv", "--target", "lettre"], "Did you mean letter"),
        (["letter.csv", "--test-size", "2"], "`test_size` is 2"),
        (["letter.csv", "--learner", "CategoricalNB"], "could not be fitted"),
        (["scores.npz", "--top", "5"], "--k 1000"),
        (["scores.npz", "--at-least", "2"], "between 0 and 1"),
        (["scores.npz", "--prior", "zip"], "zipf"),
        ([], "Missing argument"),
    ],
)
def test_mistakes_get_a_sentence(refused, folder, arguments, message):
    refused(message, "classes", *arguments)


def test_bad_files(refused, folder):
    np.savez("empty.npz", a=np.ones(3))
    np.savez("objects.npz", scores=np.array([{}, 1], dtype=object), y=np.zeros(2), allow_pickle=True)
    (folder / "torn.npz").write_bytes((folder / "scores.npz").read_bytes()[:500])
    (folder / "torn.npy").write_bytes((folder / "scores.npy").read_bytes()[:200])
    (folder / "torn.classay").write_text("no record")
    for name, message in {
        "empty.npz": "expected `scores` (rows, classes) and `y`",
        "objects.npz": "Python objects",
        "torn.npz": "cannot be read",
        "torn.npy": "cannot be read",
        "torn.classay": "torn.classay",
    }.items():
        refused(message, "classes", name, *(["--truth", "labels.txt"] if name.endswith("npy") else []))


def test_an_npz_of_rows_and_labels_is_a_table(shown, folder):
    y = np.arange(60) % 6
    np.savez("rows.npz", X=np.random.default_rng(0).normal(size=(60, 3)) + y[:, None], y=y)
    assert shown("classes", "rows.npz", "--learner", "GaussianNB").startswith("GaussianNB: accuracy")


def test_more_questions_about_label_sets(shown, measured, folder):
    words = ["classes", "scores.npz", "--k", "100", "--top", "3", "--keep", "--at-least", "0.5"]
    out = shown(*words)
    for sentence in ("among the first 3", "classes with accuracy 0.5 or more", "76 more like them"):
        assert sentence in out
    content = measured(*words)["sources"]["scores"]
    assert set(content["top"]) == {"100"}
    assert content["largest"]["0.5"]["value"] > 2
    assert content["nested"][0]["k"] == 100
