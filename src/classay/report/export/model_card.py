"""A report as a section of a model card in Markdown: findings in words, then one table."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from ...expect import counted
from ..document import Cell, Finding, Report, Sheet
from ..document.glossary import TERMS, term_of
from ..document.phrases import printed

OMITTED = ("command", "stages")
"""Settings that are shown elsewhere, or are of no use in a card."""
HEADINGS = {"warning": "Warnings", "note": "Notes", "unknown": "Not decided", "fine": "Checks passed"}


def card(report: Report) -> str:
    """Markdown for a model card: findings in words, the learners with intervals, settings, and how to reproduce it.

    It begins with a second-level heading, as sections of model cards do. Names and texts of users are escaped: they
    cannot start a table, a link or HTML.
    """
    return "\n".join(_lines(report)).rstrip("\n") + "\n"


def escaped(text: str) -> str:
    r"""A text of a user on one line, with Markdown and HTML escaped.

    >>> print(escaped("a|b\n*c* <i>"))
    a\|b \*c\* &lt;i&gt;
    """
    line = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).split())
    line = re.sub(r"([\\`*\[\]|~$])", r"\\\1", html.escape(line, quote=False))
    line = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", line)  # within a word it has no meaning
    # Many renderers turn bare addresses into links.
    line = line.replace("://", ":&#47;/").replace("www.", "www&#46;")
    return re.sub(r"^(\d+)([.)])(?=\s|$)|^([#+\-=])", lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", line)


def _lines(report: Report) -> Iterator[str]:
    yield f"## {escaped(report.title)}"
    yield ""
    about = ", ".join(
        f"{escaped(str(key))}: {_value(value)}"
        for key, value in report.about.items()
        if key != "audit" and _is_shown(value)  # how every column was read is long, and on the page
    )
    if about:
        yield from (f"{about}.", "")
    yield from _verdict(report)
    yield from _findings(report)
    overview = next((sheet for sheet in report.sheets() if sheet.key == "overview"), None)
    if overview is not None:
        yield from ("### Learners", "", *_table(overview), "")
        if overview.note:
            yield from (escaped(overview.note), "")
        # The meaning of each column: readers of a card have no glossary at hand.
        terms = [TERMS[name] for name in overview.columns if name in TERMS]
        yield from (f"- {term.label}: {escaped(term.meaning)} {escaped(term.range)}." for term in terms)
        yield ""
    for name, why in report.failed.items():
        yield from (f"**{escaped(name)}**: no results. {escaped(why)}", "")
    yield from _settings(report.settings)


def _verdict(report: Report) -> Iterator[str]:
    """The verdict, unless it is about learners, of which the overview has the same figures."""
    verdict = report.verdict
    if not verdict.sentences or (verdict.learner and any(sheet.key == "overview" for sheet in report.sheets())):
        return
    yield from ("### Verdict", "", *(f"- {escaped(sentence)}" for sentence in verdict.sentences), "")
    if verdict.table is not None:
        yield from (*_table(verdict.table), "")


def _findings(report: Report) -> Iterator[str]:
    yield from ("### Findings", "")
    if not report.findings:
        yield from ("None.", "")
    for level, heading in HEADINGS.items():
        findings = [each for each in report.findings if each.level == level]
        if findings:
            yield from (f"**{heading}**", "", *(_item(each) for each in findings), "")
    if report.unasked:
        several = counted(len(report.unasked), "check")
        checks = "; ".join(f"{each.code} {escaped(each.title)} ({escaped(each.why)})" for each in report.unasked)
        yield from (f"{several} not possible: {checks}.", "")


def _item(finding: Finding) -> str:
    against = f" *{escaped(finding.reference)}*" if finding.reference else ""
    action = f" **{escaped(finding.action)}**" if finding.action else ""
    return f"- `{finding.code}` {escaped(finding.of)}: {escaped(finding.sentence)}{against}{action}"


def _table(sheet: Sheet) -> Iterator[str]:
    yield "| " + " | ".join(escaped(term_of(name).label) for name in sheet.columns) + " |"
    yield "| " + " | ".join("---:" if name in TERMS else "---" for name in sheet.columns) + " |"
    for row in sheet.rows:
        yield "| " + " | ".join(escaped(_cell(cell, name)) for cell, name in zip(row, sheet.columns)) + " |"


def _settings(settings: dict[str, Any]) -> Iterator[str]:
    yield from ("### How it was made", "")
    for key, value in settings.items():
        if key not in OMITTED and _is_shown(value):
            yield f"- {escaped(str(key).replace('_', ' '))}: {_value(value)}"
    command = re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", " ", str(settings.get("command") or "")).strip()
    if command:
        # The fence is longer than any fence in the command, so that nothing in it can end it.
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", command)), 0)
        yield from ("", f"{fence}sh", command, fence)


def _is_shown(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], {}, ())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{escaped(str(key))} {_value(part)}" for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_value, value))
    if isinstance(value, float):
        value = float(f"{value:.3g}")  # seconds, not microseconds
    return escaped(_cell(value) if isinstance(value, (bool, int, float)) else str(value))


def _cell(cell: Cell, name: str = "") -> str:
    shown = printed(cell, TERMS.get(name))
    return f"{shown.text} ({shown.interval})" if shown.interval else shown.text
