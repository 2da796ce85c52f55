"""The page of the glossary: every figure of a report, from the glossary that the report itself uses."""

from __future__ import annotations

from docstrings import safe

from classay.report.document.glossary import TERMS

TITLES = {
    "orientation": "Bias and variation",
    "stability": "Stability",
    "data": "Data and slices",
    "classes": "The label set",
    "network": "Networks",
}
"""Page of the site -> title of its part of the glossary."""


def page() -> str:
    """One list for each page of the site that says more."""
    parts = [
        "# Glossary",
        "Every metric of a report. `classay check` and `Report.figure` use the name; the page shows the label.",
    ]
    for where in dict.fromkeys([*TITLES, *(term.page for term in TERMS.values())]):
        entries = [
            f"- **{safe(term.label)}** `{name}`: {safe(term.meaning)} *{safe(term.range)}.*"
            for name, term in TERMS.items()
            if term.page == where
        ]
        parts.append(f"## {TITLES.get(where, where)}\n\n[More on this]({where}.md).\n\n" + "\n".join(entries))
    return "\n\n".join(parts) + "\n"
