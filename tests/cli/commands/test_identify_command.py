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
    for words in ("Among 12 stimuli, ridge regression on 4 columns", "Implied information", "Picking the right stim"):
        assert words in out
    assert "stimuli.npy: 60 × 4. responses.npy: 60 × 6." in err


def test_json_is_what_python_gives(measured, files):
    identification = library.identify(*(np.load(path) for path in files), random_state=3)
    content = measured("identify", *files, "--seed", "3")
    assert content["identification"] == json.loads(json.dumps(identification.to_dict()))


def test_tables_splits_and_regressors(shown, files):
    tables = [path.replace(".npy", ".csv") for path in files]
    net = "MultiOutputRegressor(estimator=ElasticNetCV(cv=3))"
    assert "Among 20 stimuli, MultiOutputRegressor" in shown("identify", *tables, "--model", net, "--test-size", "20")
    out = shown("identify", *files, "--test-size", "0.5", "--level", "0.9")
    assert "Among 30 stimuli" in out
    assert "level 0.9" in out
    assert "Ridge on" in shown("identify", *files, "--model", "Ridge(alpha=1.0)", "--blocked")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "rigde"], "Did you mean ridge"),
        (["--folds", "40"], "fewer folds, at most 30"),
        (["--model", "GaussianNB"], "is a classifier; expected a regressor"),
        (["--test-size", "59"], "59 of 60"),
        (["--level", "95"], "`level` is 95"),
    ],
)
def test_mistakes_get_a_sentence(refused, files, arguments, message):
    refused(message, "identify", *files, *arguments)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.npy", None, "There is no file"),
        ("words.npy", np.array(["a"] * 60), "not a table of numbers"),
        ("objects.npy", np.array([{}] * 60), "Python objects"),
        ("torn.npy", "\x93NUMPY", "Python objects"),
        ("text.csv", "a\n" + "x\n" * 60, "not numbers"),
        ("what.xyz", "a", "unknown type"),
        ("several.npz", {"a": np.ones(3), "b": np.ones(3)}, "several arrays"),
    ],
)
def test_bad_files(refused, files, tmp_path, name, content, message):
    if isinstance(content, str):
        (tmp_path / name).write_text(content)
    elif isinstance(content, dict):
        np.savez(tmp_path / name, **content)
    elif content is not None:
        np.save(tmp_path / name, content)
    refused(message, "identify", files[0], tmp_path / name)


@pytest.mark.slow
def test_more_candidates_and_groups(shown, measured, files, tmp_path):
    (tmp_path / "sessions.txt").write_text("\n".join(str(row // 6) for row in range(60)))
    words = ["identify", *files, "--k", "100", "1000", "--groups", tmp_path / "sessions.txt"]
    assert "1,000" in shown(*words)
    assert measured(*words)["extrapolation"]["k"] == [100, 1000]
