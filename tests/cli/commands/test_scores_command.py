"""`classay scores` as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pytest

QUICK = ["--samples", "4", "--workers", "1", "--quiet"]
NB = ["-l", "GaussianNB"]


@pytest.fixture
def churn(tmp_path):
    rng = np.random.default_rng(0)
    age, calls = rng.normal(size=(2, 400))
    left = rng.random(400) < 1 / (1 + np.exp(1.5 - 1.5 * age - calls))
    rows = [f"{a:.3f},{c:.3f},{'yes' if b else 'no'},{day}" for day, (a, c, b) in enumerate(zip(age, calls, left))]
    path = tmp_path / "churn.csv"
    path.write_text("\n".join(["age,calls,left,day", *rows]))
    return path


def test_one_learner_has_a_paragraph_and_two_tables(classay, churn):
    code, out, _ = classay("scores", str(churn), "-t", "left", *NB, *QUICK)
    assert code == 0
    assert out.startswith("GaussianNB: a retraining that replaces 10%")
    for word in ("roc auc", "balanced accuracy", "brier", "refits", "predictions", "by another", "points", "chance"):
        assert word in out


def test_several_learners_side_by_side(classay, churn):
    code, out, _ = classay("scores", str(churn), "-t", "left", *NB, "-l", "RidgeClassifier", *QUICK)
    assert code == 0
    assert out.startswith("Metrics on 80 test points") or "Metrics on 80 test points" in out.splitlines()[0]
    assert "none" in out  # decision values have no Brier score


def test_json_is_what_python_gives(classay, churn):
    import classay as library
    from classay.tables.read import read_table

    code, out, _ = classay("scores", str(churn), "-t", "left", *NB, "--metric", "f1_macro", "--json", *QUICK)
    assert code == 0
    figures = json.loads(out)["learners"]["GaussianNB"]
    table = read_table(str(churn), "left")
    from sklearn.naive_bayes import GaussianNB

    labelings = library.record(GaussianNB(), table.X, table.y, library.Retrain(4), repeats=2, executor=1)
    assert figures["retraining"]["change"]["value"] == pytest.approx(library.retraining(labelings).change.value)
    expected = library.metrics(labelings, "f1_macro")["f1_macro"].value
    assert figures["metrics"]["estimates"]["f1_macro"]["value"] == pytest.approx(expected)
    assert figures["score_variance"]["share_sample"]["value"] == 1


def test_costs_thresholds_and_time(classay, churn):
    code, out, _ = classay("scores", str(churn), "-t", "left", *NB, "--cost", "1,5", *QUICK)
    assert code == 0
    assert "cost" in out
    code, out, _ = classay("scores", str(churn), "-t", "left", *NB, "--threshold", "0.2", "--time", "day", *QUICK)
    assert code == 0
    assert "by newer ones" in out
    assert "decisions at 0.2" in out


def test_charts(classay, churn, tmp_path):
    code, _, _ = classay("scores", str(churn), "-t", "left", *NB, "--charts", str(tmp_path / "c"), *QUICK)
    assert code == 0
    names = {path.stem for path in (tmp_path / "c").iterdir()}
    assert names == {
        "metrics_1", "refits_1", "confusion_1", "retraining_1", "calibration_1", "roc_1", "precision_recall_1",
        "score_variance_1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--metric", "accurcy"], "Did you mean accuracy"),
        (["--cost", "cheap"], "expected a pair"),
        (["--threshold", "7"], "expected a probability between 0 and 1"),
        (["--replaced", "2"], "expected a number between 0 and 1"),
        (["--cost", "1,5", "--threshold", "0.5"], "both given"),
    ],
)
def test_mistakes_are_said_plainly(classay, churn, options, said):
    code, out, err = classay("scores", str(churn), "-t", "left", *NB, *options, *QUICK)
    assert code == 2
    assert out == ""
    assert said in " ".join(err.split())
