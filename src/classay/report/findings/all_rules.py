"""All findings of a report, most important first."""

from __future__ import annotations

from ..document import LEVELS, Finding, Unasked
from ..results import Results
from .classes_and_networks import class_findings, network_findings
from .comparisons import comparison_findings
from .data import data_findings
from .learners import learner_findings, refit_findings
from .rules import judge
from .slices import slice_findings

RULES = (
    comparison_findings,
    learner_findings,
    refit_findings,
    data_findings,
    slice_findings,
    class_findings,
    network_findings,
)


def findings_of(parts: Results) -> tuple[tuple[Finding, ...], tuple[Unasked, ...]]:
    """All findings, warnings first and then by code, and the checks that do not apply."""
    judging = judge(len(parts.learners), len(parts.networks))
    found: list[Finding] = []
    unasked: list[Unasked] = []
    for rule in RULES:
        some, none = rule(parts, judging)
        found += some
        unasked += none
    found.sort(key=lambda each: (LEVELS.index(each.level), each.code))
    return tuple(found), tuple(sorted(unasked, key=lambda each: each.code))
