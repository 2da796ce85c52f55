"""A report against an earlier one."""

from __future__ import annotations

from dataclasses import replace

from gate_reports import small_report

from classay.intervals import Estimate
from classay.report.document import Figure
from classay.report.gates.report_changes import changes_between


def report_with(**accuracies: float):
    figures = tuple(
        Figure("learner", name, "accuracy", Estimate(value, value - 0.01, value + 0.01))
        for name, value in accuracies.items()
    )
    return replace(small_report(), figures=figures, failed={})


def test_changes_between_reports():
    old, new = report_with(tree=0.95, forest=0.9), report_with(tree=0.80)
    changes = changes_between(old, new)
    assert changes.regression_shown
    (change,) = changes.changes
    assert (change.of, change.verdict) == ("tree", "worse")
    assert change.texts[:3] == ("tree: accuracy", "0.950", "0.800")
    assert change.texts[3].startswith("-0.15")
    assert "Only the old report has forest" in changes.notes[0]
    assert changes.to_dict()["changes"][0]["of"] == "tree"
    assert not changes_between(old, new, min_effect=0.2).regression_shown
    back = changes_between(new, old)
    assert back.changes[0].verdict == "better"
    assert "Only the new report has forest" in back.notes[0]
