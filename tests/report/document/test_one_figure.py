"""One figure, one number: on a page the same name never has two values, and no two sentences disagree."""

import re

import pytest
from planted import found, not_drawn
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from suspect_worlds import duplicates, leak, many_kinds, patients_with_id, plain, rare, shifted_test, useless_columns

from classay.report.document.glossary import TERMS
from classay.report.document.verdict import DOUBTS, SPOIL

pytestmark = pytest.mark.slow
LEARNERS = {"tree": DecisionTreeClassifier(), "logistic": LogisticRegression(max_iter=2000)}
WORLDS = {
    "iris": lambda seed: dict(zip(("X", "y"), load_iris(return_X_y=True, as_frame=True))),
    "wine": lambda seed: dict(zip(("X", "y"), load_wine(return_X_y=True, as_frame=True))),
} | {
    world.__name__: world
    for world in (plain, rare, leak, many_kinds, useless_columns, duplicates, patients_with_id, shifted_test)
}


@pytest.fixture(scope="module", params=WORLDS)
def report(request):
    # Default learners once: they take long.
    learners = None if request.param == "iris" else LEARNERS
    with not_drawn():
        return found(learners, **WORLDS[request.param](0), splits=5, repeats=2, n_probes=50)[0].report


def test_a_name_has_one_value(report):
    order = [each.level for each in report.findings]
    assert order == sorted(order, key=["warning", "note", "unknown", "fine"].index)
    seen = {(each.of, each.name): each.estimate.value for each in report.figures}
    assert len(seen) == len(report.figures)
    for sheet in [*report.sheets(), report.verdict.table]:
        if sheet.columns[0] != "learner" or len(set(sheet.of)) < len(sheet.rows):
            continue
        for row in sheet.rows:
            for name, cell in zip(sheet.columns, row):
                if name in TERMS and cell is not None and (row[0], name) in seen:
                    value = getattr(cell, "value", cell)
                    assert value == pytest.approx(seen[row[0], name], nan_ok=True), (sheet.key, name)
    # In sentences: accuracy without another name is the cross-validated one.
    for finding in report.findings:
        if finding.code in ("L101", "D209") and (words := re.search(r"predicts ([\d.]+)\s% \(", finding.sentence)):
            best = max(value for (_, name), value in seen.items() if name == "accuracy")
            value = seen.get((finding.of, "accuracy"), best)
            assert float(words[1]) == pytest.approx(100 * value, abs=0.051)


def test_what_passed_does_not_contradict_a_section(report):
    fine = {each.code: each for each in report.findings if each.level == "fine"}
    rows = {sheet.key: len(sheet.rows) for sheet in report.sheets()}
    of = {code: report.learners if each.of == "all learners" else [each.of] for code, each in fine.items()}
    for name in of.get("S301", ()):
        slices = rows.get(f"slices/{name}", 0)
        assert slices == (report.figure(name, "slices").value if slices else 0)
        assert slices == 0 or f"{name} ({slices})" in fine["S301"].sentence
    if "L110" in fine and fine["L110"].title == "No region stands out":
        assert not any(rows.get(f"disagreement/{name}") for name in of["L110"])
    changing = {each.of for each in report.findings if each.code == "L116" and each.level in ("warning", "note")}
    assert not changing or not {"L103", "L109", "L110"} & set(fine)


def test_the_verdict_recommends_nothing_that_a_finding_speaks_against(report):
    used = re.match(r"Use (?!none)(.+?)\.", report.verdict.sentences[0])
    against = {each.of for each in report.warnings}
    spoiled = [each for each in report.warnings if each.code in SPOIL]
    doubts = [each for each in report.findings if each.code in DOUBTS and each.level in ("note", "unknown")]
    assert used is None or used[1] not in against
    assert used is None or not (spoiled or doubts)
    assert not any(sentence.startswith("Use ") for sentence in report.verdict.sentences[1:])
