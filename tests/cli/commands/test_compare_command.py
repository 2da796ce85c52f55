"""`classay compare` and predictions alone: `classay report --truth`, `classay check` of predictions and against."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import classay as library


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Predictions of two versions with three seeds each; the second is worse for old customers."""
    rng = np.random.default_rng(0)
    n = 1200
    truth, age = rng.integers(2, size=n), rng.integers(18, 80, n)
    for name, turned in (("old", 0.0), ("new", 0.6)):
        parts = []
        for seed in range(5):
            said = np.where(rng.random(n) < 0.05, 1 - truth, truth)
            said = np.where((age >= 70) & (rng.random(n) < turned), 1 - said, said)
            parts.append(pd.DataFrame({"id": range(n), "seed": seed, "pred": said, "label": truth, "age": age}))
        pd.concat(parts).to_csv(tmp_path / f"{name}.csv", index=False)
        one = parts[0].drop(columns="seed")
        one.to_json(tmp_path / f"{name}.jsonl", orient="records", lines=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


ROLES = ["--truth", "label", "--item", "id", "--run", "seed"]


def test_two_files_of_predictions(classay, shown, measured, folder):
    out = shown("compare", "old.csv", "new.csv", *ROLES)
    assert out.startswith("new is worse: accuracy −")
    for words in ("more changed than that", "It is worse where age"):
        assert words in out
    content = measured("compare", "old.csv", "new.csv", *ROLES, "--metric", "f1_macro")
    assert content["shown"]
    assert content["worse"][0]["condition"].startswith("age")
    assert classay("compare", "old.csv", "new.csv", *ROLES, "--fail")[0] == 1
    assert classay("compare", "old.csv", "old.csv", *ROLES, "--fail")[0] == 0


def test_single_vectors_with_refits_apart(classay, shown, measured, refused, folder):
    roles = ["--truth", "label", "--item", "id"]
    assert "These two fits" in shown("compare", "old.jsonl", "new.jsonl", *roles, "--refits", "old.jsonl")
    assert not measured("compare", "old.jsonl", "new.jsonl", *roles)["shown"]
    refused("--fail needs several fits", "compare", "old.jsonl", "new.jsonl", *roles, "--fail")
    assert classay("compare", "old.jsonl", "new.jsonl", *roles, "--refits", "old.csv", "--fail")[0] == 1
    out = shown("compare", "old.jsonl", "new.csv", *roles, "--columns", "age", "--slice", "age")
    assert "Intervals hold for all 12 slices together." in " ".join(out.split())
    assert "unknown" not in out


def test_records_and_reports(classay, shown, refused, folder):
    record = library.Labelings.from_frame(pd.read_csv("old.csv"), truth="label", item="id", run="seed")
    record.save("old.classay")
    shown("compare", "old.classay", "new.csv", *ROLES)
    for name in ("old", "new"):
        shown("report", f"{name}.csv", *ROLES, "-o", f"{name}.json", "--quiet")
    code, out, err = classay("compare", "old.json", "new.json", "--fail")
    assert code == 1, err
    assert "worse" in out
    refused("--slice needs predictions", "compare", "old.json", "new.json", "--slice", "age")
    refused("a report and something else", "compare", "old.json", "new.csv", *ROLES)


@pytest.mark.slow
def test_a_page_of_predictions_alone(classay, refused, folder):
    code, out, err = classay("report", "old.csv", *ROLES, "-o", "page.html", "-o", "page.json")
    assert code == 0, err
    assert "1,200 items, 1 variant, 5 runs" in err
    assert "L101" in out
    assert library.load("page.json").title == "old.csv: predictions compared"
    refused("Did you mean label", "report", "old.csv", "--truth", "lable", "-o", "other.html")


@pytest.mark.slow
def test_gates_of_predictions_and_against(classay, folder):
    both = pd.concat(
        [pd.read_csv("old.csv").assign(version="champion"), pd.read_csv("new.csv").assign(version="candidate")]
    )
    both.to_csv("both.csv", index=False)
    (folder / "gates.toml").write_text(
        'gates = ["candidate.accuracy >= champion.accuracy - 0.01"]\n[predictions]\nfile = "both.csv"\n'
        'truth = "label"\nitem = "id"\nrun = "seed"\nvariant = "version"\n'
    )
    code, out, _ = classay("check", "gates.toml", "--quiet")
    assert code == 1
    assert "over rows, for these fits; a refit may differ as much" in " ".join(out.split())
    (folder / "plain.toml").write_text(
        'gates = ["accuracy >= 0.5"]\n[predictions]\nfile = "new.csv"\ntruth = "label"\nitem = "id"\nrun = "seed"\n'
    )
    assert classay("check", "plain.toml", "--quiet")[0] == 0
    classay("report", "old.csv", *ROLES, "-o", "last.json", "--quiet")
    assert classay("check", "plain.toml", "--against", "last.json", "--quiet")[0] == 1
    assert classay("check", "plain.toml", "--against", "last.json", "--min-effect", "0.5", "--quiet")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv", "new.csv", *ROLES], "There is no file 'none.csv'"),
        (["none.classay", "new.csv", *ROLES], "Expected predictions"),
        (["old.csv", "new.csv"], "--truth must name the column"),
    ],
)
def test_mistakes(refused, folder, arguments, message):
    refused(message, "compare", *arguments)
