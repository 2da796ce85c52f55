"""`classay sweep` as a user runs it."""

from __future__ import annotations

import errno

import numpy as np
import pytest

import classay as library
from classay.engine import archive, store
from classay.estimators.spec import learners_from_texts
from classay.tables.read import read_table

QUICK = ["--samples", "6", "--size", "0.3", "-r", "2", "--workers", "1", "--quiet"]
TREE = ["-l", "DecisionTreeClassifier", "-p", "max_depth", "-v", "1:3"]
NONE = ["-l", "KNeighborsClassifier", "-p", "p", "-v", "0"]


def test_words_and_a_table(shown):
    out = shown("sweep", "iris", *TREE, *QUICK)
    assert out.startswith("DecisionTreeClassifier, max_depth from 1 to 3 (3 values): test accuracy is best at")
    for word in ("stochasticity", "in distribution", "bias at", "max_depth"):
        assert word in out


def test_a_cost_is_measured_value_by_value(measured):
    forest = ["-l", "RandomForestClassifier", "-p", "n_estimators", "-v", "1,9", *QUICK]
    content = measured("sweep", "iris", *forest, "--utility", "accuracy=1,cost=-1")
    assert content["settings"]["share_paths"] is False
    assert any("in seconds" in note for note in content["sweeps"]["RandomForestClassifier"]["comparison"]["notes"])


def test_the_training_data_are_a_parameter_too(shown, measured):
    out = shown("sweep", "iris", *TREE[:2], "-p", "size", "-v", "20,60", *QUICK)
    assert "size from 20 to 60" in out
    stored = measured("sweep", "iris", *TREE[:2], "-p", "labels_to_store", "-v", "20,60", *QUICK)
    assert stored["sweeps"]["DecisionTreeClassifier"]["metric_estimates"]["20"]["value"] > 0.9


def test_each_parameter_goes_with_its_learner(measured):
    near = ["-l", "near=KNeighborsClassifier", "-p", "n_neighbors", "-v", "1,5"]
    sweeps = measured("sweep", "iris", *TREE, *near, *QUICK)["sweeps"]
    assert {name: swept["parameters"] for name, swept in sweeps.items()} == {
        "DecisionTreeClassifier": ["max_depth"],
        "near": ["n_neighbors"],
    }
    assert sweeps["near"]["values"] == [1, 5]
    assert sweeps["near"]["gap_correlation"]["pearson"] is None
    assert sweeps["near"]["paths"][0]["exact"]


@pytest.mark.slow
def test_one_parameter_for_all_and_two_of_one(shown, measured):
    trees = ["-l", "DecisionTreeClassifier", "-l", "ExtraTreeClassifier"]
    assert len(measured("sweep", "iris", *trees, *TREE[2:], *QUICK)["sweeps"]) == 2
    out = shown("sweep", "iris", *TREE, "-p", "min_samples_leaf", "-v", "1,9", *QUICK)
    assert "max_depth x min_samples_leaf (6 values)" in out


def test_json_is_what_python_gives(measured):
    forest = ["-l", "RandomForestClassifier", "-p", "n_estimators", "-v", "1:5:2"]
    content = measured("sweep", "iris", *forest, *QUICK)
    table = read_table("iris")
    (learner,) = learners_from_texts(["RandomForestClassifier"], False).values()
    expected = library.sweep(
        learner, table.X, table.y, "n_estimators", [1, 3, 5], library.Subsets(6, 0.3), 2, executor=1
    )
    rows = content["sweeps"]["RandomForestClassifier"]["figures"]
    estimates = [None if np.isnan(estimate) else estimate for estimate in expected.to_frame().estimate]
    assert [row["estimate"] for row in rows] == estimates
    assert content["settings"]["share_paths"] is True


@pytest.mark.slow
def test_charts_and_store(shown, tmp_path):
    arguments = ["sweep", "iris", *TREE, *QUICK, "--store", tmp_path / "runs"]
    first = shown(*arguments, "--charts", tmp_path / "charts")
    names = {path.name for path in (tmp_path / "charts").iterdir()}
    assert {"sweep_1_bias.png", "sweep_1_entropy.svg", "sweep_1_accuracy.svg"} <= names
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    assert shown(*arguments) == first
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()} == times


