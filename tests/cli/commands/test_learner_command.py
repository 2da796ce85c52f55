"""The command as a user runs it. Most tests call it in this process; a few start a real one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from classay import InputError

QUICK = ["--samples", "8", "--repeats", "2", "--holdouts", "10", "--workers", "1", "--quiet"]


@pytest.fixture
def spam(tmp_path):
    path = tmp_path / "spam.csv"
    rows = ["words,caps,type"] + [f"{i % 7},{(i * i) % 11},{'spam' if i % 3 == 0 else 'ham'}" for i in range(90)]
    path.write_text("\n".join(rows))
    return path


@pytest.mark.slow
def test_conclusions_come_first(classay):
    _, out, _ = classay("learner", "breast_cancer", "-l", "DecisionTreeClassifier", "-l", "GaussianNB", *QUICK)
    flat = " ".join(out.split())
    assert flat.index("DecisionTreeClassifier is right on") < flat.index("GaussianNB is right on")
    assert flat.index("GaussianNB is right on") < flat.index("Predictions of 2 learners")


@pytest.mark.slow
def test_plain_estimates_if_asked(classay):
    arguments = ("learner", "iris", "-l", "DecisionTreeClassifier", "-l", "GaussianNB", *QUICK, "--no-every-class")
    _, out, _ = classay(*arguments, "--json")
    content = json.loads(out)
    assert content["settings"]["every_class"] is False
    figures = content["learners"]["DecisionTreeClassifier"]["orientation"]
    code, out, _ = classay(*arguments, "--plugin")
    assert code == 0
    flat = " ".join(out.split())
    assert "Plain estimates of the paper" in flat
    assert flat.count("Corrected estimates: ") == 2
    for part in ("expressivity", "capacity", "stochasticity"):
        assert f"{figures['plugin'][part]['value']:.3f}" in flat


@pytest.mark.slow
def test_many_classes_are_counted_on_fewer_points(classay):
    _, out, _ = classay("learner", "digits", "-l", "DecisionTreeClassifier", "--json", *QUICK)
    figures = json.loads(out)["learners"]["DecisionTreeClassifier"]["orientation"]
    assert figures["holdout_size"] < 5
    _, out, _ = classay("learner", "digits", "-l", "DecisionTreeClassifier", "--holdout-size", "5", "--json", *QUICK)
    figures = json.loads(out)["learners"]["DecisionTreeClassifier"]["orientation"]
    assert figures["holdout_size"] == 5
    assert figures["expressivity"]["kind"].startswith("at least")


def test_json_is_alone_on_stdout(classay, spam):
    code, out, _ = classay("learner", str(spam), "--target", "type", "-l", "GaussianNB", "--json", *QUICK)
    assert code == 0
    content = json.loads(out)
    assert content["data"]["classes"] == ["ham", "spam"]
    assert content["learners"]["GaussianNB"]["about"]["seed"] == 0
    figures = content["learners"]["GaussianNB"]["orientation"]
    assert set(figures["bias"]) == {"1", "2", "3", "4", "5"}
    assert {"value", "low", "high", "level", "kind"} == set(figures["capacity"])
    assert len(figures["bounds"]) == 5
    assert content["kinship"] is None
    assert content["interrupted"] is False


@pytest.mark.slow
def test_the_command_gives_what_python_gives(classay):
    import classay as library

    _, out, _ = classay("learner", "iris", "-l", "DecisionTreeClassifier(max_depth=2)", "--json", *QUICK)
    from sklearn.tree import DecisionTreeClassifier

    from classay.tables.read import read_table

    table = read_table("iris")
    labelings = library.record(DecisionTreeClassifier(max_depth=2), table.X, table.y, library.Subsets(8), 2, executor=1)
    o = library.orientation(labelings, holdouts=10)
    figures = json.loads(out)["learners"]["DecisionTreeClassifier(max_depth=2)"]["orientation"]
    assert figures["expressivity"]["value"] == o.expressivity.value
    assert (figures["capacity"]["value"] is None) == (not o.capacity.known)
    assert figures["capacity"]["high"] == o.capacity.high
    assert figures["bias"]["4"]["low"] == o.bias[4].low


def test_mixed_columns_and_missing_values_work(classay, tmp_path):
    path = tmp_path / "mixed.csv"
    rows = ["colour,height,kind"] + [f"{'red' if i % 3 else ''},{'' if i % 5 == 0 else i},{i % 2}" for i in range(80)]
    path.write_text("\n".join(rows))
    code, out, _ = classay("learner", str(path), "-l", "GaussianNB", "--json", *QUICK)
    assert code == 0
    assert json.loads(out)["failed"] == {}


@pytest.mark.slow
def test_charts_are_saved(classay, tmp_path):
    folder = tmp_path / "new" / "charts"
    code, _, _ = classay(
        "learner", "iris", "-l", "GaussianNB", "-l", "DecisionTreeClassifier", "--charts", str(folder), *QUICK
    )
    assert code == 0
    saved = {path.name for path in folder.iterdir()}
    assert {"bias.svg", "bias.png", "expressivity.svg", "plane.svg", "kinship.svg", "kinship_map.svg"} <= saved
    assert all(path.stat().st_size > 1000 for path in folder.iterdir())


@pytest.mark.slow
def test_a_store_is_used(classay, tmp_path):
    arguments = ["learner", "iris", "-l", "GaussianNB", "--store", str(tmp_path / "runs"), "--json", *QUICK]
    _, first, _ = classay(*arguments)
    assert len(list((tmp_path / "runs").rglob("*"))) > 0
    _, second, _ = classay(*arguments)
    assert json.loads(first) == json.loads(second)  # seconds per fit included: nothing was fitted again


def test_one_failing_learner_does_not_stop_the_others(classay, spam):
    code, out, err = classay(
        "learner", str(spam), "-l", "GaussianNB", "-l", "KNeighborsClassifier(n_neighbors=500)", "--json", *QUICK
    )
    assert code == 3
    content = json.loads(out)
    assert list(content["learners"]) == ["GaussianNB"]
    assert "n_neighbors" in content["failed"]["KNeighborsClassifier(n_neighbors=500)"]
    assert "KNeighborsClassifier(n_neighbors=500): no results. " in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["iriss"], "iris"),
        (["iris", "-l", "DecisionTreeClasifier"], "DecisionTreeClassifier"),
        (["iris", "-l", "DecisionTreeRegressor"], "regressor"),
        (["iris", "-l", "SVC(C=foo)"], "Expressions are not run"),
        (["iris", "-l", "os:system"], "--allow-import"),
        (["iris", "--holdout-size", "31", "-l", "GaussianNB"], "30 test points"),
        (["iris", "--samples", "1"], "at least 2"),
        (["iris", "--repeats", "0"], "repeats"),
        (["iris", "--test-size", "2"], "test_size"),
        (["iris", "--size", "0.01"], "3 classes"),
        (["iris", "--workers", "0"], "at least 1"),
        (["iris", "--seed", "-1"], "random_state"),
    ],
)
def test_mistakes_get_a_sentence_and_exit_code_2(classay, arguments, message):
    code, out, err = classay("learner", *arguments, *[word for word in ("--quiet",) if word not in arguments])
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_bad_files(classay, tmp_path, spam):
    (tmp_path / "empty.csv").write_text("")
    assert "empty" in classay("learner", str(tmp_path / "empty.csv"))[2]
    code, _, err = classay("learner", str(spam), "--target", "tpye")
    assert code == 2
    assert "words" in err
    assert "type" in err
    one = tmp_path / "one.csv"
    one.write_text("a,y\n" + "\n".join(f"{i},spam" for i in range(30)))
    assert "1 class" in classay("learner", str(one))[2]


def test_an_output_folder_that_cannot_be_is_refused_before_any_work(classay, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("classay.engine.work.run", lambda *_, **__: pytest.fail("fitted"))
    code, _, err = classay("learner", "digits", "--charts", str(tmp_path / "file" / "charts"))
    assert code == 2
    assert "--charts" in err


def test_users_words_are_not_markup(classay, tmp_path):
    path = tmp_path / "[bold]x.csv"
    path.write_text("a,y\n" + "\n".join(f"{i},[red]{i % 2}[/red]" for i in range(60)))
    code, out, _ = classay("learner", str(path), "-l", "GaussianNB", "--json", *QUICK)
    assert code == 0
    assert json.loads(out)["data"]["classes"] == ["[red]0[/red]", "[red]1[/red]"]
    code, out, _ = classay("learner", str(path), "-l", "GaussianNB", *QUICK)
    assert code == 0


def test_help_has_examples_and_version_works(classay):
    code, out, _ = classay("learner", "--help")
    assert code == 0
    assert "classay learner breast_cancer" in out
    code, out, _ = classay()
    assert "learner" in out
    code, out, _ = classay("--version")
    assert (code, out.strip()) == (0, "classay 0.1.0")


def test_debug_shows_the_traceback(classay):
    with pytest.raises(InputError, match="iriss"):  # of which Python prints the traceback
        classay("learner", "iriss", "--debug")


LASTING = """
import pathlib, time
from sklearn.naive_bayes import GaussianNB

