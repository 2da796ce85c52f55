"""Reports on rows and on predictions that were given: the geometry, a model against it, and words that say no more."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sample import page_of_rows, visible_words
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import classay
from classay import InputError
from classay.estimators.encoder import numbers_of_two
from classay.report.document.slices_section import concentrated
from classay.report.export.json_format import document, report_from
from classay.report.run.measures import confidence_of


def check_of(made):
    """The only model against the geometry."""
    (check,) = made.parts.checks.values()
    return check


def predicted_by(made):
    """What the only model predicts."""
    (held,) = made.parts.predicted.values()
    return held


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
    return page_of_rows(
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        predictions=predicted,
        probabilities=shares,
        complexity={"distance": "gaussian"},
    )


def test_every_part_is_what_its_function_gives(world, made):
    X, y, X_test, y_test, predicted, shares = world
    rows, others = numbers_of_two(X, X_test.reset_index(drop=True))
    c = classay.complexity(rows, y, "gaussian", others, y_test)
    np.testing.assert_allclose(made.parts.complexity.values, c.values)
    assert check_of(made).versus.to_dict() == c.versus(predicted).to_dict()
    against = c.against(predicted != y_test, shares.max(axis=1))
    assert check_of(made).against.to_dict() == against.to_dict()
    unlike = classay.complexity(rows, y, "gaussian").unlike_known(others)
    assert made.parts.unlike.flagged.tolist() == unlike.flagged.tolist()
    assert made.parts.labels.listed.tolist() == c.wrong_labels(shares).listed.tolist()
    assert made.report.figure("the model", "accuracy").value == pytest.approx((predicted == y_test).mean())
    assert made.report.figure("the model", "baseline_gain") == check_of(made).versus.difference["accuracy"]
    assert made.report.figure("data", "unlike_share").value == pytest.approx(unlike.share.value)


def test_the_page_has_words_first_and_a_section_for_each_question(made):
    shown = [section.key for section in made.report.sections if not section.is_empty]
    assert shown == ["learners", "data", "geometry", "complexity_errors", "slices", "unlike", "reading", "methods"]
    verdict = " ".join(made.report.verdict.sentences)
    for words in ("the geometry", "job = pilot", "wrong labels", "the test rows are"):
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
    words = visible_words(text)
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
    made = page_of_rows(X, y, checks=False)
    shown = [section.key for section in made.report.sections if not section.is_empty]
    assert shown == ["data", "reading", "methods"]
    assert "what a model must beat" in " ".join(made.report.verdict.sentences)
    assert {each.code for each in made.findings} == {"D202", "D203"}
    assert next(each.why for each in made.report.unasked if each.code == "D205").startswith("it was not asked for")
    assert made.report.learners == ()


@pytest.mark.slow
def test_a_learner_is_fitted_for_the_test_rows_or_cross_validated(world):
    X, y, X_test, y_test, *_ = world
    fitted = page_of_rows(X, y, X_test=X_test, y_test=y_test, learner=GaussianNB(), checks=False)
    crossed = page_of_rows(X, y, learner=GaussianNB(), checks=False)
    assert check_of(fitted).versus.rows == 300
    assert check_of(crossed).versus.rows == 600
    assert check_of(fitted).name == "GaussianNB"
    # Probabilities are those of the model, not shares made of its decision function.
    two = X[["u", "v", "w"]][y != "c"], y[y != "c"]
    model = predicted_by(page_of_rows(*two, learner=LogisticRegression(), checks=False))
    distance = np.log(model.probabilities[:, 1] / model.probabilities[:, 0])
    direct = LogisticRegression().fit(*two).decision_function(two[0])
    assert np.polyfit(direct, distance, 1)[0] == pytest.approx(1, abs=0.1)


@pytest.mark.slow
def test_a_leak_stands_first_in_the_verdict(world):
    X, y, X_test, y_test, predicted, _ = world
    made = page_of_rows(X.assign(code=y), y, X_test=X_test.assign(code=y_test), y_test=y_test, predictions=predicted)
    assert "D205" in made.report.verdict.sentences[0]
    assert "D205" in {each.code for each in made.report.warnings}


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
    made = page_of_rows(texts, y, checks=False)
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
        ({"checks": "no"}, "`checks` is 'no'; expected True or False"),
    ],
)
def test_mistakes_are_named(world, given, words):
    X, y, X_test, y_test, *_ = world
    with pytest.raises(InputError, match=words):
        page_of_rows(X, y, X_test=X_test, y_test=y_test, **{"checks": False, **given})


def test_test_rows_have_the_same_columns_and_labels(world):
    X, y, X_test, y_test, *_ = world
    with pytest.raises(InputError, match="other columns than the first rows: missing job"):
        page_of_rows(X, y, X_test=X_test.drop(columns="job"), y_test=y_test)
    with pytest.raises(InputError, match="belong together"):
        page_of_rows(X, y, X_test=X_test)


def test_a_class_is_not_taken_for_another_whose_name_begins_with_its_name():
    """A model that never predicts `none` is wrong on its rows, although `none` begins with `no`."""
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "none"], 100)
    X = pd.DataFrame({"u": rng.normal(size=200) + 3 * (y == "none"), "v": rng.normal(size=200)})
    made = page_of_rows(X, y, predictions=["no"] * 200, checks=False)
    assert made.report.figure("the model", "accuracy").value == pytest.approx(0.5)
    assert check_of(made).against.errors == 100


def test_columns_named_complexity_and_confidence_keep_their_names():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 300)
    X = pd.DataFrame({"complexity": rng.normal(size=300) + 2 * (y == "b"), "confidence": rng.normal(size=300)})
    predicted = np.where(rng.random(300) < 0.3, "a", y)
    check = check_of(page_of_rows(X, y, predictions=predicted, confidence=rng.random(300), checks=False))
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
    made = page_of_rows(X, y, predictions=predicted, checks=False)
    found = made.parts.slices["the model"].slices
    assert {part.feature for each in found for part in each.conditions} <= {"a", "b"}
    assert any("b" in each.features for each in found)
    assert any("complexity" in each.features for each in check_of(made).known_slices.slices)


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
    made = page_of_rows(X, y, X_test=X_test, y_test=y_test, groups=groups, checks=False)
    verdict = " ".join(made.report.verdict.sentences)
    assert "like the training rows" not in verdict
    assert str(made.parts.unlike) in verdict
    assert section(made, "unlike").lead == str(made.parts.unlike)


def test_rows_of_the_same_kind_are_not_shown_to_be_unlike():
    X, y = clouds(200)
    made = page_of_rows(X, y, X_test=clouds(60, 1)[0], y_test=clouds(60, 1)[1], checks=False)
    assert "are not shown to be unlike the training rows" in made.report.verdict.sentences[-1]
    far = page_of_rows(X, y, X_test=clouds(60, 1)[0] + 50, y_test=clouds(60, 1)[1], checks=False)
    assert "are unlike the training rows" in far.report.verdict.sentences[-1]


def test_groups_in_both_parts_are_said_or_refused():
    X, y = clouds(120)
    X_test, y_test = clouds(40, 1)
    groups = np.append(np.arange(120) // 4, np.arange(40) // 4)
    given = {"X_test": X_test, "y_test": y_test, "groups": groups, "checks": False}
    with pytest.raises(InputError, match="10 groups of `groups` have rows in `X` and in `X_test`"):
        page_of_rows(X, y, learner=GaussianNB(), **given)
    made = page_of_rows(X, y, predictions=y_test, **given)
    assert "10 groups are in both parts; the model may have seen them." in made.report.about["notes"]
    apart = page_of_rows(X, y, **{**given, "groups": np.arange(160) // 4})
    assert not any("in both parts" in note for note in apart.report.about["notes"])


def test_confidence_is_that_of_the_prediction():
    X, y = clouds(60)
    shares = np.tile([0.7, 0.3], (60, 1))
    made = page_of_rows(X, y, predictions=y, probabilities=shares, checks=False)
    np.testing.assert_allclose(confidence_of(predicted_by(made)), np.where(y == "a", 0.7, 0.3))
    new = np.where(np.arange(60) < 5, "c", y)
    made = page_of_rows(X, y, X_test=X, y_test=new, predictions=new, probabilities=shares, checks=False, groups=None)
    np.testing.assert_allclose(confidence_of(predicted_by(made))[:5], 0)


@pytest.mark.slow
def test_whose_errors_labels_explain_is_said():
    X, y = clouds(400)
    rng = np.random.default_rng(2)
    flipped = np.where(rng.random(400) < 0.1, np.where(y == "a", "b", "a"), y)
    alone = page_of_rows(X, flipped, predictions=["a"] * 400, checks=False)
    assert "of the nearest class's errors" in " ".join(alone.report.verdict.sentences)
    sure = np.where(y[:, None] == ["a", "b"], 0.95, 0.05)
    other = page_of_rows(X, flipped, predictions=["a"] * 400, probabilities=sure, checks=False)
    assert "of the errors of the largest probability" in " ".join(other.report.verdict.sentences)
    same = page_of_rows(X, flipped, probabilities=sure, checks=False)
    assert "of the errors of the model" in " ".join(same.report.verdict.sentences)


def test_slices_that_were_not_searched_are_named_in_the_verdict(monkeypatch):
    def refuse(*given, **options):
        raise InputError("`X` has a column of lists.")

    monkeypatch.setattr("classay.report.run.measures.slices", refuse)
    X, y = clouds(60)
    made = page_of_rows(X, y, predictions=["a"] * 60, checks=False)
    assert "Slices were not searched: `X` has a column of lists." in made.report.verdict.sentences


def test_one_row_is_not_called_rows():
    X, y = clouds(60)
    made = page_of_rows(X, y, X_test=X[:1], y_test=y[:1], predictions=y[:1], checks=False)
    leads = [section(made, "geometry").lead, section(made, "data").lead.partition("Taking")[0]]
    words = " ".join([made.report.verdict.sentences[0], *leads])
    assert "of 1 row " in words
    assert "1 rows" not in words


def test_missing_values_of_test_rows_are_counted():
    X, y = clouds(60)
    X_test = X[:20].copy()
    X_test.iloc[:3, 0] = np.nan
    made = page_of_rows(X, y, X_test=X_test, y_test=y[:20], checks=False)
    assert any(note.startswith("3 of 80 rows have missing values") for note in made.report.about["notes"])


@pytest.mark.slow
def test_scores_are_a_confidence_but_no_probabilities():
    X, y = clouds(120)
    for X_test, y_test in ((None, None), (X, y)):
        made = page_of_rows(X, y, X_test=X_test, y_test=y_test, learner=LinearSVC(), checks=False)
        assert predicted_by(made).probabilities is None
        assert confidence_of(predicted_by(made)) is not None


@pytest.mark.slow
def test_the_words_do_not_say_more_than_is_known():
    X, y = clouds(400)
    made = page_of_rows(X, y, predictions=np.roll(y, 1), probabilities=None, checks=False)
    assert "these rows are hard, and their label is not suspected." in " ".join(s.note for s in made.report.sheets())
    made = page_of_rows(X, y, predictions=np.where(np.arange(400) % 7, y, "a"), checks=False)
    none = replace(check_of(made), known_slices=None)
    assert concentrated(SimpleNamespace(slices=()), none) == "No slice is shown to have more errors than the rest."


def test_the_card_has_the_verdict_and_the_figures_of_the_model(tmp_path):
    X, y = clouds(60)
    made = page_of_rows(X, y, predictions=["a"] * 60, model="my *model* <b>", checks=False)
    text = made.save(tmp_path / "data.md").read_text(encoding="utf-8")
    assert "### Verdict" in text
    assert r"my \*model\* &lt;b&gt; is below the geometry" in text
    assert "| balanced accuracy |" in text


def test_overlap_leaves_open_whether_labels_limit_the_accuracy():
    """The verdict said that labels do not limit it where many rows look more like another class."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=800)
    X = pd.DataFrame(rng.normal(size=(800, 2)) + 0.8 * y[:, None], columns=["a", "b"])
    report = page_of_rows(X, y, learner=GaussianNB(), checks=False)
    assert report.parts.labels.unclear
    said = " ".join(report.report.verdict.sentences)
    assert "Whether wrong labels limit the accuracy is unknown" in said
    assert "Labels are not what limits" not in said


