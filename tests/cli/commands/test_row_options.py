"""Options that say which column is what: --text, --groups, --time, --weight, --test, --drop."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

TREE = ["-l", "DecisionTreeClassifier(max_depth=2)", "--repeats", "1", "--workers", "1"]
SUBSETS = ["--samples", "4", "--holdouts", "5"]
HALVES = ["--scheme", "halves", "--samples", "4", "--n-probes", "50", "--regions", "0"]


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
    [["learner", *SUBSETS], ["learner", *HALVES], ["sweep", *SUBSETS, "--param", "max_depth", "--values", "1,2"]],
    ids=["subsets", "halves", "sweep"],
)
def test_roles_of_columns_reach_the_fits(measured, visits, command):
    content = measured(command[0], visits, *command[1:], *TREE, *ROLES)
    columns = {column["name"]: column["use"] for column in content["data"]["audit"]["columns"]}
    expected = {"patient": "groups", "weight": "weight", "day": "left out", "age": "feature"}
    assert {name: columns[name] for name in expected} == expected


def test_groups_of_the_record_are_those_of_the_file(measured, visits):
    def accuracy(*roles):
        content = measured("learner", visits, *SUBSETS, *TREE, "--drop", "day", "--drop", "weight", *roles)
        return content["learners"]["DecisionTreeClassifier(max_depth=2)"]["orientation"]["accuracy"]["value"]

    assert accuracy("--groups", "patient") != accuracy("--drop", "patient")


@pytest.mark.slow
def test_time_and_a_test_file(measured, refused, visits, tmp_path):
    options = [*HALVES, *TREE, "--drop", "patient"]
    measured("learner", visits, *options, "--time", "day")
    frame = pd.read_csv(visits)
    frame[:180].to_csv(tmp_path / "train.csv", index=False)
    frame[180:].to_csv(tmp_path / "test.csv", index=False)
    both = ["learner", tmp_path / "train.csv", *options, "--test", tmp_path / "test.csv"]
    measured(*both, "--drop", "day")
    refused("both given", *both, "--time", "day", "--quiet")


def test_a_role_of_a_column_that_is_not_there(refused, visits):
    refused("Did you mean patient", "learner", visits, *TREE, "--groups", "patients")


def test_quiet_hides_progress_but_no_loss(classay, tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text("\n".join(["a,b,y", *(f"{'oops' if i == 5 else i},{i % 7},{'pq'[i % 2]}" for i in range(60))]))
    _, _, err = classay("data", path, "--quiet")
    assert "row 6" in err
    assert "oops" in err


def test_texts_in_every_command_that_fits(measured, tmp_path):
    path = tmp_path / "intents.csv"
    songs = [f"please play the song number {i} again,music" for i in range(30)]
    alarms = [f"wake me up at {i} in the morning,alarm" for i in range(30)]
    path.write_text("\n".join(["text,intent", *songs, *alarms]))
    words = ["-l", "make_pipeline(TfidfVectorizer(), MultinomialNB())", "-l", "GaussianNB"]
    content = measured("learner", path, *SUBSETS, "--size", "0.5", *words, *TREE[2:])
    for figures in content["learners"].values():
        assert figures["orientation"]["accuracy"]["value"] > 0.9
