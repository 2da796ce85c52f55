"""Each planted problem is found, said of the right learner, with a value, a reference and something to do."""

import numpy as np
import pandas as pd
import pytest
from planted import Breaks, Rule, found, gaussians, not_drawn, table
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from classay.report.findings import RULES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def undrawn():
    """No charts: nobody looks at these pages, and drawing takes half of the time that a report takes."""
    with not_drawn():
        yield


@pytest.fixture(scope="module")
def steady_and_fickle():
    X = table()
    return found({"steady": Rule(), "fickle": Rule(fickle=True)}, X, X["x0"] > 0)


def test_as_accurate_and_less_stable(steady_and_fickle):
    _, findings = steady_and_fickle
    finding = findings["L102", "fickle"]
    assert finding.level == "warning"
    assert finding.value.value == pytest.approx(0.82, abs=0.03)
    assert "steady" in finding.action
    assert ("L102", "steady") not in findings


def test_predictions_that_change_are_the_first_warning_on_a_learner(steady_and_fickle):
    assay, findings = steady_and_fickle
    finding = findings["L116", "fickle"]
    assert finding.level == "warning"
    assert finding.sentence.startswith("Fitting it on another half of the rows changes the predictions for 19 of 100 ")
    assert "18 of them by the seed alone." in finding.sentence
    assert "n_estimators" in finding.action
    assert findings["L103", "fickle"].level == "warning"
    assert next(each for each in assay.findings if each.code[0] == "L") is finding
    assert findings["L116", "steady"].level == "unknown"  # nothing changed in 12 splits: too few to exclude 10 %
    # Nothing beside it says that all is well.
    assert not {"L103", "L109", "L110"} & {each.code for each in assay.findings if each.level == "fine"}
    assert "fickle change (L116)" in {each.code: each.why for each in assay.report.unasked}["L109"]


def test_what_a_retraining_changes_is_told_from_another_half():
    X, y = gaussians(400, apart=1.5)
    learners = {"nearest": KNeighborsClassifier(1), "bayes": GaussianNB()}
    _, findings = found(learners, X, y, splits=4, repeats=1, retrains=8)
    finding = findings["L116", "nearest"]
    assert finding.level in ("note", "unknown")
    assert finding.sentence.startswith("Retraining it with 10% of its rows replaced changes")
    assert findings.get(("L116", "bayes"), finding).level != "warning"
    _, findings = found({"bayes": GaussianNB()}, *gaussians(600, apart=3), splits=12, repeats=1)
    assert findings["L116", "all learners"].level == "fine"


def test_almost_perfect_accuracy_is_a_note_though_no_column_is_a_leak():
    X = table(1000)
    X = X[(X[["x0", "x1"]].abs() > 0.1).all(axis=1)]
    y = (X["x0"] > 0) & (X["x1"] > 0)
    learners = {"tree": DecisionTreeClassifier(), "always": DummyClassifier()}
    assay, findings = found(learners, X, y, splits=4, repeats=1)
    assert findings["D209", "data"].level == "note"
    assert assay.report.verdict.sentences[0].startswith("See to D20")
    assert "Use tree" not in " ".join(assay.report.verdict.sentences)
    y = np.random.default_rng(0).random(len(X)) < 0.995  # always predicting the largest class is as accurate
    _, findings = found({"always": DummyClassifier()}, X, y, splits=4, repeats=1)
    assert findings["D209", "data"].level == "fine"


def test_what_is_below_the_baseline_is_one_warning_and_less_accurate_is_not_called_less_stable():
    X, y = gaussians(400, apart=4)
    X["noise"] = 1000 * np.random.default_rng(1).normal(size=400)
    learners = {"one": KNeighborsClassifier(1), "three": KNeighborsClassifier(3), "bayes": GaussianNB()}
    assay, _ = found(learners, X, y)
    assert not [each for each in assay.findings if each.code == "L102" and each.level != "fine"]
    (below,) = [each for each in assay.findings if (each.code, each.level) == ("D201", "warning")]
    assert "Also below that: " in below.sentence
    assert "bayes" not in below.sentence
    assert "baseline" in below.reference


