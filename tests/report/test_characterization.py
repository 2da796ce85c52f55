"""`characterize`: one call, one document, the same bits, and mistakes told before any fit."""

import json
import re
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from planted import Rule, found, gaussians, not_drawn, table
from sample import visible_words
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from walks import walks

import classay
from classay import InputError, characterize, complexity
from classay.learner.records.base import OutOfFold
from classay.learner.rounds import RecordRounds
from classay.report.document.glossary import TERMS
from classay.report.results import Results
from classay.report.run.measures import check_model, predictions_of
from classay.report.run.settings import Clock
from classay.tables.audit import Audit
from classay.tables.data import Data

LEARNERS = {"tree": DecisionTreeClassifier(), "forest": RandomForestClassifier(3)}
FEW = {"splits": 5, "repeats": 2, "name": "mixed"}


@pytest.fixture(scope="module")
def mixed():
    """A table with everything in it: texts, truth values, gaps, dates, a class that is too rare."""
    rng = np.random.default_rng(0)
    X, y = gaussians(300, classes=3, apart=4)
    X["colour"] = rng.choice(["red", "blue", None], 300)
    X["on"] = rng.random(300) < 0.5
    X["when"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(100, size=300), unit="D")
    X.loc[:20, "x1"] = np.nan
    y = np.array(["low", "mid", "high"])[y].astype(object)
    y[:2] = "odd"
    return X, y


@pytest.fixture(scope="module")
def assay(mixed):
    return found(LEARNERS, *mixed, **FEW)[0]


def test_every_figure_has_a_meaning_and_an_interval(assay):
    frame = assay.to_frame()
    assert set(frame["figure"]) <= set(TERMS)
    known = frame[frame["value"].notna()]
    assert (known["low"] <= known["value"] + 1e-9).all()
    assert (known["value"] <= known["high"] + 1e-9).all()
    assert {"accuracy", "refit_accuracy", "stability", "kappa", "bias", "capacity", "stochasticity"} <= set(
        frame["figure"]
    )


def test_the_document_is_plain_json(assay):
    text = json.dumps(assay.report.to_dict(), allow_nan=False)
    assert json.loads(text)["about"]["rows"] == 298
    assert [section.key for section in assay.report.sections] == [
        "learners", "runs", "variation", "disagreement", "data", "geometry", "complexity_errors", "slices", "unlike",
        "classes", "networks", "reading", "methods",
    ]  # fmt: skip


def test_rare_classes_are_left_out_and_that_is_said(assay):
    assert any("odd" in note and "2 of 300 rows" in note for note in assay.report.about["notes"])
    assert "odd" not in assay.report.about["classes"]


def test_live_results_can_be_asked_further(assay):
    assert assay.learners["tree"].stability.stability == assay.report.figure("tree", "stability")
    assert assay.parts.complexity.hardest(3).shape[0] == 3
    with pytest.raises(InputError, match=r"Did you mean stability"):
        assay.report.figure("tree", "stabilty")
    with pytest.raises(InputError, match=r"Did you mean tree"):
        assay.report.figure("tre", "stability")


@pytest.mark.slow
def test_the_same_bits_for_any_number_of_workers_and_from_the_command_that_is_shown(mixed, assay):
    with not_drawn():
        again, _ = found(LEARNERS, *mixed, **FEW, executor=2)
    assert_same_figures(assay, again)
    shown = "budget=None, splits=5, repeats=2, rows=50000, n_probes=100, retrains=0, random_state=0"
    assert shown in assay.report.settings["command"]


@pytest.fixture
def ends(monkeypatch):
    """The budget ends when these learners have completed so many folds ("cross-validation") or splits ("refits")."""

    def when(what, names, number):
        grow, over = RecordRounds.grow, []

        def limited(self, asked, wanted=None, label="", in_turn=False):
            last = label == what and (wanted or number) >= number
            grow(self, names if last else asked, number if last else wanted, label, in_turn)
            over.extend([True] * last)
            self.interrupted = last
            return not last

        monkeypatch.setattr(RecordRounds, "grow", limited)
        monkeypatch.setattr(Clock, "over", property(lambda _: bool(over)))

    return when


@pytest.mark.slow
def test_at_the_deadline_the_last_complete_round_counts(ends):
    X, y = gaussians(200)
    whole, _ = found({"bayes": GaussianNB()}, X, y, splits=5)
    ends("refits", ["bayes"], 5)
    made, findings = found({"bayes": GaussianNB(), "slow": GaussianNB()}, X, y, budget=1e6, splits=None)
    assert set(made.learners) == {"bayes"}
    assert made.report.settings["splits"] == 5
    assert made.report.figure("bayes", "stability") == whole.report.figure("bayes", "stability")
    assert "0 of 5 splits were done when time was up" in made.report.failed["slow"]
    assert findings["L106", "slow"].level == "note"
    assert made.report.figure("slow", "accuracy") == made.report.figure("bayes", "accuracy")
    assert not made.report.settings["interrupted"]


