"""A sweep over the size of the training subsets."""

from __future__ import annotations

import numpy as np
import pytest
from rough_learners import Centroids, Tallied, fits
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import classay
from classay import Folds, HalfSplits, InputError, Subsets, sweep

X, Y = load_iris(return_X_y=True)
HALVES = {"scheme": HalfSplits(3), "repeats": 1, "probes": "uniform", "n_probes": 20, "executor": 1}


def test_sizes_are_drawn_disjoint_and_by_class():
    labelings = classay.record(GaussianNB(), X, Y, HalfSplits(5, 30, stratify=True), 1, executor=1)
    for one, two in zip(labelings.train_rows[::2], labelings.train_rows[1::2]):
        assert len(one) == len(two) == 30
        assert not set(one) & set(two)
        np.testing.assert_array_equal(np.bincount(Y[one]), [10, 10, 10])


def test_more_rows_make_centroids_more_repeatable():
    options = {**HALVES, "n_probes": 500}
    found = sweep(Centroids(), X, Y, "size", [9, 60], **options | {"scheme": HalfSplits(20)})
    assert (found.parameters, found.values) == (("size",), (9, 60))
    table = found.ask(classay.stability).query("metric == 'stability'")
    assert table.value.tolist() == [9, 60]
    assert table.high.iloc[0] < table.low.iloc[1]
    same = classay.record(Centroids(), X, Y, **options | {"scheme": HalfSplits(20, 9)})
    np.testing.assert_array_equal(found.records[9].labels, same.labels)
    assert classay.stability(found.records[9]).stability == classay.stability(same).stability
    assert found.orientations[9].accuracy == classay.orientation(same).accuracy
    assert "size from 9 to 60 (2 values)" in str(found)


def test_shares_and_groups_are_sizes_too():
    groups = np.arange(150) // 5
    found = sweep(GaussianNB(), X, Y, "size", [0.2, 0.5], Subsets(5), 2, executor=1, groups=groups)
    few, many = (np.mean([len(rows) for rows in labelings.train_rows]) for labelings in found.records.values())
    assert 2 * few < many


def test_the_store_keeps_each_size(tmp_path):
    counter, options = tmp_path / "fits", {**HALVES, "store": tmp_path / "store"}
    first = sweep(Tallied(counter), X, Y, "size", [12, 30], **options)
    before = fits(counter)
    again = sweep(Tallied(counter), X, Y, "size", [30], **options)
    assert again.orientations[30].accuracy == first.orientations[30].accuracy
    assert fits(counter) == before


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


@pytest.mark.parametrize(
    ("sizes", "options", "said"),
    [
        ([70], {}, r"would have 70 rows.*2 to 60 are possible"),
        ([1], {}, r"`HalfSplits\(size\)` is 1"),
        ([], {}, "`param_range` is empty"),
        (30, {}, "a list of training sizes"),
        ([30], {"level": 3}, "`level` is 3"),
    ],
)
def test_mistakes_cost_no_fit(sizes, options, said, tmp_path):
    with pytest.raises(InputError, match=said):
        sweep(Tallied(tmp_path / "fits"), X, Y, "size", sizes, **HALVES | options)
    assert fits(tmp_path / "fits") == 0


def test_regressors_and_folds_have_no_sweep_over_size():
    with pytest.raises(InputError, match="a regressor"):
        sweep(LinearRegression(), X, Y.astype(float), "size", [30], executor=1)
    with pytest.raises(InputError, match="Subsets"):
        sweep(GaussianNB(), X, Y, "size", [30], Folds(5), executor=1)


@pytest.mark.parametrize(
    ("size", "said"), [(1, "at least 2"), (0.0, "between 0 and 1"), ("half", "between 0 and 1"), (-3, "at least 2")]
)
def test_sizes_that_are_none(size, said):
    with pytest.raises(InputError, match=rf"`HalfSplits\(size\)` is .*{said}"):
        HalfSplits(3, size)


def test_a_share_is_of_the_training_part_and_rare_classes_are_put_in():
    assert HalfSplits(2, 0.25).rows(120) == 30
    codes = np.repeat([0, 1], [996, 4])
    drawn = list(HalfSplits(3, 20, stratify=True).draw(codes, 0))
    assert all(1 in codes[rows] for rows, _ in drawn)
    assert any(by_hand for _, by_hand in drawn)