def test_memorising():
    rng = np.random.default_rng(0)
    X, y = gaussians(600, apart=4)
    y = np.where(rng.random(600) < 0.2, 1 - y, y)
    _, findings = found({"tree": DecisionTreeClassifier(), "bayes": GaussianNB()}, X, y)
    finding = findings["L104", "tree"]
    assert finding.level == "warning"
    assert finding.value.value > 0.2
    assert "bayes" in finding.reference
    assert ("L104", "bayes") not in findings


def test_a_learner_that_learns_nothing():
    y = np.where(np.random.default_rng(1).random(400) < 0.7, "yes", "no")
    _, findings = found({"tree": DecisionTreeClassifier(), "always": DummyClassifier()}, table(400), y)
    assert {findings[each].level for each in (("L101", "tree"), ("L109", "tree"), ("L105", "always"))} == {"warning"}
    assert "always predicting class yes would reach" in findings["L101", "tree"].sentence
    assert "Of class no (0 of " in findings["L105", "always"].sentence
    assert not {("L109", "always"), ("L105", "tree")} & set(findings)


def test_better_than_the_largest_class_but_not_shown_to_be():
    # Of 120 rows 24 are False, and x0 tells the label except for 14 of the True and 3 of the False ones.
    y = np.arange(120) >= 24
    X = pd.DataFrame({"x0": (y ^ ((np.arange(120) % 20 < 3) & (np.arange(120) != 2))) + 0.1 * table(120)["x0"]})
    _, findings = found({"bayes": GaussianNB()}, X, y)
    assert findings["L101", "bayes"].level == "note"
    assert "which is lower by" in findings["L101", "bayes"].sentence


def test_too_few_refits_to_tell_agreement_from_chance():
    X, y = gaussians(60, apart=2)
    assay, _ = found({"tree": DecisionTreeClassifier()}, X, y, splits=4, repeats=1)
    why = {each.code: each.why for each in assay.report.unasked}
    assert "more splits" in why["L109"]
    assert {"L102", "L104", "L108"} <= set(why)


def test_refits_that_fail_and_learners_that_always_do():
    X = table(200)
    assay, findings = found({"rule": Rule(), "breaks": Breaks()}, X, X["x0"] > 0)
    if "breaks" in assay.learners:
        assert "the oven was cold" in findings["L106", "breaks"].sentence
    else:
        assert "the oven was cold" in assay.report.failed["breaks"]
    assert findings["L106", "breaks"].level == "warning"
    assert assay.learners["rule"].stability.stability.value == 1


def test_learners_that_answer_alike(steady_and_fickle):
    X, y = gaussians(300, apart=2)
    _, findings = found({"one": GaussianNB(), "two": GaussianNB(), "three": GaussianNB()}, X, y)
    (finding,) = [each for each in findings.values() if each.code == "L108"]
    assert (finding.level, finding.value.value) == ("note", 0)
    assert finding.action.startswith("Use ")
    assay, _ = steady_and_fickle
    assert "L108" not in {each.code for each in assay.findings}


def test_where_refits_disagree():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"heat": rng.uniform(0, 100, 900), "x1": rng.normal(size=900)})
    y = np.where(X["heat"] < 50, rng.random(900) < 0.5, X["x1"] > 0)
    _, findings = found({"tree": DecisionTreeClassifier()}, X, y, splits=20, repeats=1, n_probes=1500)
    assert findings["L110", "tree"].level == "note"
    assert "heat" in findings["L110", "tree"].sentence


def test_fits_on_few_rows_are_not_asked_what_only_full_fits_can_answer():
    X, y = gaussians(2000, classes=5, apart=4)
    X["noise"] = 1000 * np.random.default_rng(1).normal(size=2000)
    learners = {"nearest": KNeighborsClassifier(1), "always": DummyClassifier()}
    assay, _ = found(learners, X, y, rows=300, more_classes=True)
    asked = {each.code for each in assay.findings}
    unasked = {each.code: each.why for each in assay.report.unasked}
    assert not asked & {"L101", "L105", "D201", "S301", "C401"}
    assert set(unasked) >= {"L101", "L105", "D201", "S301", "C401"}
    assert "300 of 1,600 rows" in unasked["D201"]
    assert assay.report.verdict.sentences == (
        "No learner can be recommended: there are no cross-validated predictions.",
    )


