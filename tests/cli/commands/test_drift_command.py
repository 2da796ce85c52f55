"""The command `classay drift`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from classay.cli.commands.drift import natural

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


def test_a_table_of_batches_is_printed(classay, folder):
    code, out, _ = classay("drift", *files(folder), "--target", "low_yield", *QUICK)
    assert code == 0
    table = out[out.index("Batches after batch_8.csv (400 rows)") :]
    assert table.index("batch_9.csv") < table.index("batch_10.csv") < table.index("batch_11.csv")
    assert "CONCEPT MOVED" in out
    assert "nothing shown" in out


@pytest.mark.slow
def test_json_is_alone_on_stdout_and_is_what_python_gives(classay, folder):
    from sklearn.naive_bayes import GaussianNB

    from classay import DriftMonitor

    code, out, _ = classay("drift", *files(folder), "--json", *QUICK)
    assert code == 0
    content = json.loads(out)
    assert [update["verdict"] for update in content["updates"]] == ["nothing shown", "nothing shown", "concept moved"]
    assert content["reference"] == "batch_8.csv"
    assert content["interrupted"] is False
    rows = [pd.read_csv(folder / name) for name in ("batch_8.csv", "batch_9.csv")]
    monitor = DriftMonitor(GaussianNB(), n_probes=100, draws=70, executor=1, name="GaussianNB")
    monitor.fit(rows[0].drop(columns="low_yield"), rows[0]["low_yield"])
    update = monitor.update(rows[1].drop(columns="low_yield"), rows[1]["low_yield"], name="batch_9.csv")
    assert content["updates"][0] == update.to_dict()


def test_charts_and_a_reference_of_its_own(classay, folder):
    batches = [file for file in files(folder) if "batch_8" not in file]
    charts = folder / "charts"
    reference = str(folder / "batch_8.csv")
    code, _, _ = classay("drift", *batches, "--reference", reference, "--charts", str(charts), *COARSE)
    assert code == 0
    assert {path.name for path in charts.iterdir()} == {"drift.svg", "drift.png"}


@pytest.mark.slow
def test_a_state_goes_on_where_it_was(classay, folder):
    state = str(folder / "monitor.classay")
    some = [file for file in files(folder) if "batch_11" not in file]
    code, first, _ = classay("drift", *some, "--state", state, "--json", *QUICK)
    assert code == 0
    loud = [word for word in QUICK if word != "--quiet"]
    code, second, err = classay("drift", *files(folder), "--state", state, "--json", *loud)
    assert code == 0
    assert "2 of 3 batches are in" in err
    _, once, _ = classay("drift", *files(folder), "--json", *QUICK)
    assert json.loads(second)["updates"] == json.loads(once)["updates"]
    assert json.loads(second)["updates"][:2] == json.loads(first)["updates"]
    code, _, err = classay("drift", *files(folder), "--state", state, "--rate", "0.01", *QUICK)
    assert code == 2
    assert "false_alarm_rate" in err
    code, _, err = classay("drift", *files(folder)[:-1], "--reference", files(folder)[-1], "--state", state, *QUICK)
    assert code == 2
    assert "another reference" in err
    code, _, err = classay("drift", *files(folder), "--state", state, "-l", "DecisionTreeClassifier", *QUICK[2:])
    assert code == 2
    assert "another" in err


def test_columns_that_only_one_file_makes_look_odd(classay, tmp_path):
    for number, rows in enumerate((300, 60, 15)):
        frame = table(rows, number)
        frame.insert(0, "id", [f"row {number} {place}" for place in range(rows)])
        frame.insert(1, "note", np.nan if number else "fine")
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    code, out, err = classay(
        "drift", *files(tmp_path), "--json", "-l", "DecisionTreeClassifier(max_depth=2)", *COARSE[:2], *COARSE[4:]
    )
    assert code == 0, err
    assert len(json.loads(out)["updates"]) == 2


def spoil(frame, how):
    if how == "new column":
        return frame.assign(new=1)[["heat", "force", "new", "low_yield"]]
    if how == "missing column":
        return frame.drop(columns="force")
    if how == "one class":
        return frame.assign(low_yield="yes")
    if how == "new class":
        return frame.assign(low_yield=np.where(frame["heat"] > 70, "maybe", frame["low_yield"]))
    if how == "no target":
        return frame.rename(columns={"low_yield": "result"})
    return frame.assign(heat="hot")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("new column", "'new', which the reference does not have"),
        ("missing column", "does not have the columns force"),
        ("one class", "1 class"),
        ("new class", "'maybe'"),
        ("no target", "no column 'low_yield'"),
        ("text", "contains texts"),
    ],
)
def test_a_bad_batch_is_told_before_anything_is_fitted(classay, folder, how, message):
    spoil(table(60, 9), how).to_csv(folder / "batch_12.csv", index=False)
    code, out, err = classay("drift", *files(folder), *QUICK)
    assert code == 2
    assert out == ""
    assert err.startswith("classay: batch_12.csv: ")
    assert message in " ".join(err.split())
    assert "Traceback" not in err


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
        (["{one}", "{two}", "--seed", "-3"], "random_state"),
    ],
)
def test_mistakes_get_a_sentence_and_exit_code_2(classay, folder, arguments, message):
    names = {"{one}": str(folder / "batch_8.csv"), "{two}": str(folder / "batch_9.csv")}
    words = [names.get(word, word.replace("{one}", names["{one}"])) for word in arguments]
    quick = QUICK if "-l" not in words else QUICK[2:]
    code, out, err = classay("drift", *words, *quick)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_a_target_of_numbers_without_a_regressor_says_what_to_pass(classay, folder):
    for path in folder.glob("*.csv"):
        frame = pd.read_csv(path)
        frame.assign(low_yield=3 * frame["heat"] + 0.5 * frame["force"]).to_csv(path, index=False)
    code, out, err = classay("drift", *files(folder), "--target", "low_yield", "--quiet")
    assert (code, out) == (2, "")
    assert "looks like a regression target" in " ".join(err.split())
    assert "For numbers, pass a regressor: --learner Ridge" in " ".join(err.split())


def test_text_as_a_target_gets_no_advice_on_numbers(classay, folder):
    for path in folder.glob("*.csv"):
        frame = pd.read_csv(path)
        frame.assign(low_yield=[f"row {row}" for row in range(len(frame))]).to_csv(path, index=False)
    code, _, err = classay("drift", *files(folder), "--target", "low_yield", "--quiet")
    assert code == 2
    assert "looks like text or an identifier" in " ".join(err.split())
    assert "Ridge" not in err


@pytest.mark.slow
def test_a_target_of_numbers_and_a_regressor(classay, folder):
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
    code, out, err = classay("drift", *parts, "--charts", str(folder / "charts"), *quick)
    assert code == 0, err
    assert "CONCEPT MOVED" in out
    assert "error of" in out
    assert "accuracy" not in out
    assert "whose target 'low_yield' is missing" in err
    assert (folder / "charts" / "drift.svg").exists()
    state = str(folder / "monitor.classay")
    code, once, _ = classay("drift", *parts, "--json", *quick)
    assert code == 0
    assert classay("drift", *parts[:2], "--state", state, *quick)[0] == 0
    code, again, _ = classay("drift", *parts, "--state", state, "--json", *quick)
    assert code == 0
    assert json.loads(again)["updates"] == json.loads(once)["updates"]
    first, second = json.loads(once)["updates"]
    assert second["metric_uncapped"] > 5 * first["metric_uncapped"]
    assert second["metric_reference"] > second["metric_limit"]
    assert json.loads(once)["data"]["classes"] == []
    code, _, err = classay("drift", *parts, "--state", state, "--tolerance", "3", *quick)
    assert code == 2
    assert "tolerance" in err
    pd.read_csv(parts[2]).assign(low_yield="low").to_csv(parts[2], index=False)
    code, _, err = classay("drift", *parts, *quick)
    assert code == 2
    assert "part_2.csv: Column 'low_yield' contains texts such as 'low'" in err


def test_files_come_in_the_order_of_their_numbers():
    names = ["b/10.csv", "b/9.csv", "b/a1b20.csv", "b/a1b3.csv", "a.csv", "b/9.5.csv"]
    assert sorted(names, key=natural) == ["a.csv", "b/9.5.csv", "b/9.csv", "b/10.csv", "b/a1b3.csv", "b/a1b20.csv"]


def test_codes_that_are_all_numbers_in_a_batch_are_the_texts_they_were(classay, folder):
    for number, codes in ((8, ["1", "2", "x"]), (9, ["1", "2"])):
        frame = table(400 if number == 8 else 60, number).drop(columns="force")
        rng = np.random.default_rng(number)
        frame.insert(0, "code", rng.choice(codes, len(frame)))
        frame.insert(0, "line", np.where(rng.random(len(frame)) < 0.1, None, rng.choice(codes, len(frame))))
        frame.to_csv(folder / f"coded_{number}.csv", index=False)
    files = [str(folder / f"coded_{number}.csv") for number in (8, 9)]
    code, out, err = classay("drift", *files, *COARSE)
    assert code == 0, err
    assert "coded_9.csv" in out
    frame = pd.read_csv(files[1])
    frame.assign(code=frame["code"].replace(2, 3)).to_csv(files[1], index=False)
    code, _, err = classay("drift", *files, *QUICK)
    assert code == 2
    assert "'code' has categories in the batch that the reference does not have: '3'" in err


def test_a_state_that_cannot_be_kept_is_told_before_anything_is_fitted(classay, folder, monkeypatch):
    from sklearn.naive_bayes import GaussianNB

    from classay.engine import archive

    monkeypatch.setattr(archive, "MOST_TABLE_BYTES", 100)
    monkeypatch.setattr(GaussianNB, "fit", lambda *_: pytest.fail("fitted"))
    state = folder / "monitor.classay"
    code, _, err = classay("drift", *files(folder), "--state", str(state), *QUICK)
    assert code == 2
    assert "cannot be saved" in err
    assert not state.exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_keeps_what_is_done(folder):
    state = folder / "monitor.classay"
    for number in range(12, 60):  # of as many sizes, so that blocks of the reference are fitted for each
        table(60 + number, number).to_csv(folder / f"batch_{number}.csv", index=False)
    process = subprocess.Popen(
        [sys.executable, "-m", "classay", "drift", *files(folder), "--state", str(state), "--json", *QUICK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that starts jobs in the background lets them ignore Ctrl-C, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not state.exists() and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    content = json.loads(out)
    assert content["interrupted"] is True
    assert len(content["updates"]) >= 1
    assert "Traceback" not in err
