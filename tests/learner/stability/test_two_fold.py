"""Two-fold accuracy, as in the paper's figure 1: each half is tested on the other half of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import classay
from classay import HalfSplits, InputError, Subsets, load, record, stability

X, Y = load_iris(return_X_y=True)
SETTINGS = {"repeats": 1, "test_size": 0, "probes": "uniform", "n_probes": 100, "executor": 1}


def test_accuracy_is_that_of_the_other_half(tmp_path):
    labelings = record(GaussianNB(), X, Y, HalfSplits(4), **SETTINGS)
    assert sorted(len(rows) for rows in labelings.train_rows) == [75] * 8
    by_hand = []
    for rows in labelings.train_rows:
        others = np.setdiff1d(np.arange(150), rows)
        by_hand.append(GaussianNB().fit(X[rows], Y[rows]).score(X[others], Y[others]))
    np.testing.assert_allclose(labelings.test_accuracy[:, 0], by_hand)
    found = stability(labelings)
    assert found.accuracy.value == pytest.approx(np.mean(by_hand))
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high
    assert found.on == "uniform comparison points"
    again = load(labelings.save(tmp_path / "record.classay"))
    assert again.accuracy() == labelings.accuracy()


def test_regressors():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 1))
    target = rows[:, 0] + rng.normal(size=200)
    predictions = record(LinearRegression(), rows, target, HalfSplits(5), **SETTINGS)
    assert stability(predictions).rmse.value == pytest.approx(np.sqrt((predictions.test_rmse**2).mean()), rel=1e-6)
    assert abs(stability(predictions).rmse.value - 1) < 0.15


def test_other_measures_on_test_points_are_refused_with_advice():
    labelings = record(GaussianNB(), X, Y, HalfSplits(4), **SETTINGS)
    assert "150 test points" in str(labelings)
    for measure in (lambda: stability(labelings, on="test"), lambda: classay.orientation(labelings)):
        with pytest.raises(InputError, match=r"no test part \(test_size=0\).*on='probes'"):
            measure()
    bare = record(GaussianNB(), X, Y, HalfSplits(4), **{**SETTINGS, "probes": None})
    with pytest.raises(InputError, match="no test part"):
        stability(bare)


@pytest.mark.parametrize(
    "given", [{"scheme": Subsets(4)}, {"scheme": HalfSplits(4, 30)}, {"scheme": HalfSplits(4), "time": np.arange(150)}]
)
def test_it_needs_another_half(given):
    with pytest.raises(InputError, match="`test_size` is 0: each half is then tested"):
        record(GaussianNB(), X, Y, **SETTINGS, **given)
