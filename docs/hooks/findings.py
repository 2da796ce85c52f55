"""The page of findings: every code that a report may have, with the rule by which it is told."""

from __future__ import annotations

from docstrings import safe

from classay.report.findings.rules import CODES

SUBJECTS = {"L": "Learners", "D": "Data", "S": "Slices", "C": "The label set", "N": "Networks"}
"""First letter of a code -> what it is about."""


def page() -> str:
    """One part for each subject, in which every code has a heading to link to."""
    parts = [
        "# Findings",
        "Every finding that [a report](report.md) may have. Codes are stable over versions. A finding is a *warning* "
        "or a *note* when its rule holds; otherwise it is told as *fine*. Where it could not be looked for, the page "
        "says why.",
    ]
    for letter, subject in SUBJECTS.items():
        parts.append(f"## {subject}")
        for code, each in CODES.items():
            if code.startswith(letter):
                rules = [("A warning when", each.warns), ("A note when", each.notes)]
                told = [f"- *{when}:* {safe(rule)}" for when, rule in rules if rule]
                parts += [f"### {code} {safe(each.title)} {{ #{code} }}", "\n".join(told)]
    return "\n\n".join(parts) + "\n"
