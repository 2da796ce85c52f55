"""`classay classes` as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import classay as library
from classay.cli.commands.classes import split_sizes
from classay.data import text


def scores_of(lead=2.0, n_classes=24, seed=0):
    y = np.arange(3 * n_classes) % n_classes
    return np.random.default_rng(seed).normal(size=(y.size, n_classes)) + lead * np.eye(n_classes)[y], y


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files of scores, in which the command runs, so that it can be written as in the docs."""
    scores, y = scores_of()
    np.savez(tmp_path / "scores.npz", scores=scores, y=y)
    other, _ = scores_of(1.0, seed=1)
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


def test_the_first_command_of_the_issue(classay, folder):
    code, out, err = classay("classes", "scores.npz", "--k", "1000", "10000")
    assert code == 0, err
    assert out.startswith("scores: accuracy")
    for words in ("with all 24 classes", "with 1,000", "with 10,000", "Back-test", "Implied information", "by implied"):
        assert words in out
    assert "scores: 72 rows, 24 classes." in err


def test_the_second_command_of_the_issue(classay, folder):
    code, out, err = classay("classes", "letter.csv", "--learner", "LinearDiscriminantAnalysis()", "--k", "100")
    assert code == 0, err
    assert out.startswith("LinearDiscriminantAnalysis: accuracy")
    assert "with all 12 classes" in out
    assert "letter.csv: 144 rows, 3 columns, 12 classes." in err


@pytest.mark.parametrize(
    "spelling",
    [["--k", "50", "100"], ["--k", "50,100"], ["--k", "50", "--k", "100"], ["--k", "100, 50"], ["-k", "5_0", "1_00"]],
)
def test_sizes_in_every_spelling(classay, folder, spelling):
    code, out, _ = classay("classes", "scores.npz", *spelling, "--json", "-q")
    assert code == 0
    assert json.loads(out)["sources"]["scores"]["extrapolation"]["k"] == [50, 100]


def test_a_file_whose_name_is_a_number_is_a_file(folder):
    (folder / "1000").write_text("")
    assert split_sizes(["scores.npz", "1000", "2000"], ["50"]) == (["scores.npz", "1000"], [50, 2000])


def test_json_is_what_python_gives(classay, folder):
    code, out, err = classay("classes", "scores.npz", "--k", "100", "--json", "--quiet", "--level", "0.9")
    assert (code, err) == (0, "")
    content = json.loads(out)["sources"]["scores"]
    with np.load("scores.npz") as file:
        curve = library.accuracy_curve(library.Ranks.from_scores(file["scores"], file["y"], name="scores"), level=0.9)
    assert content["curve"] == json.loads(json.dumps(curve.to_dict()))
    expected = library.extrapolate(curve, [100])
    assert content["extrapolation"] == json.loads(json.dumps(expected.to_dict()))
    assert content["information"]["implied"]["value"] == library.information(curve, 1 - 0.9).implied.value


def test_sizes_up_to_those_at_hand_are_exact_and_it_is_said(classay, folder):
    code, out, _ = classay("classes", "scores.npz", "--k", "7")
    assert code == 0
    assert "the exact average over all label sets" in " ".join(out.split())
    assert "Above: extrapolated" not in out


@pytest.mark.parametrize("truth", ["labels.txt", "labels.npy"])
def test_scores_beside_their_truth(classay, folder, truth):
    code, out, _ = classay("classes", "scores.npy", "--truth", truth, "--marginal", "--json", "-q")
    assert code == 0
    content, expected = json.loads(out), json.loads(classay("classes", "scores.npz", "--json", "-q")[1])
    assert content["sources"]["scores"]["curve"]["accuracy"] == expected["sources"]["scores"]["curve"]["accuracy"]
    assert content["sources"]["scores"]["curve"]["ranks"]["marginal"] is True


def test_saved_ranks(classay, folder):
    library.Ranks.from_scores(*scores_of(), name="my decoder").save("ranks.classay")
    code, out, err = classay("classes", "ranks.classay", "--k", "50")
    assert code == 0, err
    assert out.startswith("my decoder: accuracy")


def test_several_sources_are_put_in_order(classay, folder):
    code, out, err = classay("classes", "other.npz", "scores.npz", "scores.npz", "--k", "100")
    assert code == 0, err
    assert "Decoders, most information first" in out
    assert out.index("scores (2)") < out.index("other")
    content = json.loads(classay("classes", "other.npz", "scores.npz", "--json", "-q")[1])
    assert [each["name"] for each in content["decoders"]["decoders"]] == ["scores", "other"]


