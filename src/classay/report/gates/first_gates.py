"""A commented check file made from a first report: gates that it passes, with what was measured beside them."""

from __future__ import annotations

import json
import math
from typing import Any

from ...intervals import Estimate
from ..document import Report
from ..document.glossary import TERMS
from ..document.phrases import printed

LOWER = ("accuracy", "stability", "self_agreement")
"""Figures whose lower end must not fall."""
UPPER = ("dice", "changed_items", "slices")
"""Figures whose upper end must not rise."""
SLACK = 0.02
"""How far below the lower end of the first report a bound is set: another run moves the end itself."""


def first_gates(report: Report, path: str) -> str:
    """The text of a check file (TOML) for a report that is saved at `path`."""
    lines = [
        "# Gates for `classay check`, from a first report. Every gate passes on that report; change the bounds to what",
        "# you need. A gate compares the end of the interval that makes passing harder, unless it names .value.",
        "",
        *_source(report, path),
        "",
        *_shared_gates(report),
        "",
        *_forbidden(report),
    ]
    for name in report.learners:
        lines += ["", *_of_learner(report, name)]
    columns = report.settings.get("columns")
    if columns:
        lines += ["", "[predictions]", *(f"{key} = {_toml(value)}" for key, value in columns.items())]
    return "\n".join(lines) + "\n"


def _source(report: Report, path: str) -> list[str]:
    if report.settings.get("columns"):
        return ["# The predictions to check are at the end of this file, under [predictions]."]
    about = report.about
    return [
        f"report = {_toml(path)}    # checks this report; to assay anew, replace the line by these:",
        f"# data = {_toml(str(about.get('name', 'data.csv')))}",
        f"# target = {_toml(str(about.get('target', 'label')))}",
        '# and give each learner below its text, such as learner = "DecisionTreeClassifier(max_depth=4)"',
    ]


def _shared_gates(report: Report) -> list[str]:
    gates = [
        '    # "candidate.accuracy >= champion.accuracy - 0.01",    # two learners; fails only if a drop is shown',
    ]
    figures = {each.name: each.estimate for each in report.figures if each.subject == "data"}
    if "suspects" in figures:
        gates.append(f'    "data.suspects <= {math.ceil(figures["suspects"].value * 1.2) + 1}",')
    if "classes" in figures:
        gates.append(f'    "data.classes == {figures["classes"].value:.0f}",')
    return ["gates = [", *gates, "]"]


def _forbidden(report: Report) -> list[str]:
    warned = {each.code for each in report.warnings}
    fine = sorted({each.code for each in report.findings if each.level == "fine" and each.code[0] != "P"} - warned)
    text = ", ".join(_toml(code) for code in fine)
    return ["# Findings that the first report does not have, and that must not appear:", f"forbid = [{text}]"]


def _of_learner(report: Report, name: str) -> list[str]:
    figures = {each.name: each.estimate for each in report.figures if (each.subject, each.of) == ("learner", name)}
    gates = []
    for figure, estimate in figures.items():
        bound = _bound(figure, estimate)
        if bound:
            shown = printed(estimate, TERMS.get(figure))
            interval = f" ({shown.interval})" if shown.interval else ""
            gates.append(f'    "{figure} {bound}",    # measured: {shown.text}{interval}')
    columns = report.settings.get("columns")
    if columns:
        return ["# " + line for line in [f"{name}:", *gates]] if len(report.learners) > 1 else []
    return [f"[learners.{_toml(name)}]", "gates = [", *gates, "]"]


def _bound(figure: str, estimate: Estimate) -> str:
    if not estimate.known:
        return ""
    if figure in LOWER and math.isfinite(estimate.low):
        return f">= {max(math.floor(100 * (estimate.low - SLACK)) / 100, 0):g}"
    if figure in UPPER and math.isfinite(estimate.high):
        most = estimate.high + (1 if TERMS[figure].form == "count" else SLACK)
        return f"<= {math.ceil(100 * most) / 100:g}"
    return ""


def _toml(value: Any) -> str:
    """A value as TOML; JSON writes texts, lists and booleans the same way."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)