@pytest.mark.parametrize("kinds", [(float, int), (int, float), (float, str), (str, int)])
def test_whole_numbers_are_the_same_class_in_any_spelling(kinds):
    X, y = clouds(60)
    labels, predictions = ((y == "b").astype(int).astype(kind) for kind in kinds)
    made = page_of_rows(X, labels, predictions=predictions, checks=False)
    assert made.report.figure("the model", "accuracy").value == pytest.approx(1)


def test_records_of_other_rows_are_refused():
    X, y = clouds(60)
    other = classay.Labelings.from_arrays([y[::-1]], y[::-1])
    with pytest.raises(InputError, match="is about rows with other labels: its row 0 has b, the data a"):
        classay.characterize(other, X, y)
    with pytest.raises(InputError, match="predicts row 59, but there are 40 rows"):
        classay.characterize(classay.Labelings.from_arrays([y], y), X[:40], y[:40])
    refits = classay.Labelings.from_arrays([y[::-1]] * 4, y[::-1])
    with pytest.raises(InputError, match="is about rows with other labels"):
        classay.characterize(refits, X, y)
    numbers = classay.Predictions.from_arrays([np.arange(60.0)] * 4, np.arange(60.0))
    for learners in (numbers, {"numbers": numbers}):
        with pytest.raises(InputError, match="record of a regressor"):
            classay.characterize(learners, X, y)
    with pytest.raises(InputError, match="no learners, records or rows"):
        classay.characterize([])


