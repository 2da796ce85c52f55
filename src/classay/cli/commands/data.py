"""`classay data`: how hard each row is, the accuracy to beat, whether a model does, and which labels to check."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from ... import __version__, charts, expect
from ...charts.style.picture_files import prepared_library
from ...data.row_complexity import Complexity
from ...estimators.spec import learners_from_texts
from ...report.data_report import DataParts, findings_of_data, measure_data
from ...report.document import Finding, Report
from ...report.export.files import ready
from ...report.model_check import ModelCheck
from ...result import plain
from ...tables.data import Data
from ...tables.read import read_table
from .. import console, options
from ..prediction_files import read_predictions
from ..records import describe, table_as_json
from ..report_view import show_report

EXAMPLES = """
**Examples**

    classay data digits

    classay data train.csv --test test.csv --predictions predictions.csv

    classay data train.csv --test test.csv --predictions predictions.csv -o data.html -o data.json

    classay data credit.csv --target default --learner "RandomForestClassifier(n_estimators=100)"

    classay data intents.csv --text utterance --target intent --cache vectors/

    classay data credit.csv --target default --checks

    classay data credit.csv --target default --paper --distance correlation --json

Predictions have one row for each row of the test file (or of the data), in the same order: a column `predicted`,
columns of probabilities named as the classes (or `p_` and the class), or both; in an .npz file, arrays `predictions`
and `probabilities`. Classes are spelled as in the data.

