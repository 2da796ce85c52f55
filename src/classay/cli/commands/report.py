"""`classay report`: all measurements of learners and data, on one page."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from ... import expect
from ...charts.style.picture_files import prepared_library
from ...learner.scores.comparison import check_metric
from ...report.characterization import characterize, wrapped_in_words
from ...report.document.document import Report
from ...report.export import mlflow_log
from ...report.export.files import ready
from ...report.export.json_format import document, schema
from ...report.run.settings import ROWS, seconds_of
from .. import console, options
from ..inputs import Predictions
from ..runner import Outcome
from .network import Architecture, measure_networks

NOT_REPEATED = ("--store", "--budget", "--splits", "--repeats", "-r", "--rows", "--n-probes", "--retrains")
"""Options that the printed command drops: with the same store, a rerun would only reread its fits; numbers of fits are
added again later."""
MARKS = {"warning": "bold red", "note": "yellow", "unknown": "magenta"}


def _print_schema(wanted: bool) -> None:
    if wanted:
        console.write_json(schema())
        raise typer.Exit


def command(
    rows: options.Rows,
    learners: options.Learners,
    predictions: Predictions,
    networks: Architecture,
    effort: options.LocalEffort,
    output: options.Output,
    metric: str | None = None,
    files: list[Path] | None = None,
    budget: str = "2m",
    network: list[Path] | None = None,
    mlflow: str | None = None,
    force: bool = False,
    print_schema: bool = typer.Option(
        False,
        "--schema",
        callback=_print_schema,
        is_eager=True,
        help="Print the JSON Schema of a report, and nothing else.",
        rich_help_panel="Output",
    ),
    splits: int | None = None,
    repeats: int = 2,
    most_rows: str = str(ROWS),
    n_probes: int = 2000,
    retrains: int = 10,
    test_size: float = 0.3,
    more_classes: bool = False,
) -> Outcome:
    """Report on learners and data on one page: findings first, then charts, then tables."""
    networks.expect_network(network)
    paths = [ready(path, force) for path in files or [Path(f"{_stem(rows.data)}.html")]]
    if mlflow is not None:
        mlflow_log.ready(mlflow or None)
    if predictions.truth is not None:
        return _deliver(_on_predictions(rows, predictions, effort.seed, output), paths, mlflow, output)
    named = learners.named()
    if metric is not None:
        check_metric(metric)
    seconds = seconds_of(budget)
    fits: dict[str, Any] = {"splits": splits, "repeats": repeats, "rows": _rows(most_rows, "--rows")}
    fits |= {"n_probes": n_probes, "retrains": retrains, "test_size": test_size}
    table = rows.read(output.quiet)
    # By number of walks and not by time, so that the same seed gives the same figures on any load.
    walks = {"starts": 3, "walks": 300, "random_state": effort.seed}
    measured = measure_networks(network, networks.load(learners.allow_import), walks, output) if network else {}
    if any(path.suffix.lower() == ".html" for path in paths):
        prepared_library()
    assay = characterize(
        named if learners.learner else None,
        table,
        metric=metric,
        more_classes=more_classes or None,
        networks=measured,
        budget=seconds,
        **fits,
        **effort.settings(effort.workers, output.quiet),
        command=_typed(),
        on_round=lambda preliminary: _save_preliminary(preliminary.report, paths, output),
    )
    for sentence in wrapped_in_words(assay.report.settings.get("wrapped", {})):
        output.say(sentence)
    # What is missing is on the page. Only a learner that was asked for, and has no figure at all, is a failure.
    known = {*assay.parts.learners, *assay.parts.predicted, *(() if learners.learner else named)}
    failed = {name: why for name, why in assay.report.failed.items() if name not in known}
    return replace(_deliver(assay.report, paths, mlflow, output), failed=failed)


def _on_predictions(rows: options.Rows, columns: Predictions, seed: int, output: options.Output) -> Report:
    table = columns.table(rows.data, rows.groups)
    sizes = [expect.counted(len(names), noun) for names, noun in ((table.variants, "variant"), (table.runs, "run"))]
    output.say(f"{rows.data}: {table.truth.size:,} items, {', '.join(sizes)}.")
    for note in table.notes:
        output.say(note)
    named = columns.named() | ({} if rows.groups is None else {"groups": rows.groups}) | {"file": rows.data}
    command = shlex.join(["classay", *sys.argv[1:]])
    report = characterize(table, name=Path(rows.data).name, command=command, random_state=seed).report
    return replace(report, settings={**report.settings, "columns": named})


def _deliver(report: Report, paths: list[Path], mlflow: str | None, output: options.Output) -> Outcome:
    """Save the report and log it; what is printed are its findings."""
    save(report, paths, output)
    if mlflow is not None:
        output.say(f"Logged to MLflow: {mlflow_log.log_to_mlflow(report, mlflow or None)}")
    return Outcome(
        {},
        text=text_of_report(report),
        failed=report.failed,
        interrupted=bool(report.settings.get("interrupted")),
        document=document(report),
    )


def save(report: Report, paths: list[Path], output: options.Output) -> None:
    """Save a report. The page last: it needs most memory, and the figures must not be lost with it."""
    for path in sorted(paths, key=lambda path: path.suffix.lower() == ".html"):
        output.say(f"Saved {report.save(path, force=True).resolve()}")


def text_of_report(report: Report) -> Iterator[Text]:
    """The verdict and the findings, warnings first; the page has the rest."""
    for sentence in report.verdict.sentences:
        yield Text(sentence, "bold")
    for finding in report.findings:
        if finding.level != "fine":
            style = MARKS[finding.level]
            yield Text.assemble((f"{finding.code} {finding.level}", style), f"  {finding.of}: {finding.title}")
            yield Text(f"    {finding.sentence}")
            if finding.action:
                yield Text(f"    → {finding.action}")
    fine = [f"{finding.title} ({finding.code})" for finding in report.findings if finding.level == "fine"]
    if fine:
        yield Text.assemble(("Checks passed: ", "green"), "; ".join(fine))


def _save_preliminary(report: Report, paths: list[Path], output: options.Output) -> None:
    names = expect.shown([str(report.save(path, force=True)) for path in paths], 4)
    output.say(f"Saved {names}: preliminary, after {report.settings['preliminary']}; it will be rewritten.")


def _rows(text: str, option: str) -> int | str:
    if text == "all":
        return text
    if not text.isdigit():
        raise expect.InputError(f"{option} is {text!r}; expected a number of rows, or all.")
    return int(text)


def _stem(data: str) -> str:
    """The name of the page: that of the data without folder and suffixes."""
    name = "stdin" if data == "-" else Path(data.removeprefix("openml:")).name
    return name.split(".")[0] or "report"


def _typed() -> str:
    """The command as typed, without the options that are not repeated, and with --force."""
    kept: list[str] = []
    words = iter(sys.argv[1:])
    for word in words:
        option, has_value, _ = word.partition("=")
        if option not in NOT_REPEATED:
            kept.append(word)
        elif not has_value:
            next(words, None)
    return shlex.join(["classay", *kept, *([] if "--force" in kept else ["--force"])])
