"""`classay report`: all measurements of learners and data, on one page."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import typer

from ... import expect
from ...charts.style.picture_files import prepared_library
from ...estimators.spec import learners_from_texts
from ...network.quality.quality import NetworkQuality
from ...report.assay import characterize
from ...report.budget import seconds_of
from ...report.default_learners import default_learners
from ...report.document import Report
from ...report.export import mlflow_log
from ...report.export.files import ready
from ...report.export.json_format import document
from ...report.metric import check_metric
from ...tables.read import read_table
from .. import console, options
from .. import prediction_columns as columns_of
from ..network_assay import assay_all
from ..network_options import AssayOptions, named_paths, one_architecture, read_shape
from ..records import describe, of_rows
from ..report_view import show_report

EXAMPLES = """
**Examples**

    classay report breast_cancer

    classay report credit.csv --target default --learner DecisionTreeClassifier --learner GaussianNB -o credit.html

    classay report openml:credit-g --budget 10m -o credit.html -o credit.json -o card.md

    classay report digits --network net.safetensors --arch timm:resnet18 --input 3x32x32 -o digits.html

    classay report credit.csv --mlflow sqlite:///mlflow.db

    classay report visits.csv --groups patient --time date --budget 5m

    classay report predictions.csv --truth label --item id --run run --variant prompt --score confidence

