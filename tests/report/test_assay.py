"""`characterize`: one call, one document, the same bits, and mistakes told before any fit."""

import json

import numpy as np
import pandas as pd
import pytest
from planted import Rule, found, gaussians, not_drawn, table
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import InputError, characterize
from classay.report import measure
from classay.report.glossary import TERMS

LEARNERS = {"tree": DecisionTreeClassifier(), "forest": RandomForestClassifier(3)}
FEW = {"splits": 5, "repeats": 2, "name": "mixed"}


@pytest.fixture(scope="module")
def mixed():
    """A table with everything in it: texts, truth values, gaps, dates, a class that is too rare."""
    rng = np.random.default_rng(0)
    X, y = gaussians(300, classes=3, apart=4)
    X["colour"] = rng.choice(["red", "blue", None], 300)
    X["on"] = rng.random(300) < 0.5
    X["when"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(100, size=300), unit="D")
    X.loc[:20, "x1"] = np.nan
    y = np.array(["low", "mid", "high"])[y].astype(object)
    y[:2] = "odd"
    return X, y


@pytest.fixture(scope="module")
def assay(mixed):
    return found(LEARNERS, *mixed, **FEW)[0]


def test_every_figure_has_a_meaning_and_an_interval(assay):
    frame = assay.to_frame()
    assert set(frame["figure"]) <= set(TERMS)
    known = frame[frame["value"].notna()]
    assert (known["low"] <= known["value"] + 1e-9).all()
    assert (known["value"] <= known["high"] + 1e-9).all()
    assert {"accuracy", "cv_accuracy", "stability", "kappa", "bias", "capacity", "stochasticity"} <= set(
        frame["figure"]
    )


def test_the_document_is_plain_json(assay):
    text = json.dumps(assay.report.to_dict(), allow_nan=False)
    assert json.loads(text)["about"]["rows"] == 298
    assert [section.key for section in assay.report.sections] == [
        "learners", "disagreement", "data", "slices", "classes", "networks", "methods",
    ]  # fmt: skip


def test_rare_classes_are_left_out_and_that_is_said(assay):
    assert any("odd" in note and "2 of 300 rows" in note for note in assay.report.about["notes"])
    assert "odd" not in assay.report.about["classes"]


def test_live_results_can_be_asked_further(assay):
    assert assay.learners["tree"].stability.stability == assay.report.figure("tree", "stability")
    assert assay.parts.complexity.hardest(3).shape[0] == 3
    with pytest.raises(InputError, match=r"Did you mean stability"):
        assay.report.figure("tree", "stabilty")
    with pytest.raises(InputError, match=r"Did you mean tree"):
        assay.report.figure("tre", "stability")


def test_the_same_bits_for_any_number_of_workers_and_from_the_command_that_is_shown(mixed, assay):
    with not_drawn():
        again, _ = found(LEARNERS, *mixed, **FEW, executor=2)
    without_times = {"seconds_per_fit"}
    one, two = (each.to_frame() for each in (assay, again))
    rows = ~one["figure"].isin(without_times)
    pd.testing.assert_frame_equal(one[rows], two[rows], check_exact=True)
    # Not what to do about them: which of two learners is faster is measured.
    findings = [[(each.code, each.level, each.of, each.sentence) for each in made.findings] for made in (assay, again)]
    assert findings[0] == findings[1]
    assert "splits=5, repeats=2, size='all', n_probes=100, fold_rows='all'" in assay.report.settings["command"]


def test_a_budget_decides_where_nothing_is_given():
    X, y = gaussians(200)
    made = characterize({"bayes": GaussianNB()}, X, y, budget="20s", n_probes=50, executor=1)
    assert made.report.settings["splits"] == 50
    assert made.report.settings["size"] == "all"
    assert "budget of 20 s allowed" in made.report.sections[-1].lead


def test_one_learner_that_fails_does_not_stop_the_others():
    X = table(100)
    made, findings = found({"rule": Rule(), "tree": DecisionTreeClassifier(max_depth="deep")}, X, X["x0"] > 0)
    assert set(made.learners) == {"rule"}
    assert "max_depth" in made.report.failed["tree"]
    assert findings["L106", "tree"].level == "warning"
    assert "gave no results" in findings["L106", "tree"].sentence


def test_no_learner_fits():
    X = table(100)
    with pytest.raises(InputError, match=r"(?s)No learner.*tree: .*max_depth"):
        characterize({"tree": DecisionTreeClassifier(max_depth="deep")}, X, X["x0"] > 0, executor=1)


