"""`classay scores`: metrics of learners, how far they move over refits, and what a retraining changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import typer

from ... import __version__, expect
from ...estimators.spec import learners_from_texts
from ...intervals import Estimate
from ...learner.fitting.retrain_scheme import Retrain
from ...learner.records.labelings import Labelings
from ...learner.scores.metrics import ALL, Metrics, metrics
from ...learner.scores.retrain_change import Retraining, retraining
from ...learner.scores.score_variance import ScoreVariance, score_variance
from ...learner.scores.scorers import LABELS, needs_of
from ...learner.scores.threshold import costs_of
from ...result import plain
from ...tables.data import Data
from ...tables.read import read_table
from .. import console, options
from ..records import describe, record_all, record_as_json, table_as_json

EXAMPLES = """
**Examples**

    classay scores breast_cancer

    classay scores churn.csv --target left --metric roc_auc --metric brier --learner "LogisticRegression(max_iter=1000)"

    classay scores churn.csv --cost 1,5 --time signed_up --replaced 0.2 --charts charts/

    classay scores churn.csv --threshold 0.2 --json > scores.json
"""
SHOWN = ("roc_auc", "balanced_accuracy", "brier")
"""Metrics of the table where no --metric is given, as far as the learners have them."""
MOVE = 0.1


@dataclass(frozen=True)
class _Measured:
    """What was measured of one learner; the variance of scores is None without probabilities."""

    metrics: Metrics
    retraining: Retraining
    variance: ScoreVariance | None


def command(
    data: options.Data,
    target: options.Target = None,
    text: options.Text = None,
    groups: options.Groups = None,
    time: options.Time = None,
    weight: options.Weight = None,
    test: options.TestFile = None,
    drop: options.Drop = None,
    learner: options.Learners = None,
    metric: list[str] = typer.Option(
        None,
        "--metric",
        "-m",
        help="Metric to show: roc_auc, average_precision, log_loss, brier, balanced_accuracy, f1, matthews, accuracy, "
        "or a scikit-learn scorer of classifiers. Repeat for more.",
    ),
    threshold: float = typer.Option(
        None, help="Of two classes, decide for the second from this score on. Default: the learner's own decisions."
    ),
    cost: str = typer.Option(
        None,
        metavar="FP,FN",
        help="Costs of a false positive and a false negative; decisions are then at the threshold that costs least.",
    ),
    samples: int = typer.Option(20, help="Number of training samples of nearly full size."),
    replaced: float = typer.Option(0.1, help="Share of the training rows in which any two samples differ."),
    repeats: int = typer.Option(
        2, "--repeats", "-r", help="Refits on each sample. Use 2 or more to separate training randomness from data."
    ),
    test_size: options.TestSize = 0.2,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    time_limit: options.TimeLimit = None,
    store: options.Store = None,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Measure metrics and calibration of learners, how far they move over refits, and what a retraining changes."""
    learners = learners_from_texts(learner or options.USUAL, allow_import)
    for name in metric or ():
        needs_of(name)
    pair = None if cost is None else costs_of(cost.split(","))
    scheme = Retrain(samples, replaced)
    console.writable_folder(charts, "--charts")
    table = read_table(data, target, text, groups=groups, time=time, weight=weight, test=test, drop=drop or ())
    describe(table, quiet)
    settings: dict[str, Any] = {
        "scheme": scheme,
        "repeats": repeats,
        "test_size": test_size,
        "random_state": seed,
        "executor": workers,
        "store": store,
        "progress": not quiet,
        "time_limit": time_limit,
    }
    records, failed, interrupted = record_all(learners, table, settings, scheduler)
    measured: dict[str, _Measured] = {}
    for name, labelings in records.items():
        try:
            measured[name] = _measure(labelings, metric or [], threshold, pair)
        except expect.InputError as problem:
            failed[name] = str(problem)
    if not measured:
        raise expect.InputError(next(iter(failed.values())))
    if as_json:
        console.write_json(_as_json(table, settings, records, measured, failed, interrupted))
    else:
        _show(records, measured, metric or _shown(measured))
    console.report_failures(failed)
    if charts is not None:
        console.save_charts(charts, _draw(measured), quiet)
    console.exit_if_partial(failed, interrupted)


def _measure(
    labelings: Labelings, names: list[str], threshold: float | None, cost: tuple[float, float] | None
) -> _Measured:
    if any(needs_of(name) != LABELS for name in names) and labelings.scores is None:
        labelings.scored()  # says what is missing
    whole = metrics(labelings, [ALL, *names], threshold=threshold, cost=cost)
    variance = None
    if labelings.scores is not None and labelings.scores.probabilities and len(labelings.labels) > 2:
        variance = score_variance(labelings)
    return _Measured(whole, retraining(labelings), variance)


def _shown(measured: dict[str, _Measured]) -> list[str]:
    """The usual metrics that some learner has."""
    return [name for name in SHOWN if any(name in one.metrics.estimates for one in measured.values())]


