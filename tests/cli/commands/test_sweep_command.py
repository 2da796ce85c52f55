"""`classay sweep` as a user runs it."""

from __future__ import annotations

import errno
import json

import numpy as np
import pytest

QUICK = ["--samples", "6", "--size", "0.3", "-r", "2", "--workers", "1", "--quiet"]
TREE = ["-l", "DecisionTreeClassifier", "-p", "max_depth", "-v", "1:3"]


def test_words_and_a_table(classay):
    code, out, err = classay("sweep", "iris", *TREE, *QUICK)
    assert (code, err) == (0, "")
    assert out.startswith("DecisionTreeClassifier, max_depth from 1 to 3 (3 values): test accuracy is best at")
    for word in ("stochasticity", "in distribution", "bias at", "max_depth"):
        assert word in out


def test_a_cost_is_measured_value_by_value(classay):
    forest = ["-l", "RandomForestClassifier", "-p", "n_estimators", "-v", "1,9", *QUICK, "--json"]
    code, out, _ = classay("sweep", "iris", *forest, "--utility", "accuracy=1,cost=-1")
    assert code == 0
    content = json.loads(out)
    assert content["settings"]["share_paths"] is False
    assert any("in seconds" in note for note in content["sweeps"]["RandomForestClassifier"]["comparison"]["notes"])
    for text, expected in (("accuracy", "expected accuracy=1"), ("accuracy=1,cost=2", "a cost is a loss")):
        code, _, err = classay("sweep", "iris", *forest, "--utility", text)
        assert code == 2
        assert expected in " ".join(err.split())


@pytest.mark.slow
def test_plain_estimates_and_plain_draws(classay, tmp_path):
    plain = (*TREE, *QUICK, "--plugin", "--no-every-class")
    code, out, _ = classay("sweep", "iris", *plain)
    assert code == 0
    assert "Plain estimates of the paper" in " ".join(out.split())
    assert out.startswith("Corrected estimates: DecisionTreeClassifier")
    grid = ("-p", "min_samples_leaf", "-v", "1,9", "--charts", str(tmp_path))
    code, out, _ = classay("sweep", "iris", *plain, *grid, "--json")
    assert code == 0
    assert json.loads(out)["settings"]["every_class"] is False
    assert (tmp_path / "sweep_1_capacity.svg").exists()


def test_each_parameter_goes_with_its_learner(classay):
    code, out, _ = classay(
        "sweep", "iris", *TREE, "-l", "near=KNeighborsClassifier", "-p", "n_neighbors", "-v", "1,5", *QUICK, "--json"
    )
    assert code == 0
    sweeps = json.loads(out)["sweeps"]
    assert {name: one["parameters"] for name, one in sweeps.items()} == {
        "DecisionTreeClassifier": ["max_depth"],
        "near": ["n_neighbors"],
    }
    assert sweeps["near"]["values"] == [1, 5]
    assert sweeps["near"]["gap_correlation"]["pearson"] is None
    assert sweeps["near"]["paths"][0]["exact"]


@pytest.mark.slow
def test_one_parameter_for_all_and_two_of_one(classay):
    code, out, _ = classay(
        "sweep", "iris", "-l", "DecisionTreeClassifier", "-l", "ExtraTreeClassifier", *TREE[2:], *QUICK, "--json"
    )
    assert code == 0
    assert len(json.loads(out)["sweeps"]) == 2
    code, out, _ = classay("sweep", "iris", *TREE, "-p", "min_samples_leaf", "-v", "1,9", *QUICK)
    assert code == 0
    assert "max_depth x min_samples_leaf (6 values)" in out


def test_json_is_what_python_gives(classay):
    import classay as library
    from classay.estimators.spec import learners_from_texts

    forest = ["-l", "RandomForestClassifier", "-p", "n_estimators", "-v", "1:5:2"]
    code, out, _ = classay("sweep", "iris", *forest, *QUICK, "--json")
    assert code == 0
    content = json.loads(out)
    from classay.tables.read import read_table

    table = read_table("iris")
    (learner,) = learners_from_texts(["RandomForestClassifier"], False).values()
    expected = library.sweep(
        learner, table.X, table.y, "n_estimators", [1, 3, 5], library.Subsets(6, 0.3), 2, executor=1
    )
    rows = content["sweeps"]["RandomForestClassifier"]["figures"]
    assert [row["estimate"] for row in rows] == [
        None if np.isnan(each) else each for each in expected.to_frame().estimate
    ]
    assert content["settings"]["share_paths"] is True