def test_numbers_and_texts_are_the_same_classes_in_any_order():
    X, y = clouds(60)
    labels = np.where(y == "b", 2, 10)  # as texts, 10 comes first
    guess = np.roll(labels, 1)
    scores = np.stack([guess == 10, guess == 2], axis=1)[None].astype(float)
    record = classay.Labelings.from_arrays([guess.astype(str)], labels.astype(str), name="guess", scores=scores)
    made = classay.characterize(record, X, labels, checks=False)
    assert made.report.figure("guess", "accuracy").value == pytest.approx((guess == labels).mean())
    held = predicted_by(made)
    assert (held.classes[held.probabilities.argmax(axis=1)] == guess).all()


def test_rows_of_a_record_are_those_that_it_was_recorded_with():
    X, y = clouds(120)
    time = np.arange(120)
    late = classay.record(GaussianNB(), X, y, classay.Folds(3), time=time, executor=1)
    assert classay.characterize(late).report.figure("GaussianNB", "accuracy").value == late.accuracy().value
    parts = {"X_test": X[:30], "y_test": y[:30]}
    again = classay.record(GaussianNB(), X, y, classay.Subsets(8), 2, executor=1, **parts)
    made = classay.characterize(again, X, y, **parts, checks=False)
    assert made.report.figure("GaussianNB", "stability") == classay.stability(again).stability
    assert made.parts.learners["GaussianNB"].points.equals(X[:30])


