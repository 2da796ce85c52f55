"""Findings on what may make all figures wrong, and on what to do with probabilities, thresholds and rows: planted."""

import numpy as np
import pandas as pd
import pytest
from planted import found, not_drawn
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from suspect_worlds import (
    contaminated,
    drawn,
    effects,
    leak,
    patients_with_id,
    patients_without_id,
    plain,
    rare,
    same_information,
    shifted_test,
)

from classay.report.findings.fits import twice

pytestmark = pytest.mark.slow
QUICK = {"splits": 6, "repeats": 1, "n_probes": 20}


@pytest.fixture(scope="module", autouse=True)
def undrawn():
    with not_drawn():
        yield


def pages(world, learners=None, **options):
    parts = {name: part for name, part in world.items() if name not in ("X", "y")}
    return found(learners or {"bayes": GaussianNB()}, world["X"], world["y"], **(QUICK | parts | options))


def unasked(assay):
    return {each.code: each.why for each in assay.report.unasked}


def test_a_leak_is_a_warning_and_silences_suspected_labels():
    assay, findings = pages(leak(0), {"tree": DecisionTreeClassifier(max_depth=3)}, target="paid")
    finding = findings["D205", "data"]
    assert finding.level == "warning"
    assert "of refund alone" in finding.sentence
    assert "--drop" in finding.action
    assert "D205" in unasked(assay)["D202"]
    assert assay.parts.suspicions.leak
    assert "Choose no learner yet: a column predicts the label by itself (D205)" in assay.report.verdict.sentences[0]


def test_patients_in_a_column_name_it():
    assay, findings = pages(patients_with_id(0))
    finding = findings["D206", "data"]
    assert finding.level == "warning"
    assert "--groups patient" in finding.action
    assert finding.value.value < 0.65
    assert "D206" in unasked(assay)["L111"]
    assert "D206" in unasked(assay)["L113"]


def test_patients_that_no_column_names():
    _, findings = pages(patients_without_id(0))
    finding = findings["D206", "data"]
    assert finding.level == "warning"
    assert "nearly the same" in finding.sentence
    assert "--groups" in finding.action


def test_rows_in_both_parts():
    _, findings = pages(contaminated(0))
    assert findings["D207", "data"].level == "warning"
    assert findings["D208", "data"].level == "fine"


def test_a_test_part_of_other_rows_names_the_column():
    _, findings = pages(shifted_test(0))
    assert findings["D208", "data"].level == "warning"
    assert "m4 (median" in findings["D208", "data"].sentence
    assert findings["D207", "data"].level == "fine"


def test_times_leave_it_unasked():
    made = plain(0)
    assay, _ = found({"bayes": GaussianNB()}, made["X"], made["y"], **QUICK, time=np.arange(len(made["y"])))
    assert "later rows" in unasked(assay)["D206"]
    assert "--test" in unasked(assay)["D207"]


def test_probabilities_that_are_too_high():
    """Naive Bayes takes five copies of a column for five pieces of evidence."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=1500)
    y = drawn(1.5 * x, rng)
    X = pd.DataFrame({f"x{place}": x + 0.01 * rng.normal(size=1500) for place in range(5)})
    _, findings = found({"bayes": GaussianNB(), "logistic": LogisticRegression()}, X, y, **QUICK)
    finding = findings["L111", "bayes"]
    assert finding.level == "warning"
    assert finding.value.low > 0.1
    assert "too sure" in finding.sentence
    assert "logistic" not in finding.sentence
    assert "CalibratedClassifierCV" in finding.action


def test_weights_that_raise_a_class():
    made = rare(0)
    X, y = made["X"], made["y"]
    _, findings = found({"weighted": LogisticRegression(class_weight="balanced")}, X, y, **QUICK)
    finding = findings["L111", "weighted"]
    assert finding.level == "note"
    assert "class weights" in finding.action
    assert ("L112", "weighted") not in findings  # its threshold is good enough


def test_probabilities_that_are_right():
    made = plain(0, 3000)
    _, findings = found({"logistic": LogisticRegression()}, made["X"], made["y"], **QUICK)
    assert findings["L111", "all learners"].level == "fine"


def test_another_threshold():
    made = rare(1)
    _, findings = found({"logistic": LogisticRegression()}, made["X"], made["y"], **QUICK)
    finding = findings["L112", "logistic"]
    assert finding.level == "note"
    assert finding.value.value > 0.1
    assert "false alarms" in finding.sentence


def test_nothing_to_say_about_a_clean_table_and_its_threshold():
    assay, findings = pages(plain(0), {"logistic": LogisticRegression()})
    assert {findings[code, "data"].level for code in ("D205", "D206", "D207", "D208")} == {"fine"}
    assert "third" in unasked(assay)["L112"]


def test_more_rows():
    """Many columns and few rows: a fit on more rows is clearly better."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1000, 150))).rename(columns=str)
    y = drawn(3 * X.iloc[:, :10].sum(axis=1).to_numpy() / 3, rng)
    _, findings = found({"logistic": LogisticRegression()}, X, y, **(QUICK | {"splits": 12}))
    finding = findings["L113", "logistic"]
    assert finding.level == "note"
    assert "twice as many rows would add" in finding.sentence


def test_more_rows_hardly_help():
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    _, findings = found({"bayes": GaussianNB()}, pd.DataFrame({"x": x}), drawn(2 * x, rng), **QUICK)
    assert findings["L113", "bayes"].level == "fine"


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_what_twice_as_many_rows_add(power):
    """Errors of 0.1 + 3·n^−power at 100, 250 and 500 rows."""
    error = {n: 0.1 + 3 * n**-power for n in (100, 250, 500)}
    assert twice(error[100] - error[250], 2.5, power) == pytest.approx(error[250] - error[500])


def test_columns_that_change_on_retraining():
    _, findings = found({"tree": DecisionTreeClassifier(max_depth=4)}, *same_information(1), **QUICK)
    finding = findings["L114", "tree"]
    assert finding.level == "note"
    assert "share" in finding.sentence


def test_columns_that_matter_in_every_refit():
    _, findings = found({"logistic": LogisticRegression()}, *effects(), **QUICK)
    assert findings["L114", "logistic"].level == "fine"


@pytest.mark.parametrize(("world", "level", "said"), [
    ("same", "fine", "is excluded"),
    ("harder rows", "warning", "predicted as badly"),
    ("another relation", "warning", "the relation of columns and labels changed"),
])  # fmt: skip
def test_accuracy_on_the_test_part(world, level, said):
    """Where x0 is high, labels are noise; the test part has more such rows, or another rule."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4)) + np.outer(np.repeat([0, world == "harder rows"], [1000, 500]), [1, 0, 0, 0])
    score = np.where(X[:, 0] > 0.8, 0, 6 * X[:, 1])
    y = drawn(np.where((np.arange(1500) >= 1000) & (world == "another relation") & (X[:, 2] > 0), -score, score), rng)
    table = pd.DataFrame(X, columns=list("abcd"))
    world = {"X": table[:1000], "y": y[:1000], "X_test": table[1000:], "y_test": y[1000:]}
    finding = pages(world, {"tree": DecisionTreeClassifier(max_depth=4)}, retrains=5)[1]["D210", "tree"]
    assert finding.level == level
    assert said in finding.sentence
