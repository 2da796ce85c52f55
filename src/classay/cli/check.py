"""`classay check`: the figures of a report as gates, for continuous integration."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .. import __version__
from . import console, options

if TYPE_CHECKING:
    from ..report.check_file import CheckFile
    from ..report.document import Report
    from ..report.gates import Verdict

EXAMPLES = """
**Examples**

    classay check classay.toml

    classay check classay.toml --junit gates.xml --report report.html --force

    classay check classay.toml --json --quiet

**The file**

    data = "credit.csv"    # or report = "report.json", to take one that is there
    target = "default"
    budget = "2m"
    seed = 0
    gates = ["stability >= 0.9", "capacity.high <= 1.0", "data.suspects <= 10"]
    forbid = ["L102", "warning"]    # findings: codes or levels

    [learners]
    tree = "DecisionTreeClassifier(max_depth=4)"

    [learners.forest]
    learner = "RandomForestClassifier(n_estimators=50)"
    gates = ["accuracy >= 0.95"]

A gate is held against the end of the interval that makes passing harder, unless it names .value, .low or .high.
Exit codes: 0 all passed, 1 a gate failed, 2 a mistake in the file, 3 interrupted, or a
learner without gates failed.
"""
COLUMNS = ["of", "gate", "measured", "compared", "", "by"]
FAILED = 1


def command(
    file: Path = typer.Argument(..., metavar="FILE", help="A check file (TOML): what to assay, and the gates."),
    junit: Path = typer.Option(None, help="File to write JUnit XML to, one test case a gate."),
    report: Path = typer.Option(None, help="File to save the report to: .html, .json or .md."),
    force: options.Force = False,
    workers: options.Workers = None,
    store: options.Records = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Hold learners and data against gates: exit code 1, and a table of what failed, if one does."""
    from ..report.check_file import read_check_file
    from ..report.files import ready, write
    from ..report.gates import hold, summary
    from ..report.junit import junit as as_junit

    check = read_check_file(file)
    target = None if junit is None else ready(junit, force=True, suffixes=(".xml",))
    if report is not None:
        ready(report, force)
    begin = time.perf_counter()
    found, learners = _assayed(check, workers, store, quiet, allow_import)
    verdicts = hold(found, check.gates, check.bans, learners)
    if as_json:
        console.write_json(_as_json(check, verdicts, found))
    else:
        _show(verdicts)
    if target is not None:
        write(target, as_junit(verdicts, f"classay {file.name}", time.perf_counter() - begin))
        console.say(f"Saved {target}", quiet)
    if report is not None:
        console.say(f"Saved {found.save(report, force=force)}", quiet)
    for name, why in found.failed.items():
        console.error(f"{name} gave no figures. {why}")
    console.say(summary(verdicts), quiet)
    if found.settings.get("interrupted") and check.report is None:
        console.error("Interrupted: the gates above were held against what was done by then.")
        raise typer.Exit(console.PARTIAL)
    if not all(each.passed for each in verdicts):
        raise typer.Exit(FAILED)
    if found.failed and check.report is None:
        raise typer.Exit(console.PARTIAL)


def _assayed(
    check: CheckFile, workers: int | None, store: Path | None, quiet: bool, allow_import: bool
) -> tuple[Report, list[str]]:
    """The report to hold against the gates, and the learners that should be in it."""
    if check.report is not None:
        from ..report.check_file import refuse_strangers
        from ..report.files import open_report

        opened = open_report(check.report)
        refuse_strangers(check, opened)
        return opened, []
    from .. import tables
    from ..learner.named import learner_from_text, learners_from_texts
    from ..report.assay import characterize
    from .recording import USUAL, tell

    if check.learners:
        learners = {name: learner_from_text(text, allow_import)[1] for name, text in check.learners.items()}
    else:
        learners = learners_from_texts(USUAL, allow_import)
    table = tables.read(str(check.data), check.target)
    tell(table, quiet)
    try:
        assay = characterize(
            learners,
            table.X,
            table.y,
            executor=workers,
            store=store,
            progress=not quiet,
            name=table.name,
            target=table.target,
            notes=table.notes,
            **check.settings,
        )
    except KeyboardInterrupt:
        raise console.NothingDone from None
    return assay.report, list(learners)


def _show(verdicts: list[Verdict]) -> None:
    from ..report.cells import printed
    from ..report.glossary import TERMS

    rows = []
    for each in verdicts:
        shown = None if each.estimate is None else printed(each.estimate, TERMS[each.figure])
        measured = "" if shown is None else "\n".join(part for part in (shown.text, shown.interval) if part)
        if not each.figure and not math.isnan(each.measured):
            measured = f"{each.measured:.0f} found"
        rows.append([each.of or "report", each.gate, measured, each.end if each.estimate else "", "", ""])
        rows[-1][-2:] = ["passed" if each.passed else "FAILED", _margin(each)]
    out = console.out()
    made = console.table("Gates", COLUMNS, rows)
    made.columns[1].justify = "left"
    for place, each in enumerate(verdicts):
        made.rows[place].style = "green" if each.passed else "bold red"
    out.print(made)
    for each in verdicts:
        if not each.passed:
            out.print(f"{each.of or 'report'}: {each.gate}: {each.why.rstrip('.')}.", markup=False)


def _margin(each: Verdict) -> str:
    if math.isnan(each.margin) or not each.figure:
        return ""
    return f"{each.margin:+.3g}".replace("-", "−")


def _as_json(check: CheckFile, verdicts: list[Verdict], report: Report) -> dict[str, Any]:
    from ..result import plain

    return {
        "classay": __version__,
        "file": str(check.path),
        "passed": all(each.passed for each in verdicts),
        "gates": plain(verdicts),
        "failed": report.failed,
        "settings": plain(report.settings),
    }
