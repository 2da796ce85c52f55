"""Findings: conclusions from the figures. Rules of one subject share a file.

Read `rules` first: how a rule is declared, what rules share, and when a difference is a finding (`differences`). Then
any rule, such as L103 in `refits`: its code and needs, thresholds, and when it has which outcome. `findings.toml` has
the words: title, entry in the docs, and what each outcome says. A new finding is a new function, its words, and a test
on planted data.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..document import LEVELS, Finding, Unasked
from ..results import Results
from . import classes_and_networks, data_rows, error_slices, fits, refits, scores, test_part  # noqa: F401  # declare rules
from .rules import RULES as DECLARED
from .rules import Judge, Rule

__all__ = ["RULES", "findings_of"]

RULES: dict[str, Rule] = dict(sorted(DECLARED.items(), key=lambda item: item[0][1:]))
"""Every finding that a report can have, by code: those on learners, data, slices, classes, networks."""


def findings_of(
    results: Results, codes: Collection[str] = tuple(RULES)
) -> tuple[tuple[Finding, ...], tuple[Unasked, ...]]:
    """All findings of these rules, warnings first and then by code, and the checks that do not apply.

    Learners that are only a contrast are not asked anything.
    """
    results = replace(
        results,
        learners={name: one for name, one in results.learners.items() if name not in results.contrast},
        predicted={name: held for name, held in results.predicted.items() if name not in results.contrast},
    )
    judge = Judge.of_report(len(results.names), len(results.networks))
    findings: list[Finding] = []
    unasked: list[Unasked] = []
    for code in codes:
        outcome = RULES[code].outcome(results, judge)
        if isinstance(outcome, str):
            unasked.append(Unasked(code, RULES[code].title, outcome))
        else:
            findings += outcome
    findings.sort(key=lambda each: (LEVELS.index(each.level), each.code))
    return tuple(findings), tuple(sorted(unasked, key=lambda each: each.code))