@pytest.mark.slow
def test_at_the_deadline_the_folds_that_all_have_completed_count(ends):
    X, y = gaussians(2000)
    ends("cross-validation", ["bayes", "tree"], 3)
    seen = []
    made, _ = found({"bayes": GaussianNB(), "tree": DecisionTreeClassifier()}, X, y, budget=1e6, on_round=seen.append)
    assert [each.report.settings["folds"] for each in (*seen, made)] == [1, 3]
    assert [each.report.settings["tested_rows"] for each in (*seen, made)] == [400, 1200]
    assert seen[0].report.settings["preliminary"].startswith("round 1 of at most")
    assert "of 1,200 of 2,000 rows: every learner shown has completed 3 of 5 folds" in made.report.about["notes"][0]
    whole = classay.record(GaussianNB(), X, y, classay.Folds(5), executor=1).out_of_fold()
    for page in (*seen, made):
        assert {"bayes", "tree"} == set(page.parts.scored)
        held = page.parts.predicted["bayes"]
        assert np.array_equal(held.labels, whole.labels[np.isin(whole.rows, held.rows)])


@pytest.mark.slow
def test_a_learner_without_its_first_fold_is_not_finished_and_the_others_are_kept(ends):
    X, y = gaussians(200)
    ends("cross-validation", ["bayes"], 1)
    made, findings = found({"bayes": GaussianNB(), "slow": GaussianNB()}, X, y, budget=1e6)
    assert list(made.parts.predicted) == ["bayes"]
    assert made.parts.predicted["bayes"].rows.size == 40
    assert made.report.failed["slow"].startswith("Not finished: its cross-validated fits were not done")
    assert findings["L106", "slow"].title == "Not finished"


def test_without_time_for_any_fit_the_page_is_about_the_data():
    X, y = gaussians(200)
    made, findings = found({"bayes": GaussianNB(), "rule": Rule()}, X, y, budget="0.001s")
    assert not made.report.learners
    assert set(made.report.failed) == {"bayes", "rule"}
    assert made.report.figure("data", "baseline_accuracy").value > 0.8
    assert findings["L106", "rule"].title == "Not finished"
    assert "No learner can be recommended" in made.report.verdict.sentences[0]


@pytest.mark.slow
def test_one_learner_that_fails_does_not_stop_the_others():
    X = table(100)
    made, findings = found({"rule": Rule(), "tree": DecisionTreeClassifier(max_depth="deep")}, X, X["x0"] > 0)
    assert set(made.learners) == {"rule"}
    assert "max_depth" in made.report.failed["tree"]
    assert findings["L106", "tree"].level == "warning"
    assert "gave no results" in findings["L106", "tree"].sentence


def test_no_learner_fits():
    X = table(100)
    with pytest.raises(InputError, match=r"(?s)No learner.*tree: .*max_depth"):
        characterize({"tree": DecisionTreeClassifier(max_depth="deep")}, X, X["x0"] > 0, executor=1)


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(monkeypatch):
    X = table(120)
    learners, y = {"rule": Rule(), "tree": DecisionTreeClassifier()}, X["x0"] > 0
    whole, _ = found(learners, X, y, splits=5)
    grow, rounds = RecordRounds.grow, []

    def interrupted(self, names, splits=None, label="", in_turn=False):
        rounds.append(splits)
        if label == "cross-validation" or splits <= 5:
            return grow(self, names, splits, label, in_turn)
        self.interrupted = True
        return False

    monkeypatch.setattr(RecordRounds, "grow", interrupted)
    made, _ = found(learners, X, y, splits=12, on_round=lambda _: None)
    assert rounds == [1, None, 5, 10]
    assert made.report.settings["interrupted"]
    assert made.report.settings["splits"] == 5
    assert made.report.sections[-1].lead.startswith("Interrupted")
    assert made.report.figure("tree", "stability") == whole.report.figure("tree", "stability")


@pytest.mark.slow
def test_ctrl_c_during_a_page_keeps_the_last_round():
    X = table(120)

    def pressed(made):
        if made.report.settings["splits"]:
            raise KeyboardInterrupt

    made, _ = found({"rule": Rule()}, X, X["x0"] > 0, splits=12, on_round=pressed)
    assert made.report.settings["splits"] == 5
    assert made.report.settings["interrupted"]
    assert not made.report.settings["preliminary"]


