"""The command `classay drift`."""

from __future__ import annotations

import json
import os
import signal
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from started import started

from classay import DriftMonitor
from classay.cli.commands.drift import natural
from classay.engine import archive

QUICK = ["--learner", "GaussianNB", "--n-probes", "100", "--draws", "70", "--workers", "1", "--quiet"]
COARSE = ["--rate", "0.2", *(word if word != "70" else "20" for word in QUICK)]
"""With as few fits as there can be, for what does not depend on the verdicts."""


def table(n, seed, column="heat"):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"heat": rng.uniform(20, 80, n), "force": rng.uniform(20, 80, n)})
    frame["low_yield"] = np.where((frame[column] > 50) ^ (rng.random(n) < 0.1), "yes", "no")
    return frame


@pytest.fixture
def folder(tmp_path):
    """A reference, two batches like it and one of another process; in the order of their numbers."""
    for number, (rows, column) in enumerate([(400, "heat"), (60, "heat"), (60, "heat"), (60, "force")]):
        table(rows, number, column).to_csv(tmp_path / f"batch_{number + 8}.csv", index=False)
    return tmp_path


def files(folder):
    return sorted(str(path) for path in folder.glob("*.csv"))


def test_a_table_of_batches_is_printed(shown, folder):
    out = shown("drift", *files(folder), "--target", "low_yield", *QUICK)
    table = out[out.index("Batches after batch_8.csv (400 rows)") :]
    assert table.index("batch_9.csv") < table.index("batch_10.csv") < table.index("batch_11.csv")
    assert "CONCEPT MOVED" in out
    assert "nothing shown" in out
    assert "0.05 per batch (0.143 for at least one in 3 batches)" in " ".join(out.split())


def test_a_new_class_is_an_alarm(measured, shown, folder):
    for number, place in ((12, 70), (13, 0)):
        frame = table(60, number)
        frame.assign(low_yield=frame["low_yield"].where(frame["heat"] < place, "maybe")).to_csv(
            folder / f"batch_{number}.csv", index=False
        )
    options = ["--control", "stream", *COARSE, "--reference", folder / "batch_8.csv"]
    content = measured("drift", *files(folder)[1:3], *options)
    assert [update["new_classes"] for update in content["updates"]] == [{}, {"maybe": 15}]
    assert content["any_false_alarm"] < 0.2
    out = shown("drift", folder / "batch_13.csv", *options)
    assert "does not have maybe (60 of 60 rows)" in " ".join(out.split())


@pytest.mark.slow
def test_json_is_what_python_gives(measured, folder):
    content = measured("drift", *files(folder), *QUICK)
    assert [update["verdict"] for update in content["updates"]] == ["nothing shown", "nothing shown", "concept moved"]
    assert content["reference"] == "batch_8.csv"
    assert content["interrupted"] is False
    rows = [pd.read_csv(folder / name) for name in ("batch_8.csv", "batch_9.csv")]
    monitor = DriftMonitor(GaussianNB(), n_probes=100, draws=70, executor=1, name="GaussianNB")
    monitor.fit(rows[0].drop(columns="low_yield"), rows[0]["low_yield"])
    update = monitor.update(rows[1].drop(columns="low_yield"), rows[1]["low_yield"], name="batch_9.csv")
    assert content["updates"][0] == update.to_dict()


def test_charts_and_a_reference_of_its_own(shown, folder):
    batches = [file for file in files(folder) if "batch_8" not in file]
    charts = folder / "charts"
    shown("drift", *batches, "--reference", folder / "batch_8.csv", "--charts", charts, *COARSE)
    assert {path.name for path in charts.iterdir()} == {"drift.svg", "drift.png"}


