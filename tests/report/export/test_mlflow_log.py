"""A report becomes a run of a real MLflow, kept in a file."""

from __future__ import annotations

import math
import os

import pytest
from gate_reports import NASTY, small_report

from classay import InputError
from classay.intervals import Estimate
from classay.report.document import Figure
from classay.report.export import mlflow_log
from classay.report.export.files import open_report
from classay.report.export.mlflow_log import log_to_mlflow, metrics, parameters, ready, report_of_run


def test_metrics_have_names_that_mlflow_accepts():
    found = metrics(small_report())
    assert found["tree/stability"] == 0.925
    assert found["tree/stability.low"] == 0.9
    assert found["tree/stability.high"] == 0.95
    assert found["data/suspects"] == 12
    assert all(math.isfinite(value) for value in found.values())
    # The other learner's stability is unknown, and its capacity has no upper limit.
    other = [name for name in found if name.split("/")[0] not in ("tree", "data", "classes", "resnet")]
    assert [name.split("/")[1] for name in other] == ["capacity", "capacity.low"]
    assert all(name.isascii() and name.count("/") == 1 for name in found)


def test_names_that_look_the_same_are_numbered():
    one = Estimate(1.0, 0.0, 2.0)
    of = ["a|b", "a/b", "../..", "", "x" * 1000]
    report = small_report(figures=tuple(Figure("learner", name, "gap", one) for name in of))
    names = [name.split("/")[0] for name in metrics(report) if name.endswith("gap")]
    assert names[:2] == ["a_b", "a_b-2"]
    assert names[3] == "unnamed"
    assert ".." not in "".join(names)
    assert len(set(names)) == 5
    assert max(map(len, metrics(report))) <= 250


def test_parameters_are_settings():
    found = parameters(small_report(settings={"seed": 0, "versions": {"numpy": "2"}, "text": "x" * 9999, "none": None}))
    assert found["seed"] == "0"
    assert found["versions.numpy"] == "2"
    assert len(found["text"]) == 500
    assert found["data.rows"] == "150"
    assert "none" not in found


def test_without_mlflow_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r'pip install "classay\[mlflow\]"'):
        log_to_mlflow(small_report())


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A store in a file, made once: its tables take a while."""
    pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    return tmp_path_factory.mktemp("mlflow") / "mlflow.db"


@pytest.fixture
def store(database, monkeypatch):
    """Its address; what is logged is put beside it, and nobody is told."""
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("DO_NOT_TRACK", "true")
    monkeypatch.chdir(database.parent)
    return f"sqlite:///{database}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of MLflow's own making
def test_a_run_has_everything(store, tmp_path):
    report = small_report()
    run_id = log_to_mlflow(report, store)
    from mlflow.artifacts import download_artifacts
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=store)
    run = client.get_run(run_id)
    assert run.info.status == "FINISHED"
    assert client.get_experiment(run.info.experiment_id).name == "classay"
    assert run.data.metrics == metrics(report)
    assert run.data.params == parameters(report)
    assert run.data.tags["classay.warnings"] == "1"
    assert run.data.tags["classay.codes"] == "L102"
    assert run.data.tags["mlflow.note.content"].startswith("## Assay of")
    folder = tmp_path / "got"
    folder.mkdir()
    download_artifacts(run_id=run_id, tracking_uri=store, dst_path=str(folder))
    assert open_report(folder / "report.json") == report
    assert open_report(folder / "report.html") == report
    assert (folder / "charts" / "learners-plane.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (folder / "charts" / "learners-plane.png").read_bytes().startswith(b"\x89PNG")
    # A second report goes to the same experiment.
    again = client.get_run(log_to_mlflow(small_report(title=NASTY, findings=()), store))
    assert again.info.experiment_id == run.info.experiment_id


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_failure_is_told_and_the_run_marked(store, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mlflow_log, "_save_charts", full)
    with pytest.raises(InputError, match="No space left"):
        log_to_mlflow(small_report(), store, "full")
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=store)
    (run,) = client.search_runs([client.get_experiment_by_name("full").experiment_id])
    assert run.info.status == "FAILED"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_uri_is_told(store):
    with pytest.raises(InputError, match="Is the URI right"):
        ready("nonsense://x")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_server_that_does_not_answer_is_told(store, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(InputError, match="does not accept the report"):
        ready("http://127.0.0.1:9")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_deleted_experiment_is_told(store):
    client, place = ready(store, "gone")
    client.delete_experiment(place)
    with pytest.raises(InputError, match="was deleted"):
        ready(store, "gone")


def test_mlflow_is_told_to_tell_nobody(monkeypatch):
    monkeypatch.delenv("MLFLOW_DISABLE_TELEMETRY", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError):
        ready()
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"


@pytest.mark.slow
def test_two_runs_are_compared(store, capsys):
    from classay.cli.app import run as classay

    report = small_report()
    first, second = (log_to_mlflow(each, store) for each in (report, report))
    assert report_of_run(first, store).to_dict() == report.to_dict()
    assert classay(["compare", f"mlflow:{first}", f"mlflow:{second}", "--tracking-uri", store]) == 0
    assert "tree: stability" in capsys.readouterr().out
    with pytest.raises(InputError, match="has no report in the run 'none'"):
        report_of_run("none", store)
