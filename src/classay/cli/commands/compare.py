"""`classay compare`: whether the new version is better or worse, and where, from predictions, records or reports."""

from __future__ import annotations

from ...expect import InputError
from ...learner.versions.compare import compare
from .. import console, options
from ..inputs import MLFLOW, Predictions, is_report, names_in
from ..runner import Outcome, estimates_table, region_table, rows_table

FAILED = 1
REGIONS = {"worse": "worse", "better": "better", "changed": "changed beyond a refit"}


def command(
    predictions: Predictions,
    output: options.Charts,
    old: str,
    new: str,
    refits: str | None = None,
    metric: str = "accuracy",
    min_effect: float = 0.0,
    columns: str | None = None,
    slices: list[str] | None = None,
    max_features: int = 3,
    fail: bool = False,
    level: float = 0.95,
    seed: int = 0,
    tracking_uri: str | None = None,
) -> Outcome:
    """Compare two versions on the same items: better or worse, what changed beyond a mere refit, and where."""
    if is_report(old) != is_report(new):
        raise InputError(f"'{old}' and '{new}' are a report and something else; expected two reports, or none.")
    if is_report(old):
        if slices:
            raise InputError("--slice needs predictions or records; reports keep no items.")
        return _compare_reports(old, new, tracking_uri, fail, min_effect)
    first, table = predictions.record(old, output.quiet)
    second, _ = predictions.record(new, output.quiet)
    more = None if refits is None else predictions.record(refits, output.quiet)[0]
    wanted = None if columns is None else names_in(columns)
    result = compare(
        first, second, table, refits=more, metric=metric, min_effect=min_effect, columns=wanted,
        slices=slices or (), max_features=max_features, level=level, random_state=seed,
    )  # fmt: skip
    if fail and not result.refit_churn.known:
        raise InputError(
            "--fail needs several fits: with one fit of each version, a refit alone may be worse by as much. Name runs "
            "with --run, or pass more fits of the old version with --refits."
        )
    title = f"{result.old} → {result.new}, {result.n_items:,} items"
    figures = {"accuracy, old": result.old_accuracy, "accuracy, new": result.new_accuracy, **result.summary()}
    text = [*result.sentences(), estimates_table(title, figures)]
    regions = [(what, region) for name, what in REGIONS.items() for region in getattr(result, name)]
    if regions:
        kinds, where = zip(*regions)
        text.append(region_table("Where", where, "new − old", kinds))
    if result.slices:
        headings = {"condition": "slice", "size": "items", "difference": "accuracy, new − old", "verdict": ""}
        caption = f"Intervals hold for all {len(result.slices)} slices together."
        text.append(rows_table("Slices", result.slices, headings, caption, len(result.slices)))
    return Outcome(
        {"shown": result.regression_shown, **result.to_dict()},
        data={"old": old, "new": new},
        text=[*text, *result.notes],
        charts=lambda: {"compare": result.plot()},
        code=FAILED if fail and result.regression_shown else 0,
    )


def _compare_reports(old: str, new: str, uri: str | None, fail: bool, min_effect: float) -> Outcome:
    from ...report.export.files import open_report
    from ...report.export.mlflow_log import report_of_run
    from ...report.gates.report_changes import changes_between

    documents = [
        report_of_run(name.removeprefix(MLFLOW), uri) if name.startswith(MLFLOW) else open_report(name)
        for name in (old, new)
    ]
    changes = changes_between(documents[0], documents[1], min_effect)
    rows = [list(change.texts) for change in changes.changes]
    return Outcome(
        {"shown": changes.regression_shown, "changes": changes.changes, "notes": changes.notes},
        data={"old": old, "new": new},
        text=[console.table(f"{old} → {new}", ["figure", "old", "new", "change", ""], rows), *changes.notes],
        code=FAILED if fail and changes.regression_shown else 0,
    )
