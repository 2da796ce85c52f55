"""`classay data`: how hard each row is, the accuracy to beat, whether a model does, and where errors concentrate."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ... import charts as drawing
from ... import expect
from ...charts.style.picture_files import prepared_library
from ...data.model.error_slices import slices
from ...estimators.spec import learners_from_texts
from ...learner.records.prediction_file import read_predictions
from ...report.data_report import DataParts, findings_of_data, measure_data
from ...report.document import Finding
from ...report.export.files import ready
from ...report.model_check import ModelCheck, ModelPredictions
from ...tables.data import Data
from ...tables.expressions import compare
from ...tables.read import read_frame
from .. import options
from ..inputs import roles_of
from ..runner import Outcome, region_table, rows_table
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
    max_features: int = 2,
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
    found = None
    if predictions is not None:
        audit = measured.audit
        read = read_predictions(predictions, table.classes, measured.y.size, measured.positions, audit.rows_read)
        found = ModelPredictions.given(*read, table.classes, measured.y, predictions)
    if any(path.suffix.lower() == ".html" for path in paths):
        prepared_library()
    by = "" if table.test is None else f" by {len(table.y):,} others"
    model_name = f", and {predictions or learner}" if predictions or learner else ""
    output.say(f"Measuring {len(measured.y):,} rows{by}{model_name}.")
    parts = measure_data(
        table.X,
        table.y,
        **{"groups": None, **roles_of(table)},
        predictions=found,
        learner=next(iter(named.values()), None),
        text=table.text,
        text_model=model,
        cache=cache,
        distance=distance,
        covariance=covariance,
        aim=aim,
        paper=paper,
        false_alarms=false_alarms,
        checks=checks or bool(paths),
        random_state=seed,
        name=table.name,
        target=table.target,
        model=next(iter(named), ""),
        notes=table.notes,
        audit=table.audit,
        rows=measured.positions,
    )
    for remark in parts.data.notes:
        if remark not in table.notes:
            output.say(remark)
    findings, _ = findings_of_data(parts)
    lists = _lists(measured, parts, hardest)
    text: Any = _text(measured, parts, lists, findings)
    if paths:
        from ...report.data_document import document_of  # charts, which the tables do not need

        again = [] if "--force" in sys.argv else ["--force"]
        report = document_of(parts, hardest, shlex.join(["classay", *sys.argv[1:], *again]))
        save(report, paths, output)
        text = text_of_report(report)
    return Outcome(_results(measured, parts, lists, findings), data=table, text=text, charts=lambda: _draw(parts))


# Slices of a table of predictions.


def _slices(
    data: str, wrong: str, columns: str | None, confidence: str | None, search: dict[str, Any], output: options.Charts
) -> Outcome:
    table = read_frame(data)
    errors = compare(wrong, table)
    searched, remarks = _searched(table, errors.columns, columns, confidence)
    if not errors.known.all():
        unknown = int((~errors.known).sum())
        if unknown == len(table):
            raise expect.InputError(
                f"--wrong is {wrong!r}, but {expect.shown(errors.columns)} has no values. Is it the right column?"
            )
        remarks.append(f"Dropped because a value of --wrong is missing: {unknown} of {len(table)} rows.")
    output.say(f"{data}: {len(table)} rows, {int(errors.meets.sum())} of them wrong by {wrong!r}.")
    for remark in remarks:
        output.say(remark)
    # Not the whole table: a column that says which rows are wrong would make every slice.
    result = slices(table.loc[errors.known, searched], errors.meets[errors.known], **search)
    text: list[Any] = [str(result)]
    if result.slices:
        text.append(region_table("", result.slices, "error rate"))
    return Outcome(
        result.to_dict(),
        data={"name": data, "rows": len(table), "wrong": wrong, "columns": searched, "notes": remarks},
        text=text,
        charts=lambda: {"slices": result.plot()},
    )


def _searched(
    table: pd.DataFrame, used: tuple[str, ...], columns: str | None, confidence: str | None
) -> tuple[list[str], list[str]]:
    """The columns to search, and remarks on them."""
    if confidence is not None and confidence not in table:
        raise expect.InputError(
            f"--confidence is {confidence!r}, which is not a column.{expect.nearest(confidence, table.columns)} "
            f"There are {expect.shown(table.columns)}."
        )
    if columns is None:
        hidden = [name for name in used if name != confidence]
        chosen = [name for name in table.columns if name not in hidden]
        if not chosen:
            raise expect.InputError(f"There is no column to search besides {expect.shown(used)}, which --wrong uses.")
        return chosen, [f"Not searched because --wrong uses them: {expect.shown(hidden)}."] if hidden else []
    chosen = [name.strip() for name in columns.split(",") if name.strip()]
    for name in chosen:
        if name not in table:
            raise expect.InputError(
                f"--columns has {name!r}, which is not a column.{expect.nearest(name, table.columns)} There are "
                f"{expect.shown(table.columns)}."
            )
    if not chosen:
        raise expect.InputError("--columns is empty; expected at least one column. Name one, or drop the option.")
    if confidence is not None and confidence not in chosen:
        chosen.append(confidence)
    both = [name for name in chosen if name in used]
    remark = f"Searched because you named them, although --wrong uses them: {expect.shown(both)}."
    return list(dict.fromkeys(chosen)), [remark] if both else []


# What is shown of rows, geometry and model.


def _lists(measured: Data, parts: DataParts, most: int) -> dict[str, pd.DataFrame]:
    """Hardest rows without the labels to check, and these, each with what a person needs to judge it."""
    labels, result = parts.labels, parts.complexity
    hardest = result.hardest(most + labels.listed.size)
    hardest = hardest[~hardest["row"].isin(labels.listed)].head(most)
    suspects = labels.to_frame().head(min(most, labels.listed.size))
    suspects = suspects.rename(columns={"likely": "nearest", "value": "wrong"})
    suspects["complexity"] = result.values[suspects["row"].to_numpy(dtype=np.int64)]
    return {
        "hardest": _with_content(hardest[["row", "label", "nearest", "complexity"]], measured, parts),
        "suspects": _with_content(suspects[["row", "label", "nearest", "complexity", "wrong"]], measured, parts),
    }


def _with_content(rows: pd.DataFrame, measured: Data, parts: DataParts) -> pd.DataFrame:
    """Add the text, or the columns that point to the other class; number the rows as in the file."""
    numbers = rows["row"].to_numpy(dtype=np.int64)
    if parts.rows.texts is not None:
        content = [parts.rows.texts[row] for row in numbers]
    else:
        explained = numbers[parts.complexity.known[numbers]]
        evidence: Any = {}
        if explained.size:
            why = parts.complexity.explain(explained, top=3)
            evidence = why[why["contribution"] > 0].groupby("row")["feature"].agg(", ".join)
        content = [evidence.get(row, "") for row in numbers]
    return _numbered(rows.reset_index(drop=True).assign(content=content), measured)


def _numbered(rows: pd.DataFrame, measured: Data) -> pd.DataFrame:
    """The same with rows numbered as in the file, some of whose rows may have been dropped."""
    places = measured.positions
    return rows if places is None else rows.assign(row=places[rows["row"].to_numpy(dtype=np.int64)])


def _text(
    measured: Data, parts: DataParts, lists: dict[str, pd.DataFrame], findings: tuple[Finding, ...]
) -> Iterator[Any]:
    result = parts.complexity
    yield f"{measured.name}: {result}"
    yield from (f"{finding.level}: {finding}" for finding in findings if finding.level != "fine")
    if parts.check is not None:
        yield from _text_of_model(parts.check)
    if parts.unlike is not None:
        yield f"Rows unlike anything known: {parts.unlike}"
        unusual = _numbered(parts.unlike.to_frame(), measured)
        headings = dict(zip(unusual, ["row", "looks most like", "distance", "unusual"]))
        yield rows_table("Most unlike the known rows", unusual, headings)
    by_class = result.by_class.sort_values("complexity", ascending=False, kind="stable", na_position="last")
    yield rows_table("Classes, hardest first", by_class, {name: str(name).replace("_", " ") for name in by_class})
    if len(result.lone_classes):
        yield f"Classes with a single row: {expect.shown(result.lone_classes['label'], 10)}."
    confused = result.confused(_predicted(parts))
    if len(confused):
        by = "the nearest class, without the row" if parts.check is None else "the model"
        yield rows_table(f"Confused most often by {by}", confused, {name: str(name) for name in confused}, most=10)
    content = "text" if parts.rows.texts is not None else "evidence for the other class"
    listed = {"row": "row", "label": "label", "nearest": "looks like", "complexity": "complexity"}
    yield rows_table("Hardest rows (row counted from 0)", lists["hardest"], listed | {"content": content})
    yield f"Labels: {parts.labels}"
    if len(lists["suspects"]):
        listed |= {"wrong": "P(wrong)", "content": content}
        yield rows_table("Labels to check (row counted from 0)", lists["suspects"], listed)
    else:
        yield "No label is suspected."


def _text_of_model(check: ModelCheck) -> Iterator[Any]:
    yield f"Does the model beat the geometry? {check.versus}"
    if check.why:
        yield check.why
    if check.against is not None:
        yield f"Complexity and errors: {check.against}"
        headings = {"low": "complexity", "high": "to", "rows": "rows", "errors": "errors", "error_rate": "error rate"}
        yield rows_table("Errors by complexity", check.against.curve, headings)
    if check.slices is not None:
        yield f"Where: {check.slices}"
    if check.known_slices is not None:
        yield f"Where, with complexity and confidence as columns: {check.known_slices}"
    if check.by_column is not None and len(check.by_column):
        headings = {"column": "column", "condition": "worst where", "size": "rows", "error_rate": "error rate"}
        headings |= {"rest_rate": "elsewhere", "q_value": "q"}
        yield rows_table("Each column alone, most significant first", check.by_column, headings)


def _predicted(parts: DataParts) -> Any:
    """The model's predictions, if there is a model."""
    return None if parts.check is None else parts.check.predictions.predicted


