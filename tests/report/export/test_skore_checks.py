"""Findings as checks of skore: by hand, and with skore itself where it is installed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_reports import small_report

from classay import InputError
from classay.intervals import Estimate
from classay.report.document import Figure, Finding, Unasked


def report_of(*learners: str):
    value = Estimate(0.5, 0.4, 0.6)
    findings = (
        Finding(code="L103", level="warning", of="tree", title="Random", sentence="It varies.", value=value,
                reference="", action="Average."),
        Finding(code="L103", level="warning", of="forest", title="Random", sentence="So does it.", value=value,
                reference=""),
        Finding(code="D202", level="note", of="data", title="Labels", sentence="Two suspects.", value=value,
                reference=""),
        Finding(code="L102", level="fine", of="tree", title="Stable", sentence="Fine.", value=value, reference=""),
    )  # fmt: skip
    figures = tuple(Figure("learner", name, "accuracy", value) for name in learners)
    unasked = (Unasked("C401", "More classes", "there are 2 classes"),)
    return replace(small_report(), findings=findings, figures=figures, unasked=unasked, failed={})


def test_findings_of_one_learner_and_of_the_data():
    checks = {each.code: each for each in report_of("tree", "forest").skore_checks(of="tree")}
    assert checks["L103"].check_function(None) == "It varies. Average."
    assert (checks["L103"].severity, checks["D202"].severity) == ("issue", "tip")
    assert checks["L102"].check_function(None) is None
    with pytest.raises(Exception, match="2 classes"):
        checks["C401"].check_function(None)


def test_which_learner_must_be_known():
    with pytest.raises(InputError, match="name one"):
        report_of("tree", "forest").skore_checks()
    with pytest.raises(InputError, match="Did you mean tree"):
        report_of("tree", "forest").skore_checks(of="tre")


@pytest.mark.filterwarnings("default")
def test_skore_itself():
    skore = pytest.importorskip("skore")
    from sklearn.datasets import load_iris
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_iris(return_X_y=True)
    theirs = skore.evaluate(DecisionTreeClassifier(max_depth=2), X, y, splitter=0.3)
    theirs.checks.add(report_of("tree").skore_checks())
    frame = theirs.checks.summarize(fast_mode=True).frame().set_index("code")
    assert frame.loc["L103", "section"] == "issue"
    assert frame.loc["D202", "section"] == "tip"
    assert frame.loc["L102", "section"] == "passed"
    assert frame.loc["C401", "section"] == "not_applicable"
