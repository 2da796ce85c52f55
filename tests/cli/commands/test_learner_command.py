"""`classay learner` as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import classay as library
from classay.estimators.spec import learners_from_texts
from classay.tables.read import read_table

QUICK = ["--samples", "8", "--repeats", "2", "--holdouts", "10", "--workers", "1", "--quiet"]
HALVES = ["--scheme", "halves", "--samples", "8", "--n-probes", "300", "--workers", "1"]
RETRAIN = ["--scheme", "retrain", "--samples", "4", "--workers", "1"]
NB = ["-l", "GaussianNB"]
TWO = [*NB, "-l", "DecisionTreeClassifier"]


@pytest.fixture
def spam(tmp_path):
    path = tmp_path / "spam.csv"
    rows = ["words,caps,type"] + [f"{i % 7},{(i * i) % 11},{'spam' if i % 3 == 0 else 'ham'}" for i in range(90)]
    path.write_text("\n".join(rows))
    return path


@pytest.mark.slow
def test_conclusions_come_first_and_charts_are_saved(shown, tmp_path):
    folder = tmp_path / "new" / "charts"
    out = shown("learner", "breast_cancer", *TWO, *QUICK, "--charts", folder)
    assert out.index("GaussianNB is right on") < out.index("DecisionTreeClassifier is right on")
    assert out.index("DecisionTreeClassifier is right on") < out.index("Predictions of 2 learners")
    assert "bias at 4 of 5" in out
    saved = {path.name for path in folder.iterdir()}
    assert {"bias.svg", "bias.png", "expressivity.svg", "plane.svg", "kinship.svg", "kinship_map.svg"} <= saved
    assert all(path.stat().st_size > 1000 for path in folder.iterdir())


@pytest.mark.slow
def test_many_classes_are_counted_on_fewer_points(measured):
    digits = ["learner", "digits", "-l", "DecisionTreeClassifier", *QUICK]
    figures = measured(*digits)["learners"]["DecisionTreeClassifier"]["orientation"]
    assert figures["holdout_size"] < 5
    figures = measured(*digits, "--holdout-size", "5")["learners"]["DecisionTreeClassifier"]["orientation"]
    assert figures["holdout_size"] == 5
    assert figures["expressivity"]["kind"].startswith("at least")


def test_what_json_has(measured, spam):
    content = measured("learner", spam, "--target", "type", *NB, *QUICK)
    assert content["data"]["classes"] == ["ham", "spam"]
    assert content["learners"]["GaussianNB"]["about"]["seed"] == 0
    figures = content["learners"]["GaussianNB"]["orientation"]
    assert set(figures["bias"]) == {"1", "2", "3", "4", "5"}
    assert {"value", "low", "high", "level", "kind"} == set(figures["capacity"])
    assert len(figures["bounds"]) == 5
    assert content["kinship"] is None
    assert content["interrupted"] is False


@pytest.mark.slow
def test_the_command_gives_what_python_gives(measured, tmp_path):
    arguments = ["learner", "iris", "-l", "DecisionTreeClassifier(max_depth=2)", *QUICK, "--store", tmp_path / "runs"]
    content = measured(*arguments)
    table = read_table("iris")
    labelings = library.record(DecisionTreeClassifier(max_depth=2), table.X, table.y, library.Subsets(8), 2, executor=1)
    expected = library.orientation(labelings, holdouts=10)
    figures = content["learners"]["DecisionTreeClassifier(max_depth=2)"]["orientation"]
    assert figures["expressivity"]["value"] == expected.expressivity.value
    assert (figures["capacity"]["value"] is None) == (not expected.capacity.known)
    assert figures["capacity"]["high"] == expected.capacity.high
    assert figures["bias"]["4"]["low"] == expected.bias[4].low
    assert content == measured(*arguments)  # seconds per fit included: nothing was fitted again


def test_mixed_columns_and_missing_values_work(measured, tmp_path):
    path = tmp_path / "mixed.csv"
    rows = ["colour,height,kind"] + [f"{'red' if i % 3 else ''},{'' if i % 5 == 0 else i},{i % 2}" for i in range(80)]
    path.write_text("\n".join(rows))
    assert measured("learner", path, *NB, *QUICK)["failed"] == {}


def test_one_failing_learner_does_not_stop_the_others(classay, spam):
    far = "KNeighborsClassifier(n_neighbors=500)"
    code, out, err = classay("learner", spam, *NB, "-l", far, "--json", *QUICK)
    assert code == 3
    content = json.loads(out)
    assert list(content["learners"]) == ["GaussianNB"]
    assert "n_neighbors" in content["failed"][far]
    assert f"{far}: no results. " in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["iriss"], "iris"),
        (["iris", "-l", "DecisionTreeClasifier"], "DecisionTreeClassifier"),
        (["iris", "-l", "DecisionTreeRegressor"], "regressor"),
        (["iris", "--holdout-size", "31", *NB], "30 test points"),
        (["iris", "--samples", "1"], "at least 2"),
        (["iris", "--repeats", "0"], "repeats"),
        (["iris", "--test-size", "2"], "test_size"),
        (["iris", "--size", "0.01"], "3 classes"),
        (["iris", "--workers", "0"], "at least 1"),
        (["iris", "--seed", "-1"], "random_state"),
        (["iris", "--scheme", "thirds"], "expected one of 'subsets', 'halves', 'retrain'"),
        (["iris", *HALVES, "--probes", "unifrom"], "Did you mean uniform"),
        (["iris", *HALVES, "--samples", "0"], "at least 1"),
        (["iris", *HALVES, "--size", "500"], "500 rows"),
        (["iris", *HALVES, "--n-probes", "1"], "at least 2"),
        (["iris", *HALVES, "--regions", "-1"], "at least 0"),
        (["iris", *RETRAIN, "--metric", "accurcy"], "Did you mean accuracy"),
        (["iris", *RETRAIN, "--cost", "cheap"], "expected a pair"),
        (["breast_cancer", *NB, *RETRAIN, "--threshold", "7"], "expected a number between 0 and 1"),
        (["iris", *RETRAIN, "--replaced", "2"], "expected a number between 0 and 1"),
        (["breast_cancer", *NB, *RETRAIN, "--cost", "1,5", "--threshold", "0.5"], "both given"),
    ],
)
def test_mistakes_get_a_sentence(refused, arguments, message):
    refused(message, "learner", *arguments, "--quiet")


def test_an_output_folder_that_cannot_be_is_refused_before_any_work(refused, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("classay.engine.work.run", lambda *_, **__: pytest.fail("fitted"))
    refused("--charts", "learner", "digits", "--charts", tmp_path / "file" / "charts")


def test_users_words_are_not_markup(shown, measured, tmp_path):
    path = tmp_path / "[bold]x.csv"
    path.write_text("a,y\n" + "\n".join(f"{i},[red]{i % 2}[/red]" for i in range(60)))
    assert measured("learner", path, *NB, *QUICK)["data"]["classes"] == ["[red]0[/red]", "[red]1[/red]"]
    assert shown("learner", path, *NB, *QUICK)


@pytest.fixture
def steel(tmp_path):
    path = tmp_path / "steel.csv"
    rows = ["heat,speed,line,low_yield"]
    rows += [f"{(i * 37) % 101},{(i * 13) % 29 / 10},{'ab'[i % 2]},{int((i * 37) % 101 > 60)}" for i in range(240)]
    path.write_text("\n".join(rows))
    return path


@pytest.mark.slow
def test_halves_of_several_learners(shown, steel):
    out = shown("learner", steel, "-l", "DecisionTreeClassifier", "-l", "LogisticRegression", *HALVES)
    assert "Of 2 learners, compared on 300 uniform" in out
    for words in ("disjoint halves", "kappa", "read it together with accuracy", "disagree", "for new data"):
        assert words in out
    assert "same rows" not in out.split("kappa")[0]  # one refit per half


@pytest.mark.slow
def test_halves_of_one_learner_are_what_python_gives(shown, measured, steel, tmp_path):
    text = "DecisionTreeClassifier(max_depth=2)"
    arguments = ["learner", steel, "-l", text, *HALVES, "--store", tmp_path / "runs"]
    out = shown(*arguments, "--charts", tmp_path / "charts")
    assert f"{text}: two refits on disjoint halves of these rows agree on" in out
    names = {path.name for path in (tmp_path / "charts").iterdir()}
    assert {"stability.png", "agreement_1.svg", "disagreement_1.png"} <= names
    content = measured(*arguments)  # from the store
    figures = content["learners"][text]
    assert content["settings"]["probes"] == "uniform"
    assert content["comparison"]["unbeaten"] == [text]
    assert figures["regions"]["q"] == 0.05
    table = read_table(str(steel))
    (learner,) = learners_from_texts([text], False).values()
    labelings = library.record(
        library.encoded(learner, table.X), table.X, table.y, library.HalfSplits(8), 1, probes="uniform", n_probes=300,
        executor=1,
    )  # fmt: skip
    assert figures["stability"]["stability"]["value"] == library.stability(labelings).stability.value


def test_few_splits_give_figures_without_regions(classay, steel):
    code, out, err = classay("learner", steel, *NB, *HALVES, "--samples", "4")
    assert code == 0
    assert "no regions" in err
    assert "agree on" in out


@pytest.fixture
def churn(tmp_path):
    rng = np.random.default_rng(0)
    age, calls = rng.normal(size=(2, 400))
    left = rng.random(400) < 1 / (1 + np.exp(1.5 - 1.5 * age - calls))
    rows = [f"{a:.3f},{c:.3f},{'yes' if b else 'no'},{day}" for day, (a, c, b) in enumerate(zip(age, calls, left))]
    path = tmp_path / "churn.csv"
    path.write_text("\n".join(["age,calls,left,day", *rows]))
    return path


@pytest.mark.slow
def test_a_retraining(shown, measured, churn, tmp_path):
    arguments = ["learner", churn, "-t", "left", *NB, *RETRAIN, "--store", tmp_path / "runs"]
    out = shown(*arguments, "--charts", tmp_path / "c")
    assert "GaussianNB: a retraining that replaces 10%" in out
    for word in ("roc auc", "balanced accuracy", "brier", "refits", "predictions", "by another", "points", "chance"):
        assert word in out
    assert "capacity" not in out  # samples of nearly full size do not show bias and variation
    names = {path.stem for path in (tmp_path / "c").iterdir()}
    assert {"metrics_1", "confusion_1", "retraining_1", "calibration_1", "roc_1", "score_variance_1"} <= names
    figures = measured(*arguments, "--metric", "f1_macro")["learners"]["GaussianNB"]
    assert figures["orientation"] is None
    table = read_table(str(churn), "left")
    labelings = library.record(GaussianNB(), table.X, table.y, library.Retrain(4), repeats=2, executor=1)
    assert figures["retraining"]["change"]["value"] == pytest.approx(library.retraining(labelings).change.value)
    expected = library.metrics(labelings, "f1_macro")["f1_macro"].value
    assert figures["metrics"]["estimates"]["f1_macro"]["value"] == pytest.approx(expected)
    assert figures["score_variance"]["share_sample"]["value"] == 1


@pytest.mark.slow
def test_costs_thresholds_time_and_learners_without_probabilities(shown, churn):
    table = ["learner", churn, "-t", "left", *RETRAIN, *NB]
    assert "cost" in shown(*table, "-l", "RidgeClassifier", "--cost", "1,5")
    out = shown(*table, "--threshold", "0.2", "--time", "day")
    assert "by newer ones" in out
    assert "decisions at 0.2" in out
