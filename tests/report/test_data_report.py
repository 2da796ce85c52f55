"""The data page: geometry, a model's predictions against it, and the same from Python."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import classay
from classay import InputError
from classay.estimators.encoder import numbers_of_two
from classay.report.export.json_format import document, report_from


@pytest.fixture(scope="module")
def world():
    """Two parts of three clouds with a job in which a model errs, and five test rows far from everything."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    X = pd.DataFrame(rng.normal(size=(900, 3)) + 2 * np.eye(3)[y], columns=["u", "v", "w"])
    X["job"] = rng.choice(["clerk", "nurse", "pilot"], 900)
    X.iloc[895:, :3] += 30
    labels = np.array(["a", "b", "c"])[y]
    wrong = rng.random(300) < np.where(X["job"][600:] == "pilot", 0.6, 0.02)
    predicted = np.where(wrong, np.roll(["a", "b", "c"], -1)[y[600:]], labels[600:])
    sure = rng.uniform(0.6, 0.9, 300)
    shares = np.repeat((1 - sure)[:, None] / 2, 3, axis=1)
    shares[np.arange(300), np.searchsorted(["a", "b", "c"], predicted)] = sure
    return X[:600], labels[:600], X[600:], labels[600:], predicted, shares


@pytest.fixture(scope="module")
def made(world):
    X, y, X_test, y_test, predicted, shares = world
    return classay.data_report(
        X, y, X_test=X_test, y_test=y_test, predictions=predicted, probabilities=shares, distance="gaussian"
    )


def test_every_part_is_what_its_function_gives(world, made):
    X, y, X_test, y_test, predicted, shares = world
    rows, others = numbers_of_two(X, X_test.reset_index(drop=True))
    c = classay.complexity(rows, y, "gaussian", others, y_test)
    np.testing.assert_allclose(made.parts.complexity.values, c.values)
    assert made.parts.check.versus.to_dict() == c.versus(predicted).to_dict()
    against = c.against(predicted != y_test, shares.max(axis=1))
    assert made.parts.check.against.to_dict() == against.to_dict()
    unlike = classay.complexity(rows, y, "gaussian").unlike_known(others)
    assert made.parts.unlike.flagged.tolist() == unlike.flagged.tolist()
    assert made.parts.labels.listed.tolist() == c.wrong_labels(shares).listed.tolist()
    assert made.report.figure("the model", "accuracy").value == pytest.approx((predicted == y_test).mean())
    assert made.report.figure("the model", "baseline_gain") == made.parts.check.versus.difference["accuracy"]
    assert made.report.figure("data", "unlike_share").value == pytest.approx(unlike.share.value)


def test_the_page_has_words_first_and_a_section_for_each_question(made):
    keys = [section.key for section in made.report.sections]
    assert keys == ["geometry", "complexity_errors", "unlike", "slices", "labels", "data", "reading", "methods"]
    verdict = " ".join(made.report.verdict.sentences)
    for words in ("the geometry", "job = pilot", "labels are wrong", "the test rows are"):
        assert words in verdict
    sections = {section.key: section for section in made.report.sections}
    for key in ("geometry", "complexity_errors", "unlike", "slices"):
        assert sections[key].pictures
        assert sections[key].sheets
    by_column = next(sheet for sheet in sections["slices"].sheets if sheet.key.startswith("slices_by_column"))
    assert {"complexity", "confidence", "job", "u"} <= {row[0] for row in by_column.rows}
    unusual = {row[0] for row in sections["unlike"].sheets[0].rows}
    assert {295, 296, 297, 298, 299} <= unusual
    assert "job = pilot" in {row[0] for row in sections["slices"].sheets[0].rows}
    inside = sections["slices"].sheets[0].details[0]
    assert inside.rows[0][1] != inside.rows[0][2]  # errors first


def test_little_is_shown_before_anything_is_opened(made, tmp_path):
    text = made.save(tmp_path / "page.html").read_text(encoding="utf-8")
    visible = re.sub(
        r"(?s)<(script|style|template)\b.*?</\1>|<div popover.*?</div>|<tr class=\"opens\">.*?</tr>", " ", text
    )
    visible = re.sub(r"(?s)<details(?! [^>]*open)[^>]*><summary>(.*?)</summary>.*?</details>", r"\1", visible)
    words = re.sub(r"<[^>]+>", " ", visible).split()
    assert 300 < len(words) <= 2500
    assert words.index("Verdict") < words.index("Findings")


def test_it_is_saved_and_opened_again(made, tmp_path):
    for name in ("data.html", "data.json"):
        assert classay.load(made.save(tmp_path / name)).to_dict() == made.report.to_dict()
    assert report_from(document(made.report)).title == made.report.title
    assert "D205" in made.save(tmp_path / "card.md").read_text()
    assert str(made).startswith("data: data and model measured.")


def test_without_a_model_it_is_about_the_rows_alone(world):
    X, y, *_ = world
    made = classay.data_report(X, y, checks=False)
    shown = [section.key for section in made.report.sections if not section.is_empty]
    assert shown == ["labels", "data", "reading", "methods"]
    assert "what a model must beat" in " ".join(made.report.verdict.sentences)
    assert made.findings == ()
    assert made.report.learners == ()


