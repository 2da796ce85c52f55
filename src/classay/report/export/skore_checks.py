"""Findings of a report as checks of skore, beside skore's own in `report.checks.summarize()`.

skore's `Check` is a protocol, so this needs no skore; if skore is installed, a check that was not possible is shown as
not applicable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ...expect import InputError, nearest, shown
from ..document import Finding, Report, Unasked

TYPES = ("estimator", "cross-validation")
SEVERITY = {"warning": "issue", "note": "tip", "unknown": "tip", "fine": "tip"}


@dataclass
class FindingCheck:
    """One finding with the attributes of skore's `Check`; it ignores the report of skore that it is added to."""

    code: str
    title: str
    severity: str
    explanation: str | None
    why_not: str = ""
    docs_url: str | None = None
    slow: bool = False
    report_types: list[str] = field(default_factory=lambda: list(TYPES))

    def check_function(self, report: Any) -> str | None:
        """The finding in words, or None if the check passed."""
        if self.why_not:
            raise _not_applicable()(self.why_not)
        return self.explanation


def checks_of(report: Report, of: str | None = None) -> list[FindingCheck]:
    """The findings of a report on one learner, and on the data; `of` is needed if the report has several learners."""
    learners = report.learners
    if of is None and len(learners) > 1:
        raise InputError(f"The report has several learners ({shown(learners)}); name one: of={learners[0]!r}.")
    if of is not None and of not in learners:
        raise InputError(
            f"`of` is {of!r}, which is not in the report.{nearest(of, learners)} It has {shown(learners)}."
        )
    name = of or next(iter(learners), "")
    others = set(learners) - {name}
    # One check for each code: the most serious finding counts, and the others are in the same text.
    by_code: dict[str, list[Finding]] = {}
    for each in report.findings:
        if each.of not in others:
            by_code.setdefault(each.code, []).append(each)
    checks = [_check(code, findings) for code, findings in by_code.items()]
    return checks + [_impossible(each) for each in report.unasked if each.code not in by_code]


def _check(code: str, findings: list[Finding]) -> FindingCheck:
    serious = [each for each in findings if each.level != "fine"]
    if not serious:
        return FindingCheck(code, findings[0].title, SEVERITY["fine"], None)
    texts = [" ".join(part for part in (each.sentence, each.action) if part) for each in serious]
    return FindingCheck(code, serious[0].title, SEVERITY[serious[0].level], " ".join(texts))


def _impossible(unasked: Unasked) -> FindingCheck:
    return FindingCheck(unasked.code, unasked.title, SEVERITY["note"], None, unasked.why or "it could not be checked")


def _not_applicable() -> type[Exception]:
    try:
        kind: type[Exception] = import_module("skore").CheckNotApplicable
    except (ImportError, AttributeError):
        return InputError
    return kind
