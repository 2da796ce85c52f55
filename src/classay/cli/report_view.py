"""A report on the terminal: its verdict and findings; the page has the rest."""

from __future__ import annotations

from rich.text import Text

from ..report.document import Report
from . import console

MARKS = {"warning": ("bold red", "warning"), "note": ("yellow", "note"), "fine": ("green", "fine")}


def show_report(report: Report) -> None:
    """Findings on the terminal, warnings first; the page has the rest."""
    out = console.out()
    for sentence in report.verdict.sentences:
        out.print(Text(sentence, "bold"))
    fine = [each for each in report.findings if each.level == "fine"]
    for each in report.findings:
        if each.level == "fine":
            continue
        style, word = MARKS[each.level]
        out.print(Text.assemble((f"{each.code} {word}", style), f"  {each.of}: {each.title}"))
        out.print(Text(f"    {each.sentence}"))
        if each.action:
            out.print(Text(f"    → {each.action}"))
    if fine:
        titles = "; ".join(f"{each.title} ({each.code})" for each in fine)
        out.print(Text.assemble(("Checks passed: ", "green"), titles))
