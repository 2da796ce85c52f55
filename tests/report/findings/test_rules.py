"""Every file with a code in its name is one whole rule: registered, documented, and under its own code."""

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

from classay.report import findings
from classay.report.findings import RULES
from classay.report.findings.rules import Judge

ROOT = Path(__file__).parents[3]
FILES = sorted(Path(findings.__file__).parent.glob("[a-z][0-9][0-9][0-9]_*.py"))


@pytest.fixture(scope="module")
def page():
    sys.path.insert(0, str(ROOT / "docs" / "hooks"))
    return importlib.import_module("findings").page()


def test_every_file_is_registered_in_the_order_of_its_number():
    assert [rule.code for rule in RULES.values()] == list(RULES)
    assert list(RULES) == [path.stem[:4].upper() for path in sorted(FILES, key=lambda path: path.stem[1:])]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_one_whole_rule(path, page):
    module = importlib.import_module(f"classay.report.findings.{path.stem}")
    rule = RULES[path.stem[:4].upper()]
    assert (module.CODE, module.TITLE, module.check) == (rule.code, rule.title, rule.check)
    assert list(inspect.signature(rule.check).parameters) == ["results", "judge"]
    # It says what it asks, and when the answer is a warning, a note, or neither.
    question, rest = inspect.cleandoc(rule.docs).split("\n\n")
    assert question.endswith("?")
    assert re.match(r"- \*A (warning|note)( when| always):\* [A-Z]", rest)
    assert re.search(r"^- \*(Fine|Not reported) when:\* [A-Z]|^- \*A note always", rest, flags=re.MULTILINE)
    levels = set(re.findall(r'"(warning|note|fine)"', path.read_text(encoding="utf-8")))
    assert levels == {
        level
        for level, text in {"warning": "A warning", "note": "A note", "fine": "Fine"}.items()
        if f"*{text} " in rest
    }
    assert f"### {rule.code} {rule.title} {{ #{rule.code} }}\n\n{question}\n" in page


def test_findings_are_made_by_keyword_only():
    with pytest.raises(TypeError):
        findings.Finding("L101", "note", "tree", "title", "sentence", None, "reference")


def test_the_level_of_a_warning_is_shared_by_all_comparisons():
    # Two warnings per learner, two per ordered pair, two for the data, one per network.
    assert Judge.of_report(3, 1).comparisons == 6 + 12 + 2 + 1
    assert Judge.of_report(3, 1).level == pytest.approx(1 - 0.03 / 21)


@pytest.mark.parametrize("code", RULES)
def test_every_rule_is_tested_on_planted_data(code):
    tests = [path for path in Path(__file__).parents[1].rglob("test_*.py") if "planted" in path.read_text()]
    assert any(f'"{code}"' in path.read_text(encoding="utf-8") for path in tests)
