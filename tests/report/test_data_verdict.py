"""The words of the data page say no more than the results do."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import classay
from classay import InputError
from classay.report.document.slices_section import concentrated


def clouds(rows, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    X = pd.DataFrame(rng.normal(size=(rows, 2)) + 3 * y[:, None], columns=["u", "v"])
    return X, np.array(["a", "b"])[y]


def section(made, key):
    return next(each for each in made.report.sections if each.key == key)


@pytest.mark.parametrize("case", ["groups", "few known rows"])
def test_unknown_is_not_called_like_the_training_rows(case):
    known = 12 if case == "few known rows" else 200
    X, y = clouds(known)
    X_test, y_test = clouds(60, 1)
    groups = np.arange(known + 60) // 4 if case == "groups" else None
    made = classay.data_report(X, y, X_test=X_test, y_test=y_test, groups=groups, checks=False)
    verdict = " ".join(made.report.verdict.sentences)
    assert "like the training rows" not in verdict
    assert str(made.parts.unlike) in verdict
    assert section(made, "unlike").lead == str(made.parts.unlike)


def test_rows_of_the_same_kind_are_not_shown_to_be_unlike():
    X, y = clouds(200)
    made = classay.data_report(X, y, X_test=clouds(60, 1)[0], y_test=clouds(60, 1)[1], checks=False)
    assert "are not shown to be unlike the training rows" in made.report.verdict.sentences[-1]
    far = classay.data_report(X, y, X_test=clouds(60, 1)[0] + 50, y_test=clouds(60, 1)[1], checks=False)
    assert "are unlike the training rows" in far.report.verdict.sentences[-1]


def test_groups_in_both_parts_are_said_or_refused():
    X, y = clouds(120)
    X_test, y_test = clouds(40, 1)
    groups = np.append(np.arange(120) // 4, np.arange(40) // 4)
    given = {"X_test": X_test, "y_test": y_test, "groups": groups, "checks": False}
    with pytest.raises(InputError, match="10 groups of `groups` have rows in `X` and in `X_test`"):
        classay.data_report(X, y, learner=GaussianNB(), **given)
    made = classay.data_report(X, y, predictions=y_test, **given)
    assert "10 groups are in both parts; the model may have seen them." in made.report.about["notes"]
    apart = classay.data_report(X, y, **{**given, "groups": np.arange(160) // 4})
    assert not any("in both parts" in note for note in apart.report.about["notes"])


def test_confidence_is_that_of_the_prediction():
    X, y = clouds(60)
    shares = np.tile([0.7, 0.3], (60, 1))
    check = classay.data_report(X, y, predictions=y, probabilities=shares, checks=False).parts.check
    np.testing.assert_allclose(check.predictions.confidence, np.where(y == "a", 0.7, 0.3))
    new = np.where(np.arange(60) < 5, "c", y)
    made = classay.data_report(
        X, y, X_test=X, y_test=new, predictions=new, probabilities=shares, checks=False, groups=None
    )
    np.testing.assert_allclose(made.parts.check.predictions.confidence[:5], 0)


@pytest.mark.slow
def test_whose_errors_labels_explain_is_said():
    X, y = clouds(400)
    rng = np.random.default_rng(2)
    flipped = np.where(rng.random(400) < 0.1, np.where(y == "a", "b", "a"), y)
    alone = classay.data_report(X, flipped, predictions=["a"] * 400, checks=False)
    assert "of the nearest class's errors" in " ".join(alone.report.verdict.sentences)
    sure = np.where(y[:, None] == ["a", "b"], 0.95, 0.05)
    other = classay.data_report(X, flipped, predictions=["a"] * 400, probabilities=sure, checks=False)
    assert "of the errors of the largest probability" in " ".join(other.report.verdict.sentences)
    same = classay.data_report(X, flipped, probabilities=sure, checks=False)
    assert "of the errors of the model" in " ".join(same.report.verdict.sentences)


@pytest.mark.slow
def test_the_call_that_is_named_makes_the_page():
    X, y = clouds(120)
    groups = np.arange(120) // 2
    fitted = classay.data_report(X, y, learner=GaussianNB(), groups=groups, checks=False)
    call = fitted.report.settings["command"]
    assert "learner=GaussianNB()" in call
    assert "groups=groups" in call
    assert "checks=False" in call
    assert "predictions" not in call
    again = eval(call, {"classay": classay, "X": X, "y": y, "GaussianNB": GaussianNB, "groups": groups})
    assert again.report.to_dict()["figures"] == fitted.report.to_dict()["figures"]
    sure = np.linspace(0.5, 1, 120)
    given = classay.data_report(X, y, predictions=y, confidence=sure, checks=False).report.settings["command"]
    assert "predictions=predictions, confidence=confidence" in given
    shares = np.where(y[:, None] == ["a", "b"], 0.9, 0.1)
    given = classay.data_report(X, y, probabilities=shares, checks=False)
    assert "probabilities=probabilities" in given.report.settings["command"]
    assert "predictions=" not in given.report.settings["command"]
    assert "`checks=True`, --checks" in given.report.unasked[0].why


def test_slices_that_were_not_searched_are_named_in_the_verdict(monkeypatch):
    def refuse(*given, **options):
        raise InputError("`X` has a column of lists.")

    monkeypatch.setattr("classay.report.model_check.slices", refuse)
    X, y = clouds(60)
    made = classay.data_report(X, y, predictions=["a"] * 60, checks=False)
    assert "Slices were not searched: `X` has a column of lists." in made.report.verdict.sentences


def test_one_row_is_not_called_rows():
    X, y = clouds(60)
    made = classay.data_report(X, y, X_test=X[:1], y_test=y[:1], predictions=y[:1], checks=False)
    leads = [section(made, key).lead for key in ("geometry", "data")]
    words = " ".join([made.report.verdict.sentences[0], *leads])
    assert "of 1 row " in words
    assert "1 rows" not in words


def test_missing_values_of_test_rows_are_counted():
    X, y = clouds(60)
    X_test = X[:20].copy()
    X_test.iloc[:3, 0] = np.nan
    made = classay.data_report(X, y, X_test=X_test, y_test=y[:20], checks=False)
    assert any(note.startswith("3 of 80 rows have missing values") for note in made.report.about["notes"])


@pytest.mark.slow
def test_scores_are_a_confidence_but_no_probabilities():
    X, y = clouds(120)
    for X_test, y_test in ((None, None), (X, y)):
        made = classay.data_report(X, y, X_test=X_test, y_test=y_test, learner=LinearSVC(), checks=False)
        assert made.parts.check.predictions.probabilities is None
        assert made.parts.check.predictions.confidence is not None


@pytest.mark.slow
def test_the_words_do_not_say_more_than_is_known():
    X, y = clouds(400)
    made = classay.data_report(X, y, predictions=np.roll(y, 1), probabilities=None, checks=False)
    assert "these rows are hard, and their label is not suspected." in " ".join(s.note for s in made.report.sheets())
    made = classay.data_report(X, y, predictions=np.where(np.arange(400) % 7, y, "a"), checks=False)
    check = made.parts.check
    none = replace(check, slices=SimpleNamespace(slices=()), known_slices=None)
    assert concentrated(none) == "No slice is shown to have more errors than the rest."


def test_the_card_has_the_verdict_and_the_figures_of_the_model(tmp_path):
    X, y = clouds(60)
    made = classay.data_report(X, y, predictions=["a"] * 60, model="my *model* <b>", checks=False)
    text = made.save(tmp_path / "data.md").read_text(encoding="utf-8")
    assert "### Verdict" in text
    assert r"my \*model\* &lt;b&gt; is below the geometry" in text
    assert "| balanced accuracy |" in text


def test_overlap_leaves_open_whether_labels_limit_the_accuracy():
    """The verdict said that labels do not limit it where many rows look more like another class."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=800)
    X = pd.DataFrame(rng.normal(size=(800, 2)) + 0.8 * y[:, None], columns=["a", "b"])
    report = classay.data_report(X, y, learner=GaussianNB(), checks=False)
    assert report.parts.labels.unclear
    said = " ".join(report.report.verdict.sentences)
    assert "whether labels wrong towards a similar class limit the accuracy is unknown" in said
    assert "Labels are not what limits" not in said
