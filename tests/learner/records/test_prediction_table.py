"""Predictions as a table: long and wide, missing answers, free words, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import classay
from classay import InputError, Labelings
from classay.learner.records.prediction_table import NOTHING_PREDICTED, labelings_of_table, normalised
from classay.tables.read import read_frame


def long_table() -> pd.DataFrame:
    """3 items x 2 prompts x 2 runs, in a mixed order."""
    rows = [
        (item, prompt, run, answer, label)
        for item, label in (("a", "yes"), ("b", "no"), ("c", "no"))
        for prompt, answers in (("short", ["yes", "no", "no"]), ("long", ["yes", "yes", "no"]))
        for run in (1, 2)
        for answer in [answers["abc".index(item)] if run == 1 else "no"]
    ]
    frame = pd.DataFrame(rows, columns=["id", "prompt", "run", "said", "label"])
    frame["length"] = frame.id.map({"a": 10, "b": 20, "c": 30})
    return frame.sample(frac=1, random_state=0, ignore_index=True)


ROLES = {"truth": "label", "prediction": "said", "item": "id", "run": "run", "variant": "prompt"}


def by_name(record: Labelings) -> dict[tuple[str, str, str], str]:
    return {
        (variant, run, item): str(record.classes[record.labels[k, r, i]])
        for k, variant in enumerate(record.about["variants"])
        for r, run in enumerate(record.about["runs"])
        for i, item in enumerate(record.about["items"])
    }


def test_a_long_table_in_any_order():
    record = Labelings.from_frame(long_table(), **ROLES, name="prompts")
    assert (record.name, record.labels.shape) == ("prompts", (2, 2, 3))
    assert by_name(record)["long", "1", "b"] == "yes"
    assert by_name(record)["short", "1", "b"] == "no"
    truth = dict(zip(record.about["items"], record.classes[record.truth]))
    assert truth == {"a": "yes", "b": "no", "c": "no"}
    assert "2 variants x 2 runs on 3 items" in str(record)


def test_a_wide_table_is_the_same_record():
    long = long_table()
    wide = long.assign(column=long.prompt + "_" + long.run.astype(str)).pivot(
        index=["id", "label"], columns="column", values="said"
    )
    wide = wide.reset_index()
    record = Labelings.from_frame(wide, truth="label", prediction=["short_1", "long_1"], item="id")
    assert record.about["variants"] == ["short_1", "long_1"]
    assert by_name(record)["long_1", "1", "b"] == "yes"
    runs = Labelings.from_frame(wide, truth="label", prediction="short_*", wide="run")
    assert runs.labels.shape == (1, 2, 3)
    assert runs.notes == ()


def test_variants_as_columns_and_runs_as_rows():
    long = long_table()
    mixed = long.pivot(index=["id", "label", "run"], columns="prompt", values="said").reset_index()
    record = Labelings.from_frame(mixed, truth="label", prediction=["short", "long"], item="id", run="run")
    whole = Labelings.from_frame(long, **ROLES)
    assert by_name(record) == by_name(whole)


def test_one_vector_and_one_variant_with_runs_are_records(tmp_path):
    one = Labelings.from_frame(pd.DataFrame({"y": [0, 1, 1], "pred": [0, 1, 0]}), truth="y")
    assert one.labels.tolist() == [[[0, 1, 0]]]
    assert one.accuracy().value == pytest.approx(2 / 3)
    assert one.classes.dtype.kind == "i"
    path = one.save(tmp_path / "one.classay")
    assert classay.load(path).labels.tolist() == one.labels.tolist()
    rng = np.random.default_rng(0)
    runs = pd.DataFrame({"item": np.tile(np.arange(40), 5), "y": np.tile(np.arange(40) % 2, 5)})
    runs["pred"] = np.where(rng.random(200) < 0.2, 1 - runs.y, runs.y)
    record = Labelings.from_frame(runs, truth="y", item="item")
    assert record.labels.shape == (1, 5, 40)
    steady = classay.stability(record)
    right = (record.labels[0] == record.truth).mean(axis=0)
    # Two of five runs agree at an item with c right ones: (c(c−1) + (5−c)(4−c)) / 20.
    c = 5 * right
    assert steady.stability.value == pytest.approx(float(((c * (c - 1) + (5 - c) * (4 - c)) / 20).mean()))
    assert "two runs of the same variant agree" in str(steady)
    assert "training rows" not in str(steady)


def test_missing_answers_are_never_right_or_left_out():
    frame = pd.DataFrame({"id": [1, 2, 3] * 2, "run": [1] * 3 + [2] * 3, "y": [0, 1, 1] * 2})
    frame["pred"] = [0, 1, None, 0, 1, 1]
    record = Labelings.from_frame(frame, truth="y", item="id", run="run")
    assert record.classes.tolist() == [NOTHING_PREDICTED, "0", "1"]
    assert record.accuracy().value == pytest.approx(5 / 6)
    assert "1 of 6 predictions are missing" in record.notes[0]
    dropped = Labelings.from_frame(frame, truth="y", item="id", run="run", missing="drop")
    assert dropped.about["items"] == [1, 2]
    assert dropped.accuracy().value == 1.0
    absent = Labelings.from_frame(frame.iloc[[0, 1, 3, 4, 5]], truth="y", item="id", run="run")
    assert absent.labels.tolist() == record.labels.tolist()


def test_a_run_that_is_missing_as_a_whole_is_a_missing_refit():
    frame = pd.concat([long_table(), long_table().query("run == 1 and prompt == 'short'").assign(prompt="third")])
    record = Labelings.from_frame(frame, **ROLES)
    assert int((~record.present).sum()) == 1
    assert "1 of 6 runs are missing" in str(record)


@pytest.mark.parametrize(
    ("word", "plain"),
    [("  **Yes.** ", "yes"), ("‘NO’", "no"), ("class  A!", "class a"), ("...", "..."), ("Ｙｅｓ", "yes")],
)
def test_the_rule_for_free_words(word, plain):
    assert normalised(word) == plain


def test_free_words_are_normalised_only_if_asked():
    frame = pd.DataFrame({"y": ["Yes", "No", "No"], "pred": ["yes.", "No", "nope"]})
    exact = Labelings.from_frame(frame, truth="y")
    assert exact.accuracy().value == pytest.approx(1 / 3)
    assert "differ from a class only in case" in exact.notes[0]
    loose = Labelings.from_frame(frame, truth="y", normalise=True)
    assert loose.accuracy().value == pytest.approx(2 / 3)
    mapped = Labelings.from_frame(frame, truth="y", normalise={"nope": "no"})
    assert mapped.accuracy().value == 1.0
    assert mapped.classes.tolist() == ["No", "Yes"]


def test_scores_of_the_answer_and_of_every_class():
    frame = pd.DataFrame({"y": list("aab"), "pred": list("abb"), "p_a": [0.9, 0.4, 0.2], "p_b": [0.1, 0.6, 0.8]})
    table = labelings_of_table(frame, truth="y", score="p_*")
    assert table.confidence[0, 0].tolist() == [0.9, 0.6, 0.8]
    assert table.full_scores[0, 1].tolist() == [0.4, 0.6, 0.4, 0.6]  # scores, then probabilities
    assert table.columns.empty
    record = Labelings.from_frame(frame, truth="y", score="p_*")
    assert record.scores.probabilities
    assert record.scores.values[0, 0, 1].tolist() == pytest.approx([0.4, 0.6])
    alone = labelings_of_table(frame.drop(columns="p_b"), truth="y", score="p_a")
    assert alone.full_scores is None


def test_probabilities_are_kept_where_a_variant_lacks_a_run():
    runs = pd.DataFrame({"v": ["m", "m", "m", "m", "n", "n"], "r": [1, 1, 2, 2, 1, 1], "id": [1, 2] * 3})
    runs = runs.assign(y=list("ababab"), pred=list("ababab"), p_a=[0.9, 0.2] * 3, p_b=[0.1, 0.8] * 3)
    record = labelings_of_table(runs, truth="y", item="id", run="r", variant="v", score="p_*")
    scores, probabilities = np.split(record.full_scores, 2, axis=2)
    assert np.array_equal(scores, probabilities, equal_nan=True)
    assert np.isnan(probabilities).all(axis=2).tolist() == [[False] * 4, [False, False, True, True]]


def test_other_columns_are_kept_per_item():
    table = labelings_of_table(long_table(), **ROLES)
    assert dict(zip(table.items, table.columns["length"])) == {"a": 10, "b": 20, "c": 30}


def test_json_lines(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"y": "a", "pred": "a", "meta": {"n": 1}}\n\n{"y": "b", "pred": null}\n')
    frame = read_frame(path)
    assert frame["meta"].tolist()[0] == '{"n": 1}'
    assert Labelings.from_frame(frame, truth="y").classes.tolist() == [NOTHING_PREDICTED, "a", "b"]
    path.write_text('{"y": 1}\n[1]\n')
    with pytest.raises(InputError, match="line 2; expected an object"):
        read_frame(path)
    path.write_text('{"y": \n')
    with pytest.raises(InputError, match="no JSON in line 1"):
        read_frame(path)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"truth": "lable"}, "Did you mean label"),
        ({}, {"prediction": "sad"}, "Did you mean said"),
        ({}, {"prediction": "run_*"}, "matches no column"),
        ({}, {"prediction": None}, "`prediction` is missing"),
        ({}, {"missing": "skip"}, "expected one of 'wrong', 'drop'"),
        ({}, {"wide": "rows"}, "expected one of 'variant', 'run'"),
        ({}, {"normalise": "yes"}, "expected True, False, or a dict"),
        ({}, {"prediction": ["said", "length"]}, "both `run` and `variant` are columns"),
        ({"label": "yes"}, {"prediction": "label"}, "There is 1 class"),
        ({"run": 1}, {}, "several answers in one run"),
        ({"id": None}, {}, "missing in 12 rows"),
        ({"label": None}, {}, "has no values"),
        ({"id": "a"}, {"run": None, "variant": None}, "several values of 'label'"),
        ({}, {"classes": ["yes"]}, "`classes` lacks no"),
        ({}, {"item": None, "truth": "label"}, "several values of 'label'"),
    ],
)
def test_mistakes(change, options, message):
    with pytest.raises(InputError, match=message):
        Labelings.from_frame(long_table().assign(**change), **(ROLES | options))


def test_what_is_no_table():
    with pytest.raises(InputError, match=r"use Labelings\.from_arrays"):
        Labelings.from_frame([[1, 2]], truth="y")
    with pytest.raises(InputError, match="no rows"):
        Labelings.from_frame(pd.DataFrame({"y": [], "pred": []}), truth="y")
    with pytest.raises(InputError, match=r"classay\.judges"):
        Labelings.from_frame(long_table(), **(ROLES | {"truth": None}))
    uneven = pd.DataFrame({"run": [1, 1, 2], "y": [0, 1, 0], "pred": [0, 1, 0]})
    with pytest.raises(InputError, match="between 1 and 2 rows"):
        Labelings.from_frame(uneven, truth="y", run="run")
