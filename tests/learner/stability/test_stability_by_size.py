"""Stability against the number of training rows."""

from __future__ import annotations

import numpy as np
import pytest
from rough_learners import Centroids, Tallied, fits
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import classay
from classay import HalfSplits, InputError, stability_by_size

X, Y = load_iris(return_X_y=True)


def test_sizes_are_drawn_disjoint_and_by_class():
    labelings = classay.record(GaussianNB(), X, Y, HalfSplits(5, 30, stratify=True), 1, executor=1)
    for one, two in zip(labelings.train_rows[::2], labelings.train_rows[1::2]):
        assert len(one) == len(two) == 30
        assert not set(one) & set(two)
        np.testing.assert_array_equal(np.bincount(Y[one]), [10, 10, 10])


def test_more_rows_make_centroids_more_repeatable():
    found = stability_by_size(Centroids(), X, Y, [9, 60], splits=20, n_probes=500, executor=1)
    assert found.sizes == (9, 60)
    assert found.stability[0].high < found.stability[1].low
    same = classay.record(Centroids(), X, Y, HalfSplits(20, 9), 1, probes="uniform", n_probes=500, executor=1)
    assert found.stability[0] == classay.stability(same).stability
    assert "9 rows" in str(found)
    assert found.to_frame()["size"].tolist() == [9] * 3 + [60] * 3


def test_usual_sizes_double_up_to_half_of_the_training_part():
    found = stability_by_size(Centroids(), X, Y, splits=2, n_probes=20, executor=1)
    assert found.sizes == (15, 30, 60)


def test_the_store_keeps_each_size(tmp_path):
    counter, options = tmp_path / "fits", {"splits": 3, "n_probes": 20, "executor": 1, "store": tmp_path / "store"}
    first = stability_by_size(Tallied(counter), X, Y, [12, 30], **options)
    before = fits(counter)
    assert stability_by_size(Tallied(counter), X, Y, [30], **options).stability == first.stability[1:]
    assert fits(counter) == before


class Impatient(Centroids):
    """Ctrl-C comes when it is fitted on many rows."""

    def before_fit(self, X, y):
        if len(X) > self.most:
            raise KeyboardInterrupt

    def __init__(self, most):
        self.most = most


def test_ctrl_c_keeps_the_sizes_done():
    found = stability_by_size(Impatient(20), X, Y, [12, 30, 60], splits=3, n_probes=20, executor=1)
    assert found.sizes == (12,)
    assert "Interrupted: 1 of 3 sizes were done." in str(found)
    with pytest.raises(KeyboardInterrupt):
        stability_by_size(Impatient(5), X, Y, [12], splits=3, n_probes=20, executor=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sizes": [70]}, r"would have 70 rows.*2 to 60 are possible"),
        ({"sizes": [1]}, "`sizes` is 1"),
        ({"sizes": []}, "`sizes` is empty"),
        ({"sizes": 30}, "a list of numbers of rows"),
        ({"sizes": [0.5]}, "`sizes` is 0.5"),
        ({"splits": 1}, "`splits` is 1"),
        ({"level": 3}, "`level` is 3"),
    ],
)
def test_mistakes_cost_no_fit(options, said, tmp_path):
    with pytest.raises(InputError, match=said):
        stability_by_size(Tallied(tmp_path / "fits"), X, Y, executor=1, **options)
    assert fits(tmp_path / "fits") == 0


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
