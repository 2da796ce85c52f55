"""A report as a run of MLflow: figures as metrics, settings as parameters, the page and its charts as artefacts."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...expect import InputError, need
from ..document import Picture, Report
from .files import open_report, save
from .model_card import card

EXPERIMENT = "classay"
LONGEST_NAME, LONGEST_PARAM, LONGEST_TAG = 250, 500, 5000
"""Limits of the strictest MLflow store; longer texts are cut."""
AT_ONCE = 100
"""Number of entries that MLflow accepts in one call."""


def log_to_mlflow(report: Report, uri: str | None = None, experiment: str = EXPERIMENT) -> str:
    """Log a report as one run of MLflow, and return the run's id.

    Each figure is a metric `OF/FIGURE`, with the ends of its interval as `OF/FIGURE.low` and `OF/FIGURE.high`; unknown
    values and ends without a limit are skipped. Settings are parameters, counts of findings are tags, the card is the
    run's note; report.html, report.json and charts/ (SVG and PNG) are artefacts.

    uri: where MLflow stores runs, such as sqlite:///mlflow.db or https://…; default: as configured in MLflow.
    experiment: the experiment to log to; it is created if it does not exist.
    """
    client, place = ready(uri, experiment)
    with _errors_in_one_sentence(uri):
        run = str(client.create_run(place, run_name=_cut(report.title, LONGEST_NAME)).info.run_id)
        try:
            _log(client, run, report)
        except BaseException:
            client.set_terminated(run, "FAILED")
            raise
        client.set_terminated(run)
    return run


def ready(uri: str | None = None, experiment: str = EXPERIMENT) -> tuple[Any, str]:
    """A client of MLflow and the id of the experiment. Call it before the work, as it fails if MLflow is not available.

    The telemetry of MLflow is turned off.
    """
    # Set before the import, which is when MLflow reads it: classay sends data only to the given store.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
    # By default it retries for minutes if a server does not respond.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    need("mlflow", "Logging to MLflow")
    from mlflow.tracking import MlflowClient

    with _errors_in_one_sentence(uri):
        client = MlflowClient(tracking_uri=uri)
        return client, _experiment(client, experiment)


def report_of_run(run: str, uri: str | None = None) -> Report:
    """The report that `log_to_mlflow` logged as a run: its report.json, read without running any code.

    Two runs are compared by `classay compare mlflow:RUN mlflow:RUN`.
    """
    client, _ = ready(uri)
    with _errors_in_one_sentence(uri, f"has no report in the run {run!r}"), tempfile.TemporaryDirectory() as folder:
        path = client.download_artifacts(run, "report.json", folder)
        return open_report(path)


@contextmanager
def _errors_in_one_sentence(uri: str | None, problem_is: str = "does not accept the report") -> Iterator[None]:
    from mlflow.exceptions import MlflowException

    try:
        yield
    except (MlflowException, OSError, ImportError) as problem:
        where = "as configured" if uri is None else f"at {uri!r}"
        first = str(problem).strip().split("\n")[0]
        raise InputError(
            f"MLflow {where} {problem_is}: {_cut(first, 300)} Is the URI right, as in sqlite:///mlflow.db?"
        ) from problem


def metrics(report: Report) -> dict[str, float]:
    """Every figure and every end of an interval that is a finite number, under a name that MLflow accepts.

    Names of learners keep letters, digits, spaces, dots and hyphens; names that become equal are numbered.
    """
    names = _distinct(dict.fromkeys(each.of for each in report.figures))
    values: dict[str, float] = {}
    for each in report.figures:
        name = f"{names[each.of]}/{each.name}"
        ends = {name: each.estimate.value, f"{name}.low": each.estimate.low, f"{name}.high": each.estimate.high}
        values |= {key: float(value) for key, value in ends.items() if abs(value) < float("inf")}
    return values


def parameters(report: Report) -> dict[str, str]:
    """Settings and the description of the data; names of nested values are joined by dots."""
    settings = {key: value for key, value in report.settings.items() if key != "stages"}
    flat = dict(_flat({"data": report.about, **settings}))
    names = _distinct(flat)
    return {names[key]: _cut(value, LONGEST_PARAM) for key, value in flat.items()}


def _log(client: Any, run: str, report: Report) -> None:
    from mlflow.entities import Metric, Param, RunTag

    now = int(time.time() * 1000)
    levels = [each.level for each in report.findings]
    tags = {
        "classay.title": report.title,
        "classay.codes": " ".join(dict.fromkeys(each.code for each in report.warnings)),
        "mlflow.note.content": card(report),
        **{f"classay.{level}s": str(levels.count(level)) for level in ("warning", "note")},
    }
    # A batch can have 100 parameters or tags, and 1,000 metrics: the smallest limit works for all.
    for some in _batches([Metric(name, value, now, 0) for name, value in metrics(report).items()]):
        client.log_batch(run, metrics=some)
    for some in _batches([Param(name, value) for name, value in parameters(report).items()]):
        client.log_batch(run, params=some)
    client.log_batch(run, tags=[RunTag(name, _cut(value, LONGEST_TAG)) for name, value in tags.items()])
    with tempfile.TemporaryDirectory() as folder:
        for name in ("report.html", "report.json"):
            save(report, Path(folder) / name)
        _save_charts(report, Path(folder) / "charts")
        client.log_artifacts(run, folder)


def _save_charts(report: Report, folder: Path) -> None:
    import altair as alt

    from ...charts.style.picture_files import save as save_chart

    pictures: dict[str, Picture] = {}
    for section in report.sections:
        pictures |= {f"{section.key}-{each.key}": each for each in section.pictures}
    names = _distinct(pictures)
    folder.mkdir()
    for key, picture in pictures.items():
        for suffix in ("svg", "png"):
            save_chart(alt.Chart.from_dict(picture.spec), folder / f"{names[key][:100]}.{suffix}")


def _experiment(client: Any, name: str) -> str:
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        return str(client.create_experiment(name))
    if experiment.lifecycle_stage != "active":
        raise InputError(f"The MLflow experiment {name!r} was deleted. Restore it, or choose another.")
    return str(experiment.experiment_id)


def _distinct(texts: Mapping[str, Any]) -> dict[str, str]:
    """A unique name that MLflow accepts for each text."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for text in texts:
        name = re.sub(r"[^\w.\- ]", "_", text, flags=re.ASCII)
        # A slash makes folders, and a name of dots alone would leave them.
        name = re.sub(r"\.{2,}", ".", name).strip(" .")[: LONGEST_NAME - 60] or "unnamed"
        unique, count = name, 1
        while unique in taken:
            count += 1
            unique = f"{name}-{count}"
        taken.add(unique)
        names[text] = unique
    return names


def _flat(content: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in content.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.")
        elif value is not None:
            yield name, ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _batches(entries: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(entries), AT_ONCE):
        yield entries[start : start + AT_ONCE]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
