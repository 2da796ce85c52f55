"""`classay identify` as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import classay as library


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    stimuli = rng.normal(size=(60, 4))
    responses = stimuli @ rng.normal(size=(4, 6)) + rng.normal(size=(60, 6))
    paths = tmp_path / "stimuli.npy", tmp_path / "responses.npy"
    for path, table in zip(paths, (stimuli, responses)):
        np.save(path, table)
        pd.DataFrame(table).add_prefix("x").to_csv(path.with_suffix(".csv"), index=False)
    return [str(path) for path in paths]


def test_words_and_a_table_are_printed(classay, files):
    code, out, err = classay("identify", *files)
    assert code == 0, err
    shown = ("Among 12 stimuli, ridge regression on 4 columns", "Implied information", "Picking the right stimulus")
    for words in shown:
        assert words in out
    assert "stimuli.npy: 60 × 4. responses.npy: 60 × 6." in err


def test_json_is_what_python_gives(classay, files):
    code, out, _ = classay("identify", *files, "--json", "--quiet", "--seed", "3")
    assert code == 0
    identification = library.identify(*(np.load(path) for path in files), random_state=3)
    assert json.loads(out)["identification"] == json.loads(json.dumps(identification.to_dict()))


def test_tables_split_and_elastic_net(classay, files):
    tables = [path.replace(".npy", ".csv") for path in files]
    net = "MultiOutputRegressor(estimator=ElasticNetCV(cv=3))"
    code, out, err = classay("identify", *tables, "--model", net, "--test-size", "20")
    assert code == 0, err
    assert "Among 20 stimuli, MultiOutputRegressor" in out
    code, out, _ = classay("identify", *files, "--test-size", "0.5", "--level", "0.9")
    assert "Among 30 stimuli" in out
    assert "level 0.9" in out


def test_more_responses_than_rows(classay, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", x := rng.normal(size=(30, 2)))
    np.save(tmp_path / "y.npy", x @ rng.normal(size=(2, 200)) + rng.normal(size=(30, 200)))
    code, out, err = classay("identify", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"))
    assert code == 0, err
    assert "Fit over 200 responses" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "rigde"], "Did you mean ridge"),
        (["--folds", "40"], "at most 30 folds"),
        (["--folds", "1"], "at least 2"),
        (["--test-size", "59"], "59 of 60"),
        (["--test-size", "-1"], "between 0 and 1"),
        (["--level", "95"], "`level` is 95"),
        (["--seed", "-1"], "random_state"),
    ],
)
def test_mistakes_get_a_sentence_and_exit_code_2(classay, files, arguments, message):
    code, out, err = classay("identify", *files, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def saved(folder, name, content, **options):
    path = folder / name
    if isinstance(content, (str, bytes)):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    else:
        np.save(path, content, **options)
    return str(path)


def test_bad_files(classay, files, tmp_path):
    good = files[0]
    cases = [
        (str(tmp_path / "none.npy"), "There is no file"),
        (saved(tmp_path, "short.npy", np.ones((59, 2))), "60 rows but `responses` has 59; they must match"),
        (saved(tmp_path, "gap.npy", np.where(np.arange(60) == 7, np.nan, np.arange(60.0))), "NaN (missing) in row 7"),
        (saved(tmp_path, "same.npy", np.ones(60)), "All 60 rows of `responses` are the same"),
        (saved(tmp_path, "words.npy", np.array(["a"] * 60)), "expected real numbers"),
        (saved(tmp_path, "deep.npy", np.ones((60, 2, 2))), "Flatten each row"),
        (saved(tmp_path, "objects.npy", np.array([{}] * 60), allow_pickle=True), "Python objects"),
        (saved(tmp_path, "torn.npy", b"\x93NUMPY\x01\x00"), "cannot be read"),
        (saved(tmp_path, "text.csv", "a\n" + "x\n" * 60), "not numbers"),
        (saved(tmp_path, "what.xyz", "a"), "unknown type"),
    ]
    for path, message in cases:
        code, out, err = classay("identify", good, path)
        assert (code, out) == (2, ""), path
        assert message in err, path
        assert "Traceback" not in err
    np.savez(tmp_path / "several.npz", a=np.ones(3), b=np.ones(3))
    assert "several arrays" in classay("identify", good, str(tmp_path / "several.npz"))[2]


@pytest.mark.slow
def test_more_candidates_groups_and_ensembles(classay, files, tmp_path):
    (tmp_path / "sessions.txt").write_text("\n".join(str(row // 6) for row in range(60)))
    words = ["identify", *files, "--k", "100", "1000", "--groups", str(tmp_path / "sessions.txt"), "--ensembles", "-q"]
    code, out, err = classay(*words)
    assert code == 0, err
    text = " ".join(out.split())
    assert "by the number of responses" in text
    assert "1,000" in text
    content = json.loads(classay(*words, "--json")[1])
    assert content["extrapolation"]["k"] == [100, 1000]
    assert content["ensembles"]["sizes"]


def test_a_regressor_by_its_name(classay, files):
    code, out, err = classay("identify", *files, "--model", "Ridge(alpha=1.0)", "--blocked", "-q")
    assert code == 0, err
    assert "Ridge on" in " ".join(out.split())
    code, _, err = classay("identify", *files, "--model", "GaussianNB")
    assert code == 2
    assert "is a classifier; expected a regressor" in err
