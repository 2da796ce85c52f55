"""The check file is understood, or refused with the nearest name, before anything is fitted."""

from __future__ import annotations

from pathlib import Path

import pytest
from gate_reports import small_report

from classay import InputError
from classay.report.gates.check_file import first_gates, read_check_file, refuse_unknown_subjects
from classay.report.gates.gates import check_gates

WHOLE = """
data = "credit.csv"
target = "default"
budget = "2m"
seed = 7
splits = 10
rows = "all"
gates = ["stability >= 0.9", "data.suspects <= 10"]
forbid = ["L102"]
[learners]
tree = "DecisionTreeClassifier(max_depth=4)"
[learners.forest]
learner = "RandomForestClassifier(n_estimators=50)"
gates = ["accuracy >= 0.95"]
forbid = ["warning"]
[networks.resnet]
gates = ["estimate >= 0.9"]
"""


@pytest.fixture
def check(tmp_path):
    def read(text):
        path = tmp_path / "classay.toml"
        path.write_text(text, encoding="utf-8")
        return read_check_file(path)

    return read


def test_the_whole_file(check, tmp_path):
    found = check(WHOLE)
    assert found.data == str(tmp_path / "credit.csv")
    assert found.target == "default"
    assert found.settings == {"budget": 120.0, "random_state": 7, "splits": 10, "rows": "all"}
    assert found.learners == {
        "tree": "DecisionTreeClassifier(max_depth=4)",
        "forest": "RandomForestClassifier(n_estimators=50)",
    }
    assert [(gate.text, gate.of) for gate in found.gates] == [
        ("stability >= 0.9", ""),
        ("data.suspects <= 10", ""),
        ("accuracy >= 0.95", "forest"),
        ("no warning", "forest"),
        ("estimate >= 0.9", "resnet"),
        ("no L102", ""),
    ]


def test_metrics_of_gates_are_measured(check):
    gates = 'gates = ["f1_macro >= 0.8", "retrain_change <= 0.03", "a.roc_auc >= b.roc_auc"]'
    assert check(f'data = "iris"\n{gates}').settings["metric"] == ["accuracy", "f1_macro", "roc_auc"]
    assert check(f'data = "iris"\nmetric = "roc_auc"\n{gates}').settings["metric"] == ["roc_auc", "f1_macro"]


def test_paths_count_from_the_files_folder(check, tmp_path):
    assert check('data = "iris"\ngates = ["gap <= 1"]').data == "iris"
    assert check('data = "openml:61"\ngates = ["gap <= 1"]').data == "openml:61"
    assert check('data = "/x/a.csv"\ngates = ["gap <= 1"]').data == str(Path("/x/a.csv"))
    assert check('report = "out/r.json"\ngates = ["gap <= 1"]').report == tmp_path / "out" / "r.json"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "neither is given"),
        ('data = "iris"\nreport = "a.json"\ngates = ["gap <= 1"]', "both are given"),
        ('data = "iris"', "It has no gates"),
        ('data = "iris"\ngates = "gap <= 1"', "`gates` is 'gap <= 1'; expected a list"),
        ('data = "iris"\ngates = ["gpa <= 1"]', "Did you mean gap"),
        ('dat = "iris"\ngates = ["gap <= 1"]', "`dat` is not a valid key. Did you mean data"),
        ('data = 3\ngates = ["gap <= 1"]', "`data` is 3; expected a string"),
        ('data = "iris"\nseed = true\ngates = ["gap <= 1"]', "`seed` is True; expected an integer"),
        ('data = "iris"\nbudget = "soon"\ngates = ["gap <= 1"]', "such as 90s, 2m or 1h"),
        ('data = "iris"\nsplits = "many"\ngates = ["gap <= 1"]', "`splits` is 'many'"),
        ('data = "iris"\ngates = ["gap <= 1"]\n[learners]\na = 3', "`learners.a` is 3; expected a table"),
        (
            'data = "iris"\ngates = ["gap <= 1"]\n[learners.a]\nlearnr = "x"',
            "`learners.a.learnr` is not a valid key. Did you",
        ),
        ('data = "iris"\n[learners.a]\ngates = ["gap <= 1"]', "`learners.a` has gates but no learner"),
        ('data = "iris"\n[learners.a]\nforbid = ["note"]', "`learners.a` has gates but no learner"),
        ('data = "iris"\nforbid = ["L12"]', "Did you mean"),
        ('data = "iris"\n[networks.a]\ngates = ["gap <= 1"]', "not a figure of a network"),
        ('report = "r.json"\nseed = 1\ngates = ["gap <= 1"]', "`seed` is for a new report"),
        ('report = "r.json"\ngates = ["gap <= 1"]\n[learners]\na = "SVC"', "`learners.a` has a learner to fit"),
        ('data = "iris', "is not valid TOML"),
        ('predictions = 1\ngates = ["gap <= 1"]', "expected a table"),
        ('data = "x.csv"\ngates = ["gap <= 1"]\n[predictions]\nfile = "a"', "drop `data`"),
        ('gates = ["gap <= 1"]\n[predictions]\nfile = 1', "expected a string"),
        ('gates = ["gap <= 1"]\n[predictions]\nfile = "a.csv"', "`predictions.truth` is missing"),
        ('gates = ["gap <= 1"]\n[predictions]\nfil = "a.csv"', "Did you mean file"),
    ],
)
def test_mistakes(check, text, message):
    with pytest.raises(InputError, match=message) as told:
        check(text)
    assert "classay.toml" in str(told.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read_check_file(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not valid TOML in UTF-8"):
        read_check_file(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[learners.tre]\ngates = ["gap <= 1"]', "learner 'tre'.* Did you mean tree"),
        ('[learners.tre]\nforbid = ["warning"]', "learner 'tre'"),
        ('[networks.resnat]\ngates = ["estimate >= 0"]', "network 'resnat'.* Did you mean resnet"),
    ],
)
def test_who_is_not_in_the_report(check, text, message):
    with pytest.raises(InputError, match=message):
        refuse_unknown_subjects(check(f'report = "r.json"\n{text}'), small_report())


def test_who_failed_is_known(check):
    refuse_unknown_subjects(check('report = "r.json"\n[learners.svm]\ngates = ["gap <= 1"]'), small_report())


def test_a_first_file_has_gates_that_its_report_passes(tmp_path):
    report = small_report()
    report.save(tmp_path / "r.json")
    path = tmp_path / "classay.toml"
    path.write_text(first_gates(report, "r.json", {}, {}), encoding="utf-8")
    check = read_check_file(path)
    assert {gate.text for gate in check.gates} >= {"stability >= 0.88", "data.suspects <= 16", "no L101"}
    assert all(each.passed for each in check_gates(report, check.gates))