def test_refits_are_searched_for_regions_of_the_rows_that_were_given():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"place": rng.uniform(size=600), "noise": rng.normal(size=600)})
    y = rng.integers(2, size=600)
    flipped = (rng.random((20, 600)) < 0.5) & (X["place"] > 0.7).to_numpy()
    refits = classay.Labelings.from_arrays(np.where(flipped, 1 - y, y), y, name="fickle")
    made = classay.characterize(refits, X, y, checks=False)
    (region, *_) = made.parts.learners["fickle"].regions.regions
    assert region.features == ("place",)
    assert "where" in {picture.key for section in made.report.sections for picture in section.pictures}
    alone = classay.characterize(refits).parts.learners["fickle"]
    assert alone.why["regions"] == "only predictions were given, not the rows"


@pytest.mark.slow
def test_records_of_any_kind_stand_side_by_side():
    """Folds, refits and predictions of another system, in one report with what each allows."""
    X, y = clouds(120)
    folds = classay.record(GaussianNB(), X, y, classay.Folds(5), executor=1)
    guess = classay.Labelings.from_arrays([np.roll(y, 1)], y, name="guess")
    halves = classay.record(GaussianNB(), X, y, classay.HalfSplits(4), 2, executor=1)
    made = classay.characterize({"bayes": folds, "guess": guess, "again": halves}, X, y, checks=False)
    kind = made.report.figure("bayes", "accuracy").kind
    assert made.report.figure("bayes", "accuracy") == replace(folds.accuracy(), kind=kind)
    assert made.report.figure("guess", "accuracy").value == pytest.approx((np.roll(y, 1) == y).mean())
    assert made.report.figure("again", "stability") == classay.stability(halves).stability
    findings = {(each.code, each.of): each.level for each in made.findings}
    assert findings["L101", "guess"] == "warning"
    alone = classay.characterize({"bayes": folds, "guess": guess})
    assert alone.report.figure("bayes", "accuracy") == replace(folds.accuracy(), kind=kind)
    assert alone.report.verdict.learner == "bayes"