@pytest.mark.slow
def test_a_state_goes_on_where_it_was(classay, measured, refused, folder):
    state = ["--state", folder / "monitor.classay"]
    some = [file for file in files(folder) if "batch_11" not in file]
    first = measured("drift", *some, *state, *QUICK)["updates"]
    code, second, err = classay("drift", *files(folder), *state, "--json", *QUICK[:-1])
    assert code == 0
    assert "2 of 3 batches are in" in err
    second = json.loads(second)["updates"]
    assert second == measured("drift", *files(folder), *QUICK)["updates"]
    assert second[:2] == first
    refused("false_alarm_rate", "drift", *files(folder), *state, "--rate", "0.01", *QUICK)
    other = [*files(folder)[:-1], "--reference", files(folder)[-1]]
    refused("another reference", "drift", *other, *state, *QUICK)
    refused("another", "drift", *files(folder), *state, "-l", "DecisionTreeClassifier", *QUICK[2:])


def test_columns_that_only_one_file_makes_look_odd(measured, tmp_path):
    for number, rows in enumerate((300, 60, 15)):
        frame = table(rows, number)
        frame.insert(0, "id", [f"row {number} {place}" for place in range(rows)])
        frame.insert(1, "note", np.nan if number else "fine")
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    tree = ["-l", "DecisionTreeClassifier(max_depth=2)", *COARSE[:2], *COARSE[4:]]
    assert len(measured("drift", *files(tmp_path), *tree)["updates"]) == 2


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda frame: frame.assign(new=1)[["heat", "force", "new", "low_yield"]], "'new', which the reference does"),
        (lambda frame: frame.drop(columns="force"), "does not have the columns force"),
        (lambda frame: frame.assign(low_yield="yes"), "1 class"),
        (lambda frame: frame.rename(columns={"low_yield": "result"}), "no column 'low_yield'"),
        (lambda frame: frame.assign(heat="hot"), "contains texts"),
    ],
)
def test_a_bad_batch_is_reported_before_anything_is_fitted(refused, folder, spoil, message):
    spoil(table(60, 9)).to_csv(folder / "batch_12.csv", index=False)
    for words in ("classay: batch_12.csv: ", message):
        refused(words, "drift", *files(folder), *QUICK)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "no file"),
        (["{one}"], "at least one batch"),
        (["{one}", "{two}", "--rate", "2"], "false_alarm_rate"),
        (["{one}", "{two}", "--probes", "odd"], "probes"),
        (["{one}", "{two}", "-l", "LinearRegression"], "a regressor needs numbers"),
        (["{one}", "{two}", "-l", "PCA"], "transformer"),
        (["{one}", "{two}", "--tolerance", "1"], "`tolerance` is for regressors"),
        (["{one}", "{two}", "--target", "yield"], "low_yield"),
        (["{two}", "{one}", "--no-sort"], "at least 1200"),
        (["{one}", "{two}", "--state", "{one}/x/y"], "--state"),
    ],
)
def test_mistakes_get_a_sentence(refused, folder, arguments, message):
    names = {"{one}": str(folder / "batch_8.csv"), "{two}": str(folder / "batch_9.csv")}
    words = [names.get(word, word.replace("{one}", names["{one}"])) for word in arguments]
    refused(message, "drift", *words, *(QUICK if "-l" not in words else QUICK[2:]))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (lambda frame: 3 * frame["heat"] + 0.5 * frame["force"], "For numbers, pass a regressor: --learner Ridge"),
        (lambda frame: [f"row {row}" for row in range(len(frame))], "looks like text or an identifier"),
    ],
)
def test_a_target_that_has_no_classes(refused, folder, target, message):
    for path in folder.glob("*.csv"):
        frame = pd.read_csv(path)
        frame.assign(low_yield=target(frame)).to_csv(path, index=False)
    refused(message, "drift", *files(folder), "--target", "low_yield", "--quiet")