With --output the same is written as one page: a verdict first, then a section for each question. `--json` prints the
results with every row; the .json file of --output has the page, as that of `classay report`.
"""
MOST_CLASSES = 30


def command(
    data: options.Data,
    target: options.Target = None,
    test: options.TestFile = None,
    predictions: str | None = typer.Option(
        None, "--predictions", metavar="FILE", help="A model's predictions for the test rows: CSV, Parquet or npz."
    ),
    learner: str | None = typer.Option(
        None,
        "--learner",
        "-l",
        help="A scikit-learn classifier to compare, as NAME or NAME(argument=value): fitted for the test rows, or "
        "cross-validated.",
    ),
    output: list[Path] = typer.Option(
        None, "--output", "-o", help="File to save a page to: .html, .json or .md. Repeat for more."
    ),
    text: options.Text = None,
    model: options.TextModel = "wordllama",
    cache: options.TextCache = None,
    groups: options.Groups = None,
    drop: options.Drop = None,
    distance: str = typer.Option(
        "auto", help="Distance: auto, euclidean, cosine, mahalanobis, correlation, gaussian or whitened_cosine."
    ),
    covariance: str = typer.Option("auto", help="Covariance: auto, full, shared or diagonal."),
    aim: str = typer.Option("fit", help="What distance auto is chosen for: fit, or ranking of errors (errors)."),
    hardest: int = typer.Option(10, "--hardest", "-n", help="Number of hardest rows and of suspected labels to show."),
    false_alarms: float = typer.Option(
        0.1, help="Share of the labels to check that may be right, and half of it for rows unlike the known ones."
    ),
    paper: bool = typer.Option(False, "--paper", help="Compute exactly as in the paper; fixes every other choice."),
    checks: bool = typer.Option(
        False,
        "--checks",
        help="Also check whether a column gives the label away, rows belong together, or test rows are unlike the "
        "others. Always done for --output.",
    ),
    seed: options.Seed = 0,
    charts: options.Charts = None,
    force: options.Force = False,
    allow_import: options.AllowImport = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Measure how hard each row is, the accuracy to beat and whether a model beats it, and which labels to check."""
    expect.whole(hardest, "hardest", at_least=1)
    expect.fraction(false_alarms, "false_alarms")
    console.writable_folder(charts, "--charts")
    if predictions is not None and learner is not None:
        raise expect.InputError("--predictions and --learner are both given; expected one of them.")
    named: dict[str, Any] = learners_from_texts([learner], allow_import) if learner is not None else {}
    paths = [ready(path, force) for path in output or ()]
    table = read_table(data, target, text, groups=groups, test=test, drop=drop or (), new_classes=True)
    describe(table, quiet)
    measured = table if table.test is None else table.test
    found = None
    if predictions is not None:
        classes = table.classes
        found = read_predictions(predictions, classes, measured.y, measured.positions, measured.audit.rows_read)
    if any(path.suffix.lower() == ".html" for path in paths):
        prepared_library()
    console.say(f"Measuring {_what(table, predictions, learner)}.", quiet)
    parts = measure_data(
        table.X,
        table.y,
        **_test_rows(table),
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
            console.say(remark, quiet)
    table = replace(table, notes=parts.data.notes)
    shown = _Shown(measured, parts)
    findings, _ = findings_of_data(parts)
    saved: list[Path] = []
    report = _page(parts, hardest) if paths else None
    if report is not None:
        # The page last: it needs most memory, and the figures must not be lost with it.
        saved = [report.save(path) for path in sorted(paths, key=lambda path: path.suffix.lower() == ".html")]
    if as_json:
        console.write_json(_as_json(table, shown, hardest, findings))
    elif report is not None:
        show_report(report)
    else:
        _show(shown, hardest, findings)
    if charts is not None:
        console.save_charts(charts, _draw(parts), quiet)
    for path in saved:
        console.say(f"Saved {path.resolve()}", quiet)


def _page(parts: DataParts, most: int) -> Report:
    """The document, with the command that makes it again."""
    from ...report.data_document import document_of  # charts, which the tables do not need

    again = [] if "--force" in sys.argv else ["--force"]
    return document_of(parts, most, shlex.join(["classay", *sys.argv[1:], *again]))


def _what(table: Data, predictions: str | None, learner: str | None) -> str:
    """What is measured, in words."""
    rows = (
        f"{len(table.y):,} rows"
        if table.test is None
        else f"{len(table.test.y):,} test rows by {len(table.y):,} others"
    )
    return (
        rows + ("" if predictions is None else f", and {predictions}") + ("" if learner is None else f", and {learner}")
    )


def _test_rows(table: Data) -> dict[str, Any]:
    """The test rows, and the groups of all rows, as keywords."""
    given: dict[str, Any] = {"groups": _all_groups(table)}
    return given if table.test is None else given | {"X_test": table.test.X, "y_test": table.test.y}


@dataclass(frozen=True)
class _Shown:
    """The rows that are shown, those of the test file if there is one: their table, and all results."""

    table: Data
    parts: DataParts

    @property
    def result(self) -> Complexity:
        """Their complexity."""
        return self.parts.complexity

    @property
    def texts(self) -> Sequence[str] | None:
        """Their texts, if these were embedded."""
        return self.parts.rows.texts

    @property
    def predicted(self) -> NDArray[Any] | None:
        """The model's predictions, if there is a model."""
        return None if self.parts.check is None else self.parts.check.predictions.predicted

    def lists(self, most: int) -> dict[str, pd.DataFrame]:
        """Hardest rows without the labels to check, and these, each with what a person needs to judge it."""
        labels = self.parts.labels
        hardest = self.result.hardest(most + labels.listed.size)
        hardest = hardest[~hardest["row"].isin(labels.listed)].head(most)
        suspects = (
            labels.to_frame()
            .head(min(most, labels.listed.size))
            .rename(columns={"likely": "nearest", "value": "wrong"})
        )
        suspects["complexity"] = self.result.values[suspects["row"].to_numpy(dtype=np.int64)]
        return {
            "hardest": self._with_content(hardest[["row", "label", "nearest", "complexity"]]),
            "suspects": self._with_content(suspects[["row", "label", "nearest", "complexity", "wrong"]]),
        }

    def _with_content(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Add the text, or the columns that point to the other class; number the rows as in the file."""
        rows = rows.reset_index(drop=True)
        numbers_of_rows = rows["row"].to_numpy(dtype=np.int64)
        if self.texts is not None:
            rows = rows.assign(content=[self.texts[row] for row in numbers_of_rows])
        else:
            explained = numbers_of_rows[self.result.known[numbers_of_rows]]
            evidence: Any = {}
            if explained.size:
                why = self.result.explain(explained, top=3)
                evidence = why[why["contribution"] > 0].groupby("row")["feature"].agg(", ".join)
            rows = rows.assign(content=[evidence.get(row, "") for row in numbers_of_rows])
        return self.numbered(rows)

    def numbered(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The same with rows numbered as in the file, some of whose rows may have been dropped."""
        if self.table.positions is None:
            return rows
        return rows.assign(row=self.table.positions[rows["row"].to_numpy(dtype=np.int64)])


def _all_groups(table: Data) -> Any:
    if table.groups is None or table.test is None or table.test.groups is None:
        return table.groups
    return np.concatenate([table.groups, table.test.groups])


def _show(shown: _Shown, most: int, findings: tuple[Finding, ...]) -> None:
    out, result, parts = console.out(), shown.result, shown.parts
    out.print(f"{shown.table.name}: {result}", markup=False)
    for each in findings:
        if each.level != "fine":
            out.print(f"{each.level}: {each}", markup=False)
    if parts.check is not None:
        _show_model(parts.check)
    if parts.unlike is not None:
        out.print()
        out.print(f"Rows unlike anything known: {parts.unlike}", markup=False)
        unusual = shown.numbered(parts.unlike.to_frame())
        _show_rows("Most unlike the known rows", ["row", "looks most like", "distance", "unusual"], unusual)
    out.print()
    by_class = result.by_class.sort_values("complexity", ascending=False, kind="stable", na_position="last")
    first = f" (first {MOST_CLASSES} of {len(by_class)})" if len(by_class) > MOST_CLASSES else ""
    _show_rows(f"Classes, hardest first{first}", [str(each).replace("_", " ") for each in by_class], by_class, 30)
    lone = result.lone_classes
    if len(lone):
        out.print(f"Classes with a single row: {expect.shown(lone['label'], 10)}.", markup=False)
    confused = result.confused(shown.predicted)
    if len(confused):
        by = "the nearest class, without the row" if shown.predicted is None else "the model"
        _show_rows(f"Confused most often by {by}", ["label", "predicted", "rows", "share"], confused.head(10))
    rows = shown.lists(most)
    content = "text" if shown.texts is not None else "evidence for the other class"
    columns = ["row", "label", "looks like", "complexity", content]
    _show_rows("Hardest rows (row counted from 0)", columns, rows["hardest"], 100)
    out.print()
    out.print(f"Labels: {parts.labels}", markup=False)
    if len(rows["suspects"]):
        columns = ["row", "label", "looks like", "complexity", "P(wrong)", content]
        _show_rows("Labels to check (row counted from 0)", columns, rows["suspects"], 100)
    else:
        out.print("No label is suspected.")


def _show_model(check: ModelCheck) -> None:
    out = console.out()
    out.print()
    out.print(f"Does the model beat the geometry? {check.versus}", markup=False)
    if check.why:
        out.print(check.why, markup=False)
    if check.against is not None:
        out.print()
        out.print(f"Complexity and errors: {check.against}", markup=False)
        curve = check.against.curve[["low", "high", "rows", "errors", "error_rate"]]
        _show_rows("Errors by complexity", ["complexity", "to", "rows", "errors", "error rate"], curve)
    if check.slices is not None:
        out.print()
        out.print(f"Where: {check.slices}", markup=False)
    if check.known_slices is not None:
        out.print()
        out.print(f"Where, with complexity and confidence as columns: {check.known_slices}", markup=False)
    if check.by_column is not None and len(check.by_column):
        columns = ["column", "worst where", "rows", "error rate", "elsewhere", "q"]
        by_column = check.by_column[["column", "condition", "size", "error_rate", "rest_rate", "q_value"]]
        _show_rows("Each column alone, most significant first", columns, by_column.head(MOST_CLASSES))


def _show_rows(title: str, columns: list[str], rows: pd.DataFrame, most: int = 60) -> None:
    if not len(rows):
        return
    out = console.out()
    out.print()
    cells = [[_cell(value)[:most] for value in row] for row in rows.head(MOST_CLASSES).itertuples(index=False)]
    out.print(console.table(title, columns, cells))


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _as_json(table: Data, shown: _Shown, most: int, findings: tuple[Finding, ...]) -> dict[str, Any]:
    parts, check = shown.parts, shown.parts.check
    content: dict[str, Any] = {
        "classay": __version__,
        "data": table_as_json(table),
        "complexity": shown.result.to_dict(),
        "wrong_labels": parts.labels.to_dict(),
        "confused": plain(shown.result.confused(shown.predicted)),
        "lone_classes": plain(shown.result.lone_classes),
        **{name: plain(each) for name, each in shown.lists(most).items()},
    }
    if shown.table.positions is not None:
        content["row_numbers"] = plain(shown.table.positions)  # of the rows that were measured, in their file
    if parts.unlike is not None:
        content["unlike_known"] = parts.unlike.to_dict()
    if check is not None:
        content["versus_baseline"] = {**check.versus.to_dict(), "verdict": check.versus.verdict}
        content["complexity_against"] = None if check.against is None else check.against.to_dict()
        content["slices"] = None if check.slices is None else check.slices.to_dict()
        content["known_slices"] = None if check.known_slices is None else check.known_slices.to_dict()
        content["slices_by_column"] = plain(check.by_column)
    if parts.suspicions is not None:
        content["findings"] = plain(findings)
    return content


def _draw(parts: DataParts) -> dict[str, Any]:
    check = parts.check
    drawn: dict[str, Any] = {
        "complexity": charts.complexity_histogram(parts.complexity),
        "nearest_classes": charts.nearest_classes(parts.complexity),
        "hardest": charts.hardest_table(parts.complexity, texts=parts.rows.texts),
        "wrong_labels": parts.labels.plot(),
    }
    if parts.unlike is not None:
        drawn["unlike_known"] = parts.unlike.plot()
    if check is not None:
        drawn["versus_baseline"] = check.versus.plot()
        if check.against is not None:
            drawn["complexity_against"] = check.against.plot()
        if check.slices is not None:
            drawn["slices"] = check.slices.plot()
    return drawn
