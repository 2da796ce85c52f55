"""Findings: conclusions from the figures, one rule per file, with its code in the file name.

Read `rules` first: what rules share, and when a difference is a finding. Then any rule, such as
`l103_training_randomness`: its code, title and thresholds; when it is a warning, a note or fine; the wording and what
to do. Its docstring is its entry in the docs. Every module of this folder that begins with a code is a rule: a new
finding is a new file and a test on planted data.
"""

from __future__ import annotations

import pkgutil
import re
from dataclasses import replace
from importlib import import_module

from ..document import LEVELS, Finding, Unasked
from ..results import Results
from .rules import Judge, Outcome, Rule, limited

__all__ = ["RULES", "findings_of"]


def _rules() -> dict[str, Rule]:
    names = [each.name for each in pkgutil.iter_modules(__path__) if re.match(r"[a-z]\d{3}_", each.name)]
    rules: dict[str, Rule] = {}
    for name in sorted(names, key=lambda name: name[1:]):
        module = import_module(f".{name}", __name__)
        rules[module.CODE] = Rule(
            code=module.CODE,
            title=module.TITLE,
            docs=module.__doc__ or "",
            check=module.check,
            basis=getattr(module, "BASIS", ""),
        )
    return rules


RULES = _rules()
"""Every finding that a report can have, by code: those on learners, data, slices, classes, networks."""


def findings_of(results: Results) -> tuple[tuple[Finding, ...], tuple[Unasked, ...]]:
    """All findings, warnings first and then by code, and the checks that do not apply.

    Learners that are only a contrast are not asked anything.
    """
    results = replace(
        results,
        learners={name: one for name, one in results.learners.items() if name not in results.contrast},
        predicted={name: held for name, held in results.predicted.items() if name not in results.contrast},
    )
    judge = Judge.of_report(len(results.predicted | results.learners), len(results.networks))
    findings: list[Finding] = []
    unasked: list[Unasked] = []
    for rule in RULES.values():
        outcome: Outcome = Unasked(rule.code, rule.title, "there are no refits")
        if results.learners or rule.basis != "refits":
            outcome = rule.check(results, judge)
        if isinstance(outcome, Unasked):
            unasked.append(outcome)
        else:
            findings += [limited(each, rule.basis, results) for each in outcome]
    findings.sort(key=lambda each: (LEVELS.index(each.level), each.code))
    return tuple(findings), tuple(sorted(unasked, key=lambda each: each.code))