@pytest.mark.slow
def test_a_target_of_numbers_and_a_regressor(classay, measured, refused, folder):
    """The reference has rows without a target; the last batch is of another process."""
    for number, (rows, column) in enumerate([(400, "heat"), (60, "heat"), (60, "force")]):
        frame = table(rows, number)
        noise = np.random.default_rng(number).normal(size=rows)
        frame["low_yield"] = (frame[column] + noise).round(2)
        if number == 0:
            frame.loc[[3, 5], "low_yield"] = np.nan
        frame.to_csv(folder / f"part_{number}.csv", index=False)
    parts = [str(folder / f"part_{number}.csv") for number in range(3)]
    quick = ["--learner", "make_pipeline(StandardScaler(), Ridge(alpha=2))", *QUICK[2:]]
    code, out, err = classay("drift", *parts, "--charts", folder / "charts", *quick)
    assert code == 0, err
    assert "CONCEPT MOVED" in out
    assert "error of" in out
    assert "accuracy" not in out
    assert "whose target 'low_yield' is missing" in err
    assert (folder / "charts" / "drift.svg").exists()
    state = ["--state", folder / "monitor.classay"]
    content = measured("drift", *parts, *quick)
    measured("drift", *parts[:2], *state, *quick)
    assert measured("drift", *parts, *state, *quick)["updates"] == content["updates"]
    first, second = content["updates"]
    assert second["metric_uncapped"] > 5 * first["metric_uncapped"]
    assert second["metric_reference"] > second["metric_limit"]
    assert content["data"]["classes"] == []
    refused("tolerance", "drift", *parts, *state, "--tolerance", "3", *quick)
    pd.read_csv(parts[2]).assign(low_yield="low").to_csv(parts[2], index=False)
    refused("part_2.csv: Column 'low_yield' contains texts such as 'low'", "drift", *parts, *quick)


def test_files_come_in_the_order_of_their_numbers():
    names = ["b/10.csv", "b/9.csv", "b/a1b20.csv", "b/a1b3.csv", "a.csv", "b/9.5.csv"]
    assert sorted(names, key=natural) == ["a.csv", "b/9.5.csv", "b/9.csv", "b/10.csv", "b/a1b3.csv", "b/a1b20.csv"]


def test_codes_that_are_all_numbers_in_a_batch_are_the_texts_they_were(shown, refused, folder):
    for number, codes in ((8, ["1", "2", "x"]), (9, ["1", "2"])):
        frame = table(400 if number == 8 else 60, number).drop(columns="force")
        rng = np.random.default_rng(number)
        frame.insert(0, "code", rng.choice(codes, len(frame)))
        frame.insert(0, "line", np.where(rng.random(len(frame)) < 0.1, None, rng.choice(codes, len(frame))))
        frame.to_csv(folder / f"coded_{number}.csv", index=False)
    files = [str(folder / f"coded_{number}.csv") for number in (8, 9)]
    assert "coded_9.csv" in shown("drift", *files, *COARSE)
    frame = pd.read_csv(files[1])
    frame.assign(code=frame["code"].replace(2, 3)).to_csv(files[1], index=False)
    refused("'code' has categories in the batch that the reference does not have: '3'", "drift", *files, *QUICK)


def test_a_state_that_cannot_be_kept_is_refused_before_anything_is_fitted(refused, folder, monkeypatch):
    monkeypatch.setattr(archive, "MOST_TABLE_BYTES", 100)
    monkeypatch.setattr(GaussianNB, "fit", lambda *_: pytest.fail("fitted"))
    state = folder / "monitor.classay"
    refused("cannot be saved", "drift", *files(folder), "--state", state, *QUICK)
    assert not state.exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_keeps_what_is_done(folder):
    state = folder / "monitor.classay"
    for number in range(12, 60):  # of as many sizes, so that blocks of the reference are fitted for each
        table(60 + number, number).to_csv(folder / f"batch_{number}.csv", index=False)
    process = started("-m", "classay", "drift", *files(folder), "--state", state, "--json", *QUICK)
    while not state.exists() and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    content = json.loads(out)
    assert content["interrupted"] is True
    assert len(content["updates"]) >= 1
    assert "Traceback" not in err
