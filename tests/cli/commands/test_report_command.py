"""`classay report` as a user runs it."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from classay import open_report
from classay.cli import console
from classay.report import measure

BOUGHT = ["--splits", "4", "--repeats", "2", "--size", "all", "--n-probes", "50", "--fold-rows", "all"]
QUICK = ["--workers", "1", *BOUGHT]
BAYES = ["--learner", "bayes=GaussianNB"]


@pytest.fixture(scope="module")
def ovens(tmp_path_factory):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 3)), columns=["heat", "time", "<script>alert(1)</script>"])
    table["plant"] = rng.choice(["Ulm", "Graz"], 120)
    table["good"] = table.heat + 0.3 * rng.normal(size=120) > 0
    path = tmp_path_factory.mktemp("data") / "ovens.csv.gz"
    table.to_csv(path, index=False)
    return str(path)


@pytest.fixture
def typed(classay, monkeypatch, tmp_path):
    """Call the command in an empty folder, as if it was typed."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["classay", *arguments])
        return classay(*arguments)

    return call


def test_findings_are_printed_and_the_page_is_saved_under_the_name_of_the_data(typed, ovens, tmp_path):
    code, out, err = typed("report", ovens, *BAYES, *QUICK)
    assert code == 0
    assert "Checks passed: " in out
    assert "[1/5] Pilot fits" in err
    assert "foreseen" not in err  # nothing was left to the budget
    assert f"Saved {tmp_path / 'ovens.html'}" in err
    report = open_report(tmp_path / "ovens.html")
    assert report.learners == ("bayes",)
    assert report.about["target"] == "good"


def test_every_kind_of_file_and_json_alone_on_stdout(typed, ovens, tmp_path):
    files = ["-o", "a.html", "-o", "a.json", "-o", "a.md"]
    code, out, err = typed("report", ovens, *BAYES, *QUICK, *files, "--json", "--quiet")
    assert code == 0
    assert err == ""
    document = json.loads(out)
    assert document == json.loads((tmp_path / "a.json").read_text())
    assert "<script>alert" not in (tmp_path / "a.html").read_text()
    assert (tmp_path / "a.md").read_text().startswith("#")


def test_the_command_on_the_page_gives_the_same_figures(typed, ovens, tmp_path):
    code, _, _ = typed("report", ovens, *BAYES, "-w", "1", "--budget", "1s", "-o", "first.json", "--quiet")
    assert code == 0
    first = open_report(tmp_path / "first.json")
    words = shlex.split(first.settings["command"])
    assert words[:2] == ["classay", "report"]
    assert "--fold-rows" in words
    again = [word.replace("first", "second") for word in words[1:]]
    assert typed(*again)[0] == 0
    second = open_report(tmp_path / "second.json")
    assert _figures(second) == _figures(first)
    # What was typed is named once, also when it was typed before.
    assert shlex.split(second.settings["command"]).count("--splits") == 1


def _figures(report):
    return [each for each in report.figures if each.name != "seconds_per_fit"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["-o", "nowhere/a.html"], "'nowhere' does not exist. Create it, or choose another folder."),
        (["-o", "a.pdf"], "ends in .pdf"),
        (["-o", "taken.html"], "already exists. Choose another name, or overwrite it: --force"),
        (["--budget", "soon"], "The budget is 'soon'"),
        (["--budget", "-5"], "expected a positive time"),
        (["--size", "many"], "--size is 'many'"),
        (["--fold-rows", "-3"], "--fold-rows is '-3'"),
        (["--target", "nope"], "has no column 'nope'"),
        (["--learner", "GausianNB"], "GaussianNB"),
        (["--learner", "data=GaussianNB"], "Rename it"),
        (["--splits", "1"], "splits"),
        (["--test-size", "2"], "test_size"),
    ],
)
def test_mistakes_are_reported_before_any_fit(typed, ovens, tmp_path, monkeypatch, more, message):
    def fitted(*_, **__):
        raise AssertionError("something was fitted")

    monkeypatch.setattr(measure, "record", fitted)
    (tmp_path / "taken.html").write_text("mine")
    code, out, err = typed("report", ovens, "--quiet", *more)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err
    assert (tmp_path / "taken.html").read_text() == "mine"


def test_a_folder_that_cannot_be_written_to(typed, ovens, tmp_path, monkeypatch):
    def refuse(self, *_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.touch", refuse)
    code, _, err = typed("report", ovens, *QUICK, "-o", "a.html", "--quiet")
    assert code == 2
    assert "Permission denied" in err
    assert not list(tmp_path.iterdir())


def test_force_replaces_a_file(typed, ovens, tmp_path):
    (tmp_path / "ovens.html").write_text("old")
    assert typed("report", ovens, *BAYES, *QUICK, "--quiet")[0] == 2
    assert typed("report", ovens, *BAYES, *QUICK, "--quiet", "--force")[0] == 0
    assert (tmp_path / "ovens.html").read_text().startswith("<!DOCTYPE html>")


def test_a_learner_that_fails_is_named_and_the_others_stand(typed, ovens, tmp_path):
    far = ["--learner", "far=KNeighborsClassifier(n_neighbors=5000)"]
    code, out, err = typed("report", ovens, *BAYES, *far, *QUICK, "--quiet")
    assert code == console.PARTIAL
    assert "far: no results. " in err
    assert "L106 warning  far: No results" in out
    report = open_report(tmp_path / "ovens.html")
    assert report.learners == ("bayes",)
    assert "n_neighbors" in report.failed["far"]


def test_if_none_can_be_fitted_that_is_a_mistake(typed, ovens, tmp_path):
    code, out, err = typed("report", ovens, "--learner", "far=KNeighborsClassifier(n_neighbors=5000)", *QUICK)
    assert code == 2
    assert out == ""
    assert "far: " in err
    assert not list(tmp_path.iterdir())


def test_ctrl_c_leaves_a_report_of_what_is_done(typed, ovens, tmp_path, monkeypatch):
    record = measure.record

    def stopped(*arguments, name, **settings):
        if name == "tree":
            raise KeyboardInterrupt
        return record(*arguments, name=name, **settings)

    monkeypatch.setattr(measure, "record", stopped)
    learners = [*BAYES, "--learner", "tree=DecisionTreeClassifier", "--learner", "far=KNeighborsClassifier"]
    code, out, err = typed("report", ovens, *learners, *QUICK, "--quiet")
    assert code == console.PARTIAL
    assert "Interrupted: the report covers only what had finished." in err
    assert "tree: No results" in out
    report = open_report(tmp_path / "ovens.html")
    assert report.learners == ("bayes",)
    assert report.failed == dict.fromkeys(("tree", "far"), "Interrupted before it started.")
    assert report.settings["interrupted"] is True


def test_ctrl_c_before_anything_is_done(typed, ovens, tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(measure, "record", stopped)
    code, out, err = typed("report", ovens, *BAYES, *QUICK, "--quiet")
    assert code == console.PARTIAL
    assert out == ""
    assert "Interrupted before there was any result." in err
    assert not list(tmp_path.iterdir())
