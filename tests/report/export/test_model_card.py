"""The model card says what the report says, and users' words stay words."""

from __future__ import annotations

import re

import pytest
from gate_reports import NASTY, small_report
from hypothesis import given
from hypothesis import strategies as st

from classay.report.document import Section, Sheet
from classay.report.export.model_card import card, escaped


def test_the_card_of_a_report():
    text = card(small_report())
    lines = text.splitlines()
    assert lines[0] == r"## Assay of forest\|fire"
    for part in (
        "- `L102` tree: tree is less stable. *forest has 0.99* **Refit more.**",
        "**Warnings**",
        "**Checks passed**",
        "1 check not possible: C101 More classes (there are 2 classes).",
        "| learner | accuracy | stability | capacity |",
        "| --- | ---: | ---: | ---: |",
        "| tree | 0.300 (0.250 to 0.333) | 0.925 (0.900 to 0.950) | 0.50 (0.20 to 0.80) |",
        "**svm**: no results. It did not converge.",
        "- seed: 0",
        "- versions: classay 0.1.0",
        "Of 20 splits.",
    ):
        assert part in lines, part
    assert "unknown (at least 0.00)" in text
    assert "- stability: Probability that two refits" in text
    # The fence is longer than the backticks in the command.
    assert lines[-3:] == ["````sh", "classay report 'forest|fire.csv' ```", "````"]


def test_nobody_writes_markup():
    text = card(small_report())
    for words in ("<script", "\x07", "\u2028"):
        assert words not in text
    # Every row of the table has as many cells as its head, whatever is in them.
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}


def test_a_card_without_learners_or_findings():
    text = card(small_report(findings=(), unasked=(), sections=(), failed={}, settings={}, about={}))
    assert "None." in text
    assert "### Learners" not in text


def test_a_sheet_with_other_columns():
    sheet = Sheet("overview", "Learners", ("learner", "my_own"), (("tree", True), ("x", 2)))
    text = card(small_report(sections=(Section("learners", "Learners", "", sheets=(sheet,)),)))
    assert "| learner | my own |" in text
    assert "| tree | yes |" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# head", r"\# head"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("snake_case", "snake_case"),
        ("_em_ __strong__", r"\_em\_ \_\_strong\_\_"),
        ("[a](javascript:b)", r"\[a\](javascript:b)"),
        ("&amp; <b>", "&amp;amp; &lt;b&gt;"),
        ("http://x www.y", "http:&#47;/x www&#46;y"),
        ("a\\|b", r"a\\\|b"),
    ],
)
def test_escaping(text, expected):
    assert escaped(text) == expected


@given(st.text())
def test_any_text_stays_on_one_line_and_within_its_cell(text):
    line = escaped(text)
    assert len(line.splitlines()) <= 1
    assert "<" not in line
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*]", re.sub(r"\\[^\\]", "", line.replace("\\\\", "")))


def test_nasty_text_is_still_told():
    assert "שלום" in escaped(NASTY)
    assert "🌲" in escaped(NASTY)


def test_how_columns_were_read_is_not_on_the_card():
    text = card(small_report(about={"rows": 5, "audit": {"columns": [{"name": "age", "why": "numbers"}]}}))
    assert "rows: 5." in text
    assert "audit" not in text
