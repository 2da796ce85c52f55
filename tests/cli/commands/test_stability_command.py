"""`classay stability` as a user runs it."""

from __future__ import annotations

import json

import pytest

QUICK = ["--splits", "8", "--n-probes", "300", "--workers", "1", "--quiet"]


@pytest.fixture
def steel(tmp_path):
    path = tmp_path / "steel.csv"
    rows = ["heat,speed,line,low_yield"]
    rows += [f"{(i * 37) % 101},{(i * 13) % 29 / 10},{'ab'[i % 2]},{int((i * 37) % 101 > 60)}" for i in range(240)]
    path.write_text("\n".join(rows))
    return path


def test_words_tables_and_regions(classay, steel):
    code, out, _ = classay(
        "stability",
        str(steel),
        "-l",
        "DecisionTreeClassifier",
        "-l",
        "LogisticRegression",
        "--probes",
        "uniform",
        *QUICK,
    )
    assert code == 0
    assert out.startswith("Of 2 learners, compared on 300 uniform comparison points")
    for word in ("disjoint halves", "kappa", "accuracy", "read it together with accuracy", "disagree", "for new data"):
        assert word in " ".join(out.split())
    assert "same" not in out.split("learner")[1].split("seconds")[0] or "rows" not in out.split("seconds")[0]


def test_one_learner_is_told_in_a_paragraph(classay, steel):
    code, out, _ = classay("stability", str(steel), "-l", "GaussianNB", "-r", "2", *QUICK)
    assert code == 0
    assert out.startswith("GaussianNB: two refits on disjoint halves of these rows agree on")
    assert "training randomness" in out


def test_json_is_alone_on_stdout_and_what_python_gives(classay, steel):
    import classay as library
    from classay.estimators.spec import learners_from_texts

    code, out, _ = classay("stability", str(steel), "-l", "DecisionTreeClassifier(max_depth=2)", "--json", *QUICK)
    assert code == 0
    content = json.loads(out)
    figures = content["learners"]["DecisionTreeClassifier(max_depth=2)"]
    assert content["settings"]["probes"] == "uniform"
    assert content["table"]["unbeaten"] == ["DecisionTreeClassifier(max_depth=2)"]
    assert figures["regions"]["q"] == 0.05
    from classay.tables.read import read_table

    table = read_table(str(steel))
    (learner,) = learners_from_texts(["DecisionTreeClassifier(max_depth=2)"], False).values()
    labelings = library.record(
        library.encoded(learner, table.X),
        table.X,
        table.y,
        library.HalfSplits(8),
        1,
        probes="uniform",
        n_probes=300,
        executor=1,
    )
    assert figures["stability"]["value"] == library.stability(labelings).stability.value


def test_charts_and_store(classay, steel, tmp_path):
    arguments = ["stability", str(steel), "-l", "GaussianNB", "--store", str(tmp_path / "runs"), *QUICK]
    code, first, _ = classay(*arguments, "--charts", str(tmp_path / "charts"))
    assert code == 0
    names = {path.name for path in (tmp_path / "charts").iterdir()}
    assert {"stability.png", "agreement_1.svg", "disagreement_1.png"} <= names
    assert len(list((tmp_path / "runs").iterdir())) == 1
    assert classay(*arguments)[1] == first


def test_few_splits_give_figures_without_regions(classay, steel):
    code, out, err = classay("stability", str(steel), "-l", "GaussianNB", "--splits", "4", *[*QUICK[2:5], "1"])
    assert code == 0
    assert "no regions" in err
    assert "agree on" in out
    assert classay("stability", str(steel), "-l", "GaussianNB", "--regions", "0", *QUICK)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--probes", "unifrom"], "Did you mean uniform"),
        (["--splits", "0"], "at least 1"),
        (["--size", "500"], "500 rows"),
        (["--n-probes", "1"], "at least 2"),
        (["--target", "yield"], "Did you mean low_yield"),
        (["-l", "DecisionTreeClasifier"], "Did you mean DecisionTreeClassifier"),
        (["-l", "LinearRegression"], "regressor"),
        (["--regions", "-1"], "at least 0"),
    ],
)
def test_mistakes_exit_with_2(classay, steel, arguments, message):
    code, out, err = classay("stability", str(steel), *QUICK, *arguments)
    assert code == 2
    assert out == ""
    assert message in " ".join(err.split())


def test_a_learner_that_fails_does_not_stop_the_others(classay, steel):
    code, out, err = classay(
        "stability", str(steel), "-l", "GaussianNB", "-l", "KNeighborsClassifier(n_neighbors=5000)", *QUICK
    )
    assert code == 3
    assert "agree on" in out
    assert "no results" in err
