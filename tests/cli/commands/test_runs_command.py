"""`classay runs` as a user runs it."""

from __future__ import annotations

import json
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
def test_json_has_all(classay, runs):
    code, out, _ = classay("runs", str(runs), "--json")
    assert code == 0
    content = json.loads(out)
    assert [entry["what"] for entry in content["runs"]] == ["DecisionTreeClassifier", "GaussianNB"]
    total = sum(path.stat().st_size for path in runs.glob("[!.]*.classay"))
    assert sum(entry["size"] for entry in content["runs"]) == total - len("damaged")
    assert [len(content[name]) for name in ("damaged", "left_over", "others")] == [1, 1, 1]


@pytest.mark.slow
def test_prune_removes_what_is_of_no_use_and_first_says_so(classay, runs):
    before = sorted(path.name for path in runs.iterdir())
    code, out, _ = classay("runs", "prune", str(runs), "--dry-run")
    assert code == 0
    assert "damaged" in out
    assert "left over by a process that ended" in out
    assert "would be freed" in out
    assert sorted(path.name for path in runs.iterdir()) == before
    code, out, _ = classay("runs", "prune", str(runs), "--json")
    assert code == 0
    assert json.loads(out)["removed"]
    gone = set(before) - {path.name for path in runs.iterdir()}
    assert gone == {f".{'a' * 64}.classay.{'b' * 32}.part", f"{'d' * 64}.classay"}
    assert "Nothing to clean up" in classay("runs", "prune", str(runs))[1]


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
def test_mistakes_exit_with_2(classay, arguments, message):
    code, out, err = classay("runs", *arguments)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
