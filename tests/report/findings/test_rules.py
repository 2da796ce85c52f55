"""Every rule is whole: documented, on the page of findings, under its own code, and tested on planted data."""

import ast
import importlib
import inspect
import re
import sys
from pathlib import Path
from string import Formatter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from classay.intervals import Estimate
from classay.report.document import Finding
from classay.report.findings import RULES, findings_of
from classay.report.findings.rules import WORDING, Judge, Rule, say
from classay.report.results import Results
from classay.tables.data import Data

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def page():
    sys.path.insert(0, str(ROOT / "docs" / "hooks"))
    return importlib.import_module("findings").page()


def test_rules_are_in_the_order_of_their_numbers():
    assert [rule.code for rule in RULES.values()] == list(RULES)
    assert list(RULES) == sorted(RULES, key=lambda code: code[1:])
    assert len({rule.title for rule in RULES.values()}) == len(RULES) == 30


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_says_what_it_asks_and_when_the_answer_is_a_warning_or_a_note(rule, page):
    question, rest = inspect.cleandoc(rule.docs).split("\n\n")
    assert question.endswith("?")
    assert re.match(r"- \*A (warning|note)( when| always):\* [A-Z]", rest)
    assert re.search(r"^- \*(Fine|Not reported) when:\* [A-Z]|^- \*A note always", rest, flags=re.MULTILINE)
    assert f"### {rule.code} {rule.title} {{ #{rule.code} }}\n\n{question}\n" in page
    assert inspect.getdoc(rule.check) == question
    levels = {outcome["level"] for outcome in WORDING[rule.code].values() if isinstance(outcome, dict)}
    named = {"warning": "*A warning ", "note": "*A note ", "unknown": "*Unknown ", "fine": "*Fine "}
    assert levels == {level for level, text in named.items() if text in rest}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_what_the_words_of_a_rule_need_its_file_gives(rule):
    """Every outcome is reached by its name, and every part of its sentences is passed by its name."""
    tree = ast.parse(Path(inspect.getfile(rule.check)).read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    passed = texts | {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)} | {"of", "value"}
    for name, outcome in WORDING[rule.code].items():
        if isinstance(outcome, dict):
            words = WORDING[rule.code] | outcome
            assert name in texts
            sentences = [words.get(key, "") for key in ("title", "sentence", "reference", "action")]
            assert {part for text in sentences for _, part, _, _ in Formatter().parse(text) if part} <= passed
            assert words["sentence"]
            assert words["reference"]
            assert words["level"] != "fine" or not words.get("action")
            assert words["level"] != "warning" or words["action"]


@pytest.mark.parametrize("code", RULES)
def test_every_rule_is_tested_on_planted_data(code):
    tests = [path for path in Path(__file__).parents[1].rglob("test_*.py") if "planted" in path.read_text()]
    assert any(f'"{code}"' in path.read_text(encoding="utf-8") for path in tests)


def test_findings_are_made_by_keyword_only():
    with pytest.raises(TypeError):
        Finding("L101", "note", "tree", "title", "sentence", None, "reference")


def test_a_rule_speaks_in_its_words_and_says_what_it_lacks(monkeypatch):
    words = {
        "title": "Usual",
        "sentence": "{of} has {value:percent}, {count:,} rows.",
        "bad": {"level": "warning", "title": "Other", "action": "Drop {name:quoted}."},
        "good": {"level": "fine"},
    }
    monkeypatch.setitem(WORDING, "D999", words)
    value = Estimate(0.5, 0.4, 0.6)

    def check(results, judge):
        return [say(outcome, "data", value, count=1234, name="{of}") for outcome in ("bad", "good")]

    rule = Rule("D999", check, (lambda results: results.why.get("lacks", ""),))
    bad, good = rule.outcome(SimpleNamespace(why={}), None)
    assert (bad.code, bad.level, bad.title, bad.action) == ("D999", "warning", "Other", "Drop {of}.")
    assert (good.level, good.title, good.action) == ("fine", "Usual", "")
    assert bad.sentence == good.sentence == "data has 50.0\u00a0% (40.0 to 60.0), 1,234 rows."
    assert rule.outcome(SimpleNamespace(why={"lacks": "no rows"}), None) == "no rows"


def test_without_learners_every_rule_on_them_says_what_it_lacks():
    rng = np.random.default_rng(0)
    data = Data.of(pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]), np.arange(60) % 2)
    findings, unasked = findings_of(Results(data, {}))
    assert {each.code for each in findings} == {"D203"}
    assert {each.code for each in unasked} == set(RULES) - {"D203", "D204", "L107", "N502"}
    assert all(each.why for each in unasked)


def test_the_level_of_a_warning_is_shared_by_all_comparisons():
    # Four warnings per learner, two per ordered pair, two for the data, one per network.
    assert Judge.of_report(3, 1).comparisons == 12 + 12 + 2 + 1
    assert Judge.of_report(3, 1).level == pytest.approx(1 - 0.03 / 27)
