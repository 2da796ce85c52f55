"""`classay check`: gates, exit codes, and what is written where."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as xml

import pytest

from classay.cli.options import HELP
from classay.estimators.spec import learners_from_texts
from classay.intervals import Estimate, exact
from classay.report.document import Figure, Finding, Report
from classay.report.export.files import open_report, save
from classay.report.gates.check_file import read_check_file


def report_on(*learners, **changes):
    """A report about learners of these names."""
    figures = [Figure("learner", name, "stability", Estimate(0.95, 0.9, 1.0)) for name in learners]
    words = {"title": "Less stable", "sentence": "It is.", "value": exact(1.0), "reference": ""}
    content = {
        "title": "Report", "about": {"name": "iris"}, "unasked": (), "sections": (), "failed": {},
        "findings": (Finding(code="L102", level="warning", of="tree", **words),),
        "figures": (*figures, Figure("data", "data", "suspects", exact(12))), "settings": {"seed": 0},
    }  # fmt: skip
    return Report(**content | changes)


@pytest.fixture
def written(tmp_path):
    """Write a check file, and a report beside it."""
    save(report_on("tree", "[red]forest"), tmp_path / "report.json")

    def write(text):
        path = tmp_path / "classay.toml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def assayed(monkeypatch):
    """Put a ready report in the place of the work, and see what it was called with."""
    call = {}

    def characterize(learners, data, **options):
        call.update({"learners": learners, "rows": len(data), "name": data.name, **options})
        return SimpleNamespace(report=call.get("report") or report_on(*learners), parts=None)

    monkeypatch.setattr("classay.cli.commands.check.characterize", characterize)
    return call


def test_all_passed(classay, written):
    code, out, err = classay("check", written('report = "report.json"\ngates = ["stability >= 0.9"]'))
    assert code == 0
    for word in ("tree", "[red]forest", "passed"):
        assert word in out
    assert "FAILED" not in out
    assert "2 gates passed, none failed." in err


def test_some_failed(classay, written):
    file = written('report = "report.json"\ngates = ["stability >= 0.91", "data.suspects <= 12"]\nforbid = ["L102"]')
    code, out, err = classay("check", file)
    assert code == 1
    assert "tree: stability >= 0.91: lower end 0.900 misses 0.910 by 0.010." in out
    assert "report: no L102: L102 tree: It is.\n" in out
    assert "1 gate passed, 3 failed." in err
    assert out.count("FAILED") == 3
    code, out, err = classay("check", file, "--json", "--quiet")
    content = json.loads(out)
    assert (code, err) == (1, "")
    assert content["passed"] is False
    assert [gate["passed"] for gate in content["gates"]] == [False, False, True, False]
    first = content["gates"][0]
    assert first["estimate"] == {"value": 0.95, "low": 0.9, "high": 1.0, "level": 0.95, "kind": ""}
    assert (first["of"], first["end"], first["measured"]) == ("tree", "low", 0.9)
    assert first["margin"] == pytest.approx(-0.01)


def test_junit_and_report_are_written(classay, refused, written, tmp_path):
    file = written('report = "report.json"\ngates = ["stability >= 0.91"]')
    junit, copy = tmp_path / "gates.xml", tmp_path / "copy.json"
    both = ["check", file, "--junit", junit, "--report", copy]
    code, _, err = classay(*both)
    assert code == 1
    assert xml.fromstring(junit.read_text(encoding="utf-8")).find("testsuite").get("failures") == "2"
    assert open_report(copy) == open_report(tmp_path / "report.json")
    assert str(junit) in err
    # JUnit is written anew by every run; a report is not replaced unasked.
    refused("--force", *both)
    assert classay(*both, "--force")[0] == 1


def test_it_is_measured_as_the_file_says(classay, written, assayed):
    file = written(
        'data = "iris"\nbudget = "30s"\nseed = 3\nsplits = 12\ngates = ["stability >= 0.9"]\n'
        '[learners]\ntree = "DecisionTreeClassifier(max_depth=4)"\n[learners.bayes]\nlearner = "GaussianNB"'
    )
    code, _, err = classay("check", file, "--workers", "1", "--store", "runs")
    assert code == 0
    assert list(assayed["learners"]) == ["tree", "bayes"]
    assert assayed["learners"]["tree"].max_depth == 4
    expected = {"budget": 30.0, "random_state": 3, "splits": 12, "executor": 1, "rows": 150, "name": "iris"}
    assert {key: assayed[key] for key in expected} == expected
    assert assayed["store"] == Path("runs")
    assert "iris: 150 rows" in err


def test_data_are_sought_beside_the_file(classay, written, assayed, tmp_path, monkeypatch):
    (tmp_path / "credit.csv").write_text("a,y\n" + "\n".join(f"{i},{i % 2}" for i in range(60)))
    file = written('data = "credit.csv"\ngates = ["stability >= 0.9"]')
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert classay("check", file)[0] == 0
    assert assayed["rows"] == 60
    assert len(assayed["learners"]) > 1


def test_init_writes_what_to_measure_with_the_metric_of_the_report(classay, assayed, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    rows = "\n".join(f"{i},{i % 7},{i % 2}" for i in range(60))
    (tmp_path / "credit.csv").write_text(f"a,person,y\n{rows}")
    figures = [Figure("learner", "bayes", name, Estimate(0.9, 0.85, 0.95)) for name in ("roc_auc", "accuracy")]
    command = "classay report credit.csv --target=y --groups person -l 'bayes=GaussianNB' --metric roc_auc -o r.json"
    settings = {"command": f"{command} --budget none --splits 5", "learners": {"bayes": "GaussianNB()"}}
    first = report_on("bayes", figures=figures, findings=(), settings=settings)
    save(first, tmp_path / "r.json")
    monkeypatch.chdir(tmp_path / "sub")
    code, _, err = classay("check", "../r.json", "--init")
    assert code == 0, err
    check = read_check_file("classay.toml")
    assert (Path(check.data).resolve(), check.target) == ((tmp_path / "credit.csv").resolve(), "y")
    assert check.columns == {"groups": "person"}
    assert check.learners == {"bayes": "GaussianNB"}
    assert [gate.text for gate in check.gates] == ["roc_auc >= 0.83"]
    assert (check.settings["metric"], check.settings["splits"]) == (["roc_auc"], 5)
    assert "(0.850 to 0.950)" in Path("classay.toml").read_text()
    assayed["report"] = first
    assert classay("check", "classay.toml", "--quiet")[0] == 0
    assert assayed["metric"] == ["roc_auc"]
    assert assayed["rows"] == 50_000
    (tmp_path / "credit.csv").unlink()
    _, _, err = classay("check", "../r.json", "--init", "--force")
    assert "The data of this report were not found" in err
    assert "says the same until that file changes" in Path("classay.toml").read_text()


@pytest.mark.parametrize(("gate", "code"), [("stability >= 0", 1), ("data.suspects <= 20", 3)])
def test_a_learner_that_failed_fails_its_gates_or_is_reported(classay, written, assayed, gate, code):
    assayed["report"] = report_on("tree", failed={"svm": "It cannot."})
    file = written(f'data = "iris"\ngates = ["{gate}"]\n[learners]\ntree = "GaussianNB"\nsvm = "SVC"')
    ended, out, err = classay("check", file)
    assert ended == code
    assert ("svm: stability >= 0: svm gave no results: It cannot." in out) == (code == 1)
    assert "svm: no results. It cannot." in err


def test_ctrl_c(classay, written, assayed, monkeypatch):
    file = written('data = "iris"\ngates = ["stability >= 0"]\n[learners]\ntree = "GaussianNB"\nlast = "SVC"')
    assayed["report"] = report_on("tree", settings={"interrupted": True})
    code, out, err = classay("check", file)
    assert code == 3
    assert "last: stability >= 0: it was not fitted: interrupted." in out
    assert "Interrupted" in err

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("classay.cli.commands.check.characterize", stopped)
    code, out, err = classay("check", file)
    assert (code, out) == (130, "")
    assert "Interrupted before there was any result" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('data = "irsi"\ngates = ["stability >= 0.9"]', "irsi"),
        ('data = "iris"\ntarget = "spieces"\ngates = ["stability >= 0.9"]', "spieces"),
        ('data = "iris"\ngates = ["gap <= 1"]\n[learners]\na = "DecisionTreeClasifier"', "DecisionTreeClassifier"),
        ('data = "iris"\ngates = ["gap <= 1"]\n[learners]\na = "os:system"', "--allow-import"),
        ('report = "none.json"\ngates = ["gap <= 1"]', "none.json"),
    ],
)
def test_mistakes_are_reported_before_any_fit(refused, written, assayed, text, message):
    refused(message, "check", written(text))
    assert not assayed


@pytest.mark.parametrize(
    ("option", "name", "message"),
    [
        ("--junit", "gates.txt", ".xml"),
        ("--junit", "none/gates.xml", "does not exist"),
        ("--report", "report.htm", "Did you mean .html"),
    ],
)
def test_where_nothing_can_be_written(refused, written, assayed, tmp_path, option, name, message):
    file = written('data = "iris"\ngates = ["stability >= 0.9"]')
    refused(message, "check", file, option, tmp_path / name)
    assert not assayed


def test_the_file_in_help_is_understood(written):
    epilog = HELP["commands"]["check"]["epilog"]
    text = epilog[epilog.index("**The file**") :]
    check = read_check_file(written("\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))))
    assert list(check.learners) == ["tree", "forest"]
    assert [gate.of for gate in check.gates] == ["", "", "", "forest", "", ""]
    assert len(learners_from_texts(check.learners.values())) == 2


@pytest.mark.slow
def test_a_real_assay_has_every_figure_that_gates_know(classay, written, tmp_path):
    from classay.report.gates.gate import FIGURES

    file = written(
        'data = "digits"\nsplits = 10\nrepeats = 2\nn_probes = 100\nretrains = 2\n'
        'gates = ["accuracy >= 0.3", "data.rows == 1797", "classes.accuracy_now >= 0"]\n[learners]\n'
        'bayes = "GaussianNB"\n'
        'tree = "DecisionTreeClassifier"\n[learners.near]\nlearner = "KNeighborsClassifier(n_neighbors=5)"\n'
        'gates = ["accuracy >= 0.9999"]'
    )
    path = tmp_path / "saved.json"
    code, out, err = classay("check", file, "--workers", "1", "--json", "--quiet", "--report", str(path))
    assert code == 1, err
    content = json.loads(out)
    assert [gate["passed"] for gate in content["gates"]] == [True, True, True, True, True, False]
    names = {}
    for figure in open_report(path).figures:
        names.setdefault(figure.subject, set()).add(figure.name)
    known = {subject: set(figures) for subject, figures in FIGURES.items() if subject != "network"}
    known["learner"] -= {"predicted", "self_agreement", "changed_items", "overconfidence"}  # of predictions alone
    known["learner"] |= {"balanced_accuracy"}  # gates know it as a scorer
    known["data"] -= {"unlike_share"}  # of a test part
    assert names == known
