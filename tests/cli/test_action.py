"""`classay check --init` and the GitHub Action: a first check file, and the steps of action.yml run as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gate_reports import small_report

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]


def test_a_first_file_passes_on_its_report(classay, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_report().save("report.json")
    code, _, err = classay("check", "report.json", "--init")
    assert code == 0, err
    text = Path("classay.toml").read_text()
    assert "# measured: " in text
    assert 'report = "report.json"' in text
    code, out, err = classay("check", "classay.toml")
    assert code == 0, out + err
    assert classay("check", "report.json", "--init")[0] == 2  # it is there already
    assert classay("check", "report.json", "--init", "--force")[0] == 0
    code, _, err = classay("check", "report.json", "--init", "-o", "gates.txt")
    assert code == 2
    assert "expected one of .toml" in err


def predictions(path: Path, rate: float = 0.1) -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 2
    wrong = rng.random(300) < rate
    pd.DataFrame({"label": truth, "pred": np.where(wrong, 1 - truth, truth)}).to_csv(path, index=False)


def test_a_first_file_of_predictions(classay, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    predictions(tmp_path / "now.csv")
    assert classay("report", "now.csv", "--truth", "label", "-o", "last.json", "--quiet")[0] == 0
    assert classay("check", "last.json", "--init", "--quiet")[0] == 0
    assert 'file = "now.csv"' in Path("classay.toml").read_text()
    code, out, err = classay("check", "classay.toml", "--quiet")
    assert code == 0, out + err


def step(action: dict, place: int, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run one step of the action with bash, as GitHub does, with these inputs."""
    values = {name: str(each.get("default", "")) for name, each in action["inputs"].items()} | inputs
    own = action["runs"]["steps"][place]
    environment = {name: values[text.split("inputs.")[1].rstrip("} ")] for name, text in own["env"].items()}
    paths = {"GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    everything = {**os.environ, **environment, **paths, "PATH": path}
    shell = ["bash", "-eo", "pipefail", "-c", own["run"]]
    return subprocess.run(shell, cwd=folder, env=everything, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_steps_of_the_action(classay, tmp_path, monkeypatch):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    assert all("uses" not in each for each in action["runs"]["steps"])  # nothing that could change behind its name
    assert all("${{" not in each["run"] for each in action["runs"]["steps"])  # inputs reach the shell as data only
    assert action["inputs"]["requirement"]["default"] == "classay==0.1.0"
    monkeypatch.chdir(tmp_path)
    predictions(tmp_path / "now.csv")
    classay("report", "now.csv", "--truth", "label", "-o", "last.json", "--quiet")
    classay("check", "last.json", "--init", "--quiet")
    done = step(action, 1, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed=true" in (tmp_path / "output").read_text()
    assert "data.classes == 2" in (tmp_path / "summary").read_text()
    assert (tmp_path / "classay-report.html").exists()
    predictions(tmp_path / "now.csv", 0.4)
    done = step(action, 1, tmp_path, against="last.json")
    assert done.returncode == 1
    assert "passed=false" in (tmp_path / "output").read_text()
    assert 'failures="1"' in (tmp_path / "classay-gates.xml").read_text()


def test_the_action_installs_what_is_asked_for(tmp_path):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "python").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (fake / "python").chmod(0o755)
    own = action["runs"]["steps"][0]
    done = subprocess.run(
        ["bash", "-c", own["run"]], env={"PATH": f"{fake}:/usr/bin:/bin", "REQUIREMENT": "classay==9; echo no"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "classay==9; echo no"  # one argument, whatever it contains