@pytest.fixture(scope="module")
def recorded():
    """Two clouds that overlap, and records of two learners on them: refits, and folds."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame(rng.normal(size=(200, 2)) + y[:, None], columns=["u", "v"])
    learners = {"bayes": GaussianNB(), "linear": LogisticRegression()}
    refits, folds = (
        {name: classay.record(learner, X, y, scheme, name=name, executor=1) for name, learner in learners.items()}
        for scheme in (classay.Subsets(8, size=0.3), classay.Folds(5))
    )
    return X, y, refits, folds


@pytest.mark.parametrize("with_rows", [False, True])
def test_a_record_of_refits_is_in_the_verdict(recorded, with_rows):
    X, y, refits, _ = recorded
    made = classay.characterize(refits["bayes"], *((X, y) if with_rows else ()))
    verdict = " ".join(made.report.verdict.sentences)
    reached = made.report.figure("bayes", "refit_accuracy")
    assert f"Refits of bayes reach accuracy {reached.value:.3f}" in verdict
    assert "recommended" not in verdict
    overview = next(sheet for sheet in made.report.sheets() if sheet.key == "overview")
    assert "refit_accuracy" in overview.columns
    assert "accuracy" not in overview.columns  # no row has a prediction of its own
    assert "halves" not in overview.note


def test_several_records_are_counted_and_compared(recorded):
    X, y, _, folds = recorded
    made = classay.characterize(folds, X, y)
    assert made.report.title.endswith("data and 2 models measured")
    assert "No other model is right more often." in made.report.verdict.sentences


def test_only_known_metrics_are_columns_and_a_finding_on_one_model_names_it(recorded):
    X, y, _, folds = recorded
    predicted, truth = folds["bayes"].out_of_fold().labels, np.asarray(y)
    guess = np.where(np.random.default_rng(0).random(200) < 0.02, 1 - predicted, predicted)
    made = classay.characterize(classay.Labelings.from_arrays([guess], truth, name="mine"), X, y)
    overview = next(sheet for sheet in made.report.sheets() if sheet.key == "overview")
    assert "roc_auc" not in overview.columns  # there are no scores
    assert {each.of for each in made.findings if each.code == "L101"} == {"all learners"}