def test_suspected_labels():
    rng = np.random.default_rng(0)
    X, y = gaussians(600, apart=5)
    wrong = rng.random(600) < 0.06
    learners = {"logistic": LogisticRegression()}
    assay, findings = found(learners, X, np.where(wrong, 1 - y, y))
    assert findings["D202", "data"].level == "warning"
    suspects = next(sheet for sheet in assay.report.sheets() if sheet.key == "suspects")
    assert np.mean([wrong[row[0]] for row in suspects.rows]) > 0.8
    _, clean = found(learners, X, y)
    assert clean["D202", "data"].level == "fine"
    assert clean["D202", "data"].sentence.startswith("At most ")
    _, overlapping = found(learners, *gaussians(600, apart=2))
    assert overlapping["D202", "data"].level == "unknown"
    assert "of the labels may be wrong" in overlapping["D202", "data"].sentence


def test_rows_that_repeat_and_contradict():
    X, y = gaussians(200, apart=5)
    X = pd.concat([X, X.iloc[:30], X.iloc[:10]], ignore_index=True)
    y = np.concatenate([y, y[:30], 1 - y[:10]])
    assay, findings = found({"bayes": GaussianNB()}, X, y)
    # Ten rows, their copies, and their copies with another label: a third of these thirty are surely wrong.
    assert findings["D203", "data"].value.value == 30
    assert "at least 10 of them wrongly" in findings["D203", "data"].sentence
    assert "30 of 240 rows repeat" in findings["D204", "data"].sentence
    assert assay.report.figure("data", "contradictions").value == 30
    assert assay.report.figure("data", "duplicates").value == 30


def test_copies_that_inflate_accuracy_are_a_warning_and_kept_together():
    X = table(400)
    y = np.random.default_rng(1).integers(0, 2, 400)
    rows = np.concatenate([np.arange(400), np.arange(150)])
    assay, findings = found({"nearest": KNeighborsClassifier(1)}, X.iloc[rows], y[rows])
    finding = findings["D204", "data"]
    assert finding.level == "warning"
    assert finding.value.value == pytest.approx(0.2, abs=0.07)
    assert "keep copies on one side" in finding.sentence
    assert assay.report.figure("nearest", "accuracy").value == pytest.approx(0.5, abs=0.08)
    assert "groups" not in assay.report.settings["command"]


def test_equal_cases_that_are_frequent_are_no_copies():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (400, 4)), columns=list("abcd"))
    _, findings = found({"bayes": GaussianNB()}, X, X["a"] ^ (rng.random(400) < 0.1))
    assert findings["D204", "data"].level == "note"
    assert "equal cases are simply frequent" in findings["D204", "data"].sentence


def test_rows_that_contradict_each_other_are_not_suspected_of_wrong_labels():
    rng = np.random.default_rng(0)
    heat = rng.normal(size=300)
    X = pd.DataFrame({"hot": np.where(heat > 0, "yes", "no"), "plant": rng.choice(["Ulm", "Graz"], 300)})
    _, findings = found({"bayes": GaussianNB()}, X, heat + 0.3 * rng.normal(size=300) > 0)
    assert findings["D203", "data"].value.value > 10
    assert findings["D202", "data"].level != "warning"


def test_errors_where_classes_overlap_are_fine_for_a_learner_that_knows():
    X, y = gaussians(1500, apart=2)
    assay, _ = found({"bayes": GaussianNB(), "again": GaussianNB()}, X, y)
    (finding,) = [each for each in assay.findings if each.code == "S301"]
    assert finding.level == "fine"
    assert finding.title == "Errors concentrate where scores show it"
    assert "bayes (" in finding.sentence  # the section lists them


def test_a_slice_with_many_errors():
    rng = np.random.default_rng(0)
    X, y = gaussians(1500, apart=5)
    X["plant"] = rng.choice(["Ulm", "Graz", "Brno"], 1500)
    y = np.where((X["plant"] == "Graz") & (rng.random(1500) < 0.35), 1 - y, y)
    assay, findings = found({"bayes": GaussianNB()}, X, y)
    finding = findings["S301", "bayes"]
    assert finding.level == "warning"
    assert "Graz" in finding.sentence
    assert "Its own scores predict" in finding.sentence
    _, alone = found({"tree": DecisionTreeClassifier()}, X, y, splits=4, repeats=1)
    assert "It is always certain, so its scores cannot warn you." in alone["S301", "tree"].sentence
    sheet = next(sheet for sheet in assay.report.sheets() if sheet.key == "slices/bayes")
    inside = sheet.details[0]
    place = inside.columns.index("plant")
    assert {row[place] for row in inside.rows} == {"Graz"}
    assert inside.rows[0][1] != inside.rows[0][2]


