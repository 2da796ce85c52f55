"""`classay check`: compare the figures of a report with thresholds, for continuous integration."""

from __future__ import annotations

import math
import time
from functools import partial
from pathlib import Path
from typing import Any

import typer

from ... import __version__
from ...estimators.spec import learner_from_text
from ...expect import InputError
from ...report.assay import characterize
from ...report.default_learners import default_learners
from ...report.document import Report
from ...report.document.glossary import term_of
from ...report.document.phrases import printed
from ...report.export.files import open_report, ready, write
from ...report.findings.differences import paired_difference
from ...report.gates.check_file import CheckFile, read_check_file, refuse_unknown_subjects
from ...report.gates.gates import Paired, Verdict, check_gates, summary
from ...report.gates.gates import junit as junit_xml
from ...report.gates.variants import variant_difference
from ...report.predictions import measured, predictions_report
from ...result import plain
from ...tables.read import read_table
from .. import console, options
from ..prediction_columns import PredictionColumns
from ..records import describe

EXAMPLES = """
**Examples**

    classay check classay.toml

    classay check classay.toml --junit gates.xml --report report.html --force

    classay check classay.toml --json --quiet

    classay check classay.toml --against last.json --min-effect 0.01

**The file**

    data = "credit.csv"    # or report = "report.json", to check an existing report
    target = "default"
    splits = 20            # as is; with budget = "2m", the number of fits depends on the machine
    seed = 0
    metric = "roc_auc"     # what learners are compared by; accuracy by default
    gates = ["retrain_change <= 0.05", "roc_auc >= 0.8", "data.suspects <= 10"]
    forbid = ["L102", "warning"]    # findings: codes or levels

    [learners]
    tree = "DecisionTreeClassifier(max_depth=4)"

    [learners.forest]
    learner = "RandomForestClassifier(n_estimators=50)"
    gates = ["accuracy >= 0.95"]

`accuracy`, and any scorer of scikit-learn by its name, are cross-validated: fits on all rows but the fold, as you would
ship it. `refit_accuracy` is that of refits on halves.

A gate on two learners, "candidate.accuracy >= champion.accuracy - 0.01", fails only if a drop is shown. With --against,
champion is the same learner in the earlier report. For predictions: [predictions] with file, truth and other columns.

A gate uses the end of the interval that makes it harder to pass, unless it names .value, .low or .high. Exit codes: 0
all gates passed, 1 a gate failed, 2 an error in the file, 3 a learner without gates failed, 130 interrupted.

Without a budget in the file, numbers of fits are fixed (20 splits, 2 refits, all rows), so that a gate does not depend
on the speed of the machine.
"""
COLUMNS = ["subject", "gate", "measured", "end used", "", "margin"]
FAILED = 1


def command(
    file: Path = typer.Argument(..., metavar="FILE", help="Check file (TOML): what to assay, and the gates."),
    junit: Path = typer.Option(None, help="File for JUnit XML, one test case per gate."),
    report: Path = typer.Option(None, help="File for the report: .html, .json or .md."),
    against: Path = typer.Option(
        None, help="Earlier report (.json or .html); fails if a learner is shown to be worse."
    ),
    min_effect: float = typer.Option(0.0, help="With --against: drop in accuracy that does not matter."),
    force: options.Force = False,
    workers: options.Workers = None,
    store: options.Store = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Check learners and data against thresholds (gates): exit code 1 and a table of failures if any gate fails."""
    check = read_check_file(file)
    target = None if junit is None else ready(junit, force=True, suffixes=(".xml",))
    if report is not None:
        ready(report, force)
    begin = time.perf_counter()
    before = None if against is None else open_report(against)
    document, learners, paired = _report(check, workers, store, quiet, allow_import)
    verdicts = check_gates(document, check.gates, learners, before, paired, min_effect)
    if as_json:
        console.write_json(_as_json(check, verdicts, document))
    else:
        _show(verdicts)
    if target is not None:
        write(target, junit_xml(verdicts, f"classay {file.name}", time.perf_counter() - begin))
        console.say(f"Saved {target}", quiet)
    if report is not None:
        console.say(f"Saved {document.save(report, force=force)}", quiet)
    console.report_failures(document.failed)
    console.say(summary(verdicts), quiet)
    if document.settings.get("interrupted") and check.report is None:
        console.error("Interrupted: the gates above were checked only against what had finished.")
        raise typer.Exit(console.PARTIAL)
    if not all(each.passed for each in verdicts):
        raise typer.Exit(FAILED)
    if document.failed and check.report is None:
        raise typer.Exit(console.PARTIAL)


def _report(
    check: CheckFile, workers: int | None, store: Path | None, quiet: bool, allow_import: bool
) -> tuple[Report, list[str], Paired | None]:
    """The report to check, the learners that should be in it, and their differences over the same items."""
    if check.predictions:
        return _on_predictions(check)
    if check.report is not None:
        document = open_report(check.report)
        if document.settings.get("preliminary"):
            raise InputError(
                f"'{check.report}' is a preliminary report ({document.settings['preliminary']}); expected a complete "
                "one. Wait until `classay report` has finished, or run it again."
            )
        refuse_unknown_subjects(check, document)
        return document, [], None
    learners = {name: learner_from_text(text, allow_import)[1] for name, text in check.learners.items()}
    learners = learners or default_learners(contrast=False)
    table = read_table(str(check.data), check.target)
    describe(table, quiet)
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
            audit=table.audit,
            **{"budget": None, **check.settings},
        )
    except KeyboardInterrupt:
        raise console.NothingDone from None
    return assay.report, list(learners), lambda *names: paired_difference(assay.parts, *names)


def _on_predictions(check: CheckFile) -> tuple[Report, list[str], Paired]:
    """The report on a file of predictions."""
    given = dict(check.predictions)
    file = given.pop("file")
    for key in ("prediction", "score"):
        given[key] = tuple([given[key]] if isinstance(given.get(key), str) else given.get(key, ()))
    table, _ = PredictionColumns(**given).table(file)
    name = Path(file).name
    results = measured(table, name, 0)
    return predictions_report(table, name), [], partial(variant_difference, results)


def _show(verdicts: list[Verdict]) -> None:
    out = console.out()
    rows = [
        [
            each.of or "report",
            each.gate,
            _measured(each),
            each.end if each.estimate else "",
            "passed" if each.passed else "FAILED",
            _margin(each),
        ]
        for each in verdicts
    ]
    table = console.table("Gates", COLUMNS, rows)
    table.columns[1].justify = "left"
    for place, each in enumerate(verdicts):
        table.rows[place].style = "green" if each.passed else "bold red"
    out.print(table)
    for each in verdicts:
        if not each.passed:
            out.print(f"{each.of or 'report'}: {each.gate}: {each.why.rstrip('.')}.", markup=False)


def _measured(each: Verdict) -> str:
    if not each.figure and not math.isnan(each.measured):
        return f"{each.measured:.0f} found"
    if each.estimate is None:
        return ""
    figure = printed(each.estimate, term_of(each.figure))
    return "\n".join(part for part in (figure.text, figure.interval) if part)


def _margin(each: Verdict) -> str:
    if math.isnan(each.margin) or not each.figure:
        return ""
    return f"{each.margin:+.3g}".replace("-", "−")


def _as_json(check: CheckFile, verdicts: list[Verdict], document: Report) -> dict[str, Any]:
    return {
        "classay": __version__,
        "file": str(check.path),
        "passed": all(each.passed for each in verdicts),
        "gates": plain(verdicts),
        "failed": document.failed,
        "settings": plain(document.settings),
    }
