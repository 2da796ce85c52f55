"""The verdict says which learner, how sure that is, and what to do next; never more than the rows show."""

from dataclasses import replace

import numpy as np
import pytest
from planted import Rule, found, gaussians, not_drawn, table
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from classay import characterize
from classay.intervals import Estimate
from classay.learner.scores.comparison import rows_to_decide
from classay.report.document import Finding
from classay.report.document.verdict import verdict_of
from classay.report.findings import findings_of
from classay.report.run.learners import CONTRAST

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def undrawn():
    with not_drawn():
        yield


def words(assay):
    return " ".join(assay.report.verdict.sentences)


def test_a_learner_that_is_shown_to_be_better_is_named():
    X, y = gaussians(400, apart=4)
    X["noise"] = 1000 * np.random.default_rng(1).normal(size=400)
    assay, _ = found({"nearest": KNeighborsClassifier(1), "bayes": GaussianNB()}, X, y)
    assert assay.report.verdict.learner == "bayes"
    assert "Use bayes. It is shown to be more accurate than every other learner (than nearest by " in words(assay)
    assert "cannot be decided" not in words(assay)
    assert str(assay).startswith("data: 2 learners compared. Use bayes.")


def test_of_equally_accurate_ones_the_steadier_is_used_and_that_it_is_not_decided_is_said():
    X = table()
    learners = {"fickle": Rule(fickle=True), "steady": Rule()}
    assay, _ = found(learners, X, X["x0"] > 0, retrains=4)
    assert assay.report.verdict.learner == "steady"
    assert "No other learner is shown to be more accurate (fickle " in words(assay)
    assert "Its predictions change least when it is retrained (0.0" in words(assay)
    assert "cannot be decided with these rows" in words(assay)
    table_ = assay.report.verdict.table
    assert table_.columns == ("learner", "accuracy", "retrain_change", "fit_rows")
    assert [row[3] for row in table_.rows] == [480, 480]
    assert assay.report.figure("fickle", "retrain_change").value == pytest.approx(0.18, abs=0.04)


@pytest.fixture(scope="module")
def bayes_and_nearest():
    X, y = gaussians(300, apart=2)
    return found({"bayes": GaussianNB(), "nearest": KNeighborsClassifier(1)}, X, y, splits=4, repeats=1)[0]


def finding(code, level, of):
    words = {"title": "Rows: some problem", "sentence": "It is so.", "reference": "0", "action": "Do it."}
    return Finding(code=code, level=level, of=of, value=Estimate(0, 0, 0), **words)


@pytest.mark.parametrize(
    ("code", "level", "of", "first"),
    [
        ("D205", "note", "data", "See to D205 before you choose: a column may give the label away, "),
        ("D206", "unknown", "data", "See to D206 before you choose: rows may belong together, "),
        ("D208", "warning", "data", "Choose no learner yet: some problem (D208), "),
        ("D209", "note", "data", "See to D209 before you choose: accuracy is almost perfect, "),
        ("L105", "warning", "bayes", "bayes is the most accurate, but see L105 first: rows: some problem."),
        ("L105", "warning", "nearest", "Use bayes."),
        ("D207", "note", "data", "Use bayes."),
    ],
)
def test_no_learner_is_recommended_beside_a_doubt_or_a_warning_against_it(bayes_and_nearest, code, level, of, first):
    sentences = verdict_of(bayes_and_nearest.parts, (finding(code, level, of),)).sentences
    assert sentences[0].startswith(first)
    assert ("Use bayes." in sentences) == (first == "Use bayes.")


def test_who_changes_least_is_said_only_if_intervals_are_apart(bayes_and_nearest):
    parts = bayes_and_nearest.parts
    assert "change least" in " ".join(verdict_of(parts, ()).sentences)
    same = dict.fromkeys(parts.learners, parts.learners["bayes"])
    assert "change when" in " ".join(verdict_of(replace(parts, learners=same), ()).sentences)


def test_nearest_neighbours_that_win_by_much_are_a_doubt(bayes_and_nearest):
    parts = bayes_and_nearest.parts
    bayes = parts.scored["bayes"]
    blocks = bayes.blocks + np.random.default_rng(0).normal(0.2, 0.1, bayes.blocks.size)
    near = replace(bayes, learner="nearest neighbours", blocks=blocks, estimate=Estimate(blocks.mean(), 0, 1))
    others = {"scored": parts.scored | {near.learner: near}, "contrast": frozenset([near.learner])}
    (tied,) = findings_of(replace(parts, **others), ["D206"])[0]
    assert (tied.level, tied.title[:26]) == ("unknown", "Nearest neighbours win by ")
    assert verdict_of(replace(parts, **others), (tied,)).sentences[0].startswith("See to D206 before you choose")


def test_equal_learners_are_taken_as_equal():
    X, y = gaussians(200, apart=2)
    assay, _ = found({"one": GaussianNB(), "two": GaussianNB()}, X, y)
    assert "nor with 50 times as many: take them as equal." in words(assay)


def test_no_learner_is_recommended_where_there_is_nothing_to_learn():
    X = table(400)
    y = np.where(np.random.default_rng(1).random(400) < 0.7, "yes", "no")
    assay, _ = found({"nearest": KNeighborsClassifier(), "always": DummyClassifier()}, X, y)
    assert words(assay).startswith("Use none of them as it is")


def test_one_learner_alone_has_its_figure_and_the_rows_of_its_fits():
    X, y = gaussians(200, apart=3)
    assay, _ = found({"bayes": GaussianNB()}, X, y, metric="neg_log_loss")
    assert words(assay).startswith("bayes reaches negative log loss −0.")
    assert "(fits on 160 rows)" in words(assay)
    assert assay.report.figure("bayes", "neg_log_loss").value < 0
    assert "metric='neg_log_loss'" in assay.report.settings["command"]


def test_of_default_learners_only_the_recommended_one_has_notes_and_warnings():
    X, y = gaussians(200, apart=2)
    assay = characterize(None, X, y, splits=4, repeats=1, retrains=0, n_probes=50, executor=1)
    assert {"boosting", "forest", "logistic regression", *CONTRAST} <= set(assay.learners)
    best = assay.report.verdict.learner
    assert best not in CONTRAST
    assert {each.of for each in assay.findings if each.level != "fine"} <= {best, "data"}
    fine = {each.code: each for each in assay.findings if each.level == "fine"}
    assert fine["L101"].of == best
    assert fine["L101"].sentence.startswith(best)


def test_rows_to_decide_by_the_usual_formula():
    # A difference of 1 with a standard error of 1 from 100 rows: (1.96 + 0.84)² times as many.
    assert rows_to_decide(Estimate(1.0, 1 - 1.959964, 1 + 1.959964), 100) == pytest.approx(785, abs=1)
    assert rows_to_decide(Estimate(0.0, -1, 1), 100) == np.inf