def test_ctrl_c_keeps_what_is_done(monkeypatch):
    X = table(120)
    real, asked = measure.record, []

    def record(*arguments, **options):
        asked.append(options["name"])
        if len(asked) > 1:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(measure, "record", record)
    made, _ = found({"rule": Rule(), "tree": DecisionTreeClassifier()}, X, X["x0"] > 0)
    assert set(made.learners) == {"rule"}
    assert made.report.settings["interrupted"]
    assert made.report.sections[-1].lead.startswith("Interrupted")
    assert {each.code for each in made.report.unasked} >= {"L101", "D201", "S301"}
    monkeypatch.setattr(measure, "record", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        found({"rule": Rule()}, X, X["x0"] > 0)


@pytest.mark.parametrize(
    ("learners", "told"),
    [
        ({}, "empty"),
        ([GaussianNB()], "expected a dict of names and learners"),
        ({"tree": DecisionTreeClassifier}, "expected an instance"),
        ({"line": LinearRegression()}, "regressor"),
        ({3: GaussianNB()}, "expected a string"),
        ({"data": GaussianNB()}, "Rename"),
    ],
)
def test_learners_that_are_none(learners, told):
    with pytest.raises(InputError, match=told):
        characterize(learners, *gaussians(100))


@pytest.mark.parametrize(
    ("X", "y", "told"),
    [
        (np.eye(2), [0, 1], "has its own class"),
        (np.random.default_rng(0).normal(size=(30, 2)), [0, 1] * 15, "30 rows; a report needs at least 40"),
        (np.random.default_rng(0).normal(size=(60, 2)), np.repeat(np.arange(20), 3), "Is the target column right"),
        (np.random.default_rng(0).normal(size=(60, 2)), np.linspace(0, 1, 60), "different numbers"),
        (np.random.default_rng(0).normal(size=(60, 2)), [1] * 60, "1 class"),
    ],
)
def test_data_that_cannot_be_assayed(X, y, told):
    with pytest.raises(InputError, match=told):
        characterize({"bayes": GaussianNB()}, X, y)


def test_sparse_rows_are_refused():
    from scipy import sparse

    with pytest.raises(InputError, match="toarray"):
        characterize({"bayes": GaussianNB()}, sparse.csr_matrix(np.eye(60)), [0, 1] * 30)


def test_many_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 6)
    X = pd.DataFrame(rng.normal(size=(600, 3)) + 3 * rng.normal(size=(100, 3))[y])
    made, findings = found({"bayes": GaussianNB()}, X, y, splits=6, repeats=1)
    assert made.report.figure("data", "classes").value == 100
    assert ("C401", "classes") in findings
    sheet = next(each for each in made.report.sheets() if each.key == "classes")
    assert len(sheet.rows) == 50
    assert "of 100" in sheet.note


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"budget": "soon"}, "90s"),
        ({"splits": 1}, "splits"),
        ({"repeats": 0}, "repeats"),
        ({"size": "most"}, "size"),
        ({"test_size": 2}, "test_size"),
    ],
)
def test_settings_that_make_no_sense(settings, told):
    with pytest.raises(InputError, match=told):
        characterize({"bayes": GaussianNB()}, *gaussians(100), **settings)


def test_networks_have_a_section():
    rng = np.random.default_rng(0)
    start, target, origin = (each.ravel() for each in np.meshgrid([0, 1], [0, 1, 2], [-1, 0, 1, 2], indexing="ij"))
    kept = target != origin
    m = int(kept.sum())
    walks = classay.Prototypes(
        features=(np.eye(3, 5)[target[kept]] + 0.1 * rng.random((m, 5))).astype(np.float32),
        target=target[kept], origin=origin[kept], start=start[kept], steps=np.full(m, 7), length=np.full(m, 2.0),
        distance=np.ones(m), loss=np.full(m, 0.01), converged=np.ones(m, bool), weight=np.eye(3, 5, dtype=np.float32),
        settings={"step": 0.3, "delta": 0.01, "input_shape": [4]}, about={"network": "net", "output": "softmax"},
    )  # fmt: skip
    X = table(100)
    quality = classay.network_quality(walks, class_names=["a", "b", "c"])
    made, findings = found({"rule": Rule()}, X, X["x0"] > 0, networks={"net": quality}, splits=4)
    assert findings["N502", "net"].level == "note"
    assert ("N501", "net") in findings
    assert made.report.figure("net", "within") == quality.within
    section = next(each for each in made.report.sections if each.key == "networks")
    assert section.sheets[0].rows[0][0] == "net"
