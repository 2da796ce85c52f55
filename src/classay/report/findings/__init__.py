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
from ..document.phrases import joined, quoted
from ..document.verdict import recommended
from ..results import Results
from . import classes_and_networks, data_rows, error_slices, fits, refits, scores  # noqa: F401  # declare rules
from .rules import RULES as DECLARED
from .rules import Judge, Rule

__all__ = ["RULES", "findings_of"]

RULES: dict[str, Rule] = dict(sorted(DECLARED.items(), key=lambda item: item[0][1:]))
"""Every finding that a report can have, by code: those on learners, data, slices, classes, networks."""


RANKS_FIRST, UNSAID = "L116", ("L103", "L109", "L110")
"""The first of the warnings on learners, and what is never fine beside it."""


def findings_of(
    results: Results, codes: Collection[str] = tuple(RULES)
) -> tuple[tuple[Finding, ...], tuple[Unasked, ...]]:
    """All findings of these rules, warnings first and then by code, and the checks that do not apply.

    Of default learners only the recommended one is judged: the others are there to compare it with.
    """
    given = set(results.names) - results.contrast
    judged = ({recommended(results)} - {""} or given) if results.contrast else given
    compared, alone = (_of_learners(results, names) for names in (given | judged, judged))
    judge = Judge.of_report(len(compared.names), len(results.networks))
    findings: list[Finding] = []
    unasked: list[Unasked] = []
    for code in codes:
        rule = RULES[code]
        outcome = rule.outcome(alone if rule.alone else compared, judge)
        made = [Unasked(code, rule.title, outcome)] if isinstance(outcome, str) else outcome
        kept = [each for each in made if isinstance(each, Finding) and each.of not in set(results.names) - judged]
        if made and not kept:
            of_others = Unasked(code, rule.title, "it is found of default learners only that are not recommended")
            unasked.append(made[0] if isinstance(made[0], Unasked) else of_others)
        findings += kept
    if changing := {each.of for each in findings if each.code == RANKS_FIRST and each.level in ("warning", "note")}:
        hidden = [each for each in findings if each.code in UNSAID and each.level == "fine"]
        findings = [each for each in findings if each not in hidden]
        why = f"predictions of {joined([quoted(name) for name in sorted(changing)])} change ({RANKS_FIRST})"
        unasked += [Unasked(each.code, RULES[each.code].title, why) for each in hidden]
    findings.sort(key=lambda each: (LEVELS.index(each.level), each.code[0], each.code != RANKS_FIRST, each.code))
    return tuple(findings), tuple(sorted(unasked, key=lambda each: each.code))


def _of_learners(results: Results, names: Collection[str]) -> Results:
    """The results of these learners only."""
    return replace(
        results,
        learners={name: one for name, one in results.learners.items() if name in names},
        predicted={name: held for name, held in results.predicted.items() if name in names},
    )
