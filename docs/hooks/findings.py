"""The page of findings: every code that a report can have, made from the docstrings of the rules."""

from __future__ import annotations

import inspect

from docstrings import safe

from classay.report.findings import RULES

SUBJECTS = {"L": "Learners", "D": "Data", "S": "Slices", "C": "The label set", "N": "Networks"}
"""First letter of a code -> what it is about."""


def page() -> str:
    """One part for each subject, in which every code has a heading to link to."""
    parts = [
        "# Findings",
        "Every finding that [a report](report.md) can have. Codes are stable over versions. A finding is a *warning* "
        "or a *note* when its rule holds, *unknown* if rows cannot decide; otherwise it is *fine*, with the effect "
        "that would have been seen. If a rule could not be checked, the report says why.",
    ]
    for letter, subject in SUBJECTS.items():
        parts.append(f"## {subject}")
        for code, rule in RULES.items():
            if code.startswith(letter):
                parts += [f"### {code} {safe(rule.title)} {{ #{code} }}", safe(inspect.cleandoc(rule.docs))]
    return "\n\n".join(parts) + "\n"
