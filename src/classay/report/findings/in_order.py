"""All findings of a report, in order of weight."""

from __future__ import annotations

from ..finding import LEVELS, Finding, Unasked
from ..parts import Parts
from .judging import judge
from .of_comparisons import comparison_findings
from .of_data import data_findings
from .of_learners import learner_findings
from .of_others import class_findings, network_findings
from .of_refits import refit_findings
from .of_slices import slice_findings

RULES = (
    comparison_findings,
    learner_findings,
    refit_findings,
    data_findings,
    slice_findings,
    class_findings,
    network_findings,
)


def findings_of(parts: Parts) -> tuple[tuple[Finding, ...], tuple[Unasked, ...]]:
    """All findings, warnings first and then by code, and those that do not apply."""
    judging = judge(len(parts.learners), len(parts.networks))
    found: list[Finding] = []
    unasked: list[Unasked] = []
    for rule in RULES:
        some, none = rule(parts, judging)
        found += some
        unasked += none
    found.sort(key=lambda each: (LEVELS.index(each.level), each.code))
    return tuple(found), tuple(sorted(unasked, key=lambda each: each.code))
