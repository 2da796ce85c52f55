"""The record itself: from any arrays, without gaps, in figures, and on disk bit for bit."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import classay
from classay import InputError, Labelings, intervals
from classay.engine import store
from classay.learner.records.base import Failure

TRUTH = ["spam", "ham", "ham", "eggs"]
ANSWERS = [["spam", "ham", "ham", "eggs"], ["spam", "spam", "ham", "ham"], ["ham", "ham", "ham", "ham"]]


def with_gaps(there, n=6, seed=0):
    """A record of random labels in which the refits that are not `there` are missing."""
    there = np.asarray(there, dtype=bool)
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 3, (*there.shape, n)).astype(np.int8)
    labels[~there] = -1
    truth = np.arange(n) % 3
    train_accuracy = np.where(there, generator.random(there.shape), np.nan)
    failures = tuple(Failure(int(k), int(r), "ValueError: no") for k, r in np.argwhere(~there))
    return Labelings(
        labels=labels,
        truth=truth.astype(np.int8),
        classes=np.array(["a", "b", "c"]),
        train_accuracy=train_accuracy,
        seconds=np.ones(there.shape),
        failures=failures,
    )


# From arrays


def test_one_refit_a_subset():
    labelings = Labelings.from_arrays(ANSWERS, TRUTH, name="filter")
    assert labelings.labels.shape == (3, 1, 4)
    assert labelings.classes.tolist() == ["eggs", "ham", "spam"]
    assert labelings.truth.tolist() == [2, 1, 1, 0]
    assert labelings.classes[labelings.labels[:, 0]].tolist() == ANSWERS
    assert labelings.name == "filter"
    assert not labelings.deterministic
    assert labelings.present.all()
    assert np.isnan(labelings.train_accuracy).all()
    assert labelings.test_rows.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("answers", "truth", "classes"),
    [
        (ANSWERS, TRUTH, ["eggs", "ham", "spam"]),
        ([[1, 0, 7]], [1, 1, 0], [0, 1, 7]),
        ([[True, False]], [True, True], [False, True]),
        ([[True, False]], [1, 1], [0, 1]),
        (np.array([["b", "a"]], dtype=object), ["a", "b"], ["a", "b"]),
        (pd.DataFrame([["b", "a"], ["a", "a"]]), pd.Series(["a", "b"]), ["a", "b"]),
        (pd.DataFrame([["b", "a"]], dtype="string"), pd.Series(["a", "b"], dtype="string"), ["a", "b"]),
        (pd.DataFrame([["b", "a"]]), pd.Series(["a", "b"]).astype("category"), ["a", "b"]),
        (np.array([[b"b", b"a"]]), np.array(["a", "b"]), ["a", "b"]),
        ([[1, 0, -1]], [1, 1, 0], [-1, 0, 1]),
    ],
)
def test_words_of_every_kind(answers, truth, classes):
    labelings = Labelings.from_arrays(answers, truth)
    assert labelings.classes.tolist() == classes
    assert [str(word) for word in labelings.classes[labelings.truth]] == [
        str(classes[classes.index(word)]) for word in truth
    ]
    assert labelings.labels.dtype == np.int8
    assert labelings.present.all()


@pytest.mark.parametrize(
    ("answers", "truth", "said"),
    [
        ([[0, 1, 1]], [0, 1], r"`labels` has 3 points but `y_true` has 2; they must match.*last axis"),
        ([[], []], [], r"0 points"),
        ([0, 1], [0, 1], r"`labels` has shape \(2,\) and `y_true` \(2,\); expected \(subsets, refits, points\)"),
        ([[[[0, 1]]]], [0, 1], r"shape \(1, 1, 1, 2\)"),
        ([[0, 1]], [[0, 1]], r"`y_true` \(1, 2\)"),
        ([[0, 1], [0]], [0, 1], r"`labels` is not an array.*All rows must have the same length"),
        (np.empty((0, 2)), [0, 1], r"shape \(0, 2\); expected at least one subset"),
        (np.empty((3, 0, 2)), [0, 1], r"shape \(3, 0, 2\); expected at least one subset"),
        ([[0.0, np.nan]], [0, 1], r"`labels` has missing"),
        ([[0, 1]], [0, np.nan], r"`y_true` has missing"),
        ([["a", None]], ["a", "b"], r"`labels` has missing.*Drop those points"),
        ([["a", "b"]], ["a", None], r"`y_true` has missing"),
        ([["a", "b"]], pd.Series(["a", pd.NA], dtype="string"), r"`y_true` has missing"),
        ([["a", "b"]], pd.Series([1, pd.NA], dtype="Int64"), r"`y_true` has missing"),
        ([["0", "1"]], [0, 1], r"`labels` contains text such as '0' and `y_true` such as 0; expected the same labels"),
        ([[0, 1]], ["0", "1"], r"`labels` contains numbers such as 0 and `y_true` such as '0'"),
        ([["a", "a"]], ["a", "a"], r"There is 1 class \('a'\)"),
        ([[3, 3]], [3, 3], r"There is 1 class \(3\)"),
    ],
)
def test_arrays_that_are_no_labelings(answers, truth, said):
    with pytest.raises(InputError, match=said):
        Labelings.from_arrays(answers, truth)


def test_a_learner_called_deterministic_must_be():
    same = [[[0, 1], [0, 1]], [[1, 1], [1, 1]]]
    assert Labelings.from_arrays(same, [0, 1], deterministic=True).deterministic
    with pytest.raises(InputError, match="refits on the same subset differ"):
        Labelings.from_arrays([[[0, 1], [0, 0]]], [0, 1], deterministic=True)


def test_nothing_that_was_handed_in_is_kept_or_altered():
    answers, truth = np.array([[0, 1], [1, 1]], dtype=np.int8), np.array([0, 1], dtype=np.int8)
    labelings = Labelings.from_arrays(answers, truth)
    answers[:], truth[:] = 0, 0
    assert labelings.labels[:, 0].tolist() == [[0, 1], [1, 1]]
    assert labelings.truth.tolist() == [0, 1]


# Without gaps


def test_the_share_that_measures_need():
    labelings = with_gaps(np.ones((4, 3)))
    assert labelings.complete() is labelings.labels
    enough = np.ones((5, 4))
    enough[0] = 0
    assert with_gaps(enough).complete().shape == (4, 4, 6)
    enough[1, 0] = 0
    with pytest.raises(
        InputError, match=r"5 of 20 refits of learner are missing \(first: ValueError: no\).*80%.*failures"
    ):
        with_gaps(enough).complete()
    with pytest.raises(InputError, match="missing"):
        with_gaps(enough).accuracy()
    without_reasons = dataclasses.replace(with_gaps(enough), failures=())
    with pytest.raises(InputError, match=r"are missing; measures"):
        without_reasons.complete()


@given(st.integers(1, 8), st.integers(1, 5), st.integers(0, 2**32))
def test_complete_keeps_as_much_as_any_choice(subsets, refits, seed):
    there = np.random.default_rng(seed).random((subsets, refits)) < 0.9
    labelings = with_gaps(there, seed=seed)
    if there.mean() < 0.8:
        with pytest.raises(InputError):
            labelings.complete()
        return
    kept = labelings.complete()
    assert (kept != -1).all()
    best = max(r * (there.sum(axis=1) >= r).sum() for r in range(1, refits + 1))
    assert kept.shape[0] * kept.shape[1] == best
    np.testing.assert_array_equal(kept, with_gaps(there, seed=seed).complete())
    # What is kept are whole refits of one subset, in their order.
    rows = {labelings.labels[k, r].tobytes() for k, r in np.argwhere(there)}
    assert all(kept[k, r].tobytes() in rows for k in range(len(kept)) for r in range(kept.shape[1]))


# Figures


def test_accuracy_by_hand():
    answers = np.array([[[0, 1, 1, 0], [0, 1, 0, 0]], [[1, 1, 1, 1], [1, 1, 1, 0]], [[0, 0, 1, 1], [0, 1, 1, 1]]])
    truth = np.array([0, 1, 1, 1])
    estimate = Labelings.from_arrays(answers, truth).accuracy()
    right = (answers == truth).mean(axis=1)  # subsets x points, by hand:
    assert right.tolist() == [[1, 1, 0.5, 0], [0, 1, 1, 0.5], [1, 0.5, 1, 1]]
    assert estimate.value == pytest.approx(17 / 24)
    by_subset, by_point = right.mean(axis=1).var(ddof=1) / 3, right.mean(axis=0).var(ddof=1) / 4
    noise = right - right.mean(axis=1, keepdims=True) - right.mean(axis=0) + right.mean()
    variance = max(by_subset + by_point - (noise**2).sum() / 6 / 12, by_subset, by_point)
    # Student's quantile for three subsets, and 1.92 points added that are right and 1.92 that are wrong.
    middle = (4 * 17 / 24 + 1.920729) / (4 + 3.841459)
    added = 4 * (17 / 24 - middle) ** 2 + 1.920729 * (middle**2 + (1 - middle) ** 2)
    reach = math.sqrt(4.302653**2 * 16 * variance + 3.841459 * added) / (4 + 3.841459)
    assert estimate.low == pytest.approx(middle - reach, rel=1e-6)
    assert 17 / 24 < estimate.high < 1
    assert estimate.kind == "of these training rows, over subsets and points"
    narrow = Labelings.from_arrays(answers, truth).accuracy(level=0.5)
    assert estimate.low < narrow.low < narrow.value < narrow.high < estimate.high


def test_train_accuracy_by_hand():
    labelings = with_gaps([[1, 0], [1, 1], [1, 1]])
    accuracies = np.array([[0.5, np.nan], [0.7, 0.9], [1.0, 0.8]])
    estimate = dataclasses.replace(labelings, train_accuracy=accuracies).accuracy("train")
    means = np.array([0.5, 0.8, 0.9])
    assert estimate.value == pytest.approx(means.mean())
    assert estimate == intervals.of_mean(means, kind=estimate.kind, limits=(0.0, 1.0))
    assert estimate.kind == "of these training rows, over subsets"


def test_accuracy_has_a_width_where_all_predictions_are_right():
    truth = np.arange(40) % 2
    always = Labelings.from_arrays(np.tile(truth, (12, 3, 1)), truth)
    assert always.accuracy().low == pytest.approx(0.05 ** (1 / 40))  # of 40 points none was wrong
    assert dataclasses.replace(always, train_accuracy=np.ones((12, 3))).accuracy("train").low == pytest.approx(
        0.05 ** (1 / 12)
    )


def test_to_frame():
    frame = with_gaps([[1, 0], [1, 1], [1, 1]]).to_frame()
    assert list(frame) == ["subset", "refit", "train_accuracy", "test_accuracy", "seconds", "error"]
    assert frame[["subset", "refit"]].to_numpy().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    assert frame["error"].notna().tolist() == [False, True, False, False, False, False]
    assert frame["error"][1] == "ValueError: no"
    assert frame["test_accuracy"].isna().tolist() == [False, True, False, False, False, False]
    labelings = Labelings.from_arrays(ANSWERS, TRUTH)
    assert labelings.to_frame()["test_accuracy"].tolist() == [1.0, 0.5, 0.5]
    assert labelings.to_frame()["error"].isna().all()


def test_str_is_one_paragraph():
    labelings = Labelings.from_arrays(ANSWERS, TRUTH, deterministic=True, name="filter")
    assert str(labelings) == (
        "filter: 3 subsets x 1 refit on 4 test points of 3 classes (eggs, ham, spam). "
        "The learner is deterministic: one refit per subset is enough."
    )
    assert repr(labelings) == str(labelings)
    gap = dataclasses.replace(with_gaps([[1, 0], [1, 1]]), notes=("Mind this.",))
    assert "2 subsets x 2 refits" in str(gap)
    assert str(gap).endswith("1 of 4 refits are missing. Mind this.")
    many = Labelings.from_arrays([np.arange(50)], np.arange(50))
    assert "(0, 1, 2, 3, … (50 in all))" in str(many)


# On disk


def full():
    """A record with everything in it."""
    labelings = with_gaps([[1, 0], [1, 1], [1, 1]])
    return dataclasses.replace(
        labelings,
        classes=np.array(["ä", "naïve long name", "日本"]),
        train_rows=tuple(np.array(rows, dtype=np.int64) for rows in ([4, 4, 9], [1], [2, 3, 5, 8])),
        test_rows=np.array([6, 7, 10, 11, 12, 13]),
        probe_labels=np.arange(3 * 2 * 5, dtype=np.int8).reshape(3, 2, 5) % 3,
        interrupted=True,
        notes=("One.", "Zwei — ä."),
        about={"learner": {"name": "tree", "parameters": {"depth": 3, "x": None}}, "seed": 2**62},
    )


def assert_same(one, other):
    for field in dataclasses.fields(Labelings):
        here, there = getattr(one, field.name), getattr(other, field.name)
        if field.name == "train_rows":
            assert len(here) == len(there)
            for rows, same_rows in zip(here, there):
                np.testing.assert_array_equal(rows, same_rows)
                assert rows.dtype == same_rows.dtype
        elif isinstance(here, np.ndarray):
            assert here.dtype == there.dtype, field.name
            assert here.shape == there.shape, field.name
            assert here.tobytes() == there.tobytes(), field.name
        else:
            assert here == there, field.name
            assert type(here) is type(there), field.name


@pytest.mark.parametrize(
    "labelings",
    [
        full(),
        with_gaps(np.ones((3, 2))),
        Labelings.from_arrays(ANSWERS, TRUTH, deterministic=True),
        Labelings.from_arrays([[True, False]], [True, True]),
        Labelings.from_arrays([[0.5, 1.5]], [0.5, 1.5]),
        Labelings.from_arrays(np.array([["b", 1]], dtype=object), ["b", "1"]),
    ],
)
def test_the_way_to_disk_and_back_bit_for_bit(labelings, tmp_path):
    path = labelings.save(tmp_path / "one.classay")
    assert path == tmp_path / "one.classay"
    loaded = classay.load(str(path))
    assert_same(labelings, loaded)
    again = loaded.save(tmp_path / "two.classay")
    assert again.read_bytes() == path.read_bytes()


def test_a_record_of_another_kind_or_that_lacks_a_part(tmp_path):
    store.write(tmp_path / "ranks", "ranks", {}, {"ranks": np.arange(3)})
    with pytest.raises(InputError, match="of kind 'ranks'; expected one of 'labelings', 'predictions'"):
        classay.load(tmp_path / "ranks")
    header, arrays = full().to_file()
    del arrays["truth"]
    store.write(tmp_path / "part", "labelings", header, arrays)
    with pytest.raises(InputError, match=r"not a complete record of labelings.*truth"):
        classay.load(tmp_path / "part")


def test_classes_that_never_occur_can_be_given():
    labelings = Labelings.from_arrays([["a", "b"], ["a", "a"]], ["a", "b"], classes=["c", "a", "b"])
    assert labelings.classes.tolist() == ["a", "b", "c"]
    with pytest.raises(InputError, match="lacks b"):
        Labelings.from_arrays([["a", "b"], ["a", "a"]], ["a", "b"], classes=["a", "c"])


def test_one_set_of_predictions_has_the_interval_of_a_share():
    """It had Student's t with one degree of freedom: no information at all."""
    truth = np.arange(200) % 2
    found = Labelings.from_arrays([np.where(np.arange(200) < 20, 1 - truth, truth)], truth).accuracy()
    assert found.kind == "over points"
    assert (found.low, found.high) == pytest.approx((0.8506, 0.9344), abs=2e-3)


def test_columns_that_cannot_be_saved_are_named_and_the_others_kept(tmp_path):
    table = pd.DataFrame({"y": [0, 1, 1], "pred": [0, 1, 0], "length": [3, 4, 5], "odd": [{1}, {2}, {3}]})
    saved = classay.load(Labelings.from_frame(table, truth="y").save(tmp_path / "one.classay"))
    assert list(saved.columns) == ["length"]
    assert "odd" in saved.notes[-1]
