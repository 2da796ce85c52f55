"""`classay report` as a user runs it."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from classay import load
from classay.cli import console
from classay.learner.rounds import RecordRounds
from classay.report.document import Report

FITTED = ["--splits", "4", "--repeats", "2", "--n-probes", "50", "--retrains", "0"]
QUICK = ["--workers", "1", *FITTED]
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


@pytest.mark.slow
def test_findings_are_printed_and_the_page_is_saved_under_the_name_of_the_data(typed, ovens, tmp_path):
    code, out, err = typed("report", ovens, *BAYES, *QUICK)
    assert code == 0
    assert "Checks passed: " in out
    assert "Trial fits" in err
    assert "bayes does not take this table as it is. Changed inside each fit: one-hot" in err
    assert f"Saved {tmp_path / 'ovens.html'}" in err
    report = load(tmp_path / "ovens.html")
    assert report.learners == ("bayes",)
    assert report.about["target"] == "good"


@pytest.mark.slow
def test_every_kind_of_file_and_json_alone_on_stdout(typed, ovens, tmp_path):
    files = ["-o", "a.html", "-o", "a.json", "-o", "a.md"]
    code, out, err = typed("report", ovens, *BAYES, *QUICK, *files, "--json", "--quiet")
    assert code == 0
    assert err == ""
    document = json.loads(out)
    assert document == json.loads((tmp_path / "a.json").read_text())
    assert "<script>alert" not in (tmp_path / "a.html").read_text()
    assert (tmp_path / "a.md").read_text().startswith("#")


@pytest.mark.slow
def test_the_command_on_the_page_gives_the_same_figures(typed, ovens, tmp_path):
    few = ["--budget", "60s", "--splits", "6", "-r", "1", "--retrains", "2", "-w", "1"]
    code, _, _ = typed("report", ovens, *BAYES, *few, "-o", "first.json", "--quiet")
    assert code == 0
    first = load(tmp_path / "first.json")
    words = shlex.split(first.settings["command"])
    assert words[:2] == ["classay", "report"]
    assert words[words.index("--budget") + 1] == "none"
    again = [word.replace("first", "second") for word in words[1:]]
    assert typed(*again)[0] == 0
    second = load(tmp_path / "second.json")
    figures = [[each for each in report.figures if each.name != "seconds_per_fit"] for report in (first, second)]
    assert figures[0] == figures[1]
    # What was typed is named once, also when it was typed before.
    words = shlex.split(second.settings["command"])
    assert words.count("--splits") == words.count("--budget") == 1


@pytest.mark.slow
def test_the_command_on_the_page_names_no_store(typed, ovens, tmp_path):
    for store in (["--store", "runs"], ["--store=runs"]):
        code, _, _ = typed("report", ovens, *BAYES, *QUICK, *store, "-o", "a.json", "--quiet", "--force")
        assert code == 0
        words = shlex.split(load(tmp_path / "a.json").settings["command"])
        assert not any("store" in word or word == "runs" for word in words)


@pytest.mark.slow
def test_the_page_is_rewritten_as_rounds_arrive(typed, ovens, tmp_path, monkeypatch):
    saved = []
    save = Report.save

    def seen(self, path, *, force=True):
        saved.append((self.settings["splits"], self.settings["preliminary"]))
        return save(self, path, force=force)

    monkeypatch.setattr(Report, "save", seen)
    code, _, err = typed("report", ovens, *BAYES, *QUICK, "--splits", "8")
    assert code == 0
    assert saved == [(0, "round 1 of at most 3"), (5, "round 2 of at most 3"), (8, "")]
    assert "ovens.html: preliminary, after round 2 of at most 3; it will be rewritten." in err


@pytest.mark.slow
def test_losses_are_shown_even_if_quiet(typed, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=100).astype(object), "b": rng.normal(size=100)})
    table["y"] = (table["b"] > 0).astype(int)
    table.loc[3, "a"] = "oops"
    table.to_csv(tmp_path / "dirty.csv", index=False)
    code, _, err = typed("report", "dirty.csv", *BAYES, *QUICK, "--quiet")
    assert code == 0
    assert "'oops'" in err
    assert any("'oops'" in note for note in load(tmp_path / "dirty.html").about["notes"])


@pytest.mark.slow
def test_groups_time_and_a_test_file(typed, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(160, 2)), columns=["a", "b"])
    table["patient"], table["day"] = np.arange(160) // 4, np.arange(160)
    table["y"] = (table["a"] > 0).astype(int)
    table.to_csv(tmp_path / "visits.csv", index=False)
    table.head(40).to_csv(tmp_path / "later.csv", index=False)
    files = [*BAYES, *QUICK, "--quiet", "--target", "y"]
    assert typed("report", "visits.csv", *files, "--groups", "patient", "--drop", "day", "-o", "a.json")[0] == 0
    assert load(tmp_path / "a.json").about["columns"] == 2
    assert typed("report", "visits.csv", *files, "--time", "day", "--drop", "patient", "-o", "b.json")[0] == 0
    assert load(tmp_path / "b.json").settings["tested_rows"] < 160
    assert typed("report", "visits.csv", *files, "--test", "later.csv", "-o", "c.json")[0] == 0
    assert "40 test points" in load(tmp_path / "c.json").settings["fitted"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["-o", "nowhere/a.html"], "'nowhere' does not exist. Create it, or choose another folder."),
        (["-o", "a.pdf"], "ends in .pdf"),
        (["-o", "taken.html"], "already exists. Choose another name, or overwrite it: --force"),
        (["--budget", "soon"], "The budget is 'soon'"),
        (["--budget", "-5"], "expected a positive time"),
        (["--rows", "many"], "--rows is 'many'"),
        (["--target", "nope"], "has no column 'nope'"),
        (["--learner", "GausianNB"], "GaussianNB"),
        (["--learner", "data=GaussianNB"], "Rename it"),
        (["--splits", "1"], "splits"),
        (["--test-size", "2"], "test_size"),
    ],
)
def test_mistakes_are_reported_before_any_fit(typed, refused, ovens, tmp_path, monkeypatch, more, message):
    def fitted(*_, **__):
        raise AssertionError("something was fitted")

    monkeypatch.setattr("classay.estimators.fit.fit_once", fitted)
    monkeypatch.setattr("classay.report.run.learners.ready", fitted)
    (tmp_path / "taken.html").write_text("mine")
    refused(message, "report", ovens, "--quiet", *more)
    assert (tmp_path / "taken.html").read_text() == "mine"


@pytest.mark.slow
def test_a_learner_that_fails_is_named_and_the_others_stand(typed, ovens, tmp_path):
    far = ["--learner", "far=KNeighborsClassifier(n_neighbors=5000)"]
    code, out, err = typed("report", ovens, *BAYES, *far, *QUICK, "--quiet")
    assert code == console.PARTIAL
    assert "far: no results. " in err
    assert "L106 warning  far: No results" in out
    report = load(tmp_path / "ovens.html")
    assert report.learners == ("bayes",)
    assert "n_neighbors" in report.failed["far"]


@pytest.mark.slow
def test_ctrl_c_leaves_a_report_of_what_is_done(typed, ovens, tmp_path, monkeypatch):
    grow = RecordRounds.grow

    def stopped(self, names, splits=None, label="", in_turn=False):
        if splits is not None and splits > 5:
            self.interrupted = True
            return False
        return grow(self, names, splits, label, in_turn)

    monkeypatch.setattr(RecordRounds, "grow", stopped)
    code, out, err = typed("report", ovens, *BAYES, *QUICK, "--splits", "12", "--quiet")
    assert code == console.PARTIAL
    assert "Interrupted: the results above cover only what had finished." in err
    assert "Checks passed" in out
    report = load(tmp_path / "ovens.html")
    assert report.settings["splits"] == 5
    assert report.settings["interrupted"] is True
    assert not report.settings["preliminary"]
