"""`classay data`: how hard each row is, the accuracy to beat, whether a model does, and which labels to check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from ... import __version__, charts, expect
from ...data.complexity import Complexity, complexity
from ...data.text import embed
from ...data.unlike_known import UnlikeKnown, unlike_known
from ...data.wrong_labels import WrongLabels
from ...estimators.encoder import numbers, numbers_of_two
from ...result import plain
from ...tables.read import Table, read_table
from .. import console, options
from ..model_check import ModelCheck, check_model, predictions_of_learner
from ..prediction_files import Predictions, read_predictions
from ..records import describe, table_as_json

EXAMPLES = """
**Examples**

    classay data digits

    classay data train.csv --test test.csv --predictions predictions.csv

    classay data credit.csv --target default --learner "RandomForestClassifier(n_estimators=100)"

    classay data intents.csv --text utterance --target intent --cache vectors/

    classay data credit.csv --target default --paper --distance correlation --json

Predictions have one row for each row of the test file (or of the data), in the same order: a column `predicted`,
columns of probabilities named as the classes, or both; in an .npz file, arrays `predictions` and `probabilities`.
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
    seed: options.Seed = 0,
    charts: options.Charts = None,
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
    table = read_table(data, target, text, groups=groups, test=test, drop=drop or (), new_classes=True)
    describe(table, quiet)
    texts, (X, X_test), remarks = _rows(table, model, cache)
    for remark in remarks:
        console.say(remark, quiet)
    table = replace(table, notes=(*table.notes, *remarks))
    settings: dict[str, Any] = {
        "distance": distance,
        "covariance": covariance,
        "aim": aim,
        "random_state": seed,
        "paper": paper,
    }
    known = complexity(X, table.y, groups=table.groups, **settings)
    shown = _Shown(table if table.test is None else table.test, known, texts)
    unlike: UnlikeKnown | None = None
    if table.test is not None:
        console.say("Measuring the test rows by the geometry of the others.", quiet)
        measured = complexity(X, table.y, X_eval=X_test, y_eval=table.test.y, groups=_all_groups(table), **settings)
        shown = replace(shown, result=measured)
        # Known rows must not count in their own geometry: otherwise new ones look unusual.
        outside = known if not paper else complexity(X, table.y, distance=known.distance, random_state=seed)
        unlike = unlike_known(outside, X_test, false_alarms / 2)
    found: Predictions | None = None
    if predictions is not None:
        found = read_predictions(predictions, shown.result.classes, len(shown.table.y), shown.table.rows)
    elif learner is not None:
        console.say(f"Fitting {learner}.", quiet)
        found = predictions_of_learner(learner, table, known.classes, seed, allow_import)
    check = None
    if found is not None:
        console.say("Searching where the errors concentrate.", quiet)
        row_groups = None if shown.table.groups is None else shown.table.groups.to_numpy()
        check = check_model(shown.result, shown.table.X, found, row_groups, seed)
    labels = shown.result.wrong_labels(None if found is None else found.probabilities, false_alarms)
    rows = shown.lists(labels, hardest)
    if as_json:
        console.write_json(_as_json(table, shown, labels, rows, unlike, check, found))
    else:
        _show(table, shown, labels, rows, unlike, check, found)
    if charts is not None:
        console.save_charts(charts, _draw(shown, labels, check), quiet)


@dataclass(frozen=True)
class _Shown:
    """The rows that are shown, those of the test file if there is one: their table, complexity and texts."""

    table: Table
    result: Complexity
    texts: list[str] | None

    def lists(self, labels: WrongLabels, most: int) -> dict[str, pd.DataFrame]:
        """Hardest rows without the labels to check, and these, each with what a person needs to judge it."""
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
        return rows if self.table.rows is None else rows.assign(row=self.table.rows[numbers_of_rows])


def _all_groups(table: Table) -> Any:
    if table.groups is None or table.test is None or table.test.groups is None:
        return table.groups
    return pd.concat([table.groups, table.test.groups], ignore_index=True)


