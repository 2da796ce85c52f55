"""`classay runs` as a user runs it."""

from __future__ import annotations

import os
import time

import pytest

QUICK = ["--samples", "6", "--size", "0.3", "-r", "2", "--workers", "1", "--quiet"]


@pytest.fixture
def runs(classay, tmp_path):
    """A store with a sweep, a record, and what a killed process leaves."""
    store = tmp_path / "runs"
    tree = ["-l", "DecisionTreeClassifier", "-p", "max_depth", "-v", "0:3"]
    assert classay("sweep", "iris", *tree, *QUICK, "--store", str(store))[0] == 3
    assert classay("learner", "iris", "-l", "GaussianNB", *QUICK, "--store", str(store))[0] == 0
    left_over = store / f".{'a' * 64}.classay.{'b' * 32}.part"
    left_over.write_text("half")
    os.utime(left_over, (time.time() - 3600,) * 2)
    (store / f"{'d' * 64}.classay").write_text("damaged")
    (store / "mine.txt").write_text("mine")
    return store


@pytest.mark.slow
def test_a_store_is_listed(classay, runs):
    code, out, err = classay("runs", str(runs))
    assert (code, err) == (0, "")
    for word in ("DecisionTreeClassifier", "max_depth", "4 values", "complete, 1 failed", "GaussianNB", "150 x 4"):
        assert word in out
    assert "2 files damaged or left over: classay runs prune" in out
    assert "1 other file, not from classay" in out


@pytest.mark.slow
def test_json_has_all(measured, runs):
    content = measured("runs", runs)
    assert [entry["what"] for entry in content["runs"]] == ["DecisionTreeClassifier", "GaussianNB"]
    total = sum(path.stat().st_size for path in runs.glob("[!.]*.classay"))
    assert sum(entry["size"] for entry in content["runs"]) == total - len("damaged")
    assert [len(content[name]) for name in ("damaged", "left_over", "others")] == [1, 1, 1]


@pytest.mark.slow
def test_prune_removes_what_is_useless_and_first_says_so(shown, measured, runs):
    before = sorted(path.name for path in runs.iterdir())
    out = shown("runs", "prune", runs, "--dry-run")
    for words in ("damaged", "left over by a process that ended", "would be freed"):
        assert words in out
    assert sorted(path.name for path in runs.iterdir()) == before
    assert measured("runs", "prune", runs)["removed"]
    gone = set(before) - {path.name for path in runs.iterdir()}
    assert gone == {f".{'a' * 64}.classay.{'b' * 32}.part", f"{'d' * 64}.classay"}
    assert "Nothing to clean up" in shown("runs", "prune", runs)


def test_an_empty_store(classay, tmp_path):
    assert classay("runs", str(tmp_path))[1].strip().endswith("has no records.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "not there"),
        ([__file__], "is a file"),
        (["prune", "nowhere"], "not there"),
        (["here", "there"], "expected one folder, or prune and one folder"),
        (["here", "--dry-run"], "--dry-run works only with prune"),
        ([], "Missing argument"),
    ],
)
def test_mistakes_get_a_sentence(refused, arguments, message):
    refused(message, "runs", *arguments)
