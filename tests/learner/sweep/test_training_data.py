"""Sweeps over the training data: only the training part changes, and what is known in closed form comes out."""

from __future__ import annotations

import numpy as np
import pytest
from rough_learners import Centroids, Tallied, fits
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import Folds, HalfSplits, InputError, Subsets, sweep
from classay.learner.fitting.checks import prepare
from classay.learner.sweep.training_data import data_setups

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(Y))
HALVES = {"scheme": HalfSplits(3), "repeats": 1, "probes": "uniform", "n_probes": 20, "executor": 1}
QUICK = {"scheme": Subsets(6), "repeats": 1, "executor": 1}
NEAREST, SEED = KNeighborsClassifier(1), 1


def setups(name, values, **more):
    """The setup of a plain record, and those of a sweep."""
    plain = prepare(NEAREST, X, Y, Subsets(3), 1, 0.2, None, SEED, None, 10, **more)
    return plain, data_setups(plain, name, values)


# Sizes


def test_sizes_are_drawn_disjoint_and_by_class_rare_ones_too():
    labelings = classay.record(GaussianNB(), X, Y, HalfSplits(5, 30, stratify=True), 1, executor=1)
    for one, two in zip(labelings.train_rows[::2], labelings.train_rows[1::2]):
        assert len(one) == len(two) == 30
        assert not set(one) & set(two)
        np.testing.assert_array_equal(np.bincount(Y[one]), [10, 10, 10])
    codes = np.repeat([0, 1], [996, 4])
    drawn = list(HalfSplits(3, 20, stratify=True).draw(codes, 0))
    assert all(1 in codes[rows] for rows, _ in drawn)
    assert any(by_hand for _, by_hand in drawn)


def test_more_rows_make_centroids_more_repeatable():
    options = {**HALVES, "n_probes": 500}
    found = sweep(Centroids(), X, Y, "size", [9, 60], **options | {"scheme": HalfSplits(20)})
    assert (found.parameters, found.values) == (("size",), (9, 60))
    table = found.ask(classay.stability).query("metric == 'stability'")
    assert table.value.tolist() == [9, 60]
    assert table.high.iloc[0] < table.low.iloc[1]
    same = classay.record(Centroids(), X, Y, **options | {"scheme": HalfSplits(20, 9)})
    np.testing.assert_array_equal(found.records[9].labels, same.labels)
    assert found.stability(9) == classay.stability(same, "test").stability
    assert found.orientations[9].accuracy == classay.orientation(same).accuracy
    assert f"size from 9 to 60 (2 values): test accuracy is best at 60, {found.orientations[60].accuracy}" in str(found)
    assert f"stability {found.stability(9).value:.3g} to {found.stability(60).value:.3g}" in str(found)


def test_shares_and_groups_are_sizes_too():
    groups = np.arange(150) // 5
    found = sweep(GaussianNB(), X, Y, "size", [0.2, 0.5], Subsets(5), 2, executor=1, groups=groups)
    few, many = (np.mean([len(rows) for rows in labelings.train_rows]) for labelings in found.records.values())
    assert 2 * few < many


class Impatient(Centroids):
    """Ctrl-C comes when it is fitted on many rows."""

    def before_fit(self, X, y):
        if len(X) > self.most:
            raise KeyboardInterrupt

    def __init__(self, most):
        self.most = most


def test_ctrl_c_keeps_the_sizes_done():
    found = sweep(Impatient(20), X, Y, "size", [12, 30, 60], **HALVES)
    assert found.values == (12,)
    assert found.interrupted
    assert "30, 60" in found.notes[-1]
    with pytest.raises(KeyboardInterrupt):
        sweep(Impatient(5), X, Y, "size", [12], **HALVES)


# Labels and rows


def test_random_labels_are_of_training_rows_alone_and_nested():
    plain, changed = setups("random_labels", [0, 0.5, 1])
    for share, setup in changed.items():
        np.testing.assert_array_equal(setup.y[setup.test], Y[setup.test])
        np.testing.assert_array_equal(setup.y, plain.codec.classes[setup.codes])
        differ = (setup.y != Y)[setup.train].mean()
        assert abs(differ - share * 2 / 3) < 0.12  # of three classes, one in three draws is the label itself
    half, whole = (changed[share].y for share in (0.5, 1))
    np.testing.assert_array_equal(half[half != Y], whole[half != Y])
    np.testing.assert_array_equal(plain.y, Y)
    found = sweep(NEAREST, X, Y, "random_labels", [0, 1], **QUICK)
    np.testing.assert_array_equal(found.records[0].labels, classay.record(NEAREST, X, Y, **QUICK).labels)
    assert found.orientations[1].accuracy.value < 0.6 < found.orientations[0].accuracy.value
    assert "simpler" not in str(found)