@pytest.mark.slow
def test_ctrl_c_while_more_iterations_are_tried_keeps_the_report(monkeypatch):
    X, y = gaussians(150, apart=1)

    def pressed(rounds, *more):
        return not_done() if "longer" in rounds.learners else predictions_of(rounds, *more)

    monkeypatch.setattr("classay.report.run.rounds.predictions_of", pressed)
    made, _ = found({"logistic": LogisticRegression(max_iter=1)}, X, y)
    assert made.report.figure("logistic", "stability").known
    assert made.parts.learners["logistic"].more_iterations is None


def not_done(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.slow
def test_rounds_arrive_one_by_one_and_the_last_is_that_of_one_go():
    X, y = gaussians(150)
    seen = []
    learners = {"tree": DecisionTreeClassifier(), "bayes": GaussianNB()}
    made, _ = found(learners, X, y, splits=12, on_round=seen.append)
    assert [each.report.settings["splits"] for each in seen] == [0, 5, 10]
    assert set(seen[0].parts.predicted) == set(learners)
    assert not seen[0].learners
    assert all(each.report.settings["preliminary"].startswith("round") for each in seen)
    assert any(note.startswith("Preliminary: ") for note in seen[0].report.about["notes"])
    assert not any(note.startswith("Preliminary: ") for note in made.report.about["notes"])
    alone, _ = found(learners, X, y, splits=12)
    first, _ = found(learners, X, y, splits=5)
    assert_same_figures(made, alone)
    assert_same_figures(seen[1], first)


def assert_same_figures(one, other):
    frames = [each.to_frame() for each in (one, other)]
    rows = frames[0]["figure"] != "seconds_per_fit"
    pd.testing.assert_frame_equal(frames[0][rows], frames[1][rows], check_exact=True)
    # Not what to do about them: which of two learners is faster is measured.
    findings = [[(each.code, each.level, each.of, each.sentence) for each in made.findings] for made in (one, other)]
    assert findings[0] == findings[1]


@pytest.mark.slow
def test_one_learner_a_list_and_fitted_ones():
    X, y = gaussians(120)
    fitted = GaussianNB().fit(X, y)
    made, _ = found(fitted, X, y, splits=4)
    assert list(made.learners) == ["GaussianNB"]
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    made, _ = found([GaussianNB(), pipeline, Rule()], X, y, splits=4)
    assert list(made.learners) == ["GaussianNB", "GaussianNB 2", "Rule"]


@pytest.mark.slow
def test_a_large_table_is_sampled_and_that_is_said():
    X, y = gaussians(400, apart=1.5)
    with patch("classay.report.run.settings.TEST_POINTS", 90):
        made, _ = found({"bayes": GaussianNB()}, X, y, splits=5, rows=200)
    settings = made.report.settings
    assert (settings["rows"], settings["tested_rows"], settings["measured_rows"]) == (200, 90, 200)
    held, labelings = made.parts.predicted["bayes"], made.learners["bayes"].labelings
    assert held.rows.size == labelings.truth.size == 90
    assert "sample of 200 of them" in next(each.lead for each in made.report.sections if each.key == "data")
    assert np.bincount(y[held.rows]).tolist() == [45, 45]
    rows = next(each for each in made.report.sheets() if each.key == "hardest").rows
    labels = made.parts.data.classes[made.parts.data.codes]
    assert all(label == labels[row] for row, label, *_ in rows)


@pytest.mark.slow
def test_findings_from_few_rows_are_notes_that_say_so():
    X = table(600)
    learners, y = {"steady": Rule(), "fickle": Rule(fickle=True)}, X["x0"] > 0
    full, findings = found(learners, X, y)
    assert findings["L102", "fickle"].level == "warning"
    few, limited = found(learners, X, y, rows=100)
    assert limited["L102", "fickle"].level == "note"
    assert "Fits used 100 of 250 rows (--rows)." in limited["L102", "fickle"].sentence
    # The label is a rule on one column, which all rows show.
    assert {each.code for each in few.report.warnings} == {"D205"}
    assert not any("--rows" in each.sentence for each in full.findings)


@pytest.mark.slow
def test_groups_times_weights_and_a_test_part_reach_every_fit():
    X, y = gaussians(240)
    groups, when = np.arange(240) // 6, np.arange(240)
    made, _ = found({"bayes": GaussianNB()}, X, y, splits=4, groups=groups)
    labelings, held = made.learners["bayes"].labelings, made.parts.predicted["bayes"]
    assert not set(groups[labelings.test_rows]) & set(groups[labelings.train_rows[0]])
    assert held.rows.size == 240
    made, _ = found({"bayes": GaussianNB()}, X, y, splits=4, time=when)
    labelings, held = made.learners["bayes"].labelings, made.parts.predicted["bayes"]
    assert labelings.test_rows.min() > max(rows.max() for rows in labelings.train_rows)
    assert held.rows.min() == 40
    weights = np.where(y == 1, 1e-6, 1.0)
    made, _ = found({"bayes": GaussianNB()}, X, y, splits=4, sample_weight=weights)
    assert (made.parts.predicted["bayes"].labels == 0).mean() > 0.6
    other, truth = gaussians(60, seed=5)
    made, _ = found({"bayes": GaussianNB()}, X, y, splits=4, X_test=other, y_test=truth)
    assert made.learners["bayes"].labelings.truth.size == 60
    assert made.parts.predicted["bayes"].rows.size == 240


@pytest.mark.slow
def test_weights_that_a_learner_does_not_take():
    X, y = gaussians(120)
    made, _ = found({"bayes": GaussianNB(), "rule": Rule()}, X, y, splits=4, sample_weight=np.ones(120))
    assert set(made.learners) == {"bayes"}
    assert "weight" in made.report.failed["rule"]


def test_the_reading_audit_is_on_the_page_and_in_json(assay):
    section = next(each for each in assay.report.sections if each.key == "reading")
    columns = next(each for each in section.sheets if each.key == "columns")
    assert [row[0] for row in columns.rows if row[0] in ("x0", "colour", "when")] == ["x0", "colour", "when"]
    assert assay.report.about["audit"]["columns"][0]["kind"] == "number"
    assert "tree" in section.lead
    assert "one-hot" in assay.learners["tree"].wrapped
    assert assay.report.settings["wrapped"]["tree"] == assay.learners["tree"].wrapped
    assert any("tree" in note and "not take this table as it is" in note for note in assay.report.about["notes"])


@pytest.mark.slow
def test_losses_of_an_audit_are_notes_of_the_page():
    X, y = gaussians(120)
    audit = Audit("file", 121, 120, (), dropped_rows=(("without a label", 1, (7,)),))
    made, _ = found({"bayes": GaussianNB()}, replace(Data.of(X, y), as_read=audit), None, splits=4)
    assert made.report.about["notes"][0] == audit.losses[0]


@pytest.mark.parametrize(
    ("learners", "told"),
    [
        ("GaussianNB", "a dict of names and learners"),
        ([DecisionTreeClassifier], "expected an instance"),
        ({"tree": DecisionTreeClassifier}, "expected an instance"),
        ({"line": LinearRegression()}, "regressor"),
        ({3: GaussianNB()}, "expected a string"),
        ({"data": GaussianNB()}, "Rename"),
    ],
)
def test_learners_that_are_none(learners, told):
    with pytest.raises(InputError, match=told):
        characterize(learners, *gaussians(100))


@pytest.mark.parametrize(
    ("y", "told"),
    [
        ([0, 1], "has its own class"),
        ([0, 1] * 15, "30 rows; a report needs at least 40"),
        (np.repeat(np.arange(20), 3), "Is the target column right"),
        (np.linspace(0, 1, 60), "different numbers"),
        ([1] * 60, "1 class"),
        (np.eye(3)[[0, 1, 2] * 20], "a report for each label"),
        ([["a", "b"], ["a"]] * 30, "a report for each label"),
        ([0, 1] * 30, "toarray"),  # with sparse rows
    ],
)
def test_data_that_cannot_be_assayed(y, told):
    X = sparse.eye(60, format="csr") if told == "toarray" else np.random.default_rng(0).normal(size=(len(y), 2))
    with pytest.raises(InputError, match=told):
        characterize({"bayes": GaussianNB()}, X, y)


@pytest.mark.slow
def test_many_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 6)
    X = pd.DataFrame(rng.normal(size=(600, 3)) + 3 * rng.normal(size=(100, 3))[y])
    made, findings = found({"bayes": GaussianNB()}, X, y, splits=6, repeats=1)
    assert made.report.figure("data", "classes").value == 100
    assert ("C401", "classes") in findings
    sheet = next(each for each in made.report.sheets() if each.key == "classes")
    assert len(sheet.rows) == 50
    assert "of 100" in sheet.note


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"budget": "soon"}, "90s"),
        ({"splits": 1}, "splits"),
        ({"splits": "x"}, "splits"),
        ({"repeats": 0}, "repeats"),
        ({"rows": "most"}, "rows"),
        ({"test_size": 2}, "test_size"),
        ({"retrains": 1}, "retrains"),
        ({"X_test": np.eye(4)}, "belong together"),
        ({"X_test": gaussians(60)[0], "y_test": 3}, "y_test"),
    ],
)
def test_settings_that_make_no_sense(settings, told):
    with pytest.raises(InputError, match=told):
        characterize({"bayes": GaussianNB()}, *gaussians(100), **settings)


