"""Gates are read strictly and held against the end of the interval that makes passing harder."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from xml.etree import ElementTree as xml

import pytest
from gate_reports import NASTY, small_report
from hypothesis import given
from hypothesis import strategies as st

from classay import InputError
from classay.intervals import Estimate, exact
from classay.learner.scores.scorers import scorer_names
from classay.report.document import Figure, Unasked
from classay.report.document.glossary import TERMS
from classay.report.gates.gate import FIGURES, ban_from, gate_from
from classay.report.gates.gates import Verdict, check_gates, junit, summary
from classay.result import plain

COLUMNS_ONLY = {"complexity", "size", "error_rate", "rest_rate", "disagreement", "rest_disagreement", "lift", "q_value"}


def of_tree(estimate, text, name="stability"):
    report = small_report(figures=(Figure("learner", "tree", name, estimate),), failed={})
    (verdict,) = check_gates(report, [gate_from(text)])
    return verdict


def test_every_figure_has_its_term_and_every_term_is_a_figure_or_a_column():
    names = {name for names in FIGURES.values() for name in names}
    assert names <= set(TERMS)
    columns = {name for name in set(TERMS) - names if name not in scorer_names()}
    assert columns == COLUMNS_ONLY, "is the new term a figure (report/gates.py) or a column only (here)?"


@pytest.mark.parametrize(
    ("text", "end", "passed", "margin"),
    [
        ("stability >= 0.9", "low", True, 0.0),
        ("stability > 0.9", "low", False, 0.0),
        ("stability >= 0.91", "low", False, -0.01),
        ("stability.value >= 0.91", "value", True, 0.015),
        ("stability.high>=.96", "high", False, -0.01),
        ("stability <= 0.95", "high", True, 0.0),
        ("stability < 0.95", "high", False, 0.0),
        ("stability.low <= 9.1e-1", "low", True, 0.01),
        ("  stability  <=  1  ", "high", True, 0.05),
        ("stability >= -1", "low", True, 1.9),
        ("stability >= −1", "low", True, 1.9),
    ],
)
def test_which_end_is_compared(text, end, passed, margin):
    verdict = of_tree(Estimate(0.925, 0.9, 0.95), text)
    assert (verdict.end, verdict.passed) == (end, passed)
    assert verdict.margin == pytest.approx(margin)
    assert verdict.of == "tree"


def test_counts_may_be_equal():
    assert of_tree(exact(3), "slices == 3", "slices").passed
    verdict = of_tree(exact(4), "slices == 3", "slices")
    assert not verdict.passed
    assert verdict.why == "value 4 misses 3 by 1"


@given(
    value=st.floats(-5, 5),
    below=st.floats(0, 2),
    above=st.floats(0, 2),
    bound=st.floats(-5, 5),
    sign=st.sampled_from([">=", ">", "<=", "<"]),
)
def test_what_passes_passes_anywhere_in_the_interval(value, below, above, bound, sign):
    estimate = Estimate(value, value - below, value + above)
    if of_tree(estimate, f"kappa {sign} {bound!r}", "kappa").passed:
        for end in ("low", "value", "high"):
            assert of_tree(estimate, f"kappa.{end} {sign} {bound!r}", "kappa").passed


@pytest.mark.parametrize(
    ("estimate", "message"),
    [
        (Estimate(math.nan, 0.95, 1.0), "it is unknown: the data cannot identify it"),
        (Estimate(0.99, -math.inf, math.inf), "lower end is unbounded: there are too few refits or rows"),
        (Estimate(0.99, math.nan, 1.0), "it is unknown: the data cannot identify it"),
        (Estimate(0.899, 0.8, 0.95), "lower end 0.800 misses 0.900 by 0.100"),
        (Estimate(0.95, 0.89999, 0.97), "lower end 0.900 misses 0.900 by 1e-05"),
    ],
)
def test_why_a_gate_failed(estimate, message):
    verdict = of_tree(estimate, "stability >= 0.9")
    assert not verdict.passed
    assert verdict.why == message


def test_whom_gates_are_about():
    report = small_report()
    texts = ["stability >= 0.9", "data.suspects <= 10", "classes.accuracy_double >= 0.5", "network.estimate >= 0.7"]
    found = {(each.of, each.gate): each for each in check_gates(report, map(gate_from, texts))}
    assert list(found) == [
        ("tree", "stability >= 0.9"),
        (NASTY, "stability >= 0.9"),
        ("svm", "stability >= 0.9"),
        ("data", "data.suspects <= 10"),
        ("classes", "classes.accuracy_double >= 0.5"),
        ("resnet", "network.estimate >= 0.7"),
    ]
    assert [each.passed for each in found.values()] == [True, False, False, False, True, True]
    assert found["svm", "stability >= 0.9"].why == "svm gave no results: It did not converge."
    assert found["data", "data.suspects <= 10"].why == "value 12 misses 10 by 2"


def test_what_is_not_there_fails_and_says_so():
    report = small_report(figures=(Figure("learner", "tree", "stability", exact(1.0)),), failed={})
    texts = ["network.estimate >= 0.1", "classes.information >= 0", "kappa >= 0", "stability >= 0"]
    why = {(each.of, each.gate.split()[0]): each.why for each in check_gates(report, map(gate_from, texts), ["forest"])}
    assert why["network", "network.estimate"] == "no network was given"
    assert why["classes", "classes.information"] == "there is no such figure: it could not be measured"
    assert why["tree", "kappa"] == "there is no such figure: it could not be measured"
    assert why["forest", "stability"] == "it was not fitted"
    assert why["tree", "stability"] == "value 1.000"


def test_findings_can_be_forbidden():
    report = small_report()
    bans = [ban_from("L102"), ban_from("warning", "tree"), ban_from("note", "tree"), ban_from("L101"), ban_from("L109")]
    verdicts = check_gates(report, bans)
    assert [each.passed for each in verdicts] == [False, False, True, True, True]
    assert verdicts[0].why == "L102 tree: tree is less stable."
    assert verdicts[2].why == "none found"
    assert verdicts[0].gate == "no L102"


def test_a_finding_that_could_not_be_looked_for_is_not_known_to_be_absent():
    report = small_report(unasked=(Unasked("C401", "More classes", "there are 2 classes"),))
    (verdict,) = check_gates(report, [gate_from("no C401")])
    assert not verdict.passed
    assert verdict.why == "it could not be checked: there are 2 classes"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stabilty >= 0.9", "Did you mean stability"),
        ("suspects <= 3", "write data.suspects"),
        ("data.stability >= 0.9", "It is a figure of a learner: write stability"),
        ("date.suspects >= 0.9", "Did you mean data"),
        ("stability => 0.9", "cannot be read"),
        ("stability >= high", "cannot be read"),
        ("stability.lower >= 1", "stability"),
        ("stability == 0.9", "only for counts"),
        ("stability >= 1e999", "finite"),
        ("stability >= nan", "cannot be read"),
        ("", "cannot be read"),
        ("__import__('os') >= 1", "cannot be read"),
        (3, "cannot be read"),
        ("x" * 500 + " >= 1", "not a figure of a learner"),
        ("candidate.accuracy >= champion.stability", "the same figure on both sides"),
        ("candidate.acuracy >= champion.acuracy", "Did you mean accuracy"),
        ("candidate >= champion", "cannot be read"),
    ],
)
def test_bad_gates(text, message):
    with pytest.raises(InputError, match=message) as told:
        gate_from(text)
    assert len(str(told.value)) < 900


def test_a_learners_gate_cannot_be_about_data():
    with pytest.raises(InputError, match="expected only figures of a learner"):
        gate_from("data.suspects <= 1", "tree")


def test_bad_bans():
    for text in ("L999", "warnings", "fine", 3, ""):
        with pytest.raises(InputError, match="codes of findings"):
            ban_from(text)


def test_the_summary_and_verdicts_are_plain():
    verdicts = check_gates(small_report(), [gate_from("data.suspects <= 10"), gate_from("data.suspects <= 20")])
    assert summary(verdicts) == "1 gate passed, 1 failed."
    text = json.dumps(plain(check_gates(small_report(), [gate_from("stability >= 0.9")])), allow_nan=False)
    assert json.loads(text)[0]["estimate"]["low"] == 0.9


def test_gates_of_one_learner_name_any_scorer():
    gates = [gate_from("accuracy.high <= 0.5", "tree"), gate_from("f1_macro >= 0.8", "tree")]
    verdicts = check_gates(small_report(), gates)
    assert [(verdict.of, verdict.passed) for verdict in verdicts] == [("tree", True), ("tree", False)]
    assert "--metric f1_macro" in verdicts[1].why


# Gates on two learners, and on a learner in two reports.

NO_WORSE = "candidate.accuracy >= champion.accuracy - 0.01"


def report_with(**accuracies: Estimate):
    figures = tuple(Figure("learner", name, "accuracy", value) for name, value in accuracies.items())
    return replace(small_report(), figures=figures, failed={})


def around(value: float, half: float = 0.02) -> Estimate:
    return Estimate(value, value - half, value + half)


@pytest.mark.parametrize(
    ("text", "candidate", "passed"),
    [
        (NO_WORSE, 0.90, True),  # −0.02 ± 0.028 is not shown to be below −0.01
        (NO_WORSE, 0.80, False),
        ("candidate.accuracy.low >= champion.accuracy - 0.01", 0.90, False),
    ],
)
def test_a_gate_on_two_fails_only_on_a_shown_drop(text, candidate, passed):
    report = report_with(champion=around(0.92), candidate=around(candidate))
    (verdict,) = check_gates(report, [gate_from(text)])
    assert verdict.passed == passed
    assert passed or "beyond -0.01" in verdict.why


def test_pairs_are_used_where_they_are_known():
    report = report_with(champion=around(0.92), candidate=around(0.90))
    (verdict,) = check_gates(report, [gate_from(NO_WORSE)], paired=lambda *_: Estimate(-0.02, -0.025, -0.015))
    assert not verdict.passed
    assert verdict.margin == pytest.approx(-0.005)


def test_an_earlier_report_is_the_champion():
    before, now = report_with(tree=around(0.95, 0.01)), report_with(tree=around(0.80, 0.01))
    (verdict,) = check_gates(now, [], before=before, min_effect=0.01)
    assert (verdict.of, verdict.gate, verdict.passed) == ("tree", NO_WORSE, False)
    assert check_gates(before, [], before=before)[0].passed
    # Its own gate on the champion takes the place of the one on accuracy.
    (own,) = check_gates(now, [gate_from("candidate.accuracy >= champion.accuracy - 0.2")], before=before)
    assert own.passed
    (other,) = check_gates(report_with(forest=around(0.9)), [], before=before)
    assert not other.passed
    assert "no such figure" in other.why


def test_a_name_that_is_not_in_the_report():
    with pytest.raises(InputError, match=r"not in the report.*--against last\.json"):
        check_gates(report_with(tree=around(0.9)), [gate_from(NO_WORSE)])


@pytest.mark.parametrize("text", ["data.baseline_accuracy >= 0.8", "data.unlike_share <= .1", "learner.gap <= 1.5e-1"])
def test_a_bound_with_a_decimal_point_is_not_another_learner(text):
    assert gate_from(text).bound > 0


# JUnit XML is well-formed for any text, and has one test case a gate.


def test_one_case_a_gate():
    verdicts = check_gates(small_report(), [gate_from("stability >= 0.9"), gate_from("no L102")])
    suite = xml.fromstring(junit(verdicts, "classay.toml", 1.5)).find("testsuite")
    counts = {"tests": "4", "failures": "3", "errors": "0", "skipped": "0"}
    assert suite.attrib == {"name": "classay.toml", **counts, "time": "1.500"}
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["stability >= 0.9"] * 3 + ["no L102"]
    assert [case.find("failure") is None for case in cases] == [True, False, False, False]
    assert cases[0].get("classname") == "classay.tree"
    assert cases[3].get("classname") == "classay.findings"
    assert cases[2].find("failure").get("message") == "svm gave no results: It did not converge."
    assert NASTY.split()[-1] in cases[1].get("classname")


@given(st.text(st.characters()), st.text(st.characters()))
def test_any_text_is_well_formed(name, why):
    verdict = Verdict(name, why, "gap", Estimate(1, 0, 2, kind=name), "low", 0.0, False, -1.0, why)
    case = xml.fromstring(junit([verdict], name)).find("testsuite/testcase")
    assert case.find("failure") is not None
    junit([verdict], name).encode("utf-8")
