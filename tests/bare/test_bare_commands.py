"""One run of every command with the core alone: no torch, no Dask, no pyarrow. Text columns, charts and pages too."""

import os
import shlex

import numpy as np
import pandas as pd
import pytest

from classay.cli.app import COMMANDS, run

CHECK = """
data = "ovens.csv"
gates = ["accuracy >= 0.1"]
splits = 4
repeats = 2
n_probes = 50

[learners]
bayes = "GaussianNB"
"""
BAYES = "--learner bayes=GaussianNB --workers 1"
FEW = "--samples 6 --repeats 2 --holdouts 10"
RUNS = {
    "report": f"ovens.csv {BAYES} --splits 4 --repeats 2 --n-probes 50 --retrains 0 -o ovens.html",
    "check": "check.toml --workers 1",
    "compare": "old.csv new.csv --truth good --item id",
    "learner": f"ovens.csv {BAYES} {FEW} --store runs --charts charts",
    "sweep": f"ovens.csv {BAYES} {FEW} --param var_smoothing --values 1e-9,1e-3",
    "drift": "ovens.csv ovens_2.csv --learner GaussianNB --workers 1 --n-probes 100 --rate 0.2 --draws 20",
    "data": "ovens.csv",
    "network": "head.npz --weights-only",
    "classes": "scores.npz --k 100",
    "identify": "stimuli.npy responses.npy",
    "runs": ".",
}
"""Command -> its arguments."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Small files of every kind that the commands read, in the folder in which they run."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, rows in (("ovens", 400), ("ovens_2", 60)):
        table = pd.DataFrame(rng.normal(size=(rows, 2)), columns=["heat", "time"])
        table["plant"] = rng.choice(["Ulm", "Graz"], rows)
        table["good"] = np.where(table.heat + 0.3 * rng.normal(size=rows) > 0, "yes", "no")
        table.to_csv(f"{name}.csv", index=False)
    for name in ("old", "new"):
        wrong = rng.random(60) < 0.2
        answers = np.where(wrong, np.where(table.good == "yes", "no", "yes"), table.good)
        table.assign(id=range(60), prediction=answers).to_csv(f"{name}.csv", index=False)
    (tmp_path / "check.toml").write_text(CHECK)
    np.savez("scores.npz", scores=rng.normal(size=(48, 24)) + 2 * np.tile(np.eye(24), (2, 1)), y=np.arange(48) % 24)
    np.savez("head.npz", weight=rng.normal(size=(3, 8)), bias=np.zeros(3))
    np.save("stimuli.npy", rng.normal(size=(60, 4)))
    np.save("responses.npy", np.load("stimuli.npy") @ rng.normal(size=(4, 6)) + rng.normal(size=(60, 6)))


@pytest.mark.slow
@pytest.mark.skipif("CLASSAY_BARE" not in os.environ, reason="with extras, tests/cli runs every command")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_runs_once(name, folder, capsys):
    code = run([name, *shlex.split(RUNS[name])])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert out or "Saved" in err