def test_a_refused_value_is_reported_and_the_others_shown(classay):
    code, out, err = classay("sweep", "iris", *TREE[:-1], "0,2", *QUICK)
    assert code == 3
    assert "max_depth" in out
    assert "DecisionTreeClassifier, 0: no results. InvalidParameterError" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-l", "DecisionTreeClassifier", "-p", "max_dept", "-v", "1:3"], "Did you mean max_depth"),
        ([*TREE[:-1], "a:b"], "is not a number"),
        ([*TREE[:-1], ""], "--values is empty"),
        ([*TREE[:-1], "3:1"], "which gives no value"),
        ([*TREE, "-v", "1,2"], "each parameter needs its values"),
        ([*TREE, *TREE[2:], *TREE[2:]], "1 learner and 3 parameters"),
        (["-l", "DecisionTreeClasifier", *TREE[2:]], "Did you mean DecisionTreeClassifier"),
        ([*TREE[:-1], "0,-1"], "failed at every value"),
        ([*TREE, "--holdout-size", "900"], "900"),
        ([*TREE, "--store", __file__], "Expected a folder, or a new name"),
        (TREE[:2], "--values are needed"),
        ([*TREE, "--utility", "speed=1"], "accuracy, stability, cost"),
        ([*TREE, "--utility", "accuracy=fast"], "finite weights"),
        ([*TREE, "--utility", "accuracy"], "expected accuracy=1"),
        ([*TREE, "--utility", "accuracy=1,cost=2"], "a cost is a loss"),
        ([*TREE, "--prefer", "nicest"], "smallest"),
        (
            ["-l", "make_pipeline(StandardScaler(), SVC())", "-p", "memory", "-v", "cache"],
            "memory of Pipeline cannot be set in a learner's text",
        ),
        (["-l", "SVC", "-p", "kernel", "-v", "rbf,cache"], "kernel of SVC is 'cache'; expected one of 'linear'"),
    ],
)
def test_mistakes_get_a_sentence(refused, arguments, message):
    refused(message, "sweep", "iris", *arguments, *QUICK)


def test_if_all_learners_fail_each_says_why(refused):
    refused("'max_depth' parameter", "sweep", "iris", *TREE[:-1], "0", *NONE, *QUICK)
    refused("'p' parameter", "sweep", "iris", *TREE[:-1], "0", *NONE, *QUICK)


@pytest.fixture
def stops(monkeypatch):
    """Let the store raise an error after this many files."""

    def after(files, error):
        left = [files]

        def write(*arguments):
            if not left[0]:
                raise error
            left[0] -= 1
            return archive.write(*arguments)

        monkeypatch.setattr(store, "write", write)

    return after


def test_what_was_done_before_the_disk_was_full_is_kept(classay, shown, tmp_path, stops, monkeypatch):
    stops(3, OSError(errno.ENOSPC, "full"))
    code, out, err = classay("sweep", "iris", *TREE, *QUICK, "--store", tmp_path / "runs")
    assert (code, out) == (74, "")
    assert "The disk is full" in err
    assert "What was done before is in it" in err
    monkeypatch.undo()
    assert "unfinished: " in shown("runs", tmp_path / "runs")
    shown("sweep", "iris", *TREE, *QUICK, "--store", tmp_path / "runs")


def test_ctrl_c_says_where_what_is_done_is_kept(classay, tmp_path, stops):
    arguments = ["sweep", "iris", "-l", "GaussianNB", "-p", "var_smoothing", "-v", "1e-9:1e-3:log3", *QUICK[:-1]]
    stops(14, KeyboardInterrupt())
    code, out, err = classay(*arguments, "--store", tmp_path / "runs")
    assert code == 3
    assert "GaussianNB" in out
    assert "run the same command to continue" in err
    stops(8, KeyboardInterrupt())
    code, out, err = classay("sweep", "iris", *TREE[:-1], "0,2", *QUICK, "--store", tmp_path / "refused")
    assert code == 3
    assert "DecisionTreeClassifier, 0: no results. InvalidParameterError" in err
    stops(0, KeyboardInterrupt())
    code, out, err = classay(*arguments, "--seed", "4", "--store", tmp_path / "more")
    assert (code, out) == (130, "")
    assert "Interrupted before there was any result" in err


def test_values_are_compared_by_a_utility(shown):
    sweep = ["sweep", "iris", "-l", "KNeighborsClassifier", "--param", "n_neighbors", "--values", "1,3,5", *QUICK]
    out = shown(*sweep, "--utility", "accuracy=1,stability=0.5", "--prefer", "largest")
    assert "accuracy + 0.5 stability is best at" in out