def _rows(table: Table, model: str, cache: Path | None) -> tuple[list[str] | None, tuple[Any, Any], list[str]]:
    """Texts to show, rows and test rows as numbers, and notes on how they were converted."""
    if table.text is not None:
        tables = [table] if table.test is None else [table, table.test]
        texts = [each.X[table.text].fillna("").tolist() for each in tables]
        others = [str(name) for name in table.X.columns if name != table.text]
        unused = f" Other columns are not used for distances: {expect.shown(others)}." if others else ""
        vectors = [embed(each, model, cache) for each in texts]
        return texts[-1], (vectors[0], vectors[-1]), [f"Texts of {table.text!r}, embedded by {model}.{unused}"]
    gaps = int(table.X.isna().any(axis=1).sum())
    filled = f"{gaps} of {len(table.X)} rows have missing values: numbers were filled with the median of their column."
    remarks = [filled] if gaps else []
    if table.test is None:
        return None, (numbers(table.X), None), remarks
    return None, numbers_of_two(table.X, table.test.X), remarks


def _show(
    table: Table,
    shown: _Shown,
    labels: WrongLabels,
    rows: dict[str, pd.DataFrame],
    unlike: UnlikeKnown | None,
    check: ModelCheck | None,
    found: Predictions | None,
) -> None:
    out, result = console.out(), shown.result
    out.print(f"{shown.table.name}: {result}", markup=False)
    if check is not None:
        _show_model(check)
    if unlike is not None:
        out.print()
        out.print(f"Rows unlike anything known: {unlike}", markup=False)
        _show_rows("Most unlike the known rows", ["row", "looks most like", "distance", "unusual"], unlike.to_frame())
    out.print()
    by_class = result.by_class.sort_values("complexity", ascending=False, kind="stable", na_position="last")
    first = f" (first {MOST_CLASSES} of {len(by_class)})" if len(by_class) > MOST_CLASSES else ""
    _show_rows(f"Classes, hardest first{first}", [str(each).replace("_", " ") for each in by_class], by_class, 30)
    lone = result.lone_classes
    if len(lone):
        out.print(f"Classes with a single row, not measured: {expect.shown(lone['label'], 10)}.", markup=False)
    confused = result.confused(None if found is None else found.predicted)
    if len(confused):
        by = "the nearest class, without the row" if found is None else "the model"
        _show_rows(f"Confused most often by {by}", ["label", "predicted", "rows", "share"], confused.head(10))
    content = "text" if shown.texts is not None else "evidence for the other class"
    columns = ["row", "label", "looks like", "complexity", content]
    _show_rows("Hardest rows (row counted from 0)", columns, rows["hardest"], 100)
    out.print()
    out.print(f"Labels: {labels}", markup=False)
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


def _as_json(
    table: Table,
    shown: _Shown,
    labels: WrongLabels,
    rows: dict[str, pd.DataFrame],
    unlike: UnlikeKnown | None,
    check: ModelCheck | None,
    found: Predictions | None,
) -> dict[str, Any]:
    content: dict[str, Any] = {
        "classay": __version__,
        "data": table_as_json(table),
        "complexity": shown.result.to_dict(),
        "wrong_labels": labels.to_dict(),
        "confused": plain(shown.result.confused(None if found is None else found.predicted)),
        "lone_classes": plain(shown.result.lone_classes),
        **{name: plain(each) for name, each in rows.items()},
    }
    if unlike is not None:
        content["unlike_known"] = unlike.to_dict()
    if check is not None:
        content["versus_baseline"] = {**check.versus.to_dict(), "verdict": check.versus.verdict}
        content["complexity_against"] = None if check.against is None else check.against.to_dict()
        content["slices"] = None if check.slices is None else check.slices.to_dict()
        content["slices_by_column"] = plain(check.by_column)
    return content


def _draw(shown: _Shown, labels: WrongLabels, check: ModelCheck | None) -> dict[str, Any]:
    drawn: dict[str, Any] = {
        "complexity": charts.complexity_histogram(shown.result),
        "nearest_classes": charts.nearest_classes(shown.result),
        "hardest": charts.hardest_table(shown.result, texts=shown.texts),
        "wrong_labels": labels.plot(),
    }
    if check is not None:
        drawn["versus_baseline"] = check.versus.plot()
        if check.against is not None and check.slices is not None:
            drawn |= {"complexity_against": check.against.plot(), "slices": check.slices.plot()}
    return drawn