@pytest.mark.slow
def test_several_learners_and_retraining(classay, folder):
    code, out, err = classay(
        "classes", "letter.csv", "-l", "GaussianNB", "-l", "LogisticRegression(C=2)", "--retrain", "-w", "1"
    )
    assert code == 0, err
    assert "LogisticRegression(C=2)" in out
    assert "LogisticRegression is not marginal" in " ".join(out.split())
    assert "Refitted on random label sets" in out


def test_texts_are_embedded(classay, folder, monkeypatch):
    monkeypatch.setattr(
        text, "_load_model", lambda name: lambda texts: [[len(each), each.count("a")] for each in texts]
    )
    rows = [f"{'a' * (1 + i % 4)} row {'b' * (i % 4)} {i},{'pqrs'[i % 4]}" for i in range(80)]
    (folder / "texts.csv").write_text("\n".join(["utterance,intent", *rows]))
    code, out, err = classay("classes", "texts.csv", "--text", "utterance", "--target", "intent")
    assert code == 0, err
    assert "with all 4 classes" in out


@pytest.mark.parametrize("method", ["moments", "implied"])
def test_every_method_can_be_asked_for(classay, folder, method):
    for source in ("scores.npz", "letter.csv"):
        code, out, err = classay("classes", source, "--k", "60", "--method", method)
        assert code == 0, err
        assert f"extrapolated by the method {method}" in " ".join(out.split())


def test_ties(classay, folder):
    scores, y = scores_of()
    np.savez("hard.npz", scores=(scores == scores.max(axis=1, keepdims=True)), y=y)
    accuracy = {}
    for ties in ("random", "wrong", "right"):
        code, out, _ = classay("classes", "hard.npz", "--ties", ties, "--json", "-q")
        assert code == 0
        accuracy[ties] = json.loads(out)["sources"]["hard"]["curve"]["accuracy"][9]
    assert accuracy["wrong"] < accuracy["random"] < accuracy["right"]
    assert "curve is coarse" in classay("classes", "hard.npz")[1]


@pytest.mark.slow
def test_charts_are_saved(classay, folder):
    code, _, err = classay("classes", "scores.npz", "--k", "100", "--charts", "new/charts")
    assert code == 0
    names = {path.name for path in (folder / "new" / "charts").iterdir()}
    assert names == {f"{name}.{suffix}" for name in ("curve", "information") for suffix in ("svg", "png")}
    assert "Saved" in err
    code, _, _ = classay("classes", "scores.npz", "other.npz", "--k", "100", "--charts", "several")
    names = {path.name for path in (folder / "several").iterdir()}
    assert names == {f"{name}.{suffix}" for name in ("curves", "decoders") for suffix in ("svg", "png")}


