"""The command `classay preference`."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

QUICK = ["--budget", "60", "--rows", "60", "--workers", "1", "--quiet"]
TWO = ["--concept", "x0 > 0.5", "--against", "x1 > 0.5"]


def test_a_table_is_printed(classay):
    code, out, _ = classay("preference", "-l", "GaussianNB", "-l", "DecisionTreeClassifier(max_depth=1)", *TWO, *QUICK)
    assert code == 0
    for word in ("`x0 > 0.5` against `x1 > 0.5`", "GaussianNB", "max_depth=1", "neither", "crosses"):
        assert word in out


def test_the_command_gives_what_python_gives(classay):
    from sklearn.naive_bayes import GaussianNB

    from classay import preference

    code, out, _ = classay("preference", "-l", "GaussianNB", *TWO, "--correlation", "0.9", "--json", *QUICK)
    assert code == 0
    content = json.loads(out)
    assert content["interrupted"] is False
    expected = preference(
        GaussianNB(), "x0 > 0.5", "x1 > 0.5", correlation=0.9, budget=60, n_samples=60, executor=1, name="GaussianNB"
    )
    assert content["learners"]["GaussianNB"] == expected.to_dict()


def test_described_columns_and_charts(classay, tmp_path):
    columns = ["--column", "heat=20:80", "--column", "alloy=A|B", "--column", "wet=bool"]
    concepts = ["--concept", "heat > 50", "--against", "alloy == 'A' and wet"]
    code, out, _ = classay(
        "preference", "-l", "GaussianNB", *columns, *concepts, "--charts", str(tmp_path), "--json", *QUICK
    )
    assert code == 0
    assert json.loads(out)["learners"]["GaussianNB"]["verdict"] in ("crosses", "exclusive")
    assert {path.name for path in tmp_path.iterdir()} == {"preference.svg", "preference.png"}


def test_rows_of_a_table(classay, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "steel.csv"
    pd.DataFrame({"heat": rng.uniform(20, 80, 100), "alloy": rng.choice(["A", "B"], 100)}).to_csv(path, index=False)
    concepts = ["--concept", "heat > 50", "--against", "alloy == 'A'"]
    code, out, err = classay("preference", "-l", "GaussianNB", "--data", str(path), *concepts, "--json", *QUICK)
    assert code == 0, err
    assert list(json.loads(out)["learners"]) == ["GaussianNB"]


def test_one_failing_learner_does_not_stop_the_others(classay):
    learners = ["-l", "GaussianNB", "-l", "KNeighborsClassifier(n_neighbors=500)"]
    code, out, err = classay("preference", *learners, *TWO, "--json", *QUICK)
    assert code == 3
    assert list(json.loads(out)["learners"]) == ["GaussianNB"]
    assert "KNeighborsClassifier(n_neighbors=500): no results. " in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--concept", "x0 > 0.5", "--against", "x0 > 0.5"], "never disagree"),
        (["--concept", "x0 >", "--against", "x1 > 0.5"], "cannot be read"),
        (["--concept", "__import__('os')", "--against", "x1 > 0.5"], "call"),
        (["--concept", "heat > 1", "--against", "x1 > 0.5"], "name heat, x1; expected columns named x0, x1"),
        ([*TWO, "--columns", "1"], "x1"),
        ([*TWO, "--columns", "2", "--column", "a=0:1"], "--columns and --column were given; expected only one of them"),
        ([*TWO, "--column", "a"], "heat=20:80"),
        ([*TWO, "--column", "a=1..2:3"], "low:high"),
        ([*TWO, "--column", "a=2:1"], "the first must be smaller"),
        ([*TWO, "--correlation", "2"], "correlation"),
        ([*TWO, "--budget", "5"], "budget"),
        ([*TWO, "--rows", "1"], "n_samples"),
        ([*TWO, "--probes", "odd"], "probes"),
        ([*TWO, "-l", "SVC(C=foo)"], "Expressions are not run"),
        ([*TWO, "-l", "LinearRegression"], "regressor"),
        ([*TWO, "--data", "nothing.csv"], "no file"),
    ],
)
def test_mistakes_get_a_sentence_and_exit_code_2(classay, arguments, message):
    learner = [] if "-l" in arguments else ["-l", "GaussianNB"]
    quick = [word for pair in zip(QUICK[::2], QUICK[1::2]) if pair[0] not in arguments for word in pair] + ["--quiet"]
    code, out, err = classay("preference", *arguments, *learner, *quick)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_help_has_examples(classay):
    code, out, _ = classay("preference", "--help")
    assert code == 0
    assert "--against" in out
    code, _, err = classay("preference", "--concept", "x0 > 0.5")
    assert code == 2
    assert "--against" in err


def test_ctrl_c_shows_what_is_done(classay, monkeypatch):
    from classay.learner.preference import trials

    done = []
    attempt = trials.attempt

    def interrupted(rivals, task):
        done.append(task)
        if len(done) == 250:
            raise KeyboardInterrupt
        return attempt(rivals, task)

    monkeypatch.setattr(trials, "attempt", interrupted)
    learners = ["-l", "GaussianNB", "-l", "DecisionTreeClassifier"]
    code, out, err = classay(
        "preference", *learners, *TWO, "--json", "--budget", "200", "--rows", "60", "--workers", "1", "--quiet"
    )
    assert code == 3
    content = json.loads(out)
    assert content["interrupted"] is True
    assert "GaussianNB" in content["learners"]
    assert "Interrupted" in err
    done.clear()
    done.extend(range(247))
    code, out, err = classay("preference", *learners, *TWO, "--workers", "1", "--quiet")
    assert (code, out) == (130, "")
    assert "before there was any result" in err
