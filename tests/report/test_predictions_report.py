"""A report on predictions alone: every section and finding, from one vector to variants x runs, saved and reopened."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import classay
from classay import Labelings, characterize

NASTY = "<script>alert(1)</script>"


def simulated(rates=(("plain", 0.03), (NASTY, 0.3)), runs=3, n=300, seed=0) -> pd.DataFrame:
    """A judge that flips at known rates, more often for long items, with scores and a missing answer."""
    rng = np.random.default_rng(seed)
    truth, length = rng.integers(2, size=n), rng.integers(5, 200, n)
    parts = []
    for prompt, rate in rates:
        for run in range(runs):
            said = np.where(rng.random(n) < np.where(length > 140, rate + 0.4, rate), 1 - truth, truth)
            words = np.array(["no", "yes"])[said].astype(object)
            if run == 0:
                words[0] = None
            parts.append(
                pd.DataFrame(
                    {
                        "id": range(n),
                        "prompt": prompt,
                        "run": run,
                        "said": words,
                        "length": length,
                        "label": np.array(["no", "yes"])[truth],
                        "p": 0.97,
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


ROLES = {"truth": "label", "prediction": "said", "item": "id", "run": "run", "variant": "prompt", "score": "p"}


@pytest.fixture(scope="module")
def report():
    return characterize(Labelings.from_frame(simulated(), **ROLES), name="judge.csv").report


def test_findings_say_what_was_planted(report):
    by_code = {(each.code, each.of): each for each in report.findings}
    assert by_code["L101", NASTY].level in ("note", "warning")
    assert ("L101", "plain") not in by_code
    assert by_code["L111", NASTY].level == "warning"
    assert "length" in by_code["S301", "plain"].sentence
    assert by_code["L115", NASTY].level == "warning"
    assert by_code["L106", "plain"].level == "note"
    titles = [each.title for each in report.findings if each.level == "fine"]
    assert len(titles) == len(set(titles))
    assert report.verdict.learner == "plain"


def test_it_knows_variants_and_runs_but_no_training_rows(report):
    texts = [each.sentence + each.action + each.reference for each in report.findings]
    texts += [part.lead + part.absent for part in report.sections]
    texts += [picture.text for part in report.sections for picture in part.pictures]
    texts += [sheet.note + sheet.title + " ".join(sheet.columns) for sheet in report.sheets()]
    text = " ".join(texts).lower()
    for word in ("training row", "subset", "probe"):
        assert word not in text
    assert "asked again" in text


def test_figures_can_be_gated_saved_and_opened(report, tmp_path):
    assert report.figure("plain", "accuracy").value == pytest.approx(0.85, abs=0.08)
    for name in ("page.html", "page.json"):
        path = report.save(tmp_path / name)
        assert classay.load(path).to_dict() == report.to_dict()
    assert NASTY not in (tmp_path / "page.html").read_text()
    assert "## judge.csv: predictions compared" in report.save(tmp_path / "card.md").read_text()
    assert "altair" in type(report.plot()).__module__


def test_missing_answers_are_counted_in_each_of_several_records():
    record = Labelings.from_frame(simulated(), **ROLES)
    figure = characterize({"first": record, "second": record}).report.figure
    assert figure("second: plain", "predicted").value == pytest.approx(1 - 1 / 900)


def test_a_variant_with_fewer_runs_keeps_its_scores():
    said = simulated(runs=5).drop(columns="p").assign(p_no=0.4, p_yes=0.6)
    roles = {**ROLES, "score": "p_*", "missing": "drop"}
    fewer = said[(said["prompt"] == "plain") | (said["run"] > 0)]
    predicted = characterize(Labelings.from_frame(fewer, **roles)).parts.predicted
    assert all(held.probabilities is not None for held in predicted.values())
    once = said[(said["prompt"] == "plain") | (said["run"] > 3)]
    made = characterize(Labelings.from_frame(once, **roles))
    assert made.report.figure(NASTY, "accuracy").known
    assert "missing" in made.parts.why["runs"]


def test_one_vector_is_a_complete_page():
    frame = pd.DataFrame({"y": list("aabb") * 20, "pred": list("aaba") * 20, "x": range(80)})
    report = characterize(Labelings.from_frame(frame, truth="y")).report
    assert [part.key for part in report.sections if not part.is_empty] == ["learners", "data", "slices", "methods"]
    assert {"L111", "L115"} <= {each.code for each in report.unasked}
    assert report.figure("all", "accuracy").value == pytest.approx(0.75)
    confusion = next(sheet for sheet in report.sheets() if sheet.key == "confusion")
    assert confusion.rows == (("a", "a", 40), ("a", "b", 0), ("b", "a", 20), ("b", "b", 20))


def test_more_classes_need_a_score_for_each():
    rng = np.random.default_rng(1)
    truth = np.arange(240) % 6
    scores = rng.normal(size=(240, 6)) + 2.5 * np.eye(6)[truth]
    frame = pd.DataFrame(scores, columns=[f"p_{code}" for code in range(6)])
    frame = frame.assign(y=truth, pred=scores.argmax(axis=1))
    report = characterize(Labelings.from_frame(frame, truth="y", score="p_*")).report
    classes = next(part for part in report.sections if part.key == "classes")
    assert not classes.absent
    assert "among 60" in classes.lead


def test_how_many_runs_suffice_is_on_the_page(report):
    runs = next(part for part in report.sections if part.key == "runs")
    assert "per item suffice" in runs.lead
    assert "is randomness" in runs.lead
    assert [sheet.key for sheet in runs.sheets] == ["repeats", "flips"]


def test_neither_rows_nor_records():
    with pytest.raises(classay.InputError, match="`X` or `y` is missing"):
        characterize(None)