def test_more_classes():
    X, y = gaussians(1000, classes=10, apart=1.2, columns=3)
    usual, _ = found({"bayes": GaussianNB()}, X, y)
    assert "--more-classes" in {each.code: each.why for each in usual.report.unasked}["C401"]
    assay, findings = found({"bayes": GaussianNB()}, X, y, more_classes=True)
    finding = findings["C401", "classes"]
    assert finding.level in ("warning", "note")
    assert "100" in finding.sentence
    assert (
        assay.report.figure("classes", "accuracy_tenfold").high < assay.report.figure("classes", "accuracy_now").value
    )


def test_every_code_is_found_or_said_not_to_apply(steady_and_fickle):
    assay, _ = steady_and_fickle
    shown = {each.code for each in assay.findings} | {each.code for each in assay.report.unasked}
    # Notes that are only there where there is something to say.
    assert set(RULES) - shown <= {"L107", "L108", "L113", "D204", "N502"}


def test_a_rare_class_is_judged_by_scores():
    """One row in sixty is positive, and logistic regression is the right model."""
    rng = np.random.default_rng(3)
    X = table(4000, 6, seed=3)
    y = rng.random(4000) < 1 / (1 + np.exp(5.1 - X @ np.array([1.2, -0.8, 0.5, 0, 0, 0])))
    learners = {
        "logistic": LogisticRegression(max_iter=1000),
        "forest": RandomForestClassifier(50, min_samples_leaf=5),
        "bayes": GaussianNB(),
    }
    assay, findings = found(learners, X, np.where(y, "yes", "no"), splits=6, repeats=2)
    assert not assay.report.warnings
    # Not that predictions depend on the sample, not that the baseline may be enough, not that one learner is enough.
    assert ("L109", "logistic") not in findings
    assert "L108" not in {each.code for each in assay.findings}
    assert "D201" not in {each.code for each in assay.findings}
    assert assay.report.verdict.table.columns[1] == "roc_auc"
    assert assay.report.figure("logistic", "roc_auc").value == pytest.approx(0.85, abs=0.06)
    note = findings["L101", "logistic"]
    assert note.level == "note"
    assert "Its scores rank rows better than chance (AUC 0.8" in note.sentence


def test_a_class_that_is_frequent_and_never_found_is_a_warning_and_a_rare_one_a_note():
    rng = np.random.default_rng(0)
    X = table(3000, 2)
    y = np.where(rng.random(3000) < 0.3 / (1 + np.exp(-X["x0"])), 1, 0)
    _, findings = found({"logistic": LogisticRegression()}, X, y, splits=4, repeats=1)
    assert findings["L105", "logistic"].level == "warning"
    X = table(20_000, 2)
    y = np.where(rng.random(20_000) < 0.06 / (1 + np.exp(-3 * X["x0"])), 1, 0)
    _, findings = found({"logistic": LogisticRegression()}, X, y, splits=4, repeats=1)
    assert findings["L105", "logistic"].level == "note"
    assert "threshold" in findings["L105", "logistic"].action


def test_votes_of_the_row_itself_are_not_memorising():
    rng = np.random.default_rng(0)
    X, y = gaussians(600, apart=4)
    y = np.where(rng.random(600) < 0.2, 1 - y, y)
    learners = {"nearest": KNeighborsClassifier(1), "forest": RandomForestClassifier(20)}
    assay, _ = found(learners, X, y)
    assert "L104" in {each.code for each in assay.report.unasked}
    _, findings = found({**learners, "bayes": GaussianNB()}, X, y)
    assert ("L104", "nearest") not in findings
    assert ("L104", "forest") not in findings


def test_fits_that_warn_and_what_more_iterations_would_change():
    X, y = gaussians(300, apart=1)
    learner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2))
    _, findings = found({"logistic": learner}, X, y)
    assert findings["L107", "logistic"].level == "note"
    assert "max_iter" in findings["L107", "logistic"].action
    assert "Ten times the iterations change " in findings["L107", "logistic"].sentence
    assert "scale" not in findings["L107", "logistic"].action