@pytest.mark.slow
def test_networks_have_a_section():
    X = table(100)
    quality = classay.network_quality(walks(), class_names=["a", "b", "c"])
    made, findings = found({"rule": Rule()}, X, X["x0"] > 0, networks={"net": quality}, splits=4)
    assert findings["N502", "net"].level == "note"
    assert ("N501", "net") in findings
    assert made.report.figure("net", "within") == quality.within
    section = next(each for each in made.report.sections if each.key == "networks")
    assert section.sheets[0].rows[0][0] == "net"


@pytest.mark.slow
def test_a_page_of_three_learners_shows_at_most_2500_words_before_anything_is_opened(mixed, tmp_path):
    assay, _ = found(LEARNERS, *mixed, **FEW)
    assert len(LEARNERS) >= 2
    text = assay.save(tmp_path / "page.html").read_text(encoding="utf-8")
    shown = visible_words(text)
    assert 200 < len(shown) <= 2500
    assert "Verdict" in shown
    assert "Glossary" in shown
    assert "Networks," not in shown  # a section without content is not there
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", text)
    assert headings[0] == "Verdict"


def test_the_questions_of_the_data_page_are_folded_sections_of_a_report(mixed, assay):
    """Learners against the geometry, their errors by complexity and confidence, and slices with each column alone."""
    sections = {section.key: section for section in assay.report.sections}
    for key in ("geometry", "complexity_errors", "slices"):
        assert sections[key].folded
    gains = sections["geometry"].sheets[0]
    assert {row[0] for row in gains.rows} == set(LEARNERS)
    assert len(gains.rows) == 2 * len(LEARNERS)
    for name, check in assay.parts.checks.items():
        assert assay.report.figure(name, "baseline_gain") == check.versus.difference["accuracy"]
        held = assay.parts.predicted[name]
        right = held.right
        assert check.versus.model["accuracy"].value == pytest.approx(right.mean())
    ranked = sections["complexity_errors"]
    assert {row[0] for row in ranked.sheets[0].rows} <= set(LEARNERS)
    assert len(ranked.pictures) == len(ranked.sheets[0].rows)
    assert sections["unlike"].is_empty
    assert "--test" in sections["unlike"].absent