@pytest.mark.slow
def test_a_learner_is_fitted_for_the_test_rows_or_cross_validated(world):
    X, y, X_test, y_test, *_ = world
    fitted = classay.data_report(X, y, X_test=X_test, y_test=y_test, learner=GaussianNB(), checks=False)
    crossed = classay.data_report(X, y, learner=GaussianNB(), checks=False)
    assert fitted.parts.check.versus.rows == 300
    assert crossed.parts.check.versus.rows == 600
    assert fitted.parts.check.name == "GaussianNB"
    # Probabilities are those of the model, not shares made of its decision function.
    model = classay.data_report(
        X[["u", "v", "w"]][y != "c"], y[y != "c"], learner=LogisticRegression(), checks=False
    ).parts.check.predictions
    distance = np.log(model.probabilities[:, 1] / model.probabilities[:, 0])
    direct = (
        LogisticRegression()
        .fit(X[["u", "v", "w"]][y != "c"], y[y != "c"])
        .decision_function(X[["u", "v", "w"]][y != "c"])
    )
    assert np.polyfit(direct, distance, 1)[0] == pytest.approx(1, abs=0.1)


@pytest.mark.slow
def test_a_leak_stands_first_in_the_verdict(world):
    X, y, X_test, y_test, predicted, _ = world
    made = classay.data_report(
        X.assign(code=y), y, X_test=X_test.assign(code=y_test), y_test=y_test, predictions=predicted
    )
    assert "D205" in made.report.verdict.sentences[0]
    assert [each.code for each in made.report.warnings] == ["D205"]


def test_texts_are_measured_by_their_vectors(monkeypatch):
    from classay.data import text

    monkeypatch.setattr(
        text,
        "_load_model",
        lambda name: lambda texts: np.array([[len(each), each.count("a")] for each in texts], float),
    )
    rng = np.random.default_rng(0)
    y = np.repeat(["long", "short"], 60)
    texts = ["ba" * int(rng.integers(8, 12) if each == "long" else rng.integers(1, 5)) for each in y]
    made = classay.data_report(texts, y, checks=False)
    hardest = next(sheet for sheet in made.report.sheets() if sheet.key == "hardest")
    assert hardest.columns[-1] == "text"
    assert hardest.rows[0][-1] in texts


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"predictions": ["a"] * 299}, "299"),
        ({"predictions": ["a"] * 299 + ["z"]}, "1 prediction of 300 is not a class of the data: z"),
        ({"probabilities": np.ones((300, 2)) / 2}, "300 x 2; expected 300 rows x 3 classes"),
        ({"probabilities": np.ones((300, 3))}, "do not add up to 1"),
        ({"probabilities": np.full((300, 3), np.nan)}, "missing in 300 rows"),
        ({"predictions": ["a"] * 300, "confidence": [np.nan] * 300}, "confidence must be a finite number"),
        ({"predictions": ["a"] * 300, "learner": GaussianNB()}, "both given"),
        ({"text": "job2"}, "no column 'job2'. Did you mean"),
        ({"most": 0}, "most"),
    ],
)
def test_mistakes_are_named(world, given, words):
    X, y, X_test, y_test, *_ = world
    with pytest.raises(InputError, match=words):
        classay.data_report(X, y, X_test=X_test, y_test=y_test, checks=False, **given)


def test_test_rows_have_the_same_columns_and_labels(world):
    X, y, X_test, y_test, *_ = world
    with pytest.raises(InputError, match="does not have the columns job of `X`"):
        classay.data_report(X, y, X_test=X_test.drop(columns="job"), y_test=y_test)
    with pytest.raises(InputError, match="belong together"):
        classay.data_report(X, y, X_test=X_test)


def test_a_class_is_not_taken_for_another_whose_name_begins_with_its_name():
    """A model that never predicts `none` is wrong on its rows, although `none` begins with `no`."""
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "none"], 100)
    X = pd.DataFrame({"u": rng.normal(size=200) + 3 * (y == "none"), "v": rng.normal(size=200)})
    made = classay.data_report(X, y, predictions=["no"] * 200, checks=False)
    assert made.report.figure("the model", "accuracy").value == pytest.approx(0.5)
    assert made.parts.check.against.errors == 100


def test_columns_named_complexity_and_confidence_keep_their_names():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 300)
    X = pd.DataFrame({"complexity": rng.normal(size=300) + 2 * (y == "b"), "confidence": rng.normal(size=300)})
    predicted = np.where(rng.random(300) < 0.3, "a", y)
    check = classay.data_report(X, y, predictions=predicted, confidence=rng.random(300), checks=False).parts.check
    assert check.added == ("complexity (classay)", "confidence (classay)")
    np.testing.assert_allclose(check.searched["complexity"], X["complexity"])


@pytest.mark.slow
def test_slices_of_complexity_do_not_push_out_those_of_the_columns():
    """Complexity knows the label, so its slices are the clearest: they are a list of their own."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2000)
    X = pd.DataFrame({"a": rng.normal(size=2000) + 2 * y, "b": rng.random(2000)})
    near = X["a"].to_numpy() > 1
    predicted = np.where((X["b"] > 0.8) & (rng.random(2000) < 0.4), 1 - near, near).astype(int)
    check = classay.data_report(X, y, predictions=predicted, checks=False).parts.check
    assert {part.feature for each in check.slices.slices for part in each.conditions} <= {"a", "b"}
    assert any("b" in each.features for each in check.slices.slices)
    assert any("complexity" in each.features for each in check.known_slices.slices)