The budget is a deadline. Cross-validated fits on all rows come first, then rounds of 5, 10, 20 and 50 splits; a round
starts only if it should end in time. The page is written after the first round and again after every other one. It
shows the command that reproduces its figures. With a budget, the seed alone does not: what is fitted depends on the
speed of the machine.
"""
SET_BY_BUDGET = ("--splits", "--repeats", "--size", "--n-probes", "--fold-rows", "--test-points", "--retrains")
NOT_REPEATED = ("--store",)
"""Options that the printed command leaves out: with the same store, a rerun would only reread its fits."""


def command(
    data: options.Data,
    target: options.Target = None,
    learner: options.Learners = None,
    metric: options.Metric = None,
    output: list[Path] = typer.Option(
        None, "--output", "-o", help="File to save to: .html, .json or .md. Repeat for more. Default: NAME.html."
    ),
    text: options.Text = None,
    groups: options.Groups = None,
    time: options.Time = None,
    weight: options.Weight = None,
    test: options.TestFile = None,
    drop: options.Drop = None,
    budget: str = typer.Option(
        "2m", help="Time for everything, such as 90s, 2m or 1h. It sets the next seven options, unless given."
    ),
    splits: list[str] = typer.Option(
        None,
        help="Number of random splits of the training part into two halves to fit on. For one learner: NAME=NUMBER; 0 "
        "leaves it out.",
    ),
    repeats: int = typer.Option(
        None, "--repeats", "-r", help="Refits on each half. Use 2 or more to separate training randomness from data."
    ),
    size: str = typer.Option(None, help="Number of rows to use from each half, or all."),
    n_probes: int = typer.Option(None, help="Number of probes: comparison points for refits."),
    fold_rows: list[str] = typer.Option(
        None, help="Number of rows for each of the five cross-validated fits, or all. For one learner: NAME=NUMBER."
    ),
    test_points: int = typer.Option(
        None, help="Most test points, and most rows with cross-validated predictions. Default: 20000."
    ),
    retrains: int = typer.Option(
        None, help="Number of samples of nearly full size to retrain on: what a retraining changes. 0: none."
    ),
    network: list[Path] = typer.Option(None, "--network", help="Network weights to include. Repeat for more."),
    arch: str = typer.Option(
        None, help="Architecture of the network: timm:NAME or torchvision:NAME, with arguments in parentheses."
    ),
    builder: str = typer.Option(
        None, help="Function that returns the network, as module:function. Needs --allow-import."
    ),
    input: str = typer.Option(None, "--input", help="Shape of one input of the network, such as 3x32x32."),
    test_size: options.TestSize = 0.3,
    more_classes: bool = typer.Option(
        False, "--more-classes", help="Forecast the accuracy for more classes with fewer than 20 classes too."
    ),
    seed: options.Seed = 0,
    workers: options.Workers = None,
    time_limit: options.TimeLimit = None,
    store: options.Store = None,
    mlflow: options.Mlflow = None,
    truth: columns_of.Truth = None,
    prediction: columns_of.Prediction = None,
    item: columns_of.Item = None,
    run: columns_of.Run = None,
    variant: columns_of.Variant = None,
    score: columns_of.Score = None,
    wide: columns_of.Wide = "variant",
    normalise: columns_of.Normalise = False,
    missing: columns_of.Missing = "wrong",
    force: options.Force = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Report on learners and data on one page: findings first, then charts, then tables."""
    for option, value in (("--arch", arch), ("--builder", builder), ("--input", input)):
        if value and not network:
            raise expect.InputError(
                f"{option} describes a network, but there is no --network. Add its file, or drop {option}."
            )
    if truth is not None:
        named = columns_of.PredictionColumns(
            truth, tuple(prediction or ()), item, run, variant, tuple(score or ()), groups, wide, normalise, missing
        )
        _on_predictions(data, named, output, seed, mlflow, force, as_json, quiet)
        return
    learners = learners_from_texts(learner, allow_import) if learner else default_learners()
    if metric is not None:
        check_metric(metric)
    seconds = seconds_of(budget)
    all_splits = _by_learner(splits, "--splits", learners)
    all_fold_rows = _by_learner(fold_rows, "--fold-rows", learners)
    paths = [ready(path, force) for path in output or [Path(f"{_stem(data)}.html")]]
    if mlflow is not None:
        mlflow_log.ready(mlflow or None)
    table = read_table(data, target, text, groups, time, weight, test, drop=drop or ())
    describe(table, quiet)
    networks: dict[str, NetworkQuality] = {}
    if network:
        network_options = AssayOptions(
            arch=one_architecture(arch, builder),
            allow_import=allow_import,
            input_shape=read_shape(input) if input else None,
            # By number and not by time, so that the same seed gives the same figures on any load.
            walks={"starts": 3, "step": None, "origins": None, "box": False, "walks": 300, "random_state": seed},
            quiet=quiet,
        )
        networks = _networks(network, network_options)
    if any(path.suffix.lower() == ".html" for path in paths):
        prepared_library()
    try:
        assay = characterize(
            learners if learner else None,
            table.X,
            table.y,
            **of_rows(table),
            metric=metric,
            more_classes=more_classes or None,
            networks=networks,
            budget=seconds,
            splits=all_splits,
            repeats=repeats,
            size=_rows(size, "--size"),
            n_probes=n_probes,
            fold_rows=all_fold_rows,
            test_points=test_points,
            retrains=retrains,
            test_size=test_size,
            random_state=seed,
            executor=workers,
            store=store,
            progress=not quiet,
            time_limit=time_limit,
            name=table.name,
            target=table.target,
            notes=table.notes,
            audit=table.audit,
            command=_typed(),
            spent=console.seconds_passed(),
            on_round=lambda preliminary: _save_preliminary(preliminary.report, paths, quiet),
        )
    except KeyboardInterrupt:
        raise console.NothingDone from None
    report = assay.report
    by_way: dict[str, list[str]] = {}
    for name, how in report.settings.get("wrapped", {}).items():
        by_way.setdefault(how, []).append(name)
    for how, names in by_way.items():
        do = "does" if len(names) == 1 else "do"
        console.say(f"{expect.shown(names)} {do} not take this table as it is. Changed inside each fit: {how}.", quiet)
    _deliver(report, paths, mlflow, as_json, quiet)
    console.report_failures(report.failed)
    if report.settings["interrupted"]:
        console.error("Interrupted: the report covers only what had finished.")
    if report.failed or report.settings["interrupted"]:
        raise typer.Exit(console.PARTIAL)