@pytest.mark.slow
def test_charts_and_store(classay, tmp_path):
    arguments = ["sweep", "iris", *TREE, *QUICK, "--store", str(tmp_path / "runs")]
    code, first, _ = classay(*arguments, "--charts", str(tmp_path / "charts"))
    assert code == 0
    assert {"sweep_1_bias.png", "sweep_1_entropy.svg", "sweep_1_accuracy.svg"} <= {
        path.name for path in (tmp_path / "charts").iterdir()
    }
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    assert classay(*arguments)[1] == first
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
        (TREE[:2], "--param"),
        (
            ["-l", "make_pipeline(StandardScaler(), SVC())", "-p", "memory", "-v", "cache"],
            "memory of Pipeline cannot be set in a learner's text",
        ),
        (["-l", "SVC", "-p", "kernel", "-v", "rbf,cache"], "kernel of SVC is 'cache'; expected one of 'linear'"),
    ],
)
def test_mistakes_exit_with_2(classay, arguments, message):
    code, out, err = classay("sweep", "iris", *arguments, *QUICK)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert "Traceback" not in err


def test_if_all_learners_fail_each_says_why(classay):
    code, out, err = classay(
        "sweep", "iris", *TREE[:-1], "0", "-l", "KNeighborsClassifier", "-p", "p", "-v", "0", *QUICK
    )
    assert (code, out) == (2, "")
    assert "'max_depth' parameter" in " ".join(err.split())
    assert "'p' parameter" in " ".join(err.split())


def test_what_was_done_before_the_disk_was_full_is_kept(classay, tmp_path, monkeypatch):
    from classay.engine import archive, store

    left = [3]

    def write(*arguments):
        if not left[0]:
            raise OSError(errno.ENOSPC, "full")
        left[0] -= 1
        return archive.write(*arguments)

    monkeypatch.setattr(store, "write", write)
    code, out, err = classay("sweep", "iris", *TREE, *QUICK, "--store", str(tmp_path / "runs"))
    assert (code, out) == (74, "")
    assert "The disk is full" in err
    assert "What was done before is in it" in err
    monkeypatch.undo()
    assert "unfinished: " in classay("runs", str(tmp_path / "runs"))[1]
    assert classay("sweep", "iris", *TREE, *QUICK, "--store", str(tmp_path / "runs"))[0] == 0


def test_ctrl_c_says_where_what_is_done_is_kept(classay, tmp_path, monkeypatch):
    from classay.engine import archive, store

    left = [14]

    def write(*arguments):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return archive.write(*arguments)

    monkeypatch.setattr(store, "write", write)
    arguments = ["sweep", "iris", "-l", "GaussianNB", "-p", "var_smoothing", "-v", "1e-9:1e-3:log3", *QUICK[:-1]]
    code, out, err = classay(*arguments, "--store", str(tmp_path / "runs"))
    assert code == 3
    assert "GaussianNB" in out
    assert "run the same command to continue" in err
    left[0] = 8
    code, out, err = classay("sweep", "iris", *TREE[:-1], "0,2", *QUICK, "--store", str(tmp_path / "refused"))
    assert code == 3
    assert "DecisionTreeClassifier, 0: no results. InvalidParameterError" in err
    left[0] = 0
    code, out, err = classay(*arguments, "--seed", "4", "--store", str(tmp_path / "more"))
    assert (code, out) == (130, "")
    assert "Interrupted before there was any result" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-l", "GaussianNB"], "--values are needed"),
        (["--utility", "speed=1"], "accuracy, stability, cost"),
        (["--utility", "accuracy=fast"], "finite weights"),
        (["--prefer", "nicest"], "smallest"),
    ],
)
def test_utilities_that_cannot_be(classay, arguments, message):
    code, _, err = classay("sweep", "iris", *arguments)
    assert code == 2
    assert message in " ".join(err.split())


def test_values_are_compared_by_a_utility(classay):
    options = ["--samples", "6", "--repeats", "1", "--holdouts", "5", "--workers", "1", "--quiet"]
    sweep = ["sweep", "iris", "-l", "KNeighborsClassifier", "--param", "n_neighbors", "--values", "1,3,5"]
    _, out, _ = classay(*sweep, "--utility", "accuracy=1,stability=0.5", "--prefer", "largest", *options)
    assert "accuracy + 0.5 stability is best at" in " ".join(out.split())
