"""`classay data`: how hard each row is, the accuracy to beat, whether a model does, and where errors concentrate."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ... import charts as drawing
from ... import expect
from ...charts.style.picture_files import prepared_library
from ...data.model.error_slices import slices
from ...data.row_complexity import Complexity
from ...estimators.spec import learners_from_texts
from ...learner.records.prediction_file import read_predictions
from ...report.document import Finding, Sheet
from ...report.document.shown_rows import ShownRows, hardest_sheet, suspects_sheet, unlike_sheet
from ...report.export.files import ready
from ...report.findings import findings_of
from ...report.results import ModelCheck, Results
from ...report.run.measures import GeometryOptions
from ...report.run.records import MODEL, record_of_learner, record_of_predictions, results_of
from ...tables.expressions import compare
from ...tables.read import read_frame
from .. import options
from ..inputs import names_in
from ..runner import Outcome, drawn, region_table, rows_table, sheet_table, worded_table
from .report import save, text_of_report


def command(
    rows: options.GroupedRows,
    output: options.Charts,
    predictions: str | None = None,
    learner: str | None = None,
    files: list[Path] | None = None,
    checks: bool = False,
    hardest: int = 10,
    wrong: str | None = None,
    confidence: str | None = None,
    columns: str | None = None,
    max_features: int = 3,
    min_size: int | None = None,
    q: float = 0.05,
    top: int = 10,
    model: str = "wordllama",
    cache: Path | None = None,
    distance: str = "auto",
    covariance: str = "auto",
    aim: str = "fit",
    false_alarms: float = 0.1,
    paper: bool = False,
    seed: int = 0,
    force: bool = False,
    allow_import: bool = False,
) -> Outcome:
    """Measure how hard each row is, the accuracy to beat, and where a model's errors concentrate."""
    if wrong is not None:
        search = {"max_features": max_features, "min_size": min_size, "q": q, "top": top, "random_state": seed}
        return _slices(rows.data, wrong, columns, confidence, search, output)
    expect.whole(hardest, "hardest", at_least=1)
    expect.fraction(false_alarms, "false_alarms")
    if predictions is not None and learner is not None:
        raise expect.InputError("--predictions and --learner are both given; expected one of them.")
    named: dict[str, Any] = learners_from_texts([learner], allow_import) if learner is not None else {}
    paths = [ready(path, force) for path in files or ()]
    table = rows.read(output.quiet, new_classes=True)
    measured = table if table.test is None else table.test
    records = {}
    if predictions is not None:
        in_file = measured.audit.rows_read
        read = read_predictions(predictions, table.classes, measured.y.size, measured.positions, in_file)
        records[MODEL] = record_of_predictions(*read, table.classes, measured.y, MODEL, predictions)
    if any(path.suffix.lower() == ".html" for path in paths):
        prepared_library()
    by = "" if table.test is None else f" by {len(table.y):,} others"
    model_name = f", and {predictions or learner}" if predictions or learner else ""
    output.say(f"Measuring {len(measured.y):,} rows{by}{model_name}.")
    for name, one in named.items():
        records[name] = record_of_learner(name, one, table, seed)
    geometry = GeometryOptions(
        distance=distance,
        covariance=covariance,
        aim=aim,
        paper=paper,
        false_alarms=false_alarms,
        embed_texts=True,
        text_model=model,
        cache=cache,
    )
    typed = ["classay", *sys.argv[1:], *([] if "--force" in sys.argv else ["--force"])]
    settings = {"command": shlex.join(typed), **geometry.of_complexity, "false_alarms": false_alarms}
    checked = checks or bool(paths)
    parts = results_of(records, table, seed, options=geometry, checks=checked, settings=settings)
    for remark in parts.data.notes:
        if remark not in table.notes:
            output.say(remark)
    findings = findings_of(parts)[0] if checked else ()
    assert parts.complexity is not None  # an error was raised where it cannot be measured
    assert parts.labels is not None
    result, labels = parts.complexity, parts.labels
    shown = ShownRows.of(parts.rows, texts=parts.texts)
    sheets = {"hardest": hardest_sheet(result, labels, shown, hardest)}
    sheets["suspects"] = suspects_sheet(result, labels, shown, hardest)
    if parts.unlike is not None:
        sheets["unlike"] = unlike_sheet(parts.unlike, shown)
    text: Any = _text(measured.name, result, parts, sheets, findings)
    if paths:
        from ...report.characterization import report_of  # charts, which the tables do not need

        report = report_of(parts)
        save(report, paths, output)
        text = text_of_report(report)
    results = _results(measured.positions, result, parts, sheets, findings)
    return Outcome(results, data=table, text=text, charts=lambda: _draw(result, parts))


# Slices of a table of predictions.