class Lasting(GaussianNB):
    def fit(self, X, y):
        pathlib.Path("begun").touch()
        time.sleep(0.5)
        return super().fit(X, y)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_shows_what_is_done(tmp_path):
    (tmp_path / "of_mine.py").write_text(LASTING)
    arguments = ["learner", "iris", "-l", "GaussianNB", "-l", "of_mine:Lasting", "--allow-import", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "classay", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
        # A shell that starts jobs in the background lets them ignore Ctrl-C, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    # When a fit of the second learner begins, the first is done.
    while not (tmp_path / "begun").exists() and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    content = json.loads(out)
    assert content["interrupted"] is True
    assert "GaussianNB" in content["learners"]
    assert "Traceback" not in err


HALVES = ["--scheme", "halves", "--samples", "8", "--n-probes", "300", "--workers", "1", "--quiet"]
RETRAIN = ["--scheme", "retrain", "--samples", "4", "--workers", "1", "--quiet"]
NB = ["-l", "GaussianNB"]


@pytest.fixture
def steel(tmp_path):
    path = tmp_path / "steel.csv"
    rows = ["heat,speed,line,low_yield"]
    rows += [f"{(i * 37) % 101},{(i * 13) % 29 / 10},{'ab'[i % 2]},{int((i * 37) % 101 > 60)}" for i in range(240)]
    path.write_text("\n".join(rows))
    return path


@pytest.mark.slow
def test_halves_of_several_learners(classay, steel):
    code, out, _ = classay("learner", str(steel), "-l", "DecisionTreeClassifier", "-l", "LogisticRegression", *HALVES)
    assert code == 0
    flat = " ".join(out.split())
    assert "Of 2 learners, compared on 300 uniform" in flat
    for words in ("disjoint halves", "kappa", "read it together with accuracy", "disagree", "for new data"):
        assert words in flat
    assert "same rows" not in flat.split("kappa")[0]  # one refit per half


@pytest.mark.slow
def test_halves_of_one_learner_are_what_python_gives(classay, steel, tmp_path):
    import classay as library
    from classay.estimators.spec import learners_from_texts
    from classay.tables.read import read_table

    text = "DecisionTreeClassifier(max_depth=2)"
    arguments = ["learner", str(steel), "-l", text, *HALVES, "--store", str(tmp_path / "runs")]
    code, out, _ = classay(*arguments, "--charts", str(tmp_path / "charts"))
    assert code == 0
    assert f"{text}: two refits on disjoint halves of these rows agree on" in " ".join(out.split())
    names = {path.name for path in (tmp_path / "charts").iterdir()}
    assert {"stability.png", "agreement_1.svg", "disagreement_1.png"} <= names
    content = json.loads(classay(*arguments, "--json")[1])  # from the store
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
    few = [word for word in HALVES if word != "--quiet"]
    few[few.index("8")] = "4"
    code, out, err = classay("learner", str(steel), *NB, *few)
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
def test_a_retraining(classay, churn, tmp_path):
    import classay as library
    from classay.tables.read import read_table

    arguments = ["learner", str(churn), "-t", "left", *NB, *RETRAIN, "--store", str(tmp_path / "runs")]
    code, out, _ = classay(*arguments, "--charts", str(tmp_path / "c"))
    assert code == 0
    assert "GaussianNB: a retraining that replaces 10%" in out
    for word in ("roc auc", "balanced accuracy", "brier", "refits", "predictions", "by another", "points", "chance"):
        assert word in out
    names = {path.stem for path in (tmp_path / "c").iterdir()}
    assert {"metrics_1", "confusion_1", "retraining_1", "calibration_1", "roc_1", "score_variance_1"} <= names
    figures = json.loads(classay(*arguments, "--metric", "f1_macro", "--json")[1])["learners"]["GaussianNB"]
    table = read_table(str(churn), "left")
    from sklearn.naive_bayes import GaussianNB

    labelings = library.record(GaussianNB(), table.X, table.y, library.Retrain(4), repeats=2, executor=1)
    assert figures["retraining"]["change"]["value"] == pytest.approx(library.retraining(labelings).change.value)
    expected = library.metrics(labelings, "f1_macro")["f1_macro"].value
    assert figures["metrics"]["estimates"]["f1_macro"]["value"] == pytest.approx(expected)
    assert figures["score_variance"]["share_sample"]["value"] == 1


@pytest.mark.slow
def test_costs_thresholds_time_and_learners_without_probabilities(classay, churn):
    table = ["learner", str(churn), "-t", "left", *RETRAIN]
    code, out, _ = classay(*table, *NB, "-l", "RidgeClassifier", "--cost", "1,5")
    assert code == 0
    assert "cost" in out
    code, out, _ = classay(*table, *NB, "--threshold", "0.2", "--time", "day")
    assert code == 0
    assert "by newer ones" in out
    assert "decisions at 0.2" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scheme", "thirds"], "expected one of 'subsets', 'halves', 'retrain'"),
        ([*HALVES, "--probes", "unifrom"], "Did you mean uniform"),
        ([*HALVES, "--samples", "0"], "at least 1"),
        ([*HALVES, "--size", "500"], "500 rows"),
        ([*HALVES, "--n-probes", "1"], "at least 2"),
        ([*HALVES, "--regions", "-1"], "at least 0"),
        ([*RETRAIN, "--metric", "accurcy"], "Did you mean accuracy"),
        ([*RETRAIN, "--cost", "cheap"], "expected a pair"),
        ([*RETRAIN, "--threshold", "7"], "expected a probability between 0 and 1"),
        ([*RETRAIN, "--replaced", "2"], "expected a number between 0 and 1"),
        ([*RETRAIN, "--cost", "1,5", "--threshold", "0.5"], "both given"),
    ],
)
def test_mistakes_in_schemes_and_metrics(classay, churn, options, message):
    code, out, err = classay("learner", str(churn), "-t", "left", *NB, *options)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