def _on_predictions(
    data: str,
    columns: columns_of.PredictionColumns,
    output: list[Path] | None,
    seed: int,
    mlflow: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """A report on a file of predictions, without any learner."""
    from ...report.predictions import predictions_report

    paths = [ready(path, force) for path in output or [Path(f"{_stem(data)}.html")]]
    if mlflow is not None:
        mlflow_log.ready(mlflow or None)
    table, _ = columns.table(data)
    console.say(
        f"{data}: {table.truth.size:,} items, {expect.counted(len(table.variants), 'variant')}, "
        f"{expect.counted(len(table.runs), 'run')}.",
        quiet,
    )
    for note in table.notes:
        console.say(note, quiet)
    report = predictions_report(
        table, Path(data).name, shlex.join(["classay", *sys.argv[1:]]), seed, columns.named() | {"file": data}
    )
    _deliver(report, paths, mlflow, as_json, quiet)


def _deliver(report: Report, paths: list[Path], mlflow: str | None, as_json: bool, quiet: bool) -> None:
    """Save the report, log it, and show its findings."""
    # The page last: it needs most memory, and the figures must not be lost with it.
    saved = [report.save(path, force=True) for path in sorted(paths, key=lambda path: path.suffix.lower() == ".html")]
    if mlflow is not None:
        console.say(f"Logged to MLflow: {mlflow_log.log_to_mlflow(report, mlflow or None)}", quiet)
    if as_json:
        console.write_json(document(report))
    else:
        show_report(report)
    for path in saved:
        console.say(f"Saved {path.resolve()}", quiet)


def _save_preliminary(report: Report, paths: list[Path], quiet: bool) -> None:
    """Write the files after a round; the next one replaces them."""
    saved = [report.save(path, force=True) for path in paths]
    names = expect.shown([str(path) for path in saved], 4)
    console.say(f"Saved {names}: preliminary, after {report.settings['preliminary']}; it will be rewritten.", quiet)


def _by_learner(texts: list[str] | None, option: str, learners: dict[str, Any]) -> Any:
    """A number for all learners, or numbers by name, from texts such as 20 or svm=6."""
    usual: int | str | None = None
    named: dict[str, int | str | None] = {}
    for text in texts or []:
        name, equals, number = text.rpartition("=")
        if not equals:
            usual = _rows(text, option)
        elif name in learners:
            named[name] = _rows(number, option)
        else:
            raise expect.InputError(
                f"{option} is {text!r}, but there is no learner {name!r}.{expect.nearest(name, learners)} Learners: "
                f"{expect.shown(learners)}."
            )
    if not named:
        return usual
    if usual is None:
        raise expect.InputError(f"{option} is given for single learners; expected {option} NUMBER for the others too.")
    return dict.fromkeys(learners, usual) | named


def _networks(files: list[Path], network_options: AssayOptions) -> dict[str, NetworkQuality]:
    """The quality of each network, before anything is fitted, so that errors are reported early."""
    assays, failed, _ = assay_all(named_paths([str(file) for file in files]), network_options)
    console.report_failures(failed)
    return {name: each.quality for name, each in assays.items()}


def _rows(text: str | None, option: str) -> int | str | None:
    if text is None or text == "all":
        return text
    if not text.isdigit():
        raise expect.InputError(f"{option} is {text!r}; expected a number of rows, or all.")
    return int(text)


def _stem(data: str) -> str:
    """The name of the page: that of the data without folder and suffixes."""
    name = "stdin" if data == "-" else Path(data.removeprefix("openml:")).name
    return name.split(".")[0] or "report"


def _typed() -> str:
    """The command as typed, without its store, and without what the budget sets, which is added again later."""
    kept: list[str] = []
    skip = False
    for part in sys.argv[1:]:
        if skip:
            skip = False
        elif part in (*SET_BY_BUDGET, *NOT_REPEATED, "-r"):
            skip = True
        elif not part.startswith(tuple(f"{option}=" for option in (*SET_BY_BUDGET, *NOT_REPEATED))):
            kept.append(part)
    return shlex.join(["classay", *kept, *([] if "--force" in kept else ["--force"])])
