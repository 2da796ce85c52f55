"""Gates on two learners, and a report against an earlier one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_reports import small_report

from classay import InputError
from classay.intervals import Estimate
from classay.report.document import Figure
from classay.report.gates.against import changes_between
from classay.report.gates.gates import gate_from
from classay.report.gates.pair_gates import check_pair_gates, is_pair_gate, no_worse, pair_gate_from


def report_with(**accuracies: Estimate):
    figures = tuple(Figure("learner", name, "accuracy", value) for name, value in accuracies.items())
    return replace(small_report(), figures=figures, failed={})


def around(value: float, half: float = 0.02) -> Estimate:
    return Estimate(value, value - half, value + half)


def test_a_gate_fails_only_on_a_shown_drop():
    report = report_with(champion=around(0.92), candidate=around(0.90))
    gate = pair_gate_from("candidate.accuracy >= champion.accuracy - 0.01")
    verdict = check_pair_gates(report, [gate])[0]
    assert verdict.passed  # −0.02 ± 0.028 is not shown to be below −0.01
    worse = check_pair_gates(report_with(champion=around(0.92), candidate=around(0.80)), [gate])[0]
    assert not worse.passed
    assert "beyond -0.01" in worse.why
    strict = pair_gate_from("candidate.accuracy.low >= champion.accuracy - 0.01")
    assert not check_pair_gates(report, [strict])[0].passed


def test_pairs_are_used_where_they_are_known():
    report = report_with(champion=around(0.92), candidate=around(0.90))
    gate = pair_gate_from("candidate.accuracy >= champion.accuracy - 0.01")
    paired = check_pair_gates(report, [gate], paired=lambda one, other, figure: Estimate(-0.02, -0.025, -0.015))[0]
    assert not paired.passed
    assert paired.margin == pytest.approx(-0.005)


def test_an_earlier_report_is_the_champion():
    before, now = report_with(tree=around(0.95, 0.01)), report_with(tree=around(0.80, 0.01))
    gates = no_worse(0.01)
    verdict = check_pair_gates(now, gates, before)[0]
    assert (verdict.of, verdict.passed) == ("tree", False)
    assert check_pair_gates(before, gates, before)[0].passed
    other = check_pair_gates(report_with(forest=around(0.9)), gates, before)[0]
    assert not other.passed
    assert "no such figure" in other.why


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("candidate.accuracy >= champion.stability", "the same figure on both sides"),
        ("candidate.acuracy >= champion.acuracy", "Did you mean accuracy"),
        ("candidate >= champion", "cannot be read"),
    ],
)
def test_gates_that_cannot_be_read(text, message):
    with pytest.raises(InputError, match=message):
        pair_gate_from(text)


def test_a_name_that_is_not_in_the_report():
    gate = pair_gate_from("candidate.accuracy >= champion.accuracy")
    with pytest.raises(InputError, match=r"not in the report.*--against last\.json"):
        check_pair_gates(report_with(tree=around(0.9)), [gate])


def test_changes_between_reports():
    old = report_with(tree=around(0.95, 0.01), forest=around(0.9))
    new = report_with(tree=around(0.80, 0.01))
    changes = changes_between(old, new)
    assert changes.regression_shown
    assert changes.of("learner", "tree", "accuracy").verdict == "worse"
    assert changes.changes[0].change_text.startswith("-0.15")
    assert "Only the old report has forest" in changes.notes[0]
    assert not changes_between(old, new, min_effect=0.2).regression_shown
    assert changes_between(new, old).of("learner", "tree", "accuracy").verdict == "better"
    assert changes.to_dict()["changes"][0]["of"] == "tree"


@pytest.mark.parametrize("text", ["data.baseline_accuracy >= 0.8", "data.unlike_share <= .1", "learner.gap <= 1.5e-1"])
def test_a_bound_with_a_decimal_point_is_not_another_learner(text):
    assert not is_pair_gate(text)
    assert gate_from(text).bound > 0
