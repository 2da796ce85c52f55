"""`assert_gates` and the pytest plugin: gates as tests, in this process and in pytest of its own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gate_reports import small_report

import classay
from classay import InputError
from classay.intervals import Estimate
from classay.report.document import Figure
from classay.report.gates.report_changes import changes_between


def report_of(**accuracies: float):
    figures = tuple(
        Figure("learner", name, "accuracy", Estimate(value, value - 0.01, value + 0.01))
        for name, value in accuracies.items()
    )
    return replace(small_report(), figures=figures, failed={}, findings=(), unasked=())


def test_gates_as_an_assertion(tmp_path):
    report = report_of(tree=0.93)
    classay.assert_gates(report, "accuracy >= 0.9", "no warning")
    path = report.save(tmp_path / "report.json")
    with pytest.raises(AssertionError, match=r"1 failed\.\ntree: accuracy >= 0\.95"):
        classay.assert_gates(path, "accuracy >= 0.95")
    classay.assert_gates(report_of(champion=0.93, candidate=0.925), "candidate.accuracy >= champion.accuracy - 0.01")
    classay.assert_gates(report, against=path)
    with pytest.raises(AssertionError, match="beyond"):
        classay.assert_gates(report_of(tree=0.7), against=report, min_effect=0.01)


def test_a_failure_has_at_most_five_lines():
    report = replace(report_of(**{f"learner{place}": 0.5 for place in range(9)}), findings=small_report().findings)
    with pytest.raises(AssertionError) as failed:
        classay.assert_gates(report, "accuracy >= 0.9", "no warning")
    lines = str(failed.value).splitlines()
    assert lines[0] == "0 gates passed, 10 failed."
    assert len(lines) == 5
    assert lines[-1] == "and 7 more"
    assert max(map(len, lines)) <= 200


def test_a_gate_on_the_worst_region():
    rng = np.random.default_rng(0)
    truth, age = rng.integers(2, size=1200), rng.integers(18, 80, 1200)
    frame = pd.DataFrame({"id": range(1200), "y": truth, "age": age})
    old = np.where(rng.random(1200) < 0.05, 1 - truth, truth)
    new = np.where((age >= 70) & (rng.random(1200) < 0.6), 1 - old, old)
    versions = [frame.assign(version=name, pred=pred) for name, pred in (("champion", old), ("candidate", new))]
    record = classay.Labelings.from_frame(pd.concat(versions), truth="y", item="id", variant="version")
    both = classay.characterize(record)
    classay.assert_gates(both, "candidate.worst_region >= -0.9", "champion.worst_region >= 0")
    with pytest.raises(AssertionError, match=r"worst_region >= -0\.05: .*age ≥ 70"):
        classay.assert_gates(both, "candidate.worst_region >= -0.05")
    with pytest.raises(AssertionError, match="the predictions of both are needed"):
        classay.assert_gates(report_of(champion=0.9, candidate=0.9), "candidate.worst_region >= -0.05")


def test_mistakes():
    with pytest.raises(InputError, match="no gates"):
        classay.assert_gates(report_of(tree=0.9))
    with pytest.raises(InputError, match="expected a report"):
        classay.assert_gates(3, "accuracy >= 0.9")


# A report against an earlier one.


def test_changes_between_reports():
    old, new = report_of(tree=0.95, forest=0.9), report_of(tree=0.80)
    changes = changes_between(old, new)
    assert changes.regression_shown
    (change,) = changes.changes
    assert (change.of, change.verdict) == ("tree", "worse")
    assert change.texts[:3] == ("tree: accuracy", "0.950", "0.800")
    assert change.texts[3].startswith("-0.15")
    assert "Only the old report has forest" in changes.notes[0]
    assert not changes_between(old, new, min_effect=0.2).regression_shown
    back = changes_between(new, old)
    assert back.changes[0].verdict == "better"
    assert "Only the new report has forest" in back.notes[0]


TESTS = """
import unittest, pytest, classay

@pytest.mark.classay("accuracy >= 0.9", report="report.json")
def test_passes():
    pass

@pytest.mark.classay("accuracy >= 0.99")
def test_fails():
    return classay.load("report.json")

@pytest.mark.classay("accuracy >= 0.9")
def test_returns_nothing():
    pass

def test_fixture(assert_gates):
    assert_gates("report.json", "accuracy >= 0.9")

def test_of_others():
    assert 1 + 1 == 2

@pytest.mark.classay("accuracy >= 0.99", report="report.json")
class TestMarks:
    @pytest.mark.classay("accuracy >= 0.9", report="report.json")
    def test_of_class_and_function(self):
        pass

@pytest.mark.classay("accuracy >= 0.9", report="report.json")
class TestOfUnittest(unittest.TestCase):
    def test_a_method(self):
        pass

@pytest.mark.classay("accuracy >= 0.9", report="report.json")
async def test_async():
    pass
"""


@pytest.mark.slow
def test_the_plugin_in_its_own_pytest(tmp_path):
    report_of(tree=0.93).save(tmp_path / "report.json")
    (tmp_path / "test_gates.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers",
          "-W", "error", "--junitxml", "gates.xml", "-c", "/dev/null", "--rootdir", "."],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "3 failed, 3 passed, 2 errors" in done.stdout, done.stdout + done.stderr
    assert "is a method of unittest.TestCase; expected" in done.stdout
    assert "is async; expected" in done.stdout
    assert "lower end 0.920 misses 0.990" in done.stdout
    assert "returns no report" in done.stdout
    assert 'failures="3"' in (tmp_path / "gates.xml").read_text()


def test_the_plugin_is_light():
    code = (
        "import sys; import classay.pytest_plugin;"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'numpy', 'pandas', 'sklearn', 'scipy'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