def save(path, **arrays):
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"y": np.arange(71)}, "72 rows but `y` has 71 labels"),
        ({"y": np.arange(72) + 5}, "numbered 0 to 23"),
        ({"y": np.array(["a"] * 72)}, "numbered 0 to 23"),
        ({"scores": np.full((72, 24), np.nan)}, "NaN"),
        ({"scores": np.full((72, 24), np.inf)}, "inf"),
        ({"scores": np.ones((72, 1))}, "at least 2 classes"),
        ({"scores": np.ones(72)}, "shape (72,)"),
        ({"classes": np.arange(7)}, "`classes` has 7 names"),
        ({"scores": np.empty((0, 24)), "y": np.empty(0, int)}, "no test rows"),
        ({"scores": np.array([["a"] * 24] * 72)}, "not a table of numbers"),
    ],
)
def test_bad_scores_get_a_sentence(classay, folder, arrays, message):
    scores, y = scores_of()
    save("bad.npz", **({"scores": scores, "y": y} | arrays))
    code, out, err = classay("classes", "bad.npz", "--k", "100")
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_a_class_without_rows_and_scores_of_minus_infinity_are_taken(classay, folder):
    scores, y = scores_of()
    scores[0, 5] = -np.inf
    save("some.npz", scores=scores[y != 3], y=y[y != 3])
    code, out, err = classay("classes", "some.npz", "--k", "100")
    assert code == 0, err
    assert "1 of 24 classes have no test rows" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.npz"], "There is no file"),
        (["irsi"], "iris"),
        (["1000"], "nothing to extrapolate from"),
        (["scores.npz", "--k", "many"], "--k is 'many'"),
        (["scores.npz", "--k", "1"], "--k is '1'"),
        (["scores.npz", "--k", "9" * 20], "at most"),
        (["scores.npz", "--k", "1e4"], "--k is '1e4'"),
        (["scores.npz", "--ties", "lucky"], "`ties` is 'lucky'"),
        (["scores.npz", "--k", "50", "--method", "moment"], "Did you mean moments"),
        (["scores.npz", "--level", "95"], "`level` is 95"),
        (["scores.npz", "--learner", "GaussianNB"], "has scores already"),
        (["scores.npz", "--retrain"], "--retrain is for tables"),
        (["scores.npy"], "--truth"),
        (["scores.npy", "--truth", "none.txt"], "There is no file"),
        (["scores.npz", "other.npz", "--truth", "labels.txt"], "for one file"),
        (["letter.csv", "--truth", "labels.txt"], "is a table"),
        (["letter.csv", "--learner", "GausianNB"], "Did you mean GaussianNB"),
        (["letter.csv", "--target", "lettre"], "Did you mean letter"),
        (["letter.csv", "--test-size", "2"], "`test_size` is 2"),
        (["letter.csv", "--learner", "CategoricalNB"], "could not be fitted"),
        (["letter.csv", "--learner", "os:system"], "--allow-import"),
        ([], "Missing argument"),
    ],
)
def test_mistakes_get_a_sentence_and_exit_code_2(classay, folder, arguments, message):
    code, out, err = classay("classes", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_bad_files(classay, folder):
    save("empty.npz", a=np.ones(3))
    np.savez("objects.npz", scores=np.array([{}, 1], dtype=object), y=np.zeros(2), allow_pickle=True)
    (folder / "torn.npz").write_bytes((folder / "scores.npz").read_bytes()[:500])
    (folder / "torn.npy").write_bytes((folder / "scores.npy").read_bytes()[:200])
    (folder / "text.npy").write_text("no array")
    (folder / "torn.classay").write_text("no record")
    for name, message in {
        "empty.npz": "expected `scores` (rows, classes) and `y`",
        "objects.npz": "Python objects",
        "torn.npz": "cannot be read",
        "torn.npy": "cannot be read",
        "text.npy": "Python objects",
        "torn.classay": "torn.classay",
    }.items():
        code, out, err = classay("classes", name, *(["--truth", "labels.txt"] if name.endswith("npy") else []))
        assert (code, out) == (2, ""), name
        assert message in err, name
        assert "Traceback" not in err


def test_an_npz_of_rows_and_labels_is_a_table(classay, folder):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 6
    save("rows.npz", X=rng.normal(size=(60, 3)) + y[:, None], y=y)
    code, out, err = classay("classes", "rows.npz", "--learner", "GaussianNB")
    assert code == 0, err
    assert out.startswith("GaussianNB: accuracy")


def test_more_questions_about_label_sets(classay, folder):
    words = ["classes", "scores.npz", "--k", "100", "--top", "3", "--keep", "--at-least", "0.5"]
    code, out, err = classay(*words)
    assert code == 0, err
    out = " ".join(out.split())
    for sentence in ("among the first 3", "classes with accuracy 0.5 or more", "76 more like them"):
        assert sentence in out
    content = json.loads(classay(*words, "--json", "-q")[1])["sources"]["scores"]
    assert set(content["top"]) == {"100"}
    assert content["largest"]["0.5"]["value"] > 2
    assert content["nested"][0]["k"] == 100


@pytest.mark.slow
def test_two_sources_may_cross(classay, folder):
    code, out, err = classay(
        "classes", "scores.npz", "scores.npz", "--crossing", "--prior", "zipf", "--charts", "drawn"
    )
    assert code == 0, err
    assert "Beyond 24 classes it is extrapolated" in " ".join(out.split())
    assert "weighted by the given prior" in " ".join(out.split())
    assert (folder / "drawn" / "crossing 1.svg").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--crossing"], "compares sources"),
        (["--top", "5"], "--k 1000"),
        (["--at-least", "2"], "between 0 and 1"),
        (["--prior", "zip"], "zipf"),
        (["--k", "100", "--keep", "--method", "line"], "method"),
    ],
)
def test_questions_that_cannot_be_decided(classay, folder, words, message):
    code, _, err = classay("classes", "scores.npz", *words)
    assert code == 2
    assert message in err