def _show(records: dict[str, Labelings], measured: dict[str, _Measured], names: list[str]) -> None:
    """Print text for a single learner, and the tables."""
    out = console.out()
    if len(measured) == 1:
        (only,) = measured.values()
        for part in (only.retraining, only.metrics, only.variance):
            if part is not None:
                out.print(str(part), markup=False)
        out.print()
    out.print(_metric_table(measured, names))
    out.print()
    out.print(_change_table(records, measured))
    if len(measured) > 1:
        for name, one in measured.items():
            for note in one.metrics.notes:
                out.print(f"{name}: {note}", markup=False)


def _metric_table(measured: dict[str, _Measured], names: list[str]) -> Any:
    first = next(iter(measured.values())).metrics
    extra = ["cost"] if "cost" in first.estimates else []
    columns = [*names, *extra]
    rows = []
    for name, one in measured.items():
        cells = []
        for each in columns:
            estimate = one.metrics.estimates.get(each)
            if estimate is None:
                cells.append("none")
            else:
                cells.append(f"{console.figure(estimate, 3)}\nrefits {one.metrics.refit_spread[each]}")
        floor = one.metrics.calibration
        cells.append("none" if floor is None else f"{one.metrics['ece'].value:.3f}\nchance {floor.floor.high:.3f}")
        rows.append([name, *cells])
    return console.table(
        f"Metrics on {first.n_points} test points",
        ["learner", *(each.replace("_", " ") for each in columns), "calibration\nerror"],
        rows,
        "Mean over refits, with its interval for other rows and training samples like these. Refits: the range of 90 % "
        "of the refits. Calibration error: beyond 'chance', perfectly calibrated scores would hardly ever show it.",
    )


def _change_table(records: dict[str, Labelings], measured: dict[str, _Measured]) -> Any:
    first = next(iter(measured.values())).retraining
    rows = []
    for name, one in measured.items():
        r = one.retraining
        moved = _moved(one, records[name])
        rows.append(
            [
                name,
                *(_percent(each) for each in (r.change, r.by_seed, r.by_rows)),
                "none" if moved is None else _percent(moved),
                "none" if one.variance is None else console.figure(one.variance.share_sample),
                f"{np.nanmean(records[name].seconds):.2g}",
            ]
        )
    return console.table(
        f"What changes when {first.replaced:.0%} of {first.train_rows:,} training rows are replaced"
        f"{' by newer ones' if first.in_time else ''}",
        [
            "learner",
            "predictions\nthat change",
            "by another\nseed alone",
            "by the\nnew rows",
            f"probability moves\nby over {100 * MOVE:.0f} points",
            "variance from\nthe sample",
            "seconds\nper fit",
        ],
        rows,
        "Percent of test points, with intervals over data sets like this one. Variance from the sample: share of the "
        "variance of probabilities that training samples cause; the rest is training randomness.",
    )


def _moved(one: _Measured, labelings: Labelings) -> Estimate | None:
    """The share of rows whose probability moves; None if the probabilities of all classes are not known."""
    known = one.variance is not None and labelings.scores is not None and not labelings.scores.compact
    return one.variance.moved(MOVE) if known and one.variance is not None else None


def _percent(estimate: Estimate) -> str:
    ends = f"[{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"
    return f"{100 * estimate.value:.1f}\n{ends}" if estimate.known else f"unknown\n{ends}"


def _as_json(
    table: Data,
    settings: dict[str, Any],
    records: dict[str, Labelings],
    measured: dict[str, _Measured],
    failed: dict[str, str],
    interrupted: bool,
) -> dict[str, Any]:
    """Everything, as JSON."""
    scheme = settings["scheme"]
    return {
        "classay": __version__,
        "data": table_as_json(table),
        "settings": {
            "samples": scheme.n,
            "replaced": scheme.replaced,
            "seed": settings["random_state"],
            **{name: settings[name] for name in ("repeats", "test_size", "time_limit")},
        },
        "learners": {
            name: {
                "metrics": one.metrics.to_dict(),
                "retraining": one.retraining.to_dict(),
                "score_variance": None if one.variance is None else one.variance.to_dict(),
                "moved": plain(_moved(one, records[name])),
                **record_as_json(records[name]),
            }
            for name, one in measured.items()
        },
        "failed": failed,
        "interrupted": interrupted,
    }


def _draw(measured: dict[str, _Measured]) -> dict[str, Any]:
    """Numbered charts of each learner."""
    by_name: dict[str, Any] = {}
    for number, one in enumerate(measured.values(), 1):
        by_name[f"metrics_{number}"] = one.metrics.plot()
        by_name[f"refits_{number}"] = one.metrics.plot(kind="spread")
        by_name[f"confusion_{number}"] = one.metrics.plot(kind="confusion")
        by_name[f"retraining_{number}"] = one.retraining.plot()
        if one.metrics.calibration is not None:
            by_name[f"calibration_{number}"] = one.metrics.plot(kind="calibration")
        if "roc_auc" in one.metrics.estimates:
            by_name[f"roc_{number}"] = one.metrics.plot(kind="roc")
            by_name[f"precision_recall_{number}"] = one.metrics.plot(kind="precision_recall")
        if one.variance is not None:
            by_name[f"score_variance_{number}"] = one.variance.plot()
    return by_name