def _slices(
    data: str, wrong: str, columns: str | None, confidence: str | None, search: dict[str, Any], output: options.Charts
) -> Outcome:
    table = read_frame(data)
    errors = compare(wrong, table)
    remarks = []
    if columns is None:
        hidden = [name for name in errors.columns if name != confidence]
        searched = [str(name) for name in table.columns if name not in hidden]
        remarks += [f"Not searched because --wrong uses them: {expect.shown(hidden)}."] if hidden else []
    else:
        searched = names_in(columns)
        used = [name for name in searched if name in errors.columns]
        named = f"Searched because you named them, although --wrong uses them: {expect.shown(used)}."
        remarks += [named] if used else []
    searched += [confidence] if confidence is not None and confidence not in searched else []
    unknown = int((~errors.known).sum())
    remarks += [f"Dropped because a value of --wrong is missing: {unknown} of {len(table)} rows."] if unknown else []
    output.say(f"{data}: {len(table)} rows, {int(errors.meets.sum())} of them wrong by {wrong!r}.")
    for remark in remarks:
        output.say(remark)
    result = slices(table.loc[errors.known], errors.meets[errors.known], columns=searched, **search)
    return Outcome(
        result.to_dict(),
        data={"name": data, "rows": len(table), "wrong": wrong, "columns": searched, "notes": remarks},
        text=[str(result), *([region_table("", result.slices, "error rate")] if result.slices else [])],
        charts=lambda: {"slices": result.plot()},
    )


# What is shown of rows, geometry and model.


def _text(
    name: str, result: Complexity, parts: Results, sheets: dict[str, Sheet], findings: tuple[Finding, ...]
) -> Iterator[Any]:
    yield f"{name}: {result}"
    yield from (f"{finding.level}: {finding}" for finding in findings if finding.level != "fine")
    for check in parts.checks.values():
        yield from _text_of_model(check, parts)
    if parts.unlike is not None:
        yield f"Rows unlike anything known: {parts.unlike}"
        yield sheet_table(sheets["unlike"])
    by_class = result.by_class.sort_values("complexity", ascending=False, kind="stable", na_position="last")
    yield rows_table("Classes, hardest first", by_class)
    if len(result.lone_classes):
        yield f"Classes with a single row: {expect.shown(result.lone_classes['label'], 10)}."
    confused = result.confused(_predicted(parts))
    if len(confused):
        by = "the model" if parts.predicted else "the nearest class, without the row"
        yield rows_table(f"Confused most often by {by}", confused, most=10)
    yield sheet_table(sheets["hardest"])
    yield f"Labels: {parts.labels}"
    yield sheet_table(sheets["suspects"]) if sheets["suspects"].rows else "No label is clear enough to be listed."


def _text_of_model(check: ModelCheck, parts: Results) -> Iterator[Any]:
    yield f"Does the model beat the geometry? {check.versus}"
    if check.why:
        yield check.why
    if check.against is not None:
        yield f"Complexity and errors: {check.against}"
        yield worded_table("complexity_errors", check.against.curve)
    if check.name in parts.slices:
        yield f"Where: {parts.slices[check.name]}"
    if check.known_slices is not None:
        yield f"Where, with complexity and confidence as columns: {check.known_slices}"
    if check.by_column is not None and len(check.by_column):
        yield worded_table("by_column", check.by_column)


def _predicted(parts: Results) -> Any:
    return next((held.classes[held.labels] for held in parts.predicted.values()), None)


def _results(
    positions: Any, result: Complexity, parts: Results, sheets: dict[str, Sheet], findings: tuple[Finding, ...]
) -> dict[str, Any]:
    check = next(iter(parts.checks.values()), None)
    keys = ("row", "label", "nearest", "complexity", "content")
    results: dict[str, Any] = {
        "complexity": result,
        "wrong_labels": parts.labels,
        "confused": result.confused(_predicted(parts)),
        "lone_classes": result.lone_classes,
        **{name: [dict(zip(keys, row)) for row in sheet.rows] for name, sheet in sheets.items() if name != "unlike"},
        "row_numbers": positions,  # of the rows that were measured, in their file; None: all of them
        "unlike_known": parts.unlike,
    }
    if check is not None:
        results["versus_baseline"] = {**check.versus.to_dict(), "verdict": check.versus.verdict}
        results |= {"complexity_against": check.against, "known_slices": check.known_slices}
        results |= {"slices": parts.slices.get(check.name), "slices_by_column": check.by_column}
    if findings:
        results["findings"] = findings
    return results


def _draw(result: Complexity, parts: Results) -> dict[str, Any]:
    check = next(iter(parts.checks.values()), None)
    model = {} if check is None else {"versus_baseline": check.versus, "complexity_against": check.against}
    return {
        "complexity": drawing.complexity_histogram(result),
        "nearest_classes": drawing.nearest_classes(result),
        "hardest": drawing.hardest_table(result, texts=parts.texts),
        **drawn({"wrong_labels": parts.labels, "unlike_known": parts.unlike, **model}),
        **drawn({"slices": None if check is None else parts.slices.get(check.name)}),
    }