@pytest.mark.slow
def test_a_test_part_is_searched_for_rows_unlike_anything_known():
    X, y = gaussians(400, classes=2, apart=3)
    X["job"] = np.random.default_rng(0).choice(["clerk", "pilot"], 400)
    X.iloc[395:, :2] += 50
    assay, _ = found({"bayes": GaussianNB()}, X[:300], y[:300], X_test=X[300:], y_test=y[300:], **FEW)
    section = next(each for each in assay.report.sections if each.key == "unlike")
    assert section.folded
    assert {row[0] for row in section.sheets[0].rows} >= {95, 96, 97, 98, 99}
    assert assay.report.figure("data", "unlike_share").value >= 0.05
    assert "like nothing known" in section.title


def test_rows_without_a_prediction_are_not_compared_with_the_geometry():
    """Of a large table only some rows are predicted: the comparison is on these, by the geometry of all measured."""
    X, y = gaussians(300, classes=2, apart=2)
    result = complexity(X, y, "euclidean", groups=np.arange(300) // 2)
    codes = np.searchsorted(result.classes, y)
    tested = np.arange(0, 300, 3)
    labels = np.where(np.arange(100) < 20, 1 - codes[tested], codes[tested])
    held = OutOfFold(labels, codes[tested], result.classes, tested)
    part = complexity(X[10:], y[10:], "euclidean", groups=np.arange(300)[10:] // 2)
    check = check_model("model", held, Results(Data.of(X, y), complexity=part, measured_rows=np.arange(300)[10:]), 0)
    kept = tested[tested >= 10]
    assert check.versus.rows == kept.size == check.against.rows
    assert check.versus.model["accuracy"].value == pytest.approx((labels[tested >= 10] == codes[kept]).mean())
    assert check.versus.baseline["accuracy"].value == pytest.approx((part.predicted == part.labels)[kept - 10].mean())
    assert "groups" in check.versus.difference["accuracy"].kind
    np.testing.assert_allclose(check.searched["complexity"], part.values[kept - 10])
