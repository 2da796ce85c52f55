"""`classay check`: compare the figures of a report with thresholds, for continuous integration."""

from __future__ import annotations

import math
import os
import shlex
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ...estimators.spec import CALLED, learner_from_text
from ...expect import InputError
from ...report.characterization import characterize
from ...report.document import Report
from ...report.document.glossary import term_of
from ...report.document.phrases import printed
from ...report.export.files import open_report, ready, write
from ...report.gates.check_file import (
    MEASURING,
    CheckFile,
    first_gates,
    is_named,
    read_check_file,
    refuse_unknown_subjects,
)
from ...report.gates.gates import Paired, Verdict, check_gates, difference_of, summary
from ...report.gates.gates import junit as junit_xml
from ...report.run.learners import USUAL, default_learners
from .. import console, options
from ..inputs import Predictions
from ..runner import Outcome

COLUMNS = ["subject", "gate", "measured", "end used", "", "margin"]
FAILED = 1


def command(
    output: options.Output,
    file: Path,
    init: bool = False,
    check_file: Path = Path("classay.toml"),
    junit: Path | None = None,
    report: Path | None = None,
    against: Path | None = None,
    min_effect: float = 0.0,
    force: bool = False,
    workers: int | None = None,
    store: Path | None = None,
    allow_import: bool = False,
) -> Outcome:
    """Check learners and data against thresholds (gates); exit code 1 if any gate fails."""
    if init:
        return _first_check_file(file, check_file, force, output)
    check = read_check_file(file)
    junit_file = None if junit is None else ready(junit, force=True, suffixes=(".xml",))
    if report is not None:
        ready(report, force)
    begin = time.perf_counter()
    before = None if against is None else open_report(against)
    document, learners, paired = _report(check, workers, store, output.quiet, allow_import)
    verdicts = check_gates(document, check.gates, learners, before, paired, min_effect)
    if junit_file is not None:
        write(junit_file, junit_xml(verdicts, f"classay {file.name}", time.perf_counter() - begin))
        output.say(f"Saved {junit_file}")
    if report is not None:
        output.say(f"Saved {document.save(report, force=force)}")
    output.say(summary(verdicts))
    passed = all(verdict.passed for verdict in verdicts)
    new = check.report is None
    for name, why in document.failed.items() if not new else ():
        output.say(f"{name}: no results. {why}")
    return Outcome(
        {"file": str(check.path), "passed": passed, "gates": verdicts, "report": document.settings},
        text=_text(verdicts),
        failed=document.failed if new else {},
        interrupted=bool(new and document.settings.get("interrupted")),
        code=0 if passed else FAILED,
    )


def _first_check_file(report: Path, target: Path, force: bool, output: options.Output) -> Outcome:
    path = ready(target, force, (".toml",))
    beside = os.path.relpath(report.expanduser().resolve(), path.resolve().parent)
    document = open_report(report)
    measured, texts = _as_measured(document, report, path.resolve().parent)
    write(path, first_gates(document, Path(beside).as_posix(), measured, texts))
    if not measured and "columns" not in document.settings:
        output.say("The data of this report were not found, so the file checks the report itself: see its first lines.")
    output.say(f"Saved {path}. Check it: classay check {path}")
    return Outcome({"file": str(path), "gates": read_check_file(path).gates}, text=())


def _as_measured(report: Report, file: Path, folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """What `classay report` measured, by the keys of a check file, and the texts of learners; empty if not known."""
    from ..app import load

    words = shlex.split(str(report.settings.get("command", "")))
    if words[:2] != ["classay", "report"] or "columns" in report.settings:
        return {}, {}
    told = load("report").make_context("report", words[2:], resilient_parsing=True).params
    if not told.get("data"):  # of a version with other options
        return {}, {}
    limit = told["most_rows"]
    told |= {"rows": int(limit) if limit.isdigit() else limit}
    for key in ("data", "test"):
        if told[key] is None or is_named(told[key]):
            continue
        places = [Path(told[key]).expanduser(), file.expanduser().resolve().parent / told[key]]
        found = next((each.resolve() for each in places if each.is_file()), None)
        if found is None:
            return {}, {}
        told[key] = Path(os.path.relpath(found, folder)).as_posix()
    measured = {key: told[key] for key in MEASURING if key not in ("budget", "metric") and told.get(key)}
    given = told["learner"] or USUAL
    bare = [text[called.end() :] if (called := CALLED.match(text)) else text for text in given]
    return {**measured, "seed": told["seed"]}, dict(zip(report.settings["learners"], bare))


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
    table = options.Rows(data=str(check.data), target=check.target, **check.columns).read(quiet)
    settings = {"budget": None, "executor": workers, "store": store, "progress": not quiet, **check.settings}
    assay = characterize(learners, table, **settings)
    return assay.report, list(learners), partial(difference_of, assay.parts)


def _on_predictions(check: CheckFile) -> tuple[Report, list[str], Paired]:
    given = dict(check.predictions)
    file, groups = given.pop("file"), given.pop("groups", None)
    for key in ("prediction", "score"):
        given[key] = [given[key]] if isinstance(given.get(key), str) else given.get(key)
    table = Predictions(**given).table(file, groups)
    assay = characterize(table, name=Path(file).name, command="")
    return assay.report, [], partial(difference_of, assay.parts)


def _text(verdicts: list[Verdict]) -> Iterator[Any]:
    table = console.table("Gates", COLUMNS, [_row(verdict) for verdict in verdicts])
    table.columns[1].justify = "left"
    for row, verdict in zip(table.rows, verdicts):
        row.style = "green" if verdict.passed else "bold red"
    yield table
    for verdict in verdicts:
        if not verdict.passed:
            yield f"{verdict.of or 'report'}: {verdict.gate}: {verdict.why.rstrip('.')}."


def _row(verdict: Verdict) -> list[str]:
    """What stands under `COLUMNS`."""
    measured = end = margin = ""
    if not verdict.figure and not math.isnan(verdict.measured):
        measured = f"{verdict.measured:.0f} found"
    elif verdict.estimate is not None:
        figure, end = printed(verdict.estimate, term_of(verdict.figure)), verdict.end
        measured = "\n".join(part for part in (figure.text, figure.interval) if part)
    if verdict.figure and not math.isnan(verdict.margin):
        margin = f"{verdict.margin:+.3g}".replace("-", "−")
    passed = "passed" if verdict.passed else "FAILED"
    return [verdict.of or "report", verdict.gate, measured, end, passed, margin]
