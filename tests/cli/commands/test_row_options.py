"""Options that say which column is what: --text, --groups, --time, --weight, --test, --drop."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

QUICK = ["--repeats", "1", "--workers", "1", "--quiet", "--json"]
TREE = ["-l", "DecisionTreeClassifier(max_depth=2)"]


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Visits of patients: columns that describe, and columns with a role."""
    generator = np.random.default_rng(0)
    rows = 240
    frame = pd.DataFrame(
        {
            "age": generator.integers(20, 80, rows),
            "pressure": generator.normal(120, 15, rows).round(1),
            "patient": np.repeat([f"p{i:02}" for i in range(40)], 6),
            "day": pd.date_range("2024-01-01", periods=rows).strftime("%Y-%m-%d"),
            "weight": generator.integers(1, 4, rows),
            "ill": np.where(generator.random(rows) < 0.5, "yes", "no"),
        }
    )
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    frame.to_csv(path, index=False)
    return path


ROLES = ["--groups", "patient", "--weight", "weight", "--drop", "day"]


@pytest.mark.parametrize(
    "command",
    [
        ["learner", "--samples", "4", "--holdouts", "5"],
        ["learner", "--scheme", "halves", "--samples", "4", "--n-probes", "50", "--regions", "0"],
        ["sweep", "--samples", "4", "--holdouts", "5", "--param", "max_depth", "--values", "1,2"],
    ],
    ids=["subsets", "halves", "sweep"],
)
def test_roles_of_columns_reach_the_fits(classay, visits, command):
    code, out, err = classay(command[0], str(visits), *command[1:], *TREE, *ROLES, *QUICK)
    assert code == 0, err
    columns = {each["name"]: each["use"] for each in json.loads(out)["data"]["audit"]["columns"]}
    assert columns["patient"] == "groups"
    assert columns["weight"] == "weight"
    assert columns["day"] == "left out"
    assert columns["age"] == "feature"


def test_groups_of_the_record_are_those_of_the_file(classay, visits):
    options = ["--samples", "4", "--holdouts", "5", *TREE, *QUICK, "--drop", "day", "--drop", "weight"]
    _, out, _ = classay("learner", str(visits), *options, "--groups", "patient")
    apart = json.loads(out)["learners"]["DecisionTreeClassifier(max_depth=2)"]["orientation"]["accuracy"]["value"]
    _, out, _ = classay("learner", str(visits), *options, "--drop", "patient")
    alike = json.loads(out)["learners"]["DecisionTreeClassifier(max_depth=2)"]["orientation"]["accuracy"]["value"]
    assert apart != alike


@pytest.mark.slow
def test_time_and_a_test_file(classay, visits, tmp_path):
    options = [
        "--scheme",
        "halves",
        "--samples",
        "4",
        "--n-probes",
        "50",
        "--regions",
        "0",
        *TREE,
        *QUICK,
        "--drop",
        "patient",
    ]
    code, _, err = classay("learner", str(visits), *options, "--time", "day")
    assert code == 0, err
    frame = pd.read_csv(visits)
    frame[:180].to_csv(tmp_path / "train.csv", index=False)
    frame[180:].to_csv(tmp_path / "test.csv", index=False)
    more = ["--drop", "day", "--test", str(tmp_path / "test.csv")]
    code, _, err = classay("learner", str(tmp_path / "train.csv"), *options, *more)
    assert code == 0, err
    code, _, err = classay("learner", str(tmp_path / "train.csv"), *options, *more[2:], "--time", "day")
    assert code == 2
    assert "both given" in err


def test_a_role_of_a_column_that_is_not_there(classay, visits):
    code, _, err = classay("learner", str(visits), *TREE, *QUICK, "--groups", "patients")
    assert code == 2
    assert "Did you mean patient" in err


def test_quiet_hides_progress_but_no_loss(classay, tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text("\n".join(["a,b,y", *(f"{'oops' if i == 5 else i},{i % 7},{'pq'[i % 2]}" for i in range(60))]))
    _, _, err = classay("data", str(path), "--quiet")
    assert "row 6" in err
    assert "oops" in err


def test_texts_in_every_command_that_fits(classay, tmp_path):
    path = tmp_path / "intents.csv"
    songs = [f"please play the song number {i} again,music" for i in range(30)]
    alarms = [f"wake me up at {i} in the morning,alarm" for i in range(30)]
    path.write_text("\n".join(["text,intent", *songs, *alarms]))
    words = ["-l", "make_pipeline(TfidfVectorizer(), MultinomialNB())", "-l", "GaussianNB"]
    code, out, err = classay("learner", str(path), "--samples", "4", "--size", "0.5", "--holdouts", "5", *words, *QUICK)
    assert code == 0, err
    for figures in json.loads(out)["learners"].values():
        assert figures["orientation"]["accuracy"]["value"] > 0.9
