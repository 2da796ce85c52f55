"""JUnit XML is well-formed for any text, and has one test case a gate."""

from __future__ import annotations

from xml.etree import ElementTree as xml

from gate_reports import NASTY, small_report
from hypothesis import given
from hypothesis import strategies as st

from classay.intervals import Estimate
from classay.report.gates.gates import Verdict, ban_from, check_gates, gate_from, junit


def test_one_case_a_gate():
    verdicts = check_gates(small_report(), [gate_from("stability >= 0.9")], [ban_from("L102")])
    suite = xml.fromstring(junit(verdicts, "classay.toml", 1.5)).find("testsuite")
    assert suite.attrib == {
        "name": "classay.toml",
        "tests": "4",
        "failures": "3",
        "errors": "0",
        "skipped": "0",
        "time": "1.500",
    }
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