def _results(
    measured: Data, parts: DataParts, lists: dict[str, pd.DataFrame], findings: tuple[Finding, ...]
) -> dict[str, Any]:
    check = parts.check
    results: dict[str, Any] = {
        "complexity": parts.complexity,
        "wrong_labels": parts.labels,
        "confused": parts.complexity.confused(_predicted(parts)),
        "lone_classes": parts.complexity.lone_classes,
        **lists,
        "row_numbers": measured.positions,  # of the rows that were measured, in their file; None: all of them
        "unlike_known": parts.unlike,
    }
    if check is not None:
        results["versus_baseline"] = {**check.versus.to_dict(), "verdict": check.versus.verdict}
        results |= {"complexity_against": check.against, "slices": check.slices, "known_slices": check.known_slices}
        results["slices_by_column"] = check.by_column
    if parts.suspicions is not None:
        results["findings"] = findings
    return results


def _draw(parts: DataParts) -> dict[str, Any]:
    check = parts.check
    results: dict[str, Any] = {"wrong_labels": parts.labels, "unlike_known": parts.unlike}
    if check is not None:
        results |= {"versus_baseline": check.versus, "complexity_against": check.against, "slices": check.slices}
    return {
        "complexity": drawing.complexity_histogram(parts.complexity),
        "nearest_classes": drawing.nearest_classes(parts.complexity),
        "hardest": drawing.hardest_table(parts.complexity, texts=parts.rows.texts),
        **{name: result.plot() for name, result in results.items() if result is not None},
    }