def test_two_rows_repeated_leave_nothing_to_respond_to():
    """The example of section 6: subsets of two rows, repeated, are the same, so capacity is 0."""
    plain, changed = setups("repeated_rows", [0.5, 1 - 2 / 120])
    rows, times = np.unique(changed[0.5].train, return_counts=True)
    assert set(times) == {2}
    assert set(rows) < set(plain.train)
    assert np.unique(changed[1 - 2 / 120].train).size == 2
    found = sweep(NEAREST, X, Y, "repeated_rows", [0, 1 - 2 / 120], random_state=SEED, **QUICK)
    assert found.orientations[0].expressivity.value > 0.3
    assert found.orientations[1 - 2 / 120].expressivity.value == 0


def test_one_neighbour_stores_all_labels_and_a_constant_none():
    rows = np.random.default_rng(0).normal(size=X.shape)  # of iris, two rows are the same
    for learner, stored in ((NEAREST, 1.0), (DummyClassifier(), 0.0)):
        found = sweep(learner, rows, Y, "labels_to_store", [20, 60], **QUICK)
        assert [each.value for each in found.metric_estimates.values()] == pytest.approx([stored] * 2, abs=1e-12)
        assert all(each.low < each.high for each in found.metric_estimates.values())
    assert all(len(set(each)) == 60 for each in found.records[60].train_rows)
    assert "share of labels stored: 0 [" in str(found)
    assert "share of labels stored" in set(found.to_frame().metric)
    shallow = sweep(DecisionTreeClassifier(max_depth=2), X, Y, "labels_to_store", [10, 100], **QUICK)
    assert shallow.metric_estimates[100].high < shallow.metric_estimates[10].value


# Windows in time


def test_windows_are_the_training_rows_in_order_of_time():
    times = np.arange(150) // 4
    plain, changed = setups("time", [0.6, 1], time=times)
    early, late = (changed[end].train for end in (0.6, 1))
    np.testing.assert_array_equal(np.sort(np.concatenate([early, late])), np.sort(plain.train))
    assert times[early].max() < times[late].min()
    assert abs(early.size - 72) <= 4


@pytest.mark.parametrize(("flipped", "bits"), [(True, 1.0), (False, 0.0)])
def test_the_stream_is_told_from_the_learner(flipped, bits):
    """Two windows that teach opposite labels: nothing varies within either, and one bit tells them apart."""
    rng = np.random.default_rng(0)
    rows = np.repeat([[0.0], [9.0]], 100, axis=0)[rng.permutation(200)] + rng.normal(0, 0.1, (200, 1))
    labels = (rows[:, 0] > 4).astype(int)
    labels[:80] = 1 - labels[:80] if flipped else labels[:80]
    found = sweep(NEAREST, rows, labels, "time", [0.5, 1], time=np.arange(200), holdout_size=2, **QUICK)
    assert [one.expressivity.value for one in found.orientations.values()] == [0, 0]
    assert found.between_windows.value == pytest.approx(bits, abs=0.15)
    assert "what the stream changes" in str(found)


# All of them


@pytest.mark.parametrize(
    ("name", "values"),
    [("size", [20, 60]), ("repeated_rows", [0.2, 0.6]), ("random_labels", [0.2, 0.6]), ("time", [0.5, 1])],
)
def test_the_store_keeps_each_change_apart(name, values, tmp_path):
    counter, options = tmp_path / "fits", {**QUICK, "store": tmp_path / "store", "time": np.arange(150)}
    first = sweep(Tallied(counter), X[ORDER], Y[ORDER], name, values, **options)
    before = fits(counter)
    again = sweep(Tallied(counter), X[ORDER], Y[ORDER], name, values, **options)
    assert fits(counter) == before
    labels = [[record.labels for record in found.records.values()] for found in (first, again)]
    np.testing.assert_array_equal(*labels)
    assert not np.array_equal(*labels[0])


@pytest.mark.parametrize(
    ("name", "values", "options", "said"),
    [
        ("size", [70], {}, r"would have 70 rows.*2 to 60 are possible"),
        ("size", [1], {}, r"`HalfSplits\(size\)` is 1"),
        ("size", [], {}, "`param_range` is empty"),
        ("size", 30, {}, "a list of values of size"),
        ("size", [30], {"level": 3}, "`level` is 3"),
        ("size", [30], {"scheme": Folds(5), "probes": None}, "use Subsets"),
        ("random_labels", [1.5], {}, "`random_labels` is 1.5; expected a number from 0 to 1"),
        ("repeated_rows", [1], {}, "`repeated_rows` is 1"),
        ("repeated_rows", [0.999], {}, "fewer than 2 classes"),
        ("labels_to_store", [30], {"metric": "f1"}, "has its own figure"),
        ("time", [0.5, 1], {}, "pass `time`"),
        ("time", [1, 0.5], {"time": np.arange(150)}, "rising"),
        ("time", [0, 1], {"time": np.arange(150)}, "`time` is 0"),
        ("time", [0.2, 1], {"time": np.arange(150)}, "rows of the window that ends at 0.2 have fewer than 2"),
    ],
)
def test_mistakes_cost_no_fit(name, values, options, said, tmp_path):
    with pytest.raises(InputError, match=said):
        sweep(Tallied(tmp_path / "fits"), X, Y, name, values, **HALVES | options)
    assert fits(tmp_path / "fits") == 0
