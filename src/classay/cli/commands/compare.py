"""`classay compare`: what changed from one version to the next, from predictions, records or reports."""

from __future__ import annotations

import typer

from ... import __version__
from ...expect import InputError
from ...learner.versions.compare import Comparison, compare
from ...learner.versions.confusion_metrics import METRICS
from ...regions.region import p_value_text
from .. import console, options
from .. import prediction_columns as columns_of
from ..prediction_columns import MLFLOW, PredictionColumns, is_report, record_of

EXAMPLES = """
**Examples**

    classay compare old.csv new.csv --truth label --item id

    classay compare old.csv new.csv --truth label --item id --refits seeds.csv --min-effect 0.01 --fail

    classay compare champion.classay candidate.classay

    classay compare last.json report.json

    classay compare mlflow:RUN1 mlflow:RUN2 --tracking-uri sqlite:///mlflow.db

Files of predictions have one row per prediction. Other columns are searched for regions in which changes concentrate.
With --refits, or several runs (--run) in the first file, changes are split into what a mere refit changes and what is
beyond. Two reports are compared figure by figure. Exit code 1 with --fail: a regression is shown.
"""
FAILED = 1
NAMES = {
    "old_accuracy": "accuracy, old",
    "new_accuracy": "accuracy, new",
    "difference": "difference, paired",
    "regressions": "turn wrong (regressions)",
    "gains": "turn right (gains)",
    "churn": "predictions that change (churn)",
    "refit_churn": "a mere refit changes",
    "beyond_refit": "beyond a refit",
}


def command(
    old: str = typer.Argument(..., metavar="OLD", help="Predictions, a record or a report of the old version."),
    new: str = typer.Argument(..., metavar="NEW", help="The same for the new version."),
    truth: columns_of.Truth = None,
    prediction: columns_of.Prediction = None,
    item: columns_of.Item = None,
    run: columns_of.Run = None,
    variant: columns_of.Variant = None,
    wide: columns_of.Wide = "run",
    normalise: columns_of.Normalise = False,
    missing: columns_of.Missing = "wrong",
    refits: str = typer.Option(None, metavar="FILE", help="More fits of the old version: what a mere refit changes."),
    metric: str = typer.Option("accuracy", help=f"Metric to compare besides accuracy: {', '.join(METRICS)}."),
    min_effect: float = typer.Option(0.0, help="Drop in accuracy that does not matter, such as 0.01."),
    columns: str = typer.Option(None, help="Columns to search for regions, comma-separated. Default: all others."),
    max_features: int = typer.Option(2, help="Search single columns (1) or also pairs of columns (2)."),
    fail: bool = typer.Option(False, "--fail", help="Exit with code 1 if a regression is shown."),
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    charts: options.Charts = None,
    tracking_uri: str = typer.Option(None, metavar="URI", help="MLflow store of mlflow:RUN. Default: as configured."),
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Compare two versions on the same items: accuracy, what changed beyond a mere refit, and where it got worse."""
    console.writable_folder(charts, "--charts")
    if is_report(old) != is_report(new):
        raise InputError(f"'{old}' and '{new}' are a report and something else; expected two reports, or none.")
    if is_report(old):
        _compare_reports(old, new, tracking_uri, as_json, fail, min_effect)
        return
    named = PredictionColumns(
        truth, tuple(prediction or ()), item, run, variant, wide=wide, normalise=normalise, missing=missing
    )
    first, table = record_of(old, named, quiet)
    second, _ = record_of(new, named, quiet)
    more = None if refits is None else record_of(refits, named, quiet)[0]
    wanted = None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    result = compare(
        first, second, table, refits=more, metric=metric, min_effect=min_effect, columns=wanted,
        max_features=max_features, level=level, random_state=seed,
    )  # fmt: skip
    if as_json:
        console.write_json({"classay": __version__, "shown": result.regression_shown, **result.to_dict()})
    else:
        _show(result)
    if charts is not None:
        console.save_charts(charts, {"compare": result.plot()}, quiet)
    if fail and result.regression_shown:
        raise typer.Exit(FAILED)


def _show(result: Comparison) -> None:
    out = console.out()
    out.print(result.answer(), markup=False)
    figures = {text: getattr(result, name) for name, text in NAMES.items()}
    if result.metric != "accuracy":
        figures[f"{result.metric}, new − old"] = result.metric_difference
    rows = [[name, console.figure(each, 3)] for name, each in figures.items()]
    out.print(console.table(f"{result.old} → {result.new}, {result.n_items:,} items", ["", "value"], rows))
    if result.worse or result.better or result.changed:
        words = {"worse": "worse", "better": "better", "changed": "changed beyond a refit"}
        cells = [
            [
                each.condition,
                words[what],
                str(each.size),
                f"{each.rate.value:+.3f}\n[{each.rate.low:+.3f}, {each.rate.high:+.3f}]",
                f"{each.rest_rate:+.3f}",
                p_value_text(each.q_value).removeprefix("= "),
            ]
            for what, regions in (("worse", result.worse), ("better", result.better), ("changed", result.changed))
            for each in regions
        ]
        out.print(console.table("Where", ["where", "", "items", "difference", "elsewhere", "q"], cells))
    for note in result.notes:
        out.print(note, markup=False)


def _compare_reports(old: str, new: str, uri: str | None, as_json: bool, fail: bool, min_effect: float) -> None:
    from ...report.export.files import open_report
    from ...report.export.mlflow_log import report_of_run
    from ...report.gates.report_changes import changes_between

    documents = [
        report_of_run(each.removeprefix(MLFLOW), uri) if each.startswith(MLFLOW) else open_report(each)
        for each in (old, new)
    ]
    changes = changes_between(documents[0], documents[1], min_effect)
    if as_json:
        console.write_json({"classay": __version__, "shown": changes.regression_shown, **changes.to_dict()})
    else:
        rows = [list(each.texts) for each in changes.changes]
        console.out().print(console.table(f"{old} → {new}", ["figure", "old", "new", "change", ""], rows))
        for note in changes.notes:
            console.out().print(note, markup=False)
    if fail and changes.regression_shown:
        raise typer.Exit(FAILED)
